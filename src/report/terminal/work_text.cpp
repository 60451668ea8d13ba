// SPDX-License-Identifier: Apache-2.0
#include "report/terminal/work_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <functional>

#include "util/text.h"

namespace upskill {
namespace {

std::string Number(std::int64_t number) { return WithThousands(static_cast<long long>(number)); }

// The tools by how often they were called.
std::string ToolsText(const WorkSummary& work) {
  std::vector<std::pair<std::string, std::size_t>> tools(work.tools.begin(), work.tools.end());
  std::stable_sort(tools.begin(), tools.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  constexpr std::size_t kMost = 8;
  std::string text;
  for (std::size_t i = 0; i < tools.size() && i < kMost; ++i)
    text += fmt::format("{}{} {}", i == 0 ? "" : ", ", ExcerptLine(tools[i].first, 40), tools[i].second);
  if (tools.size() > kMost) text += ", …";
  return text.empty() ? "none called" : fmt::format("{}: {}", Counted(work.tool_calls, "call"), text);
}

std::string LimitsText(const WorkSummary& work) {
  std::string text;
  for (const auto& [limit, count] : work.limits) {
    if (limit == "call") {
      text += count == 1 ? ", 1 answer looks like a tool call that wasn't understood"
                         : fmt::format(", {} answers look like tool calls that weren't understood", count);
    } else {
      text += fmt::format(", {} at the limit of {}", count, ExcerptLine(limit, 20));
    }
  }
  return text;
}

// Of one answer: others may be written at the same time.
std::string SpeedText(const ArmSummary& arm) {
  if (!arm.reports_tokens() || arm.seconds <= 0.0) return "";
  return fmt::format(", {:.1f} tokens/s within an answer", static_cast<double>(arm.output_tokens) / arm.seconds);
}

std::string SkillText(const WorkSummary& work) {
  return fmt::format("read in {} of {}; in all of them together, {} tokens always loaded, {} on demand, {} not read",
                     work.skill_read, Counted(work.with_skill, "answer"), Number(work.always_tokens),
                     Number(work.loaded_tokens), Number(work.unread_tokens));
}

}  // namespace

std::vector<std::pair<std::string, std::string>> WorkLines(const StudentSummary& student) {
  std::vector<std::pair<std::string, std::string>> lines;
  const auto add = [&](const std::string& label, const std::function<std::string(const ArmSummary&)>& text) {
    bool first = true;
    for (const auto& [arm, summary] : student.arms) {
      if (summary.work.answers == 0) continue;
      lines.emplace_back(first ? label : "", fmt::format("{}: {}", ArmName(arm), text(summary)));
      first = false;
    }
  };
  add("turns", [](const ArmSummary& arm) {
    const WorkSummary& work = arm.work;
    return fmt::format("{:.1f} per answer, {}{}{}", static_cast<double>(work.turns) / static_cast<double>(work.answers),
                       Counted(work.tool_errors, "tool error"), LimitsText(work), SpeedText(arm));
  });
  add("tools", [](const ArmSummary& arm) { return ToolsText(arm.work); });
  for (const auto& [arm, summary] : student.arms) {
    if (summary.work.with_skill > 0 && summary.work.on_demand > 0)
      lines.emplace_back("skill", fmt::format("{}: {}", ArmName(arm), SkillText(summary.work)));
  }
  return lines;
}

Json WorkToJson(const ArmSummary& arm) {
  const WorkSummary& work = arm.work;
  if (work.answers == 0) return nullptr;
  Json tools = Json::object();
  for (const auto& [name, count] : work.tools) tools[name] = count;
  Json limits = Json::object();
  for (const auto& [name, count] : work.limits) limits[name] = count;
  return {{"answers", work.answers},
          {"turns", work.turns},
          {"tool_calls", work.tool_calls},
          {"tool_errors", work.tool_errors},
          {"tools", std::move(tools)},
          {"limits", std::move(limits)},
          {"skill_read", work.skill_read},
          {"skill_tokens",
           {{"always", work.always_tokens}, {"on_demand", work.loaded_tokens}, {"not_read", work.unread_tokens}}}};
}

}  // namespace upskill
