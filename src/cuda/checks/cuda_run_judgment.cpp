// SPDX-License-Identifier: Apache-2.0
#include "cuda/checks/cuda_run_judgment.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "check/text_checks.h"
#include "cuda/device/kernel_costs.h"
#include "util/text.h"

namespace upskill {
namespace {

std::string WithSizes(const Sizes& sizes, const std::string& text) {
  return sizes.empty() ? text : fmt::format("{} ({})", text, SizesText(sizes));
}

std::string OutputOf(const DeviceReport& report) {
  const std::string_view text = Trim(report.error.empty() ? report.output : report.error);
  constexpr std::size_t kShown = 300;
  const std::string end =
      ExcerptLine(ReplaceInvalidUtf8(text.substr(text.size() - std::min(text.size(), kShown))), kShown);
  return end.empty() ? "" : ": " + end;
}

std::string FindingProblem(const CudaRunSpec& spec, const DeviceReport& report) {
  for (const DeviceFinding& finding : report.findings) {
    if (std::find(spec.allow.begin(), spec.allow.end(), finding.kind) == spec.allow.end())
      return fmt::format("{}: {}", finding.kind, ExcerptLine(FindingLine(finding), 400));
  }
  return "";
}

std::string ProblemOfOutput(const CudaRunSpec& spec, const RunInputs& inputs, const DeviceOutput& output) {
  if (output.argument >= spec.arguments.size()) return "a buffer is missing";
  const RunArgument& argument = spec.arguments[output.argument];
  if (output.unwritten > 0) return fmt::format("{} bytes of {} aren't written", output.unwritten, argument.name);
  if (output.from_host > 0)
    return fmt::format("{} of the bytes of {} come from the host, not from a kernel", output.from_host, argument.name);
  if (output.copied > 0)
    return fmt::format("{} of the bytes of {} are copied from an input by the runtime, not made by a kernel",
                       output.copied, argument.name);
  const double tolerance = argument.tolerance.value_or(spec.tolerance.value_or(InfoOf(argument.type).tolerance));
  return CompareBuffer(argument, InfoOf(argument.type).is_real ? tolerance : argument.tolerance.value_or(0.0),
                       inputs.expected[output.argument], output.data);
}

// Findings are named before results: they say why these are wrong.
std::string ProblemOfTrial(const CudaRunSpec& spec, const RunInputs& inputs, const DeviceTrialReport& trial) {
  if (trial.error != 0) return fmt::format("a call of CUDA fails with error {}", trial.error);
  if (trial.launches == 0) return "it launches no kernel";
  if (!trial.changed_inputs.empty() && trial.changed_inputs.front() < spec.arguments.size())
    return fmt::format("it changes its input {}", spec.arguments[trial.changed_inputs.front()].name);
  for (const DeviceOutput& output : trial.outputs) {
    if (const std::string problem = ProblemOfOutput(spec, inputs, output); !problem.empty()) return problem;
  }
  if (trial.pending_streams > 0)
    return "it returns before the work on a stream of its own is done: nothing waits for it";
  if (trial.bytes_to_host > spec.max_bytes_to_host)
    return fmt::format("it copies {} bytes to the host, more than {}: results must be computed by kernels",
                       trial.bytes_to_host, spec.max_bytes_to_host);
  return "";
}

// Whether the host did something else than in an earlier call with the same sizes and other inputs, after reading what
// the device had. A check that lets it read more than usual lets it decide, too.
bool DecidesByData(const CudaRunSpec& spec, const std::vector<RunInputs>& inputs, const DeviceReport& report,
                   std::size_t trial) {
  if (spec.max_bytes_to_host > CudaRunSpec().max_bytes_to_host || report.trials[trial].bytes_to_host == 0) return false;
  for (std::size_t i = 0; i < trial; ++i) {
    if (inputs[i].sizes != inputs[trial].sizes || report.trials[i].bytes_to_host == 0) continue;
    return report.trials[i].decisions != report.trials[trial].decisions;
  }
  return false;
}

std::string ProblemOfTrials(const CudaRunSpec& spec, const std::vector<RunInputs>& inputs, const DeviceReport& report) {
  const auto repetitions = static_cast<std::size_t>(spec.repetitions);
  for (std::size_t i = 0; i < report.trials.size() && i < inputs.size(); ++i) {
    const RunInputs& of_trial = inputs[i];
    if (const std::string problem = ProblemOfTrial(spec, of_trial, report.trials[i]); !problem.empty())
      return WithSizes(of_trial.sizes, problem);
    if (DecidesByData(spec, inputs, report, i))
      return WithSizes(of_trial.sizes,
                       fmt::format("what it launches or sends depends on the {} bytes that it has copied to the host: "
                                   "results must be computed by kernels",
                                   report.trials[i].bytes_to_host));
    if (!spec.deterministic || i % repetitions == 0) continue;
    const auto& before = report.trials[i - 1].outputs;
    const auto& now = report.trials[i].outputs;
    const bool same = std::equal(before.begin(), before.end(), now.begin(), now.end(),
                                 [](const DeviceOutput& a, const DeviceOutput& b) { return a.data == b.data; });
    if (!same) return WithSizes(of_trial.sizes, "its results differ between two runs on the same inputs");
  }
  if (report.trials.size() == inputs.size()) return "";
  return fmt::format("it ends with exit code {} in call {} of {}{}", report.exit_code, report.trials.size() + 1,
                     inputs.size(), OutputOf(report));
}

std::string ProblemOfCosts(const CudaRunSpec& spec, const DeviceReport& report) {
  for (const DeviceKernel& kernel : report.kernels) {
    const KernelCosts costs = CostsOf(kernel, std::nullopt);
    if (spec.bank_conflicts && costs.bank_conflicts > *spec.bank_conflicts)
      return fmt::format("{} has {} bank conflicts in a launch, more than {}", kernel.name, costs.bank_conflicts,
                         *spec.bank_conflicts);
    if (spec.min_coalescing && costs.coalescing && *costs.coalescing < *spec.min_coalescing)
      return fmt::format("{} uses {:.0f} % of the bytes that it moves to and from global memory, less than {:.0f} %",
                         kernel.name, 100.0 * *costs.coalescing, 100.0 * *spec.min_coalescing);
    if (spec.max_divergence && costs.divergence > *spec.max_divergence)
      return fmt::format("{:.0f} % of the branches of {} part a warp, more than {:.0f} %", 100.0 * costs.divergence,
                         kernel.name, 100.0 * *spec.max_divergence);
  }
  return "";
}

std::string ProblemOfPrecision(const CudaRunSpec& spec, const DeviceReport& report) {
  if (spec.precision.empty()) return "";
  constexpr std::uint64_t kShare = 4;  // at least a quarter of the counted computations
  std::map<std::string, std::uint64_t> counts;
  std::uint64_t all = 0;
  for (const DeviceKernel& kernel : report.kernels) {
    for (const auto& [name, count] : kernel.precisions) {
      counts[name] += count;
      all += count;
    }
  }
  // Computing in double where float is asked for is allowed.
  const std::uint64_t wanted = counts[spec.precision] + (spec.precision == "f32" ? counts["f64"] : 0);
  if (wanted > 0 && wanted >= all / kShare) return "";
  std::string used;
  for (const auto& [name, count] : counts) {
    if (count > 0) used += fmt::format("{}{} {}", used.empty() ? "" : ", ", count, name);
  }
  return fmt::format("its kernels don't compute in {}: they executed {}", spec.precision,
                     used.empty() ? "only integer computations" : used + " computations");
}

std::string ProblemOfProgram(const CudaRunSpec& spec, const DeviceReport& report) {
  if (report.exit_code != 0) return fmt::format("it ends with exit code {}{}", report.exit_code, OutputOf(report));
  if (!spec.stdout_pattern.empty()) {
    const RE2 pattern(spec.stdout_pattern);
    if (!RE2::PartialMatch(ReplaceInvalidUtf8(report.output), pattern))
      return fmt::format("no match for {} in its output{}", Quoted(spec.stdout_pattern), OutputOf(report));
  }
  return "";
}

}  // namespace

std::string CompareBuffer(const RunArgument& argument, double tolerance, std::string_view expected,
                          std::string_view got) {
  const ElementType reference = ReferenceType(argument.type);
  const std::size_t count = expected.size() / InfoOf(reference).bytes;
  if (got.size() != count * InfoOf(argument.type).bytes) return fmt::format("{} isn't there any more", argument.name);
  // 64-bit integers don't fit a double.
  if (!InfoOf(argument.type).is_real && tolerance == 0.0 && expected == got) return "";
  double squares = 0.0;
  std::size_t finite = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double want = ElementAt(reference, expected, i);
    if (!std::isfinite(want)) continue;
    squares += want * want;
    ++finite;
  }
  const double typical = finite == 0 ? 0.0 : std::sqrt(squares / static_cast<double>(finite));
  std::size_t wrong = 0;
  std::string first;
  for (std::size_t i = 0; i < count; ++i) {
    const double want = ElementAt(reference, expected, i);
    const double value = ElementAt(argument.type, got, i);
    if ((std::isnan(want) && std::isnan(value)) || value == want ||
        (std::isfinite(want) && std::fabs(value - want) <= tolerance * std::max(std::fabs(want), typical)))
      continue;
    // What overflows the format in the reference, too, as it has more room there.
    std::string rounded;
    AppendElement(argument.type, want, rounded);
    if (ElementAt(argument.type, rounded, 0) == value) continue;
    if (wrong++ == 0) first = fmt::format("{}[{}] is {:.9g} instead of {:.9g}", argument.name, i, value, want);
  }
  if (wrong > 0) return fmt::format("{}, {} of {} elements are wrong", first, wrong, count);
  const bool bits_differ = !InfoOf(argument.type).is_real && tolerance == 0.0;
  return bits_differ ? fmt::format("{} isn't what was expected", argument.name) : "";
}

CheckResult JudgeRun(const CudaRunSpec& spec, const std::vector<RunInputs>& inputs, const DeviceReport& report) {
  CheckResult result;
  if (!report.unsupported.empty()) {
    result.outcome = Outcome::kSkip;
    result.detail = report.unsupported;
    return result;
  }
  std::string problem = FindingProblem(spec, report);
  if (problem.empty() && !report.failure.empty()) problem = "a kernel fails: " + report.failure;
  if (problem.empty() && !report.limit.empty()) problem = "a kernel doesn't end: " + report.limit;
  const bool ran =
      std::any_of(report.kernels.begin(), report.kernels.end(), [](const auto& k) { return k.launches > 0; });
  if (problem.empty() && spec.function.empty()) problem = ProblemOfProgram(spec, report);
  if (problem.empty() && !spec.function.empty()) problem = ProblemOfTrials(spec, inputs, report);
  if (problem.empty() && !ran) problem = "it launches no kernel";
  if (problem.empty()) problem = ProblemOfPrecision(spec, report);
  if (problem.empty()) problem = ProblemOfCosts(spec, report);
  result.outcome = problem.empty() ? Outcome::kPass : Outcome::kFail;
  result.detail = std::move(problem);
  return result;
}

}  // namespace upskill
