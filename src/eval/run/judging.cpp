// SPDX-License-Identifier: Apache-2.0
#include "eval/run/judging.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "eval/run/backoff.h"
#include "eval/run/judge_prompt.h"
#include "model/structured_answer.h"

namespace upskill {
namespace {

constexpr std::size_t kJudgeErrorsBeforeStop = 3;  // in a row

}  // namespace

Judging::Judging(Model& judge, Budget& budget, const Clock& clock, int attempts, std::shared_ptr<AnswerQueue> answers,
                 Hooks hooks)
    : judge_(&judge),
      budget_(&budget),
      clock_(&clock),
      attempts_(attempts),
      answers_(std::move(answers)),
      hooks_(std::move(hooks)) {}

void Judging::Add(CheckedSample sample, const Case& test_case, std::vector<AskedQuestion> questions) {
  const auto job = std::make_shared<Job>(Job{std::move(sample), {}, questions.size(), std::nullopt});
  const std::vector<StoredJudgment> known = std::exchange(job->sample.sample.judgments, {});
  std::vector<Request> requests;
  for (AskedQuestion& asked : questions) {
    if (job->judgments.size() <= asked.number) job->judgments.resize(asked.number + 1);
    ChatRequest chat = JudgeRequest(test_case, asked);
    std::string key = JudgmentKey(judge_->info().identity, chat);
    const auto same =
        std::find_if(known.begin(), known.end(), [&](const StoredJudgment& stored) { return stored.key == key; });
    if (same != known.end()) {
      job->judgments[asked.number] = same->judgment;
      job->sample.sample.judgments.push_back(*same);
      --job->open;
      continue;
    }
    requests.push_back({job, std::move(asked), std::move(key), std::move(chat), {}, 0, 0, {}});
  }
  for (Request& request : requests) {
    if (stopped_.empty()) {
      waiting_.push_back(std::move(request));
    } else {
      Fail(request, Error{ErrorKind::kCancelled, stopped_});
    }
  }
  if (requests.empty()) hooks_.judged(std::move(job->sample), job->judgments);
}

std::optional<std::size_t> Judging::NextDue() const {
  const Clock::Steady now = clock_->Now();
  for (std::size_t i = 0; i < waiting_.size(); ++i) {
    if (waiting_[i].not_before <= now) return i;
  }
  return std::nullopt;
}

void Judging::SendWhatFits() {
  const bool alone = judge_->info().warm_up && !answered_;
  const std::size_t window = alone ? 1 : static_cast<std::size_t>(std::max(1, judge_->Window()));
  while (sent_.size() < window) {
    const std::optional<std::size_t> next = NextDue();
    if (!next) return;
    const auto at = waiting_.begin() + static_cast<std::ptrdiff_t>(*next);
    if (at->job->error) {  // another question about the answer has failed
      const Request request = std::move(*at);
      waiting_.erase(at);
      EndQuestion(*request.job);
      continue;
    }
    std::optional<Budget::Reservation> reservation = budget_->Reserve(*judge_, at->chat);
    if (!reservation) {
      // A request in flight may turn out cheaper than its reservation.
      if (!sent_.empty()) return;
      const std::string why = budget_->shortage();
      Stop(Model::CancelScope::kWaiting, why);
      return hooks_.out_of_budget(why);
    }
    const std::size_t number = ++last_;
    ChatRequest chat = at->chat;
    sent_.emplace(number, std::move(*at));
    waiting_.erase(at);
    const auto put = [answers = answers_, number, reserved = *std::move(reservation)](Result<ChatResponse> response) {
      answers->Put(JudgeAnswer{number, reserved, std::move(response)});
    };
    try {
      judge_->Start(std::move(chat), put);
    } catch (const std::exception& e) {
      put(Error{ErrorKind::kPermanent, fmt::format("the request could not be sent: {}", e.what())});
    }
  }
}

void Judging::Settle(const JudgeAnswer& answer) {
  budget_->Settle(answer.reservation, answer.response);
  const auto found = sent_.find(answer.request);
  if (found == sent_.end()) return;
  Request request = std::move(found->second);
  sent_.erase(found);
  if (answer.response) {
    permanent_errors_ = 0;
    answered_ = true;
    TakeAnswer(std::move(request), *answer.response);
  } else {
    TakeError(std::move(request), answer.response.error());
  }
}

void Judging::TakeAnswer(Request request, const ChatResponse& response) {
  cost_usd_ += response.cost_usd.value_or(0.0);
  all_costs_known_ = all_costs_known_ && response.cost_usd;
  request.spent.usage.Add(response.usage);
  request.spent.seconds += response.seconds;
  const bool first = request.attempt == 0 && request.repairs == 0;
  if (first || request.spent.cost_usd) {
    request.spent.cost_usd =
        response.cost_usd ? std::optional(request.spent.cost_usd.value_or(0.0) + *response.cost_usd) : std::nullopt;
  }
  Job& job = *request.job;
  // What was cut off or filtered isn't all that the judge would have said.
  Result<Judgment> judgment =
      response.stop == StopReason::kEnd ? ReadJudgment(request.asked, response.text) : InputError("it ended early");
  if (judgment) {
    StoredJudgment stored = std::move(request.spent);
    stored.key = std::move(request.key);
    stored.judgment = *std::move(judgment);
    job.judgments[request.asked.number] = stored.judgment;
    job.sample.sample.judgments.push_back(std::move(stored));
    return EndQuestion(job);
  }
  const bool again = response.stop == StopReason::kEnd && request.repairs < kMaxRepairs && stopped_.empty();
  if (!again) {
    const std::string problem =
        response.stop == StopReason::kEnd
            ? fmt::format("the judge's reply can't be used: {}",
                          judgment.error().message.substr(0, judgment.error().message.find('\n')))
            : fmt::format("the judge's reply ended early ({})", StopReasonName(response.stop));
    return Fail(request, Error{ErrorKind::kPermanent, problem});
  }
  request.chat = RepairOf(std::move(request.chat), response.text, judgment.error().message);
  ++request.repairs;
  request.not_before = {};
  waiting_.push_front(std::move(request));
}

void Judging::TakeError(Request request, const Error& error) {
  const bool again = stopped_.empty() && error.kind == ErrorKind::kUnavailable && request.attempt + 1 < attempts_;
  if (again) {
    request.not_before = clock_->Now() + Backoff(request.attempt, error);
    ++request.attempt;
    waiting_.push_back(std::move(request));
    return;
  }
  permanent_errors_ = error.kind == ErrorKind::kPermanent ? permanent_errors_ + 1 : 0;
  Fail(request, error);
  if (permanent_errors_ < kJudgeErrorsBeforeStop || !stopped_.empty()) return;
  Stop(Model::CancelScope::kWaiting, error.message);
  hooks_.failed(error.message);
}

void Judging::Fail(const Request& request, Error error) {
  Job& job = *request.job;
  if (!job.error) job.error = std::move(error);
  EndQuestion(job);
}

void Judging::EndQuestion(Job& job) {
  if (--job.open > 0) return;
  if (job.error) {
    const Error& cause = *job.error;
    Error error{cause.kind, fmt::format("the answer could not be judged: {}", cause.message)};
    error.cause = cause.cause;
    job.sample.sample.error = std::move(error);
  }
  hooks_.judged(std::move(job.sample), job.judgments);
}

void Judging::Stop(Model::CancelScope scope, const std::string& why) {
  if (stopped_.empty()) stopped_ = why;
  for (const Request& request : std::exchange(waiting_, {})) Fail(request, Error{ErrorKind::kCancelled, why});
  judge_->Cancel(scope);
}

}  // namespace upskill
