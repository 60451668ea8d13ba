// SPDX-License-Identifier: Apache-2.0
#include "fuzz/fuzz_install.h"

#include <algorithm>
#include <cstddef>
#include <variant>

#include "fuzz/fuzz_checks.h"
#include "install/git_source.h"
#include "install/install_records.h"
#include "install/skill_archive.h"
#include "install/skill_lock.h"
#include "install/skills_cli_lock.h"
#include "skill/skill_text.h"
#include "skill/strict_yaml.h"
#include "util/files.h"
#include "util/text.h"

namespace upskill {
namespace {

SkillFiles OneSkill() {
  SkillFiles skill;
  skill.name = "greet";
  skill.files = {{"SKILL.md", {"---\nname: greet\ndescription: Greets.\n---\n\nSay hello.\n", false}},
                 {"scripts/a.sh", {"#!/bin/sh\n", true}}};
  return skill;
}

}  // namespace

void FuzzSkillArchive(std::string_view input) {
  const Result<SkillFiles> skill = ParseSkillArchive(input, "x.skill", "x", EvaluationFiles::kIncluded);
  if (!Parsed(skill)) return;
  CHECK(SkillNameProblem(skill->name).empty());
  for (const auto& [name, file] : skill->files) {
    CHECK(ContainedPath(".", name).ok() && !FindInvalidUtf8(name) && !HasControlCharacter(name));
  }
  const std::string packed = SkillArchive(*skill);
  const Result<SkillFiles> again = ParseSkillArchive(packed, "x.skill", "x", EvaluationFiles::kIncluded);
  CHECK(again.ok() && HashesOf(again->files) == HashesOf(skill->files) && again->name == skill->name);
  CHECK(SkillArchive(*again) == packed);
}

std::vector<std::string> SkillArchiveSeeds() { return {SkillArchive(OneSkill())}; }

void FuzzInstalled(std::string_view input) {
  const Result<std::vector<InstalledSkill>> skills = ParseInstalledSkills(input, "installed.json");
  if (!Parsed(skills)) return;
  const std::string text = InstalledSkillsText(*skills);
  const Result<std::vector<InstalledSkill>> again = ParseInstalledSkills(text, "installed.json");
  CHECK(again.ok() && InstalledSkillsText(*again) == text);
}

void FuzzSkillLock(std::string_view input) {
  static_cast<void>(Parsed(ParseSkillsCliLock(input, "skills-lock.json")));
  const Result<std::vector<LockedSkill>> skills = ParseSkillLock(input, "upskill.lock");
  if (!Parsed(skills)) return;
  for (const LockedSkill& skill : *skills) CHECK(SkillNameProblem(skill.name).empty() && !skill.agents.empty());
  const std::string text = SkillLockText(*skills);
  const Result<std::vector<LockedSkill>> again = ParseSkillLock(text, "upskill.lock");
  CHECK(again.ok() && SkillLockText(*again) == text);
}

std::vector<std::string> SkillLockSeeds() {
  LockedSkill locked;
  locked.name = "greet";
  locked.source = "https://example.org/o/r/tree/main/greet";
  locked.git = {"https://example.org/o/r", "main", "greet"};
  locked.commit = std::string(40, 'a');
  locked.sha256 = std::string(64, 'b');
  locked.agents = {"pi"};
  return {SkillLockText({locked}),
          R"({"version": 1, "skills": {"a": {"source": "o/r", "sourceType": "github", "computedHash": "00"}}})"};
}

void FuzzGitSource(std::string_view input) {
  const Result<GitSource> source = ParseGitSource(input);
  if (!Parsed(source)) return;
  for (const std::string& part : {source->url, source->ref, source->path})
    CHECK(!part.starts_with('-') && !FindInvalidUtf8(part) && !HasControlCharacter(part));
  CHECK(source->path.empty() || ContainedPath(".", source->path).ok());
  const std::string name = RepositoryName(*source);
  CHECK(ContainedPath(".", name).ok() && name.find('/') == std::string::npos);
  const std::string text = GitSourceText(*source);
  const Result<GitSource> again = ParseGitSource(text);
  CHECK(again.ok() && GitSourceText(*again) == text && IsGitSource(text));
}

void FuzzStrictYaml(std::string_view input) {
  std::string text = ReplaceInvalidUtf8(input);
  std::erase(text, '\r');
  const auto lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) + 1;
  const auto read = ReadStrictYaml(text);
  if (const auto* const problem = std::get_if<StrictYamlProblem>(&read)) {
    CHECK(!problem->message.empty() && !FindInvalidUtf8(problem->message) && problem->line <= lines + 1);
    return;
  }
  std::vector<const StrictYaml*> open = {&std::get<StrictYaml>(read)};
  while (!open.empty()) {
    const StrictYaml& value = *open.back();
    open.pop_back();
    CHECK(value.line <= lines + 1 && !FindInvalidUtf8(value.text));
    CHECK(value.keys.size() == (value.kind == StrictYaml::Kind::kMap ? value.items.size() : 0));
    for (const StrictYaml& item : value.items) open.push_back(&item);
  }
}

std::vector<std::string> InstalledSeeds() {
  InstalledSkill skill;
  skill.name = "greet";
  skill.folder = "/home/a/.agents/skills/greet";
  skill.source = "/home/a/skills/greet";
  skill.agents = {"codex", "goose"};
  skill.files = HashesOf(OneSkill().files);
  return {InstalledSkillsText({skill})};
}

}  // namespace upskill
