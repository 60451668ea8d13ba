// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "check/suite_answers.h"
#include "check/suite_check.h"
#include "check/task_reader.h"
#include "cli/env/config.h"
#include "cli/env/env.h"
#include "cli/eval/commands.h"
#include "cli/eval/option_row.h"
#include "cli/models/judge_option.h"
#include "cli/models/sandbox_option.h"
#include "cli/options/help_formatter.h"
#include "cli/options/option_checks.h"
#include "cli/skills/skill_argument.h"
#include "eval/journal/judgment_store.h"
#include "eval/run/judge_answers.h"
#include "eval/run/judge_record.h"
#include "net/http_client.h"
#include "report/export/junit.h"
#include "report/terminal/check_text.h"
#include "report/terminal/figures.h"
#include "report/terminal/judge_text.h"
#include "skill/suite.h"
#include "util/files.h"
#include "util/json.h"
#include "util/nearest_name.h"
#include "util/result.h"
#include "util/terminal_text.h"
#include "util/text.h"

namespace upskill {
namespace {

struct CheckJudgeOptions {
  std::string model;  // empty: none
  std::string base_url;
  std::string runs_dir;
  std::optional<double> max_cost_usd;
};

// The judge of `upskill check`, which keeps what it said (JudgmentStore). Not thread-safe.
class SuiteJudge {
 public:
  // Errors: those of OpenJudge and JudgmentStore::Open; its price isn't known though the cost is limited.
  static Result<std::unique_ptr<SuiteJudge>> Open(const CheckJudgeOptions& options, const Suite& suite, const Env& env);

  std::vector<Result<Judgments>> Ask(const std::vector<AnswerToJudge>& answers);

  // Who judged how many answers at what cost, and how far that can be trusted.
  TerminalText Text() const;
  Json ToJson() const;
  const std::string& unsaved() const { return unsaved_; }  // why judgments were not stored; empty: all were

 private:
  SuiteJudge(OpenedJudge judge, JudgmentStore store, std::optional<double> max_cost_usd, const Env& env)
      : judge_(std::move(judge)), store_(std::move(store)), max_cost_usd_(max_cost_usd), env_(&env) {}

