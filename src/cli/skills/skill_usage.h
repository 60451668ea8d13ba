// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/env/env.h"
#include "install/agents.h"
#include "install/found_skills.h"
#include "trace/trace.h"
#include "util/result.h"

namespace upskill {

// How often a skill was used in an agent's sessions.
struct SkillUses {
  std::map<std::string, std::size_t> by_way;  // UsedSkill::how → count
  std::size_t sessions = 0;
  std::int64_t last_ms = 0;  // since 1970; 0: never

  std::size_t total() const;
};

struct AgentUsage {
  std::optional<std::size_t> sessions;      // that were read; nothing: it isn't known where this agent keeps them
  std::map<std::string, SkillUses> skills;  // by name, those that were used
};

// Adds the uses in a session since `from_ms`: calls of the skill's tool, commands (/NAME), and reads of its SKILL.md,
// in subagents too. `otherwise_ms`: the time of what has none.
void AddUses(const Trace& trace, std::int64_t from_ms, std::int64_t otherwise_ms, AgentUsage& usage);

// Reads the agent's sessions of the last days. A session that can't be read is a warning.
Result<AgentUsage> UsageOf(const Agent& agent, int days, const Env& env);

// What `list --usage` prints of an agent's skills.
struct UsageReport {
  const Agent* agent;
  int days;
  std::string runs_dir;
  bool json;
  ColorMode color;
};
Status ShowUsage(const UsageReport& report, const std::vector<FoundSkill>& found, const Env& env);

}  // namespace upskill
