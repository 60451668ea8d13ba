// SPDX-License-Identifier: Apache-2.0
#include "trace/load/find_traces.h"

#include <fmt/format.h>
#include <fnmatch.h>
#include <glob.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <memory>
#include <optional>
#include <string>

#include "trace/read/record.h"
#include "trace/read/record_parser.h"
#include "util/files.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

// Where an agent keeps its sessions.
struct AgentFolder {
  std::string_view agent;
  std::string_view variable;  // moves `root`, empty: nothing does
  std::string_view root;      // below the home folder; empty: only where the variable is set
  std::string_view folder;    // below the root
  std::string_view pattern;   // of the file's name
};

constexpr std::array<AgentFolder, 8> kFolders = {{
    {"claude-code", "CLAUDE_CONFIG_DIR", ".claude", "projects", "*.jsonl"},
    {"codex", "CODEX_HOME", ".codex", "sessions", "rollout-*.jsonl"},
    {"codex", "CODEX_HOME", ".codex", "archived_sessions", "rollout-*.jsonl"},
    {"gemini", "", ".gemini", "tmp", "session-*.json*"},
    {"pi", "PI_CODING_AGENT_DIR", ".pi/agent", "sessions", "*.jsonl"},
    {"copilot", "COPILOT_HOME", ".copilot", "session-state", "events.jsonl"},
    {"fast-agent", "", ".fast-agent", "sessions", "history_*.json"},
    {"inspect", "INSPECT_LOG_DIR", "", "", "*.eval"},
}};

constexpr int kMaxDepth = 8;
constexpr std::size_t kMaxFiles = 200'000;

bool Matches(std::string_view pattern, const std::string& name) {
  return fnmatch(std::string(pattern).c_str(), name.c_str(), FNM_PERIOD) == 0;
}

// Regular files below `folder`, without following links to folders.
void AddFiles(const fs::path& folder, std::string_view pattern, std::vector<fs::path>& files) {
  std::error_code code;
  fs::recursive_directory_iterator entry(folder, fs::directory_options::skip_permission_denied, code);
  for (const fs::recursive_directory_iterator end; !code && entry != end && files.size() < kMaxFiles;
       entry.increment(code)) {
    if (entry.depth() > kMaxDepth) entry.disable_recursion_pending();
    std::error_code ignored;
    if (entry->is_regular_file(ignored) && Matches(pattern, entry->path().filename().string()))
      files.push_back(entry->path());
  }
}

bool IsSubagentFile(const fs::path& path) { return path.filename().string().rfind("agent-", 0) == 0; }

// The thread that started the one in this rollout of Codex; nothing if the user did. It may be unknown.
std::optional<std::string> ParentOfRollout(const fs::path& path) {
  constexpr std::size_t kMostBytes = std::size_t{1} << 20U;
  std::ifstream file(path);
  std::string line;
  for (char c = 0; line.size() < kMostBytes && file.get(c) && c != '\n';) line += c;
  const ParsedRecord record = ParseRecord(line);
  if (!record.value || StringAt(*record.value, "type") != "session_meta") return std::nullopt;
  const Json& meta = Member(*record.value, "payload");
  const Json& subagent = Member(Member(meta, "source"), "subagent");
  std::string parent = StringAt(meta, "parent_thread_id");
  if (parent.empty()) parent = StringAt(Member(subagent, "thread_spawn"), "parent_thread_id");
  const bool started = !subagent.is_null() || StringAt(meta, "thread_source") == "subagent" || !parent.empty();
  return started ? std::optional(parent) : std::nullopt;
}

// Read with its session: <session>/subagents/agent-<id>.jsonl beside <session>.jsonl, and rollouts of Codex's
// subagents beside others.
bool IsReadWithItsSession(const fs::path& path, const std::vector<fs::path>& files) {
  if (Matches("rollout-*.jsonl", path.filename().string())) {
    const std::optional<std::string> parent = ParentOfRollout(path);
    return parent && !parent->empty() && std::any_of(files.begin(), files.end(), [&](const fs::path& file) {
             return file.filename().string().ends_with("-" + *parent + ".jsonl");
           });
  }
  if (!IsSubagentFile(path) || path.parent_path().filename() != "subagents") return false;
  std::error_code code;
  return fs::exists(path.parent_path().parent_path().string() + ".jsonl", code);
}

