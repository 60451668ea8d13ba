// SPDX-License-Identifier: Apache-2.0
#include "model/batch/batch.h"

#include <gmock/gmock.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "support/fake_network.h"

namespace upskill {
namespace {

using loopback::Answer;
using loopback::Request;
using loopback::Script;
using loopback::Server;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

struct Rig {
  Rig(Server::Handler handler, const std::string& model) : server(std::move(handler)), network(server) {
    Result<std::unique_ptr<BatchApi>> opened = OpenBatchApi(network.Spec(model), network.options);
    EXPECT_TRUE(opened.ok()) << (opened ? "" : opened.error().message);
    if (opened) api = *std::move(opened);
  }
  Server server;
  TestNetwork network;
  std::unique_ptr<BatchApi> api;
};

constexpr const char* kToken = "t0";

BatchItem Item(const std::string& id) {
  BatchItem item{id, {}};
  item.request.messages.push_back({Role::kUser, "question " + id});
  item.request.sampling.max_tokens = 100;
  return item;
}

TEST(AnthropicBatches, SubmitPollResults) {
  int polls = 0;  // on the server's thread only
  Rig rig(
      [&polls](const Request& request) -> Script {
        if (request.path == "/v1/messages/batches")
          return Answer(200, R"({"id":"msgbatch_1","processing_status":"in_progress"})");
        if (request.path == "/v1/messages/batches/msgbatch_1") {
          return Answer(
              200,
              ++polls < 2
                  ? R"({"processing_status":"in_progress","request_counts":{"processing":4}})"
                  : R"({"processing_status":"ended","request_counts":{"processing":0,"succeeded":1,"errored":1,"expired":1,"canceled":1},
                                           "results_url":"https://evil.example/results"})");
        }
        if (request.path == "/v1/messages/batches/msgbatch_1/results") {
          return loopback::Chunked(200, {R"({"custom_id":"d","result":{"type":"expired"}}
{"custom_id":"b","result":{"type":"errored","error":{"type":"error","error":{"type":"invalid_request_error","mes)",
                                         R"(sage":"too long"}}}}

{"custom_id":"a","result":{"type":"succeeded","message":{"content":[{"type":"text","text":"A"}],"stop_reason":"end_turn","usage":{"input_tokens":1000000,"output_tokens":0}}}}
{"custom_id":"c","result":{"type":"canceled"}})"});
        }
        return Answer(404, "{}");
      },
      "haiku");
  const Result<std::string> id = rig.api->Submit({Item("a"), Item("b"), Item("c"), Item("d")}, kToken);
  ASSERT_TRUE(id.ok()) << id.error().message;
  EXPECT_EQ(*id, "msgbatch_1");
  const Json submitted = Json::parse(rig.server.requests().at(0).body);
  ASSERT_EQ(submitted["requests"].size(), 4U);
  EXPECT_EQ(submitted["requests"][0]["custom_id"], "a");
  EXPECT_EQ(submitted["requests"][0]["params"]["model"], "claude-haiku-4-5");

  const Result<BatchState> running = rig.api->Poll(*id);
  ASSERT_TRUE(running.ok());
  EXPECT_FALSE(running->ended);
  EXPECT_EQ(running->waiting, 4);
  const Result<BatchState> over = rig.api->Poll(*id);
  EXPECT_TRUE(over->ended);
  EXPECT_EQ(over->failed, 3);

  const Result<BatchApi::Answers> answers = rig.api->Results(*id);
  ASSERT_TRUE(answers.ok()) << answers.error().message;
  ASSERT_EQ(answers->size(), 4U);
  ASSERT_TRUE(answers->at("a").ok());
  EXPECT_EQ(answers->at("a")->text, "A");
  EXPECT_EQ(answers->at("a")->cost_usd, 0.5);  // a million tokens at half of a dollar
  EXPECT_EQ(answers->at("b").error().kind, ErrorKind::kInput);
  EXPECT_THAT(answers->at("b").error().message, HasSubstr("too long"));
  EXPECT_EQ(answers->at("c").error().kind, ErrorKind::kUnavailable);
  EXPECT_EQ(answers->at("d").error().kind, ErrorKind::kUnavailable);
  EXPECT_THAT(answers->at("d").error().message, HasSubstr("expired"));
  for (const Request& request : rig.server.requests()) EXPECT_EQ(request.headers.at("x-api-key"), "sk-test-key-1");
}

TEST(AnthropicBatches, ExpiredRequestsCanBeResubmitted) {
  int batches = 0;
  Rig rig(
      [&batches](const Request& request) -> Script {
        if (request.method == "POST") return Answer(200, R"({"id":"batch_)" + std::to_string(++batches) + "\"}");
        if (request.path.find("batch_1/results") != std::string::npos)
          return Answer(200, R"({"custom_id":"a","result":{"type":"expired"}})");
        return Answer(
            200,
            R"({"custom_id":"a","result":{"type":"succeeded","message":{"content":[{"type":"text","text":"A"}]}}})");
      },
      "haiku");
  const std::vector<BatchItem> items = {Item("a")};
  const Result<BatchApi::Answers> first = rig.api->Results(*rig.api->Submit(items, kToken));
  ASSERT_TRUE(first.ok());
  ASSERT_EQ(first->at("a").error().kind, ErrorKind::kUnavailable);
  const Result<BatchApi::Answers> second = rig.api->Results(*rig.api->Submit(items, kToken));
  ASSERT_TRUE(second.ok());
  EXPECT_EQ(second->at("a")->text, "A");
}

TEST(OpenAiBatches, SubmitPollResults) {
  Rig rig(
      [](const Request& request) -> Script {
        if (request.path == "/v1/files") return Answer(200, R"({"id":"file-1"})");
        if (request.path == "/v1/batches") return Answer(200, R"({"id":"batch_1"})");
        if (request.path == "/v1/batches/batch_1") {
          return Answer(
              200,
              R"({"id":"batch_1","status":"expired","output_file_id":"file-2","error_file_id":"file-3","request_counts":{"total":5,"completed":1,"failed":3}})");
        }
        return Answer(404, "{}");
      },
      "gpt-4o");
  const Result<std::string> id = rig.api->Submit({Item("a"), Item("b")}, kToken);
  ASSERT_TRUE(id.ok()) << id.error().message;
  const std::vector<Request> requests = rig.server.requests();
  EXPECT_THAT(requests.at(0).headers.at("content-type"), HasSubstr("multipart/form-data"));
  EXPECT_THAT(requests.at(0).body,
              AllOf(HasSubstr("name=\"purpose\""), HasSubstr("filename=\"batch.jsonl\""),
                    HasSubstr(R"({"custom_id":"a","method":"POST","url":"/v1/chat/completions","body":{)")));
  EXPECT_EQ(
      requests.at(1).body,
      R"({"input_file_id":"file-1","endpoint":"/v1/chat/completions","completion_window":"24h","metadata":{"upskill":"t0"}})");
  const Result<BatchState> state = rig.api->Poll(*id);
  ASSERT_TRUE(state.ok());
  EXPECT_TRUE(state->ended);
  EXPECT_EQ(state->waiting, 1);
  EXPECT_EQ(state->status, "expired");
}

TEST(OpenAiBatches, ResultsOfBothFiles) {
  Rig rig(
      [](const Request& request) -> Script {
        if (request.path == "/v1/batches/batch_1")
          return Answer(200, R"({"status":"completed","output_file_id":"file-2","error_file_id":"file-3"})");
        if (request.path == "/v1/files/file-2/content") {
          return Answer(
              200,
              R"({"custom_id":"a","response":{"status_code":200,"body":{"choices":[{"message":{"content":"A"}}],"usage":{"prompt_tokens":1000000}}},"error":null})");
        }
        return Answer(200,
                      "{\"custom_id\":\"d\",\"response\":null,\"error\":{\"code\":\"batch_expired\"}}\n"
                      "{\"custom_id\":\"b\",\"response\":{\"status_code\":400,\"body\":{\"error\":{\"message\":\"bad "
                      "schema\"}}}}\n"
                      "{\"custom_id\":\"../c\",\"response\":{\"status_code\":500}}\n");
      },
      "gpt-4o");
  const Result<BatchApi::Answers> answers = rig.api->Results("batch_1");
  ASSERT_TRUE(answers.ok()) << answers.error().message;
  ASSERT_EQ(answers->size(), 3U);
  EXPECT_EQ(answers->at("a")->text, "A");
  EXPECT_EQ(answers->at("a")->cost_usd, 1.25);
  EXPECT_EQ(answers->at("b").error().kind, ErrorKind::kInput);
  EXPECT_THAT(answers->at("b").error().message, HasSubstr("bad schema"));
  EXPECT_EQ(answers->at("d").error().kind, ErrorKind::kUnavailable);
}

TEST(OpenAiBatches, ABatchRejectedAsAWhole) {
  Rig rig(
      [](const Request&) {
        return Answer(200, R"({"status":"failed","errors":{"data":[{"message":"duplicate id","line":3}]}})");
      },
      "gpt-4o");
  EXPECT_TRUE(rig.api->Poll("batch_1")->ended);
  const Result<BatchApi::Answers> answers = rig.api->Results("batch_1");
  ASSERT_FALSE(answers.ok());
  EXPECT_EQ(answers.error().kind, ErrorKind::kInput);
  EXPECT_THAT(answers.error().message, HasSubstr("duplicate id (line 3)"));
}

TEST(Batches, RejectsInvalidBatchesBeforeSending) {
  Rig rig([](const Request&) { return Answer(200, "{}"); }, "haiku");
  EXPECT_EQ(rig.api->Submit({}, kToken).error().kind, ErrorKind::kInput);
  EXPECT_THAT(rig.api->Submit({Item("a"), Item("a")}, kToken).error().message, HasSubstr("duplicate request ID 'a'"));
  EXPECT_EQ(rig.api->Submit({Item("a b")}, kToken).error().kind, ErrorKind::kInput);
  EXPECT_EQ(rig.api->Submit({Item(std::string(65, 'a'))}, kToken).error().kind, ErrorKind::kInput);
  EXPECT_EQ(rig.api->Poll("../models").error().kind, ErrorKind::kInput);
  EXPECT_EQ(rig.api->Results("a/b").error().kind, ErrorKind::kInput);
  EXPECT_EQ(rig.server.request_count(), 0U);
  EXPECT_GT(rig.api->BytesOf(Item("a")), 80U);
  EXPECT_EQ(rig.api->MaxPerBatch(), 100'000U);
}

TEST(Batches, BrokenAnswers) {
  Rig rig(
      [](const Request& request) -> Script {
        if (request.path.ends_with("/results")) return Answer(200, "{\"custom_id\":\"a\"}\nnot json\n");
        return Answer(200, R"({"id":"../x"})");
      },
      "haiku");
  EXPECT_EQ(rig.api->Submit({Item("a")}, kToken).error().kind, ErrorKind::kUnavailable);
  EXPECT_EQ(rig.api->Poll("b").error().kind, ErrorKind::kUnavailable);
  const Result<BatchApi::Answers> answers = rig.api->Results("b");
  ASSERT_FALSE(answers.ok());
  EXPECT_THAT(answers.error().message, HasSubstr("not json"));
}

TEST(Batches, NothingRepeatsTheKey) {
  Rig rig(
      [](const Request& request) -> Script {
        const std::string key = request.headers.at("x-api-key");
        if (request.path.ends_with("/results")) {
          const std::string error = R"({"custom_id":"a","result":{"type":"errored","error":{"error":{"message":")";
          const std::string text =
              R"({"custom_id":"b","result":{"type":"succeeded","message":{"content":[{"type":"text",)";
          return loopback::Chunked(200, {error + key.substr(0, 5), key.substr(5) + "\"}}}}\n" + text,
                                         R"("text":"\u0073)" + key.substr(1) + R"("}],"stop_reason":"end_turn"}}})"});
        }
        return Answer(401, R"({"error":{"message":"invalid x-api-key )" + key + "\"}}");
      },
      "haiku");
  EXPECT_THAT(rig.api->Submit({Item("a")}).error().message, AllOf(HasSubstr("***"), Not(HasSubstr("sk-test"))));
  EXPECT_THAT(rig.api->Poll("b").error().message, AllOf(HasSubstr("***"), Not(HasSubstr("sk-test"))));
  const Result<BatchApi::Answers> answers = rig.api->Results("b");
  ASSERT_TRUE(answers.ok()) << answers.error().message;
  EXPECT_THAT(answers->at("a").error().message, AllOf(HasSubstr("***"), Not(HasSubstr("sk-test"))));
  EXPECT_EQ(answers->at("b")->text, "***");
}

