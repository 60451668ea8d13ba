// SPDX-License-Identifier: Apache-2.0
#include "cli/eval/check_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <thread>
#include <utility>

#include "check/suite_answers.h"
#include "check/suite_check.h"
#include "cli/eval/check_judge.h"
#include "cli/eval/option_row.h"
#include "cli/options/color_option.h"
#include "cli/options/help_formatter.h"
#include "cli/options/option_checks.h"
#include "eval/run/judge_record.h"
#include "report/export/check_junit.h"
#include "report/terminal/check_text.h"
#include "skill/suite.h"
#include "util/files.h"
#include "util/json.h"
#include "util/nearest_name.h"
#include "util/text.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

Result<Suite> LoadSuiteOf(const std::string& name) {
  std::error_code code;
  if (fs::is_directory(name, code)) return LoadSuiteOfSkill(name);
  if (fs::path(name).filename() == "SKILL.md") return LoadSuiteOfSkill(FolderOf(name));
  return LoadSuite(name);
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

Json DocumentOf(const Suite& suite, const SuiteReport& report, const CheckJudge* judge) {
  Json document = SuiteReportToJson(report);
  document["warnings"] = suite.warnings;
  document["judge"] = judge == nullptr ? Json(nullptr) : judge->ToJson();
  return document;
}

Status WriteReport(const CheckCommandOptions& options, FileFormat format, const Suite& suite, const SuiteReport& report,
                   const CheckJudge* judge) {
  if (format == FileFormat::kNone) return {};
  return WriteOutputFile(options.output, format == FileFormat::kXml
                                             ? CheckJUnitXml(suite, report, options.strict)
                                             : DumpJsonIndented(DocumentOf(suite, report, judge)) + "\n");
}

ExitCode CodeOf(const SuiteReport& report, std::size_t warnings, const CheckCommandOptions& options) {
  if (report.interrupted) return ExitCode::kInterrupted;
  std::size_t judged = 0;
  bool problem = false;
  for (const CaseReport& one : report.cases) {
    problem = problem || one.HasProblem() || (options.lint && !one.weaknesses.empty());
    std::size_t of_case = 0;
    for (const AnswerReport& answer : one.answers) of_case += answer.word == AnswerReport::Word::kNotChecked ? 0 : 1;
    problem = problem || (options.strict && (of_case < one.answers.size() || one.answers.empty()));
    judged += of_case;
  }
  if (problem || (options.strict && warnings > 0)) return ExitCode::kFailed;
  return judged > 0 ? ExitCode::kSuccess : ExitCode::kIncomplete;
}

// Opens the judge that is asked for and has the checks ask it.
Status SetJudge(const CheckCommandOptions& options, const Suite& suite, const Env& env,
                std::unique_ptr<CheckJudge>& judge, SuiteCheckOptions& how) {
  if (options.judge.model.empty()) {
    if (!options.judge.base_url.empty() || options.judge.max_cost_usd || !options.judge.runs_dir.empty())
      return InputError(
          "--base-url, --max-cost and --runs-dir are for a judge: add --judge-model MODEL, or leave them out");
    return {};
  }
  if (RubricsOf(suite).empty()) {
    return InputError(fmt::format("--judge-model: no check of {} asks a judge", suite.source.string()));
  }
  ASSIGN_OR_RETURN(judge, CheckJudge::Open(options.judge, suite, env));
  how.judge = [&judge = *judge](const std::vector<AnswerToJudge>& answers) { return judge.Ask(answers); };
  return {};
}

}  // namespace

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

ExitCode RunCheck(const CheckCommandOptions& options, Env& env) {
  const Result<FileFormat> format = FileFormatOf(options.output);
  if (!format) return PrintError(env, format.error());
  Result<Suite> suite = LoadSuiteOf(options.suite);
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
  const Result<SandboxOptions> sandbox_options = SandboxOptionsOf(options.sandbox, env);
  if (!sandbox_options) return PrintError(env, sandbox_options.error());
  const Sandbox sandbox(*sandbox_options);
  SuiteCheckOptions how;
  how.lint = options.lint;
  how.workers =
      options.jobs > 0 ? static_cast<std::size_t>(options.jobs) : std::max(1U, std::thread::hardware_concurrency());
  how.sandbox = &sandbox;
  how.stop = env.stop;
  how.progress = ProgressTo(env);
  std::unique_ptr<CheckJudge> judge;
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
  return CodeOf(*report, suite->warnings.size(), options);
}

}  // namespace upskill
