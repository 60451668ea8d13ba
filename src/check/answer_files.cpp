// SPDX-License-Identifier: Apache-2.0
#include "check/answer_files.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "util/fences.h"
#include "util/files.h"
#include "util/text.h"

namespace upskill {
namespace {

constexpr std::size_t kMaxNameBytes = 255;
constexpr std::array<std::string_view, 9> kInterpreters = {"sh",      "bash", "zsh",  "dash", "python",
                                                           "python3", "node", "perl", "chmod"};

bool IsNameCharacter(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return IsAsciiAlphanumeric(c) || c == '_' || c == '-' || c == '.' || c == '/' || byte >= 0x80;
}

bool StartsName(std::string_view before) {
  if (before.ends_with("./")) before.remove_suffix(2);
  return before.empty() || !IsNameCharacter(before.back());
}

bool EndsName(std::string_view after) {
  // The full stop of a sentence: "Here is build.toml."
  if (after.starts_with('.')) after.remove_prefix(1);
  return after.empty() || !IsNameCharacter(after.front());
}

// Whether what is before a name in a line makes it what a command runs: `sh pad.sh 17`, `bash -x pad.sh`.
bool RunsName(std::string_view before) {
  if (before.ends_with(' ')) {
    const std::size_t start = before.find_last_of(' ', before.size() - 2) + 1;
    const std::string_view option = before.substr(start);
    if (option.find_first_of("-+") == 0 || option.find_first_not_of("0123456789 ") == std::string_view::npos)
      before = before.substr(0, start);
  }
  return std::any_of(kInterpreters.begin(), kInterpreters.end(), [&](std::string_view interpreter) {
    const std::string command = std::string(interpreter) + " ";
    return before.ends_with(command) && StartsName(before.substr(0, before.size() - command.size()));
  });
}

// The line with spaces in place of quotation marks and spaces that aren't ASCII. As long as the line.
std::string WithPlainSpaces(std::string_view line) {
  constexpr std::array<std::string_view, 10> kSeparators = {"\u2018", "\u2019", "\u201C", "\u201D", "\u201E",
                                                            "\u00AB", "\u00BB", "\u00A0", "\u202F", "\u2014"};
  std::string plain(line);
  for (const std::string_view separator : kSeparators) {
    for (std::size_t at = plain.find(separator); at != std::string::npos; at = plain.find(separator, at))
      plain.replace(at, separator.size(), separator.size(), ' ');
  }
  return plain;
}

// Whether the line contains `file` as a whole name, not as a part of "my-build.toml" or "old/build.toml".
bool NamesFile(std::string_view text, std::string_view file) {
  const std::string plain = WithPlainSpaces(text);
  const std::string_view line = plain;
  for (std::size_t at = line.find(file); at != std::string_view::npos; at = line.find(file, at + 1)) {
    if (StartsName(line.substr(0, at)) && EndsName(line.substr(at + file.size())) && !RunsName(line.substr(0, at)))
      return true;
  }
  return false;
}

bool LooksLikeFile(std::string_view word) {
  constexpr std::array<std::string_view, 6> kPlainNames = {"Makefile", "Dockerfile",    "Justfile",
                                                           "LICENSE",  "Containerfile", "Jenkinsfile"};
  if (word.size() > kMaxNameBytes || word.ends_with('/')) return false;
  const std::string_view name = word.substr(word.rfind('/') + 1);
  if (std::find(kPlainNames.begin(), kPlainNames.end(), name) != kPlainNames.end()) return true;
  // Names of programs and libraries that look like files.
  constexpr std::array<std::string_view, 10> kNoFiles = {"node.js",    "next.js",  "vue.js", "nuxt.js", "react.js",
                                                         "express.js", "three.js", "d3.js",  "asp.net", "socket.io"};
  if (std::find(kNoFiles.begin(), kNoFiles.end(), ToLowerAscii(word)) != kNoFiles.end()) return false;
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos || dot + 1 == name.size()) return false;
  constexpr std::size_t kLongestExtension = 10;
  const std::string_view extension = name.substr(dot + 1);
  const bool plain = std::all_of(extension.begin(), extension.end(),
                                 [](char c) { return IsAsciiAlphanumeric(c) || c == '_' || c == '-'; });
  return plain && IsAsciiLetter(extension.front()) && extension.size() <= kLongestExtension;
}

struct FileWord {
  std::string text;
  std::size_t end = 0;  // in the line
};

// The words that look like files' names, without what stands around them.
std::vector<FileWord> FileWords(std::string_view text) {
  const std::string plain = WithPlainSpaces(text);
  const std::string_view line = plain;
  std::vector<FileWord> words;
  for (std::size_t i = 0; i < line.size();) {
    if (!IsNameCharacter(line[i])) {
      ++i;
      continue;
    }
    const std::size_t start = i;
    while (i < line.size() && IsNameCharacter(line[i])) ++i;
    std::string_view word = line.substr(start, i - start);
    while (word.ends_with('.')) word.remove_suffix(1);
    const bool part_of_address = line.substr(0, start).ends_with(':') && word.starts_with("//");
    if (!part_of_address && LooksLikeFile(word)) words.push_back({std::string(word), start + word.size()});
  }
  return words;
}

std::string NameInInfo(std::string_view info) {
  const std::vector<FileWord> words = FileWords(info);
  return words.empty() ? "" : words.front().text;
}

std::string WithoutDotFolder(std::string name) {
  while (name.starts_with("./")) name.erase(0, 2);
  return name;
}

std::string NameInLine(std::string_view line, const std::vector<std::string>& wanted) {
  std::vector<FileWord> words = FileWords(line);
  std::erase_if(words, [&](const FileWord& word) { return RunsName(line.substr(0, word.end - word.text.size())); });
  if (words.empty()) return "";
  const auto is_wanted = [&](const FileWord& word) {
    return std::find(wanted.begin(), wanted.end(), WithoutDotFolder(word.text)) != wanted.end();
  };
  if (std::count_if(words.begin(), words.end(), is_wanted) == 1)
    return std::find_if(words.begin(), words.end(), is_wanted)->text;
  const std::string_view after = line.substr(words.back().end);
  const bool ends_line = after.find(':') != std::string_view::npos &&
                         std::none_of(after.begin(), after.end(), [](char c) { return IsNameCharacter(c); });
  return ends_line ? words.back().text : words.front().text;
}

std::string NameInComment(std::string_view content) {
  std::string_view line = Trim(content.substr(0, content.find('\n')));
  const auto strip = [&line](std::string_view start, std::string_view end) {
    if (!line.starts_with(start)) return false;
    line.remove_prefix(start.size());
    if (!end.empty() && line.ends_with(end)) line.remove_suffix(end.size());
    line = Trim(line);
    return true;
  };
  if (!strip("//", "") && !strip("<!--", "-->") && !strip("/*", "*/") && !strip("#", "") && !strip("--", "") &&
      !strip(";", ""))
    return "";
  for (const std::string_view label : {"file:", "File:", "filename:", "Filename:", "path:", "Path:"}) {
    if (strip(label, "")) break;
  }
  const bool whole = std::all_of(line.begin(), line.end(), IsNameCharacter);
  return whole && LooksLikeFile(line) ? std::string(line) : "";
}

std::string LanguageOf(const FencedBlock& block) {
  return ToLowerAscii(block.info.substr(0, block.info.find_first_of(" \t{")));
}

// Whether the line before a block may name it. A line before commands, their output or a diff often speaks of a file
// that was shown before: "Run it with `python main.py`:".
bool MayBeNamedBefore(const FencedBlock& block, std::string_view file) {
  constexpr std::array<std::string_view, 12> kOfCommands = {
      "bash",         "sh",       "shell",  "console", "zsh",   "shell-session",
      "shellsession", "terminal", "output", "diff",    "patch", "powershell"};
  constexpr std::array<std::string_view, 9> kOfScripts = {"sh",  "bash", "zsh",   "ps1", "txt",
                                                          "log", "diff", "patch", "md"};
  if (std::find(kOfCommands.begin(), kOfCommands.end(), LanguageOf(block)) == kOfCommands.end()) return true;
  const std::string name = ToLowerAscii(file.substr(file.rfind('/') + 1));
  const std::size_t dot = name.rfind('.');
  if (dot == std::string::npos) return false;
  return std::find(kOfScripts.begin(), kOfScripts.end(), std::string_view(name).substr(dot + 1)) != kOfScripts.end();
}

// Whether a line of commands runs the file or makes it executable, also after `sudo`, `X=1` or a pipe, but not where it
// is part of a message or of a condition.
bool RunsFile(std::string_view line, const std::string& name) {
  static const RE2 command(R"((?:^|[|;&]\s*)(?:\w+=(?:"[^"]*"|'[^']*'|[^\s"']*)\s+|sudo\s+|time\s+|env\s+)*)"
                           R"((?:(?:/\S*/)?(?:sh|bash|zsh|dash|python3?|node|perl|ruby|chmod|source|\.)\s+)"
                           R"((?:[-+]\S+\s+|\d+\s+|[augo]+[-+=]\w+\s+)*(?:\./)?|"?\./)([^\s;>)&|"]+))");
  re2::StringPiece rest(line.data(), line.size());
  std::string run;
  while (RE2::FindAndConsume(&rest, command, &run)) {
    if (run == name) return true;
  }
  return false;
}

