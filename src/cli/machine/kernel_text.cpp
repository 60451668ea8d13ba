// SPDX-License-Identifier: Apache-2.0
#include "cli/machine/kernel_text.h"

#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string_view>

#include "cuda/device/kernel_costs.h"
#include "report/terminal/table.h"
#include "util/percent.h"
#include "util/text.h"

namespace upskill {
namespace {

std::string PercentText(std::optional<double> share) {
  return share ? fmt::format("{:.0f} %", WholePercent(*share)) : "–";
}

std::optional<std::uint32_t> RegistersOfKernel(const KernelRegisters& registers, const std::string& kernel) {
  const auto found = registers.find(kernel);
  return found == registers.end() ? std::nullopt : std::optional<std::uint32_t>(found->second);
}

// References to what a mangled name has named before: each may double what it stands for.
std::size_t CountReferences(std::string_view name) {
  std::size_t count = 0;
  for (std::size_t i = 0; i + 1 < name.size(); ++i) {
    if (name[i] != 'S' && name[i] != 'T') continue;
    std::size_t end = i + 1;
    while (end < name.size() && ((name[end] >= '0' && name[end] <= '9') || (name[end] >= 'A' && name[end] <= 'Z')))
      ++end;
    count += end < name.size() && name[end] == '_' ? 1 : 0;
  }
  return count;
}

// As in the source: "void scale<float>(float*, int)". The name comes from the program that is run, so that long ones,
// and those that could grow without bounds, stay as they are.
std::string Demangled(const std::string& name) {
  constexpr std::size_t kLongest = 300;
  constexpr std::size_t kMostReferences = 10;
  if (!name.starts_with("_Z") || name.size() > kLongest || CountReferences(name) > kMostReferences) return name;
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status),
                                                    std::free);
  return status == 0 && text != nullptr ? ExcerptLine(text.get(), kLongest) : name;
}

// Nothing is measured below the time that starting any kernel takes.
std::string TimeOfKernel(const KernelCosts& costs) {
  constexpr double kLaunchMicroseconds = 2.0;
  const double micros = std::max(costs.memory_us, costs.compute_us);
  if (micros < kLaunchMicroseconds) return "below a launch's own cost";
  return fmt::format("{:.2g} µs ({})", micros, costs.memory_us >= costs.compute_us ? "memory" : "instructions");
}

std::uint64_t CounterOf(const DeviceKernel& kernel, const char* name) {
  const auto found = kernel.counters.find(name);
  return found == kernel.counters.end() ? 0 : found->second;
}

// "memory 62 %, float32 20 %, …", the most frequent first.
std::string ClassesText(const DeviceKernel& kernel) {
  std::vector<std::pair<std::string, std::uint64_t>> classes(kernel.classes.begin(), kernel.classes.end());
  std::stable_sort(classes.begin(), classes.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  const auto all = static_cast<double>(std::max<std::uint64_t>(CounterOf(kernel, "thread_instructions"), 1));
  std::string text;
  for (const auto& [name, count] : classes) {
    if (count == 0) continue;
    text +=
        fmt::format("{}{} {:.0f} %", text.empty() ? "" : ", ", name, WholePercent(static_cast<double>(count) / all));
  }
  return text;
}

Json CostsJson(const DeviceKernel& kernel, std::optional<std::uint32_t> registers) {
  const KernelCosts costs = CostsOf(kernel, registers);
  return {{"coalescing", JsonOrNull(costs.coalescing)},        {"divergence", costs.divergence},
          {"bank_conflicts_per_launch", costs.bank_conflicts}, {"occupancy", JsonOrNull(costs.occupancy)},
          {"occupancy_limited_by", costs.occupancy_limit},     {"h100_memory_us_estimate", costs.memory_us},
          {"h100_compute_us_estimate", costs.compute_us}};
}

}  // namespace

