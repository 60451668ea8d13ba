// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "skill/skill_tree.h"
#include "util/result.h"

namespace upskill {

// Whether what measures a skill goes with it (IsEvaluationFile in skill/skill_tree.h).
enum class EvaluationFiles { kLeftOut, kIncluded };

// The files of a skill that have been checked: SKILL.md can be read, the name follows the specification, and no file
// can leave the folder that the skill is copied to, or hide another one there.
struct SkillFiles {
  std::string name;
  std::string version;  // metadata.version of the frontmatter; empty: not stated
  FileMap files;
  std::vector<std::string> warnings;  // where the frontmatter violates the specification
};

// The SHA-256 of each file of an installed skill, followed by " executable" if it may be executed.
using FileHashes = std::map<std::string, std::string>;

// Whether a file is left behind: it belongs to the evaluation, or isn't the author's work (.git, __pycache__,
// .DS_Store).
bool IsLeftBehind(const std::string& name, EvaluationFiles evaluation);

// Checks files that were read from `source` and makes them a skill; `folder_name` is the name if SKILL.md states none.
// Errors name the file and what to do: names that differ only in case, a file with the name of a folder, no SKILL.md or
// one that can't be read, a name against the specification, a known secret (util/known_secrets.h) in a file.
Result<SkillFiles> CheckedSkill(FileMap files, const std::string& source, const std::string& folder_name);

// Reads a skill's folder. A symbolic link to a file of the same skill is read as that file. Errors: those of
// CheckedSkill, a link that leaves the folder, leads to a folder or to nothing, anything else that isn't a regular file
// or folder, too many or too large files.
Result<SkillFiles> ReadSkillFolder(const std::filesystem::path& folder, EvaluationFiles evaluation);

FileHashes HashesOf(const FileMap& files);

// The same for the files in `folder`, without what programs leave there (__pycache__, .DS_Store). Nothing is followed:
// links, other odd entries and files beyond the limits have an empty hash. Error: something can't be read.
Result<FileHashes> HashesIn(const std::filesystem::path& folder);

// The SHA-256 of a whole skill: of a line "MODE SHA256 NAME\n" for each file, in the order of the names' bytes. MODE is
// 755 if the file may be executed, else 644; NAME is its path in the skill, with `/` between the parts. Persisted in
// lock files: never changes.
std::string TreeSha256(const FileHashes& files);

// How the files in `folder` differ from `expected`: "SKILL.md was changed", "notes.md was added", "a.py was removed".
// Empty: not at all. Whether a file may be executed doesn't count: some file systems don't know. Error: something can't
// be read.
Result<std::vector<std::string>> DifferencesFrom(const FileHashes& expected, const std::filesystem::path& folder);

}  // namespace upskill
