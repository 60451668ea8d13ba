// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace upskill {

// A tar file that a sandboxed command may have written.
void FuzzWorkspaceTar(std::string_view input);
std::vector<std::string> WorkspaceTarSeeds();

// What was done in a workspace, as samples.jsonl and turns.jsonl have it.
void FuzzWorkRecord(std::string_view input);
std::vector<std::string> WorkRecordSeeds();

}  // namespace upskill
