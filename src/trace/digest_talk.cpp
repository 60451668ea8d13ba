// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "trace/digest.h"
#include "trace/excerpt.h"
#include "trace/tool_use.h"
#include "util/text.h"

namespace upskill {
namespace {

// One request of the person up to the next one.
struct Span {
  std::size_t begin = 0;  // the person's event
  std::size_t end = 0;
};

std::vector<Span> EpisodesOf(const Trace& trace) {
  std::vector<Span> spans;
  for (std::size_t i = 0; i < trace.events.size(); ++i) {
    const Event& event = trace.events[i];
    if (event.kind == EventKind::kPerson && event.agent.empty()) {
      spans.push_back({i, trace.events.size()});
      if (spans.size() > 1) spans[spans.size() - 2].end = i;
    }
  }
  // A recording without the prompt is one episode.
  if (spans.empty() && !trace.events.empty()) spans.push_back({0, trace.events.size()});
  return spans;
}

std::string ToolsOf(const Trace& trace, const Span& span) {
  std::map<std::string, std::size_t> tools;
  std::size_t errors = 0;
  for (std::size_t i = span.begin; i < span.end; ++i) {
    const Event& event = trace.events[i];
    if (!event.agent.empty()) continue;
    if (event.kind == EventKind::kToolCall) ++tools[event.tool];
    if (event.kind == EventKind::kToolResult && event.status == CallStatus::kError) ++errors;
  }
  std::string text;
  for (const auto& [name, count] : tools) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, count);
  if (errors > 0) text += fmt::format("; {} failed", errors);
  return text.empty() ? "no tools" : text;
}

DigestItem EpisodeItem(const Trace& trace, const Span& span, std::size_t number, std::size_t count) {
  const Event& start = trace.events[span.begin];
  std::size_t answer = kNone;
  for (std::size_t i = span.begin; i < span.end; ++i) {
    const Event& event = trace.events[i];
    if (event.kind == EventKind::kAssistant && event.agent.empty() && !event.abandoned) answer = i;
  }
  DigestItem item;
  item.kind = DigestKind::kEpisode;
  const bool has_prompt = start.kind == EventKind::kPerson || trace.format == TraceFormat::kNotes;
  const std::string goal = has_prompt ? start.text : "(the prompt is not in this recording)";
  const std::string outcome = answer == kNone ? "(no answer)" : trace.events[answer].text;
  const auto shown = [&](std::size_t goal_bytes, std::size_t outcome_bytes) {
    return fmt::format("Goal: {}\nSteps: {}\nOutcome: {}", HeadAndTail(goal, goal_bytes), ToolsOf(trace, span),
                       Excerpt(outcome, outcome_bytes));
  };
  item.brief = shown(400, 400);
  item.full = shown(2000, 1600);
  item.key = fmt::format("episode {}", HeadAndTail(goal, 200));
  const bool edge = number == 0 || number + 1 == count;
  item.value = (edge ? 95.0 : 45.0) + 5.0 * static_cast<double>(number + 1) / static_cast<double>(count);
  item.places = {EventPlace(trace, span.begin)};
  if (answer != kNone) item.places.push_back(EventPlace(trace, answer));
  item.event = span.begin;
  return item;
}

// Words behind "the user said:" in a refusal, or all of a later prompt.
std::string CorrectionOf(const Event& event) {
  if (event.kind == EventKind::kPerson) return event.text;
  for (const std::string_view mark : {"the user said:", "The user provided the following reason for the rejection:", "user feedback:"}) {
    const std::size_t found = event.text.find(mark);
    if (found != std::string::npos) return std::string(Trim(std::string_view(event.text).substr(found + mark.size())));
  }
  return "";
}

bool SaysNo(const std::string& text) {
  constexpr std::array<std::string_view, 22> kCues = {"no,", "no ", "not ", "don't", "do not", "instead", "wrong", "stop", "actually",
                                                      "should", "must", "never", "always", "still", "fail", "doesn't", "isn't",
                                                      "revert", "undo", "use ", "keep", "why"};
  const std::string lower = ToLowerAscii(text.substr(0, 2000));
  return std::any_of(kCues.begin(), kCues.end(), [&](std::string_view cue) { return lower.find(cue) != std::string::npos; });
}

int FindingWeight(std::string_view text) {
  constexpr std::array<std::string_view, 24> kCues = {
      "root cause", "the fix", "fixed by", "turns out", "the problem", "the issue", "because", "instead of", "must be", "need to",
      "needs to", "important", "works now", "the key", "requires", "the reason", "lesson", "solution", "the trick", "only works",
      "has to", "remember", "caused by", "note that"};
  const std::string lower = ToLowerAscii(text.substr(0, 8000));
  int weight = 0;
  for (const std::string_view cue : kCues) {
    if (lower.find(cue) != std::string::npos) weight += 1;
  }
  return weight;
}

DigestItem TextItem(const Trace& trace, std::size_t i, DigestKind kind, std::string_view text, double value) {
  DigestItem item;
  item.kind = kind;
  item.brief = Excerpt(text, 500);
  item.full = Excerpt(text, 1600);
  item.key = HeadAndTail(text, 300);
  item.value = value;
  item.places = {EventPlace(trace, i)};
  item.event = i;
  return item;
}

// Between 0 for the first and 1 for the last event.
double Late(const Trace& trace, std::size_t i) {
  return static_cast<double>(i + 1) / static_cast<double>(trace.events.size());
}

void AddFact(const Trace& trace, std::size_t i, std::vector<DigestItem>& items) {
  const Event& call = trace.events[i];
  if (call.partner == kNone) return;
  const Event& result = trace.events[call.partner];
  if (result.status == CallStatus::kError || result.status == CallStatus::kRejected || result.text.size() < 20) return;
  DigestItem item = TextItem(trace, call.partner, DigestKind::kFact, result.text, 40 + 10 * Late(trace, i));
  const std::string question = HeadAndTail(call.text, 240);
  item.brief = fmt::format("{} {}\n{}", call.tool, question, item.brief);
  item.full = fmt::format("{} {}\n{}", call.tool, question, item.full);
  item.key = call.tool + " " + call.text;
  items.push_back(std::move(item));
}

}  // namespace

