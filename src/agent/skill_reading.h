// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "model/chat.h"
#include "model/workspace.h"

namespace upskill {

// Notes what a student reads of its skill (SkillUse).
class SkillReading {
 public:
  SkillReading(const WorkspaceTask& task, const std::string& system);

  // The files of all skills by their place in the workspace, if they are loaded on demand; else none.
  const WorkspaceFiles& placed() const { return placed_; }
  void Note(const ToolCall& call, const std::string& result, bool is_error);
  std::optional<SkillUse> Use() const;

 private:
  std::optional<SkillFolder> skill_;
  SkillLoad load_;
  std::int64_t always_tokens_ = 0;
  WorkspaceFiles placed_;
  std::vector<SkillFolder> others_;
  std::vector<std::string> others_read_;  // names of skills, in the order of reading
  bool left_ = false;
  std::set<std::string> read_;  // by their names in the skill
  std::set<std::string> run_;
};

}  // namespace upskill