// Whether a block shows how `file` is used, so that it can't be the file: it imports or includes it, or its first
// command runs it.
bool IsUseOf(const FencedBlock& block, std::string_view file) {
  const std::string name(file.substr(file.rfind('/') + 1));
  const std::string stem = name.substr(0, name.rfind('.'));
  const bool is_python = name.ends_with(".py");
  const std::array<std::string, 8> imports = {
      "from " + stem + " import ", "import " + stem + " ", "import " + stem + (is_python ? "," : " "),
      "#include \"" + name + "\"", "'./" + stem + "'",     "\"./" + stem + "\"",
      "'./" + name + "'",          "\"./" + name + "\""};
  // A module may name itself in its documentation, and one in a folder import a namesake.
  const std::vector<std::string_view> lines = SplitLines(block.content);
  const bool defines = std::any_of(lines.begin(), lines.end(), [](std::string_view line) {
    return line.starts_with("def ") || line.starts_with("class ") || line.starts_with("async def ");
  });
  const bool may_import = !defines && file.find('/') == std::string_view::npos;
  bool is_first = true;
  for (std::string_view line : lines) {
    line = Trim(line);
    if (line.starts_with("$ ")) line.remove_prefix(2);
    if (is_python && line.starts_with(">>> ")) line.remove_prefix(4);
    const std::string padded = std::string(line) + " ";
    if (may_import &&
        std::any_of(imports.begin(), imports.begin() + 4, [&](const auto& text) { return padded.starts_with(text); }))
      return true;
    const bool imports_script =
        may_import && (line.starts_with("import ") || line.find("require(") != std::string_view::npos);
    if (imports_script && std::any_of(imports.begin() + 4, imports.end(),
                                      [&](const auto& text) { return padded.find(text) != std::string::npos; }))
      return true;
    if (!is_first || line.empty() || line.starts_with('#')) continue;
    is_first = false;
    if (RunsFile(line, name)) return true;
  }
  return false;
}

