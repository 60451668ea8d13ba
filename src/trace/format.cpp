// SPDX-License-Identifier: Apache-2.0
#include "trace/format.h"

#include <array>

#include "util/invariant.h"

namespace upskill {
namespace {

struct FormatNames {
  TraceFormat format;
  const char* name;
  const char* title;
};

constexpr std::array<FormatNames, 20> kFormats = {{
    {TraceFormat::kClaudeCode, "claude-code", "Claude Code"},
    {TraceFormat::kClaudeCodeResult, "claude-code-result", "Claude Code (print mode)"},
    {TraceFormat::kClaudeCodeExport, "claude-code-export", "Claude Code (export)"},
    {TraceFormat::kCodexRollout, "codex-rollout", "Codex"},
    {TraceFormat::kCodexExec, "codex-exec", "codex exec"},
    {TraceFormat::kGeminiCli, "gemini-cli", "Gemini CLI"},
    {TraceFormat::kOpenCode, "opencode", "OpenCode"},
    {TraceFormat::kPi, "pi", "Pi"},
    {TraceFormat::kCopilot, "copilot", "Copilot CLI"},
    {TraceFormat::kFastAgent, "fast-agent", "fast-agent"},
    {TraceFormat::kAtif, "atif", "ATIF"},
    {TraceFormat::kInspect, "inspect", "Inspect"},
    {TraceFormat::kSweAgent, "swe-agent", "SWE-agent"},
    {TraceFormat::kMiniSweAgent, "mini-swe-agent", "mini-swe-agent"},
    {TraceFormat::kOpenAiMessages, "openai-messages", "OpenAI messages"},
    {TraceFormat::kAnthropicMessages, "anthropic-messages", "Anthropic messages"},
    {TraceFormat::kHfSts, "hf-sts", "HF session trace"},
    {TraceFormat::kCursor, "cursor", "Cursor export"},
    {TraceFormat::kSpecStory, "specstory", "SpecStory"},
    {TraceFormat::kNotes, "notes", "plain text"},
}};

const FormatNames& NamesOf(TraceFormat format) {
  for (const FormatNames& names : kFormats) {
    if (names.format == format) return names;
  }
  FailInvariant("every format has names", __FILE__, __LINE__);
}

}  // namespace

const char* TraceFormatName(TraceFormat format) { return NamesOf(format).name; }
const char* TraceFormatTitle(TraceFormat format) { return NamesOf(format).title; }

std::optional<TraceFormat> TraceFormatFromName(std::string_view name) {
  for (const FormatNames& names : kFormats) {
    if (name == names.name) return names.format;
  }
  return std::nullopt;
}

const std::vector<TraceFormat>& AllTraceFormats() {
  static const std::vector<TraceFormat> formats = [] {
    std::vector<TraceFormat> all;
    all.reserve(kFormats.size());
    for (const FormatNames& names : kFormats) all.push_back(names.format);
    return all;
  }();
  return formats;
}

}  // namespace upskill
