// SPDX-License-Identifier: Apache-2.0
#include "cli/eval/eval_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "cli/eval/option_row.h"
#include "cli/options/help_formatter.h"
#include "cli/options/matrix_output.h"
#include "cli/options/option_checks.h"
#include "cli/options/python_options.h"
#include "cluster/job_record.h"
#include "eval/plan/plan.h"
#include "eval/verdict/gate.h"
#include "util/text.h"

namespace upskill {
namespace {

constexpr int kEvalRounds = 1;
constexpr int kBenchmarkRounds = 3;
constexpr int kMaxParallel = 4096;
constexpr const char* kParallelDefault = "64 over the network, 32 in process, 4 for programs";
constexpr int kDecidingRounds = 30;  // with --stop-when-decided the number is only a ceiling

template <typename T>
std::vector<std::string> WordsOfValue(const T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    return value ? std::vector<std::string>{""} : std::vector<std::string>();
  } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
    return value;
  } else if constexpr (std::is_arithmetic_v<T>) {
    return value == T() ? std::vector<std::string>() : std::vector{fmt::format("{}", value)};
  } else if constexpr (std::is_same_v<T, std::string>) {
    return value.empty() ? std::vector<std::string>() : std::vector{value};
  } else {
    return value ? std::vector{fmt::format("{}", *value)} : std::vector<std::string>();
  }
}

// A member of EvalOptions, or one of such a member.
template <typename... Members>
OptionValue At(Members... members) {
  const auto at = [=](auto& options) -> auto& { return (options.*....*members); };
  return {[=](CLI::App& command, EvalOptions& options, const std::string& names, const std::string& help) {
            auto& value = at(options);
            if constexpr (std::is_same_v<std::decay_t<decltype(value)>, bool>) {
              return command.add_flag(names, value, help);
            } else {
              return command.add_option(names, value, help);
            }
          },
          [=](const EvalOptions& options) { return WordsOfValue(at(options)); }};
}

// An option that other commands declare with the same function.
OptionValue DeclaredBy(const std::function<void(CLI::App&, EvalOptions&)>& declare) {
  return {
      [declare](CLI::App& command, EvalOptions& options, const std::string& /*names*/, const std::string& /*help*/) {
        declare(command, options);
        return command.get_options().back();
      },
      [](const EvalOptions& /*options*/) { return std::vector<std::string>(); }};
}

std::function<void(CLI::Option&)> Checked(const CLI::Validator& validator) {
  return [validator](CLI::Option& option) { option.check(validator); };
}

std::function<void(CLI::Option&)> Changed(const CLI::Validator& validator) {
  return [validator](CLI::Option& option) { option.transform(validator); };
}

// May be repeated, with one value each time.
void OneValueEach(CLI::Option& option) { option.allow_extra_args(false); }

void AValueOrLatest(CLI::Option& option) { option.expected(0, 1); }

// The others are looked at with the run's models; an empty one would be taken for none.
std::string NotAnEmptyGate(const std::string& text) {
  if (!Trim(text).empty()) return "";
  return ParseGate(text).error().message;
}

std::string NotAnEmptyReference(const std::string& text) {
  return text.empty() || text == "git:" ? "name a commit, branch or tag: it is empty" : "";
}

EvalOption Needing(const char* other, EvalOption row) {
  row.needs = {other};
  return row;
}

EvalOption Excluding(std::vector<std::string> others, EvalOption row) {
  row.excludes = std::move(others);
  return row;
}

std::vector<EvalOption> Arguments() {
  return {
      {"SKILL", "", "Skill folders, their SKILL.md, or folders of skills: an ordinary run for each skill",
       At(&EvalOptions::skills), kOnlyEval},
      {"SKILL", "", "Skill folder, or its SKILL.md", At(&EvalOptions::skill), kOnlyBenchmark},
  };
}

