// SPDX-License-Identifier: Apache-2.0
#include "eval/runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <functional>
#include <string_view>
#include <unordered_map>

#include "eval/admission.h"
#include "eval/answer_queue.h"
#include "eval/verdict.h"

namespace upskill {
namespace {

constexpr std::chrono::milliseconds kTick{200};

class Runner {
 public:
  explicit Runner(RunInput input)
      : input_(std::move(input)),
        plan_(*input_.plan),
        cells_(CellsOf(plan_)),
        resumed_(std::move(input_.resumed)),
        own_budget_(input_.limits),
        budget_(input_.budget == nullptr ? own_budget_ : *input_.budget),
        admission_(plan_, cells_, input_.models, budget_,
                   {[this](std::size_t student, Admitted admitted) { Send(student, std::move(admitted)); },
                    [this](std::size_t student, int round) { return VerdictKnown(student, round); }}) {}

  Result<RunOutcome> Run() {
    CHECK(input_.models.size() == plan_.students.size());
    for (const Case& test_case : plan_.suite.cases) {
      ASSIGN_OR_RETURN(CaseChecks checks, CaseChecks::Make(test_case));
      checks_.push_back(std::move(checks));
    }
    RETURN_IF_ERROR(TakeOver());
    started_ = input_.clock->Now();
    admission_.Begin(input_.limits, started_);
    Status status;
    while (status.ok() && !admission_.finished()) {
      FollowStopFlag();
      admission_.SendWhatFits(input_.clock->Now());
      if (admission_.finished()) break;  // nothing was left that may be sent
      status = Receive();
      Report();
    }
    if (!status) EndAll();
    if (input_.journal != nullptr) {
      const Status synced = input_.journal->Sync();
      if (status && !synced) status = synced;
    }
    if (!status) return status.error();
    return Outcome();
  }

 private:
  // What is known of a cell from the run that is resumed.
  struct Known {
    Sample* answer = nullptr;
    int tried = 0;  // attempts made in vain
  };

  // Sorts the cells into those that are answered already and those to ask for.
  Status TakeOver() {
    words_.resize(cells_.size());
    std::unordered_map<const Sample*, Known, CellHash, SameCell> known;
    known.reserve(resumed_.size());
    for (Sample& sample : resumed_) {
      Known& entry = known[&sample];
      if (sample.ok()) {
        entry.answer = &sample;
      } else {
        entry.tried = std::max(entry.tried, sample.attempt + 1);
      }
    }
    std::unordered_map<std::string_view, const Sample*> cached;
    for (const Sample& sample : input_.cached) cached[sample.key] = &sample;
    progress_.total = cells_.size();
    for (std::size_t i = 0; i < cells_.size(); ++i) {
      const Sample probe = NameOnly(cells_[i]);
      const auto found = known.find(&probe);
      if (found != known.end() && found->second.answer != nullptr && found->second.answer->key == cells_[i].key) {
        words_[i] = found->second.answer;
      } else if (const auto hit = cached.find(cells_[i].key); hit != cached.end()) {
        Sample sample = Describe(cells_[i], 0);
        sample.cached_from = hit->second->cached_from;
        sample.response = hit->second->response;
        sample.checks = checks_[cells_[i].case_index].Run(sample.response.text);
        RETURN_IF_ERROR(Store(sample));
        Keep(i, std::move(sample));
      } else {
        const int first = found == known.end() ? 0 : found->second.tried;
        admission_.Add({i, first, first + input_.attempts - 1, {}});
        continue;
      }
      ++progress_.done;
      ++progress_.reused;
    }
    input_.cached = {};
    return {};
  }

  // The last word on a cell.
  void Keep(std::size_t cell, Sample sample) { words_[cell] = &fresh_.emplace_back(std::move(sample)); }

  Sample NameOnly(const Cell& cell) const {
    Sample sample;
    sample.student = plan_.students[cell.student].spec;
    sample.arm = cell.arm;
    sample.case_id = plan_.suite.cases[cell.case_index].id;
    sample.round = cell.round;
    return sample;
  }

  Sample Describe(const Cell& cell, int attempt) const {
    Sample sample = NameOnly(cell);
    sample.key = cell.key;
    sample.attempt = attempt;
    sample.time = UtcTimestamp(input_.clock->WallNow());
    return sample;
  }

  Status Store(const Sample& sample) {
    if (input_.journal == nullptr) return {};
    return input_.journal->Append(sample);
  }

  void FollowStopFlag() {
    const int level = input_.stop == nullptr ? 0 : input_.stop->load();
    if (level <= stop_level_) return;
    stop_level_ = level;
    if (input_.observer != nullptr) input_.observer->OnStopping(progress_, level > 1);
    admission_.DropAll(level > 1 ? Model::CancelScope::kRunning : Model::CancelScope::kWaiting);
  }

  // By the samples of the rounds up to `round`.
  bool VerdictKnown(std::size_t student, int round) const {
    std::vector<Sample> samples;
    for (const Sample* sample : words_) {
      if (sample != nullptr && sample->round <= round) samples.push_back(*sample);
    }
    const std::vector<StudentVerdict> verdicts = JudgeRun(plan_, samples, ComparedArm(plan_));
    return verdicts[student].word != Verdict::kUndecided || verdicts[student].answers_repeat;
  }