// Whether the line before a block is nothing but a heading such as "**Example usage:**" or "Output". A sentence that
// has these words may well introduce the file.
bool ShowsUse(const FencedBlock& block) {
  std::string words;
  for (const char c : ToLowerAscii(block.line_before)) {
    if (IsAsciiAlphanumeric(c) || c == ' ') words += c;
  }
  constexpr std::array<std::string_view, 8> kHeadings = {"usage",         "example usage",  "usage example",
                                                         "example",       "output",         "example output",
                                                         "sample output", "expected output"};
  return std::find(kHeadings.begin(), kHeadings.end(), Trim(words)) != kHeadings.end();
}

// What blocks with files of an extension (or of a plain name) are called besides the extension itself.
struct FileLanguages {
  std::string_view extensions;
  std::string_view languages;
};

constexpr std::array<FileLanguages, 16> kFileLanguages = {{
    {"yaml yml", "yaml yml"},
    {"json", "jsonc json5"},
    {"py", "python python3"},
    {"js mjs cjs", "javascript js"},
    {"ts", "typescript"},
    {"rs", "rust"},
    {"go", "golang"},
    {"rb", "ruby"},
    {"kt kts", "kotlin"},
    {"cs", "csharp"},
    {"c h cc cpp cxx hpp", "c c++ cpp h hpp"},
    {"cu cuh", "cuda c c++ cpp"},
    {"sh bash", "bash sh shell"},
    {"md", "markdown"},
    {"txt", "text plaintext"},
    {"makefile dockerfile", "make makefile docker dockerfile"},
}};

bool HasWord(std::string_view list, std::string_view word) {
  return (" " + std::string(list) + " ").find(" " + std::string(word) + " ") != std::string::npos;
}

}  // namespace

