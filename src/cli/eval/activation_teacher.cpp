// SPDX-License-Identifier: Apache-2.0
#include "cli/eval/activation_teacher.h"

#include <fmt/format.h>

#include <cstddef>
#include <utility>

#include "cli/eval/activation_plan.h"
#include "cli/models/students.h"
#include "eval/journal/runs_folder.h"
#include "prompts/prompts.h"
#include "util/folder.h"
#include "util/hash.h"
#include "util/text.h"

namespace upskill {
namespace {

constexpr const char* kTeachersFolder = "descriptions";  // below the runs folder

}  // namespace

Result<OpenedTeacher> OpenActivationTeacher(const std::string& spec, const Skill& skill, const EvalOptions& options,
                                            const Config& config, GenerationBudget& budget, Env& env) {
  ModelOptions model_options;
  model_options.base_urls = options.base_urls;
  model_options.client = std::make_shared<HttpClient>();
  model_options.quiet = options.quiet;
  // What can't be a teacher should be known before students are paid for.
  RETURN_IF_ERROR(CheckCanTeach(spec, model_options, env));
  OpenedTeacher opened;
  ASSIGN_OR_RETURN(opened.model, OpenModel(spec, model_options, env));
  if (options.max_cost_usd) RETURN_IF_ERROR(CheckPriceIsKnown(*opened.model, spec));
  const std::string key =
      Sha256Hex(skill.name + "\n" + skill.body + "\n" + opened.model->info().identity).substr(0, 16);
  ASSIGN_OR_RETURN(const Folder runs, MakeRunsFolder(RunsFolder(options.runs_dir, config)));
  ASSIGN_OR_RETURN(const Folder kept, runs.MakeBelow(std::filesystem::path(kTeachersFolder) / key));
  ASSIGN_OR_RETURN(Teacher teacher, Teacher::Open(*opened.model, kept.path() / "calls.jsonl", env.stop, env.clock));
  teacher.set_meter(
      {[&budget](const Model& asked, const ChatRequest& request) { return budget.Reserve(asked, request); },
       [&budget](const Result<ChatResponse>& answer) { return budget.Settle(answer); }});
  if (!options.quiet)
    teacher.set_say([&env](const std::string& line) { env.error(TerminalText::Format("teacher  {}\n", line)); });
  opened.teacher.emplace(std::move(teacher));
  return opened;
}

Result<ListedSkills> ListedSkillsOf(const Skill& skill, const EvalOptions& options) {
  ASSIGN_OR_RETURN(const SkillsFound others, OtherSkills(options.activation.among, skill));
  ListedSkills listed{skill, {}};
  for (const Skill& other : others.skills)
    listed.others.push_back(fmt::format("{}: {}", other.name, other.description));
  return listed;
}

Status WriteQueriesOf(const Skill& skill, const EvalOptions& options, Teacher& teacher, Env& env) {
  ASSIGN_OR_RETURN(const ListedSkills listed, ListedSkillsOf(skill, options));
  ASSIGN_OR_RETURN(const std::vector<WrittenQuery> queries,
                   WriteQueries(teacher, BuiltInPrompts(), listed, kQueriesOfAKind));
  Json document = Json::array();
  for (const WrittenQuery& query : queries)
    document.push_back({{"query", query.query}, {"should_trigger", query.should_trigger}});
  ASSIGN_OR_RETURN(const Folder folder, Folder::Open(skill.folder));
  ASSIGN_OR_RETURN(const Folder evals, folder.MakeBelow("evals"));
  RETURN_IF_ERROR(evals.WriteFile("eval_queries.json", DumpJsonIndented(document) + "\n"));
  if (!options.quiet) {
    env.error(TerminalText::Format("queries  {} has none: {} wrote {} into {}; look through them\n", skill.name,
                                   teacher.info().name, queries.size(), (skill.folder / kQueriesFile).string()));
  }
  return {};
}

Status WriteMissingQueries(const Skill& skill, const EvalOptions& options, const Config& config, Env& env) {
  const Result<Suite> own = LoadQueries("", skill.folder);
  if (own || own.error().kind != ErrorKind::kNotFound) return {};
  GenerationBudget budget(options.max_cost_usd, 0.0);
  ASSIGN_OR_RETURN(OpenedTeacher opened,
                   OpenActivationTeacher(options.test_gen_model, skill, options, config, budget, env));
  return WriteQueriesOf(skill, options, *opened.teacher, env);
}

}  // namespace upskill
