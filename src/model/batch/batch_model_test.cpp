// SPDX-License-Identifier: Apache-2.0
#include "model/batch/batch_model.h"

#include <gmock/gmock.h>

#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "model/structured_answer.h"
#include "support/skipping_clock.h"
#include "util/files.h"
#include "util/temp_folder.h"

namespace upskill {
namespace {

using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

// A provider whose batches outlive the models that ask it. Thread-safe.
class FakeProvider {
 public:
  std::mutex mutex;
  std::map<std::string, std::vector<std::string>> batches;  // ids of the requests by batch
  std::map<std::string, std::string> tokens;                // of the batches
  int lost_answers = 0;                                     // to submissions that are accepted
  int find_failures = 0;
  std::function<void()> on_submit;
  std::set<std::string> expired;        // requests without an answer
  std::map<std::string, int> answered;  // how often each request was paid
  int submit_failures = 0;
  int polls_until_end = 1;
  std::size_t max_per_batch = 100;
  int polls = 0;
  std::condition_variable polled;
  std::deque<std::string> texts;  // of the next answers; then "answer to ID"
};

class FakeApi : public BatchApi {
 public:
  explicit FakeApi(FakeProvider& provider) : provider_(provider) {}
  std::size_t MaxPerBatch() const override { return provider_.max_per_batch; }
  std::size_t MaxBytes() const override { return 1000; }
  std::size_t BytesOf(const BatchItem& item) const override { return item.request.messages.front().text.size(); }
  Result<std::string> Submit(const std::vector<BatchItem>& items, const std::string& token) override {
    const std::lock_guard lock(provider_.mutex);
    if (provider_.on_submit) provider_.on_submit();
    if (provider_.submit_failures-- > 0) return Error{ErrorKind::kUnavailable, "busy", milliseconds(1)};
    const std::string id = "b" + std::to_string(provider_.batches.size());
    for (const BatchItem& item : items) {
      provider_.batches[id].push_back(item.custom_id);
      ++provider_.answered[item.custom_id];
    }
    provider_.tokens[id] = token;
    if (provider_.lost_answers-- > 0) return Error{ErrorKind::kUnavailable, "the connection broke", milliseconds(1)};
    return id;
  }
  Result<std::optional<std::string>> Find(const BatchIntent& intent) override {
    const std::lock_guard lock(provider_.mutex);
    if (provider_.find_failures-- > 0) return Error{ErrorKind::kUnavailable, "busy"};
    for (const auto& [id, token] : provider_.tokens) {
      if (token == intent.token) return std::optional(id);
    }
    return std::optional<std::string>();
  }
  Result<BatchState> Poll(const std::string& id) override {
    const std::lock_guard lock(provider_.mutex);
    if (!provider_.batches.contains(id)) return Error{ErrorKind::kPermanent, "no such batch"};
    BatchState state;
    state.ended = ++provider_.polls >= provider_.polls_until_end;
    provider_.polled.notify_all();
    return state;
  }
  Status Cancel(const std::string&) override { return {}; }
  Result<Answers> Results(const std::string& id) override {
    const std::lock_guard lock(provider_.mutex);
    Answers answers;
    for (const std::string& request : provider_.batches.at(id)) {
      if (provider_.expired.erase(request) > 0) {
        answers.emplace(request, Error{ErrorKind::kUnavailable, "expired"});
      } else {
        ChatResponse response;
        response.text = "answer to " + request;
        if (!provider_.texts.empty()) {
          response.text = provider_.texts.front();
          provider_.texts.pop_front();
        }
        answers.emplace(request, response);
      }
    }
    return answers;
  }
  void Abort() override {}

 private:
  FakeProvider& provider_;
};

ChatRequest RequestWithId(const std::string& id) {
  ChatRequest request;
  request.id = id;
  request.messages.push_back({Role::kUser, "question"});
  return request;
}

class BatchModels : public testing::Test {
 protected:
  std::unique_ptr<BatchModel> Open(BatchNotes::Use use = BatchNotes::Use::kShared, bool shared = true) {
    ModelInfo info;
    info.name = info.identity = "m";
    return std::make_unique<BatchModel>(std::make_unique<FakeApi>(provider), info, BatchNotes(notes, "m", use, shared),
                                        clock);
  }
  // All requests arrive before the model collects them.
  std::vector<std::future<Result<ChatResponse>>> Ask(BatchModel& model, const std::vector<std::string>& ids) {
    std::vector<std::future<Result<ChatResponse>>> answers;
    clock.Hold();
    for (const std::string& id : ids) {
      const auto promise = std::make_shared<std::promise<Result<ChatResponse>>>();
      answers.push_back(promise->get_future());
      model.Start(RequestWithId(id), [promise](Result<ChatResponse> result) { promise->set_value(std::move(result)); });
    }
    clock.LetGo();
    return answers;
  }

