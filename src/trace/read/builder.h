// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "trace/read/hash_index.h"
#include "trace/read/record.h"
#include "trace/trace.h"

namespace upskill {

// What a reader knows about the next events it adds.
struct EventContext {
  std::size_t line = 0;
  std::optional<std::int64_t> time_ms = std::nullopt;
  std::string agent;
  std::size_t message = kNoIndex;
};

// Builds a Trace while a reader goes through its records: pairs calls with results, records models, times, skills and
// subagents, and cleans the texts. Not thread-safe.
class TraceBuilder {
 public:
  TraceBuilder(std::string source, TraceFormat format);

  // The trace so far.
  const Trace& trace() const { return trace_; }

  // Facts about the session as a whole. Empty texts, and costs that aren't numbers, are ignored.
  void SetSession(const std::string& id);
  void SetTitle(const std::string& title);
  void SetFolder(const std::string& cwd);
  void SetAgent(const std::string& name);
  void SetAgentVersion(const std::string& version);
  void SetCost(const Json& usd);
  void AddCost(const Json& usd);
  void SetSessionUsage(const TokenUsage& usage) { trace_.session_usage = usage; }
  void AddSessionUsage(const TokenUsage& usage);
  void SetPassedChecks() { trace_.passed_checks = true; }
  void SetSucceeded(bool succeeded) { trace_.succeeded = succeeded; }
  void SetLossy() { trace_.lossy = true; }
  void CountDroppedLines(std::size_t count) { trace_.dropped_lines += count; }

  // Returns the event's index, or kNoIndex: empty texts of users and models are left out.
  std::size_t Add(const EventContext& stamp, EventKind kind, std::string text);

  // `arguments`: an object, or a text (which may itself be JSON).
  std::size_t AddCall(const EventContext& stamp, std::string tool, std::string call_id, Json arguments);

  // The result of the call with this id or, if the id is empty, of the agent's oldest call without a result.
  std::size_t AddResult(const EventContext& stamp, const std::string& call_id, std::string text, CallStatus status);

  // A change that is recorded separately from a call. `tool` may be empty.
  std::size_t AddFileChange(const EventContext& stamp, const std::string& tool, std::string path, std::string text);

  // Facts about an event from later records.
  void MarkShortened(std::size_t event) { trace_.events.at(event).shortened = true; }
  void MarkAbandoned(std::size_t first, std::size_t end);
  void MarkAsSystem(std::size_t event) { trace_.events.at(event).kind = EventKind::kSystem; }
  void SetStatus(std::size_t result, CallStatus status) { trace_.events.at(result).status = status; }
  void AppendText(std::size_t event, std::string text);

  // Index of the API message with this id in this agent; a new one if there is none, or if `id` is empty.
  std::size_t Message(const std::string& id, const std::string& agent, const std::string& model);
  void SetModel(std::size_t message, const std::string& model);
  void SetUsage(std::size_t message, const TokenUsage& usage) { trace_.messages.at(message).usage = usage; }
  void RaiseUsage(std::size_t message, const TokenUsage& usage) { trace_.messages.at(message).usage.RaiseTo(usage); }

  void NoteModel(const std::string& model);
  void NoteSubagent(const std::string& id, const std::string& name, const std::string& call_id);
  // A file of its own that holds one subagent and nothing of the main thread is that agent's session: its events become
  // those of the main thread, and what it was told first becomes the request.
  void PromoteOnlyAgent();
  void NameSubagent(std::size_t index, const std::string& name) { trace_.subagents.at(index).name = name; }
  void NoteSkill(const std::string& name, const std::string& how, std::size_t event);
  // Counts a record, or part of one, of unknown kind and keeps it as an event, unless it is null.
  void NoteUnknown(std::string_view kind, const Json& record, std::size_t line);
  void NoteProblem(std::size_t line, std::string message);
  void NoteCaveat(const std::string& caveat);  // each one once
  void NoteTime(const std::optional<std::int64_t>& time_ms);

  // Whether the text is new; false for records that a recording repeats.
  bool IsNew(std::string_view identity);

  std::size_t FindCall(const std::string& call_id);            // the last call with this id, or kNoIndex
  std::size_t FindUnanswered(const std::string& agent) const;  // the oldest call without a result, or kNoIndex

  Trace Finish();

 private:
  void NoteCall(std::size_t index);
  void Pair(std::size_t call, std::size_t result);

  Trace trace_;
  HashIndex calls_;       // events, by call id
  HashIndex messages_;    // API messages, by agent and id
  HashIndex subagents_;   // by id
  HashIndex identities_;  // hashes of what IsNew has seen
};

}  // namespace upskill
