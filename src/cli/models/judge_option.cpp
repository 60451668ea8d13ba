// SPDX-License-Identifier: Apache-2.0
#include "cli/models/judge_option.h"

#include <optional>
#include <utility>
#include <vector>

#include "eval/run/judge_record.h"

namespace upskill {

Status CheckCanJudge(const std::string& spec) {
  if (spec != "sim" && !spec.starts_with("sim:")) return {};
  return InputError("a simulated student (sim:) can't judge: name a model, or a command (cmd:)");
}

Result<OpenedJudge> OpenJudge(const std::string& spec, const ModelOptions& options, const Suite& suite,
                              const std::filesystem::path& runs_dir, const Env& env) {
  if (const Status can = CheckCanJudge(spec); !can) return can.error().With("--judge-model");
  OpenedJudge judge;
  Result<std::unique_ptr<Model>> model = OpenModel(spec, options, env);
  if (!model) return model.error().With("--judge-model");
  judge.model = *std::move(model);
  const std::vector<std::string> rubrics = RubricsOf(suite);
  const ModelInfo& info = judge.model->info();
  Result<std::optional<JudgeRecord>> record = FindJudgeRecord(runs_dir, info.identity, rubrics);
  if (!record) return record.error();
  judge.described = {spec, info.name, info.identity, static_cast<int>(rubrics.size()), *std::move(record)};
  return judge;
}

}  // namespace upskill
