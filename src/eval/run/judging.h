// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "check/check.h"
#include "eval/journal/sample.h"
#include "eval/run/answer_queue.h"
#include "eval/run/budget.h"
#include "model/model.h"
#include "skill/suite.h"
#include "util/clock.h"
#include "util/result.h"

namespace upskill {

// Has a judge decide about answers whose other checks have run. Requests are sent as far as the judge's window and the
// budget allow, and again after errors that may go away and after verdicts that can't be read. Not thread-safe: only
// the judge's own thread is another one, and it puts its answers into the queue.
class Judging {
 public:
  struct Hooks {
    // The sample with what the judge said of it (Sample::judgments), or with why it wasn't judged (Sample::error,
    // whose answer is kept).
    std::function<void(CheckedSample judged, const Judgments& judgments)> judged;
    // Nothing more is judged: the budget has no room for the judge's next request, or the judge fails for good.
    std::function<void(const std::string& why)> out_of_budget;
    std::function<void(const std::string& why)> failed;
  };

  // The judge, the budget, the clock and the hooks' targets outlive it. `attempts`: at each question.
  Judging(Model& judge, Budget& budget, const Clock& clock, int attempts, std::shared_ptr<AnswerQueue> answers,
          Hooks hooks);

  // Judges the sample's answer to the case. What `sample.judgments` has already isn't asked again.
  void Add(CheckedSample sample, const Case& test_case, std::vector<AskedQuestion> questions);

  void SendWhatFits();
  // An answer of the judge arrived.
  void Settle(const JudgeAnswer& answer);
  // Sends nothing more; samples that wait come back unjudged. With kRunning, what is in flight is cancelled, too.
  void Stop(Model::CancelScope scope, const std::string& why);

  std::size_t in_flight() const { return sent_.size(); }
  double cost_usd() const { return cost_usd_; }  // of its answers with a known cost
  bool all_costs_known() const { return all_costs_known_; }
  const Model& judge() const { return *judge_; }

 private:
  struct Job {
    CheckedSample sample;
    Judgments judgments;
    std::size_t open = 0;  // questions without a judgment
    std::optional<Error> error;
  };
  struct Request {
    std::shared_ptr<Job> job;  // shared by the questions about one answer
    AskedQuestion asked;
    std::string key;
    ChatRequest chat;
    StoredJudgment spent;  // by earlier answers to this question
    int attempt = 0;
    int repairs = 0;
    Clock::Steady not_before;
  };

  std::optional<std::size_t> NextDue() const;
  void TakeAnswer(Request request, const ChatResponse& response);
  void TakeError(Request request, const Error& error);
  void Fail(const Request& request, Error error);
  void EndQuestion(Job& job);

  Model* judge_;
  Budget* budget_;
  const Clock* clock_;
  int attempts_;
  std::shared_ptr<AnswerQueue> answers_;  // shared with the requests in flight
  Hooks hooks_;
  std::deque<Request> waiting_;
  std::map<std::size_t, Request> sent_;
  std::size_t last_ = 0;              // request
  std::size_t permanent_errors_ = 0;  // in a row
  bool answered_ = false;
  std::string stopped_;  // why; empty: it goes on
  double cost_usd_ = 0.0;
  bool all_costs_known_ = true;
};

}  // namespace upskill
