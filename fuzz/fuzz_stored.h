// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace upskill {

// What the fuzzers do with files that a user, or an earlier run, has written.

// A prompt's template, as every kind of prompt and as the text of a generation.json.
void FuzzPrompt(std::string_view input);
std::vector<std::string> PromptSeeds();  // the built-in ones

// A ledger.jsonl, and the share of alpha that it leaves for a run.
void FuzzLedger(std::string_view input);

// What a command printed.
void FuzzCommandOutput(std::string_view input);

// A file on a desk: a request's or an answer; also the name of one.
void FuzzDesk(std::string_view input);

}  // namespace upskill
