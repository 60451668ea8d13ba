// SPDX-License-Identifier: Apache-2.0
#include "agent/loop_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "agent/turn_journal.h"
#include "support/fake_model.h"
#include "util/files.h"
#include "util/temp_folder.h"
#include "util/text.h"

namespace upskill {
namespace {

using ::testing::HasSubstr;

ChatResponse Says(const std::string& text) {
  ChatResponse response;
  response.text = text;
  response.usage.input = 10;
  response.usage.output = 2;
  response.cost_usd = 0.01;
  response.seconds = 1.0;
  return response;
}

ChatResponse Calls(const std::vector<std::pair<std::string, Json>>& calls) {
  ChatResponse response = Says("");
  response.stop = StopReason::kToolUse;
  for (const auto& [name, arguments] : calls)
    response.tool_calls.push_back({"id-" + name, name, arguments, DumpJson(arguments)});
  return response;
}

ChatRequest Work(WorkspaceTask task = {}) {
  ChatRequest request;
  request.system = "work";
  request.messages.push_back({Role::kUser, "do it"});
  request.task = std::make_shared<WorkspaceTask>(std::move(task));
  return request;
}

// A model whose answers are scripted by the number of earlier answers in the request.
struct LoopRig {
  using Script = std::function<Result<ChatResponse>(const ChatRequest& request, std::size_t turn)>;

  explicit LoopRig(Script script, std::shared_ptr<TurnJournal> journal = nullptr) {
    auto inner = std::make_unique<FakeModel>(
        "m", 4, [this, script = std::move(script)](const ChatRequest& request, std::size_t) {
          ++asked;
          last = request;
          return std::optional(script(request, request.messages.size() / 2));
        });
    inner->set_takes_tools();
    model = MakeLoopModel(std::move(inner), {&sandbox, std::move(journal), 2}).value();
  }