bool IsLanguage(std::string_view word) {
  const std::string lower = ToLowerAscii(word);
  return lower == "toml" || std::any_of(kFileLanguages.begin(), kFileLanguages.end(), [&](const FileLanguages& known) {
           return HasWord(known.extensions, lower) || HasWord(known.languages, lower);
         });
}

namespace {

bool IsLanguageOf(const std::string& language, const std::string& file) {
  const std::string name = ToLowerAscii(file.substr(file.rfind('/') + 1));
  const std::string extension = name.substr(name.rfind('.') + 1);
  return language == extension ||
         std::any_of(kFileLanguages.begin(), kFileLanguages.end(), [&](const FileLanguages& known) {
           return HasWord(known.extensions, extension) && HasWord(known.languages, language);
         });
}

// The file that a block without a name has, if that is plain. `only`: the answer has no other block.
std::string MeantFile(const FencedBlock& block, const std::vector<std::string>& wanted, bool only) {
  const std::string language = LanguageOf(block);
  std::string meant;
  for (const std::string& file : wanted) {
    if (!IsLanguageOf(language, file)) continue;
    if (!meant.empty()) return "";
    meant = file;
  }
  const bool plain = language.empty() || HasWord("text txt plain plaintext code", language);
  return meant.empty() && plain && only && wanted.size() == 1 ? wanted.front() : meant;
}

struct ReasoningTags {
  std::string_view open;
  std::string_view close;
};
constexpr std::array kReasoningTags = {
    ReasoningTags{"<think>", "</think>"},           ReasoningTags{"<thinking>", "</thinking>"},
    ReasoningTags{"<thought>", "</thought>"},       ReasoningTags{"<reasoning>", "</reasoning>"},
    ReasoningTags{"<seed:think>", "</seed:think>"}, ReasoningTags{"[THINK]", "[/THINK]"},
    ReasoningTags{"◁think▷", "◁/think▷"},           ReasoningTags{"<|channel>thought", "<channel|>"}};

// Whether a closing tag in a line ends what is before it: text that mentions the tag has it in code or between blanks.
bool EndsReasoning(std::string_view before, std::string_view after) {
  if (std::count(before.begin(), before.end(), '`') % 2 != 0) return false;
  if (Trim(before).empty()) return Trim(after).empty() || after.front() != ' ';
  if (before.back() == ' ') return Trim(after).empty() && std::string_view(".!?:)\"").find(Trim(before).back()) < 6;
  return Trim(after).empty() || std::string_view(" .,;:!?)]'\"`").find(after.front()) == std::string_view::npos;
}

// The final message of an answer in OpenAI's harmony format, whose marks some servers leave in the text or take out
// ("analysisTeal? No.assistantfinalred"); nothing if the text isn't in that format.
std::optional<std::string_view> FinalOfChannels(std::string_view answer) {
  constexpr std::string_view kFinal = "<|channel|>final";
  constexpr std::string_view kMessage = "<|message|>";
  constexpr std::string_view kPlainFinal = "assistantfinal";
  answer = Trim(answer);
  if (const std::size_t plain = answer.rfind(kPlainFinal);
      answer.starts_with("analysis") && plain != std::string_view::npos)
    return Trim(answer.substr(plain + kPlainFinal.size()));
  if (!answer.starts_with("<|channel|>") && !answer.starts_with("<|start|>assistant<|channel|>")) return std::nullopt;
  const std::size_t final_channel = answer.rfind(kFinal);
  const std::size_t message = answer.find(kMessage, std::min(final_channel, answer.size()));
  if (message == std::string_view::npos) return std::string_view();
  answer.remove_prefix(message + kMessage.size());
  return Trim(answer.substr(0, std::min(answer.find("<|return|>"), answer.find("<|end|>"))));
}

// Where the answer begins behind reasoning whose opening tag isn't in the text; 0 if there is no such reasoning.
std::size_t EndOfUnopened(std::string_view answer, const ReasoningTags& tags) {
  const std::size_t last = answer.rfind(tags.close);
  if (last == std::string_view::npos) return 0;
  FenceScanner scanner;
  for (std::size_t at = 0; at <= last;) {
    const std::size_t end = std::min(answer.find('\n', at), answer.size());
    const std::string_view line = answer.substr(at, end - at);
    if (scanner.Take(line) == FenceScanner::Line::kText) {
      const std::size_t close = line.find(tags.close);
      if (line.substr(0, close).find(tags.open) != std::string_view::npos) return 0;
      if (close != std::string_view::npos &&
          EndsReasoning(line.substr(0, close), line.substr(close + tags.close.size())))
        return at + close + tags.close.size();
    }
    at = end + 1;
  }
  return 0;
}

}  // namespace

