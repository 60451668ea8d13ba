// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "skill/suite.h"
#include "util/result.h"

namespace upskill {

// The folders with a SKILL.md in a tree, sorted, each as `root` with the rest of its path. Links are not followed; .git
// and node_modules are left out, and so are a plugin's evals/ and what is inside a skill. Errors: a folder that can't
// be read, a tree with more than 100,000 entries or with more than 32 levels.
Result<std::vector<std::string>> FindSkillFolders(const std::filesystem::path& root);

// More isn't a skill, but a mistake or an attack.
inline constexpr std::size_t kMaxSkillFiles = 2000;
inline constexpr std::size_t kMaxSkillFileBytes = std::size_t{64} << 20U;
inline constexpr std::size_t kMaxSkillBytesTotal = std::size_t{256} << 20U;

// Whether a path in a skill's folder is left out, with what is below it. Names have `/` between their parts. May be
// empty.
using LeftOut = std::function<bool(const std::string& name)>;

// Whether the last part of a path is .git, node_modules or `.upskill-…`: a skill that is just being installed, or whose
// installation was interrupted.
bool IsPassedOver(const std::string& path);

struct SkillListing {
  // Everything below the folder that isn't a folder itself. Links are of the type `symlink`, and aren't followed.
  std::map<std::string, std::filesystem::file_type> entries;
  Status status;  // why some are missing: a folder that can't be read, more than 40,000 entries or 32 levels
};
SkillListing ListSkillFolder(const std::filesystem::path& folder, const LeftOut& left_out);

// The regular files of it, sorted, without those that are passed over, that come after 2,000, or can't be read.
std::vector<std::string> ListSkillFiles(const std::filesystem::path& folder);

struct SkillFile {
  std::string content;
  bool executable = false;
};

// By their names relative to the skill's folder, with `/` between the parts.
using FileMap = std::map<std::string, SkillFile>;

struct SkillLimits {
  std::size_t files = kMaxSkillFiles;
  std::size_t file_bytes = kMaxSkillFileBytes;
  std::size_t total_bytes = kMaxSkillBytesTotal;

  Error TooLarge(const std::string& source) const;
};

// Links, pipes and the like, and folders that can't be read.
enum class OddEntries {
  kErrors,  // but a link to a file of the same skill is read as that file
  kLeftOut,
};

// Reads the files in a skill's folder. Errors: more or larger files than the limits allow, one that can't be read.
Result<FileMap> ReadSkillFiles(const std::filesystem::path& folder, const LeftOut& left_out, OddEntries odd,
                               const SkillLimits& limits);

// Whether a file of a skill, by its path in the skill's folder, measures the skill instead of being a part of it:
// cases, answers to them, runs, what the skill was made from. Neither agents nor students get it. The places:
// skill_meta.json, lineage.json, tests.json, tests/, answers/, evals/, upskill.json, runs/, and of other tools
// promptfooconfig.yaml, eval_queries.json, .upskill/, in any case.
bool IsEvaluationFile(std::string_view name);

// What measures the skill in any of the folders, by paths in them: the suite's file, the files that its cases were read
// from, the answers beside these (docs/suites.md), the values of checks, folders of runs, and `places`. Where one of
// them is a link, also what it leads to. A value of a check in references/, scripts/ or assets/ is a part of the skill
// all the same.
std::vector<std::string> HiddenPaths(const std::vector<std::filesystem::path>& folders, const Suite& suite,
                                     const std::vector<std::filesystem::path>& places);

// Whether `name` is one of the paths, or below one of them, in any case.
bool IsAtOrBelow(std::string_view name, const std::vector<std::string>& paths);

}  // namespace upskill
