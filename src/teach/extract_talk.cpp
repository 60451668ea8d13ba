// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>
#include <string_view>

#include "teach/extract_parts.h"
#include "teach/extract_text.h"
#include "teach/one_line.h"
#include "trace/digest/excerpt.h"
#include "util/text.h"

namespace upskill {
namespace {

// Whether a sentence of the user says what to do or what holds, by itself: an instruction or a restriction, about
// something that it names.
bool IsRuleOfUser(const std::string& sentence) {
  constexpr std::size_t kShortest = 15;
  constexpr std::size_t kLongest = 240;
  static const RE2 binding(
      R"((?i)\b(?:must|should|always|never|don't|do not|doesn't|does not|instead|only|no|not|needs?|)"
      R"(has to|have to|can't|cannot|won't)\b|(?:^|[,;:]\s*)use\b)");
  if (sentence.size() < kShortest || sentence.size() > kLongest || sentence.ends_with('?')) return false;
  if (!RE2::PartialMatch(sentence, binding)) return false;
  const std::string lower = ToLowerAscii(sentence);
  if (StartsWithAny(lower, {"can you", "could you", "please", "ok", "yes", "thanks", "what", "how", "why",
                            "i'm not sure", "i don't know", "[request interrupted"}))
    return false;
  if (ContainsAny(lower, {"can you", "could you", "can i ", "i want", "i would like"})) return false;
  return !TellingTextsOf(sentence).empty() || CommonWords(WordsOf(sentence), sentence) >= 4;
}

// "no, ", "wait. " and the like say nothing by themselves.
std::string WithoutObjection(std::string sentence) {
  static const RE2 objection(R"(^(?i)(?:no|nope|wait|stop|hmm|actually|well|ok|okay|next)\s*[,.:!]\s+)");
  RE2::Replace(&sentence, objection, "");
  const std::string word = sentence.substr(0, sentence.find(' '));
  const bool plain = std::all_of(word.begin(), word.end(), [](char c) { return c >= 'a' && c <= 'z'; });
  if (!word.empty() && plain) sentence[0] = static_cast<char>(sentence[0] - 'a' + 'A');
  return sentence;
}

// The change of one line that has most to do with the error: what it removed and added.
struct LineChange {
  std::string path;
  std::string removed;  // empty: nothing was replaced
  std::string added;
};

std::optional<LineChange> ChangeFor(const FixDetail& fix) {
  constexpr std::size_t kMostPairs = 10'000;
  const std::set<std::string> words = WordsOf(fix.error);
  std::optional<LineChange> best;
  std::size_t most = 0;
  std::size_t edits = 0;
  for (const FixStep& step : fix.steps) {
    if (step.kind != FixStep::Kind::kEdit || step.edit.kind == FileEdit::Kind::kWrite) continue;
    ++edits;
    const EditedLines lines = LinesOf(step.edit);
    if (lines.added.size() * lines.removed.size() > kMostPairs) continue;  // too much has changed to tell
    for (const std::string& added : lines.added) {
      if (Trim(added).size() < 3) continue;
      // The removed line that has most in common with the added one is what it replaced.
      std::string removed;
      std::size_t like = 0;
      for (const std::string& line : lines.removed) {
        const std::size_t common = CommonWords(WordsOf(added), line) + 1;
        if (common > like) removed = line;
        like = std::max(like, common);
      }
      const std::size_t related = CommonWords(words, added) + CommonWords(words, removed);
      if (best && related <= most) continue;
      most = related;
      best = LineChange{step.edit.path, std::string(Trim(removed)), std::string(Trim(added))};
    }
  }
  return most > 0 || edits == 1 ? best : std::nullopt;
}

bool IsNoiseOfTheTool(const std::string& error) {
  return ContainsAny(ToLowerAscii(error), {"sandbox", "tool call errored", "timed out", "timeout", "interrupted",
                                           "permission denied", "[redacted:", "doesn't want to proceed"});
}

std::string OneCommand(const std::string& text, const std::string& project) {
  constexpr std::size_t kMaxColumns = 120;
  constexpr std::size_t kLongest = 4000;
  std::string line = CutToColumns(OneLine(Trim(text)), kLongest);
  for (std::size_t at = line.find(project); !project.empty() && at != std::string::npos; at = line.find(project, at))
    line.erase(at, project.size());
  return InBackticks(CutToColumns(line, kMaxColumns));
}

}  // namespace

Section CorrectionsPart(const Material& material) {
  constexpr std::size_t kMaxRules = 8;
  Section part{"Rules that the user gave", {}};
  for (const MaterialItem& item : material.items) {
    if (item.kind != MaterialKind::kCorrection) continue;
    for (const std::string_view line : SplitLines(item.text)) {
      for (const std::string& sentence : SentencesOf(std::string(Trim(line)))) {
        if (part.rules.size() < kMaxRules && IsRuleOfUser(sentence))
          part.rules.push_back({"- " + WithoutObjection(sentence), item.places});
      }
    }
  }
  return part;
}

Section FixesPart(const Material& material) {
  constexpr std::size_t kMaxRules = 8;
  constexpr std::size_t kMaxChange = 160;
  constexpr std::size_t kMaxColumns = 120;
  Section part{"Errors and what fixed them", {}};
  const std::string project = ProjectFolderOf(material);
  for (const auto& [item, fix] : DetailsOf<FixDetail>(material)) {
    std::string error = CutToColumns(ErrorLine(fix->error), kMaxColumns);
    if (error.starts_with("Output: ")) error.erase(0, std::string_view("Output: ").size());
    if (part.rules.size() == kMaxRules || !fix->is_command || error.size() < 8 || IsNoiseOfTheTool(fix->error))
      continue;
    const std::optional<LineChange> change = ChangeFor(*fix);
    if (change && change->added.size() <= kMaxChange && change->removed.size() <= kMaxChange) {
      const std::string file = change->path.substr(change->path.rfind('/') + 1);
      const std::string what = change->removed.empty() ? fmt::format("add {}", InBackticks(change->added))
                                                       : fmt::format("replace {} with {}", InBackticks(change->removed),
                                                                     InBackticks(change->added));
      part.rules.push_back({fmt::format("- {}: in `{}`, {}.", InBackticks(error), file, what), item->places});
    } else if (!change && Trim(fix->works) != Trim(fix->failed) && !Trim(fix->works).empty()) {
      part.rules.push_back({fmt::format("- {} fails with {}; {} works.", OneCommand(fix->failed, project),
                                        InBackticks(error), OneCommand(fix->works, project)),
                            item->places});
    }
  }
  return part;
}

Section AnswersPart(const Material& material) {
  constexpr std::size_t kMaxPerAnswer = 2;
  Section part{"Answers to the user's questions", {}};
  std::set<std::string> seen;
  for (std::size_t rank = 0; rank < kMaxPerAnswer; ++rank) {
    for (const UserRequest& request : material.requests) {
      if (request.text.find('?') == std::string::npos) continue;
      const std::vector<std::string> statements = StatementsByNearness(request);
      if (rank >= statements.size() || CommonWords(WordsOf(request.text), statements[rank]) == 0) continue;
      if (seen.insert(ToLowerAscii(statements[rank])).second)
        part.rules.push_back({"- " + statements[rank], {request.place}});
    }
  }
  return part;
}

}  // namespace upskill