TEST(Batches, ProvidersWithoutThem) {
  const Server server([](const Request&) { return Script{}; });
  const TestNetwork network(server);
  const auto api = OpenBatchApi(network.Spec("generic.m"), network.options);
  ASSERT_FALSE(api.ok());
  EXPECT_THAT(api.error().message, AllOf(HasSubstr("no Batch API is supported for provider 'generic'"),
                                         HasSubstr("anthropic, openai, responses")));
}

// 2026-11-21T10:12:33Z
const BatchIntent kIntent{kToken, Clock::Wall(std::chrono::seconds(1795255953)), 3};

TEST(OpenAiBatches, FindsABatchByItsToken) {
  Rig rig(
      [](const Request& request) {
        if (request.path.find("after=") == std::string::npos) {
          return Answer(200, R"({"data":[{"id":"b9","created_at":1795256000,"metadata":{"upskill":"t1"}},
                                         {"id":"b8","created_at":1795255990,"metadata":null}],"has_more":true})");
        }
        return Answer(200,
                      R"({"data":[{"id":"b7","created_at":1795255960,"metadata":{"upskill":"t0"}}],"has_more":true})");
      },
      "gpt-4o");
  const Result<std::optional<std::string>> found = rig.api->Find(kIntent);
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_EQ(*found, "b7");
  ASSERT_EQ(rig.server.request_count(), 2U);
  EXPECT_EQ(rig.server.requests().at(0).path, "/v1/batches?limit=100");
  EXPECT_EQ(rig.server.requests().at(1).path, "/v1/batches?limit=100&after=b8");
}

