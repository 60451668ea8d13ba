// SPDX-License-Identifier: Apache-2.0
#include "cuda/device/device_report.h"

#include <fmt/format.h>

#include "util/base64.h"

namespace upskill {
namespace {

Json FindingToJson(const DeviceFinding& finding) {
  return {{"kind", finding.kind},
          {"message", finding.message},
          {"detail", finding.detail},
          {"kernel", finding.kernel},
          {"place", finding.place},
          {"other_place", finding.other_place},
          {"instruction", finding.instruction},
          {"thread", finding.thread},
          {"count", finding.count}};
}

DeviceFinding FindingFromJson(const Json& json) {
  return {.kind = StringAt(json, "kind"),
          .message = StringAt(json, "message"),
          .detail = StringAt(json, "detail"),
          .kernel = StringAt(json, "kernel"),
          .place = StringAt(json, "place"),
          .other_place = StringAt(json, "other_place"),
          .instruction = StringAt(json, "instruction"),
          .thread = StringAt(json, "thread"),
          .count = JsonGet<std::uint64_t>(json, "count", 1)};
}

Json KernelToJson(const DeviceKernel& kernel) {
  return {{"name", kernel.name},
          {"launches", kernel.launches},
          {"repeated", kernel.repeated},
          {"threads_per_block", kernel.threads_per_block},
          {"shared_bytes", kernel.shared_bytes},
          {"counters", kernel.counters},
          {"classes", kernel.classes},
          {"precisions", kernel.precisions}};
}

std::map<std::string, std::uint64_t> CountsFromJson(const Json& json) {
  std::map<std::string, std::uint64_t> counts;
  if (!json.is_object()) return counts;
  for (const auto& [name, count] : json.items()) {
    if (count.is_number()) counts[name] = NumberAs<std::uint64_t>(count).value_or(0);
  }
  return counts;
}

DeviceKernel KernelFromJson(const Json& json) {
  DeviceKernel kernel;
  kernel.name = StringAt(json, "name");
  kernel.launches = JsonGet<std::uint64_t>(json, "launches", 0);
  kernel.threads_per_block = JsonGet<std::uint64_t>(json, "threads_per_block", 0);
  kernel.shared_bytes = JsonGet<std::uint64_t>(json, "shared_bytes", 0);
  kernel.counters = CountsFromJson(Member(json, "counters"));
  kernel.classes = CountsFromJson(Member(json, "classes"));
  kernel.precisions = CountsFromJson(Member(json, "precisions"));
  kernel.repeated = JsonGet<std::uint64_t>(json, "repeated", 0);
  return kernel;
}

Json TrialToJson(const DeviceTrialReport& trial) {
  Json outputs = Json::array();
  for (const DeviceOutput& output : trial.outputs) {
    outputs.push_back({{"argument", output.argument},
                       {"data", EncodeBase64(output.data)},
                       {"unwritten", output.unwritten},
                       {"from_host", output.from_host},
                       {"copied", output.copied}});
  }
  return {{"outputs", std::move(outputs)},        {"changed_inputs", trial.changed_inputs},
          {"launches", trial.launches},           {"pending_streams", trial.pending_streams},
          {"bytes_to_host", trial.bytes_to_host}, {"error", trial.error},
          {"decisions", trial.decisions}};
}

DeviceTrialReport TrialFromJson(const Json& json) {
  DeviceTrialReport trial;
  for (const Json& output : Member(json, "outputs")) {
    trial.outputs.push_back({JsonGet<std::size_t>(output, "argument", 0), DecodeBase64(StringAt(output, "data")),
                             JsonGet<std::uint64_t>(output, "unwritten", 0),
                             JsonGet<std::uint64_t>(output, "from_host", 0),
                             JsonGet<std::uint64_t>(output, "copied", 0)});
  }
  for (const Json& input : Member(json, "changed_inputs")) {
    if (input.is_number_unsigned()) trial.changed_inputs.push_back(input.get<std::size_t>());
  }
  trial.launches = JsonGet<std::uint64_t>(json, "launches", 0);
  trial.pending_streams = JsonGet<std::uint64_t>(json, "pending_streams", 0);
  trial.bytes_to_host = JsonGet<std::uint64_t>(json, "bytes_to_host", 0);
  trial.error = JsonGet<std::uint32_t>(json, "error", 0);
  trial.decisions = JsonGet<std::uint64_t>(json, "decisions", 0);
  return trial;
}

template <typename T, typename Convert>
Json ListToJson(const std::vector<T>& list, const Convert& convert) {
  Json json = Json::array();
  for (const T& each : list) json.push_back(convert(each));
  return json;
}

}  // namespace

Json ReportToJson(const DeviceReport& report) {
  return {{"key", report.key},
          {"exit_code", report.exit_code},
          {"output", EncodeBase64(report.output)},
          {"error", EncodeBase64(report.error)},
          {"limit", report.limit},
          {"unsupported", report.unsupported},
          {"failure", report.failure},
          {"trials", ListToJson(report.trials, TrialToJson)},
          {"kernels", ListToJson(report.kernels, KernelToJson)},
          {"findings", ListToJson(report.findings, FindingToJson)},
          {"findings_dropped", report.findings_dropped},
          {"race_checks_incomplete", report.race_checks_incomplete},
          {"streams", report.streams},
          {"output_cut", report.output_cut}};
}

Result<DeviceReport> ReportFromJson(const Json& json) {
  if (!json.is_object() || !Member(json, "exit_code").is_number_integer())
    return InputError("the report of the process that runs kernels isn't what was expected");
  DeviceReport report;
  report.key = StringAt(json, "key");
  report.exit_code = JsonGet<int>(json, "exit_code", -1);
  report.output = DecodeBase64(StringAt(json, "output"));
  report.error = DecodeBase64(StringAt(json, "error"));
  report.limit = StringAt(json, "limit");
  report.unsupported = StringAt(json, "unsupported");
  report.failure = StringAt(json, "failure");
  for (const Json& trial : Member(json, "trials")) report.trials.push_back(TrialFromJson(trial));
  for (const Json& kernel : Member(json, "kernels")) report.kernels.push_back(KernelFromJson(kernel));
  for (const Json& finding : Member(json, "findings")) report.findings.push_back(FindingFromJson(finding));
  report.findings_dropped = JsonGet<std::uint64_t>(json, "findings_dropped", 0);
  report.race_checks_incomplete = JsonGet<bool>(json, "race_checks_incomplete", false);
  report.streams = JsonGet<std::uint64_t>(json, "streams", 0);
  report.output_cut = JsonGet<bool>(json, "output_cut", false);
  return report;
}

bool SameFinding(const DeviceFinding& a, const DeviceFinding& b) {
  if (a.kind != b.kind || a.kernel != b.kernel) return false;
  const bool same_places = a.place == b.place && a.other_place == b.other_place;
  if (a.message == b.message) return same_places;
  const bool swapped = a.place == b.other_place && a.other_place == b.place;
  return a.kind == "race" && !a.place.empty() && !a.other_place.empty() && (same_places || swapped);
}

std::string FindingLine(const DeviceFinding& finding) {
  std::string line = finding.place.empty() ? "" : finding.place + ": ";
  line += finding.message;
  if (!finding.thread.empty()) line += " by thread " + finding.thread;
  if (!finding.other_place.empty()) line += ", and " + finding.other_place;
  if (!finding.detail.empty()) line += ": " + finding.detail;
  if (finding.count > 1) line += fmt::format(" ({} times)", finding.count);
  return line;
}

}  // namespace upskill
