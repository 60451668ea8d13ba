// SPDX-License-Identifier: Apache-2.0
// The text that Claude Code's /export writes: the screen's content, wrapped at its width, with shortened outputs.
#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "trace/formats/claude_text.h"
#include "trace/formats/readers.h"
#include "trace/read/unwrap.h"
#include "util/text.h"

namespace upskill {
namespace {

struct TerminalMark {
  enum class Kind { kPrompt, kShell, kAnswer, kThinking, kBanner, kNotice };
  std::string_view text;
  Kind kind;
};

// Glyphs in column 0, of all versions and platforms.
constexpr std::array<TerminalMark, 20> kTerminalMarks = {{
    {"> ", TerminalMark::Kind::kPrompt},
    {"❯ ", TerminalMark::Kind::kPrompt},
    {"❯\u00a0", TerminalMark::Kind::kPrompt},
    {"! ", TerminalMark::Kind::kShell},
    {"● ", TerminalMark::Kind::kAnswer},
    {"⏺ ", TerminalMark::Kind::kAnswer},
    {"∴ ", TerminalMark::Kind::kThinking},
    {"╭───", TerminalMark::Kind::kBanner},
    {"✻ ", TerminalMark::Kind::kNotice},
    {"✽ ", TerminalMark::Kind::kNotice},
    {"✢ ", TerminalMark::Kind::kNotice},
    {"✳ ", TerminalMark::Kind::kNotice},
    {"✶ ", TerminalMark::Kind::kNotice},
    {"⏵⏵", TerminalMark::Kind::kNotice},
    {"? for shortcuts", TerminalMark::Kind::kNotice},
    {"────", TerminalMark::Kind::kNotice},
    {" ▎", TerminalMark::Kind::kNotice},
    {"════", TerminalMark::Kind::kNotice},
    {"  ⏵⏵", TerminalMark::Kind::kNotice},
    {"  ? for shortcuts", TerminalMark::Kind::kNotice},
}};

const TerminalMark* MarkOf(std::string_view line) {
  if (Trim(line) == "❯" || Trim(line) == ">") return &kTerminalMarks[15];  // the empty input box
  for (const TerminalMark& mark : kTerminalMarks) {
    if (line.starts_with(mark.text)) return &mark;
  }
  return nullptr;
}

const RE2& CallPattern() {
  static const RE2 pattern(
      R"((?s)^([A-Z][A-Za-z]*(?: [A-Z][A-Za-z]*)?|mcp__[\w-]+|[\w.-]+ - [\w.-]+ \(MCP\))\((.*)\)?$)");
  return pattern;
}

bool IsKnownTool(const std::string& name) {
  constexpr std::array<std::string_view, 22> kTools = {
      "Bash",  "Read",      "Write",        "Edit",       "MultiEdit", "Update",     "Create", "Search",
      "Glob",  "Grep",      "Fetch",        "WebFetch",   "WebSearch", "Web Search", "Task",   "Agent",
      "Skill", "TodoWrite", "NotebookEdit", "BashOutput", "List",      "Explore"};
  return std::find(kTools.begin(), kTools.end(), name) != kTools.end() || name.find("mcp__") == 0 ||
         name.find("(MCP)") != std::string::npos;
}

// One entry of the screen: the rows after the glyph, and the results below it.
struct Entry {
  TerminalMark::Kind kind = TerminalMark::Kind::kNotice;
  std::size_t line = 0;
  std::vector<std::string_view> text;
  std::vector<std::vector<std::string_view>> results;
};

std::string_view StripRight(std::string_view line) {
  const std::size_t last = line.find_last_not_of(" \t\r");
  return line.substr(0, last == std::string_view::npos ? 0 : last + 1);
}

// A row of a result without the margin below the ⎿, but with the space at which it was wrapped.
std::string_view RowOfResult(std::string_view line) {
  constexpr std::size_t kMargin = 5;
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  return line.substr(std::min({line.find_first_not_of(' '), line.size(), kMargin}));
}

// Rows below a glyph are indented by its width.
std::vector<std::string_view> WithoutMargin(const std::vector<std::string_view>& rows, std::size_t margin) {
  std::vector<std::string_view> plain;
  plain.reserve(rows.size());
  for (const std::string_view row : rows) {
    const bool first = plain.empty();
    plain.push_back(first ? row : row.substr(std::min({row.find_first_not_of(' '), row.size(), margin})));
  }
  return plain;
}

constexpr std::size_t kGlyphColumns = 2;

class ExportReader {
 public:
  ExportReader(std::string_view text, TraceBuilder& builder) : lines_(SplitLines(text)), builder_(builder) {
    for (const std::string_view line : lines_) width_ = std::max(width_, DisplayColumns(StripRight(line)));
    width_ = std::min<std::size_t>(width_, 400);
    MeasureAreas();
  }

