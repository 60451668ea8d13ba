// SPDX-License-Identifier: Apache-2.0
#include "eval/run/runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "eval/journal/run_data.h"
#include "eval/run/admission.h"
#include "eval/run/answer_queue.h"
#include "eval/run/cell_checks.h"
#include "eval/run/judging.h"
#include "eval/run/resumed_samples.h"
#include "eval/run/served_models.h"
#include "eval/run/turn_admission.h"
#include "eval/verdict/gate.h"
#include "eval/verdict/stop_rule.h"
#include "util/work_pool.h"

namespace upskill {
namespace {

constexpr std::chrono::milliseconds kTick{200};

class Runner {
 public:
  explicit Runner(RunInput input)
      : input_(std::move(input)),
        plan_(*input_.plan),
        cells_(input_.cells.empty() ? CellsOf(plan_) : std::exchange(input_.cells, {})),
        own_budget_(input_.limits),
        budget_(input_.budget == nullptr ? own_budget_ : *input_.budget),
        admission_(plan_, cells_, input_.models, budget_,
                   {[this](std::size_t student, Admitted admitted) { Send(student, std::move(admitted)); },
                    [this](std::size_t student, int round) { return stop_->IsSettledAfter(round + 1, student); }}),
        turns_(budget_, answers_, input_.budget != nullptr || input_.limits.max_cost_usd || input_.limits.max_tokens),
        check_pool_(std::max(1U, std::thread::hardware_concurrency())) {
    const std::optional<Gate> gate = GateOf(plan_);
    for (std::size_t i = 0; gate && i < plan_.students.size(); ++i)
      admission_.KeepPace(i, StudentsContrastedWith(*gate, plan_, i));
    if (input_.judge != nullptr) {
      judging_.emplace(*input_.judge, budget_, *input_.clock, input_.attempts, answers_,
                       Judging::Hooks{[this](CheckedSample sample, const Judgments& judgments) {
                                        TakeJudged(std::move(sample), judgments);
                                      },
                                      [this](const std::string& why) { admission_.EndBy(why); },
                                      [this](const std::string& why) { EndWithoutJudge(why); }});
    }
  }

  // An exception must not leave requests behind that go on and are paid for.
  Result<RunOutcome> Run() {
    try {
      return RunToEnd();
    } catch (const std::exception& e) {
      EndAll();
      if (input_.journal != nullptr) static_cast<void>(input_.journal->Sync());
      return Error{ErrorKind::kPermanent, fmt::format("internal error: {}", e.what())};
    }
  }

 private:
  Result<RunOutcome> RunToEnd() {
    CHECK(input_.models.size() == plan_.students.size());
    for (const Case& test_case : plan_.suite.cases) {
      ASSIGN_OR_RETURN(CellChecks checks, CellChecks::Make(test_case, *input_.sandbox, input_.judge != nullptr));
      checks_.push_back(std::move(checks));
    }
    RETURN_IF_ERROR(TakeOver());
    stop_.emplace(data_);
    started_ = input_.clock->Now();
    admission_.Begin(input_.limits, started_);
    Status status;
    while (status.ok() && !admission_.finished()) {
      FollowStopFlag();
      admission_.SendWhatFits(input_.clock->Now());
      SendToJudge();
      if (admission_.finished()) break;  // nothing left to send
      status = Receive();
      Report();
    }
    if (status) status = judged_;
    if (!status) EndAll();
    if (input_.journal != nullptr) {
      const Status synced = input_.journal->Sync();
      if (status && !synced) status = synced;
    }
    if (!status) return status.error();
    return Outcome();
  }

  // Divides the cells into answered ones and those to request.
  Status TakeOver() {
    TakeOverResumed();
    std::unordered_map<std::string_view, const Sample*> cached;
    for (const Sample& sample : input_.cached) cached[sample.key] = &sample;
    progress_.total = cells_.size();
    for (std::size_t i = 0; i < cells_.size(); ++i) {
      const Cell& cell = cells_[i];
      const bool answered = data_.at(cell.student, cell.arm, cell.case_index, cell.round).answered;
      const SamplePtr known = answered ? data_.Load(cell.student, cell.arm, cell.case_index, cell.round) : nullptr;
      if (known != nullptr && known->key == cell.key) {
        served_models_.Reuse(cell.student, known->response.served_model);  // kept as it is
      } else if (const auto hit = cached.find(cell.key); hit != cached.end()) {
        Sample sample = Describe(cell, 0, ToCheckAgain(*hit->second));
        served_models_.Reuse(cell.student, sample.response.served_model);
        RETURN_IF_ERROR(CheckAndStore({cell.student, i, std::move(sample)}));
      } else if (const auto kept = kept_.find(CellName(NameOnly(cell))); kept != kept_.end()) {
        served_models_.Reuse(cell.student, kept->second.response.served_model);
        RETURN_IF_ERROR(CheckAndStore({cell.student, i, std::move(kept->second)}));
      } else {
        const auto before = tried_.empty() ? tried_.end() : tried_.find(CellName(NameOnly(cell)));
        const int first = before == tried_.end() ? 0 : before->second;
        admission_.Add({i, first, first + input_.attempts - 1, {}});
        continue;
      }
      ++progress_.done;
      ++progress_.reused;
    }
    input_.cached = {};
    return {};
  }

