// SPDX-License-Identifier: Apache-2.0
#include "import/imported_results.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <utility>

#include "trace/read/record_parser.h"
#include "util/hash.h"
#include "util/text.h"

namespace upskill {
namespace {

using namespace std::string_view_literals;

constexpr std::array kWithLabels = {"with_skill"sv, "with-skill"sv, "with skill"sv, "with_skills"sv, "with-skills"sv,
                                    "new_skill"sv,  "skill"sv,      "skilled"sv,    "with"sv};
constexpr std::array kWithoutLabels = {"without_skill"sv,  "without-skill"sv,  "without skill"sv, "no_skill"sv,
                                       "no-skill"sv,       "no skill"sv,       "baseline"sv,      "without"sv,
                                       "without_skills"sv, "without-skills"sv, "no_skills"sv,     "no-skills"sv};
constexpr std::array kPreviousLabels = {"old_skill"sv, "old-skill"sv};

template <std::size_t N>
bool IsAmong(std::string_view label, const std::array<std::string_view, N>& labels) {
  return std::find(labels.begin(), labels.end(), label) != labels.end();
}

}  // namespace

void ImportedResults::AddCase(const std::string& id, const std::string& input) {
  const auto [place, is_new] = places_.emplace(id, cases.size());
  if (is_new) {
    cases.push_back({id, input});
  } else if (cases[place->second].input.empty()) {
    cases[place->second].input = input;
  }
}

void ImportedResults::AddNote(std::string note) {
  if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(std::move(note));
}

std::optional<Arm> ArmOfLabel(std::string_view label, const ImportOptions& options) {
  if (!options.with.empty() && label == options.with) return Arm::kSkill;
  if (!options.without.empty() && label == options.without) return Arm::kBaseline;
  if (options.with.empty() && IsAmong(label, kWithLabels)) return Arm::kSkill;
  if (options.without.empty() && IsAmong(label, kWithoutLabels)) return Arm::kBaseline;
  if (options.without.empty() && IsAmong(label, kPreviousLabels)) return Arm::kPrevious;
  return std::nullopt;
}

std::string LabelsHint(const std::vector<std::string>& labels) {
  constexpr std::size_t kMost = 10;
  std::string listed;
  for (std::size_t i = 0; i < std::min(labels.size(), kMost); ++i)
    listed += (i == 0 ? "" : ", ") + ("'" + ExcerptLine(labels[i], 80) + "'");
  if (labels.size() > kMost) listed += fmt::format(" and {} more", labels.size() - kMost);
  return "say with --with and --without which of these labels are the arms: " + listed;
}

std::optional<double> NonNegativeAt(const Json& object, const char* key) {
  const Json& value = Member(object, key);
  if (!value.is_number()) return std::nullopt;
  const auto number = value.get<double>();
  return std::isfinite(number) && number >= 0.0 ? std::optional(number) : std::nullopt;
}

std::int64_t TokensAt(const Json& object, const char* key) {
  return std::clamp<std::int64_t>(JsonGet<std::int64_t>(object, key, 0), 0, kMaxImportedTokens);
}

void AddPart(ImportedResults& results, ImportedResults part) {
  for (const ImportedCase& one : part.cases) results.AddCase(one.id, one.input);
  std::move(part.answers.begin(), part.answers.end(), std::back_inserter(results.answers));
  for (std::string& note : part.notes) results.AddNote(std::move(note));
  if (results.skill != part.skill && !part.skill.empty()) {
    if (results.skill.empty()) results.skill = part.skill;
    results.AddNote("The files name different skills or tasks; they are judged together.");
  }
  if (results.time.empty() || (!part.time.empty() && part.time < results.time)) results.time = part.time;
  results.source += ", " + part.source;
  results.sha256 = Sha256Hex(results.sha256 + part.sha256);
}

std::string IdText(const Json& id) {
  if (id.is_string()) return id.get<std::string>();
  return id.is_number_integer() ? DumpJson(id) : "";
}

CheckResult ScoreCheck(double score, double pass_at) {
  // Scores are means of a few numbers, rounded differently by each program.
  constexpr double kRounding = 1e-9;
  const bool passed = std::isfinite(score) && score >= pass_at - kRounding;
  return {fmt::format("score at least {:.4g} %", pass_at * 100.0), passed ? Outcome::kPass : Outcome::kFail,
          passed ? "" : fmt::format("{:.4g} %", score * 100.0)};
}

std::string UnknownInput(const std::string& case_id) {
  return "(not in the imported file: the input of " + case_id + ")";
}

Result<Json> ParseForeignJson(std::string_view text, const std::string& source) {
  Result<Json> json = ParseJson(text, source);
  if (json) return json;
  ParsedRecord record = ParseRecord(text);
  return record.value ? Result<Json>(*std::move(record.value)) : json;
}

}  // namespace upskill
