// SPDX-License-Identifier: Apache-2.0
#include "cli/eval/resumed_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "cli/eval/option_row.h"
#include "cli/models/students.h"
#include "measure/measurement.h"
#include "model/model_spec.h"
#include "model/workspace.h"
#include "util/text.h"

namespace upskill {
namespace {

Status CheckServerIsNamed(const EvalOptions& options, const std::string& run, const Student& model) {
  constexpr std::string_view kAnyServer = "generic.";  // the provider of a plain name with --base-url
  const bool named = !options.base_urls.empty() || model.spec.starts_with(kAnyServer);
  if (named || !model.identity.starts_with(kAnyServer)) return {};
  return InputError(fmt::format("run {} sent requests for model '{}' to a server given on the command line; add{}", run,
                                model.spec, ServerOptions(model)));
}

Status CheckJudge(const EvalOptions& options, const std::string& run, const RunJudge& stored) {
  const bool confirmed = options.judge_model == stored.spec;
  if (!options.judge_model.empty() && !confirmed) {
    return InputError(
        fmt::format("run {} is judged by '{}', not '{}'; start a new run, or recheck this one with "
                    "`upskill recheck --judge-model`",
                    run, stored.spec, options.judge_model));
  }
  const bool runs_something = stored.spec.starts_with(kCommandPrefix) || stored.spec.starts_with(kDeskPrefix);
  if (runs_something && !confirmed) {
    return InputError(fmt::format("run {} is judged by '{}': to confirm that it may be used, repeat --judge-model {}",
                                  run, stored.spec, ShellWord(stored.spec)));
  }
  return CheckServerIsNamed(options, run, {stored.spec, stored.name, stored.identity});
}

// The options that the run was started with, as far as its plan has them.
EvalOptions OptionsOf(const Plan& plan) {
  EvalOptions options;
  const auto points = [](double fraction) { return std::round(fraction * 1e8) / 1e6; };
  options.tests = plan.suite.source.string();
  options.no_baseline = !plan.has_arm(Arm::kBaseline);
  options.placebo = plan.has_arm(Arm::kPlacebo);
  if (plan.shard.of > 1) options.shard = fmt::format("{}/{}", plan.shard.index + 1, plan.shard.of);
  options.workspace.mode = CaseModeName(plan.mode_of_all());
  if (plan.workspace) {
    options.workspace.max_turns = plan.workspace->max_turns;
    options.workspace.load = SkillLoadName(plan.workspace->load);
    options.workspace.case_seconds = plan.workspace->case_seconds;
    options.workspace.case_tokens = plan.workspace->case_tokens;
  }
  options.max_tokens = plan.sampling.max_tokens;
  options.temperature = plan.sampling.temperature;
  options.seed = plan.sampling.seed;
  options.stop_when_decided = plan.stop_when_decided;
  options.alpha = plan.verdict.alpha;
  options.min_lift_points = points(plan.verdict.min_lift);
  options.margin_points = points(plan.verdict.margin);
  options.use_cache = plan.offers_cache;
  options.activation.on = plan.measures_activation();
  return options;
}

std::string Typed(const std::string& name, const std::vector<std::string>& words) {
  return words.empty() || words.front().empty() ? name : name + " " + ShellWord(words.front());
}

// The options that the plan has may be repeated, but not changed.
Status CheckRepeated(const MeasureSpec& spec, const EvalOptions& options, const Plan& plan) {
  EvalOptions stored = OptionsOf(plan);
  std::error_code code;
  if (std::filesystem::equivalent(options.tests, plan.suite.source, code)) stored.tests = options.tests;
  if (spec.previous && spec.previous->snapshot.sha256 == plan.previous.sha256) stored.against = options.against;
  for (const std::string& name : options.given_of_plan) {
    const EvalOption& row = *FindEvalOption(name);
    const std::vector<std::string> given = row.at.words(options);
    const std::vector<std::string> had = row.at.words(stored);
    if (given == had) continue;
    // A flag, a version of the skill, or an option that the run didn't have has no earlier value to name.
    const std::string difference =
        name == "--against" && plan.has_arm(Arm::kPrevious)
            ? fmt::format("was started with another version of the skill than {} has now", Typed(name, given))
        : row.value.empty() || had.empty() || given.empty()
            ? fmt::format("wasn't started with {}", Typed(name, given))
            : fmt::format("was started with {}, not {}", Typed(name, had), given.front());
    return InputError(fmt::format(
        "run {} {}; omit this option to continue the run, or start a new run without --resume", plan.run, difference));
  }
  return {};
}

}  // namespace

Status CheckAgainstPlan(const MeasureSpec& spec, const EvalOptions& options, const Plan& plan) {
  RETURN_IF_ERROR(RefuseImported(plan, "resume"));
  RETURN_IF_ERROR(CheckRepeated(spec, options, plan));
  for (const std::string& model : options.models) {
    const bool known = std::any_of(plan.students.begin(), plan.students.end(),
                                   [&](const Student& student) { return student.spec == model; });
    if (!known) {
      return InputError(fmt::format("run {} has no model '{}'; start a new run for it", plan.run, model));
    }
  }
  for (const Student& student : plan.students) {
    const bool named = std::find(options.models.begin(), options.models.end(), student.spec) != options.models.end();
    if (named || (!student.spec.starts_with(kCommandPrefix) && !student.spec.starts_with(kDeskPrefix))) continue;
    return InputError(fmt::format("run {} has the model '{}': to confirm that it may be used, repeat -m {}", plan.run,
                                  student.spec, ShellWord(student.spec)));
  }
  if (options.rounds && *options.rounds != plan.rounds) {
    return InputError(fmt::format("run {} has {}, not {}; a new run with --runs {} takes its answers from the cache",
                                  plan.run, Counted(static_cast<std::size_t>(plan.rounds), "round"), *options.rounds,
                                  *options.rounds));
  }
  for (const Student& student : plan.students) RETURN_IF_ERROR(CheckServerIsNamed(options, plan.run, student));
  return plan.judge ? CheckJudge(options, plan.run, *plan.judge) : Status();
}

}  // namespace upskill
