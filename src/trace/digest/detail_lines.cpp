// SPDX-License-Identifier: Apache-2.0
#include "trace/digest/detail_lines.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <string>
#include <tuple>
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
  std::size_t group = 0;  // of texts with the same name and evidence
};

struct Candidate {
  std::size_t source = 0;
  std::size_t number = 0;  // of the line in its text
  std::string_view line;
  std::string_view outcome;  // of a command in an output: the line that follows
  std::size_t skeleton = 0;  // hash
  LineClass kind = LineClass::kOther;
  bool indented = false;
  double value = 0;
};

// How much likelier than any other a line of a class is one that a reader needs, as the logarithm of the odds.
double ValueOfClass(LineClass kind) {
  switch (kind) {
    case LineClass::kRegistration:
    case LineClass::kExport:
      return 5;
    case LineClass::kShape:
    case LineClass::kSchema:
      return 4.5;
    case LineClass::kVersion:
    case LineClass::kSignature:
    case LineClass::kConstant:
      return 4;
    case LineClass::kEnvironment:
    case LineClass::kCommand:
      return 3.5;
    case LineClass::kConfiguration:
      return 3;
    case LineClass::kImport:
      return 1;
    case LineClass::kStatement:
      return 0.5;
    case LineClass::kOther:
      break;
  }
  return -3;  // only where nothing else is left to tell
}

// Whether a name is in capitals: of a macro, constant or variable of the environment, or a word of SQL.
bool HasCapitalName(std::string_view line) {
  static const RE2 pattern(R"(\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b|^[A-Z]{3,}\b)");
  return RE2::PartialMatch(re2::StringPiece(line.data(), line.size()), pattern);
}

// The last parts of a path, which tell files of one project apart.
std::string EndOfPath(std::string_view path) {
  constexpr std::size_t kBytes = 50;
  std::size_t from = path.size();
  for (int parts = 0; parts < 2 && from != std::string_view::npos && from > 0; ++parts)
    from = path.rfind('/', from - 1);
  const std::string_view end = from == std::string_view::npos || from == 0 ? path : path.substr(from + 1);
  return HeadAndTail(end, kBytes);
}

