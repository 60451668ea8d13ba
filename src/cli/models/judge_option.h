// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "cli/env/env.h"
#include "cli/models/students.h"
#include "measure/measurement.h"
#include "skill/suite.h"
#include "util/result.h"

namespace upskill {

// Error: a simulated student, which answers from the cases and can't read an answer.
Status CheckCanJudge(const std::string& spec);

// Opens the judge for the suite's rubrics, with what `upskill judge-check` has noted of it in the runs folder.
Result<OpenedJudge> OpenJudge(const std::string& spec, const ModelOptions& options, const Suite& suite,
                              const std::filesystem::path& runs_dir, const Env& env);

}  // namespace upskill
