// SPDX-License-Identifier: Apache-2.0
#include "eval/runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <functional>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "eval/answer_queue.h"
#include "eval/verdict.h"

namespace upskill {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kTick{200};
constexpr milliseconds kFirstBackoff{500};
constexpr milliseconds kLongestBackoff{8000};
constexpr std::size_t kRefusalsBeforeStop = 3;  // in a row, without an answer between
constexpr std::size_t kRejectedBeforeStop =
    20;  // requests that the model takes exception to, when it never answered any

struct Task {
  std::size_t cell = 0;
  int attempt = 0;
  int last_attempt = 0;  // after which the cell is given up
  Clock::Steady not_before;
};

// The work left for one student.
struct Lane {
  Model* model = nullptr;
  std::deque<Task> pending;
  std::vector<Task> retries;
  std::size_t in_flight = 0;
  std::size_t refusals = 0;  // in a row
  std::size_t rejected = 0;
  bool answered = false;  // at least once
  bool stopped = false;
  int open_round = 0;  // later rounds wait until this one is whole and judged (Plan::stop_when_decided)

  bool finished() const { return pending.empty() && retries.empty() && in_flight == 0; }
};

milliseconds Backoff(int attempt, const Error& error) {
  if (error.retry_after && *error.retry_after <= milliseconds(120000)) return *error.retry_after;
  return std::min(kFirstBackoff * (1 << std::min(attempt, 10)), kLongestBackoff);
}

class Runner {
 public:
  explicit Runner(RunInput input)
      : input_(std::move(input)), plan_(*input_.plan), cells_(CellsOf(plan_)), resumed_(std::move(input_.resumed)) {}

