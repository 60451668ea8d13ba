// SPDX-License-Identifier: Apache-2.0
#include "trace/digest/detail_lines.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>

#include "trace/digest/digest_text.h"
#include "trace/digest/excerpt.h"
#include "trace/digest/line_importance.h"
#include "trace/read/tool_use.h"
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
    case LineClass::kEnvironment:
      return 48;
    case LineClass::kSchema:
    case LineClass::kSignature:
      return 44;
    case LineClass::kCommand:
    case LineClass::kConstant:
      return 42;
    case LineClass::kConfiguration:
      return 38;
    case LineClass::kImport:
      return 32;
    case LineClass::kStatement:
      return 26;
    case LineClass::kOther:
      break;
  }
  return 0;
}

// The last parts of a path, which tell files of one project apart.
std::string EndOfPath(std::string_view path) {
  constexpr std::size_t kBytes = 60;
  std::size_t from = path.size();
  for (int parts = 0; parts < 3 && from != std::string_view::npos && from > 0; ++parts)
    from = path.rfind('/', from - 1);
  const std::string_view end = from == std::string_view::npos || from == 0 ? path : path.substr(from + 1);
  return HeadAndTail(end, kBytes);
}

// Names what an event's lines are from. Short, because there are many such items with few lines.
std::string HeadOf(const Trace& trace, const SourceText& source) {
  constexpr std::size_t kBytes = 60;
  if (!source.path.empty()) return EndOfPath(source.path);
  const Event& event = trace.events[source.event];
  if (event.kind == EventKind::kToolCall) return "a command";
  if (event.kind != EventKind::kToolResult) return "the agent's words";
  const Event* const call = event.partner == kNoIndex ? nullptr : &trace.events[event.partner];
  if (call == nullptr) return event.tool;
  if (!call->path.empty()) return EndOfPath(call->path);
  return HeadAndTail(call->command.empty() ? fmt::format("{} {}", call->tool, call->text) : "$ " + call->command,
                     kBytes);
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
        if (event.abandoned) continue;
        if (event.kind == EventKind::kToolCall && !event.command.empty() && !MayWriteFile(event)) {
          if (!IsLookingAround(event)) AddText({i, k, "", event.command, EvidenceOfCall(traces_[i], k)});
          continue;
        }
        const bool told = event.kind == EventKind::kAssistant || event.kind == EventKind::kReasoning;
        if (!told && event.kind != EventKind::kToolResult) continue;
        const bool answered = event.kind == EventKind::kToolResult && event.partner != kNoIndex;
        AddText({i, k, "", event.text, answered ? EvidenceOfCall(traces_[i], event.partner) : HowKnown::kOnlyWritten});
      }
    }
  }

  // The best lines that `shown` doesn't have, in the order of the traces.
  std::vector<Candidate> Choose(std::string_view shown, std::size_t max_bytes) {
    std::unordered_set<std::string_view> known;
    for (const std::string_view line : SplitLines(shown)) known.insert(Trim(WithoutMark(WithoutNumber(Trim(line)))));
    std::erase_if(lines_, [&](const Candidate& line) { return !known.insert(line.line).second; });
    for (Candidate& line : lines_) line.value = ValueOf(line);
    std::stable_sort(lines_.begin(), lines_.end(),
                     [](const Candidate& a, const Candidate& b) { return a.value > b.value; });
    std::unordered_set<std::size_t> opened;
    std::vector<Candidate> chosen;
    std::size_t used = 0;
    for (const Candidate& line : lines_) {
      constexpr std::size_t kIndent = 3;
      const std::size_t cost =
          line.line.size() + kIndent + (opened.contains(line.source) ? 0 : FrameBytes(line.source));
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

  // Of an item without its lines, in the digest.
  std::size_t FrameBytes(std::size_t source) const {
    const DigestItem item = ItemOf(source);
    constexpr std::size_t kMarks = 12;  // "- [ · ]" and the end of the line
    return item.text.size() + PlacesText(item.places).size() + std::string_view(EvidenceWords(item.evidence)).size() +
           kMarks;
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
      const std::string_view content = WithoutMark(WithoutNumber(full));
      const std::string_view line = Trim(content);
      if (!texts_.insert(line).second) continue;
      CountWords(line);
      const LineClass kind = ClassOfLine(line);
      if (kind == LineClass::kOther || lines_.size() >= kMostLines) continue;
      // Settings differ in their keys.
      std::string skeleton_text = LineSkeleton(line);
      if (kind == LineClass::kConfiguration) skeleton_text += line.substr(0, line.find_first_of("=:"));
      const std::size_t skeleton = std::hash<std::string>()(skeleton_text);
      ++like_[skeleton];
      lines_.push_back({sources_.size() - 1, number, line, skeleton, kind, !content.starts_with(line), 0});
    }
  }

  // What would be inside a function, if the line is indented: a statement, or the assignment of a variable. Constants
  // are in upper case.
  static bool IsLocal(const Candidate& line) {
    if (line.kind == LineClass::kStatement) return true;
    if (line.kind != LineClass::kConfiguration && line.kind != LineClass::kConstant) return false;
    const std::size_t sign = line.line.find('=');
    const std::size_t colon = line.line.find(':');
    if (sign == std::string_view::npos || (colon < sign && line.line.starts_with('"'))) return false;
    std::string_view name = Trim(line.line.substr(0, std::min(sign, colon)));
    name = name.substr(name.find_last_of(" *&") + 1);
    return !name.empty() && name.front() >= 'a' && name.front() <= 'z' &&
           (name.size() == 1 || name[0] != 'k' || name[1] < 'A' || name[1] > 'Z');
  }

  // "$ command" and "→ output" of a digest and "+text" of a diff.
  static std::string_view WithoutMark(std::string_view line) {
    for (const std::string_view mark : {"$ ", "→ "}) {
      if (line.starts_with(mark)) return WithoutNumber(line.substr(mark.size()));
    }
    return line.starts_with('+') ? line.substr(1) : line;
  }

  void CountWords(std::string_view line) {
    std::vector<std::string> words = WordsOfLine(line);
    std::sort(words.begin(), words.end());
    words.erase(std::unique(words.begin(), words.end()), words.end());
    for (std::string& word : words) ++lines_with_[std::move(word)];
  }

  // How little the rest of the traces says about a line: the mean information in its two rarest words, in bits, by the
  // share of different lines that have them (the inverse document frequency of K. Spärck Jones, 1972).
  double BitsOf(std::string_view line) const {
    std::vector<double> bits;
    for (const std::string& word : WordsOfLine(line)) {
      const auto found = lines_with_.find(word);
      const double with = found == lines_with_.end() ? 1 : static_cast<double>(found->second);
      bits.push_back(std::log2(static_cast<double>(texts_.size()) / with));
    }
    std::sort(bits.begin(), bits.end(), std::greater<>());
    if (bits.empty()) return 0;
    return bits.size() == 1 ? bits[0] : (bits[0] + bits[1]) / 2;
  }

  // "  17→text" and "17: text" of a read and "src/a.c:17:text" of a search are text, with its indentation.
  static std::string_view WithoutNumber(std::string_view line) {
    static const RE2 pattern(R"(^(?:[\w@./-]*[./][\w@./-]*:\d{1,7}:| *\d{1,7}(?:→|\t|:)))");
    re2::StringPiece rest(line.data(), line.size());
    return RE2::Consume(&rest, pattern) ? std::string_view(rest.data(), rest.size()) : line;
  }

  double ValueOf(const Candidate& line) {
    const SourceText& source = sources_[line.source];
    const double late =
        static_cast<double>(source.event + 1) / static_cast<double>(traces_[source.trace].events.size());
    const double like = static_cast<double>(like_[line.skeleton]);
    const double bits = BitsOf(line.line);
    // A line is like others if it has their form and their words.
    const bool matters = line.kind >= LineClass::kShape;
    const double known = 1 - bits / std::max(1.0, std::log2(static_cast<double>(texts_.size())));
    const double common = std::min((matters ? 5.0 : 8.0) * std::log2(like) * known, matters ? 16.0 : 28.0);
    const double inner = line.indented && IsLocal(line) ? 14 : 0;
    const double value =
        ValueOfClass(line.kind) + 2.5 * bits - inner + 6 * late + (source.path.empty() ? 0 : 6) - common;
    constexpr double kEveryLine = 60;  // bytes
    return std::max(0.0, value) / std::pow(static_cast<double>(line.line.size()) + kEveryLine, 0.4);
  }

  const std::vector<Trace>& traces_;
  std::vector<std::vector<DigestItem>> files_;  // own the texts of files
  std::vector<SourceText> sources_;
  std::vector<Candidate> lines_;
  std::unordered_set<std::string_view> texts_;               // the different lines
  std::unordered_map<std::string, std::size_t> lines_with_;  // word → different lines
  std::unordered_map<std::size_t, std::size_t> like_;        // skeleton → different lines
};

}  // namespace

std::vector<DigestItem> DetailLines(const std::vector<Trace>& traces, std::string_view shown, std::size_t max_bytes) {
  LineCollector collector(traces);
  collector.Collect();
  std::vector<DigestItem> items;
  std::size_t source = kNoIndex;
  for (const Candidate& line : collector.Choose(shown, max_bytes)) {
    if (line.source != source) items.push_back(collector.ItemOf(line.source));
    items.back().text += "\n" + std::string(line.line);
    source = line.source;
  }
  for (DigestItem& item : items) item.detail = TextDetail{item.text, false};
  return items;
}

}  // namespace upskill