  // Keeps the resumed run's answers, except those to other requests. Cells with errors are requested again.
  void TakeOverResumed() {
    ResumedSamples sorted = SortResumed(std::move(input_.resumed), cells_);
    kept_ = std::move(sorted.kept);
    tried_ = std::move(sorted.attempts);
    earlier_errors_ = std::move(sorted.errors);
    data_ = RunData(plan_, std::move(sorted.answers));
    for (const Sample& error : earlier_errors_) data_.CountAttempt(error);
  }

  Sample NameOnly(const Cell& cell, Sample sample = {}) const {
    sample.student = plan_.students[cell.student].spec;
    sample.arm = cell.arm;
    sample.case_id = plan_.suite.cases[cell.case_index].id;
    sample.round = cell.round;
    return sample;
  }

  // `sample`: what is known of the attempt.
  Sample Describe(const Cell& cell, int attempt, Sample sample = {}) const {
    sample = NameOnly(cell, std::move(sample));
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
    if (level > 1) check_stop_ = level;
    const auto scope = level > 1 ? Model::CancelScope::kRunning : Model::CancelScope::kWaiting;
    admission_.DropAll(scope);
    if (judging_) judging_->Stop(scope, "the run was stopped");
  }

  void SendToJudge() {
    if (!judging_) return;
    if (admission_.cut()) {
      judging_->Stop(Model::CancelScope::kRunning, admission_.exhausted());
    } else if (!admission_.exhausted().empty()) {
      judging_->Stop(Model::CancelScope::kWaiting, admission_.exhausted());
    } else {
      judging_->SendWhatFits();
    }
  }

  // No answer can be judged any more: those that are still to come would be paid for in vain.
  void EndWithoutJudge(const std::string& why) {
    stopped_models_.push_back(fmt::format("{} (judge): {}", judging_->judge().info().name, why));
    admission_.DropAll(Model::CancelScope::kWaiting);
  }

  void Send(std::size_t student, Admitted admitted) {
    const ModelInfo& info = admission_.lane(student).model().info();
    std::uint64_t by_turns = 0;
    if (admitted.request.task && info.meters_turns) {
      admitted.request.meter = turns_.Begin(std::exchange(admitted.reservation, {}));
      by_turns = turns_.last_cell();
    }
    const auto put = [answers = answers_, student, attempt = admitted.attempt, by_turns,
                      reservation = std::move(admitted.reservation)](Result<ChatResponse> response) {
      answers->Put({student, attempt, reservation, std::move(response), by_turns});
    };
    if (admitted.request.task && !info.acts)
      return put(Error{ErrorKind::kPermanent, info.name + " can't work in a workspace: it has no tools"});
    try {
      admission_.lane(student).model().Start(std::move(admitted.request), put);
    } catch (const std::exception& e) {
      put(Error{ErrorKind::kPermanent, fmt::format("the request could not be sent: {}", e.what())});
    }
  }

  Status Receive() {
    Status status;
    AnswerQueue::Arrivals arrivals = answers_->Take(kTick);
    TakeTurns(arrivals);
    for (CheckedSample& checked : arrivals.checked) {
      admission_.EndCheck(checked.student);
      if (status) status = JudgeOrStore(std::move(checked));
    }
    for (const JudgeAnswer& answer : arrivals.of_judge) {
      const double before = judging_->cost_usd();
      judging_->Settle(answer);
      progress_.cost_usd += judging_->cost_usd() - before;
    }
    if (status) status = judged_;
    for (received_ = std::move(arrivals.answers); !received_.empty();) {
      Answer answer = std::move(received_.front());
      received_.pop_front();
      admission_.Settle(answer);
      if (!status) continue;  // only counted: nothing more can be stored
      status = answer.response.ok() ? HandleAnswer(answer) : HandleError(answer);
      if (status) Report();
    }
    if (status && input_.journal != nullptr) status = input_.journal->SyncWhenDue();
    return status;
  }