  void Read() {
    builder_.SetLossy();
    builder_.SetAgent("Claude Code");
    Entry entry;
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      const std::string_view line = StripRight(lines_[i]);
      const TerminalMark* const mark = MarkOf(line);
      if (mark != nullptr && mark->kind == TerminalMark::Kind::kBanner) {
        Close(entry);
        i = ReadBanner(i);
      } else if (mark != nullptr) {
        Close(entry);
        entry.kind = mark->kind;
        entry.line = i + 1;
        entry.text.push_back(lines_[i].substr(std::min(mark->text.size(), line.size())));
      } else if (const std::size_t result = line.find("⎿");
                 result != std::string_view::npos && Trim(line.substr(0, result)).empty()) {
        if (entry.line == 0) entry.line = i + 1;
        entry.results.push_back({Trim(line.substr(result + std::string_view("⎿").size()))});
      } else if (AddFoldedCalls(line, i + 1)) {
        continue;
      } else if (!entry.results.empty()) {
        entry.results.back().push_back(RowOfResult(lines_[i]));
      } else if (entry.line != 0) {
        entry.text.push_back(lines_[i]);
      }
    }
    Close(entry);
  }

 private:
  // Prompts, answers and results are wrapped at widths of their own: those of their widest rows.
  void MeasureAreas() {
    std::size_t* area = nullptr;
    std::size_t margin = 0;
    for (const std::string_view full : lines_) {
      const TerminalMark* const mark = MarkOf(full);
      const std::size_t result = full.find("⎿");
      if (result != std::string_view::npos && Trim(full.substr(0, result)).empty()) {
        area = &result_columns_;
        continue;  // padded in some versions
      }
      std::string_view row = full;
      if (mark != nullptr) {
        const bool prompt = mark->kind == TerminalMark::Kind::kPrompt || mark->kind == TerminalMark::Kind::kShell;
        const bool box = mark->kind == TerminalMark::Kind::kBanner || mark->kind == TerminalMark::Kind::kNotice;
        area = box ? nullptr : prompt ? &prompt_columns_ : &answer_columns_;
        margin = kGlyphColumns;
        row.remove_prefix(std::min(mark->text.size(), row.size()));
      } else {
        row = area == &result_columns_ ? RowOfResult(full) : WithoutMargin({"", full}, margin).back();
      }
      if (row.ends_with("  ")) row = StripRight(row);
      if (area != nullptr) *area = std::min<std::size_t>(std::max(*area, DisplayColumns(row)), 400);
    }
  }

  // Version, model and folder; index of the box's last line.
  std::size_t ReadBanner(std::size_t i) {
    std::string version;
    if (RE2::PartialMatch(std::string(lines_[i]), R"(Claude Code v(\d+\.\d+\.\d+))", &version))
      builder_.SetAgentVersion(version);
    const std::size_t most = std::min(lines_.size(), i + 30);
    for (std::size_t k = i; k < most; ++k) {
      std::string model;
      if (RE2::PartialMatch(std::string(lines_[k]), R"(((?:Opus|Sonnet|Haiku|Claude)[ \w.]*?[\d.]+) ·)", &model))
        builder_.NoteModel(model);
      std::string folder;
      if (builder_.trace().cwd.empty() &&
          RE2::PartialMatch(std::string(lines_[k]), R"(│\s+((?:~|/|[A-Z]:\\)\S*)\s)", &folder))
        builder_.SetFolder(folder);
      if (lines_[k].starts_with("╰")) return k;
    }
    return i;
  }

  // The newest versions fold calls to "  Read 2 files (ctrl+o to expand)".
  bool AddFoldedCalls(std::string_view line, std::size_t number) {
    static const RE2 folded_pattern(R"(^  (Ran|Read|Searched for|Listed|Fetched|Edited|Wrote))"
                                    R"( (\d+) [a-z ]+(?:, [a-z]+ \d+ [a-z ]+)*.*\(ctrl\+o to expand\)$)");
    std::string verb;
    int count = 0;
    if (!RE2::FullMatch(std::string(line), folded_pattern, &verb, &count)) return false;
    static const std::map<std::string, std::string> tools = {{"Ran", "Bash"},    {"Searched for", "Search"},
                                                             {"Listed", "List"}, {"Fetched", "Fetch"},
                                                             {"Wrote", "Write"}, {"Edited", "Edit"}};
    const auto known = tools.find(verb);
    const std::string tool = known == tools.end() ? "Read" : known->second;
    EventContext stamp;
    stamp.line = number;
    for (int i = 0; i < std::min(count, 1000); ++i) {
      const std::string id = fmt::format("folded-{}-{}", number, i);
      builder_.AddCall(stamp, tool, id, Json::object());
      const std::size_t result = builder_.AddResult(stamp, id, "", CallStatus::kUnknown);
      builder_.MarkShortened(result);
    }
    return true;
  }

