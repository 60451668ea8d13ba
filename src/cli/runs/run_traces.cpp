// SPDX-License-Identifier: Apache-2.0
#include "cli/runs/run_traces.h"

#include <fmt/format.h>

#include <utility>

#include "eval/journal/journal.h"
#include "eval/journal/run_data.h"
#include "eval/journal/sample.h"
#include "eval/journal/sample_line.h"
#include "eval/plan/prompts.h"
#include "util/fences.h"
#include "util/text.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostTraces = 60;

bool IsRun(const fs::path& folder) {
  std::error_code code;
  return fs::exists(folder / "plan.json", code) && fs::exists(folder / "samples.jsonl", code);
}

// The first answer that passed in a workspace, of the arms in their order: that of the baseline shows what the model
// finds out by itself.
SamplePtr FirstPassed(const RunData& data, std::size_t student, std::size_t case_index) {
  for (const Arm arm : data.plan().arms) {
    const SampleList samples = data.samples(student, arm, case_index);
    for (std::size_t round = 0; round < samples.size(); ++round) {
      if (!samples.final(round).passed) continue;
      SamplePtr sample = samples[round];
      if (sample->response.work && !sample->response.work->transcript.empty()) return sample;
    }
  }
  return nullptr;
}

std::string WithReplaced(const std::string& text, const std::string& before, const std::string& after) {
  std::string edited;
  std::size_t from = 0;
  for (std::size_t at = text.find(before); at != std::string::npos; at = text.find(before, from)) {
    edited.append(text, from, at - from).append(after);
    from = at + before.size();
  }
  return edited.append(text, from);
}

// Does what the student's own tools did to a file, as far as the call's arguments were stored.
void FollowCall(const Json& call, WorkspaceFiles& files) {
  const std::string tool = StringAt(call, "name");
  const Result<Json> arguments = ParseJson(StringAt(call, "arguments"), "arguments");
  const std::string path = arguments ? StringAt(*arguments, "path") : "";
  const Json& changed = Member(call, "changed");
  const bool is_whole = tool == "write_file" && !path.empty() && Member(*arguments, "content").is_string();
  for (std::size_t i = 0; changed.is_array() && i < changed.size(); ++i) {
    if (!changed[i].is_string()) continue;
    const auto file = files.find(changed[i].get<std::string>());
    const std::string old_text = arguments ? StringAt(*arguments, "old_text") : "";
    if (is_whole) {
      files[changed[i].get<std::string>()] = StringAt(*arguments, "content");
    } else if (tool == "edit_file" && file != files.end() && !old_text.empty()) {
      file->second = WithReplaced(file->second, old_text, StringAt(*arguments, "new_text"));
      if (file->second.size() > kMaxWorkspaceBytes) files.erase(file);
    } else if (file != files.end()) {
      files.erase(file);  // by a command: nobody knows how
    }
  }
}

// The files whose end the calls show: whoever reads them knows what was written.
WorkspaceFiles ShownByCalls(const Json& transcript) {
  WorkspaceFiles files;
  for (const Json& turn : transcript) {
    const Json& calls = Member(turn, "calls");
    for (std::size_t i = 0; calls.is_array() && i < calls.size(); ++i) {
      if (!JsonGet(calls[i], "error", false)) FollowCall(calls[i], files);
    }
  }
  return files;
}

// The last message: what the student said, and the files as it left them, apart from those that its calls show.
std::string LastWords(const ChatResponse& response) {
  std::string text = response.text;
  const WorkspaceFiles shown = ShownByCalls(response.work->transcript);
  for (const auto& [name, content] : response.work->changes.written) {
    if (FindInvalidUtf8(content)) continue;
    if (const auto file = shown.find(name); file != shown.end() && file->second == content) continue;
    const std::string fence = FenceFor(content);
    text += fmt::format("\n\n{} at the end of the work:\n{}{}\n{}\n{}", name, fence, name, content, fence);
  }
  for (const std::string& name : response.work->changes.removed) text += fmt::format("\n\n{} was removed.", name);
  return text;
}