  const Sandbox sandbox{SandboxOptions{}};
  std::size_t asked = 0;
  ChatRequest last;
  std::unique_ptr<Model> model;
};

TEST(LoopModel, RunsToolsUntilTheModelCallsNone) {
  LoopRig rig([](const ChatRequest& request, std::size_t turn) -> Result<ChatResponse> {
    if (turn == 0) return Calls({{"write_file", {{"path", "a"}, {"content", "1"}}}, {"read_file", {{"path", "b"}}}});
    if (turn == 1) {
      EXPECT_EQ(request.messages[1].tool_calls.size(), 2U);
      EXPECT_EQ(request.messages[2].tool_results[0].call_id, "id-write_file");
      EXPECT_TRUE(request.messages[2].tool_results[1].is_error);
      return Calls({{"edit_file", {{"path", "old"}, {"old_text", "x"}, {"new_text", "y"}}}});
    }
    return Says("finished");
  });
  WorkspaceTask task;
  task.files = {{"old", "x"}, {"same", "s"}};
  const Result<ChatResponse> answer = Generate(*rig.model, Work(task));
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_EQ(answer->text, "finished");
  EXPECT_EQ(answer->usage.input, 30);
  EXPECT_DOUBLE_EQ(*answer->cost_usd, 0.03);
  ASSERT_TRUE(answer->work.has_value());
  EXPECT_EQ(answer->work->turns, 3);
  EXPECT_EQ(answer->work->tool_calls, 3);
  EXPECT_EQ(answer->work->tool_errors, 1);
  EXPECT_EQ(answer->work->changes.written, (WorkspaceFiles{{"a", "1"}, {"old", "y"}}));
  EXPECT_TRUE(answer->work->limit.empty());
  EXPECT_EQ(answer->work->transcript.size(), 3U);
  EXPECT_EQ(answer->work->transcript[0].at("calls")[0].at("changed"), Json::array({"a"}));
  EXPECT_TRUE(answer->work->transcript[0].at("calls")[1].at("error").get<bool>());
}

TEST(LoopModel, TellsWhichToolsThereAre) {
  LoopRig rig([](const ChatRequest& request, std::size_t turn) -> Result<ChatResponse> {
    if (turn == 0) return Says(R"({"name": "make_file", "arguments": {"path": "a"}})");
    EXPECT_THAT(request.messages[2].tool_results[0].text, HasSubstr("the tools are write_file, activate_skill"));
    return Says("finished");
  });
  ChatRequest work = Work();
  for (const char* name : {"write_file", "activate_skill"}) work.tools.emplace_back().name = name;
  const Result<ChatResponse> answer = Generate(*rig.model, work);
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_EQ(answer->work->tool_errors, 1);
  EXPECT_TRUE(answer->work->limit.empty());
}

// Only where no call was understood: a student that knows how to call may show how it is done.
TEST(LoopModel, NotesAnAnswerThatSeemsToBeACall) {
  for (const bool has_called : {false, true}) {
    LoopRig rig([&](const ChatRequest&, std::size_t turn) -> Result<ChatResponse> {
      if (has_called && turn == 0) return Calls({{"write_file", {{"path", "a"}, {"content", "1"}}}});
      return Says("write_file(path=\"a\")");
    });
    ChatRequest work = Work();
    work.tools.emplace_back().name = "write_file";
    const Result<ChatResponse> answer = Generate(*rig.model, work);
    ASSERT_TRUE(answer.ok()) << answer.error().message;
    EXPECT_EQ(answer->work->limit, has_called ? "" : "call");
  }
}

TEST(LoopModel, CarriesOutCallsThatAreWrittenAsText) {
  LoopRig rig([](const ChatRequest& request, std::size_t turn) -> Result<ChatResponse> {
    if (turn == 0)
      return Says("First a file.\n```json\n" +
                  DumpJson({{"name", "write_file"}, {"arguments", {{"path", "a"}, {"content", "1"}}}}) + "\n```");
    if (turn == 1) {
      EXPECT_EQ(request.messages[1].text, "First a file.");
      EXPECT_EQ(request.messages[1].tool_calls.size(), 1U);
      return Says(R"({"name": "write_file", "arguments": {"path": "b)");
    }
    EXPECT_TRUE(request.messages[4].tool_results[0].is_error);
    return Says("finished");
  });
  ChatRequest work = Work();
  work.tools.emplace_back().name = "write_file";
  const Result<ChatResponse> answer = Generate(*rig.model, work);
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_EQ(answer->work->changes.written, (WorkspaceFiles{{"a", "1"}}));
  EXPECT_EQ(answer->work->tool_calls, 2);
  EXPECT_EQ(answer->work->tool_errors, 1);
}

TEST(LoopModel, EndsAtItsLimits) {
  const auto forever = [](const ChatRequest&, std::size_t turn) -> Result<ChatResponse> {
    return Calls({{"write_file", {{"path", "n"}, {"content", std::to_string(turn)}}}});
  };
  const auto limit_of = [&](const WorkspaceTask& task) {
    LoopRig rig(forever);
    const Result<ChatResponse> answer = Generate(*rig.model, Work(task));
    EXPECT_TRUE(answer.ok());
    return answer.ok() ? std::pair(answer->work->limit, answer->work->turns) : std::pair(std::string(), 0);
  };
  WorkspaceTask turns;
  turns.max_turns = 3;
  EXPECT_EQ(limit_of(turns), std::pair(std::string("turns"), 3));
  WorkspaceTask time;
  time.time_limit = std::chrono::seconds(5);  // each turn says that it took one
  EXPECT_EQ(limit_of(time), std::pair(std::string("time"), 5));
  WorkspaceTask tokens;
  tokens.max_tokens = 20;
  EXPECT_EQ(limit_of(tokens), std::pair(std::string("tokens"), 2));
}

TEST(LoopModel, AnErrorOfTheModelIsOneOfTheRequest) {
  LoopRig rig([](const ChatRequest&, std::size_t turn) -> Result<ChatResponse> {
    if (turn == 0) return Calls({{"list_files", Json::object()}});
    return Error{ErrorKind::kUnavailable, "overloaded"};
  });
  const Result<ChatResponse> answer = Generate(*rig.model, Work());
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().kind, ErrorKind::kUnavailable);
}

TEST(LoopModel, NoTurnIsPaidTwice) {
  const TempFolder folder;
  const std::filesystem::path file = folder.path() / "turns.jsonl";
  std::size_t commands = 0;
  const auto script = [&](bool fails) {
    return [&commands, fails](const ChatRequest&, std::size_t turn) -> Result<ChatResponse> {
      if (turn < 3) return Calls({{"write_file", {{"path", "n"}, {"content", std::to_string(++commands)}}}});
      if (fails) return Error{ErrorKind::kUnavailable, "broken"};
      return Says("done");
    };
  };
  {
    LoopRig rig(script(true), TurnJournal::Open(file).value());
    EXPECT_FALSE(Generate(*rig.model, Work()).ok());
    EXPECT_EQ(rig.asked, 4U);
  }
  LoopRig rig(script(false), TurnJournal::Open(file).value());
  const Result<ChatResponse> answer = Generate(*rig.model, Work());
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_EQ(rig.asked, 1U);
  EXPECT_EQ(answer->work->turns, 4);
  EXPECT_EQ(answer->work->changes.written.at("n"), "3");
  EXPECT_DOUBLE_EQ(*answer->cost_usd, 0.04);
  // Another seed is another question.
  ChatRequest other = Work();
  other.sampling.seed = 7;
  EXPECT_TRUE(Generate(*rig.model, std::move(other)).ok());
  EXPECT_EQ(rig.asked, 5U);
}

TEST(LoopModel, SaysWhatWasReadOfASkill) {
  LoopRig rig([](const ChatRequest&, std::size_t turn) -> Result<ChatResponse> {
    if (turn == 0) return Calls({{"read_file", {{"path", ".agents/skills/s/SKILL.md"}}}});
    return Says("done");
  });
  WorkspaceTask task;
  task.load = SkillLoad::kOnDemand;
  task.skill = SkillFolder{"s", "d", {{"SKILL.md", "read me"}, {"references/long.md", std::string(300, 'x')}}};
  ChatRequest request = Work(task);
  request.system = "work <available_skills>…</available_skills>";
  const Result<ChatResponse> answer = Generate(*rig.model, std::move(request));
  ASSERT_TRUE(answer.ok());
  ASSERT_TRUE(answer->work->skill.has_value());
  EXPECT_EQ(answer->work->skill->read, std::vector<std::string>{"SKILL.md"});
  EXPECT_GT(answer->work->skill->always_tokens, 0);
  EXPECT_EQ(answer->work->skill->loaded_tokens, 3);
  EXPECT_EQ(answer->work->skill->unread_tokens, 100);
  EXPECT_TRUE(answer->work->changes.empty());
}

// Approves as many turns as it has.
class CountingMeter : public TurnMeter {
 public:
  explicit CountingMeter(int most) : left_(most) {}
  void Reserve(const Model&, const ChatRequest&, Approved approved) override {
    if (left_-- > 0) return approved(std::uint64_t{1});
    approved(Error{ErrorKind::kCancelled, "no room"}.Because(ErrorCause::kLimit));
  }
  void Settle(std::uint64_t, const Result<ChatResponse>&) override { ++settled; }
  std::atomic<int> settled = 0;

