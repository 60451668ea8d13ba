// SPDX-License-Identifier: Apache-2.0
#include "trace/read/unwrap.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "support/source_dir.h"
#include "util/files.h"
#include "util/text.h"

namespace upskill {
namespace {

using testing::HasSubstr;

enum class Wrap {
  kKeepSpaces,  // wrap-ansi without trimming: what Claude Code's screens of files and results do
  kTrim,        // the space at a break is lost
  kHard,        // a terminal by itself: breaks anywhere
};

// What a terminal program makes of one line.
std::vector<std::string> WrapLine(const std::string& line, std::size_t columns, Wrap how) {
  std::vector<std::string> rows(1);
  std::size_t used = 0;                          // of the last row
  const auto put = [&](std::string_view word) {  // character by character
    for (std::size_t at = 0; at < word.size();) {
      std::size_t end = at + 1;
      while (end < word.size() && (static_cast<unsigned char>(word[end]) & 0xC0U) == 0x80) ++end;
      const std::size_t width = DisplayColumns(word.substr(at, end - at));
      if (used + width > columns) {
        rows.emplace_back();
        used = 0;
      }
      rows.back() += word.substr(at, end - at);
      used += width;
      at = end;
    }
  };
  if (how == Wrap::kHard) {
    put(line);
    return rows;
  }
  std::size_t at = 0;
  for (bool first = true; at <= line.size(); first = false) {
    const std::size_t space = std::min(line.find(' ', at), line.size());
    const std::string_view word = std::string_view(line).substr(at, space - at);
    at = space + 1;
    if (!first) {
      put(" ");
    }
    const std::size_t width = DisplayColumns(word);
    if (used > 0 && used + width > columns && width <= columns) {
      rows.emplace_back();
      used = 0;
    }
    put(word);
  }
  if (how == Wrap::kTrim) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (i + 1 < rows.size()) rows[i] = rows[i].substr(0, rows[i].find_last_not_of(' ') + 1);
      if (i > 0) rows[i] = rows[i].substr(std::min(rows[i].find_first_not_of(' '), rows[i].size()));
    }
  }
  return rows;
}

struct Comparison {
  std::string merged;       // the first line that holds parts of two; empty: none
  std::size_t wrapped = 0;  // lines that didn't fit into a row
  std::size_t whole = 0;    // of these, joined completely
};

// Whether every line of `joined` is one of the file's lines, or a part of one.
Comparison Compare(const std::vector<std::string>& lines, std::size_t columns, Wrap how) {
  std::vector<std::string> rows;
  for (const std::string& line : lines) {
    for (std::string& row : WrapLine(line, columns, how)) rows.push_back(std::move(row));
  }
  const std::string joined = JoinWrappedRows(std::vector<std::string_view>(rows.begin(), rows.end()), columns) + "\n";
  const std::vector<std::string_view> parts = SplitLines(joined);
  Comparison result;
  std::size_t next = 0;
  for (const std::string& line : lines) {
    const bool wrapped = DisplayColumns(line) > columns;
    result.wrapped += wrapped ? 1 : 0;
    result.whole += wrapped && next < parts.size() && parts[next] == line ? 1 : 0;
    std::string_view rest = line;
    for (bool first = true; first || !Trim(rest).empty(); first = false) {
      const bool only_spaces = how == Wrap::kTrim && next < parts.size() && parts[next].empty();
      if (how == Wrap::kTrim && (!first || only_spaces))
        rest = rest.substr(std::min(rest.find_first_not_of(' '), rest.size()));
      const std::string_view part = next < parts.size() ? parts[next] : "";
      if (next >= parts.size() || !rest.starts_with(part) || (part.empty() && !rest.empty() && !only_spaces)) {
        result.merged = fmt::format("'{}' in place of '{}'", part, rest);
        return result;
      }
      rest.remove_prefix(part.size());
      ++next;
    }
  }
  return result;
}

std::vector<std::string> LinesOfFile(const std::string& name) {
  const Result<std::string> text = ReadFile(SourceDir() / name);
  EXPECT_TRUE(text) << name;
  std::vector<std::string> lines;
  for (const std::string_view line : SplitLines(*text)) lines.emplace_back(line);
  EXPECT_GT(lines.size(), 5U) << name;
  return lines;
}

// C++, Python, TOML, shell, Markdown, CMake and prompts of this repository, at widths of all kinds.
TEST(JoinWrappedRows, NeverMakesOneLineOfTwo) {
  for (const char* name :
       {"src/trace/formats/claude_export.cpp", "src/trace/trace.h", "src/trace/redact/secret_patterns.cpp",
        "src/trace/load/recorded_figures.py", "tests/fetch_test.py", "assets/models.toml", "scripts/build",
        "scripts/package", "ARCHITECTURE.md", "docs/traces.md", "CHANGELOG.md", "src/trace/read/CMakeLists.txt",
        "cmake/Compile.cmake"}) {
    const std::vector<std::string> lines = LinesOfFile(name);
    for (std::size_t columns = 40; columns <= 200; columns += columns < 60 ? 3 : 13) {
      for (const Wrap how : {Wrap::kKeepSpaces, Wrap::kTrim, Wrap::kHard}) {
        const Comparison result = Compare(lines, columns, how);
        ASSERT_EQ(result.merged, "") << name << " at " << columns << " columns";
      }
    }
  }
}