  Result<RunOutcome> Run() {
    CHECK(input_.models.size() == plan_.students.size());
    for (const Case& test_case : plan_.suite.cases) {
      ASSIGN_OR_RETURN(CaseChecks checks, CaseChecks::Make(test_case));
      checks_.push_back(std::move(checks));
    }
    RETURN_IF_ERROR(TakeOver());
    started_ = input_.clock->Now();
    budget_.emplace(input_.limits, started_);
    Status status;
    while (status.ok() && !Finished()) {
      FollowStopFlag();
      SendWhatFits();
      if (Finished()) break;  // nothing was left that may be sent
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
    for (Model* model : input_.models) {
      lanes_.emplace_back();
      lanes_.back().model = model;
    }
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
        lanes_[cells_[i].student].pending.push_back({i, first, first + input_.attempts - 1, {}});
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

  bool Finished() const {
    return std::all_of(lanes_.begin(), lanes_.end(), [](const Lane& lane) { return lane.finished(); });
  }

  void FollowStopFlag() {
    const int level = input_.stop == nullptr ? 0 : input_.stop->load();
    if (level <= stop_level_) return;
    stop_level_ = level;
    if (input_.observer != nullptr) input_.observer->OnStopping(progress_, level > 1);
    for (Lane& lane : lanes_) {
      lane.pending.clear();
      lane.retries.clear();
      lane.model->Cancel(level > 1 ? Model::CancelScope::kRunning : Model::CancelScope::kWaiting);
    }
  }

  // Models that compute on this machine run one after the other; all others at once.
  void SendWhatFits() {
    const Clock::Steady now = input_.clock->Now();
    budget_->Allows(InFlight(), now);
    if (!budget_->exhausted().empty()) return DropWaiting();
    bool machine_taken = false;
    for (std::size_t student = 0; student < lanes_.size(); ++student) {
      Lane& lane = lanes_[student];
      if (lane.finished()) continue;
      if (lane.model->info().in_process) {
        if (machine_taken) continue;
        machine_taken = true;
      }
      const auto due = std::stable_partition(lane.retries.begin(), lane.retries.end(),
                                             [now](const Task& task) { return task.not_before > now; });
      lane.pending.insert(lane.pending.begin(), due, lane.retries.end());
      lane.retries.erase(due, lane.retries.end());
      while (MaySend(student)) Send(student);
      if (!budget_->exhausted().empty()) return DropWaiting();
    }
  }

  bool MaySend(std::size_t student) {
    const Lane& lane = lanes_[student];
    if (lane.pending.empty() || lane.in_flight >= WindowOf(lane)) return false;
    if (plan_.stop_when_decided && !RoundIsOpen(student)) return false;
    return budget_->Allows(InFlight(), input_.clock->Now());
  }

  // A model with warm_up gets one cell of each arm first: they fill the provider's prompt cache, and a wrong key or
  // name shows before everything else is sent.
  std::size_t WindowOf(const Lane& lane) const {
    if (lane.model->info().warm_up && !lane.answered) return plan_.arms.size();
    return static_cast<std::size_t>(lane.model->Window());
  }

  std::size_t InFlight() const {
    std::size_t sum = 0;
    for (const Lane& lane : lanes_) sum += lane.in_flight;
    return sum;
  }

  // Whether the next cell of a student may be sent now: its round is open, or the rounds before it are whole and leave
  // the verdict open. A known verdict drops what is left.
  bool RoundIsOpen(std::size_t student) {
    Lane& lane = lanes_[student];
    while (cells_[lane.pending.front().cell].round > lane.open_round) {
      if (lane.in_flight > 0 || !lane.retries.empty()) return false;
      if (VerdictKnown(student, lane.open_round)) {
        progress_.saved += lane.pending.size();
        lane.pending.clear();
        return false;
      }
      ++lane.open_round;
    }
    return true;
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

  // Whether the next cell will be sent without waiting for an answer; a local model fills its batch with it first.
  bool MoreFollows(const Lane& lane) const {
    if (lane.pending.empty()) return false;
    return !plan_.stop_when_decided || cells_[lane.pending.front().cell].round <= lane.open_round;
  }

  // The limits are reached: what models work on is finished and kept, what they only promised to work on is not begun.
  void DropWaiting() {
    for (Lane& lane : lanes_) {
      if (lane.finished()) continue;
      lane.pending.clear();
      lane.retries.clear();
      lane.model->Cancel(Model::CancelScope::kWaiting);
    }
  }

  void Send(std::size_t student) {
    Lane& lane = lanes_[student];
    const Task task = lane.pending.front();
    lane.pending.pop_front();
    ++lane.in_flight;
    ChatRequest request = RequestFor(plan_, cells_[task.cell], task.attempt);
    request.more_follows = MoreFollows(lane);
    lane.model->Start(std::move(request), [this, student, task](Result<ChatResponse> response) {
      answers_.Put({student, task.cell, task.attempt, task.last_attempt, std::move(response)});
    });
  }

  Status Receive() {
    Status status;
    for (Answer& answer : answers_.Take(kTick)) {
      --lanes_[answer.student].in_flight;
      if (!status) continue;  // only counted: nothing more can be kept
      status = answer.response.ok() ? HandleAnswer(answer) : HandleError(answer);
      if (status) Report();
    }
    if (status && input_.journal != nullptr) status = input_.journal->SyncWhenDue();
    return status;
  }

  Status HandleAnswer(Answer& answer) {
    const Cell& cell = cells_[answer.cell];
    Sample sample = Describe(cell, answer.attempt);
    sample.response = std::move(answer.response).value();
    sample.checks = checks_[cell.case_index].Run(sample.response.text);
    progress_.output_tokens += sample.response.usage.output;
    budget_->Add(sample.response);
    progress_.cost_usd = budget_->cost_usd();
    ++progress_.done;
    lanes_[answer.student].refusals = 0;
    lanes_[answer.student].answered = true;
    RETURN_IF_ERROR(Store(sample));
    Keep(answer.cell, std::move(sample));
    return {};
  }

  Status HandleError(const Answer& answer) {
    const Error& error = answer.response.error();
    if (error.kind == ErrorKind::kCancelled) return {};  // asked for by the person: the cell is left undone
    Sample sample = Describe(cells_[answer.cell], answer.attempt);
    sample.error = error;
    RETURN_IF_ERROR(Store(sample));
    Lane& lane = lanes_[answer.student];
    const bool may_recover = error.kind == ErrorKind::kUnavailable && answer.attempt < answer.last_attempt;
    const bool ending = stop_level_ > 0 || lane.stopped || !budget_->exhausted().empty();
    if (may_recover && !ending) {
      ++progress_.retries;
      lane.retries.push_back(
          {answer.cell, answer.attempt + 1, answer.last_attempt, input_.clock->Now() + Backoff(answer.attempt, error)});
      return {};
    }
    ++progress_.errors;
    Keep(answer.cell, std::move(sample));
    lane.refusals = error.kind == ErrorKind::kPermanent ? lane.refusals + 1 : 0;
    if (error.kind == ErrorKind::kInput && !lane.answered) ++lane.rejected;
    if ((lane.refusals >= kRefusalsBeforeStop || lane.rejected >= kRejectedBeforeStop) && !lane.stopped)
      StopLane(answer.student, error);
    return {};
  }

  // What one refusal after the other says won't change: spare the rest.
  void StopLane(std::size_t student, const Error& error) {
    Lane& lane = lanes_[student];
    lane.stopped = true;
    lane.pending.clear();
    lane.retries.clear();
    lane.model->Cancel(Model::CancelScope::kWaiting);
    stopped_models_.push_back(fmt::format("{}: {}", plan_.students[student].name, error.message));
  }

  // After the journal failed: nothing more can be kept, so nothing more is computed.
  void EndAll() {
    for (Lane& lane : lanes_) {
      lane.pending.clear();
      lane.retries.clear();
      lane.model->Cancel(Model::CancelScope::kRunning);
    }
    while (!Finished()) {
      for (const Answer& answer : answers_.Take(kTick)) --lanes_[answer.student].in_flight;
    }
  }

  void Report() {
    progress_.in_flight = InFlight();
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
    outcome.progress = progress_;
    outcome.interrupted = stop_level_ > 0;
    outcome.stopped_models = std::move(stopped_models_);
    outcome.exhausted = budget_->exhausted();
    return outcome;
  }

  RunInput input_;
  const Plan& plan_;
  const std::vector<Cell> cells_;
  std::vector<CaseChecks> checks_;  // by case
  std::vector<Sample> resumed_;     // of the run that is resumed; they stay where they are
  std::deque<Sample> fresh_;        // of this run
  std::vector<Sample*> words_;      // by cell: the last word on it, in one of the two
  std::vector<Lane> lanes_;         // by student
  AnswerQueue answers_;
  RunProgress progress_;
  Clock::Steady started_;
  std::optional<Budget> budget_;
  int stop_level_ = 0;
  std::vector<std::string> stopped_models_;
};

}  // namespace

Result<RunOutcome> RunPlan(RunInput input) { return Runner(std::move(input)).Run(); }

}  // namespace upskill
