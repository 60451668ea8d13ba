// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <utility>

#include "check/check.h"
#include "cli/env/config.h"
#include "cli/eval/activation_plan.h"
#include "cli/eval/commands.h"
#include "cli/eval/eval_session.h"
#include "cli/eval/option_row.h"
#include "cli/models/judge_option.h"
#include "cli/models/sandbox_option.h"
#include "cli/models/students.h"
#include "cli/options/help_formatter.h"
#include "cli/options/option_checks.h"
#include "eval/journal/journal.h"
#include "eval/run/runner.h"
#include "eval/verdict/judged_run.h"
#include "report/export/eval_json.h"
#include "report/export/run_files.h"
#include "report/terminal/eval_text.h"
#include "report/terminal/result_sentence.h"
#include "util/text.h"

namespace upskill {
namespace {

struct RecheckOptions {
  std::string run = "latest";
  std::string tests;        // empty: the cases of the skill that the run measured
  std::string judge_model;  // empty: answers that aren't judged yet stay so
  std::string runs_dir;     // empty: from the configuration
  bool json = false;
  SandboxChoice sandbox;
  ColorMode color = ColorMode::kAuto;
};

namespace fs = std::filesystem;

// In place of a run's models: a recheck asks none of them.
class SilentModel : public Model {
 public:
  explicit SilentModel(std::string name, std::string identity = "") {
    info_.name = std::move(name);
    info_.identity = std::move(identity);
  }
  const ModelInfo& info() const override { return info_; }
  void Start(ChatRequest /*request*/, Done done) override {
    done(Error{ErrorKind::kCancelled, "a recheck asks no model"});
  }
  void Cancel(CancelScope /*scope*/) override {}
  int Window() const override { return 1; }

 private:
  ModelInfo info_;
};

std::vector<std::unique_ptr<SilentModel>> SilentModelsFor(const Plan& plan) {
  std::vector<std::unique_ptr<SilentModel>> models;
  models.reserve(plan.students.size());
  for (const Student& student : plan.students) models.push_back(std::make_unique<SilentModel>(student.name));
  return models;
}

// Takes over what the user's stop flag says, on top of the one that keeps the run from asking models. Without a judge
// there is nothing to wait for.
class StopsWithUser : public RunObserver {
 public:
  StopsWithUser(StopFlag& flag, const StopFlag* user, bool asks_judge)
      : flag_(flag), user_(user), asks_judge_(asks_judge) {}
  void OnProgress(const RunProgress& /*progress*/) override {
    const int level = user_ == nullptr ? 0 : user_->load();
    if (level > 0) flag_ = asks_judge_ ? level : 2;
  }

 private:
  StopFlag& flag_;
  const StopFlag* user_;
  bool asks_judge_;
};

struct Recheck {
  Plan plan;
  std::vector<Sample> answers;
  std::map<std::string, bool> passed_before;  // by CellName
  std::vector<std::string> notes;
};

// Finds what asks the same in a suite as it is now. Queries of activation have no names of their own, so that what they
// ask identifies them.
class CasesNow {
 public:
  CasesNow(const Suite& suite, bool by_input) : by_input_(by_input) {
    for (const Case& test_case : suite.cases) cases_.emplace(KeyOf(test_case), &test_case);
  }
  const Case* Find(const Case& old) const {
    const auto found = cases_.find(KeyOf(old));
    return found == cases_.end() ? nullptr : found->second;
  }

 private:
  const std::string& KeyOf(const Case& test_case) const { return by_input_ ? test_case.input : test_case.id; }

