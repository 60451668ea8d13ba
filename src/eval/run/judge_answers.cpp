// SPDX-License-Identifier: Apache-2.0
#include "eval/run/judge_answers.h"

#include <chrono>
#include <memory>
#include <utility>

#include "eval/run/answer_queue.h"
#include "eval/run/backoff.h"
#include "eval/run/judge_prompt.h"
#include "eval/run/judging.h"

namespace upskill {
namespace {

constexpr std::chrono::milliseconds kJudgeTick{200};

// What the store knows about the questions.
std::vector<StoredJudgment> KnownJudgments(const Model& judge, const AnswerToJudge& answer,
                                           const JudgmentStore* store) {
  std::vector<StoredJudgment> known;
  if (store == nullptr) return known;
  for (const AskedQuestion& asked : answer.questions) {
    const std::string key = JudgmentKey(judge.info().identity, JudgeRequest(*answer.test_case, asked));
    if (const StoredJudgment* stored = store->Find(key)) known.push_back(*stored);
  }
  return known;
}

}  // namespace

JudgedAnswers JudgeAnswers(Model& judge, const std::vector<AnswerToJudge>& answers, const RunLimits& limits,
                           const Clock& clock, const StopFlag* stop, JudgmentStore* store,
                           const std::function<void(std::size_t done)>& progress) {
  JudgedAnswers out;
  out.answers.resize(answers.size());
  std::size_t done = 0;
  const auto take = [&](CheckedSample judged, const Judgments& judgments) {
    JudgedAnswer& answer = out.answers[judged.cell];
    for (const StoredJudgment& stored : judged.sample.judgments) {
      if (store == nullptr || store->Find(stored.key) != nullptr) continue;
      if (const Status added = store->Add(stored); !added) out.unsaved = added.error().message;
    }
    answer.error = std::move(judged.sample.error);
    answer.stored = std::move(judged.sample.judgments);
    answer.judgments = judgments;
    ++done;
    if (progress) progress(done);
  };
  const auto end = [&out](const std::string& why) { out.exhausted = why; };
  Budget budget(limits);
  const auto queue = std::make_shared<AnswerQueue>();
  Judging judging(judge, budget, clock, kMaxAttempts, queue, {take, end, end});
  for (std::size_t i = 0; i < answers.size(); ++i) {
    CheckedSample sample{0, i, {}};
    sample.sample.judgments = KnownJudgments(judge, answers[i], store);
    out.known += sample.sample.judgments.size();
    judging.Add(std::move(sample), *answers[i].test_case, answers[i].questions);
  }
  int stopped = 0;
  while (done < answers.size()) {
    const int level = stop == nullptr ? 0 : stop->load();
    if (level > stopped) {
      stopped = level;
      out.interrupted = true;
      judging.Stop(level > 1 ? Model::CancelScope::kRunning : Model::CancelScope::kWaiting, "stopped");
    }
    judging.SendWhatFits();
    if (done == answers.size()) break;
    for (const JudgeAnswer& answer : queue->Take(kJudgeTick).of_judge) judging.Settle(answer);
  }
  if (judging.all_costs_known()) out.cost_usd = judging.cost_usd();
  return out;
}

}  // namespace upskill
