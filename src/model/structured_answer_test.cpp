// SPDX-License-Identifier: Apache-2.0
#include "model/structured_answer.h"

#include <gmock/gmock.h>

#include <set>
#include <string>
#include <vector>

namespace upskill {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

// Gives its answers one after the other.
class ScriptedModel : public Model {
 public:
  explicit ScriptedModel(std::vector<ChatResponse> answers) : answers_(std::move(answers)) {}

  const ModelInfo& info() const override { return info_; }
  int Window() const override { return 1; }
  void Cancel(CancelScope /*scope*/) override {}
  void Start(ChatRequest request, Done done) override {
    requests.push_back(std::move(request));
    done(answers_.at(requests.size() - 1));
  }

  std::vector<ChatRequest> requests;

 private:
  ModelInfo info_;
  std::vector<ChatResponse> answers_;
};

ChatResponse AnswerOf(const std::string& text, StopReason stop = StopReason::kEnd) {
  ChatResponse response;
  response.text = text;
  response.stop = stop;
  response.usage.input = 10;
  response.usage.output = 5;
  response.cost_usd = 0.25;
  response.seconds = 2.0;
  return response;
}

ChatRequest NumberQuestion() {
  ChatRequest request;
  request.id = "question";
  request.messages.push_back({Role::kUser, "how many?"});
  request.answer_schema = Json::parse(R"({"type":"object","required":["n"],"properties":{"n":{"type":"integer"}}})");
  return request;
}

TEST(GenerateStructured, AMatchingAnswer) {
  ScriptedModel model({AnswerOf("```json\n{\"n\":4}\n```")});
  const Result<ChatResponse> response = GenerateStructured(model, NumberQuestion());
  ASSERT_TRUE(response.ok());
  EXPECT_EQ(response->parsed["n"], 4);
  EXPECT_THAT(model.requests, SizeIs(1));
}

TEST(GenerateStructured, RequestsAgainWithTheProblem) {
  ScriptedModel model({AnswerOf("four"), AnswerOf(R"({"n":"four"})"), AnswerOf(R"({"n":4})")});
  const Result<ChatResponse> response = GenerateStructured(model, NumberQuestion());
  ASSERT_TRUE(response.ok());
  EXPECT_EQ(response->parsed["n"], 4);
  EXPECT_EQ(response->usage.prompt(), 30);
  EXPECT_EQ(response->usage.output, 15);
  EXPECT_EQ(response->cost_usd, 0.75);
  EXPECT_EQ(response->seconds, 6.0);
  ASSERT_THAT(model.requests, SizeIs(3));
  ASSERT_THAT(model.requests[2].messages, SizeIs(5));
  EXPECT_EQ(model.requests[2].messages[3].text, R"({"n":"four"})");
  EXPECT_THAT(model.requests[2].messages[4].text, HasSubstr("/n: must be of type \"integer\""));
  // A batch finds a question again by its ID.
  std::set<std::string> ids;
  for (const ChatRequest& request : model.requests) ids.insert(request.id);
  EXPECT_THAT(ids, SizeIs(3));
}

TEST(GenerateStructured, AfterTwoRepairsTheAnswerIsReturnedAsIs) {
  ScriptedModel model({AnswerOf("no"), AnswerOf("no"), AnswerOf("no")});
  const Result<ChatResponse> response = GenerateStructured(model, NumberQuestion());
  ASSERT_TRUE(response.ok());
  EXPECT_TRUE(response->parsed.is_null());
  EXPECT_THAT(response->schema_problem, HasSubstr("it isn't valid JSON (line 1, column 1): "));
  EXPECT_EQ(response->usage.prompt(), 30) << "of all three";
}

TEST(GenerateStructured, AnUnknownCostStaysUnknown) {
  ChatResponse free_text = AnswerOf("four");
  free_text.cost_usd.reset();
  ScriptedModel model({free_text, AnswerOf(R"({"n":4})")});
  EXPECT_FALSE(GenerateStructured(model, NumberQuestion())->cost_usd.has_value());
}

TEST(GenerateStructured, TruncatedAnswersAndRefusalsAreReturnedAsIs) {
  for (const StopReason stop : {StopReason::kLength, StopReason::kRefusal, StopReason::kContext}) {
    ScriptedModel model({AnswerOf(R"({"n":)", stop)});
    const Result<ChatResponse> response = GenerateStructured(model, NumberQuestion());
    ASSERT_TRUE(response.ok());
    EXPECT_EQ(response->stop, stop);
    EXPECT_TRUE(response->parsed.is_null());
    EXPECT_THAT(model.requests, SizeIs(1));
  }
}

}  // namespace
}  // namespace upskill
