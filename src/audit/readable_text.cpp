// SPDX-License-Identifier: Apache-2.0
#include "audit/readable_text.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <utility>

#include "skill/unicode_text.h"
#include "util/base64.h"
#include "util/text.h"

namespace upskill {
namespace {

constexpr std::size_t kFewestEncoded = 20;  // bytes: shorter texts hide no command
constexpr std::size_t kFarLines = 60;
constexpr std::array<std::string_view, 25> kScriptEndings = {
    ".sh", ".bash", ".zsh", ".fish", ".py",  ".js",  ".mjs", ".cjs", ".ts",    ".tsx",  ".jsx",         ".rb", ".pl",
    ".ps", ".ps1",  ".bat", ".cmd",  ".php", ".lua", ".r",   ".go",  ".swift", ".psm1", ".applescript", ".vbs"};

bool IsInvisible(char32_t c) {
  return c == 0xAD || c == 0x34F || c == 0x61C || c == 0x180E || (c >= 0x200B && c <= 0x200F) ||
         (c >= 0x202A && c <= 0x202E) || (c >= 0x2060 && c <= 0x206F) || (c >= 0xFE00 && c <= 0xFE0F) || c == 0xFEFF ||
         (c >= 0xE0000 && c <= 0xE01EF);
}

// Cyrillic, Greek and Armenian letters that look like ASCII ones.
char32_t LookAlike(char32_t c) {
  static const std::u32string kFrom = U"аеорсухіјѕԁһԛԝкмтвнАЕОРСУХІЈЅКМТВНοαιντρυκΑΒΕΗΙΚΜΝΟΡΤΧΥΖοսհց";
  static const std::u32string kTo = U"aeopcyxijsdhqwkmtbhAEOPCYXIJSKMTBHoaivtpukABEHIKMNOPTXYZouhg";
  const std::size_t at = kFrom.find(c);
  return at == std::u32string::npos ? c : kTo[at];
}

bool IsAsciiLetter32(char32_t c) { return c < 0x80 && IsAsciiLetter(static_cast<char>(c)); }

// Look-alikes are replaced in words with an ASCII letter only, so that other scripts stay readable.
void ReplaceLookAlikes(std::u32string& text) {
  for (std::size_t begin = 0; begin < text.size();) {
    std::size_t end = begin;
    bool has_ascii = false;
    for (; end < text.size() && IsAlphanumeric(text[end]); ++end) has_ascii = has_ascii || IsAsciiLetter32(text[end]);
    if (has_ascii) std::transform(&text[begin], &text[end], &text[begin], LookAlike);
    begin = end + 1;
  }
}

std::string Replaced(std::string text, const re2::RE2& pattern, const char* by) {
  re2::RE2::GlobalReplace(&text, pattern, by);
  return text;
}

std::string PlainText(const std::string& raw) {
  static const re2::RE2 kContinued(R"((?:\\|[ \t]`)[ \t]*\n)");
  static const re2::RE2 kTerminal(R"((?:\x1b\[|\x{9B})[0-9;?]*[ -/]*[@-~]|[\x00-\x08\x0b-\x1f\x7f\x{80}-\x{9F}])");
  std::string plain = Replaced(raw, kTerminal, "");
  if (std::any_of(raw.begin(), raw.end(), [](char c) { return static_cast<unsigned char>(c) >= 0x80; })) {
    std::u32string characters = DecodeUtf8(NormalizeNfkc(raw));
    std::erase_if(characters, IsInvisible);
    ReplaceLookAlikes(characters);
    plain = EncodeUtf8(characters);
  }
  static const re2::RE2 kQuoted(R"(\n[ \t]*>[ \t]?)");  // of Markdown
  return Replaced(Replaced(std::move(plain), kContinued, " \r"), kQuoted, "\n");
}

// `$NAME` replaced by the last plain word that the file gives to NAME.
std::string WithVariables(const std::string& text) {
  static const re2::RE2 kAssignment(R"((?:^|[;&(\s])\$?(\w{1,40})[ \t]*=[ \t]*["']?([\w./:@%~-]{1,80})["']?)");
  static const re2::RE2 kUse(R"((\$\{?(\w{1,40})\}?))");
  std::map<std::string, std::string, std::less<>> values;
  std::string name;
  std::string value;
  for (re2::StringPiece rest = re2::StringPiece(text); re2::RE2::FindAndConsume(&rest, kAssignment, &name, &value);)
    values[name] = value;
  std::string result;
  re2::StringPiece use;
  const char* done = text.data();
  for (re2::StringPiece rest = re2::StringPiece(text); re2::RE2::FindAndConsume(&rest, kUse, &use, &name);) {
    const auto found = values.find(name);
    if (found == values.end() || result.size() > 2 * kMaxAuditedBytes) continue;
    result.append(done, use.data()) += found->second;
    done = use.data() + use.size();
  }
  return result.append(done, text.data() + text.size());
}

std::string Unquoted(const std::string& plain) {
  static const re2::RE2 kSpace(R"(\$\{?IFS\}?(?:\$\d)?)");
  static const re2::RE2 kSum(R"(["']\s*[+.]?[ \t]*["'])");
  static const re2::RE2 kParts(R"(["']\)?[ \t]*[,/][ \t]*["'])");  // of a path: join(home, ".ssh", "id_rsa")
  static const re2::RE2 kInWord(R"(([\w/.~-])(?:["'`^]|\\|\$[@*]|\*\*)+([\w/.~-]))");
  static const re2::RE2 kEmphasis(R"(\*\*|`)");
  std::string text = WithVariables(Replaced(plain, kSpace, " "));
  text = Replaced(Replaced(std::move(text), kSum, ""), kParts, "/");
  for (int i = 0; i < 2; ++i)
    text = Replaced(std::move(text), kInWord, "\\1\\2");  // c"u"r"l: every second one at a time
  return Replaced(std::move(text), kEmphasis, "");
}

