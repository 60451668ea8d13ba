// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <deque>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "eval/plan.h"
#include "eval/sample.h"
#include "util/result.h"

namespace upskill {

// The final sample of a cell: its first answer, or else its last error that wasn't to be followed by another attempt
// (Sample::will_retry). Without one, `answered` and `passed` are false.
struct FinalSample {
  const Sample* sample = nullptr;  // null: the cell has no sample yet
  bool answered = false;
  bool passed = false;
};

// The requests made for one arm of a student: each answer, and each failed attempt.
struct ArmAttempts {
  std::size_t attempts = 0;
  std::map<ErrorCause, std::size_t> errors;
};

// A run: its plan, its samples, and the final sample of each cell. Summaries, verdicts and reports are computed from
// it.
//
// Owns the plan and the samples. Neither moves in memory when more samples come or when the RunData itself is moved:
// pointers into them are valid while it lives. It can't be copied, since samples hold whole answers.
// Not thread-safe while samples are added; afterwards, several threads may read it.
class RunData {
 public:
  RunData() : RunData(Plan()) {}  // of an empty plan
  // Samples of cells that the plan doesn't have are ignored.
  explicit RunData(Plan plan, std::vector<Sample> samples = {});
  RunData(RunData&&) noexcept = default;
  RunData& operator=(RunData&&) noexcept = default;
  RunData(const RunData&) = delete;
  RunData& operator=(const RunData&) = delete;
  ~RunData() = default;

  // Reads plan.json and samples.jsonl of a run's folder, also while the run is in progress.
  static Result<RunData> Read(const std::filesystem::path& run_folder);

  // In amortised constant time, but for the logarithm of the number of errors.
  void Add(Sample sample);
  // The same in two steps, for an error that may or may not become its cell's final sample: its attempt is counted at
  // once, whatever comes of the cell.
  void CountAttempt(const Sample& sample);
  void AddCounted(Sample sample);

  const Plan& plan() const { return plan_; }
  void set_share(AlphaShare share) { plan_.share = std::move(share); }  // to judge with another alpha
  // Changes with every sample.
  std::size_t revision() const { return revision_; }
  // Lines of samples.jsonl that were torn, damaged or from a newer version.
  std::size_t skipped_lines() const { return skipped_lines_; }

  // The student has no samples in this round or later.
  int rounds(std::size_t student) const { return static_cast<int>(rows_[student].size()); }

  const FinalSample& at(std::size_t student, Arm arm, std::size_t case_index, int round) const {
    static constexpr FinalSample kNone;
    const std::size_t place = places_[static_cast<std::size_t>(arm)];
    const std::vector<Row>& rows = rows_[student];
    if (place == kNoPlace || round < 0 || round >= static_cast<int>(rows.size())) return kNone;
    const Row& row = rows[static_cast<std::size_t>(round)];
    return row.empty() ? kNone : row[case_index * plan_.arms.size() + place];
  }

  const ArmAttempts& attempts(std::size_t student, Arm arm) const;

  // Whether an attempt at any cell of the plan failed with an error that may depend on the answer (MayDependOnAnswer).
  bool has_lost_answers() const { return !lost_.empty(); }
  // The same run, with each cell that lost an answer to such an error counted as if that answer were the cell's: it
  // passed in the skill's arm and failed in the others, or the reverse. A round in which most cells of every arm lost
  // one is an outage and stays as it is, as long as such rounds are no more than one in four. The samples are those of
  // this run, which must outlive the result and must not change meanwhile.
  RunData AssumeLost(bool skill_passes) const;

  // The final samples of one case in one arm, by round.
  std::vector<const Sample*> samples(std::size_t student, Arm arm, std::size_t case_index) const;
  // Those of one arm, by case and round.
  std::vector<const Sample*> samples(std::size_t student, Arm arm) const;
  // All, in the order of the plan's cells (CellsOf).
  std::vector<const Sample*> samples() const;

 private:
  // The cells of one student and round: case by case, the arms of a case next to each other. Empty without samples.
  using Row = std::vector<FinalSample>;

  static constexpr std::size_t kArms = 4;
  static constexpr std::size_t kNoPlace = kArms;

  // A cell's place in rows_.
  struct Place {
    std::size_t student = 0;
    std::size_t round = 0;
    std::size_t entry = 0;  // in the row
    auto operator<=>(const Place&) const = default;
  };

  std::optional<Place> PlaceOf(const Sample& sample) const;       // nothing: the plan has no such cell
  std::set<std::pair<std::size_t, std::size_t>> Outages() const;  // of lost answers: student and round
  // The cell whose final sample this may be. Null: the plan has no such cell, or the sample can't be final.
  FinalSample* Find(const Sample& sample);
  static void Put(const Sample& sample, FinalSample& entry);

  Plan plan_;
  std::vector<Sample> first_;  // the samples the run started with
  std::deque<Sample> added_;
  std::size_t skipped_lines_ = 0;
  std::array<std::size_t, kArms> places_{};                     // by arm: its position in plan_.arms
  std::unordered_map<std::string_view, std::size_t> students_;  // by model string; the keys are in plan_
  std::unordered_map<std::string_view, std::size_t> cases_;     // by id
  std::vector<std::vector<Row>> rows_;                          // by student and round
  std::vector<std::array<ArmAttempts, kArms>> attempts_;        // by student and arm
  std::size_t revision_ = 0;
  std::set<Place> lost_;  // cells that lost an answer to an error
};

}  // namespace upskill
