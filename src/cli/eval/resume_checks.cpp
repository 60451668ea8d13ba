// SPDX-License-Identifier: Apache-2.0
#include "cli/eval/resume_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "measure/measurement.h"
#include "model/model_spec.h"
#include "util/text.h"

namespace upskill {
namespace {

Status CheckServerIsNamed(const EvalOptions& options, const std::string& run, const Student& model) {
  constexpr std::string_view kAnyServer = "generic.";  // the provider of a plain name with --base-url
  const bool named = !options.base_urls.empty() || model.spec.starts_with(kAnyServer);
  if (named || !model.identity.starts_with(kAnyServer)) return {};
  return InputError(
      fmt::format("run {} asked model '{}' at a server of its own; add{}", run, model.spec, ServerOptions(model)));
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

}  // namespace

Status CheckAgainstPlan(const EvalOptions& options, const Plan& plan) {
  RETURN_IF_ERROR(RefuseImported(plan, "resume"));
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
