// SPDX-License-Identifier: Apache-2.0
#include "report/export/eval_json.h"

#include <optional>
#include <utility>

#include "eval/verdict/case_findings.h"
#include "report/terminal/activation_text.h"
#include "report/terminal/columns.h"
#include "report/terminal/figures.h"
#include "report/terminal/judge_text.h"
#include "report/terminal/ledger_text.h"
#include "report/terminal/result_sentence.h"
#include "report/terminal/verdict_text.h"
#include "report/terminal/work_text.h"

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

// Adds to a student's object of `eval --json` what a run shows about single cases and groups of them: `fixed_cases`,
// `broken_cases`, `tags`, `pass_at_k`, `drift` and `train_cases` (docs/output.md).
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

Json ArmOfStudent(const StudentSummary& student, Arm arm) {
  const ArmSummary* summary = ArmOf(student, arm);
  Json json = ArmToJson(summary, &ArmColumn::json);
  if (summary == nullptr) return json;
  if (Json work = WorkToJson(*summary); !work.is_null()) json["work"] = std::move(work);
  return json;
}

Json ChangeToJson(const std::optional<PairedChange>& change) {
  if (!change) return nullptr;
  return {{"baseline", change->without},
          {"with_skill", change->with},
          {"change", change->change()},
          {"change_low", JsonOrNull(change->low)},
          {"change_high", JsonOrNull(change->high)},
          {"ratio", JsonOrNull(change->ratio())}};
}

Json CostToJson(const StudentVerdict& verdict) {
  if (!verdict.cost_usd) return nullptr;
  Json cost = ChangeToJson(verdict.cost_usd);
  cost["per_pass_baseline"] = JsonOrNull(verdict.cost_per_pass_without);
  cost["per_pass_with_skill"] = JsonOrNull(verdict.cost_per_pass_with);
  return cost;
}

// What is said of one comparison; the same keys for the baseline and for other arms.
void PutVerdict(Json& json, const StudentVerdict& verdict, const std::optional<double>& lift) {
  json["verdict"] = verdict.lift || lift ? Json(VerdictName(verdict.word)) : Json(nullptr);
  const auto known = [&](const auto& value) { return verdict.lift ? Json(value) : Json(nullptr); };
  json["general"] = known(VerdictName(verdict.general));
  json["p_value"] = known(verdict.p_helps);
  json["p_value_hurts"] = known(verdict.p_hurts);
  json["p_general"] = known(verdict.p_general_helps);
  json["p_general_hurts"] = known(verdict.p_general_hurts);
  json["e_value"] = known(verdict.e_helps);
  json["e_value_hurts"] = known(verdict.e_hurts);
  json["p_anytime"] = known(verdict.p_anytime_helps);
  json["p_anytime_hurts"] = known(verdict.p_anytime_hurts);
  json["lift"] = JsonOrNull(verdict.lift ? verdict.lift : lift);
  json["lift_low"] = JsonOrNull(verdict.low);
  json["lift_high"] = JsonOrNull(verdict.high);
  json["lift_interval"] = known(verdict.interval_is_sequence ? "sequence" : "fixed");
  json["lift_estimate"] = JsonOrNull(verdict.lift_estimate);
  json["lift_new_cases"] = verdict.new_cases_low ? Json{{"low", JsonOrNull(verdict.new_cases_low)},
                                                        {"high", JsonOrNull(verdict.new_cases_high)}}
                                                 : Json(nullptr);
  json["lift_sequence"] = verdict.sequence_low ? Json{{"low", JsonOrNull(verdict.sequence_low)},
                                                      {"high", JsonOrNull(verdict.sequence_high)}}
                                               : Json(nullptr);
  json["complete_rounds"] = verdict.complete_rounds;
  const bool has_forecast = !MoreRoundsText(verdict).empty();
  json["more_rounds"] = has_forecast ? JsonOrNull(verdict.more_rounds) : Json(nullptr);
  json["more_rounds_above"] = has_forecast ? JsonOrNull(verdict.more_rounds_above) : Json(nullptr);
  json["settled_by"] = IsSettled(verdict) ? Json(SettlingName(SettlingOf(verdict))) : Json(nullptr);
  json["distinct_inputs"] = verdict.distinct_inputs;
  json["answers_repeat"] = verdict.answers_repeat;
  json["excluded_cases"] = verdict.excluded;
  json["undecided_because"] = verdict.doubt == Doubt::kNone ? Json(nullptr) : Json(DoubtName(verdict.doubt));
  json["verdict_without_errors"] = HasDoubtByErrors(verdict) ? Json(VerdictName(verdict.without_doubt)) : Json(nullptr);
  json["lift_with_errors"] = verdict.lost_low
                                 ? Json{{"low", JsonOrNull(verdict.lost_low)}, {"high", JsonOrNull(verdict.lost_high)}}
                                 : Json(nullptr);
}

