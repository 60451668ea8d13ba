// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "cli/env/env.h"
#include "cli/generate/generate_command.h"
#include "cli/generate/teacher_context.h"
#include "teach/material.h"
#include "util/result.h"

namespace upskill {

struct GenerateSources {
  Material material;
  std::filesystem::path existing_folder;  // of the skill to improve; empty: none
  std::vector<std::string> names;         // for people
  std::vector<std::string> warnings;
  std::vector<std::string> told;  // lines of progress: each trace and what the digest keeps of them
  std::string redactions;         // "2 secrets redacted (…)"; empty: none
};

// The error (kInput) where there is neither a task nor a source.
Error NothingToStartFrom();

// That the files and folders which the command line names are there: what can be known before a teacher is looked for.
Status CheckSourcesExist(const GenerateCommandOptions& options, const std::filesystem::path& runs_dir, const Env& env);

// Reads what the command line names: traces, a skill, documents, tool schemas. Secrets are out of all of it unless
// `keep_secrets`. `budget_for` is told about how many tokens the traces have, and returns the budget for a teacher.
// `runs_dir`: where the runs are that it may name.
Result<GenerateSources> ReadSources(const GenerateCommandOptions& options, const std::filesystem::path& runs_dir,
                                    bool keep_secrets,
                                    const std::function<MaterialBudget(std::size_t tokens)>& budget_for,
                                    const Env& env);

}  // namespace upskill
