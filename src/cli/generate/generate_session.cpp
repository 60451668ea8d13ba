// SPDX-License-Identifier: Apache-2.0
#include "cli/generate/generate_session.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/generate/generate_file.h"
#include "cli/generate/generate_place.h"
#include "cli/generate/generate_plan.h"
#include "cli/generate/generate_teacher.h"
#include "cli/generate/generate_trust.h"
#include "cli/generate/teacher_context.h"
#include "cli/models/students.h"
#include "eval/journal/journal.h"
#include "eval/journal/runs_folder.h"
#include "skill/lineage.h"
#include "skill/skill_copy.h"
#include "skill/skill_text.h"
#include "teach/choice.h"
#include "teach/material_json.h"
#include "trace/redact/redact.h"
#include "util/files.h"
#include "util/text.h"

namespace upskill {

namespace fs = std::filesystem;

namespace {

constexpr const char* kTestsFile = "tests.json";  // the given ones as they were when it began

// Where KeepPrevious puts its copy.
fs::path PreviousFolder(const GenerateSession& session) { return session.folder / "previous"; }

// Where the skill to improve is as it was, if the new one goes to `target`.
fs::path OriginalFolder(const GenerateSession& session, const fs::path& target) {
  const fs::path& existing = session.sources.existing_folder;
  std::error_code code;
  return fs::equivalent(existing, target, code) ? PreviousFolder(session) : existing;
}

// An earlier session of this generation may have replaced the skill to improve.
fs::path ExistingAsItWas(const GenerateSession& session) {
  std::error_code code;
  const bool kept = fs::exists(PreviousFolder(session) / "SKILL.md", code);
  return kept ? PreviousFolder(session) : session.sources.existing_folder;
}

// What WriteGeneration keeps of it.
StoredGeneration StoredOf(const GenerateSession& session) {
  StoredGeneration stored;
  stored.options = session.options;
  for (std::size_t i = 0; i < session.student_models.size(); ++i) {
    const ModelInfo& info = session.student_models[i]->info();
    stored.students.push_back({session.options.eval_models[i], info.name, info.identity});
  }
  stored.material = session.sources.material;
  stored.sources = session.sources.names;
  stored.prompts = session.prompts;
  const fs::path& existing = session.sources.existing_folder;
  if (!existing.empty()) stored.existing_folder = AbsolutePath(existing.string());
  return stored;
}

Status NewFolder(GenerateSession& session, const Env& env) {
  RETURN_IF_ERROR(MakeRunsFolder(session.runs_dir));
  ASSIGN_OR_RETURN(session.folder, MakeStampedFolder(session.runs_dir / "generations", env.clock->WallNow()));
  session.id = session.folder.filename().string();
  if (session.given) {
    Suite suite;
    suite.document = {{"tests", Json::array()}};
    suite.cases = session.given->cases;
    RETURN_IF_ERROR(SaveSuite(suite, session.folder / kTestsFile));
  }
  return WriteGeneration(session.folder, StoredOf(session), env.clock->WallNow());
}

// The models are opened before anything is written, so that a wrong name costs nothing.
Status OpenModels(GenerateSession& session, const Env& env) {
  const GenerateCommandOptions& options = session.options;
  const auto client = std::make_shared<HttpClient>();
  ModelOptions teacher_options;
  teacher_options.base_urls = options.base_urls;
  teacher_options.client = client;
  teacher_options.needs_key = !options.dry_run;
  ModelOptions student_options;
  student_options.parallel = options.parallel;
  teacher_options.quiet = student_options.quiet = options.quiet;
  student_options.base_urls = options.eval_base_urls;
  student_options.client = client;
  student_options.needs_key = !options.dry_run;
  for (const std::string& model : {options.model, options.test_gen_model}) {
    if (model.starts_with("sim:"))
      return InputError(fmt::format("{}: a simulation only answers tests; it can't write a skill or its tests", model));
  }
  ASSIGN_OR_RETURN(session.teacher_model, OpenModel(options.model, teacher_options, env));
  if (options.test_gen_model != options.model) {
    ASSIGN_OR_RETURN(session.test_teacher_model, OpenModel(options.test_gen_model, teacher_options, env));
  }
  if (options.no_eval) return {};
  for (const std::string& spec : options.eval_models) {
    ASSIGN_OR_RETURN(std::unique_ptr<Model> model, OpenModel(spec, student_options, env));
    session.student_models.push_back(std::move(model));
  }
  return CheckModelsDiffer(session.student_models, options.eval_models);
}

// In the tokens of the student that counts the most of them; estimated when none tells.
BodyTarget TargetFor(const GenerateSession& session) {
  BodyTarget target = session.options.how.target;
  std::vector<const Model*> counting;
  for (const auto& model : session.student_models) {
    if (model->CountTokens("a")) counting.push_back(model.get());
  }
  if (counting.empty()) return target;
  target.estimated = false;
  target.count = [counting](const std::string& body) {
    std::size_t most = 0;
    for (const Model* model : counting) most = std::max(most, model->CountTokens(body).value_or(0));
    return most;
  };
  return target;
}

// The tests to use as they are: those of -t, else the ones that the skill to improve has, unless a model is asked for
// others.
Status ChooseTests(GenerateSession& session, bool asks_for_tests) {
  const GenerateCommandOptions& options = session.options;
  if (!options.tests.empty()) {
    ASSIGN_OR_RETURN(session.given, LoadSuite(options.tests));
    return {};
  }
  if (!session.sources.material.has_existing() || asks_for_tests) return {};
  Result<Suite> own = LoadSuiteOfSkill(session.sources.existing_folder);
  if (!own && own.error().kind != ErrorKind::kNotFound)
    session.sources.warnings.push_back("the skill's own tests can't be used: " + own.error().message);
  if (own && own->cases.size() > 1) session.given = *std::move(own);
  return {};
}

// Takes the options and the sources from the resumed generation.
Status Resume(GenerateSession& session) {
  const GenerateCommandOptions now = session.options;
  ASSIGN_OR_RETURN(session.folder,
                   FindGeneration(RunsFolder(now.runs_dir, session.config) / "generations", now.resume));
  session.id = session.folder.filename().string();
  ASSIGN_OR_RETURN(StoredGeneration stored, ReadGeneration(session.folder));
  ASSIGN_OR_RETURN(session.options, OptionsToResume(now, stored.options));
  session.output_is_new = stored.options.output.empty() && !session.options.output.empty();
  RETURN_IF_ERROR(CheckVouchedFor(now, stored.options, stored.existing_folder, session.config,
                                  GenerationFile(session.folder).string()));
  session.students_before = std::move(stored.students);
  session.sources.material = std::move(stored.material);
  session.sources.names = std::move(stored.sources);
  session.sources.existing_folder = std::move(stored.existing_folder);
  RETURN_IF_ERROR(ResumePrompts(std::move(stored.prompts), session));
  std::error_code code;
  if (fs::exists(session.folder / kTestsFile, code)) {
    ASSIGN_OR_RETURN(session.given, LoadSuite(session.folder / kTestsFile));
  }
  return {};
}

// Answers of another model are no part of the generation.
Status CheckSameStudents(const GenerateSession& session) {
  for (std::size_t i = 0; i < session.student_models.size(); ++i) {
    const bool same = i < session.students_before.size() &&
                      session.students_before[i].identity == session.student_models[i]->info().identity;
    if (!same) {
      return InputError(fmt::format("student '{}' has changed since generation {} started: start a new one",
                                    session.options.eval_models[i], session.id));
    }
  }
  return {};
}

// Whether the options may be used with these models.
Status CheckModels(const GenerateSession& session) {
  const GenerateCommandOptions& options = session.options;
  if (options.no_redact) {
    const bool local = session.teacher_model->info().local &&
                       (!session.test_teacher_model || session.test_teacher_model->info().local);
    RETURN_IF_ERROR(AllowWithoutRedaction(local));
  }
  if (!options.how.max_cost_usd) return {};
  RETURN_IF_ERROR(CheckPriceIsKnown(*session.teacher_model, options.model));
  if (session.test_teacher_model)
    RETURN_IF_ERROR(CheckPriceIsKnown(*session.test_teacher_model, options.test_gen_model));
  for (std::size_t i = 0; i < session.student_models.size(); ++i)
    RETURN_IF_ERROR(CheckPriceIsKnown(*session.student_models[i], options.eval_models[i]));
  return {};
}

// `asks_for_tests`: a model to write tests was named.
Status Begin(GenerateSession& session, bool asks_for_tests, const Env& env) {
  const GenerateCommandOptions& options = session.options;
  const std::vector<std::string> told = std::move(session.sources.told);
  // Kept with the options, so that a resumed generation sends the same requests.
  const auto budget_for = [&](std::size_t tokens) {
    MaterialBudget budget = BudgetFor(options, *session.teacher_model, tokens, env);
    session.options.how.context_tokens = budget.tokens;
    return budget;
  };
  ASSIGN_OR_RETURN(session.sources, ReadSources(options, RunsFolder(options.runs_dir, session.config),
                                                options.no_redact, budget_for, env));
  session.sources.told.insert(session.sources.told.begin(), told.begin(), told.end());
  if (!options.prompts.empty()) {
    ASSIGN_OR_RETURN(session.prompts, Prompts::FromFolder(options.prompts));
  }
  if (session.sources.material.has_existing() && !options.log_runs) {
    return InputError("a skill can't be improved with --no-log-runs: its previous version is kept with the generation");
  }
  PrepareForTeacher(session);
  RETURN_IF_ERROR(ChooseTests(session, asks_for_tests));
  if (!options.output.empty() || session.sources.material.has_existing())
    RETURN_IF_ERROR(CheckSkillFolders(OutputFolder(session, "")));
  return PlanPlace(session);
}

}  // namespace

fs::path OutputFolder(const GenerateSession& session, const std::string& name) {
  const GenerateCommandOptions& options = session.options;
  if (!options.output.empty()) return fs::path(options.output);
  return session.sources.existing_folder.empty() ? fs::path(options.skills_dir) / name
                                                 : session.sources.existing_folder;
}

bool IsTaken(const GenerateSession& session, const fs::path& folder) {
  std::error_code code;
  if (!fs::exists(folder / "SKILL.md", code)) return false;
  if (fs::equivalent(session.sources.existing_folder, folder, code)) return false;
  // A resumed generation may find its own skill there.
  const Result<std::string> meta = ReadFile(folder / "skill_meta.json");
  return !meta || session.id.empty() || meta->find(session.id) == std::string::npos;
}

Status OpenGeneration(GenerateSession& session, Env& env) {
  ASSIGN_OR_RETURN(session.config, LoadConfig(env));
  const bool resumed = !session.options.resume.empty();
  if (resumed && !session.options.log_runs)
    return InputError("--resume continues a logged generation: it can't be combined with --no-log-runs");
  const bool asks_for_tests = !session.options.test_gen_model.empty();
  if (!resumed) ChooseTeacher(session, env);
  session.options = ResolveOptions(std::move(session.options), session.config);
  if (resumed) {
    RETURN_IF_ERROR(Resume(session));
  } else {
    RETURN_IF_ERROR(CheckSourcesExist(session.options, RunsFolder(session.options.runs_dir, session.config), env));
    RETURN_IF_ERROR(CheckStart(session.options, env));
    ChooseStudents(session, env);
  }
  const GenerateCommandOptions& options = session.options;
  session.runs_dir = RunsFolder(options.runs_dir, session.config);
  if (!options.log_runs) {
    ASSIGN_OR_RETURN(TempFolder scratch, TempFolder::Make("upskill-generate-"));
    session.scratch.emplace(std::move(scratch));
    session.runs_dir = session.scratch->path();
  }
  RETURN_IF_ERROR(AcceptRuleFromName(options.accept).With("--accept"));
  RETURN_IF_ERROR(OpenModels(session, env));
  RETURN_IF_ERROR(CheckModels(session));
  RETURN_IF_ERROR(resumed ? CheckSameStudents(session) : Begin(session, asks_for_tests, env));
  AdviseOnTeacher(session);
  if (options.dry_run) return {};
  if (!resumed) RETURN_IF_ERROR(NewFolder(session, env));
  ASSIGN_OR_RETURN(session.teacher,
                   Teacher::Open(*session.teacher_model, session.folder / "teacher.jsonl", env.stop, env.clock));
  if (session.test_teacher_model) {
    ASSIGN_OR_RETURN(session.test_teacher, Teacher::Open(*session.test_teacher_model,
                                                         session.folder / "test_teacher.jsonl", env.stop, env.clock));
  }
  for (std::optional<Teacher>* teacher : {&session.teacher, &session.test_teacher})
    if (*teacher) (*teacher)->set_keep_secrets(session.options.no_redact);
  return {};
}

std::string LineageOf(const GenerateSession& session) {
  const bool has_existing = !session.sources.existing_folder.empty();
  const std::string id = has_existing ? LineageOf(ExistingAsItWas(session)) : std::string();
  return id.empty() ? session.id : id;
}

int LooksBefore(const GenerateSession& session) {
  return session.sources.existing_folder.empty() ? 0 : TestLooksOf(ExistingAsItWas(session));
}

bool CountsLooks(const GenerateSession& session) { return session.config.ledger && !session.options.no_ledger; }

GenerateInput InputOf(GenerateSession& session, const Env& env) {
  const GenerateCommandOptions& options = session.options;
  GenerateInput input;
  input.material = &session.sources.material;
  input.options = options.how;
  input.options.prompts = &session.prompts;
  // Requests have the name, or ask for it: another one would have them paid for again.
  if (!session.output_is_new) input.options.name = NameGiven(session);
  input.options.evaluate = !options.no_eval;
  input.options.critique = !options.no_critique;
  input.options.target = TargetFor(session);
  input.teacher = &*session.teacher;
  input.test_teacher = session.test_teacher ? &*session.test_teacher : input.teacher;
  input.given = session.given;
  if (!session.sources.existing_folder.empty()) {
    if (Result<Suite> own = LoadSuiteOfSkill(ExistingAsItWas(session))) input.earlier = std::move(own->cases);
  }
  input.trials.ledger = CountsLooks(session);
  input.trials.lineage = LineageOf(session);
  input.trials.test_looks_before = LooksBefore(session);
  for (std::size_t i = 0; i < session.student_models.size(); ++i) {
    input.trials.models.push_back(session.student_models[i].get());
    input.trials.students.push_back(
        {options.eval_models[i], session.student_models[i]->info().name, session.student_models[i]->info().identity});
  }
  input.trials.runs_dir = session.runs_dir;
  input.trials.sampling.max_tokens = options.max_tokens;
  input.trials.sampling.temperature = options.temperature;
  input.trials.sampling.seed = options.how.seed;
  input.trials.clock = env.clock;
  input.trials.stop = env.stop;
  for (const auto& [stage, cost] : StudentCosts(session)) input.spent_usd += cost.usd;
  return input;
}

Result<fs::path> KeepPrevious(const GenerateSession& session, const fs::path& folder) {
  std::error_code code;
  if (!fs::equivalent(session.sources.existing_folder, folder, code) || !fs::exists(folder / "SKILL.md", code))
    return fs::path();
  return CopyAsPrevious(session, folder);
}

Result<fs::path> CopyAsPrevious(const GenerateSession& session, const fs::path& folder) {
  const fs::path kept = PreviousFolder(session);
  std::error_code code;
  if (fs::exists(kept / "SKILL.md", code)) return kept;
  // It gets its name when it is complete: after a crash, an incomplete copy must not pass for the skill.
  const fs::path partial = session.folder / "previous.tmp";
  fs::remove_all(partial, code);
  {
    ASSIGN_OR_RETURN(const Folder copy, Folder::Make(partial));
    RETURN_IF_ERROR(CopySkillFiles(folder, copy));
  }
  fs::remove_all(kept, code);  // an incomplete copy of an earlier version of the program
  fs::rename(partial, kept, code);
  if (code) return ErrnoError("renaming " + partial.string() + " to", kept, code.value());
  return kept;
}

std::vector<fs::path> SkillFilesOf(const GenerateOutcome& outcome) {
  std::vector<fs::path> files = {"SKILL.md"};
  for (const Candidate& candidate : outcome.candidates) {
    for (const auto& [name, text] : candidate.skill.references) files.push_back(fs::path("references") / name);
    for (const auto& [name, text] : candidate.skill.scripts) files.push_back(fs::path("scripts") / name);
  }
  return files;
}

bool WasEdited(const GenerateSession& session, const GenerateOutcome& outcome, const fs::path& folder) {
  const Result<std::string> now = ReadFile(folder / "SKILL.md");
  if (!now) return false;
  if (session.sources.material.has_existing()) {
    const Result<std::string> original = ReadFile(OriginalFolder(session, folder) / "SKILL.md");
    if (!original || *original == *now) return false;  // it wasn't replaced yet
  }
  return std::none_of(outcome.candidates.begin(), outcome.candidates.end(),
                      [&](const Candidate& candidate) { return SkillFileText(candidate.skill) == *now; });
}

Status RestoreExisting(const GenerateSession& session, const std::vector<fs::path>& files, const fs::path& target) {
  const fs::path original = OriginalFolder(session, target);
  std::error_code code;
  if (!fs::exists(original / "SKILL.md", code) || !fs::exists(target, code)) return {};  // nothing was replaced
  ASSIGN_OR_RETURN(const Folder folder, Folder::Open(target));
  for (const fs::path& file : files) {
    if (fs::is_symlink(target / file, code)) continue;  // not from a generation
    if (!fs::exists(original / file, code)) {
      RETURN_IF_ERROR(folder.RemoveFile(file));
      continue;
    }
    ASSIGN_OR_RETURN(const std::string text, ReadFile(original / file));
    const Result<std::string> now = ReadFile(target / file);
    if (!now || *now != text) RETURN_IF_ERROR(folder.WriteFile(file, text));
  }
  return {};
}

Result<Folder> MakeOutputFolder(const GenerateSession& session, const std::string& name) {
  const bool is_named = !session.options.output.empty() || !session.sources.existing_folder.empty();
  if (is_named) return Folder::Make(OutputFolder(session, name));
  ASSIGN_OR_RETURN(const Folder skills, Folder::Make(session.options.skills_dir));
  return skills.MakeBelow(name);  // a teacher may have chosen the name
}

std::map<std::string, StageCost> StudentCosts(const GenerateSession& session) {
  std::map<std::string, StageCost> costs;
  const Result<std::string> text = ReadFile(session.folder / kTrialsFile);
  if (!text) return costs;
  const bool known = std::all_of(session.student_models.begin(), session.student_models.end(),
                                 [](const auto& model) { return KnownPrice(model->info()).has_value(); });
  for (const std::string_view line : SplitLines(*text)) {
    const std::size_t space = std::min(line.find(' '), line.size());
    const Result<fs::path> run = ResolveRun(session.runs_dir, std::string(Trim(line.substr(space))));
    const Result<JournalContent> content = run ? ReadJournal(*run) : Result<JournalContent>(run.error());
    if (!content) continue;
    StageCost& cost = costs[std::string(line.substr(0, space))];
    cost.all_costs_known = known;
    for (const Sample& sample : content->samples) {
      if (!sample.ok() || !sample.cached_from.empty()) continue;
      ++cost.calls;
      cost.prompt_tokens += sample.response.usage.prompt();
      cost.output_tokens += sample.response.usage.output;
      cost.usd += sample.response.cost_usd.value_or(0.0);
    }
  }
  return costs;
}

std::string ResumeLine(const GenerateSession& session) {
  const GenerateCommandOptions& options = session.options;
  std::string line = "upskill generate";
  if (!options.runs_dir.empty()) line += " --runs-dir " + ShellWord(options.runs_dir);
  const fs::path& existing = session.sources.existing_folder;
  if (!existing.empty() && !IsBelowOwnFolders(existing, session.config)) {
    for (const std::string& from : options.from) line += " --from " + ShellWord(from);
  }
  if (!options.output.empty() && !IsBelowOwnFolders(options.output, session.config))
    line += " -o " + ShellWord(options.output);
  for (const auto& [flag, urls] :
       {std::pair{" --base-url ", &options.base_urls}, std::pair{" --eval-base-url ", &options.eval_base_urls}}) {
    if (std::all_of(urls->begin(), urls->end(), IsOnThisMachine)) continue;
    for (const std::string& url : *urls) line += flag + ShellWord(url);
  }
  if (NeedsVouching(options.model, session.config)) line += " -m " + ShellWord(options.model);
  if (options.test_gen_model != options.model && NeedsVouching(options.test_gen_model, session.config))
    line += " --test-gen-model " + ShellWord(options.test_gen_model);
  const auto& students = options.eval_models;
  if (std::any_of(students.begin(), students.end(),
                  [&](const std::string& model) { return NeedsVouching(model, session.config); })) {
    for (const std::string& model : students) line += " --eval-model " + ShellWord(model);
  }
  return line + " --resume " + ShellWord(session.id);
}

}  // namespace upskill
