// SPDX-License-Identifier: Apache-2.0
#include "trace/digest/detail_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>

#include "trace/digest/excerpt.h"
#include "trace/digest/line_importance.h"
#include "util/text.h"

namespace upskill {
namespace {

// A text of a trace: an event's, or a file's final content.
struct SourceText {
  std::size_t trace = 0;
  std::size_t event = 0;
  std::string path;  // of a file
  std::string_view text;
  HowKnown evidence = HowKnown::kOnlyWritten;
};

struct Candidate {
  std::size_t source = 0;
  std::size_t number = 0;  // of the line in its text
  std::string_view line;
  std::size_t skeleton = 0;  // hash
  LineClass kind = LineClass::kOther;
  bool indented = false;
  double value = 0;
};

double ValueOfClass(LineClass kind) {
  switch (kind) {
    case LineClass::kRegistration:
      return 60;
    case LineClass::kExport:
      return 58;
    case LineClass::kVersion:
      return 52;
    case LineClass::kShape:
      return 50;
    case LineClass::kSignature:
      return 36;
    case LineClass::kConfiguration:
      return 42;
    case LineClass::kOther:
      break;
  }
  return 0;
}

// Names what an event's lines are from.
std::string HeadOf(const Trace& trace, const SourceText& source) {
  constexpr std::size_t kBytes = 120;
  if (!source.path.empty()) return source.path;
  const Event& event = trace.events[source.event];
  if (event.kind != EventKind::kToolResult) return "said by the agent";
  const Event* const call = event.partner == kNoIndex ? nullptr : &trace.events[event.partner];
  if (call == nullptr) return event.tool;
  const std::string& what = call->command.empty() ? call->path : call->command;
  return HeadAndTail(fmt::format("{} {}", call->tool, what.empty() ? call->text : what), kBytes);
}

class LineCollector {
 public:
  explicit LineCollector(const std::vector<Trace>& traces) : traces_(traces) {}

  void Collect() {
    for (std::size_t i = 0; i < traces_.size(); ++i) {
      files_.push_back(CollectFiles(traces_[i], i));
      for (const DigestItem& item : files_.back()) {
        const auto& file = std::get<FileDetail>(item.detail);
        AddText({i, item.event, file.path, file.content, item.evidence});
      }
      for (std::size_t k = 0; k < traces_[i].events.size(); ++k) {
        const Event& event = traces_[i].events[k];
        const bool told = event.kind == EventKind::kAssistant || event.kind == EventKind::kReasoning;
        if (event.abandoned || (!told && event.kind != EventKind::kToolResult)) continue;
        const bool answered = event.kind == EventKind::kToolResult && event.partner != kNoIndex;
        AddText({i, k, "", event.text, answered ? EvidenceOfCall(traces_[i], event.partner) : HowKnown::kOnlyWritten});
      }
    }
  }

  // The best lines that `shown` doesn't have, in the order of the traces.
  std::vector<Candidate> Choose(std::string_view shown, std::size_t max_bytes) {
    std::unordered_set<std::string_view> known;
    for (const std::string_view line : SplitLines(shown)) known.insert(Trim(line));
    std::erase_if(lines_, [&](const Candidate& line) { return !known.insert(line.line).second; });
    for (Candidate& line : lines_) line.value = ValueOf(line);
    std::stable_sort(lines_.begin(), lines_.end(),
                     [](const Candidate& a, const Candidate& b) { return a.value > b.value; });
    constexpr std::size_t kHeadBytes = 90;  // of an item, about
    std::unordered_set<std::size_t> opened;
    std::vector<Candidate> chosen;
    std::size_t used = 0;
    for (const Candidate& line : lines_) {
      const std::size_t cost = line.line.size() + 5 + (opened.contains(line.source) ? 0 : kHeadBytes);
      if (used + cost > max_bytes) continue;
      used += cost;
      opened.insert(line.source);
      chosen.push_back(line);
    }
    std::sort(chosen.begin(), chosen.end(), [](const Candidate& a, const Candidate& b) {
      return std::pair(a.source, a.number) < std::pair(b.source, b.number);
    });
    return chosen;
  }