std::vector<EvalOption> ModelRows() {
  return {
      {"-m,--model,--m",
       "MODEL",
       "Model to measure (repeatable)",
       At(&EvalOptions::models),
       kInResumeLine,
       {},
       "the configured one, else the default model"},
      {"--base-url", "URL", "OpenAI-compatible server for plain model names (repeatable, makes a pool)",
       At(&EvalOptions::base_urls), kInResumeLine},
      {"-j,--jobs,--max-parallel", "N", "Maximum concurrent requests per model", At(&EvalOptions::parallel),
       kInResumeLine, Checked(WholeNumber(1, kMaxParallel)), kParallelDefault},
      {"--executor", "NAME", "",
       DeclaredBy([](CLI::App& command, EvalOptions& /*options*/) { AddExecutorOption(command); })},
      {"--batch", "", "Submit to the provider's Batch API: half the price, within a day", At(&EvalOptions::batch),
       kInResumeLine},
  };
}

std::vector<EvalOption> CaseRows() {
  return {
      {"-t,--tests", "FILE", "Cases to use instead of the skill's own", At(&EvalOptions::tests), kInPlan},
      {"--changed-since", "REF",
       "Only the skills whose files, or cases given by -t, differ from this commit, branch or tag of git",
       At(&EvalOptions::changed_since), kOnlyEval | kOfWholeRun, Checked(CLI::Validator(NotAnEmptyReference, ""))},
      Excluding({"--changed-since", "--against", "--resume", "--on", "--shard"},
                {"--ci", "REF",
                 "For pull requests: measure only the skills that have changed since this commit, branch or tag, and "
                 "exit with "
                 "1 if one is much worse than its version there (docs/ci.md)",
                 At(&EvalOptions::ci), kOnlyEval | kOfWholeRun, Checked(CLI::Validator(NotAnEmptyReference, ""))}),
      {"--test-gen-model", "MODEL", "Model that writes the cases of a skill without any, into its tests.json",
       At(&EvalOptions::test_gen_model), kOfWholeRun},
      {"--runs", "N", "Rounds: how often each case is answered in each arm", At(&EvalOptions::rounds), 0,
       Checked(WholeNumber(1, kMaxRounds))},
      {"--no-baseline", "", "Leave out the arm without a skill", At(&EvalOptions::no_baseline), kOnlyEval | kInPlan},
      {"--placebo", "", "Add an arm with an unrelated text of the skill's length", At(&EvalOptions::placebo), kInPlan},
      {"--against", "WHAT",
       "Add an arm with another version of the skill: its folder, a folder of skills that has it under the same name, "
       "or git:REF, its version in this commit, branch or tag",
       At(&EvalOptions::against), kInPlan},
      {"--judge-model", "MODEL",
       "Model that judges answers for checks of the type `judge`; without one, their cases are left out",
       At(&EvalOptions::judge_model), kInResumeLine},
      {"--no-sandbox", "",
       "Run the suite's commands without a sandbox, with all of your rights: only for answers and suites that "
       "you trust",
       At(&EvalOptions::sandbox, &SandboxChoice::none), kInResumeLine},
      {"--toolchain", "DIR",
       "Folder that commands may read besides the system's programs; it and its bin/ are in their PATH "
       "(repeatable)",
       At(&EvalOptions::sandbox, &SandboxChoice::toolchains), kInResumeLine},
      {"--shard", "K/N", "Run only the K-th of N parts; `upskill merge` merges them", At(&EvalOptions::shard), kInPlan},
  };
}