// As messages of OpenAI's API, which the reader of traces knows.
Json MessagesOf(const Case& test_case, const ChatResponse& response) {
  Json messages = Json::array({{{"role", "user"}, {"content", UserMessage(test_case)}}});
  std::size_t turn = 0;
  for (const Json& done : response.work->transcript) {
    ++turn;
    Json said = {{"role", "assistant"}, {"content", StringAt(done, "text")}};
    Json results = Json::array();
    const Json& calls = Member(done, "calls");
    for (std::size_t i = 0; calls.is_array() && i < calls.size(); ++i) {
      const std::string id = fmt::format("call_{}_{}", turn, i + 1);
      said["tool_calls"].push_back(
          {{"id", id},
           {"type", "function"},
           {"function", {{"name", StringAt(calls[i], "name")}, {"arguments", StringAt(calls[i], "arguments")}}}});
      Json result = {{"role", "tool"}, {"tool_call_id", id}, {"content", StringAt(calls[i], "result")}};
      result["is_error"] = JsonGet(calls[i], "error", false);
      results.push_back(std::move(result));
    }
    const bool last = turn == response.work->transcript.size();
    if (!last || !results.empty()) messages.push_back(std::move(said));
    for (Json& result : results) messages.push_back(std::move(result));
  }
  messages.push_back({{"role", "assistant"}, {"content", LastWords(response)}});
  return messages;
}

std::string FileNameOf(const Plan& plan, std::size_t student, const std::string& case_id) {
  std::string name = fmt::format("{}-{}-{}", plan.run, plan.students[student].name, case_id).substr(0, 150);
  for (char& c : name) {
    const bool plain = IsAsciiAlphanumeric(c) || c == '-' || c == '_';
    if (!plain) c = '_';
  }
  return name;
}

// "; runs/x/samples.jsonl:3 can't be read (…)", of the first such line; empty if all can be.
std::string DamageIn(const fs::path& run, const RunData& data) {
  if (data.skipped_lines() == 0) return "";
  std::string damage;
  std::size_t number = 0;
  const auto visit = [&](const JournalLine& line) {
    ++number;
    if (!damage.empty()) return;
    if (const Result<Sample> sample = SampleFromLine(line.text); !sample)
      damage = fmt::format("{}:{}: {}", (run / "samples.jsonl").string(), number, sample.error().message);
  };
  if (!VisitJournalLines(run, visit) || damage.empty()) damage = (run / "samples.jsonl").string();
  return fmt::format("; {} of its answers can't be read: {}", data.skipped_lines(), damage);
}

}  // namespace

std::optional<fs::path> RunNamed(const std::string& from, const fs::path& runs_dir) {
  std::error_code code;
  if (IsRun(from)) return fs::path(from);
  if (fs::exists(from, code) || from == "latest" || from.find('/') != std::string::npos) return std::nullopt;
  const Result<fs::path> run = ResolveRun(runs_dir, from);
  return run && IsRun(*run) ? std::optional(*run) : std::nullopt;
}

Result<std::vector<std::string>> WriteTracesOfRun(const fs::path& run, const Folder& folder) {
  ASSIGN_OR_RETURN(const RunData data, RunData::Read(run));
  const Plan& plan = data.plan();
  std::vector<std::string> paths;
  for (std::size_t student = 0; student < plan.students.size(); ++student) {
    for (std::size_t i = 0; i < plan.suite.cases.size() && paths.size() < kMostTraces; ++i) {
      const SamplePtr sample = FirstPassed(data, student, i);
      if (sample == nullptr) continue;
      const Json trace = {{"model", plan.students[student].name},
                          {"passed_checks", true},
                          {"messages", MessagesOf(plan.suite.cases[i], sample->response)}};
      std::string name = FileNameOf(plan, student, plan.suite.cases[i].id);
      name += fmt::format("-{}.json", paths.size() + 1);
      RETURN_IF_ERROR(folder.WriteFile(name, DumpJson(trace) + "\n"));
      paths.push_back((folder.path() / name).string());
    }
  }
  if (paths.empty()) {
    return InputError(
        fmt::format("run {} has no case that was done in a workspace and passed, so there is nothing to learn from it; "
                    "run cases with "
                    "--mode workspace, or with a stronger model{}",
                    plan.run, DamageIn(run, data)));
  }
  return paths;
}

}  // namespace upskill