  static std::string TextOf(const std::vector<std::string_view>& rows, std::size_t columns) {
    return WithoutBlankEnds(JoinWrappedRows(WithoutMargin(rows, kGlyphColumns), columns));
  }

  // Keeps the indentation of the first line.
  static std::string WithoutBlankEnds(std::string text) {
    text.resize(StripRight(text).size());
    while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
    const std::size_t first = text.find_first_not_of(" \n");
    const std::size_t line_end = first == std::string::npos ? std::string::npos : text.rfind('\n', first);
    return line_end == std::string::npos ? text : text.substr(line_end + 1);
  }

  // "NAME(argument)", whose rows are indented up to behind the bracket.
  std::string CallOf(const std::vector<std::string_view>& rows) const {
    const std::size_t bracket = rows.front().find('(');
    if (bracket == std::string_view::npos) return TextOf(rows, answer_columns_);
    std::vector<std::string_view> argument = WithoutMargin(rows, kGlyphColumns + bracket);
    for (std::string_view& row : argument) row = StripRight(row);
    const std::string_view name = argument.front().substr(0, bracket);
    argument.front().remove_prefix(bracket);
    while (argument.size() > 1 && argument.back().empty()) argument.pop_back();
    const std::size_t before = kGlyphColumns + bracket;
    return std::string(name) + JoinWrappedArgument(argument, width_ > before ? width_ - before : 1);
  }

  void Close(Entry& entry) {
    if (entry.line != 0) AddEntry(entry);
    entry = Entry();
  }

  void AddEntry(const Entry& entry) {
    EventContext stamp;
    stamp.line = entry.line;
    switch (entry.kind) {
      case TerminalMark::Kind::kPrompt:
      case TerminalMark::Kind::kShell:
        AddPrompt(entry, TextOf(entry.text, prompt_columns_), stamp);
        break;
      case TerminalMark::Kind::kAnswer:
        AddAnswer(entry, stamp);
        break;
      case TerminalMark::Kind::kThinking:
        builder_.Add(stamp, EventKind::kReasoning, TextOf(entry.text, answer_columns_));
        break;
      case TerminalMark::Kind::kBanner:
        break;
      case TerminalMark::Kind::kNotice:
        for (const auto& result : entry.results) builder_.Add(stamp, EventKind::kSystem, ResultText(result).text);
        break;
    }
  }

  void AddPrompt(const Entry& entry, std::string text, const EventContext& stamp) {
    if (entry.kind == TerminalMark::Kind::kShell) text.insert(0, "! ");
    const bool command = text.starts_with('/');
    const std::size_t name_end = std::min(text.find_first_of(" \n"), text.size());
    // A command with output below it was carried out by the program.
    const bool local = command && !entry.results.empty();
    const bool asks = !local || AsksInWords(text.substr(0, name_end), Trim(text.substr(name_end)));
    const std::size_t event = builder_.Add(stamp, asks ? EventKind::kUser : EventKind::kSystem, text);
    if (command && !local && event != kNoIndex)
      builder_.NoteSkill(text.substr(1, name_end - 1), "slash command", event);
    for (const auto& result : entry.results) builder_.Add(stamp, EventKind::kSystem, ResultText(result).text);
  }

  void AddAnswer(const Entry& entry, EventContext stamp) {
    std::string text = CallOf(entry.text);
    std::string name;
    std::string arguments;
    static const RE2 bare_pattern(
        R"(^(Read|Web Search|Task Output|Update|Searched|Ran) .*(?:ctrl\+o to expand\)|[0-9a-f]{6,})$)");
    const bool shaped = RE2::FullMatch(text, CallPattern(), &name, &arguments);
    if (!shaped) text = TextOf(entry.text, answer_columns_);
    if (shaped && (IsKnownTool(name) || !entry.results.empty())) {
      if (!arguments.empty() && arguments.back() == ')') arguments.pop_back();
    } else if (!RE2::FullMatch(text, bare_pattern, &name)) {
      // Consecutive texts of one answer can't be distinguished from separate answers.
      if (shaped) text = TextOf(entry.text, answer_columns_);
      stamp.message = builder_.Message("", "", "");
      builder_.Add(stamp, EventKind::kAssistant, std::move(text));
      for (const auto& result : entry.results) builder_.Add(stamp, EventKind::kSystem, ResultText(result).text);
      return;
    }
    AddCall(entry, name, std::move(arguments), stamp);
  }

