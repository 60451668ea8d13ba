// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "agent/loop_tools.h"
#include "model/chat.h"
#include "util/record_store.h"
#include "util/result.h"

namespace upskill {

// The file in a run's folder.
inline constexpr const char* kTurnsFile = "turns.jsonl";

// Answers of models and results of tools within cells, stored before they are used: a cell that is tried again, after
// an error or a kill, takes its way again without paying for it. Thread-safe.
class TurnJournal {
 public:
  static Result<std::shared_ptr<TurnJournal>> Open(const std::filesystem::path& file);

  // A hash of everything that determines the answer.
  static std::string KeyOf(const std::string& model_identity, const ChatRequest& request);

  std::optional<ChatResponse> FindTurn(const std::string& key) const;
  Status StoreTurn(const std::string& key, const ChatResponse& response);

  // The result of a turn's call. `before`: the files that it began with.
  std::optional<ToolOutcome> FindTool(const std::string& turn, std::size_t call, const WorkspaceFiles& before) const;
  Status StoreTool(const std::string& turn, std::size_t call, const WorkspaceFiles& before, const ToolOutcome& outcome);

 private:
  explicit TurnJournal(RecordStore store) : store_(std::move(store)) {}

  RecordStore store_;
};

}  // namespace upskill