  void Send(std::size_t student, Admitted admitted) {
    admission_.lane(student).model().Start(
        std::move(admitted.request),
        [this, student, attempt = admitted.attempt, reservation = std::move(admitted.reservation)](
            Result<ChatResponse> response) { answers_.Put({student, attempt, reservation, std::move(response)}); });
  }

  Status Receive() {
    Status status;
    for (Answer& answer : answers_.Take(kTick)) {
      admission_.Settle(answer);
      if (!status) continue;  // only counted: nothing more can be kept
      status = answer.response.ok() ? HandleAnswer(answer) : HandleError(answer);
      if (status) Report();
    }
    if (status && input_.journal != nullptr) status = input_.journal->SyncWhenDue();
    return status;
  }

  Status HandleAnswer(Answer& answer) {
    const Cell& cell = cells_[answer.attempt.cell];
    Sample sample = Describe(cell, answer.attempt.number);
    sample.response = std::move(answer.response).value();
    sample.checks = checks_[cell.case_index].Run(sample.response.text);
    progress_.output_tokens += sample.response.usage.output;
    progress_.cost_usd += sample.response.cost_usd.value_or(0.0);
    ++progress_.done;
    admission_.lane(answer.student).CountAnswer();
    RETURN_IF_ERROR(Store(sample));
    Keep(answer.attempt.cell, std::move(sample));
    return {};
  }

  Status HandleError(const Answer& answer) {
    const Error& error = answer.response.error();
    if (error.kind == ErrorKind::kCancelled) return {};  // asked for by the person: the cell is left undone
    Sample sample = Describe(cells_[answer.attempt.cell], answer.attempt.number);
    sample.error = error;
    RETURN_IF_ERROR(Store(sample));
    Lane& lane = admission_.lane(answer.student);
    const bool ending = stop_level_ > 0 || !admission_.exhausted().empty();
    if (!ending && lane.Retry(answer.attempt, error, input_.clock->Now())) {
      ++progress_.retries;
      return {};
    }
    ++progress_.errors;
    Keep(answer.attempt.cell, std::move(sample));
    if (lane.CountFailure(error)) {
      // What one permanent error after the other says won't change: spare the rest.
      admission_.Drop(lane, Model::CancelScope::kWaiting);
      stopped_models_.push_back(fmt::format("{}: {}", plan_.students[answer.student].name, error.message));
    }
    return {};
  }

  // After the journal failed: nothing more can be kept, so nothing more is computed.
  void EndAll() {
    admission_.DropAll(Model::CancelScope::kRunning);
    while (!admission_.finished()) {
      for (const Answer& answer : answers_.Take(kTick)) admission_.Settle(answer);
    }
  }

  void Report() {
    progress_.in_flight = admission_.in_flight();
    progress_.saved = admission_.saved();
    progress_.seconds = SecondsBetween(started_, input_.clock->Now());
    if (input_.observer != nullptr) input_.observer->OnProgress(progress_);
  }

  // The last words in the order of their cells. Samples are large and may be a million: those of the resumed run stay
  // in their vector and change places.
  std::vector<Sample> TakeWords() {
    std::vector<Sample> pool = std::move(resumed_);  // its elements stay where they are
    const Sample* const first = pool.data();
    const std::size_t resumed = pool.size();
    std::vector<std::size_t> order;  // by cell: where its word is in the pool
    order.reserve(cells_.size());
    std::vector<Sample*> fresh;
    for (Sample* word : words_) {
      if (word == nullptr) continue;
      const bool is_old = std::less_equal<>()(first, word) && std::less<>()(word, first + resumed);
      order.push_back(is_old ? static_cast<std::size_t>(word - first) : resumed + fresh.size());
      if (!is_old) fresh.push_back(word);
    }
    if (!fresh.empty()) pool.reserve(resumed + fresh.size());
    for (Sample* word : fresh) pool.push_back(std::move(*word));
    for (std::size_t i = 0; i < order.size(); ++i) {
      std::size_t from = order[i];
      while (from < i) from = order[from];
      if (from != i) std::swap(pool[i], pool[from]);
    }
    pool.resize(order.size());
    return pool;
  }

  RunOutcome Outcome() {
    RunOutcome outcome;
    outcome.samples = TakeWords();
    progress_.saved = admission_.saved();
    outcome.progress = progress_;
    outcome.interrupted = stop_level_ > 0;
    outcome.stopped_models = std::move(stopped_models_);
    outcome.exhausted = admission_.exhausted();
    outcome.caveats = budget_.caveats();
    return outcome;
  }

  RunInput input_;
  const Plan& plan_;
  const std::vector<Cell> cells_;
  std::vector<CaseChecks> checks_;  // by case
  std::vector<Sample> resumed_;     // of the run that is resumed; they stay where they are
  std::deque<Sample> fresh_;        // of this run
  std::vector<Sample*> words_;      // by cell: the last word on it, in one of the two
  Budget own_budget_;
  Budget& budget_;
  Admission admission_;
  AnswerQueue answers_;
  RunProgress progress_;
  Clock::Steady started_;
  int stop_level_ = 0;
  std::vector<std::string> stopped_models_;
};

}  // namespace

Result<RunOutcome> RunPlan(RunInput input) { return Runner(std::move(input)).Run(); }

}  // namespace upskill
