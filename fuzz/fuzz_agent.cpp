// SPDX-License-Identifier: Apache-2.0
#include "fuzz/fuzz_agent.h"

#include <cmath>
#include <memory>
#include <optional>
#include <utility>

#include "agent/json_tools.h"
#include "agent/loop_tools.h"
#include "agent/turn_journal.h"
#include "eval/journal/sample.h"
#include "fuzz/fuzz_checks.h"
#include "model/workspace.h"
#include "program/program_answer.h"
#include "util/files.h"
#include "util/json.h"
#include "util/temp_folder.h"
#include "util/text.h"

namespace upskill {
namespace {

WorkspaceState SomeState() {
  WorkspaceState state;
  state.files = {{"a.txt", "one\ntwo\n"}, {"src/b.py", "print(1)\n"}, {"raw", "\xff"}, {"empty/", ""}};
  state.fixed = {{std::string(kWorkspaceSkills) + "/s/SKILL.md", "Fix it.\n"}};
  return state;
}

void CheckWorkspace(const WorkspaceFiles& files) {
  for (const auto& [name, content] : files) {
    const std::string plain = name.ends_with('/') ? name.substr(0, name.size() - 1) : name;
    CHECK(ContainedPath("", plain).ok() && PlainFileName(plain) == plain && !FindInvalidUtf8(name));
  }
}

void CarryOut(const ToolCall& call) {
  static const Sandbox sandbox{SandboxOptions{}};
  static const WorkspaceState before = SomeState();
  if (call.name == "bash") return;
  const ToolLimits limits{2'000, std::chrono::milliseconds(10'000)};
  const Result<ToolOutcome> outcome = RunTool(call, before, sandbox, limits, nullptr);
  if (!Parsed(outcome)) return;
  CHECK(!FindInvalidUtf8(outcome->text) && outcome->text.size() <= limits.text_bytes + 100);
  CHECK(!outcome->is_error || outcome->files == before.files);
  CheckWorkspace(outcome->files);
  for (const auto& [name, content] : before.fixed) CHECK(!outcome->files.contains(name));
}

struct FoundTurn {
  std::optional<ChatResponse> turn;
  std::optional<ToolOutcome> tool;
};

FoundTurn Find(const std::shared_ptr<TurnJournal>& journal) {
  return {journal->FindTurn("turn"), journal->FindTool("turn", 0, SomeState().files)};
}

// The records of an input, each under both keys.
std::string WithKeys(std::string_view input, const std::string& tool_key) {
  std::string lines;
  for (const std::string_view line : SplitLines(input)) {
    Result<Json> record = ParseJson(line, kTurnsFile);
    if (!record || !record->is_object()) {
      lines += std::string(line) + "\n";
      continue;
    }
    for (const std::string& key : {std::string("turn"), tool_key}) {
      (*record)["key"] = key;
      lines += DumpJson(*record) + "\n";
    }
  }
  return lines;
}

struct StoredTurns {
  std::string lines;
  std::string tool_key;
};

// What a journal stores of one turn and one call.
StoredTurns StoreOne() {
  const TempFolder folder = TempFolder::Make("upskill-fuzz-").value();
  const auto file = folder.path() / kTurnsFile;
  const std::shared_ptr<TurnJournal> journal = TurnJournal::Open(file).value();
  ChatResponse response;
  response.text = "x";
  response.tool_calls = {{"1", "bash", {{"command", "ls"}}, R"({"command":"ls"})"}};
  response.stop = StopReason::kToolUse;
  response.usage = {1, 2, 3, 4, 5};
  response.cost_usd = 0.5;
  response.provider_blocks = Json::array({"b"});
  ToolOutcome outcome;
  outcome.text = "ok";
  outcome.files = {{"a.txt", "new"}, {"b", "\xff"}, {"f/", ""}};
  outcome.seconds = 1.5;
  CHECK(journal->StoreTurn("turn", response).ok());
  const std::size_t begin = ReadFile(file).value().size();
  CHECK(journal->StoreTool("turn", 0, SomeState().files, outcome).ok());
  StoredTurns stored{ReadFile(file).value(), ""};
  stored.tool_key = StringAt(ParseJson(std::string_view(stored.lines).substr(begin), kTurnsFile).value(), "key");
  return stored;
}

const StoredTurns& OneStored() {
  static const StoredTurns stored = StoreOne();
  return stored;
}

}  // namespace