Json CasesToJson(const Plan& plan, const StudentSummary& student) {
  Json cases = Json::array();
  for (std::size_t i = 0; i < plan.suite.cases.size(); ++i) {
    Json entry = {{"id", plan.suite.cases[i].id}};
    for (const auto& [arm, tallies] : student.cases) {
      entry[arm == Arm::kSkill ? "with_skill" : ArmName(arm)] = {{"passed", tallies[i].passed},
                                                                 {"total", tallies[i].answered}};
    }
    cases.push_back(std::move(entry));
  }
  return cases;
}

Json StudentToJson(const JudgedRun& run, std::size_t index) {
  const StudentSummary& student = run.summary.students[index];
  const StudentVerdict& verdict = run.verdicts[index];
  std::size_t from_cache = 0;
  for (const auto& [arm, entry] : student.arms) from_cache += entry.from_cache;
  Json json = {{"model", student.student.spec}, {"name", student.student.name}};
  PutVerdict(json, verdict, student.lift);
  json["combined_e_value"] = JsonOrNull(verdict.combined_e_helps);
  json["combined_e_value_hurts"] = JsonOrNull(verdict.combined_e_hurts);
  json["compared_with"] = ArmName(ComparedArm(run.plan()));
  json["baseline"] = ArmOfStudent(student, Arm::kBaseline);
  json["with_skill"] = ArmOfStudent(student, Arm::kSkill);
  for (const auto& [arm, verdicts] : run.others) {
    json[ArmName(arm)] = ArmOfStudent(student, arm);
    Json& than = json[std::string("than_") + ArmName(arm)];
    than = Json::object();
    PutVerdict(than, verdicts[index], std::nullopt);
  }
  json["tokens"] = {{"baseline", ArmToJson(ArmOf(student, Arm::kBaseline), &ArmColumn::tokens)},
                    {"with_skill", ArmToJson(ArmOf(student, Arm::kSkill), &ArmColumn::tokens)},
                    {"output_per_answer", ChangeToJson(verdict.output_tokens)},
                    {"per_answer", ChangeToJson(verdict.tokens)}};
  if (student.activation) json["activation"] = ActivationToJson(run.plan(), *student.activation);
  json["seconds"] = ChangeToJson(verdict.seconds);
  json["cost_usd"] = CostToJson(verdict);
  if (run.plan().judge) json["judge_corrected"] = CorrectedLiftToJson(run, index);
  json["cells_skipped"] = student.cells_skipped;
  json["cells_from_cache"] = from_cache;
  json["ceiling_cases"] = verdict.ceiling;
  json["floor_cases"] = verdict.floor;
  json["cases"] = CasesToJson(run.plan(), student);
  PutFindings(run.findings[index], json);
  return json;
}

}  // namespace

Json EvalToJson(const JudgedRun& run) {
  Json students = Json::array();
  for (std::size_t i = 0; i < run.summary.students.size(); ++i) students.push_back(StudentToJson(run, i));
  return {{"run", run.plan().run.empty() ? Json(nullptr) : Json(run.plan().run)},
          {"rechecked_from", run.plan().rechecked_from.empty() ? Json(nullptr) : Json(run.plan().rechecked_from)},
          {"left_out", run.plan().left_out},
          {"judge", JudgeToJson(run)},
          {"result", ResultText(run)},
          {"skill", run.plan().skill.name},
          {"cases", run.plan().suite.cases.size()},
          {"rounds", run.plan().rounds},
          {"judged_rounds", MostRounds(run)},
          {"alpha", AlphaToJson(run.plan())},
          {"students", std::move(students)},
          {"complete", run.summary.complete()}};
}

Json GateToJson(const Gate& gate, const JudgedRun& run) {
  Json clauses = Json::array();
  if (!run.summary.complete()) return {{"holds", nullptr}, {"clauses", std::move(clauses)}};
  bool all = true;
  for (const GateResult& result : CheckGate(gate, run)) {
    all = all && result.passed;
    clauses.push_back({{"clause", result.clause},
                       {"model", result.model.empty() ? Json(nullptr) : Json(result.model)},
                       {"against", result.against.empty() ? Json(nullptr) : Json(result.against)},
                       {"holds", result.passed},
                       {"found", result.detail}});
  }
  return {{"holds", all}, {"clauses", std::move(clauses)}};
}

Json GateToJson(const JudgedRun& run) {
  const std::optional<Gate> gate = GateOf(run.plan());
  return gate ? GateToJson(*gate, run) : Json(nullptr);
}

}  // namespace upskill
