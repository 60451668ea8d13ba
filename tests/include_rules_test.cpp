// SPDX-License-Identifier: Apache-2.0
// Data flows one way: which folder of src/ may include which (ARCHITECTURE.md), read from the include lines.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

// What a folder may include besides itself; "folder/file.h" allows that one header.
const std::map<std::string, std::set<std::string>> kAllowed = {
    {"util", {}},
    {"stats", {}},
    {"skill", {"util"}},
    {"trace", {"util"}},
    {"net", {"util"}},
    {"model", {"net", "util"}},
    {"llama", {"model/model.h", "model/chat.h", "util"}},
    {"check", {"skill", "model/model.h", "util"}},
    {"eval", {"check", "skill", "stats", "model/model.h", "model/chat.h", "util"}},
    {"teach", {"eval", "check/check.h", "trace", "skill", "stats", "model/model.h", "model/chat.h", "util"}},
    {"report", {"eval", "check/check.h", "skill", "stats", "model/chat.h", "util"}},
    {"cli", {"util", "stats", "skill", "trace", "net", "model", "llama", "check", "eval", "teach", "report"}},
};

// Third-party headers stay in .cpp files; these few are part of our own interfaces.
const std::map<std::string, std::set<std::string>> kThirdPartyInHeaders = {
    {"util", {"nlohmann/json.hpp", "fmt/format.h", "gtest/gtest.h"}},
    {"llama", {"llama.h"}},
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

// x_test.cpp, and the headers that several tests share: test_x.h.
bool IsTest(const fs::path& file) {
  const std::string stem = file.stem().string();
  return stem.ends_with("_test") || stem.starts_with("test_");
}

std::vector<fs::path> SourcesOf(const std::string& folder) {
  std::vector<fs::path> files;
  const fs::path root = fs::path(UPSKILL_SOURCE_DIR) / "src" / folder;
  if (!fs::exists(root)) return files;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    const std::string extension = entry.path().extension().string();
    if (extension == ".h" || extension == ".cpp") files.push_back(entry.path());
  }
  return files;
}

TEST(IncludeRules, EveryFolderIsKnown) {
  for (const auto& entry : fs::directory_iterator(fs::path(UPSKILL_SOURCE_DIR) / "src")) {
    EXPECT_TRUE(kAllowed.contains(entry.path().filename().string())) << entry.path() << " has no rule";
  }
}

TEST(IncludeRules, FoldersIncludeOnlyWhatTheyMay) {
  int checked = 0;
  for (const auto& [folder, allowed] : kAllowed) {
    for (const fs::path& file : SourcesOf(folder)) {
      for (const Include& include : IncludesOf(file)) {
        if (include.angle) continue;
        ++checked;
        const std::string target = include.target.substr(0, include.target.find('/'));
        const bool ok = target == folder || allowed.contains(target) || allowed.contains(include.target) ||
                        // tests/loopback: the scripted server; the simulated student stands in for any model
                        (IsTest(file) && (target == "loopback" || include.target == "model/sim.h"));
        EXPECT_TRUE(ok) << include.file << ":" << include.line << ": " << folder << " may not include "
                        << include.target;
        EXPECT_NE(include.target.find('/'), std::string::npos)
            << include.file << ":" << include.line << ": name the folder: " << include.target;
      }
    }
  }
  EXPECT_GT(checked, 100);
}

TEST(IncludeRules, ThirdPartyHeadersStayInSourceFiles) {
  for (const auto& [folder, allowed] : kAllowed) {
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
  for (const auto& [folder, allowed] : kAllowed) {
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
