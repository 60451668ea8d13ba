// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <map>

#include "trace/digest/digest_item.h"
#include "trace/digest/excerpt.h"
#include "trace/read/tool_use.h"
#include "util/text.h"

namespace upskill {
namespace {

// The events from one request of the user up to the next.
struct Span {
  std::size_t begin = 0;  // the user's event
  std::size_t end = 0;
};

std::vector<Span> EpisodesOf(const Trace& trace) {
  std::vector<Span> spans;
  for (std::size_t i = 0; i < trace.events.size(); ++i) {
    const Event& event = trace.events[i];
    if (event.kind == EventKind::kUser && event.agent.empty() && !event.abandoned) {
      spans.push_back({i, trace.events.size()});
      if (spans.size() > 1) spans[spans.size() - 2].end = i;
    }
  }
  // A recording without the prompt is one episode.
  if (spans.empty() && !trace.events.empty()) spans.push_back({0, trace.events.size()});
  return spans;
}

DigestItem EpisodeItem(const Trace& trace, const Span& span, std::size_t number, std::size_t count) {
  const Event& start = trace.events[span.begin];
  EpisodeDetail episode;
  std::size_t answer = kNoIndex;
  for (std::size_t i = span.begin; i < span.end; ++i) {
    const Event& event = trace.events[i];
    if (!event.agent.empty() || event.abandoned) continue;
    if (event.kind == EventKind::kAssistant) answer = i;
    if (event.kind == EventKind::kToolCall) ++episode.tools[event.tool];
    if (event.kind == EventKind::kToolResult && event.status == CallStatus::kError) ++episode.errors;
  }
  DigestItem item;
  item.kind = DigestKind::kEpisode;
  if (start.kind == EventKind::kUser || trace.format == TraceFormat::kNotes) episode.request = start.text;
  if (answer != kNoIndex) episode.outcome = trace.events[answer].text;
  item.key = "episode " + HeadAndTail(episode.request, 200);
  const bool edge = number == 0 || number + 1 == count;
  item.value = (edge ? 95.0 : 45.0) + 5.0 * static_cast<double>(number + 1) / static_cast<double>(count);
  item.places = {PlaceOf(trace, span.begin)};
  if (answer != kNoIndex) item.places.push_back(PlaceOf(trace, answer));
  item.event = span.begin;
  item.evidence = episode.request.empty() ? HowKnown::kOnlyWritten : HowKnown::kToldByUser;
  item.detail = std::move(episode);
  return item;
}

// The words after "the user said:" in a rejected call, or all of a later prompt.
std::string CorrectionOf(const Event& event) {
  if (event.kind == EventKind::kUser) return event.text;
  for (const std::string_view mark :
       {"the user said:", "The user provided the following reason for the rejection:", "user feedback:"}) {
    const std::size_t found = event.text.find(mark);
    if (found != std::string::npos) return std::string(Trim(std::string_view(event.text).substr(found + mark.size())));
  }
  return "";
}

// Whether the user objects to something, rather than asking for the next thing.
bool Objects(const std::string& text) {
  constexpr std::array<std::string_view, 12> kOpenings = {"no ",  "no,",  "no.",   "nope", "don't",  "do not",
                                                          "stop", "wait", "wrong", "undo", "revert", "actually"};
  constexpr std::array<std::string_view, 31> kCues = {
      ", not ",       "that's wrong",  "that is wrong",   "is wrong",    "not what i",  "not like that",
      "doesn't work", "does not work", "didn't work",     "not working", "still fail",  "still broken",
      "still wrong",  "isn't right",   "is not right",    "i told you",  "i said",      "i asked",
      "you forgot",   "you missed",    "you should have", "must not ",   "should not ", "shouldn't ",
      "never ",       "instead of ",   "rather than ",    "don't ",      "can't work",  "cannot work",
      "remove it"};
  const std::string lower = ToLowerAscii(Trim(text).substr(0, 2000));
  if (std::any_of(kOpenings.begin(), kOpenings.end(), [&](std::string_view cue) { return lower.starts_with(cue); }))
    return true;
  // Questions ask for something, whatever their words.
  std::size_t begin = 0;
  while (begin < lower.size()) {
    std::size_t end = lower.find_first_of("?!\n", begin);
    const std::size_t stop = lower.find(". ", begin);
    end = std::min({end, stop, lower.size()});
    const std::string_view sentence = Trim(std::string_view(lower).substr(begin, end - begin));
    const bool asks = (end < lower.size() && lower[end] == '?') || sentence.starts_with("can you") ||
                      sentence.starts_with("could you");
    const auto has = [&](std::string_view cue) { return sentence.find(cue) != std::string_view::npos; };
    if (!asks && std::any_of(kCues.begin(), kCues.end(), has)) return true;
    begin = end + 1;
  }
  return false;
}

// Whether the user said this after stopping the agent or rejecting a call.
bool FollowsRefusal(const Trace& trace, std::size_t message) {
  for (std::size_t i = message; i-- > 0;) {
    const Event& event = trace.events[i];
    if (event.kind == EventKind::kToolResult)
      return event.status == CallStatus::kRejected || event.status == CallStatus::kCancelled;
    if (event.kind == EventKind::kUser || event.kind == EventKind::kAssistant) return false;
    if (event.kind == EventKind::kSystem && event.text.find("interrupted by user") != std::string::npos) return true;
  }
  return false;
}

int FindingWeight(std::string_view text) {
  constexpr std::array<std::string_view, 24> kCues = {
      "root cause", "the fix",  "fixed by",  "turns out",  "the problem", "the issue", "because",   "instead of",
      "must be",    "need to",  "needs to",  "important",  "works now",   "the key",   "requires",  "the reason",
      "lesson",     "solution", "the trick", "only works", "has to",      "remember",  "caused by", "note that"};
  std::string lower = ToLowerAscii(text.substr(0, 8000));
  std::replace(lower.begin(), lower.end(), '\n', ' ');  // wrapped rows stay apart
  int weight = 0;
  for (const std::string_view cue : kCues) {
    if (lower.find(cue) != std::string::npos) weight += 1;
  }
  return weight;
}

DigestItem TextItem(const Trace& trace, std::size_t i, DigestKind kind, std::string_view text, double value) {
  DigestItem item;
  item.kind = kind;
  item.key = HeadAndTail(text, 300);
  item.detail = TextDetail{std::string(text), false};
  item.value = value;
  item.places = {PlaceOf(trace, i)};
  item.event = i;
  if (kind == DigestKind::kCorrection) item.evidence = HowKnown::kToldByUser;
  if (kind == DigestKind::kFact) item.evidence = HowKnown::kReadInDocs;
  return item;
}

// From 0 for the first event to 1 for the last.
double Late(const Trace& trace, std::size_t i) {
  return static_cast<double>(i + 1) / static_cast<double>(trace.events.size());
}

// A looked-up text without the lines that search tools add: lists of links, reminders to the model.
std::string WithoutFraming(std::string_view text) {
  std::string out;
  for (const std::string_view line : SplitLines(text)) {
    if (line.starts_with("Links: [{") || line.starts_with("REMINDER: ") || line.starts_with("Web search results for "))
      continue;
    out.append(line).append(1, '\n');
  }
  return std::string(Trim(out));
}

void AddFact(const Trace& trace, std::size_t i, std::vector<DigestItem>& items) {
  const Event& call = trace.events[i];
  if (call.partner == kNoIndex) return;
  const Event& result = trace.events[call.partner];
  if (result.status == CallStatus::kError || result.status == CallStatus::kRejected || result.text.size() < 20) return;
  const std::string answer = WithoutFraming(result.text);
  DigestItem item = TextItem(trace, call.partner, DigestKind::kFact, answer, 40 + 10 * Late(trace, i));
  item.detail = FactDetail{call.tool, call.text, answer};
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
    if (k > 0 && start.kind == EventKind::kUser && start.text.front() != '/' &&
        (Objects(start.text) || FollowsRefusal(trace, episodes[k].begin))) {
      items.push_back(TextItem(trace, episodes[k].begin, DigestKind::kCorrection, start.text, 92));
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
      if (weight > 0)
        items.push_back(TextItem(trace, i, DigestKind::kFinding, event.text, base + 6.0 * weight + 16 * late));
    } else if (event.kind == EventKind::kSummary) {
      items.push_back(TextItem(trace, i, DigestKind::kFinding, event.text, 70));
    } else if (event.kind == EventKind::kSystem && trace.format == TraceFormat::kNotes) {
      DigestItem item = TextItem(trace, i, DigestKind::kFinding, event.text, 90);
      item.detail = TextDetail{event.text, true};
      items.push_back(std::move(item));
    }
  }
  for (DigestItem& item : items) item.trace = trace_index;
  return items;
}

}  // namespace upskill
