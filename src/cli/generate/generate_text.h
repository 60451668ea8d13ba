// SPDX-License-Identifier: Apache-2.0
// What `generate` prints.
#pragma once

#include <filesystem>
#include <string>

#include "cli/env/env.h"
#include "cli/generate/generate_session.h"
#include "teach/generate.h"
#include "teach/result_files.h"
#include "util/json.h"

namespace upskill {

// Where the skill went, and why not where it should have gone.
struct Placing {
  std::filesystem::path target;
  std::filesystem::path previous;  // the files that it replaced; empty: none
  std::string reason;              // why it was not accepted; empty: it was
};

// Whether an existing skill stays because the teacher wrote nothing usable.
bool WroteNothing(const GenerateOutcome& outcome);

// The plan with its prices.
void PrintDryRun(const GenerateSession& session, Env& env);

// `estimated`: the tokens of the skill are.
void PrintOutcome(const GenerateSession& session, const GenerateOutcome& outcome, const GenerationFacts& facts,
                  const Placing& placing, bool estimated, Env& env);
Json OutcomeToJson(const GenerateSession& session, const GenerateOutcome& outcome, const Placing& placing,
                   const GenerationFacts& facts);

// Why a generation ended early, what of it is kept, and the command that resumes it. `students`: StudentCosts. `skill`:
// where its best so far is; empty: there is none yet.
void PrintStop(const GenerateSession& session, const std::map<std::string, StageCost>& students,
               const std::string& reason, const std::filesystem::path& skill, bool resumable, Env& env);

}  // namespace upskill
