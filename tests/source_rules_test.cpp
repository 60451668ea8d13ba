// SPDX-License-Identifier: Apache-2.0
// Rules for every source file, whatever its language. How long a function may be is clang-tidy's rule (.clang-tidy).
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "support/source_dir.h"

namespace {

namespace fs = std::filesystem;

constexpr std::ptrdiff_t kMaxLines = 450;
const fs::path kRoot = upskill::SourceDir();

std::string TextOf(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Scripts that are run by their name have no extension, but name their interpreter.
bool IsSource(const fs::path& file) {
  static const std::set<std::string> kExtensions = {".cpp", ".h", ".py", ".js", ".css", ".html", ".sh", ".cmake"};
  if (file.has_extension()) return kExtensions.contains(file.extension().string());
  return TextOf(file).starts_with("#!");
}

std::vector<fs::path> AllSources() {
  std::vector<fs::path> files;
  for (const char* folder : {"src", "tests", "bench", "fuzz", "scripts", "cmake", "python", "action"}) {
    for (fs::recursive_directory_iterator entry(kRoot / folder), end; entry != end; ++entry) {
      const bool holds_data =
          entry->path() == kRoot / "tests" / "fixtures" || entry->path() == kRoot / "fuzz" / "corpus";
      if (entry->is_directory() && holds_data) {
        entry.disable_recursion_pending();
      } else if (entry->is_regular_file() && IsSource(entry->path())) {
        files.push_back(entry->path());
      }
    }
  }
  return files;
}

TEST(SourceRules, EveryKindOfSourceIsFound) {
  const std::vector<fs::path> sources = AllSources();
  for (const char* file :
       {"src/util/text.cpp", "src/util/text.h", "src/report/html/report.css", "src/report/html/report_page.js",
        "scripts/setup", "scripts/progress.sh", "scripts/fetching/index.py", "tests/fetch_test.py",
        "cmake/Compile.cmake", "python/upskill/results.py", "action/run", "bench/run", "fuzz/run", "fuzz/coverage"}) {
    EXPECT_NE(std::find(sources.begin(), sources.end(), kRoot / file), sources.end()) << file;
  }
}

// Two types of one name and namespace in one program are no error of the compiler: functions made from a template for
// one of them are used for the other.
TEST(SourceRules, NoTwoHeadersDefineATypeOfTheSameName) {
  std::map<std::string, fs::path> defined_in;
  for (const fs::path& file : AllSources()) {
    if (file.extension() != ".h" || !file.string().starts_with((kRoot / "src").string())) continue;
    std::string space;
    std::istringstream lines(TextOf(file));
    for (std::string line; std::getline(lines, line);) {
      std::smatch match;
      if (std::regex_match(line, match, std::regex("namespace ([a-z_:]+) \\{"))) space = match[1];
      if (!std::regex_match(line, match, std::regex("(?:struct|class) ([A-Za-z]+) (?:final )?[:{].*"))) continue;
      const auto [known, is_new] = defined_in.emplace(space + "::" + match[1].str(), file);
      EXPECT_TRUE(is_new) << known->first << " is in " << known->second << " and in " << file;
    }
  }
  EXPECT_GT(defined_in.size(), 300U);
}

TEST(SourceRules, FilesAreShortEnoughToRead) {
  for (const fs::path& file : AllSources()) {
    const std::string text = TextOf(file);
    EXPECT_LE(std::count(text.begin(), text.end(), '\n'), kMaxLines)
        << file << ": divide it by what its parts do; at most " << kMaxLines << " lines";
  }
}

}  // namespace
