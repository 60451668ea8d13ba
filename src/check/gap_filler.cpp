// SPDX-License-Identifier: Apache-2.0
#include "check/gap_filler.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>
#include <vector>

#include "check/answer_files.h"
#include "check/check.h"
#include "check/text_checks.h"
#include "util/fences.h"
#include "util/files.h"
#include "util/text.h"

namespace upskill {
namespace {

constexpr std::string_view kIndent = " \t";
constexpr std::size_t kMostRepeated = 5000;  // lines around a gap

// The only code in backticks on the line, else the line.
std::string_view CodeOnLine(std::string_view line) {
  if (std::count(line.begin(), line.end(), '`') != 2) return line;
  const std::size_t open = line.find('`');
  return line.substr(open + 1, line.rfind('`') - open - 1);
}

std::string_view FirstLine(std::string_view answer) {
  for (const std::string_view line : SplitLines(answer)) {
    if (const std::string_view trimmed = Trim(line); !trimmed.empty()) return CodeOnLine(trimmed);
  }
  return "";
}

// Without the blank lines at its ends, and without white space at the end of its last line.
std::string_view WithoutBlankEnds(std::string_view text) {
  const std::string_view trimmed = Trim(text);
  if (trimmed.empty()) return "";
  const auto start = static_cast<std::size_t>(trimmed.data() - text.data());
  const std::size_t line = start == 0 ? std::string_view::npos : text.rfind('\n', start - 1);
  const std::size_t from = line == std::string_view::npos ? 0 : line + 1;
  return text.substr(from, start + trimmed.size() - from);
}

// The white space that all lines which aren't blank begin with.
std::string_view CommonIndentation(const std::vector<std::string_view>& lines) {
  std::optional<std::string_view> common;
  for (const std::string_view line : lines) {
    if (Trim(line).empty()) continue;
    const std::string_view own = line.substr(0, std::min(line.find_first_not_of(kIndent), line.size()));
    if (!common) common = own;
    const auto [mine, theirs] = std::mismatch(common->begin(), common->end(), own.begin(), own.end());
    common = common->substr(0, static_cast<std::size_t>(mine - common->begin()));
  }
  return common.value_or("");
}

// As deep as the gap. The first line stands where the gap's indentation already is.
std::string Indented(std::string_view text, std::string_view indentation) {
  const std::vector<std::string_view> lines = SplitLines(text);
  const std::size_t depth = CommonIndentation(lines).size();
  std::string out;
  for (const std::string_view line : lines) {
    if (!out.empty()) out += '\n';
    if (Trim(line).empty()) continue;
    if (!out.empty()) out += indentation;
    out += line.substr(depth);
  }
  return out;
}

// Whether no bracket is closed before it is opened, or left open.
bool BracketsMatch(std::string_view text) {
  std::string open;
  for (const char c : text) {
    if (c == '(') open += ')';
    if (c == '[') open += ']';
    if (c == '{') open += '}';
    if (c != ')' && c != ']' && c != '}') continue;
    if (open.empty() || open.back() != c) return false;
    open.pop_back();
  }
  return open.empty();
}

// The code that small models write on the line of a fence: "```edition = 5". Not a language with attributes.
std::string_view CodeOnFence(std::string_view info) {
  const bool is_code = info.find_first_of("=(;") != std::string_view::npos;
  return is_code && !IsLanguage(info.substr(0, info.find(' '))) ? info : "";
}

std::vector<std::string_view> LinesWithText(std::string_view text) {
  std::vector<std::string_view> lines = SplitLines(text);
  std::erase_if(lines, [](std::string_view line) { return Trim(line).empty(); });
  return lines;
}

// Whether a line begins a block: two statements that are alike may follow each other.
bool Opens(std::string_view line) {
  line = Trim(line);
  return line.starts_with('[') || line.starts_with('<') || line.ends_with(':') || line.ends_with('{') ||
         line.ends_with('(') || line.ends_with('[');
}

// How many of the first lines are the last ones of `around`, apart from indentation.
std::size_t Repeated(const std::vector<std::string_view>& lines, const std::vector<std::string_view>& around) {
  for (std::size_t count = std::min({lines.size(), around.size(), kMostRepeated}); count > 0; --count) {
    const auto from = around.end() - static_cast<std::ptrdiff_t>(count);
    if (std::equal(from, around.end(), lines.begin(), [](auto a, auto b) { return Trim(a) == Trim(b); })) return count;
  }
  return 0;
}

}  // namespace

GapFiller::GapFiller(std::string file, std::string_view content, std::string_view gap,
                     std::unique_ptr<re2::RE2> pattern)
    : file_(std::move(file)), gap_(Trim(gap)), pattern_(std::move(pattern)) {
  const std::size_t at = content.find(gap);
  before_ = content.substr(0, at);
  after_ = content.substr(at + gap.size());
}

GapFiller::~GapFiller() = default;
GapFiller::GapFiller(GapFiller&& other) noexcept = default;
GapFiller& GapFiller::operator=(GapFiller&& other) noexcept = default;

Result<std::optional<GapFiller>> GapFiller::Make(const Case& test_case, CaseParts& parts) {
  if (!test_case.fill) return std::optional<GapFiller>();
  const Fill& fill = *test_case.fill;
  RETURN_IF_ERROR(CheckFill(test_case));
  std::unique_ptr<RE2> pattern;
  if (!fill.pattern.empty()) {
    ASSIGN_OR_RETURN(pattern, CompilePattern(fill.pattern, parts));
  }
  const std::string content = ReplaceInvalidUtf8(*FileWithGap(test_case));
  return std::optional<GapFiller>(GapFiller(PlainFileName(fill.file), content, fill.gap, std::move(pattern)));
}

Result<std::string> GapFiller::FileWith(std::string_view answer) const {
  ASSIGN_OR_RETURN(const std::string taken, Taken(answer));
  const std::string_view text = WithoutRestOfLine(WithoutLinesAround(WithoutBlankEnds(taken)));
  if (Trim(text).empty() || Trim(text) == gap_)
    return InputError(fmt::format("the answer has nothing for the gap of {}", file_));
  const std::string_view ahead = LineAhead();
  return before_ + (Trim(ahead).empty() ? Indented(text, ahead) : std::string(Trim(text))) + after_;
}

Result<std::string> GapFiller::Taken(std::string_view answer) const {
  if (pattern_ == nullptr) {
    std::vector<FencedBlock> blocks = FindFencedBlocks(answer);
    if (blocks.size() == 1 && Trim(blocks.front().content).empty()) {
      if (const std::string_view code = CodeOnFence(blocks.front().info); !code.empty()) return std::string(code);
    }
    std::map<std::string, std::string> files = AnswerFiles(answer, {file_});
    if (const auto named = files.find(file_); named != files.end()) return std::move(named->second);
    if (!blocks.empty()) return std::move(blocks.front().content);
    return std::string(FirstLine(answer));
  }
  if (const std::string costly = TooCostly(*pattern_, answer.size()); !costly.empty()) return InputError(costly);
  std::array<re2::StringPiece, 2> found;
  const int groups = pattern_->NumberOfCapturingGroups() > 0 ? 2 : 1;
  const re2::StringPiece text(answer.data(), answer.size());
  if (!pattern_->Match(text, 0, text.size(), RE2::UNANCHORED, found.data(), groups)) {
    return InputError(
        fmt::format("the answer has nothing for the gap of {}: no match for {}", file_, Quoted(pattern_->pattern())));
  }
  const re2::StringPiece& taken = found.at(static_cast<std::size_t>(groups - 1));
  return std::string(taken.data() == nullptr ? "" : taken.data(), taken.size());
}

// Without the lines around the gap that the answer repeats, up to the whole file.
std::string_view GapFiller::WithoutLinesAround(std::string_view text) const {
  std::vector<std::string_view> lines = LinesWithText(text);
  const std::size_t before_end = before_.rfind('\n');
  const std::size_t after_start = after_.find('\n');
  std::vector<std::string_view> before, after;
  if (before_end != std::string::npos) before = LinesWithText(std::string_view(before_).substr(0, before_end));
  if (after_start != std::string::npos) after = LinesWithText(std::string_view(after_).substr(after_start));
  std::size_t first = Repeated(lines, before);
  if (first < before.size() && std::none_of(lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(first), Opens))
    first = 0;
  if (lines.size() > first + 1 && Trim(lines[first]) == gap_) lines[first] = "";
  // Without a repeated start, its last line may well be its own brace.
  if ((first == 0 && !before.empty()) || first == lines.size()) return text;
  std::reverse(lines.begin(), lines.end());
  std::reverse(after.begin(), after.end());
  lines.resize(lines.size() - first);
  std::size_t last = Repeated(lines, after);
  const bool has_words = std::any_of(after.begin(), after.end(), [](std::string_view line) {
    return std::any_of(line.begin(), line.end(), IsAsciiAlphanumeric);
  });
  if (before.empty() && (last < after.size() || !has_words)) last = 0;  // its own closing bracket
  if (!lines.empty() && lines.back().empty()) lines.pop_back();
  if (last >= lines.size()) return "";
  const char* const begin = lines.back().data();
  const std::string_view end = lines[last];
  return {begin, static_cast<std::size_t>(end.data() + end.size() - begin)};
}

// Without the rest of the gap's line, if the answer repeats it.
std::string_view GapFiller::WithoutRestOfLine(std::string_view text) const {
  const std::string_view start = Trim(LineAhead());
  const std::string_view end = Trim(std::string_view(after_).substr(0, after_.find('\n')));
  const std::string_view line = Trim(text);
  if (start.empty() && end.empty()) return text;
  if (line.size() < start.size() + end.size() || !line.starts_with(start) || !line.ends_with(end)) return text;
  const std::string_view rest = Trim(line.substr(start.size(), line.size() - start.size() - end.size()));
  return BracketsMatch(line) && !BracketsMatch(rest) ? text : rest;  // a bracket at the end may be its own
}

std::string_view GapFiller::LineAhead() const {
  const std::size_t line = before_.rfind('\n');
  return std::string_view(before_).substr(line == std::string::npos ? 0 : line + 1);
}

}  // namespace upskill
