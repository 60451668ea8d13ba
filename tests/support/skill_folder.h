// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "util/temp_folder.h"

namespace upskill {

inline std::string SkillFileOf(const std::string& name, const std::string& body = "Say hello.") {
  return fmt::format("---\nname: {}\ndescription: Greets people. Use it at the door.\n---\n\n{}\n", name, body);
}

// A skill with a script, a reference and what belongs to its evaluation.
inline std::filesystem::path WriteSkill(const TempFolder& folder, const std::string& place, const std::string& name) {
  const std::filesystem::path root = folder.Write(place + "/SKILL.md", SkillFileOf(name)).parent_path();
  folder.Write(place + "/references/words.md", "hello\n");
  std::filesystem::permissions(folder.Write(place + "/scripts/greet.sh", "#!/bin/sh\necho hello\n"),
                               std::filesystem::perms::owner_exec, std::filesystem::perm_options::add);
  folder.Write(place + "/skill_meta.json", "{}");
  folder.Write(place + "/tests.json", "[]");
  folder.Write(place + "/evals/evals.json", "{}");
  folder.Write(place + "/upskill.json", "{}");
  folder.Write(place + "/runs/a/plan.json", "{}");
  folder.Write(place + "/answers/right.md", "hello");
  return root;
}

// Everything below a folder, by name; folders end in a slash.
inline std::vector<std::string> NamesBelow(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  std::error_code code;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder, code)) {
    const std::string name = entry.path().lexically_relative(folder).generic_string();
    names.push_back(entry.is_directory() && !entry.is_symlink() ? name + "/" : name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace upskill