// Names what an event's lines are from. Short, because there are many such items with few lines.
std::string HeadOf(const Trace& trace, const SourceText& source) {
  constexpr std::size_t kBytes = 50;
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

constexpr std::size_t kMostTold = 4000;  // bytes of a person's message that say what the session is about

class LineCollector {
 public:
  LineCollector(const std::vector<Trace>& traces, bool others) : traces_(traces), others_(others) {}

  void Collect() {
    for (std::size_t i = 0; i < traces_.size(); ++i) {
      files_.push_back(CollectFiles(traces_[i], i));
      for (const DigestItem& item : files_.back()) {
        const auto& file = std::get<FileDetail>(item.detail);
        AddText({i, item.event, file.path, file.content, item.evidence});
        AddSubjects(EndOfPath(file.path));
      }
      for (std::size_t k = 0; k < traces_[i].events.size(); ++k) {
        const Event& event = traces_[i].events[k];
        if (event.abandoned) continue;
        if (event.kind == EventKind::kUser) AddSubjects(event.text.substr(0, kMostTold));
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
    for (const std::string_view line : SplitLines(shown))
      known.insert(Trim(WithoutMark(WithoutLineNumber(Trim(line)))));
    std::erase_if(lines_, [&](const Candidate& line) { return !known.insert(line.line).second; });
    for (Candidate& line : lines_) line.value = ValueOf(line);
    std::stable_sort(lines_.begin(), lines_.end(),
                     [](const Candidate& a, const Candidate& b) { return a.value > b.value; });
    std::unordered_set<std::size_t> opened;  // groups
    std::unordered_set<std::size_t> placed;  // texts
    std::vector<Candidate> chosen;
    std::size_t used = 0;
    for (const Candidate& line : lines_) {
      constexpr std::size_t kIndent = 3;
      constexpr std::size_t kPlace = 7;  // ", #1234"
      const std::size_t group = sources_[line.source].group;
      const std::size_t frame = !opened.contains(group)        ? FrameBytes(line.source)
                                : placed.contains(line.source) ? 0
                                                               : kPlace;
      const std::size_t cost = line.line.size() + line.outcome.size() + kIndent + frame;
      if (used + cost > max_bytes) continue;
      used += cost;
      opened.insert(group);
      placed.insert(line.source);
      chosen.push_back(line);
    }
    std::sort(chosen.begin(), chosen.end(), [&](const Candidate& a, const Candidate& b) {
      return std::tuple(sources_[a.source].group, a.source, a.number) <
             std::tuple(sources_[b.source].group, b.source, b.number);
    });
    return chosen;
  }

  // Lines of the same file or command that are known in the same way are one item.
  bool SameItem(const Candidate& a, const Candidate& b) const {
    return sources_[a.source].group == sources_[b.source].group;
  }

  EventPlace PlaceOfLine(const Candidate& line) const {
    const SourceText& source = sources_[line.source];
    return PlaceOf(traces_[source.trace], source.event);
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
    item.key = fmt::format("lines {}", source.group);
    item.text = fmt::format("Lines of {}:", HeadOf(trace, source));
    return item;
  }

 private:
  // Of an item without its lines, in the digest.
  std::size_t FrameBytes(std::size_t source) const {
    const DigestItem item = ItemOf(source);
    constexpr std::size_t kMarks = 12;  // "- [ · ]" and the end of the line
    return item.text.size() + PlacesText(item.places).size() + std::string_view(EvidenceWords(item.evidence)).size() +
           kMarks;
  }

  void AddText(SourceText source) {
    constexpr std::size_t kMostLines = 400'000;
    constexpr std::size_t kMostOtherLines = 50'000;
    const std::string group =
        fmt::format("{} {} {}", source.trace, EvidenceWords(source.evidence), HeadOf(traces_[source.trace], source));
    source.group = groups_.try_emplace(group, groups_.size()).first->second;
    sources_.push_back(std::move(source));
    const Event& event = traces_[sources_.back().trace].events[sources_.back().event];
    const bool in_output = sources_.back().path.empty() && event.kind == EventKind::kToolResult;
    std::size_t number = 0;
    bool may_have_outcome = false;  // the line before is a command whose outcome this line may be
    for (const std::string_view full : SplitLines(sources_.back().text)) {
      ++number;
      if (may_have_outcome) {
        constexpr std::size_t kMostOutcome = 200;
        const std::string_view outcome = Trim(full).substr(0, kMostOutcome);
        if (!IsAfterPrompt(full)) lines_.back().outcome = outcome;
        may_have_outcome = outcome.empty();
      }
      const std::string_view content = WithoutMark(WithoutLineNumber(full));
      const std::string_view line = Trim(content);
      if (!texts_.insert(line).second) continue;
      CountWords(line);
      const LineClass kind = ClassOfLine(line);
      if (lines_.size() >= (kind == LineClass::kOther ? kMostOtherLines : kMostLines)) continue;
      if (kind == LineClass::kOther && (!others_ || !MayTell(line))) continue;
      // Settings differ in their keys.
      std::string skeleton_text = LineSkeleton(line);
      if (kind == LineClass::kConfiguration) skeleton_text += line.substr(0, line.find_first_of("=:"));
      const std::size_t skeleton = std::hash<std::string>()(skeleton_text);
      ++like_[skeleton];
      lines_.push_back({sources_.size() - 1, number, line, {}, skeleton, kind, !content.starts_with(line), 0});
      may_have_outcome = in_output && IsAfterPrompt(full);
    }
  }

  // Whether a line of no class has words enough to tell something, and isn't too long to be told.
  static bool MayTell(std::string_view line) {
    constexpr std::size_t kShortest = 12;
    constexpr std::size_t kLongest = 200;
    return line.size() >= kShortest && line.size() <= kLongest && WordsOfLine(line).size() > 1;
  }

  // A command with its shell's prompt, or as `set -x` shows it.
  static bool IsAfterPrompt(std::string_view line) {
    static const RE2 pattern(R"(^\s*(?:[\w@:~/.()-]{0,40}[$#>]|\++) \S)");
    return RE2::PartialMatch(re2::StringPiece(line.data(), line.size()), pattern);
  }

  // The words of what was asked for and of the names of files that were written.
  void AddSubjects(std::string_view text) {
    for (std::string& word : WordsOfLine(text)) subjects_.insert(std::move(word));
  }

  // Whether the line names what the session is about: a subject that few of the lines have.
  bool NamesSubject(std::string_view line) const {
    constexpr double kRareShare = 0.02;
    const std::vector<std::string> words = WordsOfLine(line);
    return std::any_of(words.begin(), words.end(), [&](const std::string& word) {
      if (word.size() < 4 || !subjects_.contains(word)) return false;
      const auto found = lines_with_.find(word);
      return found == lines_with_.end() ||
             static_cast<double>(found->second) <= kRareShare * static_cast<double>(texts_.size());
    });
  }

  // "$ command", "Failed: command" and "→ output" of a digest and "+text" of a diff.
  static std::string_view WithoutMark(std::string_view line) {
    for (const std::string_view mark : {"$ ", "→ ", "Failed: ", "Works: ", "ran: "}) {
      if (line.starts_with(mark)) return WithoutLineNumber(line.substr(mark.size()));
    }
    return line.starts_with('+') ? line.substr(1) : line;
  }

  void CountWords(std::string_view line) {
    std::vector<std::string> words = WordsOfLine(line);
    std::sort(words.begin(), words.end());
    words.erase(std::unique(words.begin(), words.end()), words.end());
    for (std::string& word : words) ++lines_with_[std::move(word)];
  }

  // How little the rest of the traces says about a line: the mean information in its three rarest words, in bits, by
  // the share of different lines that have them (the inverse document frequency of K. Spärck Jones, 1972).
  double BitsOf(std::string_view line) const {
    std::vector<double> bits;
    for (const std::string& word : WordsOfLine(line)) {
      const auto found = lines_with_.find(word);
      const double with = found == lines_with_.end() ? 1 : static_cast<double>(found->second);
      bits.push_back(std::log2(static_cast<double>(texts_.size()) / with));
    }
    constexpr std::size_t kRarest = 3;
    std::sort(bits.begin(), bits.end(), std::greater<>());
    bits.resize(std::min(bits.size(), kRarest));
    return bits.empty() ? 0 : std::accumulate(bits.begin(), bits.end(), 0.0) / static_cast<double>(bits.size());
  }

  // The logarithm of the odds that a reader needs the line, by the byte. The weights are those of a logistic
  // regression, rounded, on sessions of 2 MB with lines of 30 languages and file formats among their own.
  double ValueOf(const Candidate& line) const {
    const SourceText& source = sources_[line.source];
    const double late =
        static_cast<double>(source.event + 1) / static_cast<double>(traces_[source.trace].events.size());
    const double most_bits = std::max(1.0, std::log2(static_cast<double>(texts_.size())));
    const auto bytes = static_cast<double>(line.line.size() + line.outcome.size());
    double value = ValueOfClass(line.kind) + 12 * BitsOf(line.line) / most_bits + 0.75 * late - 0.04 * bytes -
                   0.4 * std::log2(static_cast<double>(like_.at(line.skeleton)));
    if (!source.path.empty()) value += 0.8;
    if (NamesSubject(line.line)) value += 2.5;
    if (line.indented) value -= 1.6;
    if (HasCapitalName(line.line)) value += 1.2;
    if (std::string_view("{([").find(line.line.back()) != std::string_view::npos) value -= 0.7;
    constexpr double kEveryLine = 30;  // bytes of its place
    return value - std::log(bytes + kEveryLine);
  }

  const std::vector<Trace>& traces_;
  bool others_;                                 // lines of no class are candidates, too
  std::vector<std::vector<DigestItem>> files_;  // own the texts of files
  std::vector<SourceText> sources_;
  std::unordered_map<std::string, std::size_t> groups_;
  std::vector<Candidate> lines_;
  std::unordered_set<std::string_view> texts_;               // the different lines
  std::unordered_map<std::string, std::size_t> lines_with_;  // word → different lines
  std::unordered_map<std::size_t, std::size_t> like_;        // skeleton → different lines
  std::unordered_set<std::string> subjects_;
};

}  // namespace

std::vector<DigestItem> DetailLines(const std::vector<Trace>& traces, std::string_view shown, std::size_t max_bytes,
                                    bool others) {
  LineCollector collector(traces, others);
  collector.Collect();
  std::vector<DigestItem> items;
  const std::vector<Candidate> lines = collector.Choose(shown, max_bytes);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i == 0 || !collector.SameItem(lines[i - 1], lines[i])) {
      items.push_back(collector.ItemOf(lines[i].source));
    } else if (lines[i].source != lines[i - 1].source) {
      items.back().places.push_back(collector.PlaceOfLine(lines[i]));
    }
    items.back().text.append("\n").append(lines[i].line);
    if (!lines[i].outcome.empty()) items.back().text.append("\n→ ").append(lines[i].outcome);
  }
  for (DigestItem& item : items) item.detail = TextDetail{item.text, false};
  return items;
}

}  // namespace upskill
