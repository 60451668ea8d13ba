// SPDX-License-Identifier: Apache-2.0
#include "eval/run_data.h"

#include <algorithm>
#include <utility>

#include "eval/journal.h"

namespace upskill {

RunData::RunData(Plan plan, std::vector<Sample> samples)
    : plan_(std::move(plan)),
      first_(std::move(samples)),
      rows_(plan_.students.size()),
      attempts_(plan_.students.size()) {
  places_.fill(kNoPlace);
  for (std::size_t i = 0; i < plan_.arms.size(); ++i) places_[static_cast<std::size_t>(plan_.arms[i])] = i;
  for (const Student& student : plan_.students) students_.emplace(student.spec, students_.size());
  for (const Case& test_case : plan_.suite.cases) cases_.emplace(test_case.id, cases_.size());
  for (const Sample& sample : first_) {
    CountAttempt(sample);
    if (FinalSample* entry = Find(sample); entry != nullptr && !entry->answered) Put(sample, *entry);
  }
}

Result<RunData> RunData::Read(const std::filesystem::path& run_folder) {
  ASSIGN_OR_RETURN(Plan plan, LoadPlan(run_folder));
  ASSIGN_OR_RETURN(JournalContent content, ReadJournal(run_folder));
  RunData data(std::move(plan), std::move(content.samples));
  data.skipped_lines_ = content.skipped_lines;
  return data;
}

void RunData::Add(Sample sample) {
  CountAttempt(sample);
  AddCounted(std::move(sample));
}

void RunData::CountAttempt(const Sample& sample) {
  ++revision_;
  const std::optional<Place> place = PlaceOf(sample);
  if (!place || sample.keeps_answer) return;  // the model did answer, and isn't asked again
  ArmAttempts& of_arm = attempts_[place->student][static_cast<std::size_t>(sample.arm)];
  const auto fail = [&](ErrorCause cause) {
    ++of_arm.attempts;
    ++of_arm.errors[cause];
    if (MayDependOnAnswer(cause)) lost_.insert(*place);
  };
  for (const ErrorCause cause : sample.failed_before) fail(cause);
  if (sample.ok()) {
    ++of_arm.attempts;
  } else {
    fail(sample.error->cause);
  }
}

void RunData::AddCounted(Sample sample) {
  ++revision_;
  FinalSample* entry = Find(sample);
  if (entry != nullptr && !entry->answered) Put(added_.emplace_back(std::move(sample)), *entry);
}

std::optional<RunData::Place> RunData::PlaceOf(const Sample& sample) const {
  const auto student = students_.find(sample.student);
  const auto test_case = cases_.find(sample.case_id);
  const std::size_t place = places_[static_cast<std::size_t>(sample.arm)];
  if (student == students_.end() || test_case == cases_.end() || place == kNoPlace) return std::nullopt;
  if (sample.round < 0 || sample.round >= plan_.rounds) return std::nullopt;
  return Place{student->second, static_cast<std::size_t>(sample.round), test_case->second * plan_.arms.size() + place};
}

FinalSample* RunData::Find(const Sample& sample) {
  if (!sample.ok() && sample.will_retry) return nullptr;
  const std::optional<Place> place = PlaceOf(sample);
  if (!place) return nullptr;
  std::vector<Row>& rows = rows_[place->student];
  if (rows.size() <= place->round) rows.resize(place->round + 1);
  Row& row = rows[place->round];
  if (row.empty()) row.resize(plan_.suite.cases.size() * plan_.arms.size());
  return &row[place->entry];
}

const ArmAttempts& RunData::attempts(std::size_t student, Arm arm) const {
  return attempts_[student][static_cast<std::size_t>(arm)];
}

std::set<std::pair<std::size_t, std::size_t>> RunData::Outages() const {
  constexpr std::size_t kRoundsPerOutage = 4;
  const std::size_t arms = plan_.arms.size();
  std::map<std::pair<std::size_t, std::size_t>, std::vector<std::size_t>> lost_by_arm;
  for (const Place& place : lost_) {
    std::vector<std::size_t>& counts = lost_by_arm[{place.student, place.round}];
    counts.resize(arms);
    ++counts[place.entry % arms];
  }
  std::set<std::pair<std::size_t, std::size_t>> outages;
  std::vector<std::size_t> of_student(rows_.size());
  for (const auto& [round, counts] : lost_by_arm) {
    if (2 * *std::min_element(counts.begin(), counts.end()) <= plan_.suite.cases.size()) continue;
    outages.insert(round);
    ++of_student[round.first];
  }
  std::erase_if(outages, [&](const std::pair<std::size_t, std::size_t>& round) {
    return of_student[round.first] * kRoundsPerOutage > rows_[round.first].size();
  });
  return outages;
}

RunData RunData::AssumeLost(bool skill_passes) const {
  RunData assumed(plan_);
  assumed.rows_ = rows_;
  const std::set<std::pair<std::size_t, std::size_t>> outages = Outages();
  for (const Place& place : lost_) {
    std::vector<Row>& rows = assumed.rows_[place.student];
    if (outages.contains({place.student, place.round}) || rows.size() <= place.round) continue;
    Row& row = rows[place.round];
    if (row.empty() || row[place.entry].sample == nullptr) continue;  // the cell is still open
    const bool is_skill = plan_.arms[place.entry % plan_.arms.size()] == Arm::kSkill;
    row[place.entry].answered = true;
    row[place.entry].passed = is_skill == skill_passes;
  }
  return assumed;
}

void RunData::Put(const Sample& sample, FinalSample& entry) { entry = {&sample, sample.ok(), sample.passed()}; }

std::vector<const Sample*> RunData::samples(std::size_t student, Arm arm, std::size_t case_index) const {
  std::vector<const Sample*> found;
  for (int round = 0; round < rounds(student); ++round) {
    if (const Sample* sample = at(student, arm, case_index, round).sample) found.push_back(sample);
  }
  return found;
}

std::vector<const Sample*> RunData::samples(std::size_t student, Arm arm) const {
  std::vector<const Sample*> found;
  for (std::size_t i = 0; i < plan_.suite.cases.size(); ++i) {
    const std::vector<const Sample*> of_case = samples(student, arm, i);
    found.insert(found.end(), of_case.begin(), of_case.end());
  }
  return found;
}

std::vector<const Sample*> RunData::samples() const {
  std::vector<const Sample*> found;
  for (const std::vector<Row>& rows : rows_) {
    for (const Row& row : rows) {
      for (const FinalSample& entry : row) {
        if (entry.sample != nullptr) found.push_back(entry.sample);
      }
    }
  }
  return found;
}

}  // namespace upskill
