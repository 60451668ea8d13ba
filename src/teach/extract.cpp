// SPDX-License-Identifier: Apache-2.0
#include "teach/extract.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>
#include <variant>

#include "skill/case_reader.h"
#include "teach/one_line.h"
#include "trace/digest/excerpt.h"
#include "util/fences.h"
#include "util/text.h"

namespace upskill {
namespace {

constexpr std::size_t kMaxRequestBytes = 1500;  // a longer request is a briefing rather than a question to replay

bool StartsWithAny(const std::string& lower, std::initializer_list<std::string_view> starts) {
  return std::any_of(starts.begin(), starts.end(), [&](std::string_view start) { return lower.starts_with(start); });
}

// What the agent says about itself and its next steps teaches nothing.
bool IsTalk(const std::string& sentence) {
  const std::string lower = ToLowerAscii(sentence);
  return StartsWithAny(lower, {"i ",
                               "i'",
                               "i’",
                               "let me",
                               "let's",
                               "now ",
                               "next",
                               "first,",
                               "done",
                               "great",
                               "perfect",
                               "good",
                               "ok",
                               "you're right",
                               "sorry",
                               "we ",
                               "the project needs",
                               "the port ",
                               "all tests",
                               "everything "}) ||
         lower.ends_with(':') || lower.ends_with('?');
}

std::string WithoutMarkup(std::string_view line) {
  line = Trim(line);
  while (line.starts_with("- ") || line.starts_with("* ") || line.starts_with("> ")) line = Trim(line.substr(2));
  std::size_t digits = 0;
  while (digits < line.size() && line[digits] >= '0' && line[digits] <= '9') ++digits;
  if (digits > 0 && digits < 3 && line.substr(digits).starts_with(". ")) line = Trim(line.substr(digits + 2));
  std::string text;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line.substr(i).starts_with("**")) {
      ++i;
    } else {
      text += line[i];
    }
  }
  return text;
}

std::vector<std::string> SentencesOf(const std::string& line) {
  std::vector<std::string> sentences;
  std::string sentence;
  bool code = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    sentence += line[i];
    if (line[i] == '`') code = !code;
    const bool end =
        !code && (line[i] == '.' || line[i] == '?' || line[i] == '!') && i + 1 < line.size() && line[i + 1] == ' ';
    if (!end) continue;
    sentences.emplace_back(Trim(sentence));
    sentence.clear();
  }
  if (!Trim(sentence).empty()) sentences.emplace_back(Trim(sentence));
  return sentences;
}

std::set<std::string> WordsOf(const std::string& text) {
  std::set<std::string> words;
  std::string word;
  for (const char c : ToLowerAscii(text) + " ") {
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) {
      word += c;
    } else {
      if (word.size() > 3) words.insert(word);
      word.clear();
    }
  }
  return words;
}

std::size_t CommonWords(const std::set<std::string>& words, const std::string& text) {
  std::size_t common = 0;
  for (const std::string& word : WordsOf(text)) common += words.count(word);
  return common;
}

bool Holds(const std::string& text, const std::string& part) {
  return ToLowerAscii(text).find(ToLowerAscii(part)) != std::string::npos;
}

// Whether a bare word can't be guessed: a path, a file name, an identifier, a time, a version.
bool IsTellingWord(std::string_view word) {
  constexpr std::size_t kShortest = 4;
  bool joined = false;  // punctuation between letters or digits, or a capital inside
  for (std::size_t i = 0; i + 1 < word.size(); ++i) {
    const bool sign = word[i] == '/' || word[i] == '_' || word[i] == '.' || word[i] == ':';
    const bool next = (word[i + 1] >= 'a' && word[i + 1] <= 'z') || (word[i + 1] >= 'A' && word[i + 1] <= 'Z') ||
                      (word[i + 1] >= '0' && word[i + 1] <= '9');
    joined = joined || (sign && next) || (word[i] >= 'a' && word[i] <= 'z' && word[i + 1] >= 'A' && word[i + 1] <= 'Z');
  }
  return joined && word.size() >= kShortest;
}

