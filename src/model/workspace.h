// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "util/json.h"
#include "util/result.h"

namespace upskill {

struct ChatRequest;
struct ChatResponse;
class Model;

// The content of a workspace's files by their relative paths, in the form of PlainFileName. Any bytes.
using WorkspaceFiles = std::map<std::string, std::string>;

// The most that a workspace may hold, and that is stored of one.
inline constexpr std::size_t kMaxWorkspaceBytes = std::size_t{8} << 20U;
inline constexpr std::size_t kMaxWorkspaceFiles = 2'000;

// Where a skill's folder is put in a workspace: a folder of agent programs for the skills of a project.
inline constexpr std::string_view kWorkspaceSkills = ".agents/skills";

// The tool that returns the SKILL.md of a skill that is loaded on demand.
inline constexpr std::string_view kActivateSkillTool = "activate_skill";

// How a skill reaches a student that acts. Stored by name (SkillLoadName): never rename.
enum class SkillLoad {
  kBody,      // its body is in the system prompt
  kOnDemand,  // its name and description are; its files are in the workspace, for the student to read
};

const char* SkillLoadName(SkillLoad load);
Result<SkillLoad> SkillLoadFromName(std::string_view name);

// A skill as a folder.
struct SkillFolder {
  std::string name;
  std::string description;
  WorkspaceFiles files;  // with SKILL.md

  bool operator==(const SkillFolder&) const = default;
};

// Has the budget of a run approve each turn of a student before it is asked, and charges what it has used. Thread-safe.
class TurnMeter {
 public:
  TurnMeter() = default;
  virtual ~TurnMeter() = default;
  TurnMeter(const TurnMeter&) = delete;
  TurnMeter& operator=(const TurnMeter&) = delete;

  using Approved = std::function<void(Result<std::uint64_t> ticket)>;

  // Sets aside the most that the request may use, as soon as there is room for it. Doesn't block: `approved` is called
  // exactly once, at once or later on another thread, with the number of what was set aside. Error (kCancelled): the
  // student must stop; of ErrorCause::kLimit if there will be no room.
  virtual void Reserve(const Model& model, const ChatRequest& request, Approved approved) = 0;
  // Once for each ticket, with the answer or the error of its request.
  virtual void Settle(std::uint64_t ticket, const Result<ChatResponse>& answer) = 0;
};

// An MCP server whose tools a student has besides those of the workspace: a command or a URL.
struct ToolServer {
  std::string name;
  std::string command;                         // a command line, for the sandbox
  WorkspaceFiles files;                        // what the command finds in its folder, besides the case's files
  bool shared = false;                         // one for all tasks of a run, instead of one for each
  std::string url;                             // http or https; empty: there is a command
  std::map<std::string, std::string> headers;  // for the URL; values have variables as ${NAME}

  bool operator==(const ToolServer&) const = default;
};

// Work for a model that acts (ModelInfo::acts): what ChatRequest asks for is to be done in a workspace of its own, with
// tools. The tools of the loop are in ChatRequest::tools; agent programs have their own.
struct WorkspaceTask {
  WorkspaceFiles files;              // what the workspace contains at first
  std::optional<SkillFolder> skill;  // absent: none (the baseline)
  std::vector<SkillFolder> others;   // further skills to choose from, loaded on demand like `skill`
  std::vector<ToolServer> servers;
  SkillLoad load = SkillLoad::kBody;
  int max_turns = 20;                             // answers of the model
  std::chrono::milliseconds time_limit{600'000};  // of answers and tools together
  std::int64_t max_tokens = 0;                    // prompt and answer, over all turns; 0: no limit
};

// What was done to the files of a workspace.
struct FileChanges {
  WorkspaceFiles written;            // new, or with new content
  std::vector<std::string> removed;  // sorted

  bool empty() const { return written.empty() && removed.empty(); }
  bool operator==(const FileChanges&) const = default;
};

FileChanges ChangesBetween(const WorkspaceFiles& before, const WorkspaceFiles& after);
WorkspaceFiles WithChanges(WorkspaceFiles files, const FileChanges& changes);

// What of a skill has reached a student. Tokens are estimates of the text; a turn that is repeated in later requests
// counts once.
struct SkillUse {
  std::int64_t always_tokens = 0;   // in the system prompt: the body, or name and description
  std::int64_t loaded_tokens = 0;   // of the files that were read
  std::int64_t unread_tokens = 0;   // of the others
  std::vector<std::string> read;    // files of the skill that were read, sorted
  std::vector<std::string> run;     // files of the skill that a command named, sorted
  std::vector<std::string> others;  // skills of WorkspaceTask::others whose SKILL.md was read, in this order
  bool left = false;                // … one of them after this skill's

  bool operator==(const SkillUse&) const = default;
};

// What a model that acts has done (ChatResponse::work).
struct WorkRecord {
  FileChanges changes;  // of WorkspaceTask::files, without the skill's folder; within kMaxWorkspaceBytes
  int turns = 0;        // answers of the model
  int tool_calls = 0;
  int tool_errors = 0;               // calls whose result was an error
  std::map<std::string, int> tools;  // calls by the name of the tool
  std::string limit;                 // what ended the work before the model did: "turns", "time", "tokens", "context"
  std::optional<SkillUse> skill;     // absent: there was no skill
  // By turn, in order: [{"text", "calls": [{"name", "arguments", "result", "error", "changed"}]}]; "text", "error"
  // (true) and "changed" (names of files) may be absent. Texts are cut to kMaxTranscriptText each, and all turns
  // together to kMaxTranscriptBytes.
  Json transcript = Json::array();

  bool operator==(const WorkRecord&) const = default;
};

inline constexpr std::size_t kMaxTranscriptText = 4'000;
inline constexpr std::size_t kMaxToolName = 64;  // bytes of the names in WorkRecord::tools
inline constexpr std::size_t kMaxTranscriptBytes = std::size_t{1} << 20U;

// As samples.jsonl has it. Files that aren't text are in base64.
Json WorkRecordToJson(const WorkRecord& work);
// Errors: malformed, or larger than what is stored.
Result<WorkRecord> WorkRecordFromJson(const Json& json);

Json FileChangesToJson(const FileChanges& changes);
Result<FileChanges> FileChangesFromJson(const Json& json);

// The beginning and the end of a text, and between them how much was left out, if it is longer than `most` bytes.
std::string WithoutMiddle(std::string_view text, std::size_t most);
// Whether something was left out of the text in this way.
bool IsWithoutMiddle(std::string_view text);

}  // namespace upskill
