// SPDX-License-Identifier: Apache-2.0
#include "report/export/run_rows_json.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "report/terminal/verdict_text.h"
#include "util/stored_json.h"

namespace upskill {
namespace {

using RowCount = std::pair<const char*, std::size_t ArmSummary::*>;
constexpr std::array<RowCount, 8> kRowCounts = {{{"cells", &ArmSummary::cells},
                                                 {"answered", &ArmSummary::answered},
                                                 {"errors", &ArmSummary::errors},
                                                 {"passed", &ArmSummary::passed},
                                                 {"checks_passed", &ArmSummary::checks_passed},
                                                 {"checks_total", &ArmSummary::checks_total},
                                                 {"tokens_known", &ArmSummary::tokens_known},
                                                 {"cost_known", &ArmSummary::cost_known}}};

using RowNumber = std::pair<const char*, std::optional<double> StudentVerdict::*>;
constexpr std::array<RowNumber, 6> kRowNumbers = {{{"lift", &StudentVerdict::lift},
                                                   {"low", &StudentVerdict::low},
                                                   {"high", &StudentVerdict::high},
                                                   {"lift_estimate", &StudentVerdict::lift_estimate},
                                                   {"new_cases_low", &StudentVerdict::new_cases_low},
                                                   {"new_cases_high", &StudentVerdict::new_cases_high}}};

using RowChange = std::pair<const char*, std::optional<PairedChange> StudentVerdict::*>;
constexpr std::array<RowChange, 2> kRowChanges = {
    {{"output_tokens_change", &StudentVerdict::output_tokens}, {"cost_change", &StudentVerdict::cost_usd}}};

Json RowArmToJson(const ArmSummary& arm) {
  Json json = Json::object();
  for (const auto& [name, count] : kRowCounts) json[name] = arm.*count;
  json["prompt_tokens"] = arm.prompt_tokens;
  json["output_tokens"] = arm.output_tokens;
  json["cost_usd"] = arm.cost_usd;
  json["seconds"] = arm.seconds;
  return json;
}

ArmSummary RowArmFromJson(const StoredJson& json) {
  ArmSummary arm;
  for (const auto& [name, count] : kRowCounts) arm.*count = json.at(name).number<std::size_t>();
  arm.prompt_tokens = json.at("prompt_tokens").number<std::int64_t>();
  arm.output_tokens = json.at("output_tokens").number<std::int64_t>();
  arm.cost_usd = json.at("cost_usd").number<double>();
  arm.seconds = json.at("seconds").number<double>();
  return arm;
}

Json RowVerdictToJson(const StudentVerdict& verdict) {
  Json json = {{"word", static_cast<int>(verdict.word)},
               {"doubt", static_cast<int>(verdict.doubt)},
               {"general", static_cast<int>(verdict.general)},
               {"cases", verdict.cases},
               {"none_passed", NothingPassed(verdict)},
               {"is_sequence", verdict.interval_is_sequence},
               {"level", verdict.interval_level},
               {"hangs_on_wording", verdict.hangs_on_wording},
               {"more_show_no_effect", verdict.more_show_no_effect}};
  for (const auto& [name, number] : kRowNumbers) {
    if (verdict.*number) json[name] = *(verdict.*number);
  }
  if (verdict.more_rounds) json["more_rounds"] = *verdict.more_rounds;
  if (verdict.more_rounds_above) json["more_rounds_above"] = *verdict.more_rounds_above;
  for (const auto& [name, change] : kRowChanges) {
    if (verdict.*change) json[name] = Json::array({(verdict.*change)->without, (verdict.*change)->with});
  }
  return json;
}

// An enumerator's number, up to that of `last`.
template <typename T>
T RowEnumerator(const StoredJson& json, const char* key, T last) {
  const int number = json.at(key).number<int>();
  return static_cast<T>(std::clamp(number, 0, static_cast<int>(last)));
}

StudentVerdict RowVerdictFromJson(const StoredJson& json) {
  constexpr std::size_t kMostCases = 1'000'000;
  StudentVerdict verdict;
  verdict.word = RowEnumerator(json, "word", Verdict::kUndecided);
  verdict.doubt = RowEnumerator(json, "doubt", Doubt::kLaterAnswers);
  verdict.general = RowEnumerator(json, "general", Verdict::kUndecided);
  verdict.cases = std::min(json.at("cases").number<std::size_t>(), kMostCases);
  if (JsonGet(json.json(), "none_passed", false)) verdict.floor.resize(verdict.cases);  // their names aren't shown
  verdict.interval_is_sequence = JsonGet(json.json(), "is_sequence", false);
  verdict.interval_level = json.at("level").number<double>();
  verdict.hangs_on_wording = JsonGet(json.json(), "hangs_on_wording", false);
  verdict.more_show_no_effect = JsonGet(json.json(), "more_show_no_effect", false);
  for (const auto& [name, number] : kRowNumbers) {
    if (json.has(name)) verdict.*number = json.at(name).number<double>();
  }
  if (json.has("more_rounds")) verdict.more_rounds = json.at("more_rounds").number<int>();
  if (json.has("more_rounds_above")) verdict.more_rounds_above = json.at("more_rounds_above").number<int>();
  for (const auto& [name, change] : kRowChanges) {
    if (!json.has(name)) continue;
    const std::vector<StoredJson> means = json.at(name).elements();
    if (means.size() != 2) continue;
    (verdict.*change).emplace();
    (verdict.*change)->without = means[0].number<double>();
    (verdict.*change)->with = means[1].number<double>();
  }
  return verdict;
}

RunRow RowFromJson(const StoredJson& json) {
  RunRow row;
  row.run = json.at("run").text();
  row.created = json.at("created").text();
  row.skill = json.at("skill").text();
  row.part = json.at("part").text();
  row.trial = json.at("trial").text();
  row.rechecked = JsonGet(json.json(), "rechecked", false);
  row.cells = json.at("cells").number<std::size_t>();
  row.answered = json.at("answered").number<std::size_t>();
  row.student.student = {json.at("spec").text(), json.at("name").text(), json.at("identity").text()};
  if (json.has("student_lift")) row.student.lift = json.at("student_lift").number<double>();
  for (const StoredJson& arm : json.at("arms").elements()) {
    const Result<Arm> name = ArmFromName(arm.at("arm").text());
    if (name) row.student.arms[*name] = RowArmFromJson(arm);
  }
  row.verdict = RowVerdictFromJson(json.at("verdict"));
  return row;
}

}  // namespace

Json RowsToJson(const std::vector<RunRow>& rows) {
  Json list = Json::array();
  for (const RunRow& row : rows) {
    Json arms = Json::array();
    for (const auto& [arm, summary] : row.student.arms) {
      Json entry = RowArmToJson(summary);
      entry["arm"] = ArmName(arm);
      arms.push_back(std::move(entry));
    }
    Json json = {{"run", row.run},
                 {"created", row.created},
                 {"skill", row.skill},
                 {"part", row.part},
                 {"trial", row.trial},
                 {"rechecked", row.rechecked},
                 {"cells", row.cells},
                 {"answered", row.answered},
                 {"spec", row.student.student.spec},
                 {"name", row.student.student.name},
                 {"identity", row.student.student.identity},
                 {"arms", std::move(arms)},
                 {"verdict", RowVerdictToJson(row.verdict)}};
    if (row.student.lift) json["student_lift"] = *row.student.lift;
    list.push_back(std::move(json));
  }
  return list;
}

Result<std::vector<RunRow>> RowsFromJson(const Json& json) {
  try {
    std::vector<RunRow> rows;
    for (const StoredJson& row : StoredJson(json).elements()) rows.push_back(RowFromJson(row));
    return rows;
  } catch (const StoredJsonFault& fault) {
    return InputError(fault.what());
  }
}

}  // namespace upskill