  bool by_input_;
  std::map<std::string, const Case*> cases_;
};

// The cases of the plan with the checks of `suite`. A case that asks something else now keeps its checks: its answers
// are to another question.
// False if that is so for every case.
bool TakeChecks(const Suite& suite, Recheck& recheck) {
  bool any = false;
  const CasesNow now(suite, recheck.plan.measures_activation());
  for (Case& old : recheck.plan.suite.cases) {
    const Case* const found = now.Find(old);
    if (found == nullptr) {
      recheck.notes.push_back(
          fmt::format("case \"{}\" isn't in {} any more; it keeps its checks", old.id, suite.source.string()));
    } else if (found->input != old.input || found->files != old.files) {
      recheck.notes.push_back(
          fmt::format("case \"{}\" asks something else now; it keeps the checks that the run had", old.id));
    } else {
      // How it was asked stays: answers are found by it.
      Case taken = *found;
      taken.id = old.id;
      taken.mode = old.mode;
      if (recheck.plan.measures_activation()) taken.split = old.split;
      old = std::move(taken);
      any = true;
    }
  }
  return any;
}

// Errors also: a case that no answer can pass here.
Status CheckThatAnswersMayPass(const Recheck& recheck, const Sandbox& sandbox, bool has_judge) {
  Suite judged = recheck.plan.suite;
  if (recheck.plan.measures_activation()) {  // where a check of the type `activates` can pass
    for (const Case& query : judged.cases) RETURN_IF_ERROR(CaseChecks::Make(query, sandbox, has_judge));
    return {};
  }
  ASSIGN_OR_RETURN(const std::vector<std::string> left_out,
                   LeaveOutCasesThatCannotPass(judged, sandbox, has_judge, recheck.plan.mode_of_all()));
  return left_out.empty() ? Status() : InputError("nothing was rechecked: " + left_out.front());
}

Result<Recheck> LoadRecheck(const RecheckOptions& options, const fs::path& runs_dir, const Sandbox& sandbox,
                            const StopFlag* stop) {
  ASSIGN_OR_RETURN(const fs::path folder, ResolveRun(runs_dir, options.run));
  ASSIGN_OR_RETURN(const RunData data, RunData::Read(folder));
  Recheck recheck;
  recheck.plan = data.plan();
  RETURN_IF_ERROR(RefuseImported(recheck.plan, "recheck"));
  ASSIGN_OR_RETURN(const Suite suite, recheck.plan.measures_activation()
                                          ? LoadQueries(options.tests, recheck.plan.skill.folder)
                                          : LoadCases(options.tests, recheck.plan.skill.folder, sandbox, stop));
  if (!TakeChecks(suite, recheck)) {
    return InputError(fmt::format("{} has none of the cases of run {} as the run asked them", suite.source.string(),
                                  recheck.plan.run));
  }
  const bool has_judge = !options.judge_model.empty() || recheck.plan.judge.has_value();
  RETURN_IF_ERROR(CheckThatAnswersMayPass(recheck, sandbox, has_judge));
  if (data.skipped_lines() > 0)
    recheck.notes.push_back(fmt::format("{} of {} could not be read", Counted(data.skipped_lines(), "line"),
                                        (folder / "samples.jsonl").string()));
  for (const SamplePtr& sample : data.samples()) {
    if (!sample->ok() && !sample->keeps_answer) continue;
    Sample& answer = recheck.answers.emplace_back(*sample);
    if (std::exchange(answer.keeps_answer, false)) answer.error.reset();
    recheck.passed_before[CellName(answer)] = answer.passed();
    if (answer.cached_from.empty()) answer.cached_from = recheck.plan.run;
  }
  recheck.plan.rechecked_from = recheck.plan.run;
  if (recheck.answers.empty()) return InputError(fmt::format("run {} has no answers to recheck", recheck.plan.run));
  return recheck;
}

// The judge to ask; without one, a silent one that stands for what the run's judge has said; null: no check asks one.
Result<std::unique_ptr<Model>> JudgeFor(const RecheckOptions& options, const fs::path& runs_dir, const Env& env,
                                        Recheck& recheck) {
  std::optional<RunJudge>& described = recheck.plan.judge;
  if (!options.judge_model.empty()) {
    ModelOptions model_options;
    model_options.client = std::make_shared<HttpClient>();
    ASSIGN_OR_RETURN(OpenedJudge judge,
                     OpenJudge(options.judge_model, model_options, recheck.plan.suite, runs_dir, env));
    described = std::move(judge.described);
    return std::move(judge.model);
  }
  if (!described) return std::unique_ptr<Model>();
  return std::unique_ptr<Model>(std::make_unique<SilentModel>(described->name, described->identity));
}

// How many answers of a case are judged differently now.
struct Changes {
  std::size_t now_pass = 0;
  std::size_t now_fail = 0;
};

std::map<std::string, Changes> ChangesOf(const Recheck& recheck, const RunData& data) {
  std::map<std::string, Changes> changes;
  for (const SamplePtr& sample : data.samples()) {
    const auto before = recheck.passed_before.find(CellName(*sample));
    if (!sample->ok() || before == recheck.passed_before.end() || before->second == sample->passed()) continue;
    Changes& of_case = changes[sample->case_id];
    ++(sample->passed() ? of_case.now_pass : of_case.now_fail);
  }
  return changes;
}

// "2 now pass, 1 now fails"
std::string ChangeText(const Changes& changes) {
  std::string text;
  if (changes.now_pass > 0)
    text = fmt::format("{} now {}", changes.now_pass, changes.now_pass == 1 ? "passes" : "pass");
  if (changes.now_fail > 0)
    text += fmt::format("{}{} now {}", text.empty() ? "" : ", ", changes.now_fail,
                        changes.now_fail == 1 ? "fails" : "fail");
  return text;
}

// `unjudged`: answers that no judge has decided about.
TerminalText ChangesText(const std::map<std::string, Changes>& changes, std::size_t answers, std::size_t unjudged,
                         const std::string& run) {
  Changes all;
  for (const auto& [id, of_case] : changes) {
    all.now_pass += of_case.now_pass;
    all.now_fail += of_case.now_fail;
  }
  TerminalText text = unjudged == 0 ? TerminalText::Format("rechecked {} of run {}: ", Counted(answers, "answer"), run)
                                    : TerminalText::Format("rechecked {} of the {} of run {}: ", answers - unjudged,
                                                           Counted(answers, "answer"), run);
  if (changes.empty()) return text + "nothing is judged differently\n";
  text += TerminalText::Format("{}\n", ChangeText(all));
  for (const auto& [id, of_case] : changes) text += TerminalText::Format("  {}: {}\n", id, ChangeText(of_case));
  return text;
}

// Of the answers, those that are still to be judged.
std::size_t Unjudged(std::size_t answers, const RunData& data) {
  std::size_t judged = 0;
  for (const SamplePtr& sample : data.samples()) judged += sample->ok() ? 1 : 0;
  return answers - std::min(answers, judged);
}

void PrintHowToJudge(const RecheckOptions& options, std::size_t unjudged, const std::string& run_before,
                     const Plan& plan, const Env& env) {
  const std::string others = (options.tests.empty() ? "" : " -t " + ShellWord(options.tests)) +
                             (options.runs_dir.empty() ? "" : " -d " + ShellWord(options.runs_dir));
  if (options.judge_model.empty()) {
    const std::string judge = plan.judge ? plan.judge->name : "MODEL";
    env.error(TerminalText::Format("{} must be judged: upskill recheck {}{} --judge-model {}\n",
                                   Counted(unjudged, "answer"), run_before, others, judge));
  } else {
    env.error(TerminalText::Format(
        "{} not judged; to resume without paying twice: upskill eval {} --resume {} --judge-model {}{}\n",
        Counted(unjudged, "answer"), ShellWord(plan.skill.folder), plan.run, ShellWord(options.judge_model),
        options.runs_dir.empty() ? "" : " --runs-dir " + ShellWord(options.runs_dir)));
  }
}

void PrintResult(const RecheckOptions& options, const JudgedRun& run, const TerminalText& changes,
                 const fs::path& folder, const Env& env) {
  const Style style = StyleFor(env, env.out_is_terminal, options.color);
  env.out(EvalHead(run, style) + changes + "\n" + ResultLines(run, style) + "\n");
  env.out(run.plan().students.size() > 1 ? EvalTable(run, style) : EvalBars(run, style));
  env.out(TerminalText::Format("run {} · {}\n", run.plan().run, folder.string()));
}

Json ChangesJson(const std::map<std::string, Changes>& changes) {
  Json json = Json::object();
  for (const auto& [id, of_case] : changes) json[id] = {{"now_pass", of_case.now_pass}, {"now_fail", of_case.now_fail}};
  return json;
}

void AddRecheckCommand(CLI::App& app, RecheckOptions& options) {
  CLI::App* command =
      app.add_subcommand("recheck", "Apply changed checks to the answers of a run, without asking a model")
          ->group("Results");
  command->add_option("RUN", options.run, "Run: its name, the last 4 characters of its name, or latest")
      ->capture_default_str();
  command->add_option("-t,--tests", options.tests, "Cases to take the checks from [default: the skill's own]")
      ->type_name("FILE");
  command->add_option("-d,--runs-dir", options.runs_dir, "Runs folder [default: the configured one, else ./runs]")
      ->type_name("DIR");
  AddJudgeOption(*command, options.judge_model, "nothing is written if an answer still has to be judged");
  AddSandboxOptions(*command, options.sandbox);
  command->add_flag("--json", options.json, "Print the result as JSON, like eval --json, with `changed` by case");
  AddColorOption(*command, options.color);
  AddExamples(*command, {{"After a check was corrected", "upskill recheck latest"},
                         {"Try other cases on an earlier run", "upskill recheck 4f2a -t tests.json"}});
}

// Applies the checks that the cases have now to the answers of a run, without asking its models: a new run with the
// same answers, and what is judged differently. What the run's judge has said counts; only a judge_model is asked
// again.
ExitCode RunRecheck(const RecheckOptions& options, Env& env) {
  const Result<Config> config = LoadConfig(env);
  if (!config) return PrintError(env, config.error());
  const fs::path runs_dir = RunsFolder(options.runs_dir, *config);
  const Result<SandboxOptions> sandbox_options = SandboxOptionsOf(options.sandbox, env);
  if (!sandbox_options) return PrintError(env, sandbox_options.error());
  const Sandbox sandbox(*sandbox_options);
  Result<Recheck> recheck = LoadRecheck(options, runs_dir, sandbox, env.stop);
  if (!recheck) return PrintError(env, recheck.error());
  for (const std::string& note : recheck->notes) PrintWarning(env, note);
  const std::string run_before = recheck->plan.run;
  const std::size_t answers = recheck->answers.size();
  const Result<std::unique_ptr<Model>> judge = JudgeFor(options, runs_dir, env, *recheck);
  if (!judge) return PrintError(env, judge.error());
  Result<Journal> journal = Journal::Create(runs_dir, recheck->plan, *env.clock);
  if (!journal) return PrintError(env, journal.error());

  const std::vector<std::unique_ptr<SilentModel>> models = SilentModelsFor(recheck->plan);
  RunInput input;
  for (const auto& model : models) input.models.push_back(model.get());
  // What isn't answered stays so: the models refuse, and without a judge nobody has to be waited for.
  StopFlag no_requests = options.judge_model.empty() ? 1 : 0;
  StopsWithUser observer(no_requests, env.stop, !options.judge_model.empty());
  input.plan = &recheck->plan;
  input.judge = judge->get();
  input.journal = &*journal;
  input.cached = std::move(recheck->answers);
  input.stop = &no_requests;
  input.clock = env.clock;
  input.observer = &observer;
  input.sandbox = &sandbox;
  Result<RunOutcome> outcome = RunPlan(std::move(input));
  if (!outcome) {
    journal->Discard();
    return PrintError(env, outcome.error());
  }
  const std::map<std::string, Changes> changes = ChangesOf(*recheck, outcome->data);
  const std::size_t unjudged = Unjudged(answers, outcome->data);
  const bool interrupted = no_requests > 1;
  if (unjudged > 0 && options.judge_model.empty() && !interrupted) {
    // A run of some answers would have other figures for no reason that it shows.
    journal->Discard();
    env.error(TerminalText::Format("nothing was written: "));
    PrintHowToJudge(options, unjudged, run_before, recheck->plan, env);
    return ExitCode::kUsage;
  }
  const JudgedRun run = Judge(std::move(outcome->data));
  if (const Status files = WriteRunFiles(run, journal->folder()); !files) PrintWarning(env, files.error().message);
  if (options.json) {
    Json document = EvalToJson(run);
    document["changed"] = ChangesJson(changes);
    PrintDocument(env, DumpJsonIndented(document) + "\n");
  } else {
    PrintResult(options, run, ChangesText(changes, answers, unjudged, run_before), journal->folder(), env);
  }
  if (unjudged > 0) PrintHowToJudge(options, unjudged, run_before, run.plan(), env);
  if (run.summary.complete()) return ExitCode::kSuccess;
  if (env.stop != nullptr && env.stop->load() > 0) return ExitCode::kInterrupted;
  return interrupted ? ExitCode::kInterrupted : ExitCode::kIncomplete;
}

}  // namespace

Command RecheckCommand() { return CommandOf({"recheck"}, AddRecheckCommand, RunRecheck); }

}  // namespace upskill
