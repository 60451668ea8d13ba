// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace upskill {

// The names (TraceFormatName) are printed by `trace show --json` and accepted by `--format`: never rename.
enum class TraceFormat {
  kClaudeCode,
  kClaudeCodeResult,
  kClaudeCodeExport,
  kCodexRollout,
  kCodexExec,
  kGeminiCli,
  kOpenCode,
  kPi,
  kCopilot,
  kFastAgent,
  kAtif,
  kInspect,
  kSweAgent,
  kMiniSweAgent,
  kOpenAiMessages,
  kAnthropicMessages,
  kHfSts,
  kCursor,
  kSpecStory,
  kNotes,
};

const char* TraceFormatName(TraceFormat format);   // "claude-code"
const char* TraceFormatTitle(TraceFormat format);  // "Claude Code"
std::optional<TraceFormat> TraceFormatFromName(std::string_view name);
const std::vector<TraceFormat>& AllTraceFormats();

}  // namespace upskill