  void AddCall(const Entry& entry, const std::string& name, std::string arguments, const EventContext& stamp) {
    const std::string id = fmt::format("entry-{}", entry.line);
    const bool file = name == "Read" || name == "Write" || name == "Edit" || name == "MultiEdit" || name == "Update" ||
                      name == "Create";
    const char* key = name == "Bash" ? "command" : file ? "file_path" : name == "Skill" ? "skill" : "text";
    const std::string path = file ? arguments : "";
    builder_.AddCall(stamp, name, id, Json::object({{key, std::move(arguments)}}));
    if (entry.results.empty()) return;
    Shown all;
    for (const auto& result : entry.results) {
      const Shown shown = ResultText(result);
      if (!all.text.empty()) all.text += '\n';
      all.text += shown.text;
      all.shortened = all.shortened || shown.shortened;
    }
    const CallStatus status = StatusOf(all.text);
    if (name == "Task" || name == "Agent") builder_.NoteSubagent(id, "", id);
    const std::size_t index = builder_.AddResult(stamp, id, all.text, status);
    if (all.shortened) builder_.MarkShortened(index);
    if (!file || name == "Read" || status != CallStatus::kUnknown) return;
    // Below the line that says what was done: the hunks of a diff, or the beginning of the file.
    const std::size_t title = all.text.find('\n');
    std::string change_text = title == std::string::npos ? "" : all.text.substr(title + 1);
    const std::size_t change = builder_.AddFileChange(stamp, name, path, std::move(change_text));
    if (all.shortened) builder_.MarkShortened(change);
  }

  struct Shown {
    std::string text;
    bool shortened = false;
  };
  Shown ResultText(const std::vector<std::string_view>& rows) {
    static const RE2 dropped_pattern(R"(…\s*\+?(\d+) (?:more )?lines?\b.*)");
    Shown shown;
    if (std::optional<Shown> diff = DiffText(rows)) return *std::move(diff);
    std::vector<std::string_view> kept;
    const auto flush = [&] {
      shown.text += JoinWrappedRows(kept, result_columns_) + (kept.empty() ? "" : "\n");
      kept.clear();
    };
    for (const std::string_view row : rows) {
      int count = 0;
      if (row.find("…") != std::string_view::npos && RE2::PartialMatch(std::string(row), dropped_pattern, &count)) {
        builder_.CountDroppedLines(static_cast<std::size_t>(count));
        shown.shortened = true;
        flush();
        shown.text +=
            fmt::format("[{} not in the recording]\n", count == 1 ? "1 line is" : fmt::format("{} lines are", count));
        continue;
      }
      if (row.find("(ctrl+o to expand)") != std::string_view::npos) shown.shortened = true;
      kept.push_back(row.ends_with("  ") ? StripRight(row) : row);
    }
    flush();
    shown.text = WithoutBlankEnds(std::move(shown.text));
    return shown;
  }

  // "Updated FILE with 2 additions", perhaps wrapped, and a numbered diff.
  static std::optional<Shown> DiffText(const std::vector<std::string_view>& rows) {
    constexpr std::size_t kMostHeading = 3;
    for (std::size_t heading = 1; heading < std::min(rows.size(), kMostHeading + 1); ++heading) {
      const std::optional<std::string> hunks =
          HunksOfScreenDiff({rows.begin() + static_cast<std::ptrdiff_t>(heading), rows.end()});
      if (!hunks) continue;
      std::string title;
      for (std::size_t i = 0; i < heading; ++i) title += (title.empty() ? "" : " ") + std::string(Trim(rows[i]));
      return Shown{title + "\n" + *hunks, false};
    }
    return std::nullopt;
  }

  // Success isn't shown, so anything else stays unknown.
  static CallStatus StatusOf(std::string_view text) {
    constexpr std::string_view kNoBreakSpace = "\u00a0";  // after the mark, since version 2.1
    text = Trim(text);
    while (text.starts_with(kNoBreakSpace)) text = Trim(text.substr(kNoBreakSpace.size()));
    if (text.find("User rejected") != std::string_view::npos ||
        text.find("doesn't want to proceed") != std::string_view::npos) {
      return CallStatus::kRejected;
    }
    if (text.starts_with("Interrupted") || text.find("Interrupted by user") != std::string_view::npos ||
        text.find("[Request interrupted by user") != std::string_view::npos) {
      return CallStatus::kCancelled;
    }
    if (text.starts_with("Error") || text.find("Error writing file") != std::string_view::npos ||
        text.find("Error editing file") != std::string_view::npos || text.starts_with("API Error")) {
      return CallStatus::kError;
    }
    return CallStatus::kUnknown;
  }

  std::vector<std::string_view> lines_;
  TraceBuilder& builder_;
  std::size_t width_ = 0;
  std::size_t prompt_columns_ = 0;
  std::size_t answer_columns_ = 0;
  std::size_t result_columns_ = 0;
};

}  // namespace

void ReadClaudeCodeExport(std::string_view text, TraceBuilder& builder) { ExportReader(text, builder).Read(); }

}  // namespace upskill
