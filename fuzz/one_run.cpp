// SPDX-License-Identifier: Apache-2.0
#include "fuzz/one_run.h"

#include <string>
#include <string_view>

#include "skill/suite.h"

namespace upskill {
namespace {

constexpr std::string_view kSuite =
    R"({"tests":[{"id":"a","input":"Fix it","context":{"files":{"a.py":"x"}},"expected":{"contains":["fix"]}},{"input":"b","checks":[{"type":"regex","pattern":"a+b"}],"reference":"aab"}]})";

}  // namespace

Sample OneSample() {
  Sample sample;
  sample.student = "sim:base=0.4";
  sample.case_id = "a";
  sample.checks = {{"contains \"fix\"", Outcome::kPass, ""}};
  sample.response.text = "fix";
  return sample;
}

Plan OnePlan() {
  Plan plan;
  plan.run = "2026_01_02_10_00_00-0123";
  plan.skill = Snapshot("a-skill", "Fix it.");
  plan.suite = *ParseSuite(std::string(kSuite), "skill_meta.json");
  plan.students = {{"sim:base=0.4", "sim", "sim:base=0.4"}};
  plan.arms = {Arm::kBaseline, Arm::kSkill};
  plan.rounds = 3;
  return plan;
}

}  // namespace upskill