void FuzzToolCall(std::string_view input) {
  ChatResponse response;
  response.text = ReplaceInvalidUtf8(input);
  response = WithCallFromJson(std::move(response));
  CHECK(response.tool_calls.size() <= 1 && !FindInvalidUtf8(response.text));
  for (const ToolCall& call : response.tool_calls) {
    CHECK(ParseJson(call.raw_arguments, "arguments").ok());
    CarryOut(call);
  }
}

std::vector<std::string> ToolCallSeeds() {
  return {R"({"tool":"read_file","arguments":{"path":"/workspace/a.txt","offset":2,"limit":1}})",
          R"({"tool":"write_file","arguments":{"path":"src/c/d.py","content":"x"}})",
          R"({"tool":"edit_file","arguments":{"path":"a.txt","old_text":"o","new_text":"p","replace_all":true}})",
          R"({"tool":"list_files","arguments":{"path":"./src"}})",
          R"({"tool":"grep","arguments":{"pattern":"^t(w|x)+$","path":"a.txt"}})",
          R"({"answer":"done"})"};
}

void FuzzTurnJournal(std::string_view input) {
  static const TempFolder folder = TempFolder::Make("upskill-fuzz-").value();
  const StoredTurns& stored = OneStored();
  const Result<std::shared_ptr<TurnJournal>> journal =
      TurnJournal::Open(folder.Write(kTurnsFile, WithKeys(input, stored.tool_key)));
  if (!Parsed(journal)) return;
  const FoundTurn found = Find(*journal);
  if (found.turn) {
    const Usage& usage = found.turn->usage;
    for (const std::int64_t tokens : {usage.input, usage.cache_read, usage.cache_write, usage.output, usage.reasoning})
      CHECK(tokens >= 0 && tokens <= kMaxStoredTokens);
    CHECK(found.turn->seconds >= 0.0 && std::isfinite(found.turn->seconds));
    CHECK(found.turn->cost_usd.value_or(0.0) >= 0.0 && std::isfinite(found.turn->cost_usd.value_or(0.0)));
    CHECK((*journal)->StoreTurn("turn", *found.turn).ok());
  }
  if (found.tool) {
    CHECK(found.tool->seconds >= 0.0 && std::isfinite(found.tool->seconds));
    CheckWorkspace(found.tool->files);
    CHECK((*journal)->StoreTool("turn", 0, SomeState().files, *found.tool).ok());
  }
  const FoundTurn again = Find(*journal);
  CHECK(again.turn.has_value() == found.turn.has_value() && again.tool.has_value() == found.tool.has_value());
  if (found.turn) CHECK(again.turn->text == found.turn->text && again.turn->usage.output == found.turn->usage.output);
  if (found.tool) CHECK(again.tool->text == found.tool->text && again.tool->files == found.tool->files);
}

std::vector<std::string> TurnJournalSeeds() { return {OneStored().lines}; }

void FuzzProgramSession(std::string_view input) {
  ProgramRun run;
  run.exit_code = 0;
  run.sessions = {{"s.jsonl", std::string(input)}};
  run.files = {{"a.txt", "x"}};
  WorkspaceTask task;
  task.skill = SkillFolder{"s", "Fixes it.", {{"SKILL.md", "Fix it.\n"}, {"scripts/fix.sh", "true\n"}}};
  task.load = input.size() % 2 == 0 ? SkillLoad::kBody : SkillLoad::kOnDemand;
  ProgramJob job;
  job.program.name = "X";
  job.program.sessions = SessionPlace{".x", "*"};
  ProxyRecord record;
  record.answers = 1;
  const Result<ChatResponse> answer = AnswerOfRun(job, run, record, task);
  if (!Parsed(answer)) return;
  CHECK(!FindInvalidUtf8(answer->text) && answer->work.has_value());
  const WorkRecord& work = *answer->work;
  CHECK(DumpJson(work.transcript).size() <= 2 * kMaxTranscriptBytes);
  const Result<WorkRecord> again = WorkRecordFromJson(WorkRecordToJson(work));
  CHECK(again.ok() && *again == work);
}

}  // namespace upskill