// The texts that make a statement specific: its code spans, else its bare words that can't be guessed.
std::vector<std::string> TellingTextsOf(const std::string& statement) {
  std::vector<std::string> texts = CodeSpansOf(statement);
  if (!texts.empty()) return texts;
  constexpr std::string_view kAround = ".,;:!?()[]\"'";
  std::size_t at = 0;
  while (at < statement.size()) {
    const std::size_t begin = statement.find_first_not_of(" \t\n", at);
    if (begin == std::string::npos) break;
    const std::size_t end = std::min(statement.find_first_of(" \t\n", begin), statement.size());
    std::string_view word = std::string_view(statement).substr(begin, end - begin);
    while (!word.empty() && kAround.find(word.back()) != std::string_view::npos) word.remove_suffix(1);
    while (!word.empty() && kAround.find(word.front()) != std::string_view::npos) word.remove_prefix(1);
    if (IsTellingWord(word)) texts.emplace_back(word);
    at = end;
  }
  return texts;
}

// Whether a code span can answer a question: it is short, and the question doesn't contain it.
bool Settles(const std::string& span, const std::string& request) {
  const bool tells = span.size() >= 3 && span.size() <= 60 && span.find('\n') == std::string::npos &&
                     std::any_of(span.begin(), span.end(), [](char c) {
                       return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
                     });
  return tells && !Holds(request, span) && span.find("[redacted:") == std::string::npos;
}

// The statements of an answer, those closest to the wording of the request first.
std::vector<std::string> ByNearness(const UserRequest& request) {
  std::vector<std::string> statements = StatementsOf(request.answer);
  const std::set<std::string> words = WordsOf(request.text);
  std::stable_sort(statements.begin(), statements.end(), [&](const std::string& a, const std::string& b) {
    return CommonWords(words, a) > CommonWords(words, b);
  });
  return statements;
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
  const std::string lower = ToLowerAscii(std::string(Trim(text)));
  if (lower.size() < 15 || lower.size() > kMaxRequestBytes || lower.front() == '/') return false;
  return !StartsWithAny(lower, {"yes", "no,", "ok", "continue", "go on", "thanks", "thank you", "please continue",
                                "commit", "[redacted"});
}

// The most informative line of an error: the first with "error", else the last.
std::string ErrorLine(const std::string& text) {
  std::string last;
  for (const std::string_view line : SplitLines(text)) {
    const std::string shown(Trim(line));
    if (shown.empty() || shown == "…") continue;
    last = shown;
    if (Holds(shown, "error")) break;
  }
  return CutToColumns(last, 200);
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
  if (added.empty() && !Trim(fix.works).empty()) added.emplace_back(Trim(SplitLines(fix.works).front()));
  return added;
}

// One line of code in backticks; code that contains backticks stays as it is.
std::string Code(const std::string& text) { return text.find('`') == std::string::npos ? "`" + text + "`" : text; }

std::string FirstPlace(const MaterialItem& item) { return item.places.empty() ? "" : item.places.front(); }

// Collects rules as long as the token target allows. `target` outlives it.
class Sections {
 public:
  explicit Sections(const BodyTarget& target) : target_(target), left_(target.tokens) {}

  bool Add(const std::string& title, const std::string& text, const std::vector<std::string>& places) {
    const std::size_t tokens = target_.count(text) + 1;
    if (tokens > left_ || !seen_.insert(ToLowerAscii(text)).second) return false;
    left_ -= tokens;
    if (sections_.empty() || sections_.back().title != title) sections_.push_back({title, {}});
    sections_.back().rules.push_back({text, places});
    return true;
  }
  bool empty() const { return sections_.empty(); }
  std::vector<Section> Take() { return std::move(sections_); }

