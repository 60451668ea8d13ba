// SPDX-License-Identifier: Apache-2.0
#include "agent/skill_reading.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "util/text.h"
#include "util/tokens.h"

namespace upskill {
namespace {

// The tokens of the part of the system prompt that is about the skill.
std::int64_t TokensInSystem(const std::string& system, SkillLoad load) {
  const std::size_t at = load == SkillLoad::kBody ? system.find("<skill name=") : system.find("<available_skills>");
  return at == std::string::npos ? 0 : static_cast<std::int64_t>(EstimateTokens(std::string_view(system).substr(at)));
}

// Whether a result shows the file: its first lines are in it.
bool Shows(std::string_view result, std::string_view content) {
  constexpr std::size_t kEnough = 200;
  content = Trim(content).substr(0, kEnough);
  return !content.empty() && result.find(content) != std::string_view::npos;
}

}  // namespace

SkillReading::SkillReading(const WorkspaceTask& task, const std::string& system)
    : skill_(task.skill), load_(task.load), others_(task.others) {
  if (!skill_) return;
  always_tokens_ = TokensInSystem(system, load_);
  if (load_ != SkillLoad::kOnDemand) return;
  const auto place = [this](const SkillFolder& skill) {
    for (const auto& [name, content] : skill.files)
      placed_[std::string(kWorkspaceSkills) + "/" + skill.name + "/" + name] = content;
  };
  for (const SkillFolder& other : others_) place(other);
  place(*skill_);
}

void SkillReading::Note(const ToolCall& call, const std::string& result, bool is_error) {
  if (placed_.empty()) return;
  const bool had_read = read_.contains("SKILL.md");
  const std::string command = call.name == "bash" ? StringAt(call.arguments, "command") : "";
  for (const auto& [name, content] : skill_->files) {
    const bool named = !command.empty() && command.find(name) != std::string::npos;
    if (named && name != "SKILL.md" && name.find('/') != std::string::npos) run_.insert(name);
    if (!read_.contains(name) && (!is_error || !command.empty()) && Shows(result, content)) read_.insert(name);
  }
  for (const SkillFolder& other : others_) {
    const auto body = other.files.find("SKILL.md");
    if (body == other.files.end() || (is_error && command.empty()) || !Shows(result, body->second)) continue;
    left_ = left_ || had_read;
    if (std::find(others_read_.begin(), others_read_.end(), other.name) == others_read_.end())
      others_read_.push_back(other.name);
  }
}

std::optional<SkillUse> SkillReading::Use() const {
  if (!skill_) return std::nullopt;
  SkillUse use;
  use.always_tokens = always_tokens_;
  for (const auto& [name, content] : skill_->files) {
    const bool body = load_ == SkillLoad::kBody && name == "SKILL.md";
    if (body) continue;
    const auto tokens = static_cast<std::int64_t>(EstimateTokens(content));
    (read_.contains(name) ? use.loaded_tokens : use.unread_tokens) += tokens;
  }
  use.others = others_read_;
  use.left = left_;
  use.read.assign(read_.begin(), read_.end());
  for (const std::string& name : run_) {
    if (!read_.contains(name)) use.run.push_back(name);
  }
  return use;
}

}  // namespace upskill