  // Before the answers that arrived with them: a cell's turns are settled before it is.
  void TakeTurns(AnswerQueue::Arrivals& arrivals) {
    for (TurnEvent& event : arrivals.turns) turns_.Take(std::move(event));
    for (const Answer& answer : arrivals.answers) turns_.End(answer.by_turns);
    const bool others = admission_.in_flight() > turns_.cells() || (judging_ && judging_->in_flight() > 0);
    const std::optional<std::string> shortage = turns_.Approve(others);
    if (shortage && admission_.exhausted().empty()) admission_.EndBy(*shortage);
    if (stop_level_ > 0 || !admission_.exhausted().empty()) turns_.Stop();
  }

  Status HandleAnswer(Answer& answer) {
    const Cell& cell = cells_[answer.attempt.cell];
    Sample sample = Describe(cell, answer.attempt.number);
    sample.response = std::move(answer.response).value();
    sample = CutAnswer(std::move(sample));
    served_models_.Take(answer.student, plan_.students[answer.student].name, sample.response.served_model);
    progress_.output_tokens += sample.response.usage.output;
    progress_.cost_usd += sample.response.cost_usd.value_or(0.0);
    ++progress_.done;
    admission_.lane(answer.student).CountAnswer();
    return CheckAndStore({answer.student, answer.attempt.cell, std::move(sample)});
  }

  // Before its checks have ended: whatever happens meanwhile, the answer isn't paid for again.
  Status KeepAnswer(Sample kept, const char* why) {
    if (!kept.cached_from.empty() || input_.journal == nullptr) return {};
    kept.error = Error{ErrorKind::kCancelled, why};
    kept.will_retry = kept.keeps_answer = true;
    return Store(kept);
  }

  // Checks that run something do so beside the requests in flight.
  Status CheckAndStore(CheckedSample answered) {
    const CellChecks& checks = checks_[cells_[answered.cell].case_index];
    if (!checks.executes()) {
      answered.sample.checks = checks.Run(answered.sample);
      return JudgeOrStore(std::move(answered));
    }
    RETURN_IF_ERROR(KeepAnswer(answered.sample, "the answer is being checked"));
    admission_.BeginCheck(answered.student);
    const auto job = std::make_shared<CheckedSample>(std::move(answered));
    check_pool_.Post([job, &checks, &stop = check_stop_, answers = answers_] {
      job->sample.checks = checks.Run(job->sample, &stop);
      answers->Put(std::move(*job));
    });
    return {};
  }

  // The judge is asked last, and only where its word decides.
  Status JudgeOrStore(CheckedSample checked) {
    const std::size_t case_index = cells_[checked.cell].case_index;
    if (!judging_ || !checks_[case_index].asks_judge()) return StoreChecked(std::move(checked));
    std::vector<AskedQuestion> questions = checks_[case_index].QuestionsAbout(checked.sample);
    if (questions.empty()) return StoreChecked(std::move(checked));
    if (!checks_[case_index].executes()) RETURN_IF_ERROR(KeepAnswer(checked.sample, "the answer is being judged"));
    admission_.BeginCheck(checked.student);
    judging_->Add(std::move(checked), plan_.suite.cases[case_index], std::move(questions));
    return judged_;
  }

  void TakeJudged(CheckedSample judged, const Judgments& judgments) {
    admission_.EndCheck(judged.student);
    if (!judged_) return;  // nothing more can be stored
    if (judged.sample.error) {
      judged_ = StoreUnjudged(std::move(judged.sample));
      return;
    }
    judged.sample.checks = checks_[cells_[judged.cell].case_index].RunJudged(judged.sample, judgments, &check_stop_);
    judged_ = StoreChecked(std::move(judged));
  }

  // With the answer, which has been paid for: it is judged when the run is resumed.
  Status StoreUnjudged(Sample sample) {
    --progress_.done;
    const bool open = sample.error->kind == ErrorKind::kCancelled;
    sample.will_retry = open;
    sample.keeps_answer = true;
    RETURN_IF_ERROR(Store(sample));
    if (open) return {};
    ++progress_.errors;
    data_.Add(std::move(sample));
    return {};
  }

  Status StoreChecked(CheckedSample checked) {
    Sample& sample = checked.sample;
    if (const std::string why = checks_[cells_[checked.cell].case_index].WhyUndecided(sample); !why.empty()) {
      --progress_.done;
      if (check_stop_ > 1) return {};  // at the user's request: the cell stays open
      // It can run here, so the machine is at fault, not the answer.
      sample.error = Error{ErrorKind::kPermanent, "the answer could not be checked: " + why};
      sample.keeps_answer = true;
      ++progress_.errors;
    }
    RETURN_IF_ERROR(Store(sample));
    data_.Add(std::move(sample));
    return {};
  }

