// SPDX-License-Identifier: Apache-2.0
#include "cli/eval/eval_tests.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "cli/eval/activation_teacher.h"
#include "cli/models/students.h"
#include "net/http_client.h"
#include "skill/python_cases.h"
#include "skill/suite.h"
#include "teach/generation_budget.h"
#include "teach/material.h"
#include "teach/stage_lines.h"
#include "teach/teacher.h"
#include "teach/write_cases.h"
#include "trace/redact/redact.h"
#include "util/folder.h"
#include "util/hash.h"
#include "util/temp_folder.h"
#include "util/text.h"

namespace upskill {

namespace fs = std::filesystem;

namespace {

constexpr const char* kCallsFile = "calls.jsonl";

constexpr const char* kTestsOfSkill = "tests.json";

// The skill is all that the tests can be made from.
Material MaterialOf(const Skill& skill) {
  Redactor redactor({});
  Material material;
  material.task = redactor.Apply(skill.description);
  AddDocument(skill.name, redactor.Apply(skill.body), material);
  return material;
}

// Where the answers are kept until the tests are written, so that a later try pays for none of them twice; null with
// --no-log-runs. The same text and model have the same folder.
Result<std::optional<Folder>> KeptCalls(const Skill& skill, const Model& model, const EvalOptions& options,
                                        const Config& config) {
  if (!options.log_runs) return std::optional<Folder>();
  const std::string key =
      Sha256Hex(skill.name + "\n" + skill.description + "\n" + skill.body + "\n" + model.info().identity).substr(0, 16);
  ASSIGN_OR_RETURN(const Folder runs, Folder::Make(RunsFolder(options.runs_dir, config)));
  ASSIGN_OR_RETURN(Folder kept, runs.MakeBelow(fs::path("tests") / key));
  return std::optional(std::move(kept));
}

// What can't be removed costs nothing but room.
void ForgetCalls(const std::optional<Folder>& kept) {
  if (!kept || !kept->RemoveFile(kCallsFile)) return;
  std::error_code code;
  fs::remove(kept->path(), code);
  fs::remove(kept->path().parent_path(), code);  // if nothing else is kept there
}

Status SaveTests(const VettedCases& vetted, const Skill& skill) {
  Suite suite;
  suite.document = {{"cases", Json::array()}};
  suite.cases = vetted.cases;
  ASSIGN_OR_RETURN(const Folder folder, Folder::Open(skill.folder));
  return folder.WriteFile(kTestsOfSkill, DumpJsonIndented(ReadableByPython(SuiteToJson(suite))) + "\n");
}

}  // namespace

Status WriteMissingTests(const Skill& skill, EvalOptions& options, const Config& config, Env& env) {
  if (options.test_gen_model.empty() || !options.tests.empty() || !options.resume.empty()) return {};
  if (options.activation.on) return WriteMissingQueries(skill, options, config, env);
  const Result<Suite> own = LoadSuiteOfSkill(skill.folder);
  if (own || own.error().kind != ErrorKind::kNotFound) return {};
  ModelOptions model_options;
  model_options.base_urls = options.base_urls;
  model_options.client = std::make_shared<HttpClient>();
  model_options.quiet = options.quiet;
  RETURN_IF_ERROR(CheckCanTeach(options.test_gen_model, model_options, env));
  ASSIGN_OR_RETURN(const std::unique_ptr<Model> model, OpenModel(options.test_gen_model, model_options, env));
  if (options.max_cost_usd) RETURN_IF_ERROR(CheckPriceIsKnown(*model, options.test_gen_model));
  ASSIGN_OR_RETURN(const TempFolder scratch, TempFolder::Make("upskill-tests-"));
  ASSIGN_OR_RETURN(const std::optional<Folder> kept, KeptCalls(skill, *model, options, config));
  const fs::path calls = (kept ? kept->path() : scratch.path()) / kCallsFile;
  ASSIGN_OR_RETURN(Teacher teacher, Teacher::Open(*model, calls, env.stop, env.clock));
  GenerationBudget budget(options.max_cost_usd, 0.0);
  teacher.set_meter({[&](const Model& asked, const ChatRequest& request) { return budget.Reserve(asked, request); },
                     [&](const Result<ChatResponse>& answer) { return budget.Settle(answer); }});
  const auto say = [&](const std::string& line) {
    if (!options.quiet) env.error(TerminalText::Format("tests    {}\n", line));
  };
  teacher.set_say([&](const std::string& line) { say(line); });
  const CaseOptions how;
  say(fmt::format("{} has none: {} writes {} from its text", skill.name, model->info().name,
                  Counted(how.cases, "test")));
  const Result<VettedCases> written = WriteCases(teacher, MaterialOf(skill), how);
  const bool unusable = written ? written->cases.empty() : written.error().kind == ErrorKind::kInput;
  // Answers that gave no test would give none the next time either.
  if (unusable) ForgetCalls(kept);
  ASSIGN_OR_RETURN(const VettedCases vetted, written);
  if (vetted.cases.empty()) return InputError("--test-gen-model: no sound test: " + CasesLine({}, vetted.rejected));
  RETURN_IF_ERROR(SaveTests(vetted, skill));
  ForgetCalls(kept);
  say(fmt::format("{} → {}{}", CasesLine(vetted.cases, vetted.rejected), (skill.folder / kTestsOfSkill).string(),
                  budget.Text()));
  say("they ask for what the skill says; tests of the work itself are worth more");
  if (options.max_cost_usd) options.max_cost_usd = std::max(0.0, *options.max_cost_usd - budget.spent_usd());
  return {};
}

std::string TestsCommand(const EvalOptions& options, const Config& config) {
  std::string model = config.test_gen_model.empty() ? config.skill_generation_model : config.test_gen_model;
  if (model.empty()) model = "opus";
  std::string command =
      fmt::format("upskill {} {}", options.table_first ? "benchmark" : "eval", ShellWord(options.skill));
  for (const std::string& student : options.models) command += " -m " + ShellWord(student);
  return command + " --test-gen-model " + ShellWord(model);
}

}  // namespace upskill
