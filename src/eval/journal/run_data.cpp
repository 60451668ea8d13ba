// SPDX-License-Identifier: Apache-2.0
#include "eval/journal/run_data.h"

#include <algorithm>
#include <utility>

#include "eval/journal/journal.h"
#include "eval/journal/sample_line.h"
#include "util/invariant.h"

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
  for (std::size_t i = 0; i < first_.size(); ++i) {
    CountAttempt(first_[i]);
    if (const std::optional<Place> place = OpenPlaceOf(first_[i])) Put(first_[i], *place, kInMemory | i, 0);
  }
}

Result<RunData> RunData::Read(const std::filesystem::path& run_folder) {
  ASSIGN_OR_RETURN(Plan plan, LoadPlan(run_folder));
  const std::filesystem::path path = run_folder / "samples.jsonl";
  Result<Fd> fd = OpenRegularFile(path);
  if (!fd && fd.error().kind == ErrorKind::kNotFound) return RunData(std::move(plan));
  if (!fd) return fd.error();
  RunData data(std::move(plan));
  RETURN_IF_ERROR(data.ReadLines(*fd, path));
  data.file_.emplace(std::move(fd).value(), path);
  return data;
}

Status RunData::ReadLines(const Fd& journal, const std::filesystem::path& path) {
  const auto take = [this](const JournalLine& line) {
    const Result<Sample> sample = SampleFromLine(line.text);
    if (!sample) {
      ++skipped_lines_;
      return;
    }
    CountAttempt(*sample);
    if (const std::optional<Place> place = OpenPlaceOf(*sample))
      Put(*sample, *place, line.offset, static_cast<std::uint32_t>(line.text.size()));
  };
  ASSIGN_OR_RETURN(const std::size_t too_long, VisitJournalLines(journal, path, take));
  skipped_lines_ += too_long;
  return {};
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
  const std::optional<Place> place = OpenPlaceOf(sample);
  if (!place) return;
  const std::uint64_t at = kInMemory | (first_.size() + added_.size());
  Put(added_.emplace_back(std::move(sample)), *place, at, 0);
}

std::optional<RunData::Place> RunData::PlaceOf(const Sample& sample) const {
  const auto student = students_.find(sample.student);
  const auto test_case = cases_.find(sample.case_id);
  const std::size_t place = places_[static_cast<std::size_t>(sample.arm)];
  if (student == students_.end() || test_case == cases_.end() || place == kNoPlace) return std::nullopt;
  if (sample.round < 0 || sample.round >= plan_.rounds) return std::nullopt;
  return Place{student->second, static_cast<std::size_t>(sample.round), test_case->second * plan_.arms.size() + place};
}

std::optional<RunData::Place> RunData::OpenPlaceOf(const Sample& sample) const {
  if (!sample.ok() && sample.will_retry) return std::nullopt;
  const std::optional<Place> place = PlaceOf(sample);
  if (!place) return std::nullopt;
  const std::vector<Row>& rows = rows_[place->student];
  if (place->round < rows.size() && rows[place->round].at(place->entry).answered) return std::nullopt;
  return place;
}

SampleFigures& RunData::FiguresAt(const Place& place) {
  std::vector<Row>& rows = rows_[place.student];
  if (rows.size() <= place.round) rows.resize(place.round + 1);
  Row& row = rows[place.round];
  const std::size_t entries = plan_.suite.cases.size() * plan_.arms.size();
  if (row.states.empty()) {
    row.states.resize(entries);
    row.blocks.resize((entries + Row::kBlock - 1) / Row::kBlock);
  }
  const std::size_t block = place.entry / Row::kBlock;
  if (row.blocks[block] == nullptr) {
    const std::size_t size = std::min(Row::kBlock, entries - block * Row::kBlock);
    row.blocks[block] = blocks_.emplace_back(std::make_unique<SampleFigures[]>(size)).get();  // NOLINT(*-c-arrays)
  }
  return row.blocks[block][place.entry % Row::kBlock];
}

void RunData::Put(const Sample& sample, const Place& place, std::uint64_t at, std::uint32_t line_bytes) {
  SampleFigures& figures = FiguresAt(place);
  figures = SampleFigures(sample);
  figures.place = at;
  if (line_bytes > 0) figures.line_bytes = line_bytes;
  std::uint8_t& state = rows_[place.student][place.round].states[place.entry];
  sample_count_ += state == 0 ? 1 : 0;
  state = Row::kSampled;
  if (!sample.ok()) return;
  state |= Row::kAnswered;
  if (sample.passed()) state |= Row::kPassed;
  if (sample.judgments.empty()) return;
  ++judged_.answers;
  judged_.requests += sample.judgments.size();
  for (const StoredJudgment& judgment : sample.judgments) {
    if (!judgment.cost_usd) continue;
    judged_.cost_usd += *judgment.cost_usd;
    ++judged_.cost_known;
  }
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
    if (row.at(place.entry).figures == nullptr) continue;  // the cell is still open
    const bool is_skill = plan_.arms[place.entry % plan_.arms.size()] == Arm::kSkill;
    row.states[place.entry] = Row::kSampled | Row::kAnswered | (is_skill == skill_passes ? Row::kPassed : 0);
  }
  return assumed;
}

