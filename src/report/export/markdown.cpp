// SPDX-License-Identifier: Apache-2.0
#include "report/export/markdown.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "eval/verdict/gate.h"
#include "report/export/broken_cases.h"
#include "report/terminal/activation_text.h"
#include "report/terminal/columns.h"
#include "report/terminal/figures.h"
#include "report/terminal/findings_text.h"
#include "report/terminal/result_sentence.h"
#include "report/terminal/table.h"
#include "report/terminal/verdict_text.h"
#include "util/text.h"

namespace upskill {
namespace {

constexpr std::size_t kLongestRemark = 2000;  // columns
constexpr std::size_t kMaxNames = 10;
constexpr std::size_t kLongestExcerpt = 200;  // columns
constexpr const char* kEmojiCharacters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_+-";

std::string NameList(const std::vector<std::string>& names) {
  std::string out;
  for (std::size_t i = 0; i < std::min(names.size(), kMaxNames); ++i)
    out += (i == 0 ? "" : ", ") + MarkdownText(names[i]);
  if (names.size() > kMaxNames) out += fmt::format(" and {} more", names.size() - kMaxNames);
  return out;
}

// Whether a colon begins `:tada:` or `://`. What follows the text may close an emoji.
bool StartsEmojiOrAddress(const std::string& text, std::size_t colon) {
  const std::size_t end = std::min(text.find_first_not_of(kEmojiCharacters, colon + 1), text.size());
  return text.compare(colon, 3, "://") == 0 || (end > colon + 1 && (end == text.size() || text[end] == ':'));
}

// Whether Markdown would take a character for more than itself, here and with what stands around it.
bool IsMarkup(const std::string& text, std::size_t i) {
  const auto is_word = [&](std::size_t at) { return at < text.size() && IsAsciiAlphanumeric(text[at]); };
  switch (text[i]) {
    case '_':
      return i == 0 || !is_word(i - 1) || !is_word(i + 1);
    case '-':
    case '+':
      return i == 0;  // of a list
    case '.':
    case ')':
      return text.find_first_not_of("0123456789") == i || (i > 0 && ToLowerAscii(text.substr(i - 1, 1)) == "w");
    default:
      return std::string_view("\\*[]~$").find(text[i]) != std::string_view::npos;
  }
}

// Notes on one student, each a line of a list.
std::string StudentNotes(const JudgedRun& run, std::size_t index) {
  const StudentVerdict& verdict = run.verdicts[index];
  const std::string name = MarkdownText(run.plan().students[index].name);
  std::string out;
  for (const auto& [label, text] : ActivationLines(run.plan(), run.summary.students[index]))
    out += fmt::format("- {}: {}: {}\n", name, label, MarkdownText(text, kLongestRemark));
  if (const std::string more = MoreRoundsText(verdict); !more.empty())
    out += fmt::format("- {}: {}{}\n", name, more, verdict.more_show_no_effect ? "" : " needed for a verdict");
  for (const std::string& remark : VerdictRemarks(run, index))
    out += fmt::format("- {}: {}\n", name, MarkdownText(remark, kLongestRemark));
  if (NewCasesText(verdict).empty() && verdict.new_cases_low && verdict.new_cases_high) {
    out += fmt::format("- {}: for new cases of this kind {} … {} points\n", name, PointsText(*verdict.new_cases_low),
                       PointsText(*verdict.new_cases_high));
  }
  for (const std::string& ground : GroundTexts(run, index))
    out += fmt::format("- {}: {}\n", name, MarkdownText(ground, kLongestRemark));
  for (const auto& [arm, verdicts] : run.others) {
    const StudentVerdict& other = verdicts[index];
    if (!other.lift) continue;
    out += fmt::format("- {}: against the {}: {}, {}\n", name, ArmLabel(arm),
                       PointsWithRange(*other.lift, other.low, other.high), VerdictName(other.word));
  }
  for (const auto& [arm, summary] : run.summary.students[index].arms) {
    std::vector<std::string> notes;
    for (const ArmNote& note : NotesOn(summary)) {
      if (!note.markdown.empty()) notes.push_back(note.markdown);
    }
    if (!notes.empty()) out += fmt::format("- {}, {}: {}\n", name, ArmLabel(arm), fmt::join(notes, ", "));
  }
  for (const TerminalText& note : FindingNotes(run, index))
    out += fmt::format("- {}: {}\n", name, MarkdownText(note.text()));
  if (!verdict.floor.empty()) out += fmt::format("- {}: never passed: {}\n", name, NameList(verdict.floor));
  if (!verdict.ceiling.empty()) out += fmt::format("- {}: always passed: {}\n", name, NameList(verdict.ceiling));
  return out;
}

// What the students' answers lost, compared with the previous version.
std::string BrokenTable(const JudgedRun& run, std::size_t index) {
  const BrokenCases broken = FindBrokenCases(run, index);
  if (broken.all == 0) return "";
  std::string out = fmt::format(
      "**What broke on {}:** {}\n\n| case | before | now | failed check | an answer |\n"
      "|---|--:|--:|---|---|\n",
      MarkdownText(run.plan().students[index].name), Counted(broken.all, "case"));
  for (const BrokenCase& one : broken.cases) {
    out += fmt::format("| {} | {} | {} | {} | {} |\n", MarkdownText(one.id), one.before, one.after,
                       MarkdownText(one.check, kLongestExcerpt), MarkdownText(one.answer, kLongestExcerpt));
  }
  return out + "\n";
}

std::string GateSection(const JudgedRun& run) {
  const std::optional<Gate> gate = GateOf(run.plan());
  if (!gate) return "";
  if (!run.summary.complete()) return "**The gate was not evaluated:** the run is incomplete.\n\n";
  std::string rows;
  bool holds = true;
  for (const GateResult& result : CheckGate(*gate, run)) {
    holds = holds && result.passed;
    const auto text = [](const std::string& one) { return one.empty() ? "–" : MarkdownText(one, kLongestRemark); };
    rows += fmt::format("| {} | {} | {} | {} | {} |\n", result.passed ? "✅" : "❌", text(result.clause),
                        text(result.model), text(result.against), text(result.detail));
  }
  std::string out = fmt::format("{}\n\n| | clause | model | against | found |\n|---|---|---|---|---|\n{}\n",
                                holds ? "The gate holds." : "**The gate failed.**", rows);
  for (std::size_t i = 0; !holds && i < run.plan().students.size(); ++i) out += BrokenTable(run, i);
  return out;
}

std::string RunSection(const JudgedRun& run) {
  const Plan& plan = run.plan();
  std::string out = fmt::format("### {}\n\n", MarkdownText(plan.skill.name));
  bool is_first = true;
  for (const std::string& sentence : ResultSentences(run)) {
    const std::string text = MarkdownText(sentence, kLongestRemark);
    out += is_first ? fmt::format("**{}**", text) : " " + text;
    is_first = false;
  }
  out += "\n\n" + GateSection(run);
  out += fmt::format("{} × {}, run {}\n\n", Counted(plan.suite.cases.size(), "case"), RoundsText(run),
                     MarkdownText(plan.run));
  for (const std::string& remark : RemarksOn(plan)) out += MarkdownText(remark) + "\n\n";
  const std::vector<StudentRow> rows = StudentRowsOf(run);
  const std::vector<const StudentColumn*> columns = StudentColumns(&StudentColumn::markdown, rows);
  std::string rule = "\n|";
  out += '|';
  for (const StudentColumn* column : columns) {
    out += fmt::format(" {} |", HeadingText(column->markdown, rows));
    rule += column->align == Table::Align::kRight ? "--:|" : "---|";
  }
  out += rule + "\n";
  std::string notes;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    out += '|';
    for (const StudentColumn* column : columns) {
      const std::string text = column->text(rows[i]);
      out += fmt::format(" {} |", column->is_name ? MarkdownText(text) : text);
    }
    out += '\n';
    notes += StudentNotes(run, i);
  }
  if (!run.summary.complete()) {
    const std::size_t open = run.summary.cells - run.summary.answered;
    out += fmt::format("\n**Incomplete:** {} of {} {} unanswered and not counted.\n", open,
                       Counted(run.summary.cells, "cell"), open == 1 ? "is" : "are");
  }
  if (!notes.empty()) out += "\n<details><summary>Notes</summary>\n\n" + notes + "\n</details>\n";
  return out;
}

}  // namespace

std::string MarkdownText(std::string_view text, std::size_t columns) {
  std::string out;
  const TerminalText name = TerminalText::EscapeLine(text).Cut(columns);
  const std::string& plain = name.text();
  for (std::size_t i = 0; i < plain.size(); ++i) {
    const char c = plain[i];
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '|':
        out += "&#124;";
        break;
      case '`':
        out += "&#96;";
        break;
      // GitHub looks for mentions, issue numbers, emoji and addresses after it has decoded entities; a comment parts
      // them.
      case '@':
      case '#':
      case ':':
        out += c;
        if (c != ':' || StartsEmojiOrAddress(plain, i)) out += "<!-- -->";
        break;
      default:
        if (IsMarkup(plain, i)) out += '\\';
        out += c;
    }
  }
  return out;
}

std::string MarkdownReport(std::span<const JudgedRun> runs) {
  std::string out;
  for (const JudgedRun& run : runs) out += (out.empty() ? "" : "\n") + RunSection(run);
  return out;
}

}  // namespace upskill
