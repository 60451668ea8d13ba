// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace upskill {

// A call of a tool by a model, as a provider hands it over and as JSON in a text: all tools but bash, which needs a
// sandbox.
void FuzzToolCall(std::string_view input);
std::vector<std::string> ToolCallSeeds();

// turns.jsonl of a run that is resumed. Records get the keys that are looked for.
void FuzzTurnJournal(std::string_view input);
std::vector<std::string> TurnJournalSeeds();

// The session file that an agent program has left.
void FuzzProgramSession(std::string_view input);

}  // namespace upskill
