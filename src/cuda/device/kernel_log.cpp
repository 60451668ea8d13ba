// SPDX-License-Identifier: Apache-2.0
#include "cuda/device/kernel_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>

#include "util/text.h"

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

constexpr std::array<std::pair<std::string_view, std::string_view>, 11> kTypes = {{{".f64", "f64"},
                                                                                   {".f32", "f32"},
                                                                                   {".f16", "f16"},
                                                                                   {".bf16", "bf16"},
                                                                                   {".tf32", "tf32"},
                                                                                   {".e4m3", "fp8"},
                                                                                   {".e5m2", "fp8"},
                                                                                   {"dp4a.", "int8"},
                                                                                   {".row.col.s32.s8", "int8"},
                                                                                   {".row.col.s32.u8", "int8"},
                                                                                   {".row.col.satfinite.s32", "int8"}}};

void AddPrecisions(std::string_view body, std::vector<std::string>& found) {
  for (const auto& [type, name] : kTypes) {
    if (body.find(type) == std::string_view::npos) continue;
    if (std::find(found.begin(), found.end(), name) == found.end()) found.emplace_back(name);
  }
}

// The name after the last ".entry" of what comes before a body; empty if it is another function's.
std::string DeclaredKernel(std::string_view declaration) {
  constexpr std::string_view kEntry = ".entry ";
  const std::size_t at = declaration.rfind(kEntry);
  if (at == std::string_view::npos) return "";
  const std::string_view rest = declaration.substr(at + kEntry.size());
  return std::string(Trim(rest.substr(0, rest.find_first_of("(\n"))));
}

}  // namespace

void KernelLog::Add(std::string_view kernel, const ptx::LaunchConfig& config, std::uint64_t shared_bytes,
                    const std::vector<std::string>& precisions, const ptx::LaunchOutcome& outcome) {
  auto known = std::find_if(kernels_.begin(), kernels_.end(), [&](const auto& each) { return each.name == kernel; });
  if (known == kernels_.end()) {
    kernels_.push_back({.name = std::string(kernel),
                        .launches = 0,
                        .threads_per_block = config.block.Count(),
                        .shared_bytes = shared_bytes,
                        .counters = {},
                        .classes = {},
                        .precisions = precisions});
    known = kernels_.end() - 1;
  }
  ++known->launches;
  AddTo(known->counters, CountsOf(outcome.counters));
  AddTo(known->classes, outcome.counters.by_class);
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
    const auto same = std::find_if(findings_.begin(), findings_.end(), [&](const DeviceFinding& each) {
      return each.kind == added.kind && each.kernel == added.kernel && each.place == added.place &&
             each.other_place == added.other_place && each.message == added.message;
    });
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

KernelPrecisions PrecisionsIn(std::string_view ptx) {
  KernelPrecisions kernels;
  std::vector<std::string> of_functions;
  std::size_t declared = 0;  // where the declaration of the next body begins
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t i = ptx.find_first_of("{}"); i != std::string_view::npos; i = ptx.find_first_of("{}", i + 1)) {
    if (ptx[i] == '{') {
      if (depth++ == 0) begin = i;
      continue;
    }
    if (depth == 0) continue;
    --depth;
    if (depth > 0) continue;
    const std::string_view body = ptx.substr(begin, i - begin);
    const std::string kernel = DeclaredKernel(ptx.substr(declared, begin - declared));
    AddPrecisions(body, kernel.empty() ? of_functions : kernels[kernel]);
    declared = i + 1;
  }
  for (auto& [kernel, found] : kernels) {
    for (const std::string& name : of_functions) {
      if (std::find(found.begin(), found.end(), name) == found.end()) found.push_back(name);
    }
  }
  return kernels;
}

}  // namespace upskill