std::size_t LineNumberAt(std::string_view text, std::size_t offset) { return PositionAt(text, offset).line; }

// Text of base64, hexadecimal digits or escapes; empty: it is something else.
std::string Decoded(const std::string& code) {
  static const re2::RE2 kHex(R"((?:(?:\\x|\\u00|%|0x|,|\s)*[0-9A-Fa-f]{2})+)");
  std::string bytes;
  if (re2::RE2::FullMatch(code, kHex)) {
    static const re2::RE2 kPair(R"((?:\\x|\\u00|%|0x|,|\s)*([0-9A-Fa-f]{2}))");
    std::string pair;
    for (re2::StringPiece rest(code); re2::RE2::Consume(&rest, kPair, &pair);)
      bytes += static_cast<char>(std::stoi(pair, nullptr, 16));
  } else {
    bytes = DecodeBase64(code);
  }
  std::erase(bytes, '\0');  // UTF-16
  const auto is_text = [](char c) { return (c >= ' ' && c <= '~') || c == '\n' || c == '\t' || c == '\r'; };
  const auto readable = static_cast<std::size_t>(std::count_if(bytes.begin(), bytes.end(), is_text));
  return bytes.size() >= 8 && readable * 20 >= bytes.size() * 19 ? bytes : "";
}

// Adds what is encoded in the text, and what is encoded in that.
void AddDecoded(const std::string& text, std::size_t first_line, int levels, std::size_t& left,
                std::vector<ReadableText>& readings) {
  static const re2::RE2 kCode(
      R"(((?:[A-Za-z0-9+/_-]{8,}\n?)+={0,2}|(?:(?:\\x|\\u00|%|0x)[0-9A-Fa-f]{2}(?:,\s*)?){8,}))");
  std::string code;
  re2::StringPiece rest(text);
  re2::StringPiece found;
  std::size_t counted = 0;
  std::size_t line = first_line;
  while (re2::RE2::FindAndConsume(&rest, kCode, &found)) {
    const auto at = static_cast<std::size_t>(found.data() - text.data());
    line += static_cast<std::size_t>(std::count(&text[counted], &text[at], '\n'));
    counted = at;
    if (found.size() < kFewestEncoded) continue;
    const std::string decoded = Decoded(std::string(found));
    if (decoded.empty() || decoded.size() > left) continue;
    left -= decoded.size();
    if (levels > 1) AddDecoded(decoded, line, levels - 1, left, readings);
    readings.push_back({Reading::kHidden, decoded, line});
  }
}

// What Unicode's tag characters spell.
void AddTags(const std::string& raw, std::vector<ReadableText>& readings) {
  static const re2::RE2 kTags(R"(([\x{E0020}-\x{E007E}]{3,}))");
  re2::StringPiece rest(raw);
  re2::StringPiece found;
  while (re2::RE2::FindAndConsume(&rest, kTags, &found)) {
    std::u32string spelled = DecodeUtf8({found.data(), found.size()});
    for (char32_t& c : spelled) c -= 0xE0000;
    readings.push_back({Reading::kHidden, EncodeUtf8(spelled),
                        LineNumberAt(raw, static_cast<std::size_t>(found.data() - raw.data()))});
  }
}