 private:
  std::atomic<int> left_;
};

TEST(LoopModel, EachTurnIsApproved) {
  LoopRig rig(
      [](const ChatRequest&, std::size_t) -> Result<ChatResponse> { return Calls({{"list_files", Json::object()}}); });
  const auto meter = std::make_shared<CountingMeter>(2);
  ChatRequest request = Work();
  request.meter = meter;
  const Result<ChatResponse> answer = Generate(*rig.model, std::move(request));
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().cause, ErrorCause::kLimit);
  EXPECT_EQ(rig.asked, 2U);
  EXPECT_EQ(meter->settled, 2);
}

TEST(LoopModel, AModelWithoutToolsCannotAct) {
  const Sandbox sandbox{SandboxOptions{}};
  auto inner = std::make_unique<FakeModel>("m", 1, [](const ChatRequest&, std::size_t) { return std::nullopt; });
  const Result<std::unique_ptr<Model>> model = MakeLoopModel(std::move(inner), {&sandbox, nullptr, 1});
  ASSERT_FALSE(model.ok());
  EXPECT_THAT(model.error().message, HasSubstr("takes no tools"));
}

TEST(LoopModel, ManyThousandCallsInOneAnswerCostNothing) {
  static constexpr std::size_t kCalls = 10'000;
  const TempFolder folder;
  const auto file = folder.path() / kTurnsFile;
  LoopRig rig(
      [](const ChatRequest& request, std::size_t turn) -> Result<ChatResponse> {
        if (turn > 0) {
          EXPECT_EQ(request.messages.back().tool_results.size(), kCalls);
          EXPECT_THAT(request.messages.back().tool_results.back().text, HasSubstr("too many calls at once"));
          return Says("finished");
        }
        std::vector<std::pair<std::string, Json>> calls;
        for (std::size_t i = 0; i < kCalls; ++i) calls.push_back({"list_files", Json::object()});
        return Calls(calls);
      },
      TurnJournal::Open(file).value());
  const Result<ChatResponse> answer = Generate(*rig.model, Work());
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_EQ(answer->work->tool_calls, static_cast<int>(kCalls));
  EXPECT_EQ(answer->work->tool_errors, static_cast<int>(kCalls) - 32);
  const Json& calls = answer->work->transcript.at(0).at("calls");
  ASSERT_EQ(calls.size(), 33U);
  EXPECT_THAT(calls.back().at("result").get<std::string>(), HasSubstr("9968 calls were not carried out"));
  // The turn, 32 calls, and the last turn.
  EXPECT_EQ(SplitLines(ReadFile(file).value()).size(), 34U);
}