TEST(OpenAiBatches, ListsNothingOlderThanTheIntent) {
  Rig rig(
      [](const Request&) {
        return Answer(200,
                      R"({"data":[{"id":"b1","created_at":1795250000,"metadata":{"upskill":"t0"}}],"has_more":true})");
      },
      "gpt-4o");
  EXPECT_EQ(*rig.api->Find(kIntent), std::nullopt);
  EXPECT_EQ(rig.server.request_count(), 1U);
}

TEST(AnthropicBatches, FindsTheOldestBatchOfThatTimeAndSize) {
  Rig rig(
      [](const Request& request) {
        if (request.path.find("after_id=") == std::string::npos) {
          return Answer(200, R"({"data":[
            {"id":"late","created_at":"2026-11-21T12:00:00.5Z","request_counts":{"processing":3}},
            {"id":"next","created_at":"2026-11-21T10:20:00Z","request_counts":{"processing":3}},
            {"id":"other","created_at":"2026-11-21T10:13:00Z","request_counts":{"processing":4}}],"has_more":true})");
        }
        return Answer(200, R"({"data":[
            {"id":"ours","created_at":"2026-11-21T10:12:40.123Z","request_counts":{"processing":1,"succeeded":1,"errored":1}},
            {"id":"before","created_at":"2026-11-21T09:00:00Z","request_counts":{"processing":3}}],"has_more":true})");
      },
      "haiku");
  const Result<std::optional<std::string>> found = rig.api->Find(kIntent);
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_EQ(*found, "ours");
  EXPECT_EQ(rig.server.requests().at(1).path, "/v1/messages/batches?limit=100&after_id=other");
  EXPECT_EQ(rig.server.request_count(), 2U);
}

}  // namespace
}  // namespace upskill