  OpenedJudge judge_;
  JudgmentStore store_;
  std::optional<double> max_cost_usd_;
  const Env* env_;
  std::size_t answers_ = 0;  // judged
  std::size_t known_ = 0;    // questions that were answered before
  std::optional<double> cost_usd_ = 0.0;
  std::string unsaved_;
};

// Declares --judge-model and what belongs to it.
void AddCheckJudgeOptions(CLI::App& command, CheckJudgeOptions& options) {
  command
      .add_option("--judge-model", options.model,
                  "Model that judges answers for checks of the type `judge`; without one, these checks are skipped")
      ->type_name("MODEL");
  command.add_option("--base-url", options.base_url, "OpenAI-compatible server for a judge with a plain model name")
      ->type_name("URL");
  command.add_option("--max-cost", options.max_cost_usd, "Stop before the judge exceeds this cost (USD)")
      ->check(PositiveNumber())
      ->type_name("USD");
  command
      .add_option("-d,--runs-dir", options.runs_dir,
                  "Folder where the judge's verdicts are kept [default: the configured runs folder, else ./runs]")
      ->type_name("DIR");
}

Result<std::unique_ptr<SuiteJudge>> SuiteJudge::Open(const CheckJudgeOptions& options, const Suite& suite,
                                                     const Env& env) {
  ASSIGN_OR_RETURN(const Config config, LoadConfig(env));
  const std::filesystem::path runs_dir = RunsFolder(options.runs_dir, config);
  ModelOptions model_options;
  model_options.client = std::make_shared<HttpClient>();
  if (!options.base_url.empty()) model_options.base_urls.push_back(options.base_url);
  ASSIGN_OR_RETURN(OpenedJudge judge, OpenJudge(options.model, model_options, suite, runs_dir, env));
  if (options.max_cost_usd) RETURN_IF_ERROR(CheckPriceIsKnown(*judge.model, options.model));
  ASSIGN_OR_RETURN(JudgmentStore store, JudgmentStore::Open(runs_dir));
  return std::unique_ptr<SuiteJudge>(new SuiteJudge(std::move(judge), std::move(store), options.max_cost_usd, env));
}

std::vector<Result<Judgments>> SuiteJudge::Ask(const std::vector<AnswerToJudge>& answers) {
  RunLimits limits;
  limits.max_cost_usd = max_cost_usd_;
  JudgedAnswers judged = JudgeAnswers(*judge_.model, answers, limits, *env_->clock, env_->stop, &store_, nullptr);
  std::vector<Result<Judgments>> results;
  results.reserve(judged.answers.size());
  for (JudgedAnswer& answer : judged.answers) {
    if (answer.error) {
      results.emplace_back(*std::move(answer.error));
    } else {
      ++answers_;
      results.emplace_back(std::move(answer.judgments));
    }
  }
  known_ += judged.known;
  cost_usd_ = cost_usd_ && judged.cost_usd ? std::optional(*cost_usd_ + *judged.cost_usd) : std::nullopt;
  unsaved_ = std::move(judged.unsaved);
  return results;
}

TerminalText SuiteJudge::Text() const {
  std::string spent = fmt::format("{} judged {}", judge_.described.name, Counted(answers_, "answer"));
  if (known_ > 0)
    spent += fmt::format(", {} of its verdicts known from before", WithThousands(static_cast<long long>(known_)));
  if (cost_usd_.value_or(1.0) > 0.0) spent += cost_usd_ ? ", " + MoneyText(*cost_usd_) : ", cost unknown";
  return TerminalText::Format("{}\n{}\n", JudgeText(judge_.described), spent);
}

Json SuiteJudge::ToJson() const {
  return {{"model", judge_.described.spec},
          {"name", judge_.described.name},
          {"answers", answers_},
          {"known", known_},
          {"cost_usd", JsonOrNull(cost_usd_)}};
}

struct CheckCommandOptions {
  std::string suite;               // a file of cases, or a skill
  std::string answers;             // empty: the folder `answers` beside the cases, if there is one
  std::vector<std::string> cases;  // ids; empty: all
  std::string output;              // a file for the report, .xml or .json; may be empty
  bool lint = false;
  bool strict = false;
  bool verbose = false;
  bool json = false;
  int jobs = 0;  // 0: one for each processor
  SandboxChoice sandbox;
  CheckJudgeOptions judge;
  ColorMode color = ColorMode::kAuto;
};

namespace fs = std::filesystem;

// Of a folder or file, or of a skill by its name.
Result<Suite> LoadSuiteOf(const std::string& name, const Sandbox& sandbox, const Env& env) {
  std::error_code code;
  if (!fs::exists(name, code)) {
    if (const Result<fs::path> named = PathOfSkill(name, env)) return LoadSuiteOfSkill(*named);
  }
  if (fs::is_directory(name, code) && TaskFilesIn(name).empty()) return LoadSuiteOfSkill(name);
  if (fs::path(name).filename() == "SKILL.md") return LoadSuiteOfSkill(FolderOf(name));
  return LoadSuiteOrTasks(name, {}, sandbox, env.stop);
}

// The folder of answers: the given one, else `answers` beside the cases.
Result<fs::path> AnswersOf(const CheckCommandOptions& options, const Suite& suite) {
  std::error_code code;
  if (!options.answers.empty()) {
    if (fs::is_directory(options.answers, code)) return fs::path(options.answers);
    return Error{ErrorKind::kNotFound, fmt::format("--answers {}: no such folder", options.answers)};
  }
  const fs::path beside = suite.source.parent_path() / "answers";
  return fs::is_directory(beside, code) ? beside : fs::path();
}

// Keeps the cases of these ids, in the suite's order, with their answers. Errors: an id that no case has.
Status KeepCases(const std::vector<std::string>& ids, Suite& suite, std::vector<AnswersOfCase>& answers) {
  for (const std::string& id : ids) {
    if (std::any_of(suite.cases.begin(), suite.cases.end(), [&](const Case& one) { return one.id == id; })) continue;
    std::vector<std::string> known;
    known.reserve(suite.cases.size());
    for (const Case& one : suite.cases) known.push_back(one.id);
    return InputError(
        fmt::format("--case {}: {} has no such case{}", id, suite.source.string(), DidYouMean(id, known)));
  }
  std::vector<Case> kept;
  std::vector<AnswersOfCase> kept_answers;
  for (std::size_t i = 0; i < suite.cases.size(); ++i) {
    if (std::find(ids.begin(), ids.end(), suite.cases[i].id) == ids.end()) continue;
    kept.push_back(std::move(suite.cases[i]));
    kept_answers.push_back(std::move(answers[i]));
  }
  suite.cases = std::move(kept);
  answers = std::move(kept_answers);
  return {};
}

// On a terminal a line that is renewed, else a line each half minute.
std::function<void(std::size_t, std::size_t)> ProgressTo(const Env& env) {
  using Clock = std::chrono::steady_clock;
  if (env.error_is_terminal) {
    return [&env](std::size_t done, std::size_t total) {
      env.error(TerminalText::Trusted(
          fmt::format("\r\x1b[K{}", done == total ? "" : fmt::format("checking {} of {}", done, total))));
    };
  }
  return [&env, last = Clock::now()](std::size_t done, std::size_t total) mutable {
    constexpr auto kPause = std::chrono::seconds(30);
    if (done == total || Clock::now() - last < kPause) return;
    last = Clock::now();
    env.error(TerminalText::Format("checking {} of {}\n", done, total));
  };
}

enum class FileFormat { kNone, kXml, kJson };

Result<FileFormat> FileFormatOf(const std::string& output) {
  if (output.empty()) return FileFormat::kNone;
  const std::string extension = ToLowerAscii(fs::path(output).extension().string());
  if (extension == ".xml") return FileFormat::kXml;
  if (extension == ".json") return FileFormat::kJson;
  return InputError(
      fmt::format("-o {}: can't tell the format from this name; end it with .xml (JUnit) or .json", output));
}

// The report must not take the place of cases: JSON is the format of both.
Status CheckNoCasesAreLost(const std::string& output, FileFormat format, const Suite& suite) {
  std::error_code code;
  if (output.empty() || !fs::is_regular_file(output, code)) return {};
  const bool is_suite =
      fs::equivalent(output, suite.source, code) || (format == FileFormat::kJson && LoadSuite(output));
  if (!is_suite) return {};
  return InputError(fmt::format("-o {}: this file holds cases, which the report would replace; name another", output));
}

Json DocumentOf(const Suite& suite, const SuiteReport& report, const SuiteJudge* judge) {
  Json document = SuiteReportToJson(report);
  document["warnings"] = suite.warnings;
  document["judge"] = judge == nullptr ? Json(nullptr) : judge->ToJson();
  return document;
}

Status WriteReport(const CheckCommandOptions& options, FileFormat format, const Suite& suite, const SuiteReport& report,
                   const SuiteJudge* judge) {
  if (format == FileFormat::kNone) return {};
  return WriteOutputFile(options.output, format == FileFormat::kXml
                                             ? CheckJUnitXml(suite, report, options.strict)
                                             : DumpJsonIndented(DocumentOf(suite, report, judge)) + "\n");
}

// The exit code; also reports what --strict rejects.
ExitCode CodeOf(const SuiteReport& report, std::size_t warnings, const CheckCommandOptions& options, const Env& env) {
  if (report.interrupted) return ExitCode::kInterrupted;
  std::size_t judged = 0;
  std::size_t open = 0;
  std::size_t without = 0;  // cases without an answer
  bool problem = false;
  for (const CaseReport& one : report.cases) {
    problem = problem || one.HasProblem() || (options.lint && !one.weaknesses.empty());
    for (const AnswerReport& answer : one.answers) ++(answer.word == AnswerReport::Word::kNotChecked ? open : judged);
    without += one.answers.empty() ? 1 : 0;
  }
  std::vector<std::string> not_strict;
  if (open > 0) not_strict.push_back(Counted(open, "answer") + " not checked");
  if (without > 0) not_strict.push_back(Counted(without, "case") + " without an answer to try");
  if (warnings > 0) not_strict.push_back(Counted(warnings, "warning"));
  if (options.strict && !not_strict.empty()) {
    env.error(TerminalText::Format("error: --strict: {}\n", TerminalText::Join(not_strict, ", ")));
    problem = true;
  }
  if (problem) return ExitCode::kFailed;
  return judged > 0 ? ExitCode::kSuccess : ExitCode::kIncomplete;
}

// Opens the judge that is asked for and has the checks ask it.
Status SetJudge(const CheckCommandOptions& options, const Suite& suite, const Env& env,
                std::unique_ptr<SuiteJudge>& judge, SuiteCheckOptions& how) {
  if (options.judge.model.empty()) {
    if (!options.judge.base_url.empty() || options.judge.max_cost_usd || !options.judge.runs_dir.empty())
      return InputError(
          "--base-url, --max-cost and --runs-dir are for a judge: add --judge-model MODEL, or leave them out");
    return {};
  }
  if (RubricsOf(suite).empty()) {
    return InputError(fmt::format("--judge-model: no check of {} asks a judge", suite.source.string()));
  }
  ASSIGN_OR_RETURN(judge, SuiteJudge::Open(options.judge, suite, env));
  how.judge = [&judge = *judge](const std::vector<AnswerToJudge>& answers) { return judge.Ask(answers); };
  return {};
}

void AddCheckCommand(CLI::App& app, CheckCommandOptions& options) {
  CLI::App* command = app.add_subcommand("check", "Try a suite's checks on right and wrong answers, without a student")
                          ->group("Measure skills");
  command->add_option("SUITE", options.suite, "File of cases, or folder of a skill")->required();
  command
      ->add_option("--answers", options.answers,
                   "Folder of answers: CASE/reference.md or CASE/reference/ must pass, CASE/wrong-NAME.md or "
                   "CASE/wrong-NAME/ must fail [default: answers/ beside the cases, if it is there]")
      ->type_name("DIR");
  command->add_option("--case", options.cases, "Try only this case (repeatable)")
      ->type_name("ID")
      ->allow_extra_args(false);
  command->add_flag("--lint", options.lint,
                    "Also look for weaknesses: trivial, leaking and duplicate cases, checks that never fail");
  command->add_flag(
      "--strict", options.strict,
      "Also fail if an answer can't be checked here, a case has no answer to try, or the suite gives a warning");
  command
      ->add_option("-o,--output", options.output,
                   "File to write the report to as well; .xml (JUnit) or .json decides the format")
      ->type_name("FILE");
  command->add_flag("-v,--verbose", options.verbose, "Print the results of all checks");
  command->add_option("-j,--jobs", options.jobs, "Answers checked at once")
      ->check(WholeNumber(1, 1024))
      ->default_str("one for each processor")
      ->type_name("N");
  AddSandboxOptions(*command, options.sandbox);
  AddCheckJudgeOptions(*command, options.judge);
  command->add_flag("--json", options.json, "Print the report as JSON");
  AddColorOption(*command, options.color);
  AddExamples(*command, {{"Guard a suite in CI", "upskill check path/to/skill --lint --strict"},
                         {"Show the result in a CI system", "upskill check path/to/skill --strict -o check.xml"},
                         {"Try answers kept elsewhere", "upskill check tests.json --answers answers/"},
                         {"Have a model judge what only a judge can", "upskill check tests.json --judge-model haiku"}});
}

// Tries a suite's checks on its author's answers, without a student. Exit code 1 if one isn't judged as it should be,
// or, with `lint`, a weakness is found; 3 if no answer could be judged.
ExitCode RunCheck(const CheckCommandOptions& options, Env& env) {
  const Result<FileFormat> format = FileFormatOf(options.output);
  if (!format) return PrintError(env, format.error());
  const Result<SandboxOptions> sandbox_options = SandboxOptionsOf(options.sandbox, env);
  if (!sandbox_options) return PrintError(env, sandbox_options.error());
  const Sandbox sandbox(*sandbox_options);
  Result<Suite> suite = LoadSuiteOf(options.suite, sandbox, env);
  if (!suite) return PrintError(env, suite.error());
  if (const Status kept = CheckNoCasesAreLost(options.output, *format, *suite); !kept)
    return PrintError(env, kept.error());
  for (const std::string& warning : suite->warnings) PrintWarning(env, warning);
  const Result<fs::path> folder = AnswersOf(options, *suite);
  if (!folder) return PrintError(env, folder.error());
  Result<std::vector<AnswersOfCase>> answers = LoadSuiteAnswers(*suite, *folder);
  if (!answers) return PrintError(env, answers.error());
  if (!options.cases.empty()) {
    if (const Status kept = KeepCases(options.cases, *suite, *answers); !kept) return PrintError(env, kept.error());
  }
  SuiteCheckOptions how;
  how.lint = options.lint;
  how.workers =
      options.jobs > 0 ? static_cast<std::size_t>(options.jobs) : std::max(1U, std::thread::hardware_concurrency());
  how.sandbox = &sandbox;
  how.stop = env.stop;
  how.progress = ProgressTo(env);
  std::unique_ptr<SuiteJudge> judge;
  if (const Status opened = SetJudge(options, *suite, env, judge, how); !opened) return PrintError(env, opened.error());
  const Result<SuiteReport> report = CheckSuite(*suite, *answers, how);
  if (!report) return PrintError(env, report.error());
  if (options.json) {
    PrintDocument(env, DumpJsonIndented(DocumentOf(*suite, *report, judge.get())) + "\n");
  } else {
    env.out(SuiteReportText(*suite, *report, options.verbose, StyleFor(env, env.out_is_terminal, options.color)));
    if (judge != nullptr) env.out(judge->Text());
  }
  if (judge != nullptr && !judge->unsaved().empty())
    PrintWarning(env, "the judge's verdicts are not kept: " + judge->unsaved());
  if (const Status written = WriteReport(options, *format, *suite, *report, judge.get()); !written)
    return PrintError(env, written.error());
  return CodeOf(*report, suite->warnings.size(), options, env);
}

}  // namespace

Command CheckCommand() { return CommandOf({"check"}, AddCheckCommand, RunCheck); }

}  // namespace upskill