std::vector<EvalOption> WorkspaceRows() {
  return {
      {"--mode", "MODE", "What all cases ask for: answer, or workspace: work on files with tools (docs/workspaces.md)",
       At(&EvalOptions::workspace, &WorkspaceChoice::mode), kInPlan, Changed(OneOf({"answer", "workspace"})),
       "as each case says"},
      {"--max-turns", "N", "Maximum answers of the model for a case in a workspace",
       At(&EvalOptions::workspace, &WorkspaceChoice::max_turns), kInPlan, Checked(WholeNumber(1, 1000)),
       fmt::format("{}", kDefaultTurns)},
      {"--load", "HOW",
       "How the skill reaches a student in a workspace: body, or on-demand: it finds the skill by its "
       "description and reads the files",
       At(&EvalOptions::workspace, &WorkspaceChoice::load), kInPlan | kShowsDefault,
       Changed(OneOf({"body", "on-demand"}))},
      {"--case-timeout", "TIME", "Time for a case in a workspace, answers and tools together",
       At(&EvalOptions::workspace, &WorkspaceChoice::case_seconds), kInPlan, Changed(Duration()), "10m"},
      {"--case-tokens", "N", "Maximum tokens for a case in a workspace, over all turns",
       At(&EvalOptions::workspace, &WorkspaceChoice::case_tokens), kInPlan, Checked(WholeNumber(1))},
      {"--mcp-url", "URL", "Let cases use the MCP server at this URL, as the suite names it (repeatable)",
       At(&EvalOptions::workspace, &WorkspaceChoice::mcp, &McpChoice::urls), kInResumeLine, OneValueEach},
      {"--mcp-env", "NAME", "Environment variable that headers to these servers may have (repeatable)",
       At(&EvalOptions::workspace, &WorkspaceChoice::mcp, &McpChoice::variables), kInResumeLine, OneValueEach},
  };
}

std::vector<EvalOption> JobRows() {
  return {
      {"--on", "SYSTEM", "Run the shards as jobs: slurm[:PARTITION], kubernetes[:NAMESPACE] or hf[:NAMESPACE/BUCKET]",
       At(&EvalOptions::on), kOnlyEval | kOfWholeRun},
      Needing("--on", {"--shards", "N", "Number of jobs that the run is divided among", At(&EvalOptions::shards),
                       kOnlyEval | kOfWholeRun, Checked(WholeNumber(1, kMaxShards))}),
      Needing("--on", {"--job-option", "OPTION",
                       "NAME=VALUE for the job system, for each job, such as gres=gpu:1 or time=2:00:00 (repeatable)",
                       At(&EvalOptions::job_options), kOnlyEval | kOfWholeRun}),
  };
}

std::vector<EvalOption> SamplingRows() {
  return {
      {"--max-tokens", "N", "Maximum tokens per answer", At(&EvalOptions::max_tokens), kInPlan | kShowsDefault,
       Checked(WholeNumber(1, 1 << 20))},
      {"--temperature", "T", "Sampling temperature; 0 is greedy", At(&EvalOptions::temperature), kInPlan,
       Checked(Number(0.0, 5.0)), "the model's own, 0.7 in process"},
      {"--seed", "N", "Random seed of the run", At(&EvalOptions::seed), kInPlan | kShowsDefault},
  };
}

std::vector<EvalOption> VerdictRows() {
  return {
      {"--stop-when-decided", "",
       fmt::format("Stop a model once its verdicts and the gate's contrasts are decided; --runs becomes the "
                   "maximum ({} if not given)",
                   kDecidingRounds),
       At(&EvalOptions::stop_when_decided), kInPlan},
      {"--alpha", "P", "Accepted chance of a false verdict", At(&EvalOptions::alpha), kInPlan | kShowsDefault,
       Checked(Number(1e-6, 0.5))},
      {"--min-lift", "POINTS", "Lift that `helps` must exceed, in percentage points", At(&EvalOptions::min_lift_points),
       kInPlan | kShowsDefault, Checked(Number(0.0, 99.0))},
      {"--margin", "POINTS", "Equivalence margin of `no effect`, in percentage points", At(&EvalOptions::margin_points),
       kInPlan | kShowsDefault, Checked(Number(0.1, 99.0))},
      {"--gate", "CLAUSES",
       "Exit with 1 unless every clause holds, such as 'helps:*; tokens<+20%@estimate' (`upskill help exit-codes`)",
       At(&EvalOptions::gate), kOfWholeRun | kInResumeLine, Checked(CLI::Validator(NotAnEmptyGate, ""))},
  };
}

OptionValue SecondsAt(std::optional<double> EvalOptions::* member) {
  OptionValue at = At(member);
  at.words = [member](const EvalOptions& options) {
    return options.*member ? std::vector{fmt::format("{}s", *(options.*member))} : std::vector<std::string>();
  };
  return at;
}

