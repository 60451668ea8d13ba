// SPDX-License-Identifier: Apache-2.0
#include "cuda/device/kernel_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

namespace upskill {
namespace {

constexpr std::size_t kMaxKinds = 200;  // of findings in a report

std::string PlaceOf(const ptx::SourceLine& line) {
  if (line.line == 0) return "";
  return fmt::format("{}:{}", std::filesystem::path(line.file).filename().string(), line.line);
}

// Of inlined code, the place that isn't in a header of the toolkit: the outermost.
std::string PlaceOf(const ptx::Finding& finding) {
  const bool in_source = finding.source.file.ends_with(".cu") || finding.inlined_at.empty();
  return PlaceOf(in_source ? finding.source : finding.inlined_at.back());
}

std::string Coordinates(const ptx::Dim3& at) { return fmt::format("({},{},{})", at.x, at.y, at.z); }

std::map<std::string, std::uint64_t> CountsOf(const ptx::Counters& counters) {
  return {{"warp_instructions", counters.warp_instructions},
          {"thread_instructions", counters.thread_instructions},
          {"branches", counters.branches},
          {"divergent_branches", counters.divergent_branches},
          {"global_load_requests", counters.global_load_requests},
          {"global_load_sectors", counters.global_load_sectors},
          {"global_load_bytes", counters.global_load_bytes},
          {"global_store_requests", counters.global_store_requests},
          {"global_store_sectors", counters.global_store_sectors},
          {"global_store_bytes", counters.global_store_bytes},
          {"shared_requests", counters.shared_requests},
          {"shared_bank_conflicts", counters.shared_bank_conflicts},
          {"local_requests", counters.local_requests},
          {"barriers", counters.barriers},
          {"atomics", counters.atomics}};
}

void AddTo(std::map<std::string, std::uint64_t>& sums, const std::map<std::string, std::uint64_t>& more) {
  for (const auto& [name, count] : more) sums[name] += count;
}

}  // namespace

void KernelLog::Add(std::string_view kernel, const ptx::LaunchConfig& config, std::uint64_t shared_bytes,
                    const ptx::LaunchOutcome& outcome, bool repeated) {
  auto known = std::find_if(kernels_.begin(), kernels_.end(), [&](const auto& each) { return each.name == kernel; });
  if (known == kernels_.end()) {
    kernels_.push_back({.name = std::string(kernel),
                        .launches = 0,
                        .threads_per_block = config.block.Count(),
                        .shared_bytes = shared_bytes,
                        .counters = {},
                        .classes = {},
                        .precisions = {},
                        .repeated = 0});
    known = kernels_.end() - 1;
  }
  ++known->launches;
  known->repeated += repeated ? 1 : 0;
  AddTo(known->counters, CountsOf(outcome.counters));
  AddTo(known->classes, outcome.counters.by_class);
  AddTo(known->precisions, outcome.counters.by_precision);
  instructions_ += outcome.counters.thread_instructions;
  dropped_ += outcome.findings_dropped;
  incomplete_ = incomplete_ || outcome.race_checks_incomplete;
  AddFindings(outcome);
}

void KernelLog::AddFindings(const ptx::LaunchOutcome& outcome) {
  for (const ptx::Finding& finding : outcome.findings) {
    DeviceFinding added{
        .kind = ptx::FindingKindName(finding.kind),
        .message = finding.message,
        .detail = finding.detail,
        .kernel = finding.kernel,
        .place = PlaceOf(finding),
        .other_place = PlaceOf(finding.other_source),
        .instruction = finding.instruction,
        .thread = fmt::format("{} in block {}", Coordinates(finding.thread), Coordinates(finding.block)),
        .count = finding.count};
    const auto same = std::find_if(findings_.begin(), findings_.end(),
                                   [&](const DeviceFinding& each) { return SameFinding(each, added); });
    if (same != findings_.end()) {
      same->count += added.count;
    } else if (findings_.size() < kMaxKinds) {
      findings_.push_back(std::move(added));
    } else {
      ++dropped_;
    }
  }
}

void KernelLog::MoveTo(DeviceReport& report) {
  report.kernels = std::move(kernels_);
  report.findings = std::move(findings_);
  report.findings_dropped = dropped_;
  report.race_checks_incomplete = incomplete_;
}

}  // namespace upskill
