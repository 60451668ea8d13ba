// SPDX-License-Identifier: Apache-2.0
#include "report/csv.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/figures.h"
#include "util/text.h"

namespace upskill {
namespace {

bool LooksLikeFormula(std::string_view text) {
  const std::size_t first = text.find_first_not_of('\'');
  return first != std::string_view::npos && std::string_view("=+-@\t\r").find(text[first]) != std::string_view::npos;
}

void AddRow(std::string& out, const JudgedRun& run, const Sample& sample) {
  const ChatResponse& response = sample.response;
  const auto passed = std::count_if(sample.checks.begin(), sample.checks.end(),
                                    [](const CheckResult& check) { return check.outcome == Outcome::kPass; });
  out += fmt::format("{},{},{},{},{},{},", CsvField(run.plan().run), CsvField(sample.student), CsvField(sample.case_id),
                     ArmName(sample.arm), sample.round + 1, sample.ok() ? "ok" : "error");
  if (!sample.ok()) {
    out += ",,,,,,,,," + CsvField(sample.error->message) + "\r\n";
    return;
  }
  const std::string cost = response.cost_usd ? fmt::format("{:.6g}", *response.cost_usd) : "";
  const Usage& usage = response.usage;
  const std::string tokens =
      ReportsTokens(sample) ? fmt::format("{},{},{}", usage.prompt(), usage.cache_read, usage.output) : ",,";
  out += fmt::format("{},{},{},{:.3f},{},{},{},{}\r\n", sample.passed(), StopReasonName(response.stop), tokens,
                     response.seconds, cost, passed, sample.checks.size(), CsvField(response.text));
}

}  // namespace

std::string CsvField(std::string_view text) {
  std::string safe = FindInvalidUtf8(text) ? ReplaceInvalidUtf8(text) : std::string(text);
  if (LooksLikeFormula(safe)) safe.insert(0, "'");
  if (safe.find_first_of(",\"\r\n") == std::string::npos) return safe;
  std::string quoted = "\"";
  for (const char c : safe) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + "\"";
}

std::string SamplesCsv(std::span<const JudgedRun> runs) {
  std::string out =
      "run,student,case,arm,round,status,passed,stop,prompt_tokens,cached_tokens,output_tokens,seconds,cost_usd,checks_"
      "passed,checks_total,answer\r\n";
  for (const JudgedRun& run : runs) {
    for (const Sample* sample : SamplesByCase(run.data)) AddRow(out, run, *sample);
  }
  return out;
}

}  // namespace upskill