TEST(LoopModel, AToolsNameIsCutToText) {
  LoopRig rig([](const ChatRequest&, std::size_t turn) -> Result<ChatResponse> {
    std::string name = "x";
    for (int i = 0; i < 60; ++i) name += "é";
    return turn == 0 ? Calls({{name, Json::object()}}) : Says("finished");
  });
  const Result<ChatResponse> answer = Generate(*rig.model, Work());
  ASSERT_TRUE(answer.ok());
  for (const auto& [name, count] : answer->work->tools) EXPECT_FALSE(FindInvalidUtf8(name)) << name;
}

// A folder of runs may come from elsewhere.
TEST(TurnJournal, DoesNotBelieveImpossibleAmounts) {
  const TempFolder folder;
  const auto file = folder.path() / kTurnsFile;
  {
    const std::shared_ptr<TurnJournal> journal = TurnJournal::Open(file).value();
    ASSERT_TRUE(journal->StoreTurn("t", Says("x")).ok());
    ASSERT_TRUE(journal->StoreTool("t", 0, {}, {"ok", false, {{"f/", ""}}, 1.0}).ok());
  }
  std::string text = ReadFile(file).value();
  for (const auto& [from, to] :
       {std::pair("\"seconds\":1.0", "\"seconds\":-1e300"), std::pair("\"input\":10", "\"input\":-5"),
        std::pair("\"output\":2", "\"output\":9223372036854775807"),
        std::pair("\"cost_usd\":0.01", "\"cost_usd\":-1e300"), std::pair("[\"f\"]", "[\"f\",\"a/../g\",\"../h\"]")}) {
    const std::string old = from;
    ASSERT_NE(text.find(old), std::string::npos) << old;
    for (std::size_t at = text.find(old); at != std::string::npos; at = text.find(old, at + 1))
      text.replace(at, old.size(), to);
  }
  folder.Write(kTurnsFile, text);
  const std::shared_ptr<TurnJournal> journal = TurnJournal::Open(file).value();
  const std::optional<ChatResponse> turn = journal->FindTurn("t");
  ASSERT_TRUE(turn.has_value());
  EXPECT_EQ(turn->usage.input, 0);
  EXPECT_EQ(turn->usage.output, 1'000'000'000'000);
  EXPECT_EQ(turn->seconds, 0.0);
  EXPECT_EQ(turn->cost_usd, 0.0);
  const std::optional<ToolOutcome> tool = journal->FindTool("t", 0, {});
  ASSERT_TRUE(tool.has_value());
  EXPECT_EQ(tool->seconds, 0.0);
  EXPECT_EQ(tool->files, (WorkspaceFiles{{"f/", ""}}));
}

}  // namespace
}  // namespace upskill