  DigestItem ItemOf(std::size_t source_index) const {
    const SourceText& source = sources_[source_index];
    const Trace& trace = traces_[source.trace];
    DigestItem item;
    item.kind = DigestKind::kFact;
    item.trace = source.trace;
    item.event = source.event;
    item.evidence = source.evidence;
    item.places = {PlaceOf(trace, source.event)};
    item.key = fmt::format("lines {} {}", source.trace, source_index);
    item.text = fmt::format("Lines of {}:", HeadOf(trace, source));
    return item;
  }

 private:
  void AddText(const SourceText& source) {
    constexpr std::size_t kMostLines = 400'000;
    sources_.push_back(source);
    std::size_t number = 0;
    for (const std::string_view full : SplitLines(source.text)) {
      ++number;
      const std::string_view line = WithoutNumber(Trim(full));
      const LineClass kind = ClassOfLine(line);
      if (kind == LineClass::kOther || lines_.size() >= kMostLines) continue;
      // Settings differ in their keys.
      std::string skeleton_text = LineSkeleton(line);
      if (kind == LineClass::kConfiguration) skeleton_text += line.substr(0, line.find_first_of("=:"));
      const std::size_t skeleton = std::hash<std::string>()(skeleton_text);
      if (all_.insert(line).second) ++like_[skeleton];
      lines_.push_back({sources_.size() - 1, number, line, skeleton, kind, !full.starts_with(line), 0});
    }
  }

  // "17→text", "src/a.c:17:text" and "17: text" are text: of a read, of a search.
  static std::string_view WithoutNumber(std::string_view line) {
    const std::size_t digits = line.find_first_not_of("0123456789");
    if (digits == 0 || digits == std::string_view::npos || digits > 7) return line;
    for (const std::string_view mark : {"→", "\t", ":"}) {
      if (line.substr(digits).starts_with(mark)) return Trim(line.substr(digits + mark.size()));
    }
    return line;
  }

  double ValueOf(const Candidate& line) {
    const SourceText& source = sources_[line.source];
    const double late =
        static_cast<double>(source.event + 1) / static_cast<double>(traces_[source.trace].events.size());
    const double like = static_cast<double>(like_[line.skeleton]);
    const bool matters = line.kind >= LineClass::kShape;
    const double common = (matters ? 2.0 : 6.0) * std::log2(like);
    const double inner = line.indented && line.kind == LineClass::kConfiguration ? 10 : 0;  // a variable of a function
    return ValueOfClass(line.kind) - inner + 6 * late + (source.path.empty() ? 0 : 6) -
           std::min(common, matters ? 24.0 : 40.0);
  }

  const std::vector<Trace>& traces_;
  std::vector<std::vector<DigestItem>> files_;  // own the texts of files
  std::vector<SourceText> sources_;
  std::vector<Candidate> lines_;
  std::unordered_set<std::string_view> all_;
  std::unordered_map<std::size_t, std::size_t> like_;  // skeleton → different lines
};

}  // namespace

std::vector<DigestItem> DetailLines(const std::vector<Trace>& traces, std::string_view shown, std::size_t max_bytes) {
  LineCollector collector(traces);
  collector.Collect();
  std::vector<DigestItem> items;
  std::size_t source = kNoIndex;
  std::size_t next = 0;
  for (const Candidate& line : collector.Choose(shown, max_bytes)) {
    if (line.source != source) items.push_back(collector.ItemOf(line.source));
    if (line.source == source && line.number != next) items.back().text += "\n…";
    items.back().text += "\n" + std::string(line.line);
    source = line.source;
    next = line.number + 1;
  }
  for (DigestItem& item : items) item.detail = TextDetail{item.text, false};
  return items;
}

}  // namespace upskill
