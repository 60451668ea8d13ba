// SPDX-License-Identifier: Apache-2.0
#include "eval/run_data.h"

#include <utility>

#include "eval/journal.h"

namespace upskill {

RunData::RunData(Plan plan, std::vector<Sample> samples)
    : plan_(std::move(plan)), first_(std::move(samples)), rows_(plan_.students.size()) {
  places_.fill(kNoPlace);
  for (std::size_t i = 0; i < plan_.arms.size(); ++i) places_[static_cast<std::size_t>(plan_.arms[i])] = i;
  for (const Student& student : plan_.students) students_.emplace(student.spec, students_.size());
  for (const Case& test_case : plan_.suite.cases) cases_.emplace(test_case.id, cases_.size());
  for (const Sample& sample : first_) {
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
  FinalSample* entry = Find(sample);
  if (entry != nullptr && !entry->answered) Put(added_.emplace_back(std::move(sample)), *entry);
}

FinalSample* RunData::Find(const Sample& sample) {
  if (!sample.ok() && sample.will_retry) return nullptr;
  const auto student = students_.find(sample.student);
  const auto test_case = cases_.find(sample.case_id);
  const std::size_t place = places_[static_cast<std::size_t>(sample.arm)];
  if (student == students_.end() || test_case == cases_.end() || place == kNoPlace) return nullptr;
  if (sample.round < 0 || sample.round >= plan_.rounds) return nullptr;
  std::vector<Row>& rows = rows_[student->second];
  const auto round = static_cast<std::size_t>(sample.round);
  if (rows.size() <= round) rows.resize(round + 1);
  Row& row = rows[round];
  if (row.empty()) row.resize(plan_.suite.cases.size() * plan_.arms.size());
  return &row[test_case->second * plan_.arms.size() + place];
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
