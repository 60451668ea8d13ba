// SPDX-License-Identifier: Apache-2.0
#include "report/export/findings_json.h"

namespace upskill {
namespace {

Json IntervalToJson(const std::optional<Interval>& interval) {
  if (!interval) return nullptr;
  return {{"low", interval->low}, {"high", interval->high}};
}

void PutGroup(const GroupLift& group, Json& json) {
  json["cases"] = group.cases;
  json["lift"] = JsonOrNull(group.lift);
  json["lift_low"] = group.interval ? Json(group.interval->low) : Json(nullptr);
  json["lift_high"] = group.interval ? Json(group.interval->high) : Json(nullptr);
  json["lift_new_cases"] = IntervalToJson(group.new_cases);
}

Json MeanToJson(const CaseMean& mean) {
  return {{"rate", mean.mean},
          {"low", mean.interval ? Json(mean.interval->low) : Json(nullptr)},
          {"high", mean.interval ? Json(mean.interval->high) : Json(nullptr)}};
}

const char* KeyOf(Arm arm) { return arm == Arm::kSkill ? "with_skill" : ArmName(arm); }

}  // namespace

void PutFindings(const CaseFindings& findings, Json& student) {
  student["fixed_cases"] = findings.fixed;
  student["broken_cases"] = findings.broken;
  const auto put = [&student](const char* key, const char* name, const std::vector<TagLift>& groups) {
    Json list = Json::array();
    for (const TagLift& one : groups) {
      Json entry = {{name, one.tag}};
      PutGroup(one.group, entry);
      list.push_back(std::move(entry));
    }
    student[key] = std::move(list);
  };
  put("tags", "tag", findings.tags);
  put("checks", "ground", findings.grounds);
  Json arms = Json::object();
  for (const auto& [arm, rows] : findings.pass_of_k) {
    Json list = Json::array();
    for (const PassOfK& row : rows) {
      list.push_back({{"k", row.k}, {"any_of_k", MeanToJson(row.any)}, {"all_of_k", MeanToJson(row.all)}});
    }
    arms[KeyOf(arm)] = std::move(list);
  }
  student["pass_at_k"] = std::move(arms);
  student["drift"] = nullptr;
  if (findings.drift) {
    Json& drift = student["drift"];
    drift = {{"p", findings.drift->p}, {"significant", findings.drift->is_significant()}};
    for (const auto& [arm, p] : findings.drift->by_arm) drift[KeyOf(arm)] = p;
  }
  student["train_cases"] = nullptr;
  if (findings.train_cases > 0) {
    Json& train = student["train_cases"];
    train = {{"cases", findings.train_cases}, {"others", Json::object()}};
    PutGroup(findings.others, train["others"]);
  }
}

}  // namespace upskill
