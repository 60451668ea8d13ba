// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <utility>

#include "skill/case_reader.h"
#include "teach/extract.h"
#include "teach/extract_text.h"
#include "teach/one_line.h"
#include "trace/digest/excerpt.h"
#include "util/text.h"

namespace upskill {
namespace {

constexpr std::size_t kMaxRequestBytes = 1500;  // a longer request is a briefing rather than a question to replay

// Whether a code span can answer a question: it is short, and the question doesn't contain it.
bool Settles(const std::string& span, const std::string& request) {
  const bool tells = span.size() >= 3 && span.size() <= 60 && span.find('\n') == std::string::npos &&
                     std::any_of(span.begin(), span.end(), [](char c) { return IsAsciiAlphanumeric(c); });
  return tells && !HoldsIgnoringCase(request, span) && span.find("[redacted:") == std::string::npos;
}

// The part of a request that asks: its last question and what follows. What comes before refers to the session, which
// students don't see. A request without a question is replayed whole.
std::string QuestionOf(const std::string& request) {
  constexpr std::size_t kShortest = 25;
  std::string question;
  for (const std::string_view line : SplitLines(request)) {
    for (const std::string& sentence : SentencesOf(std::string(line))) {
      if (sentence.ends_with('?') && sentence.size() >= kShortest) {
        question = sentence;
      } else if (!question.empty()) {
        question += " " + sentence;
      }
    }
  }
  return question.empty() ? std::string(Trim(request)) : question;
}

bool IsReplayable(const std::string& text) {
  const std::string lower = ToLowerAscii(Trim(text));
  if (lower.size() < 15 || lower.size() > kMaxRequestBytes || lower.front() == '/') return false;
  return !StartsWithAny(lower, {"yes", "no,", "ok", "continue", "go on", "thanks", "thank you", "please continue",
                                "commit", "[redacted"});
}

// Whether a question is about something that only the session shows. Whoever answers a test sees the question alone.
bool RefersToSession(const std::string& question) {
  static const RE2 pattern(
      R"((?i)\b(?:above|earlier|previous(?:ly)?|aforementioned|as before|again|attached|pasted)\b|)"
      R"(\byou (?:just|said|wrote|did|made|mentioned|gave|showed|changed|used)\b|)"
      R"(\byour (?:last|answer|change|changes|code|version|solution|fix|plan)\b|)"
      R"(\b(?:this|that|these|those) (?:files?|folders?|functions?|class|tests?|errors?|code|commands?|lines?|)"
      R"(changes?|ones?|scripts?|examples?|messages?|outputs?|results?|approach|kernel|repo|project|skill|plan)\b|)"
      R"(^(?:and|but|so|then|also|is|does|did|can|could|should|would|will|why is|why does|how does|how do you do|)"
      R"(what is|what does|what about|where is) (?:it|this|that|they|these|those|them)\b)");
  return RE2::PartialMatch(question, pattern);
}

// What a fix introduced: the lines that its edits added to existing files, else the command that worked.
std::vector<std::string> AddedLines(const FixDetail& fix) {
  std::vector<std::string> added;
  for (const FixStep& step : fix.steps) {
    const bool changes = step.kind == FixStep::Kind::kEdit && step.edit.kind != FileEdit::Kind::kWrite;
    if (!changes) continue;
    for (const std::string& line : LinesOf(step.edit).added) {
      if (Trim(line).size() > 2) added.emplace_back(Trim(line));
    }
  }
  if (added.empty() && !Trim(fix.works).empty()) added.emplace_back(Trim(SplitLines(Trim(fix.works)).front()));
  return added;
}

// Whether a command that worked is worth keeping: one line, and not just inspecting or moving files.
bool IsTellingCommand(const CommandDetail& worked) {
  const std::string command(Trim(worked.command));
  return !command.empty() && command.size() <= 120 && command.find('\n') == std::string::npos &&
         !StartsWithAny(command, {"ls", "cat ", "head ", "cp ", "mkdir ", "git ", "cd ", "rm ", "sed ", "grep ",
                                  "echo ", "sleep "});
}

std::string PurposeOf(const CommandDetail& command) {
  constexpr std::size_t kMaxColumns = 120;
  std::string purpose = CutToColumns(OneLine(command.purpose), kMaxColumns);
  while (purpose.ends_with('.') || purpose.ends_with(':')) purpose.pop_back();
  return purpose;
}

// "Build the kernel" → "build the kernel"; "CUDA …" stays.
std::string WithinASentence(std::string text) {
  if (text.size() > 1 && text[1] >= 'a' && text[1] <= 'z') text[0] = ToLowerAscii(text.substr(0, 1))[0];
  return text;
}

Result<Case> MakeCase(const std::string& input, const std::string& expected, const std::string& reference,
                      const std::string& place) {
  const Json raw = {{"id", SkillNameFrom(input)}, {"input", input},      {"expected", {{"contains", {expected}}}},
                    {"reference", reference},     {"provenance", place}, {"source", place}};
  ASSIGN_OR_RETURN(CaseReading reading, ReadCase(raw, 1));
  return std::move(reading.test_case);
}

void Offer(Result<Case> test_case, std::size_t most, VettedCases& vetted) {
  if (test_case && vetted.cases.size() < most) TakeCase(*std::move(test_case), vetted);
}

}  // namespace

VettedCases ExtractCases(const Material& material, std::size_t most) {
  VettedCases vetted;
  for (const UserRequest& request : material.requests) {
    if (!IsReplayable(request.text)) continue;
    const std::string question = QuestionOf(request.text);
    if (RefersToSession(question)) continue;
    bool taken = false;
    for (const std::string& statement : StatementsByNearness(request)) {
      if (CommonWords(WordsOf(question), statement) == 0) continue;  // it is about something else
      for (const std::string& span : TellingTextsOf(statement)) {
        if (taken || !Settles(span, question)) continue;
        Offer(MakeCase(question, span, statement, request.place), most, vetted);
        taken = true;
      }
    }
  }
  for (const auto& [item, fix] : DetailsOf<FixDetail>(material)) {
    if (!fix->is_command) continue;  // a failed edit of a file says nothing without the file
    const std::string input =
        fmt::format("{}\n\nfails with:\n\n{}\n\nHow do you fix it?", Trim(fix->failed), ErrorLine(fix->error));
    for (const std::string& line : AddedLines(*fix)) {
      if (!Settles(line, input)) continue;
      Offer(MakeCase(input, line, fmt::format("Fix it with {}.", InBackticks(line)), FirstPlace(*item)), most, vetted);
      break;
    }
  }
  for (const auto& [item, worked] : DetailsOf<CommandDetail>(material)) {
    if (!IsTellingCommand(*worked) || worked->purpose.empty()) continue;
    const std::string input = fmt::format("Which command does this: {}?", WithinASentence(PurposeOf(*worked)));
    const std::string command(Trim(worked->command));
    if (Settles(command, input)) Offer(MakeCase(input, command, InBackticks(command), FirstPlace(*item)), most, vetted);
  }
  return vetted;
}

}  // namespace upskill
