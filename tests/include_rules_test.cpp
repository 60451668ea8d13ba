// SPDX-License-Identifier: Apache-2.0
// Data flows one way: which folder of src/ may include which (ARCHITECTURE.md), read from the include lines.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "support/source_dir.h"

namespace {

namespace fs = std::filesystem;

using Rules = std::map<std::string, std::set<std::string>>;

// What a folder may include besides itself, from the table in ARCHITECTURE.md: | `folder` | what it is | folder, … |.
// "`folder/file.h`" allows that one header, "all" every folder. Empty if there is no such table.
Rules ReadRules() {
  static const std::regex kRow(R"(^\| `([a-z/]+)` \|.*\|([^|]*)\|\s*$)");
  static const std::regex kName("[a-z_/.]+");
  std::ifstream in(upskill::SourceDir() / "ARCHITECTURE.md");
  Rules rules;
  std::set<std::string> unlimited;
  std::string text;
  while (std::getline(in, text)) {
    std::smatch row;
    if (!std::regex_match(text, row, kRow)) continue;
    const std::string folders = row[2].str();
    std::set<std::string>& allowed = rules[row[1].str()];
    if (folders.find(" all;") != std::string::npos) {
      unlimited.insert(row[1].str());
      continue;
    }
    for (std::sregex_iterator name(folders.begin(), folders.end(), kName), end; name != end; ++name) {
      allowed.insert(name->str());
    }
  }
  for (const std::string& folder : unlimited) {
    for (const auto& [other, allowed] : rules) {
      if (!unlimited.contains(other)) rules[folder].insert(other);
    }
  }
  return rules;
}

const Rules& AllRules() {
  static const Rules kRules = ReadRules();
  return kRules;
}

// The folder with a rule that a path below src/ belongs to: the longest match.
std::string RoomOf(std::string path) {
  while (!path.empty() && !AllRules().contains(path)) {
    const std::size_t slash = path.rfind('/');
    path = slash == std::string::npos ? "" : path.substr(0, slash);
  }
  return path;
}

// Third-party headers belong in .cpp files; these few are part of our own interfaces.
const std::map<std::string, std::set<std::string>> kThirdPartyInHeaders = {
    {"util", {"nlohmann/json.hpp", "fmt/format.h", "gtest/gtest.h", "linux/filter.h", "spawn.h"}},
    {"cuda/device", {"cuda_runtime/wire.h"}},
    {"llama", {"llama.h"}},
    {"cli/eval", {"CLI/CLI.hpp"}},
};

struct Include {
  std::string file;
  int line = 0;
  std::string target;
  bool angle = false;
};

std::vector<Include> IncludesOf(const fs::path& file) {
  static const std::regex kInclude(R"(^\s*#\s*include\s*([<"])([^>"]+)[>"])");
  std::vector<Include> includes;
  std::ifstream in(file);
  std::string text;
  for (int line = 1; std::getline(in, text); ++line) {
    std::smatch match;
    if (std::regex_search(text, match, kInclude)) {
      includes.push_back({file.string(), line, match[2].str(), match[1].str() == "<"});
    }
  }
  return includes;
}

bool IsTest(const fs::path& file) { return file.stem().string().ends_with("_test"); }

std::vector<fs::path> SourcesBelow(const fs::path& root) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    const std::string extension = entry.path().extension().string();
    if (extension == ".h" || extension == ".cpp") files.push_back(entry.path());
  }
  return files;
}

const fs::path kSource = upskill::SourceDir() / "src";

// The sources of a folder with a rule, without those of subfolders that have their own rule.
std::vector<fs::path> SourcesOf(const std::string& folder) {
  std::vector<fs::path> files;
  for (const fs::path& file : SourcesBelow(kSource / folder)) {
    if (RoomOf(file.lexically_relative(kSource).string()) == folder) files.push_back(file);
  }
  return files;
}

// A folder whose sources are all in its rooms, which have the rules.
bool IsWing(const fs::path& folder) {
  bool has_rooms = false;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string extension = entry.path().extension().string();
    if (extension == ".h" || extension == ".cpp") return false;
    has_rooms = has_rooms || entry.is_directory();
  }
  return has_rooms;
}

std::string WingOf(const std::string& room) { return room.substr(0, room.find('/')); }

TEST(IncludeRules, EveryFolderHasARule) {
  EXPECT_GT(AllRules().size(), 15U) << "no table in ARCHITECTURE.md";
  for (const auto& entry : fs::directory_iterator(kSource)) {
    if (!entry.is_directory()) continue;
    if (IsWing(entry.path())) {
      for (const auto& room : fs::directory_iterator(entry.path())) {
        if (!room.is_directory()) continue;
        EXPECT_TRUE(AllRules().contains(room.path().lexically_relative(kSource).string())) << room.path();
      }
    } else {
      EXPECT_TRUE(AllRules().contains(entry.path().filename().string())) << entry.path();
    }
  }
  for (const auto& [folder, allowed] : AllRules()) EXPECT_TRUE(fs::is_directory(kSource / folder)) << folder;
}