  TempFolder folder;
  std::filesystem::path notes = folder.path() / "runs/batches.jsonl";
  FakeProvider provider;
  SkippingClock clock;
};

TEST_F(BatchModels, CollectsRecordsAndAnswers) {
  provider.polls_until_end = 3;
  const auto model = Open();
  auto answers = Ask(*model, {"r1", "r2", "r3"});
  EXPECT_EQ(answers[1].get()->text, "answer to r2");
  EXPECT_EQ(answers[2].get()->text, "answer to r3");
  ASSERT_THAT(provider.batches, SizeIs(1));
  EXPECT_THAT(provider.batches["b0"], ElementsAre("r1", "r2", "r3"));
  EXPECT_THAT(*ReadFile(notes), HasSubstr(R"("batch":"b0","model":"m","shared":true,"requests":["r1","r2","r3"])"));
}

TEST_F(BatchModels, SplitsWhatIsTooLarge) {
  provider.max_per_batch = 2;
  const auto model = Open();
  for (auto& answer : Ask(*model, {"r1", "r2", "r3"})) EXPECT_TRUE(answer.get().ok());
  EXPECT_THAT(provider.batches, SizeIs(2));
}

TEST_F(BatchModels, ABusyProviderIsRetried) {
  provider.submit_failures = 3;
  const auto model = Open();
  EXPECT_TRUE(Ask(*model, {"r1"})[0].get().ok());
  EXPECT_THAT(provider.batches, SizeIs(1));
}

TEST_F(BatchModels, ExpiredRequestsAreRetriableErrors) {
  provider.expired = {"r2"};
  const auto model = Open();
  auto answers = Ask(*model, {"r1", "r2"});
  EXPECT_TRUE(answers[0].get().ok());
  EXPECT_EQ(answers[1].get().error().kind, ErrorKind::kUnavailable);
  EXPECT_TRUE(Ask(*model, {"r2-again"})[0].get().ok());
}

TEST_F(BatchModels, ALaterProcessContinuesTheBatch) {
  provider.polls_until_end = std::numeric_limits<int>::max();
  {
    const auto model = Open();
    auto answers = Ask(*model, {"r1", "r2"});
    {
      std::unique_lock lock(provider.mutex);
      provider.polled.wait(lock, [this] { return provider.polls > 0; });  // a batch is recorded before
    }
    model->Cancel(Model::CancelScope::kWaiting);
    EXPECT_EQ(answers[0].get().error().kind, ErrorKind::kCancelled);
  }
  provider.polls_until_end = 0;
  const auto model = Open();
  auto answers = Ask(*model, {"r1", "r3"});
  EXPECT_EQ(answers[0].get()->text, "answer to r1");
  EXPECT_TRUE(answers[1].get().ok());
  EXPECT_EQ(provider.answered["r1"], 1);
  EXPECT_THAT(provider.batches, SizeIs(2));
}

TEST_F(BatchModels, NewAnswersOnRequest) {
  ASSERT_TRUE(Ask(*Open(), {"r1"})[0].get().ok());
  ASSERT_TRUE(Ask(*Open(BatchNotes::Use::kIgnored, false), {"r1"})[0].get().ok());
  EXPECT_EQ(provider.answered["r1"], 2);
  ASSERT_TRUE(Ask(*Open(BatchNotes::Use::kShared), {"r1"})[0].get().ok());  // from the first
  EXPECT_EQ(provider.answered["r1"], 2);
}

TEST_F(BatchModels, AMissingBatchIsResubmitted) {
  ASSERT_TRUE(Ask(*Open(), {"r1"})[0].get().ok());
  provider.batches.clear();
  EXPECT_TRUE(Ask(*Open(), {"r1"})[0].get().ok());
  EXPECT_EQ(provider.answered["r1"], 2);
}

TEST_F(BatchModels, AnswersMatchTheirSchema) {
  provider.texts = {"four", R"({"n":4})"};
  ChatRequest request = RequestWithId("r1");
  request.answer_schema = Json::parse(R"({"type":"object","required":["n"],"properties":{"n":{"type":"integer"}}})");
  const Result<ChatResponse> answer = GenerateStructured(*Open(), request);
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_EQ(answer->parsed["n"], 4);
  EXPECT_THAT(provider.batches, SizeIs(2));
  // Requested again, perhaps by another process, both answers are available.
  provider.texts = {"four", R"({"n":4})"};
  EXPECT_TRUE(GenerateStructured(*Open(), request).ok());
  EXPECT_THAT(provider.batches, SizeIs(2));
}

TEST_F(BatchModels, NotesThatCannotBeWrittenEndTheRequests) {
  folder.Write("runs", "a file where the folder should be");
  const auto model = Open();
  const Result<ChatResponse> answer = Ask(*model, {"r1"})[0].get();
  ASSERT_FALSE(answer.ok());
  EXPECT_THAT(answer.error().message, HasSubstr("recording a batch"));
}

// The program may be killed at any moment: while a batch is submitted, its intent is on the disk.
TEST_F(BatchModels, TheIntentIsRecordedBeforeABatchIsSubmitted) {
  std::string noted;
  provider.on_submit = [&] { noted = ReadFile(notes).value(); };
  const auto model = Open();
  ASSERT_TRUE(Ask(*model, {"r1", "r2"})[0].get().ok());
  EXPECT_THAT(noted, AllOf(HasSubstr(R"("intent":")" + provider.tokens["b0"] + "\""),
                           HasSubstr(R"("requests":["r1","r2"])"), Not(HasSubstr("\"batch\""))));
}

TEST_F(BatchModels, ABatchWhoseIdWasLostIsFoundAgain) {
  ASSERT_TRUE(Ask(*Open(), {"r1", "r2"})[0].get().ok());
  // As after a kill between the provider's acceptance and the answer to it.
  const std::string lines = *ReadFile(notes);
  ASSERT_TRUE(WriteFileAtomically(notes, lines.substr(0, lines.find('\n') + 1)));
  provider.find_failures = 3;
  {
    const auto model = Open();
    auto answers = Ask(*model, {"r1", "r3"});
    EXPECT_EQ(answers[0].get()->text, "answer to r1");
    EXPECT_TRUE(answers[1].get().ok());
  }
  EXPECT_EQ(provider.answered["r1"], 1);
  EXPECT_EQ(provider.answered["r3"], 1);
  ASSERT_TRUE(Ask(*Open(), {"r2"})[0].get().ok());
  EXPECT_EQ(provider.answered["r2"], 1) << "recorded for all requests of the batch";
}

TEST_F(BatchModels, AnIntentWithoutABatchIsSubmitted) {
  ASSERT_TRUE(Ask(*Open(), {"r1"})[0].get().ok());
  const std::string lines = *ReadFile(notes);
  ASSERT_TRUE(WriteFileAtomically(notes, lines.substr(0, lines.find('\n') + 1)));
  provider.tokens.clear();
  EXPECT_TRUE(Ask(*Open(), {"r1"})[0].get().ok());
  EXPECT_EQ(provider.answered["r1"], 2);
}

TEST_F(BatchModels, NothingIsSubmittedAgainWhileItIsUnknownWhetherItWas) {
  ASSERT_TRUE(Ask(*Open(), {"r1"})[0].get().ok());
  const std::string lines = *ReadFile(notes);
  ASSERT_TRUE(WriteFileAtomically(notes, lines.substr(0, lines.find('\n') + 1)));
  provider.find_failures = std::numeric_limits<int>::max();
  const auto model = Open();
  const Result<ChatResponse> answer = Ask(*model, {"r1"})[0].get();
  ASSERT_FALSE(answer.ok());
  EXPECT_THAT(answer.error().message, HasSubstr("looking for a batch that was submitted earlier: busy"));
  EXPECT_EQ(provider.answered["r1"], 1);
}

TEST_F(BatchModels, AnAcceptedBatchIsNotSubmittedAgainWhenTheAnswerIsLost) {
  provider.lost_answers = 1;
  EXPECT_EQ(Ask(*Open(), {"r1"})[0].get()->text, "answer to r1");
  EXPECT_EQ(provider.answered["r1"], 1);
}

TEST_F(BatchModels, EqualRequestsAreSubmittedOnceAndAllAnswered) {
  const auto model = Open();
  auto answers = Ask(*model, {"r1", "r1", "r2"});
  for (auto& answer : answers) {
    ASSERT_EQ(answer.wait_for(std::chrono::seconds(20)), std::future_status::ready);
    EXPECT_TRUE(answer.get().ok());
  }
  EXPECT_EQ(provider.answered["r1"], 1);
  EXPECT_EQ(Ask(*model, {"r1"})[0].get()->text, "answer to r1") << "also after the batch has ended";
  EXPECT_EQ(provider.answered["r1"], 1);
}

TEST_F(BatchModels, ATakerThatThrowsHarmsNobodyElse) {
  const auto model = Open();
  clock.Hold();
  model->Start(RequestWithId("r0"), [](const Result<ChatResponse>&) { throw std::runtime_error("no room"); });
  auto answers = Ask(*model, {"r1"});
  EXPECT_TRUE(answers[0].get().ok());
}

}  // namespace
}  // namespace upskill
