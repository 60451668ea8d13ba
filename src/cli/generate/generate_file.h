// SPDX-License-Identifier: Apache-2.0
// generation.json: what a generation was started with, in its folder.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cli/generate/generate_command.h"
#include "eval/plan/plan.h"
#include "prompts/prompts.h"
#include "teach/material.h"
#include "util/clock.h"
#include "util/result.h"

namespace upskill {

inline constexpr int kGenerationSchema = 2;

struct StoredGeneration {
  GenerateCommandOptions options;         // resolved
  std::vector<Student> students;          // of options.eval_models; none with --no-eval
  Material material;                      // redacted
  std::optional<Prompts> prompts;         // absent: of a version that didn't store them
  std::vector<std::string> sources;       // for people
  std::filesystem::path existing_folder;  // of the skill to improve; absolute, or empty
};

// The generation that `name` means, as for runs: its folder's name, the 4 hex digits at its end, or `latest`.
Result<std::filesystem::path> FindGeneration(const std::filesystem::path& generations, const std::string& name);

std::filesystem::path GenerationFile(const std::filesystem::path& folder);

Status WriteGeneration(const std::filesystem::path& folder, const StoredGeneration& generation, Clock::Wall created);

// The file may have been edited: types, sizes and names are checked, and errors name file and key. Which of its folders
// and servers may be used is for CheckVouchedFor to say.
Result<StoredGeneration> ReadGeneration(const std::filesystem::path& folder);

}  // namespace upskill