SamplePtr RunData::LoadAt(const Place& place) const {
  const FinalSample final_sample = rows_[place.student][place.round].at(place.entry);
  CHECK(final_sample.figures != nullptr);
  const std::uint64_t at = final_sample.figures->place;
  if ((at & kInMemory) != 0) {
    const std::size_t index = at & ~kInMemory;
    return {SamplePtr(), index < first_.size() ? &first_[index] : &added_[index - first_.size()]};
  }
  CHECK(file_.has_value());
  Result<Sample> sample = file_->Read(at, final_sample.figures->line_bytes);
  if (sample && PlaceOf(*sample) == place) return std::make_shared<const Sample>(std::move(sample).value());
  Sample lost;
  lost.student = plan_.students[place.student].spec;
  lost.arm = plan_.arms[place.entry % plan_.arms.size()];
  lost.case_id = plan_.suite.cases[place.entry / plan_.arms.size()].id;
  lost.round = static_cast<int>(place.round);
  lost.error = sample ? Error{ErrorKind::kIo, "samples.jsonl changed while it was read"} : sample.error();
  return std::make_shared<const Sample>(std::move(lost));
}

SamplePtr RunData::Load(std::size_t student, Arm arm, std::size_t case_index, int round) const {
  const std::size_t entry = case_index * plan_.arms.size() + places_[static_cast<std::size_t>(arm)];
  return LoadAt({student, static_cast<std::size_t>(round), entry});
}

void RunData::AddCell(std::size_t student, Arm arm, std::size_t case_index, int round,
                      std::vector<SampleList::Cell>& cells) const {
  if (at(student, arm, case_index, round).figures == nullptr) return;
  const std::size_t entry = case_index * plan_.arms.size() + places_[static_cast<std::size_t>(arm)];
  cells.push_back(
      {static_cast<std::uint32_t>(student), static_cast<std::uint32_t>(round), static_cast<std::uint32_t>(entry)});
}

SampleList RunData::samples(std::size_t student, Arm arm, std::size_t case_index) const {
  std::vector<SampleList::Cell> cells;
  for (int round = 0; round < rounds(student); ++round) AddCell(student, arm, case_index, round, cells);
  return {*this, std::move(cells)};
}

SampleList RunData::samples(std::size_t student, Arm arm) const {
  std::vector<SampleList::Cell> cells;
  for (std::size_t i = 0; i < plan_.suite.cases.size(); ++i) {
    for (int round = 0; round < rounds(student); ++round) AddCell(student, arm, i, round, cells);
  }
  return {*this, std::move(cells)};
}

SampleList RunData::samples_of_round(std::size_t student, Arm arm, int round) const {
  std::vector<SampleList::Cell> cells;
  for (std::size_t i = 0; i < plan_.suite.cases.size(); ++i) AddCell(student, arm, i, round, cells);
  return {*this, std::move(cells)};
}

SampleList RunData::samples() const {
  std::vector<SampleList::Cell> cells;
  cells.reserve(sample_count_);
  for (std::uint32_t student = 0; student < rows_.size(); ++student) {
    for (std::uint32_t round = 0; round < rows_[student].size(); ++round) {
      const std::vector<std::uint8_t>& states = rows_[student][round].states;
      for (std::uint32_t entry = 0; entry < states.size(); ++entry) {
        if (states[entry] != 0) cells.push_back({student, round, entry});
      }
    }
  }
  return {*this, std::move(cells)};
}

FinalSample SampleList::final(std::size_t index) const {
  const Cell& cell = cells_[index];
  return data_->rows_[cell.student][cell.round].at(cell.entry);
}

SamplePtr SampleList::first_error() const {
  for (std::size_t i = 0; i < size(); ++i) {
    if (!final(i).answered) return Get(i);
  }
  return nullptr;
}

SamplePtr SampleList::Get(std::size_t index) const {
  const Cell& cell = cells_[index];
  return data_->LoadAt({cell.student, cell.round, cell.entry});
}

}  // namespace upskill