// Comments of HTML and Markdown, texts of images, and what follows many blank lines or spaces.
void AddUnseen(const std::string& plain, std::vector<ReadableText>& readings) {
  static const re2::RE2 kUnseen(R"((?s)(<!--.*?-->|!\[[^\]\n]*\]|\n\[//\]: # [^\n]*|<[^>]*display:\s*none[^>]*>[^<]*|)"
                                R"(<details>\s*<summary>\s*</summary>.*?</details>))");
  static const re2::RE2 kFar(
      fmt::format(R"(((?:(?:[ \t\r]*\n){{{}}}|[ \t]{{200}})\s*\S[^\n]*(?:\n[^\n]+)*))", kFarLines));
  for (const re2::RE2* const pattern : {&kUnseen, &kFar}) {
    re2::StringPiece rest(plain);
    re2::StringPiece found;
    std::size_t counted = 0;
    std::size_t line = 1;
    while (re2::RE2::FindAndConsume(&rest, *pattern, &found)) {
      const auto at = static_cast<std::size_t>(found.data() - plain.data());
      line += static_cast<std::size_t>(
          std::count_if(&plain[counted], &plain[at], [](char c) { return c == '\n' || c == '\r'; }));
      counted = at;
      readings.push_back({Reading::kHidden, std::string(found), line});
    }
  }
}

std::string Frontmatter(std::string_view name, const std::string& raw) {
  if (ToLowerAscii(name) != "skill.md" || !raw.starts_with("---")) return "";
  const std::size_t end = raw.find("\n---", 3);
  return end == std::string::npos ? "" : raw.substr(0, end);
}

// Whether it is a program, a picture or the like. UTF-16, which PowerShell reads, is text, and so is what agents read
// or run by its name, whatever bytes are in it.
bool IsBinary(std::string_view name, std::string_view content) {
  static const re2::RE2 kTextName(
      R"((?i)\.(?:md|mdx|markdown|txt|rst|html?|svg|xml|json|jsonl|ya?ml|toml|ini|cfg|csv)$)");
  return !IsScript(name, content) && !re2::RE2::PartialMatch(re2::StringPiece(name.data(), name.size()), kTextName) &&
         !content.starts_with("\xFF\xFE") && !content.starts_with("\xFE\xFF") &&
         content.substr(0, 8000).find('\0') != std::string_view::npos;
}

}  // namespace

bool IsScript(std::string_view name, std::string_view content) {
  const std::filesystem::path path(name);
  const std::string ending = ToLowerAscii(path.extension().string());
  return content.starts_with("#!") || path.filename() == "Makefile" || path.filename() == "package.json" ||
         std::find(kScriptEndings.begin(), kScriptEndings.end(), ending) != kScriptEndings.end();
}

std::vector<ReadableText> ReadingsOf(std::string_view name, std::string_view content) {
  constexpr std::size_t kFirstBytes = 16;
  if (IsBinary(name, content)) return {{Reading::kRaw, ReplaceInvalidUtf8(content.substr(0, kFirstBytes))}};
  std::string bytes(content.substr(0, kMaxAuditedBytes));
  std::erase_if(bytes, [](char c) { return c == '\0' || c == '\r'; });
  std::string raw = ReplaceInvalidUtf8(bytes);
  if (content.size() > kMaxAuditedBytes) {  // rules look for it; libraries of pages are as large
    const bool is_followed = (IsScript(name, content) && !name.ends_with(".js")) || ToLowerAscii(name).ends_with(".md");
    raw += fmt::format("\n[the rest of {} was not read]", is_followed ? "these instructions" : "this file");
  }
  const std::string plain = PlainText(raw);
  std::vector<ReadableText> readings = {{Reading::kRaw, raw}, {Reading::kPlain, plain}};
  if (std::string unquoted = Unquoted(plain); unquoted != plain)
    readings.push_back({Reading::kUnquoted, std::move(unquoted)});
  if (std::string front = Frontmatter(name, raw); !front.empty())
    readings.push_back({Reading::kFrontmatter, std::move(front)});
  std::size_t left = kMaxAuditedBytes;
  AddDecoded(raw, 1, 3, left, readings);
  AddTags(raw, readings);
  AddUnseen(plain, readings);
  return readings;
}

std::string WithVisibleCharacters(std::string_view text) {
  std::string visible;
  for (const char32_t c : DecodeUtf8(ReplaceInvalidUtf8(text)))
    visible += IsInvisible(c) ? fmt::format("\\u{{{:X}}}", static_cast<std::uint32_t>(c)) : EncodeUtf8({&c, 1});
  return visible;
}

}  // namespace upskill
