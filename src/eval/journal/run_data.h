// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "eval/journal/sample.h"
#include "eval/journal/sample_figures.h"
#include "eval/journal/sample_file.h"
#include "eval/journal/sample_list.h"
#include "eval/plan/plan.h"
#include "util/result.h"

namespace upskill {

// The requests made for one arm of a student: each answer, and each failed attempt.
struct ArmAttempts {
  std::size_t attempts = 0;
  std::map<ErrorCause, std::size_t> errors;
};

// What a run's judge was asked for, over all answers that count.
struct JudgeSummary {
  std::size_t answers = 0;  // that it judged
  std::size_t requests = 0;
  double cost_usd = 0.0;       // of the requests with a known cost
  std::size_t cost_known = 0;  // requests
};

// A run: its plan, and the final sample of each cell. Summaries, verdicts and reports are computed from it.
//
// Of every final sample it keeps the figures. Texts (answers, checks, messages) stay in samples.jsonl, from which Load
// reads them one sample at a time; those of samples that were added in memory stay there. So a run of a million samples
// takes about 100 bytes for each.
//
// Owns the plan and the figures. Neither moves in memory when more samples come or when the RunData itself is moved:
// pointers into them are valid while it lives. Not thread-safe while samples are added; afterwards, several threads may
// read it.
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

  FinalSample at(std::size_t student, Arm arm, std::size_t case_index, int round) const {
    const std::size_t place = places_[static_cast<std::size_t>(arm)];
    const std::vector<Row>& rows = rows_[student];
    if (place == kNoPlace || round < 0 || round >= static_cast<int>(rows.size())) return {};
    return rows[static_cast<std::size_t>(round)].at(case_index * plan_.arms.size() + place);
  }

  // The whole final sample of a cell that has one. If its line can't be read any more, an error that says so.
  SamplePtr Load(std::size_t student, Arm arm, std::size_t case_index, int round) const;
  std::size_t sample_count() const { return sample_count_; }  // cells that have a final sample
  const JudgeSummary& judged() const { return judged_; }

  const ArmAttempts& attempts(std::size_t student, Arm arm) const;

  // Whether an attempt at any cell of the plan failed with an error that may depend on the answer (MayDependOnAnswer).
  bool has_lost_answers() const { return !lost_.empty(); }
  // The same run, with each cell that lost an answer to such an error counted as if that answer were the cell's: it
  // passed in the skill's arm and failed in the others, or the reverse. A round in which most cells of every arm lost
  // one is an outage and stays as it is, as long as such rounds are no more than one in four. The samples are those of
  // this run, which must outlive the result and must not change meanwhile.
  RunData AssumeLost(bool skill_passes) const;

  // The final samples of one case in one arm, by round. Each is loaded when it is looked at; the list must not outlive
  // this run, nor be kept while samples are added.
  SampleList samples(std::size_t student, Arm arm, std::size_t case_index) const;
  // The final samples of one arm, by case and round.
  SampleList samples(std::size_t student, Arm arm) const;
  // The final samples of one round in one arm, by case.
  SampleList samples_of_round(std::size_t student, Arm arm, int round) const;
  // All, in the order of the plan's cells (CellsOf).
  SampleList samples() const;

 private:
  friend class SampleList;

  // The cells of one student and round: case by case, the arms of a case next to each other. The states are apart from
  // the figures, which come in blocks, so that a few samples of a large plan take little memory.
  struct Row {
    static constexpr std::size_t kBlock = 32;
    enum State : std::uint8_t { kSampled = 1, kAnswered = 2, kPassed = 4 };

    std::vector<std::uint8_t> states;    // by entry; empty without samples
    std::vector<SampleFigures*> blocks;  // of kBlock entries; null without samples

    FinalSample at(std::size_t entry) const {
      if (states.empty() || (states[entry] & kSampled) == 0) return {};
      const std::uint8_t state = states[entry];
      return {blocks[entry / kBlock] + entry % kBlock, (state & kAnswered) != 0, (state & kPassed) != 0};
    }
  };

  static constexpr std::size_t kArms = 4;
  static constexpr std::size_t kNoPlace = kArms;
  static constexpr std::uint64_t kInMemory = std::uint64_t{1} << 63U;  // a place in first_ and added_, not in the file

  // A cell's place in rows_.
  struct Place {
    std::size_t student = 0;
    std::size_t round = 0;
    std::size_t entry = 0;  // in the row
    auto operator<=>(const Place&) const = default;
  };

  Status ReadLines(const Fd& journal, const std::filesystem::path& path);
  std::optional<Place> PlaceOf(const Sample& sample) const;       // nothing: the plan has no such cell
  std::set<std::pair<std::size_t, std::size_t>> Outages() const;  // of lost answers: student and round
  // The cell whose final sample this may be, if it has no answer yet. Nothing: the plan has no such cell, or the sample
  // can't be final.
  std::optional<Place> OpenPlaceOf(const Sample& sample) const;
  void Put(const Sample& sample, const Place& place, std::uint64_t at, std::uint32_t line_bytes);
  SampleFigures& FiguresAt(const Place& place);  // made where they aren't yet
  SamplePtr LoadAt(const Place& place) const;
  void AddCell(std::size_t student, Arm arm, std::size_t case_index, int round,
               std::vector<SampleList::Cell>& cells) const;  // if it has a final sample

  Plan plan_;
  std::vector<Sample> first_;       // the samples the run started with
  std::deque<Sample> added_;        // their places follow
  std::optional<SampleFile> file_;  // of the other samples
  std::size_t skipped_lines_ = 0;
  std::array<std::size_t, kArms> places_{};                     // by arm: its position in plan_.arms
  std::unordered_map<std::string_view, std::size_t> students_;  // by model string; the keys are in plan_
  std::unordered_map<std::string_view, std::size_t> cases_;     // by id
  std::vector<std::vector<Row>> rows_;                          // by student and round
  std::vector<std::unique_ptr<SampleFigures[]>> blocks_;        // NOLINT(*-avoid-c-arrays): all that rows_ point to
  std::vector<std::array<ArmAttempts, kArms>> attempts_;        // by student and arm
  std::size_t sample_count_ = 0;
  JudgeSummary judged_;
  std::size_t revision_ = 0;
  std::set<Place> lost_;  // cells that lost an answer to an error
};

}  // namespace upskill