TEST(JoinWrappedRows, JoinsWhatTheScreenShowsToBeOneLine) {
  std::size_t wrapped = 0;
  std::size_t whole = 0;
  for (const char* name : {"src/trace/formats/claude_export.cpp", "tests/fetch_test.py", "docs/traces.md"}) {
    for (std::size_t columns = 60; columns <= 110; columns += 10) {
      const Comparison result = Compare(LinesOfFile(name), columns, Wrap::kKeepSpaces);
      wrapped += result.wrapped;
      whole += result.whole;
    }
  }
  EXPECT_GT(wrapped, 300U);
  EXPECT_GT(whole * 100, wrapped * 90) << whole << " of " << wrapped;
}

TEST(JoinWrappedRows, KeepsIndentationAndTrees) {
  const std::vector<std::string_view> rows = {"def f():",         "    return 1", "",         "a/",
                                              "├── b.cu   # one", "└── c/",       "    └── d"};
  EXPECT_EQ(JoinWrappedRows(rows, 16), "def f():\n    return 1\n\na/\n├── b.cu   # one\n└── c/\n    └── d");
}

TEST(JoinWrappedRows, UrlsLongerThanARow) {
  const std::string head = "  https://example.org/docs/" + std::string(33, 'w');
  EXPECT_EQ(JoinWrappedRows({head, "iting.md and more"}, 60), head + "iting.md and more");
  EXPECT_EQ(JoinWrappedRows({head, "https://example.org/b.md"}, 60), head + "\nhttps://example.org/b.md");
  EXPECT_EQ(JoinWrappedRows({head, "then go on"}, 60), head + "\nthen go on");
  EXPECT_EQ(JoinWrappedRows({"see https://example.org/a", "b.md"}, 60), "see https://example.org/a\nb.md");
}

TEST(JoinWrappedArgument, CommandsOfOneAndOfSeveralLines) {
  EXPECT_EQ(JoinWrappedArgument({"(mkdir -p", "/proj/hardware/torch-ext/kernels", "/proj/hardware/src)"}, 40),
            "(mkdir -p /proj/hardware/torch-ext/kernels /proj/hardware/src)");
  EXPECT_EQ(JoinWrappedArgument({"(grep -n zone src/parsers/of/dates/", "date_parser.cpp)"}, 35),
            "(grep -n zone src/parsers/of/dates/date_parser.cpp)");
  EXPECT_EQ(JoinWrappedArgument({"(mv /proj/hardware/torch-ext/kernels", "/proj/hardware/torch-ext/ltx)"}, 40),
            "(mv /proj/hardware/torch-ext/kernels /proj/hardware/torch-ext/ltx)");
  EXPECT_EQ(JoinWrappedArgument({"(cd build", "make)"}, 40), "(cd build\nmake)");
  EXPECT_EQ(JoinWrappedArgument({"(docker run --rm --mount type=bind \\", "  -w /kernelcode image)"}, 40),
            "(docker run --rm --mount type=bind \\\n  -w /kernelcode image)");
}

TEST(HunksOfScreenDiff, JoinsRowsWithoutANumber) {
  const std::optional<std::string> hunks = HunksOfScreenDiff(
      {"  27        double eps", "  28    );", "  29", "  30 +  TORCH_CHECK(a, \"must be ", "     + CUDA\");", "...",
       "  88 -  v = torch.randn(2, dtype=torch.", "     -  float16)", "  88 +  v = f([batch, heads,       seq,",
       "     +  head_dim)", "  89    # ├── x", "       y"});
  ASSERT_TRUE(hunks);
  EXPECT_EQ(*hunks,
            "@@ -27,3 +27,4 @@\n     double eps\n );\n \n+TORCH_CHECK(a, \"must be CUDA\");\n"
            "@@ -88,2 +88,2 @@\n-v = torch.randn(2, dtype=torch.float16)\n+v = f([batch, heads,       seq, head_dim)\n"
            " # ├── xy\n");
  EXPECT_FALSE(HunksOfScreenDiff({"some text", "  12 +  x"}));
  EXPECT_FALSE(HunksOfScreenDiff({"  12 x y"}));
  EXPECT_FALSE(HunksOfScreenDiff({}));
  EXPECT_THAT(HunksOfScreenDiff({"  99999999999999999999 +  x"}).value_or("none"), HasSubstr("none"));
}

}  // namespace
}  // namespace upskill