std::vector<EvalOption> BudgetRows() {
  return {
      Excluding({"--batch"}, {"--max-cost", "USD", "Stop before exceeding this cost (USD)",
                              At(&EvalOptions::max_cost_usd), kOfWholeRun | kInResumeLine, Checked(PositiveNumber())}),
      Excluding({"--batch"},
                {"--max-tokens-total", "N", "Stop before exceeding this many tokens in all",
                 At(&EvalOptions::max_tokens_total), kOfWholeRun | kInResumeLine, Checked(WholeNumber(1))}),
      {"--timeout", "TIME", "Stop after this time, such as 90s, 10m or 2h", SecondsAt(&EvalOptions::timeout_seconds),
       kInResumeLine, Changed(Duration())},
  };
}

std::vector<EvalOption> StorageRows() {
  constexpr const char* kRunsFolder = "Runs folder [default: the configured one, else ./runs]";
  return {
      {"--resume", "RUN", "Continue a run: its name, the last 4 characters of its name, or latest",
       At(&EvalOptions::resume), kOfWholeRun, AValueOrLatest, "latest"},
      Excluding({"--resume"}, {"--refresh", "", "Request cached answers again; later runs use the new ones",
                               At(&EvalOptions::refresh), kInPlan}),
      {"--cache-from", "DIR", "Also use cached answers of the runs in this folder (repeatable)",
       At(&EvalOptions::cache_from), kOfWholeRun},
      {"!--no-cache", "", "Don't use cached answers, and don't add this run's answers to the cache",
       At(&EvalOptions::use_cache), kInPlan},
      {"!--no-log-runs,--log-runs", "", "Keep nothing of the run in the runs folder", At(&EvalOptions::log_runs),
       kOnlyEval | kOfWholeRun},
      Excluding({"--resume"}, {"!--no-ledger", "",
                               "Ignore earlier looks at these tests, don't count this one, and use the whole of alpha",
                               At(&EvalOptions::ledger), kInPlan | kOfWholeRun}),
      {"--runs-dir,-d", "DIR", kRunsFolder, At(&EvalOptions::runs_dir), kOnlyEval | kOfWholeRun | kInResumeLine},
      {"--runs-dir,-d,-o,--output", "DIR", kRunsFolder, At(&EvalOptions::runs_dir), kOnlyBenchmark | kInResumeLine},
  };
}

std::vector<EvalOption> ActivationRows() {
  return {
      Excluding({"--placebo", "--against", "--mode", "--load", "--batch", "--gate", "--stop-when-decided"},
                {"--activation", "",
                 "Measure whether students find the skill by its description: read it when they should, and leave it "
                 "otherwise",
                 At(&EvalOptions::activation, &ActivationChoice::on), kOnlyEval | kInPlan}),
      Excluding({"--resume"},
                Needing("--activation", {"--among", "DIR",
                                         "Other skill folders to choose from (repeatable) [default: those next to the "
                                         "skill]",
                                         At(&EvalOptions::activation, &ActivationChoice::among), kOnlyEval | kInPlan})),
  };
}

std::vector<EvalOption> OutputRows() {
  return {
      {"-v,--verbose", "", "Show every case: outcomes, failed checks, a failing answer", At(&EvalOptions::verbose),
       kOfWholeRun},
      {"-q,--quiet", "", "Print no progress, notes or warnings about the suite", At(&EvalOptions::quiet), kOfWholeRun},
      {"--json", "", "Print the result as JSON", At(&EvalOptions::json), kOfWholeRun},
      {"-o,--output", "FILE", "",
       DeclaredBy([](CLI::App& command, EvalOptions& options) { AddMatrixOutputOption(command, options.output); }),
       kOnlyEval},
      {"--color", "WHEN", "",
       DeclaredBy([](CLI::App& command, EvalOptions& options) { AddColorOption(command, options.color); }),
       kOfWholeRun},
  };
}