std::vector<DigestItem> CollectTalk(const Trace& trace, std::size_t trace_index) {
  std::vector<DigestItem> items;
  const std::vector<Span> episodes = EpisodesOf(trace);
  for (std::size_t k = 0; k < episodes.size(); ++k) {
    items.push_back(EpisodeItem(trace, episodes[k], k, episodes.size()));
    const Event& start = trace.events[episodes[k].begin];
    if (k > 0 && start.kind == EventKind::kPerson && start.text.front() != '/') {
      items.push_back(TextItem(trace, episodes[k].begin, DigestKind::kCorrection, start.text, SaysNo(start.text) ? 92 : 55));
    }
  }
  for (std::size_t i = 0; i < trace.events.size(); ++i) {
    const Event& event = trace.events[i];
    const double late = Late(trace, i);
    if (event.kind == EventKind::kToolResult && event.status == CallStatus::kRejected) {
      const std::string said = CorrectionOf(event);
      if (!said.empty()) items.push_back(TextItem(trace, i, DigestKind::kCorrection, said, 92));
    } else if (event.kind == EventKind::kToolCall && LooksUpFacts(event.tool)) {
      AddFact(trace, i, items);
    } else if (event.kind == EventKind::kAssistant || event.kind == EventKind::kReasoning) {
      const int weight = std::min(FindingWeight(event.text), 5);
      const double base = event.kind == EventKind::kAssistant ? 34 : 22;
      if (weight > 0) items.push_back(TextItem(trace, i, DigestKind::kFinding, event.text, base + 6.0 * weight + 16 * late));
    } else if (event.kind == EventKind::kSummary) {
      items.push_back(TextItem(trace, i, DigestKind::kFinding, event.text, 70));
    } else if (event.kind == EventKind::kSystem && trace.format == TraceFormat::kNotes) {
      DigestItem item = TextItem(trace, i, DigestKind::kFinding, event.text, 90);
      item.full = HeadAndTail(event.text, 16000);
      items.push_back(std::move(item));
    }
  }
  for (DigestItem& item : items) item.trace = trace_index;
  return items;
}

}  // namespace upskill