TerminalText FindingsText(const DeviceReport& report) {
  std::string text;
  for (const DeviceFinding& finding : report.findings) {
    text += FindingLine(finding) + '\n';
    if (!finding.kernel.empty())
      text += fmt::format("    in {}{}\n", Demangled(finding.kernel),
                          finding.instruction.empty() ? "" : ", " + finding.instruction);
  }
  if (report.findings_dropped > 0) text += fmt::format("… and {} more\n", report.findings_dropped);
  if (!report.failure.empty()) text += fmt::format("a kernel failed: {}\n", report.failure);
  if (!report.limit.empty()) text += fmt::format("a kernel was ended: {}\n", report.limit);
  if (report.race_checks_incomplete)
    text += "races were looked for in a part of the memory only, because watching all of it takes too much\n";
  return TerminalText::Escape(text);
}

TerminalText FindingsCount(const DeviceReport& report, int schedules) {
  if (!report.findings.empty()) return TerminalText::Format("{}\n", Counted(report.findings.size(), "finding"));
  if (report.kernels.empty() || !report.failure.empty() || !report.limit.empty()) return {};
  const std::string counted = Counted(static_cast<std::size_t>(schedules), "schedule");
  if (report.streams < 2) return TerminalText::Format("nothing found in {}\n", counted);
  return TerminalText::Format(
      "nothing found in {}; whether the {} streams wait for each other where they must isn't checked\n", counted,
      report.streams);
}

TerminalText CostsText(const DeviceReport& report, const KernelRegisters& registers, const Style& style) {
  Table table({{"kernel"},
               {"launches", Table::Align::kRight},
               {"instructions", Table::Align::kRight},
               {"coalescing", Table::Align::kRight},
               {"bank conflicts", Table::Align::kRight},
               {"divergence", Table::Align::kRight},
               {"occupancy", Table::Align::kRight},
               {"H100, estimate", Table::Align::kRight}});
  std::string classes;
  for (const DeviceKernel& kernel : report.kernels) {
    const KernelCosts costs = CostsOf(kernel, RegistersOfKernel(registers, kernel.name));
    const std::string run = kernel.repeated > 0
                                ? fmt::format(" ({} run)", kernel.launches - std::min(kernel.launches, kernel.repeated))
                                : "";
    table.AddRow({Demangled(kernel.name), std::to_string(kernel.launches) + run,
                  WithThousands(static_cast<long long>(CounterOf(kernel, "thread_instructions"))),
                  PercentText(costs.coalescing), WithThousands(static_cast<long long>(costs.bank_conflicts)),
                  PercentText(costs.divergence), PercentText(costs.occupancy), TimeOfKernel(costs)});
    classes += fmt::format("{}: {}\n", Demangled(kernel.name), ClassesText(kernel));
  }
  return TerminalText::Format("{}{}", table.Render(style), TerminalText::Escape(classes));
}

Json KernelReportJson(const DeviceReport& report, const KernelRegisters& registers) {
  Json json = ReportToJson(report);
  json.erase("key");
  json.erase("trials");
  json["output"] = report.output;
  json["error"] = report.error;
  if (report.output_cut && report.limit.empty()) json["limit"] = kOutputCut;
  for (std::size_t i = 0; i < report.kernels.size(); ++i) {
    const auto known = RegistersOfKernel(registers, report.kernels[i].name);
    json["kernels"][i]["demangled"] = Demangled(report.kernels[i].name);
    json["kernels"][i]["registers"] = JsonOrNull(known);
    json["kernels"][i]["costs"] = CostsJson(report.kernels[i], known);
  }
  return json;
}

void AddOtherFindings(const DeviceReport& other, DeviceReport& report) {
  for (const DeviceFinding& finding : other.findings) {
    const bool known = std::any_of(report.findings.begin(), report.findings.end(),
                                   [&](const DeviceFinding& each) { return SameFinding(each, finding); });
    if (!known) report.findings.push_back(finding);
  }
  if (report.failure.empty()) report.failure = other.failure;
  if (report.limit.empty()) report.limit = other.limit;
}

}  // namespace upskill
