// SPDX-License-Identifier: Apache-2.0
#include "cli/generate_session.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "cli/eval_session.h"
#include "cli/students.h"
#include "eval/journal.h"
#include "teach/material_json.h"
#include "teach/result_files.h"
#include "trace/redact/redact.h"
#include "util/files.h"
#include "util/text.h"

namespace upskill {

namespace fs = std::filesystem;

namespace {

constexpr const char* kTestsFile = "tests.json";  // the given ones as they were when it began

Status CopySkillFiles(const fs::path& from, const fs::path& to) {
  RETURN_IF_ERROR(MakeFolders(to));
  for (const char* name : {"skill_meta.json", "references", "scripts", "assets", "SKILL.md"}) {
    std::error_code code;
    if (!fs::exists(from / name, code)) continue;
    fs::copy(from / name, to / name,
             fs::copy_options::recursive | fs::copy_options::skip_symlinks | fs::copy_options::skip_existing, code);
    if (code)
      return Error{ErrorKind::kIo, fmt::format("copying {} to {}: {}", SafeForTerminalLine((from / name).string()),
                                               SafeForTerminalLine(to.string()), code.message())};
  }
  return {};
}

Result<fs::path> FindGeneration(const fs::path& generations, const std::string& name) {
  std::vector<fs::path> all;
  std::error_code code;
  for (const auto& entry : fs::directory_iterator(generations, code)) {
    if (fs::exists(entry.path() / "generation.json", code)) all.push_back(entry.path());
  }
  std::sort(all.begin(), all.end());
  ASSIGN_OR_RETURN(const std::optional<fs::path> found, PickStampedFolder(all, name));
  if (found) return *found;
  return Error{ErrorKind::kNotFound, fmt::format("no generation '{}' below {}", SafeForTerminalLine(name),
                                                 SafeForTerminalLine(generations.string()))};
}

Status NewFolder(GenerateSession& session, const std::vector<std::string>& arguments, const Env& env) {
  ASSIGN_OR_RETURN(session.folder, MakeStampedFolder(session.runs_dir / "generations", env.clock->WallNow()));
  session.id = session.folder.filename().string();
  Json words = Json::array();
  Redactor redactor({});
  for (const std::string& argument : arguments)
    words.push_back(session.options.no_redact ? argument : redactor.Apply(argument));
  if (session.given) {
    Suite suite;
    suite.document = {{"tests", Json::array()}};
    suite.cases = session.given->cases;
    RETURN_IF_ERROR(SaveSuite(suite, session.folder / kTestsFile));
  }
  const Json json = {{"schema", 1},
                     {"arguments", words},
                     {"material", MaterialToJson(session.sources.material)},
                     {"sources", session.sources.names},
                     {"existing_folder", session.sources.existing_folder.string()}};
  return WriteFileAtomically(session.folder / "generation.json", DumpJsonIndented(json) + "\n");
}

// The models are opened before anything is written, so that a wrong name costs nothing.
Status OpenModels(GenerateSession& session, const Env& env) {
  const GenerateCommandOptions& options = session.options;
  const auto client = std::make_shared<HttpClient>();
  ModelOptions teacher_options;
  teacher_options.base_urls = options.base_urls;
  teacher_options.client = client;
  ModelOptions student_options;
  student_options.parallel = options.parallel;
  student_options.base_urls = options.eval_base_urls;
  student_options.client = client;
  if (session.teacher_spec != kExtract) {
    ASSIGN_OR_RETURN(session.teacher_model, OpenModel(session.teacher_spec, teacher_options, env));
  }
  if (session.test_teacher_spec != session.teacher_spec && session.test_teacher_spec != kExtract) {
    ASSIGN_OR_RETURN(session.test_teacher_model, OpenModel(session.test_teacher_spec, teacher_options, env));
  }
  if (options.no_eval) return {};
  for (const std::string& spec : session.student_specs) {
    ASSIGN_OR_RETURN(std::unique_ptr<Model> model, OpenModel(spec, student_options, env));
    session.student_models.push_back(std::move(model));
  }
  return {};
}

void ChooseSpecs(GenerateSession& session) {
  const GenerateCommandOptions& options = session.options;
  session.teacher_spec = !options.model.empty() ? options.model : session.config.skill_generation_model;
  if (session.teacher_spec.empty()) session.teacher_spec = kExtract;
  session.test_teacher_spec = !options.test_gen_model.empty() ? options.test_gen_model : session.config.test_gen_model;
  if (session.test_teacher_spec.empty()) session.test_teacher_spec = session.teacher_spec;
  Config students = session.config;
  students.skill_generation_model.clear();  // a teacher is no student
  session.student_specs = ChooseModels(options.eval_models, students);
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
Status ChooseTests(GenerateSession& session) {
  const GenerateCommandOptions& options = session.options;
  if (!options.tests.empty()) {
    ASSIGN_OR_RETURN(session.given, LoadSuite(options.tests));
    return {};
  }
  if (!session.sources.material.has_existing() || !options.test_gen_model.empty()) return {};
  Result<Suite> own = LoadSuiteOfSkill(session.sources.existing_folder);
  if (!own && own.error().kind != ErrorKind::kNotFound)
    session.sources.warnings.push_back("the skill's own tests can't be used: " + own.error().message);
  if (own && own->cases.size() > 1) session.given = *std::move(own);
  return {};
}

Status LoadResumed(GenerateCommandOptions& options, GenerateSession& session, const Config& config) {
  const fs::path runs_dir = RunsFolder(options.runs_dir, config);
  ASSIGN_OR_RETURN(session.folder, FindGeneration(runs_dir / "generations", options.resume));
  const std::string file = (session.folder / "generation.json").string();
  ASSIGN_OR_RETURN(const std::string text, ReadFile(file));
  ASSIGN_OR_RETURN(const Json json, ParseJson(text, file));
  if (JsonGet<int>(json, "schema", 0) != 1 || !json.contains("arguments") || !json.contains("material")) {
    return InputError(fmt::format("{}: not a generation that this version can go on with", SafeForTerminalLine(file)));
  }
  std::vector<std::string> arguments;
  for (const Json& word : json.at("arguments")) {
    if (word.is_string()) arguments.push_back(word);
  }
  GenerateCommandOptions stored;
  CLI::App app("", "upskill");
  AddGenerateCommand(app, stored);
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::ParseError& error) {
    return InputError(fmt::format("{}: its command line can't be read: {}", SafeForTerminalLine(file), error.what()));
  }
  stored.runs_dir = options.runs_dir.empty() ? stored.runs_dir : options.runs_dir;
  if (options.how.max_cost_usd) stored.how.max_cost_usd = options.how.max_cost_usd;
  stored.json = options.json;
  stored.quiet = options.quiet;
  stored.color = options.color;
  stored.resume = options.resume;
  options = stored;
  session.id = session.folder.filename().string();
  ASSIGN_OR_RETURN(session.sources.material, MaterialFromJson(json.at("material"), SafeForTerminalLine(file)));
  for (const Json& name : json.value("sources", Json::array())) session.sources.names.push_back(name);
  session.sources.existing_folder = JsonGet<std::string>(json, "existing_folder", "");
  std::error_code code;
  if (fs::exists(session.folder / kTestsFile, code)) {
    ASSIGN_OR_RETURN(session.given, LoadSuite(session.folder / kTestsFile));
  }
  return {};
}

}  // namespace

fs::path OutputFolder(const GenerateSession& session, const std::string& name) {
  const GenerateCommandOptions& options = session.options;
  if (!options.output.empty()) return fs::path(options.output);
  return session.sources.existing_folder.empty() ? session.config.skills_dir / name : session.sources.existing_folder;
}

bool IsTaken(const GenerateSession& session, const fs::path& folder) {
  std::error_code code;
  if (!fs::exists(folder / "SKILL.md", code)) return false;
  if (fs::equivalent(session.sources.existing_folder, folder, code)) return false;
  // A generation that goes on may find its own skill there.
  const Result<std::string> meta = ReadFile(folder / "skill_meta.json");
  return !meta || session.id.empty() || meta->find(session.id) == std::string::npos;
}

Status OpenGeneration(GenerateSession& session, const std::vector<std::string>& arguments, Env& env) {
  ASSIGN_OR_RETURN(session.config, LoadConfig(env));
  GenerateCommandOptions& options = session.options;
  const bool resumed = !options.resume.empty();
  if (resumed && !options.log_runs)
    return InputError("--resume goes on with what was logged: it can't be given with --no-log-runs");
  if (resumed) RETURN_IF_ERROR(LoadResumed(options, session, session.config));
  session.runs_dir = RunsFolder(options.runs_dir, session.config);
  if (!options.log_runs) {
    ASSIGN_OR_RETURN(TempFolder scratch, TempFolder::Make("upskill-generate-"));
    session.scratch.emplace(std::move(scratch));
    session.runs_dir = session.scratch->path();
  }
  options.how.attempts =
      options.max_attempts.value_or(session.config.max_refine_attempts.value_or(options.how.attempts));
  RETURN_IF_ERROR(AcceptRuleFromName(options.accept));
  ChooseSpecs(session);
  RETURN_IF_ERROR(OpenModels(session, env));
  if (options.no_redact) {
    const bool local = (!session.teacher_model || session.teacher_model->info().local) &&
                       (!session.test_teacher_model || session.test_teacher_model->info().local);
    RETURN_IF_ERROR(AllowWithoutRedaction(local));
  }
  if (options.how.max_cost_usd) {
    if (session.teacher_model) RETURN_IF_ERROR(CheckPriceIsKnown(*session.teacher_model, session.teacher_spec));
    if (session.test_teacher_model)
      RETURN_IF_ERROR(CheckPriceIsKnown(*session.test_teacher_model, session.test_teacher_spec));
    for (std::size_t i = 0; i < session.student_models.size(); ++i)
      RETURN_IF_ERROR(CheckPriceIsKnown(*session.student_models[i], session.student_specs[i]));
  }
  if (!resumed) {
    ASSIGN_OR_RETURN(session.sources, ReadSources(options, options.no_redact, env));
    if (session.sources.material.has_existing() && !options.log_runs) {
      return InputError("a skill can't be improved with --no-log-runs: the version before is kept with the generation");
    }
    RETURN_IF_ERROR(ChooseTests(session));
    if (session.teacher_spec == kExtract && session.sources.material.items.empty()) {
      return InputError(
          "without a teacher model (-m, or skill_generation_model in the configuration) a skill can only be taken from "
          "a trace: give --from");
    }
    if (!options.output.empty() || !options.how.name.empty()) {
      const fs::path output = OutputFolder(session, options.how.name);
      if (IsTaken(session, output))
        return InputError(fmt::format("{} holds a skill already; to improve it give --from {}",
                                      SafeForTerminalLine(output.string()), SafeForTerminalLine(output.string())));
    }
    if (!options.dry_run) RETURN_IF_ERROR(NewFolder(session, arguments, env));
  }
  if (options.dry_run) return {};
  if (session.teacher_model) {
    ASSIGN_OR_RETURN(session.teacher,
                     Teacher::Open(*session.teacher_model, session.folder / "teacher.jsonl", env.stop));
  }
  if (session.test_teacher_model) {
    ASSIGN_OR_RETURN(session.test_teacher,
                     Teacher::Open(*session.test_teacher_model, session.folder / "test_teacher.jsonl", env.stop));
  }
  return {};
}

GenerateInput InputOf(GenerateSession& session, const Env& env) {
  const GenerateCommandOptions& options = session.options;
  GenerateInput input;
  input.material = &session.sources.material;
  input.options = options.how;
  if (input.options.name.empty() && !options.output.empty())
    input.options.name = SkillNameFrom(fs::path(options.output).filename().string());
  input.options.evaluate = !options.no_eval;
  input.options.target = TargetFor(session);
  if (session.teacher) input.teacher = &*session.teacher;
  if (session.test_teacher) {
    input.test_teacher = &*session.test_teacher;
  } else if (session.test_teacher_spec == session.teacher_spec) {
    input.test_teacher = input.teacher;
  }
  input.given = session.given;
  for (std::size_t i = 0; i < session.student_models.size(); ++i) {
    input.trials.models.push_back(session.student_models[i].get());
    input.trials.students.push_back(
        {session.student_specs[i], session.student_models[i]->info().name, session.student_models[i]->info().identity});
  }
  input.trials.runs_dir = session.runs_dir;
  input.trials.sampling.max_tokens = options.max_tokens;
  input.trials.sampling.temperature = options.temperature;
  input.trials.sampling.seed = options.how.seed;
  input.trials.clock = env.clock;
  input.trials.stop = env.stop;
  for (const auto& [stage, cost] : StudentCosts(session)) input.spent_usd += cost.usd.value_or(0.0);
  return input;
}

Result<fs::path> KeepPrevious(const GenerateSession& session, const fs::path& folder) {
  const fs::path kept = session.folder / "previous";
  std::error_code code;
  if (!session.sources.material.has_existing() || !fs::exists(folder / "SKILL.md", code)) return fs::path();
  if (!fs::exists(kept, code)) RETURN_IF_ERROR(CopySkillFiles(folder, kept));  // else by an earlier session
  return kept;
}

Status BringExistingFiles(const GenerateSession& session, const fs::path& target) {
  const fs::path& existing = session.sources.existing_folder;
  std::error_code code;
  if (existing.empty() || fs::equivalent(existing, target, code)) return {};
  return CopySkillFiles(existing, target);
}

std::map<std::string, StageCost> StudentCosts(const GenerateSession& session) {
  std::map<std::string, StageCost> costs;
  const Result<std::string> text = ReadFile(session.folder / kTrialsFile);
  if (!text) return costs;
  const bool known = std::all_of(session.student_models.begin(), session.student_models.end(),
                                 [](const auto& model) { return model->info().local || model->info().price; });
  for (const std::string_view line : SplitLines(*text)) {
    const std::size_t space = std::min(line.find(' '), line.size());
    const Result<fs::path> run = ResolveRun(session.runs_dir, std::string(Trim(line.substr(space))));
    const Result<JournalContent> content = run ? ReadJournal(*run) : Result<JournalContent>(run.error());
    if (!content) continue;
    StageCost& cost = costs[std::string(line.substr(0, space))];
    if (!known) cost.usd = std::nullopt;
    for (const Sample& sample : content->samples) {
      if (!sample.ok() || !sample.cached_from.empty()) continue;
      ++cost.calls;
      cost.prompt_tokens += sample.response.usage.prompt();
      cost.output_tokens += sample.response.usage.output;
      if (cost.usd) *cost.usd += sample.response.cost_usd.value_or(0.0);
    }
  }
  return costs;
}

std::string ResumeLine(const GenerateSession& session) {
  std::string line = "upskill generate";
  if (!session.options.runs_dir.empty()) line += " --runs-dir " + ShellWord(session.options.runs_dir);
  return SafeForTerminalLine(line + " --resume " + ShellWord(session.id));
}

}  // namespace upskill