void AddTracesOfFolder(const fs::path& folder, std::vector<fs::path>& files) {
  for (const char* pattern : {"*.jsonl", "*.json", "*.eval", "*.traj", "*.yaml", "*.md", "*.txt"})
    AddFiles(folder, pattern, files);
  const std::vector<fs::path> all = files;
  std::erase_if(files, [&](const fs::path& path) { return IsReadWithItsSession(path, all); });
}

// Files that the pattern matches, and the traces of folders that it matches.
void AddMatches(const std::string& pattern, std::vector<fs::path>& files) {
  glob_t found{};
  const std::unique_ptr<glob_t, decltype(&::globfree)> cleanup(&found, &::globfree);
  if (::glob(pattern.c_str(), GLOB_NOSORT, nullptr, &found) != 0) return;
  for (std::size_t i = 0; i < found.gl_pathc; ++i) {
    const fs::path path(found.gl_pathv[i]);
    std::error_code code;
    if (fs::is_directory(path, code)) {
      AddTracesOfFolder(path, files);
    } else if (fs::is_regular_file(path, code)) {
      files.push_back(path);
    }
  }
}

}  // namespace

std::vector<std::string> KnownTraceAgents() {
  std::vector<std::string> agents;
  for (const AgentFolder& folder : kFolders) {
    if (agents.empty() || agents.back() != folder.agent) agents.emplace_back(folder.agent);
  }
  return agents;
}

Result<std::vector<FoundTrace>> FindTraces(const VariableLookup& variable, const std::string& agent) {
  const std::vector<std::string> agents = KnownTraceAgents();
  if (!agent.empty() && std::find(agents.begin(), agents.end(), agent) == agents.end()) {
    std::string names;
    for (const std::string& name : agents) names += (names.empty() ? "" : ", ") + name;
    return InputError(fmt::format("unknown agent '{}'; known: {}", agent, names));
  }
  const auto home = variable("HOME");
  if (!home || home->empty())
    return InputError("HOME is not set, so the agents' folders are not known; give the file instead");
  std::vector<FoundTrace> found;
  for (const AgentFolder& folder : kFolders) {
    if (!agent.empty() && folder.agent != agent) continue;
    const auto moved = folder.variable.empty() ? std::nullopt : variable(std::string(folder.variable));
    if (folder.root.empty() && (!moved || moved->empty())) continue;
    const fs::path root = moved && !moved->empty() ? fs::path(*moved) : fs::path(*home) / folder.root;
    std::vector<fs::path> files;
    AddFiles(root / folder.folder, folder.pattern, files);
    for (fs::path& path : files) {
      if (folder.agent == "claude-code" && IsSubagentFile(path)) continue;  // read with its session
      if (folder.agent == "codex" && ParentOfRollout(path)) continue;
      struct stat info{};
      if (::stat(path.c_str(), &info) != 0 || info.st_size == 0) continue;
      const std::int64_t modified_ms = std::int64_t{info.st_mtim.tv_sec} * 1000 + info.st_mtim.tv_nsec / 1'000'000;
      found.push_back(
          {std::move(path), std::string(folder.agent), modified_ms, static_cast<std::uint64_t>(info.st_size)});
    }
  }
  std::sort(found.begin(), found.end(), [](const FoundTrace& a, const FoundTrace& b) {
    return a.modified_ms != b.modified_ms ? a.modified_ms > b.modified_ms : a.path < b.path;
  });
  return found;
}

Result<std::vector<fs::path>> ExpandTraceArgument(const std::string& argument) {
  const fs::path path(argument);
  std::error_code code;
  std::vector<fs::path> files;
  if (argument.empty()) return InputError("an empty file name; give a file, a folder, a pattern, - or latest");
  if (fs::is_directory(path, code)) {
    AddTracesOfFolder(path, files);
    if (files.empty()) {
      return InputError(fmt::format(
          "{}: no traces in this folder (files named *.jsonl, *.json, *.eval, *.traj, *.yaml, *.md, *.txt)", argument));
    }
  } else if (!fs::exists(path, code) && argument.find_first_of("*?[") != std::string::npos) {
    AddMatches(argument, files);
    if (files.empty()) return Error{ErrorKind::kNotFound, fmt::format("{}: no file matches", argument)};
  } else {
    files.push_back(path);
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace upskill
