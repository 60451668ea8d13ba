// SPDX-License-Identifier: Apache-2.0
#include "cli/check_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <map>
#include <thread>

#include "check/suite_answers.h"
#include "check/suite_check.h"
#include "cli/color_option.h"
#include "cli/help_formatter.h"
#include "cli/option_checks.h"
#include "report/check_text.h"
#include "skill/suite.h"
#include "util/json.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

Result<Suite> LoadSuiteOf(const std::string& name) {
  std::error_code code;
  if (fs::is_directory(name, code)) return LoadSuiteOfSkill(name);
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

ExitCode CodeOf(const SuiteReport& report, const CheckCommandOptions& options) {
  if (report.interrupted) return ExitCode::kInterrupted;
  std::size_t judged = 0;
  bool problem = false;
  for (const CaseReport& one : report.cases) {
    problem = problem || one.HasProblem() || (options.lint && !one.weaknesses.empty());
    for (const AnswerReport& answer : one.answers) judged += answer.word == AnswerReport::Word::kNotChecked ? 0 : 1;
  }
  if (problem) return ExitCode::kFailed;
  return judged > 0 ? ExitCode::kSuccess : ExitCode::kIncomplete;
}

}  // namespace

void AddCheckCommand(CLI::App& app, CheckCommandOptions& options) {
  CLI::App* command = app.add_subcommand("check", "Try a suite's checks on right and wrong answers, without a model")
                          ->group("Measure skills");
  command->add_option("SUITE", options.suite, "File of cases, or folder of a skill")->required();
  command
      ->add_option("--answers", options.answers,
                   "Folder of answers: CASE/reference.md or CASE/reference/ must pass, CASE/wrong-NAME.md or "
                   "CASE/wrong-NAME/ must fail [default: answers/ beside the cases, if it is there]")
      ->type_name("DIR");
  command->add_flag("--lint", options.lint,
                    "Also look for weaknesses: trivial, leaking and duplicate cases, checks that never fail");
  command->add_flag("-v,--verbose", options.verbose, "Print the results of all checks");
  command->add_option("-j,--jobs", options.jobs, "Answers checked at once")
      ->check(WholeNumber(1, 1024))
      ->default_str("one for each processor")
      ->type_name("N");
  AddSandboxOptions(*command, options.sandbox);
  command->add_flag("--json", options.json, "Print the report as JSON");
  AddColorOption(*command, options.color);
  AddExamples(*command, {{"Guard a suite in CI", "upskill check path/to/skill --lint"},
                         {"Try answers kept elsewhere", "upskill check tests.json --answers answers/"}});
}

ExitCode RunCheck(const CheckCommandOptions& options, Env& env) {
  const Result<Suite> suite = LoadSuiteOf(options.suite);
  if (!suite) return PrintError(env, suite.error());
  for (const std::string& warning : suite->warnings) PrintWarning(env, warning);
  const Result<fs::path> folder = AnswersOf(options, *suite);
  if (!folder) return PrintError(env, folder.error());
  const Result<std::vector<AnswersOfCase>> answers = LoadSuiteAnswers(*suite, *folder);
  if (!answers) return PrintError(env, answers.error());
  const Result<SandboxOptions> sandbox_options = SandboxOptionsOf(options.sandbox);
  if (!sandbox_options) return PrintError(env, sandbox_options.error());
  const Sandbox sandbox(*sandbox_options);
  SuiteCheckOptions how;
  how.lint = options.lint;
  how.workers =
      options.jobs > 0 ? static_cast<std::size_t>(options.jobs) : std::max(1U, std::thread::hardware_concurrency());
  how.sandbox = &sandbox;
  how.stop = env.stop;
  if (env.error_is_terminal) {
    how.progress = [&env](std::size_t done, std::size_t total) {
      env.error(TerminalText::Trusted(
          fmt::format("\r\x1b[K{}", done == total ? "" : fmt::format("checking {} of {}", done, total))));
    };
  }
  const Result<SuiteReport> report = CheckSuite(*suite, *answers, how);
  if (!report) return PrintError(env, report.error());
  if (options.json) {
    PrintDocument(env, DumpJsonIndented(SuiteReportToJson(*report)) + "\n");
  } else {
    env.out(SuiteReportText(*suite, *report, options.verbose, StyleFor(env, env.out_is_terminal, options.color)));
  }
  return CodeOf(*report, options);
}

}  // namespace upskill
