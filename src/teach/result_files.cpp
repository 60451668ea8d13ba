// SPDX-License-Identifier: Apache-2.0
#include "teach/result_files.h"

#include <fmt/format.h>

#include <algorithm>

#include "skill/case_writer.h"
#include "skill/python_cases.h"
#include "skill/skill_copy.h"
#include "skill/skill_text.h"
#include "util/folder.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

template <typename T>
Json OrNull(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json StudentsToJson(const Trial& trial) {
  Json list = Json::array();
  for (std::size_t i = 0; i < trial.judged.verdicts.size(); ++i) {
    const StudentSummary& student = trial.judged.summary.students[i];
    const StudentVerdict& verdict = trial.judged.verdicts[i];
    const auto rate = [&](Arm arm) {
      const auto found = student.arms.find(arm);
      return found == student.arms.end() ? Json(nullptr) : OrNull(found->second.rate());
    };
    list.push_back({{"model", student.student.spec},
                    {"verdict", VerdictName(verdict.word)},
                    {"lift", OrNull(verdict.lift)},
                    {"lift_low", OrNull(verdict.low)},
                    {"lift_high", OrNull(verdict.high)},
                    {"baseline_rate", rate(Arm::kBaseline)},
                    {"with_skill_rate", rate(Arm::kSkill)}});
  }
  return list;
}

// Students that the skill wasn't measured on, with the reason in place of the verdict.
Json UnmeasuredToJson(const Student& student, const char* reason, const Json& baseline_rate) {
  return {{"model", student.spec},     {"verdict", reason},    {"lift", nullptr},
          {"lift_low", nullptr},       {"lift_high", nullptr}, {"baseline_rate", baseline_rate},
          {"with_skill_rate", nullptr}};
}

int LooksAfter(const GenerateOutcome& outcome, const GenerationFacts& facts) {
  return facts.looks_before + (outcome.measured && facts.counts_looks ? 1 : 0);
}

// Which cases the skill was refined on, which were held out, and how often those have been looked at.
void PutSplit(const GenerateOutcome& outcome, const GenerationFacts& facts, Json& lineage) {
  Json train = Json::array();
  Json test = Json::array();
  for (const Case& one : outcome.cases) {
    if (one.split == Split::kTrain) train.push_back(one.id);
    if (one.split == Split::kTest) test.push_back(one.id);
  }
  lineage["train"] = std::move(train);
  lineage["test"] = std::move(test);
  lineage["test_looks"] = LooksAfter(outcome, facts);
}

}  // namespace

Json SkillMetaToJson(const GenerateOutcome& outcome, const GenerationFacts& facts) {
  Json metadata = {{"version", "1.0"},
                   {"generated_by", facts.generated_by},
                   {"generated_at", facts.generated_at},
                   {"source_task", facts.task.empty() ? Json(nullptr) : Json(facts.task)},
                   {"test_pass_rate", nullptr},
                   {"candidate_id", fmt::format("{}", outcome.candidates[outcome.chosen].id)},
                   {"generation", facts.id},
                   {"upskill_version", facts.version},
                   {"test_gen_model", facts.test_gen_model},
                   {"sources", facts.sources},
                   {"students", Json::array()},
                   {"run", nullptr},
                   {"test_looks", LooksAfter(outcome, facts)},
                   {"cost_usd", nullptr},
                   {"provenance", outcome.provenance},
                   {"contradicted_rules", outcome.contradicted_rules},
                   {"unsupported_rules", outcome.unsupported_rules},
                   {"critique", Json::array()},
                   {"untouched_items", outcome.coverage.untouched},
                   {"lost_facts", outcome.lost_facts},
                   {"rejected_tests", outcome.rejected_cases}};
  for (const CritiquePoint& point : outcome.critique)
    metadata["critique"].push_back({{"kind", point.kind}, {"point", point.text}});
  if (outcome.measured) {
    double sum = 0.0;
    for (const double rate : PassRates(*outcome.measured)) sum += rate;
    metadata["test_pass_rate"] =
        sum / static_cast<double>(std::max<std::size_t>(1, outcome.measured->judged.summary.students.size()));
    metadata["students"] = StudentsToJson(*outcome.measured);
    metadata["run"] = outcome.measured->run;
  }
  if (outcome.nothing_to_learn) {
    for (const Student& student : outcome.students)
      metadata["students"].push_back(UnmeasuredToJson(student, kNothingToLearn, 1.0));
  }
  for (const FailingStudent& small : outcome.too_small)
    metadata["students"].push_back(UnmeasuredToJson(small.student, kTooSmall, nullptr));
  for (const FailingStudent& failing : outcome.passed_nothing)
    metadata["students"].push_back(UnmeasuredToJson(failing.student, kPassedNothing, 0.0));
  std::optional<double> usd = 0.0;
  for (const auto* stages : {&facts.teachers, &facts.students}) {
    for (const auto& [stage, cost] : *stages) {
      const std::optional<double> of_stage = cost.total_usd();
      usd = usd && of_stage ? std::optional(*usd + *of_stage) : std::nullopt;
    }
  }
  metadata["cost_usd"] = OrNull(usd);
  Json tests = Json::array();
  for (std::size_t i = 0; i < outcome.cases.size(); ++i) {
    Json test = WriteCase(outcome.cases[i], i + 1);
    if (!outcome.test.empty())  // without, each keeps the split that it has
      test["split"] = std::binary_search(outcome.test.begin(), outcome.test.end(), i) ? "test" : "train";
    tests.push_back(std::move(test));
  }
  return ReadableByPython({{"metadata", metadata}, {"tests", tests}});
}

Status WriteGeneratedSkill(const GenerateOutcome& outcome, const GenerationFacts& facts, const Folder& folder,
                           const fs::path& existing) {
  RETURN_IF_ERROR(folder.WriteFile("skill_meta.json", DumpJsonIndented(SkillMetaToJson(outcome, facts)) + "\n"));
  if (!existing.empty()) RETURN_IF_ERROR(CopySkillFiles(existing, folder));
  std::vector<std::string> students;
  students.reserve(outcome.students.size());
  for (const Student& student : outcome.students) students.push_back(student.spec);
  Json lineage = LineageToJson(outcome.candidates, students);
  lineage["lineage"] = facts.lineage;
  PutSplit(outcome, facts, lineage);
  RETURN_IF_ERROR(folder.WriteFile("lineage.json", DumpJsonIndented(lineage) + "\n"));
  const Candidate& chosen = outcome.candidates[outcome.chosen];
  std::error_code code;
  const bool unchanged =
      chosen.kind == "existing" && fs::exists(folder.path() / "SKILL.md", code);  // keep its text and layout
  return unchanged ? Status() : WriteSkillFolder(chosen.skill, folder);
}

}  // namespace upskill