std::map<std::string, std::string> AnswerFiles(std::string_view answer, const std::vector<std::string>& wanted) {
  std::map<std::string, std::string> files;
  std::map<std::string, std::vector<FencedBlock>> unnamed;  // by the file that each may be
  std::vector<FencedBlock> blocks = FindFencedBlocks(answer);
  const bool only = wanted.size() == 1 && std::count_if(blocks.begin(), blocks.end(), [&](const FencedBlock& block) {
                                            return !IsUseOf(block, wanted.front());
                                          }) == 1;
  for (FencedBlock& block : blocks) {
    std::string name = NameInInfo(block.info);
    if (name.empty()) {
      name = NameInLine(block.line_before, wanted);
      if (!name.empty() && !MayBeNamedBefore(block, name)) name.clear();
    }
    if (name.empty()) {
      name = NameInComment(block.content);
      // JSON has no comments: the name is not meant to be in the file.
      if (name.ends_with(".json")) block.content.erase(0, block.content.find('\n') + 1);
    }
    name = WithoutDotFolder(std::move(name));
    if (name.empty()) {
      std::string file = MeantFile(block, wanted, only);
      if (!file.empty() && !IsUseOf(block, file)) unnamed[std::move(file)].push_back(std::move(block));
      continue;
    }
    if (!ContainedPath("", name) || IsUseOf(block, name)) continue;
    name = PlainFileName(name);
    if (files.size() == kMaxAnswerFiles && !files.contains(name)) continue;
    files[std::move(name)] = std::move(block.content);
  }
  // Of several blocks that may be the file, none is, unless the others show how it is used.
  for (auto& [name, candidates] : unnamed) {
    if (candidates.size() > 1) std::erase_if(candidates, ShowsUse);
    if (candidates.size() == 1 && ContainedPath("", name))
      files.try_emplace(PlainFileName(name), std::move(candidates[0].content));
  }
  return files;
}

std::vector<std::string> FileNamesIn(std::string_view text) {
  std::vector<std::string> names;
  for (FileWord& word : FileWords(text)) names.push_back(std::move(word.text));
  return names;
}

std::string OutputFileContent(std::string_view answer, const std::string& file) {
  if (file.empty()) return std::string(answer);
  std::vector<FencedBlock> blocks = FindFencedBlocks(answer);
  std::erase_if(blocks, [&](const FencedBlock& block) { return IsUseOf(block, file); });
  const auto last = std::find_if(blocks.rbegin(), blocks.rend(), [&](const FencedBlock& block) {
    return NamesFile(block.info, file) || (NamesFile(block.line_before, file) && MayBeNamedBefore(block, file));
  });
  if (last != blocks.rend()) return std::move(last->content);
  return blocks.size() == 1 ? std::move(blocks.front().content) : std::string(answer);
}

std::string DataInAnswer(std::string_view answer, std::string_view languages) {
  std::vector<FencedBlock> blocks = FindFencedBlocks(answer);
  const auto last = std::find_if(blocks.rbegin(), blocks.rend(), [&](const FencedBlock& block) {
    const std::string language = LanguageOf(block);
    return !language.empty() && HasWord(languages, language);
  });
  if (last != blocks.rend()) return std::move(last->content);
  return blocks.size() == 1 ? std::move(blocks.front().content) : std::string(answer);
}

std::string_view WithoutReasoning(std::string_view answer) {
  if (const std::optional<std::string_view> last = FinalOfChannels(answer)) return *last;
  for (const ReasoningTags& tags : kReasoningTags) {
    if (const std::size_t end = EndOfUnopened(answer, tags); end > 0) return Trim(answer.substr(end));
    std::string_view rest = Trim(answer);
    if (!rest.starts_with(tags.open)) continue;
    while (rest.starts_with(tags.open)) {
      const std::size_t close = rest.find(tags.close);
      rest = close == std::string_view::npos ? std::string_view() : Trim(rest.substr(close + tags.close.size()));
    }
    return rest;
  }
  return answer;
}

}  // namespace upskill
