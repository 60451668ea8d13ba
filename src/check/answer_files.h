// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace upskill {

inline constexpr std::size_t kMaxAnswerFiles = 1000;

// The files that an answer written without tools contains: each fenced code block that comes with a file's name. The
// name is, first match: a word of the block's info string after the language, or the whole of it ("toml build.toml",
// "cpp title=\"src/a.cpp\"", "build.toml"); a word of the last line of text before the block ("**build.toml**:",
// "Create `src/a.cpp`:"; of several, the only one that is `wanted`, else the one that a colon ends the line after, else
// the first); the comment that is the block's first line, if it holds nothing else ("// src/a.cpp", "# file:
// build.toml"), which stays in the file unless that is JSON. A word is a name if it has an extension that begins with a
// letter, or is Makefile, Dockerfile or the like, and isn't Node.js or the like. Of several blocks with one name the
// last counts. Names that point outside the folder (ContainedPath) are left out, and so is what comes after 1,000
// files. The only block without a name whose language fits just one file of `wanted` (relative paths) is that file, and
// an answer's only block without a name and a language is the only file wanted.
std::map<std::string, std::string> AnswerFiles(std::string_view answer, const std::vector<std::string>& wanted = {});

// Whether a word on the line of a fence is the name of a language, such as "python" or "toml".
bool IsLanguage(std::string_view word);

// The words that look like files' names.
std::vector<std::string> FileNamesIn(std::string_view text);

// The content of `file` in an answer written without tools: the last fenced code block whose info string or preceding
// line names the file, else the only fenced block, else the whole answer.
std::string OutputFileContent(std::string_view answer, const std::string& file);

// The data that an answer consists of: the last fenced block whose info string begins with one of `languages`
// (separated by blanks), else the only fenced block, else the whole answer.
std::string DataInAnswer(std::string_view answer, std::string_view languages);

// The answer without the reasoning that some servers leave in front of it: `<think>…</think>`, `<thinking>` or
// `[THINK]` at its beginning, also if its opening tag is part of the prompt (`…</think>`). Nothing is left of reasoning
// that doesn't end. A tag in code, or of a block that begins within the answer, is part of the answer.
std::string_view WithoutReasoning(std::string_view answer);

}  // namespace upskill