// The options of `eval`, and with `table_first` of `benchmark`.
void AddOptions(CLI::App& command, EvalOptions& options) {
  std::vector<const EvalOption*> rows;
  for (const EvalOption& row : EvalOptionRows()) {
    if ((row.traits & (options.table_first ? kOnlyEval : kOnlyBenchmark)) == 0) rows.push_back(&row);
  }
  for (const EvalOption* row : rows) {
    if (!row->group.empty()) BeginGroup(command, row->group.c_str());
    CLI::Option* const option = row->at.declare(command, options, row->names, row->help);
    if (!row->help.empty()) LikeRow(option, *row);
  }
  for (const EvalOption* row : rows) {
    if (row->names == "SKILL") continue;
    CLI::Option* const option = command.get_option(LongNameOf(*row));
    if ((row->traits & kInPlan) != 0) {
      option->each([&options, name = LongNameOf(*row)](const std::string&) { options.given_of_plan.push_back(name); });
    }
    for (const std::string& other : row->needs) option->needs(command.get_option(other));
    for (const std::string& other : row->excludes) option->excludes(command.get_option(other));
  }
  command.get_option("SKILL")->required();
  if (options.table_first) command.get_option("--model")->default_str("")->required();
  command.get_option("--runs")->default_str(fmt::format("{}", options.default_rounds()));
}

}  // namespace

const std::vector<EvalOption>& EvalOptionRows() {
  static const std::vector<EvalOption> all = [] {
    std::vector<EvalOption> rows = Arguments();
    const auto add = [&](const char* group, const std::vector<EvalOption>& more) {
      for (const EvalOption& row : more) rows.emplace_back(row).group = group;
    };
    add("Models", ModelRows());
    add("Cases and arms", CaseRows());
    add("Workspaces", WorkspaceRows());
    add("Jobs elsewhere", JobRows());
    add("Sampling", SamplingRows());
    add("Verdict", VerdictRows());
    add("Budget", BudgetRows());
    add("Runs and cache", StorageRows());
    add("Activation", ActivationRows());
    add("Output", OutputRows());
    return rows;
  }();
  return all;
}

int EvalOptions::default_rounds() const {
  if (stop_when_decided) return kDecidingRounds;
  return table_first ? kBenchmarkRounds : kEvalRounds;
}

void AddEvalCommand(CLI::App& app, EvalOptions& options) {
  CLI::App* command =
      app.add_subcommand("eval", "Measure a skill: ask its cases with and without it")->group("Measure skills");
  AddOptions(*command, options);
  AddExamples(*command, {{"Measure a skill on the default model", "upskill eval path/to/skill --runs 3"},
                         {"Compare two models, for at most 2 dollars",
                          "upskill eval path/to/skill -m haiku -m sonnet --runs 5 --max-cost 2"},
                         {"Measure all skills on two models, for at most 5 dollars together",
                          "upskill eval skills/* -m haiku -m sonnet --max-cost 5"},
                         {"Measure in eight Slurm jobs, each with a GPU",
                          "upskill eval path/to/skill --runs 50 --on slurm --shards 8 --job-option gres=gpu:1"},
                         {"Continue the latest run", "upskill eval path/to/skill --resume"}});
  AddHelpNote(
      *command,
      "See also: upskill help model-strings, upskill help files, upskill help verdicts, upskill help exit-codes");
}

void AddBenchmarkCommand(CLI::App& app, EvalOptions& options) {
  options.table_first = true;
  CLI::App* command =
      app.add_subcommand("benchmark", "Like eval, with three rounds by default and the comparison table first")
          ->group("Measure skills");
  AddOptions(*command, options);
  AddExamples(*command,
              {{"Compare three models", "upskill benchmark path/to/skill -m haiku -m sonnet -m kimi"},
               {"Keep the run elsewhere", "upskill benchmark path/to/skill -m haiku --runs 10 -d /tmp/runs"}});
  AddHelpNote(
      *command,
      "See also: upskill help model-strings, upskill help files, upskill help verdicts, upskill help exit-codes");
}

}  // namespace upskill
