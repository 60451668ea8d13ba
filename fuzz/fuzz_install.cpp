// SPDX-License-Identifier: Apache-2.0
#include "fuzz/fuzz_install.h"

#include "fuzz/fuzz_checks.h"
#include "install/install_records.h"
#include "install/skill_archive.h"
#include "skill/skill_text.h"
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