  Status HandleError(const Answer& answer) {
    const Error& error = answer.response.error();
    if (error.kind == ErrorKind::kCancelled) return {};  // at the user's request: the cell stays open
    Sample sample = Describe(cells_[answer.attempt.cell], answer.attempt.number);
    sample.error = error;
    Lane& lane = admission_.lane(answer.student);
    const bool ending = stop_level_ > 0 || !admission_.exhausted().empty();
    sample.will_retry = !ending && lane.Retry(answer.attempt, error, input_.clock->Now());
    RETURN_IF_ERROR(Store(sample));
    if (sample.will_retry) {
      data_.CountAttempt(sample);
      ++progress_.retries;
      return {};
    }
    ++progress_.errors;
    data_.Add(std::move(sample));
    if (lane.CountFailure(error)) {
      // Several permanent errors in a row: the remaining requests would fail as well.
      admission_.Drop(lane, Model::CancelScope::kWaiting);
      stopped_models_.push_back(fmt::format("{}: {}", plan_.students[answer.student].name, error.message));
    }
    return {};
  }

  // After a failure, of the journal for example: nothing more can be stored, so nothing more is requested.
  void EndAll() {
    check_stop_ = 2;
    admission_.DropAll(Model::CancelScope::kRunning);
    for (const Answer& answer : received_) admission_.Settle(answer);
    if (judged_) judged_ = Error{ErrorKind::kCancelled, "the run has ended"};
    if (judging_) judging_->Stop(Model::CancelScope::kRunning, "the run has ended");
    while (!admission_.finished()) {
      AnswerQueue::Arrivals arrivals = answers_->Take(kTick);
      turns_.Stop();
      TakeTurns(arrivals);
      for (const JudgeAnswer& answer : arrivals.of_judge) judging_->Settle(answer);
      for (const Answer& answer : arrivals.answers) admission_.Settle(answer);
      for (const CheckedSample& checked : arrivals.checked) admission_.EndCheck(checked.student);
    }
  }

  void Report() {
    progress_.rate_limits = RateLimitsOf(input_.models, input_.judge);
    progress_.in_flight = admission_.in_flight();
    progress_.worked_on = admission_.worked_on();
    progress_.saved = admission_.saved();
    progress_.may_be_saved = admission_.after_open_rounds();
    progress_.seconds = SecondsBetween(started_, input_.clock->Now());
    if (input_.observer != nullptr) input_.observer->OnProgress(progress_);
  }

  // The resumed run's errors at cells that were not tried again: they are what the journal says of these cells.
  void TakeBackEarlierErrors() {
    if (earlier_errors_.empty()) return;
    std::unordered_set<std::string> tried;
    for (const SamplePtr& sample : data_.samples()) tried.insert(CellName(*sample));
    for (Sample& error : earlier_errors_) {
      if (!tried.contains(CellName(error))) data_.AddCounted(std::move(error));
    }
  }

  RunOutcome Outcome() {
    TakeBackEarlierErrors();
    RunOutcome outcome;
    outcome.data = std::move(data_);
    progress_.saved = admission_.saved();
    progress_.rate_limits = RateLimitsOf(input_.models, input_.judge);
    outcome.progress = progress_;
    outcome.interrupted = stop_level_ > 0;
    outcome.stopped_models = std::move(stopped_models_);
    outcome.exhausted = admission_.exhausted();
    outcome.needed = budget_.needed();
    outcome.caveats = budget_.caveats();
    const std::vector<std::string>& served = served_models_.caveats();
    outcome.caveats.insert(outcome.caveats.end(), served.begin(), served.end());
    return outcome;
  }

  RunInput input_;
  const Plan& plan_;
  const std::vector<Cell> cells_;
  std::vector<CellChecks> checks_;  // by case
  RunData data_;
  std::vector<Sample> earlier_errors_;            // of the resumed run
  std::unordered_map<std::string, Sample> kept_;  // its answers that weren't judged, by CellName
  std::unordered_map<std::string, int> tried_;    // its failed attempts, by CellName
  std::optional<StopRule> stop_;                  // of data_
  Budget own_budget_;
  Budget& budget_;
  Admission admission_;
  const std::shared_ptr<AnswerQueue> answers_ = std::make_shared<AnswerQueue>();  // shared with requests in flight
  TurnAdmission turns_;
  std::optional<Judging> judging_;
  Status judged_;                // of storing what the judge has decided
  std::deque<Answer> received_;  // taken out of the queue and not settled yet
  RunProgress progress_;
  Clock::Steady started_;
  int stop_level_ = 0;
  std::vector<std::string> stopped_models_;
  ServedModels served_models_;
  StopFlag check_stop_ = 0;  // 2: ends checks that run something
  WorkPool check_pool_;      // the last: it uses what is above
};

}  // namespace

Result<RunOutcome> RunPlan(RunInput input) { return Runner(std::move(input)).Run(); }

}  // namespace upskill
