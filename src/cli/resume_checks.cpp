// SPDX-License-Identifier: Apache-2.0
#include "cli/resume_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "model/model_spec.h"
#include "util/text.h"

namespace upskill {

Status CheckAgainstPlan(const EvalOptions& options, const Plan& plan) {
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
  return {};
}

std::string ServerOptions(const Student& student) {
  constexpr std::string_view kAt = " at ";
  const std::size_t at = student.identity.rfind(kAt);
  if (at == std::string::npos) return "";
  std::string options;
  std::string_view rest = std::string_view(student.identity).substr(at + kAt.size());
  while (!rest.empty()) {
    const std::size_t comma = std::min(rest.find(", "), rest.size());
    options += " --base-url " + ShellWord(std::string(rest.substr(0, comma)));
    rest.remove_prefix(std::min(comma + 2, rest.size()));
  }
  return options;
}

Status CheckServerIsNamed(const EvalOptions& options, const std::string& run, const Student& model) {
  constexpr std::string_view kAnyServer = "generic.";  // the provider of a plain name with --base-url
  const bool named = !options.base_urls.empty() || model.spec.starts_with(kAnyServer);
  if (named || !model.identity.starts_with(kAnyServer)) return {};
  return InputError(
      fmt::format("run {} asked model '{}' at a server of its own; add{}", run, model.spec, ServerOptions(model)));
}

}  // namespace upskill