TEST(IncludeRules, FoldersIncludeOnlyWhatTheyMay) {
  int checked = 0;
  for (const auto& [folder, allowed] : AllRules()) {
    for (const fs::path& file : SourcesOf(folder)) {
      for (const Include& include : IncludesOf(file)) {
        if (include.angle) continue;
        ++checked;
        const std::string target = RoomOf(include.target);
        // Tests may read and digest traces, use the simulated student as any model, all rooms of their wing, and those
        // of cli anything.
        const bool ok = target == folder || allowed.contains(target) || allowed.contains(include.target) ||
                        (IsTest(file) && (WingOf(target) == WingOf(folder) || WingOf(folder) == "cli")) ||
                        (IsTest(file) && (include.target.starts_with("support/") || include.target == "model/sim.h" ||
                                          target.starts_with("trace/")));
        EXPECT_TRUE(ok) << include.file << ":" << include.line << ": " << folder << " may not include "
                        << include.target;
        EXPECT_NE(include.target.find('/'), std::string::npos)
            << include.file << ":" << include.line << ": name the folder: " << include.target;
      }
    }
  }
  EXPECT_GT(checked, 100);
}

// upskill_library(a_b … FOLDERS …) against the row of a/b. A header allowed by name is a link edge to its folder.
TEST(IncludeRules, LinkEdgesAreTheRules) {
  static const std::regex kLibrary(R"(upskill_library\((\w+)([^)]*)\))");
  static const std::regex kFolders(R"(FOLDERS([a-z_\s]*))");
  static const std::regex kName("[a-z_]+");
  std::set<std::string> seen;
  for (const auto& entry : fs::recursive_directory_iterator(kSource)) {
    if (entry.path().filename() != "CMakeLists.txt") continue;
    std::ifstream in(entry.path());
    const std::string text(std::istreambuf_iterator<char>(in), {});
    if (IsWing(entry.path().parent_path())) continue;
    std::smatch library;
    ASSERT_TRUE(std::regex_search(text, library, kLibrary)) << entry.path();
    const std::string folder = entry.path().parent_path().lexically_relative(kSource).string();
    seen.insert(folder);
    std::string name = folder;
    std::replace(name.begin(), name.end(), '/', '_');
    EXPECT_EQ(library[1].str(), name) << entry.path();
    std::set<std::string> expected;
    for (const std::string& allowed : AllRules().at(folder)) {
      std::string edge = RoomOf(allowed);
      std::replace(edge.begin(), edge.end(), '/', '_');
      expected.insert(edge);
    }
    std::set<std::string> edges;
    const std::string arguments = library[2].str();
    std::smatch folders;
    if (std::regex_search(arguments, folders, kFolders)) {
      const std::string list = folders[1].str();
      for (std::sregex_iterator edge(list.begin(), list.end(), kName), end; edge != end; ++edge) {
        edges.insert(edge->str());
      }
    }
    for (const std::string& edge : edges) EXPECT_TRUE(expected.contains(edge)) << entry.path() << " links " << edge;
  }
  for (const auto& [folder, allowed] : AllRules()) EXPECT_TRUE(seen.contains(folder)) << folder << " has no library";
}

// The program doesn't use the tests' support code.
TEST(IncludeRules, OnlyTestsIncludeSupport) {
  for (const fs::path& file : SourcesBelow(kSource)) {
    if (IsTest(file)) continue;
    for (const Include& include : IncludesOf(file)) {
      EXPECT_FALSE(include.target.starts_with("support/")) << include.file << ":" << include.line;
    }
  }
}

TEST(IncludeRules, ThirdPartyHeadersStayInSourceFiles) {
  for (const auto& [folder, allowed] : AllRules()) {
    for (const fs::path& file : SourcesOf(folder)) {
      if (file.extension() != ".h" || IsTest(file)) continue;
      for (const Include& include : IncludesOf(file)) {
        const bool third_party =
            include.angle && (include.target.find('/') != std::string::npos || include.target.ends_with(".h"));
        if (!third_party || include.target.starts_with("sys/")) continue;
        const auto exceptions = kThirdPartyInHeaders.find(folder);
        const bool known = exceptions != kThirdPartyInHeaders.end() && exceptions->second.contains(include.target);
        EXPECT_TRUE(known) << include.file << ":" << include.line << ": " << include.target;
      }
    }
  }
}

TEST(IncludeRules, OnlyTheEngineKnowsLlama) {
  for (const auto& [folder, allowed] : AllRules()) {
    if (folder == "llama") continue;
    for (const fs::path& file : SourcesOf(folder)) {
      for (const Include& include : IncludesOf(file)) {
        EXPECT_FALSE(include.angle && (include.target == "llama.h" || include.target.starts_with("ggml")))
            << include.file << ":" << include.line;
      }
    }
  }
}

}  // namespace