 private:
  const BodyTarget& target_;
  std::size_t left_;
  std::set<std::string> seen_;
  std::vector<Section> sections_;
};

void AddAnswers(const Material& material, Sections& sections) {
  constexpr std::size_t kMaxPerAnswer = 2;
  for (std::size_t rank = 0; rank < kMaxPerAnswer; ++rank) {
    for (const UserRequest& request : material.requests) {
      const std::vector<std::string> statements = ByNearness(request);
      if (rank < statements.size() && CommonWords(WordsOf(request.text), statements[rank]) > 0)
        sections.Add("Facts", statements[rank], {request.place});
    }
  }
}

// Whether a command that worked is worth keeping: one line, and not just inspecting or moving files.
bool IsTelling(const CommandDetail& worked) {
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

std::string CommandLine(const CommandDetail& worked) {
  const std::string command = Code(std::string(Trim(worked.command)));
  return worked.purpose.empty() ? command : PurposeOf(worked) + ": " + command;
}

// The details of one type, each with its item, in the order of the material.
template <typename Detail>
std::vector<std::pair<const MaterialItem*, const Detail*>> DetailsOf(const Material& material) {
  std::vector<std::pair<const MaterialItem*, const Detail*>> details;
  for (const MaterialItem& item : material.items) {
    if (const auto* detail = std::get_if<Detail>(&item.detail)) details.emplace_back(&item, detail);
  }
  return details;
}

void AddItems(const Material& material, Sections& sections) {
  for (const MaterialItem& item : material.items) {
    if (item.kind != MaterialKind::kFinding) continue;
    for (const std::string& statement : StatementsOf(item.text)) sections.Add("Facts", statement, item.places);
  }
  for (const auto& [item, fix] : DetailsOf<FixDetail>(material)) {
    const std::vector<std::string> added = AddedLines(*fix);
    const std::string error = ErrorLine(fix->error);
    if (added.empty() || error.empty() || added.front().size() > 200) continue;
    sections.Add("Troubleshooting", fmt::format("Fix {} with {}.", Code(error), Code(added.front())), item->places);
  }
  for (const auto& [item, command] : DetailsOf<CommandDetail>(material)) {
    if (IsTelling(*command)) sections.Add("Commands that work", CommandLine(*command), item->places);
  }
}

// Files and corrections in full, which are too long for the skill's body.
void AddReference(const Material& material, Draft& draft) {
  constexpr std::size_t kMaxItems = 20;
  std::string text;
  std::size_t number = 0;
  for (const MaterialItem& item : material.items) {
    const bool file = item.kind == MaterialKind::kFile;
    if ((!file && item.kind != MaterialKind::kCorrection) || number == kMaxItems) continue;
    ++number;
    text += fmt::format("\n## {} ({})\n\n{}\n", file ? "Final version of a file" : "Correction by the user",
                        FirstPlace(item), Trim(item.text));
  }
  if (number > 0) draft.references.emplace_back("trace.md", "# From the trace\n" + text);
}

// For a trace without any of that: the requests and their outcomes, as the digest words them.
void AddWhatThereIs(const Material& material, Sections& sections) {
  constexpr std::size_t kMaxColumns = 300;
  for (const MaterialItem& item : material.items) {
    const std::string text(Trim(CutToColumns(OneLine(item.text), kMaxColumns)));
    if (!text.empty()) sections.Add("Notes", text, item.places);
  }
}

bool EndsASentence(std::string_view text) {
  return text.ends_with('.') || text.ends_with('?') || text.ends_with('!') || text.ends_with("…");
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

std::vector<std::string> CodeSpansOf(const std::string& text) {
  std::vector<std::string> spans;
  std::size_t at = 0;
  while (true) {
    const std::size_t open = text.find('`', at);
    const std::size_t close = open == std::string::npos ? open : text.find('`', open + 1);
    if (close == std::string::npos) return spans;
    if (close > open + 1) spans.push_back(text.substr(open + 1, close - open - 1));
    at = close + 1;
  }
}

std::vector<std::string> StatementsOf(const std::string& text) {
  constexpr std::size_t kShortest = 12;
  constexpr std::size_t kLongest = 240;
  std::vector<std::string> statements;
  std::vector<std::string> plain;  // without code; used if there are no others
  FenceScanner scanner;
  for (const std::string_view line : SplitLines(text)) {
    if (scanner.Take(line) != FenceScanner::Line::kText || Trim(line).starts_with("#") || Trim(line).starts_with("|"))
      continue;
    for (std::string& sentence : SentencesOf(WithoutMarkup(line))) {
      if (sentence.size() < kShortest || sentence.size() > kLongest || TellingTextsOf(sentence).empty() ||
          IsTalk(sentence))
        continue;
      if (CodeSpansOf(sentence).empty()) {
        plain.push_back(std::move(sentence));
      } else {
        statements.push_back(std::move(sentence));
      }
    }
  }
  return statements.empty() ? plain : statements;
}

Result<Draft> ExtractDraft(const Material& material, const std::string& name, const BodyTarget& target) {
  Draft draft;
  const std::string about = !material.task.empty()      ? material.task
                            : material.requests.empty() ? std::string()
                                                        : material.requests.front().text;
  draft.name = name.empty() ? SkillNameFrom(about) : name;
  std::string subject = CutToColumns(OneLine(about), 300);
  while (subject.find("---") != std::string::npos) subject.erase(subject.find("---"), 2);
  draft.description =
      fmt::format("Lessons from an expert's recorded session: {} Use this skill for the same kind of work.",
                  subject.empty() ? "commands, fixes and facts." : subject + (EndsASentence(subject) ? "" : "."));
  Sections sections(target);
  AddAnswers(material, sections);
  AddItems(material, sections);
  AddReference(material, draft);
  if (sections.empty()) AddWhatThereIs(material, sections);
  draft.sections = sections.Take();
  if (draft.sections.empty()) return InputError("nothing to extract: the trace has no request, answer or command");
  RETURN_IF_ERROR(CheckSkillText(DraftToSkill(draft), material, target));
  return draft;
}

VettedCases ExtractCases(const Material& material, std::size_t most) {
  VettedCases vetted;
  for (const UserRequest& request : material.requests) {
    if (!IsReplayable(request.text)) continue;
    const std::string question = QuestionOf(request.text);
    bool taken = false;
    for (const std::string& statement : ByNearness(request)) {
      if (CommonWords(WordsOf(question), statement) == 0) continue;  // it is about something else
      for (const std::string& span : TellingTextsOf(statement)) {
        if (taken || !Settles(span, question)) continue;
        Offer(MakeCase(question, span, statement, request.place), most, vetted);
        taken = true;
      }
    }
  }
  for (const auto& [item, fix] : DetailsOf<FixDetail>(material)) {
    const std::string input =
        fmt::format("{}\n\nfails with:\n\n{}\n\nHow do you fix it?", Trim(fix->failed), ErrorLine(fix->error));
    for (const std::string& line : AddedLines(*fix)) {
      if (!Settles(line, input)) continue;
      Offer(MakeCase(input, line, fmt::format("Fix it with {}.", Code(line)), FirstPlace(*item)), most, vetted);
      break;
    }
  }
  for (const auto& [item, worked] : DetailsOf<CommandDetail>(material)) {
    if (!IsTelling(*worked) || worked->purpose.empty()) continue;
    const std::string input = fmt::format("Which command does this: {}?", WithinASentence(PurposeOf(*worked)));
    const std::string command(Trim(worked->command));
    if (Settles(command, input)) Offer(MakeCase(input, command, Code(command), FirstPlace(*item)), most, vetted);
  }
  return vetted;
}

}  // namespace upskill
