// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "util/result.h"

namespace CLI {
class App;
}

namespace upskill {

// The options that `eval` was given and that each shard is to be given too, one word for each: "--seed=7". Those of the
// whole run aren't among them (limits, gate, output, where it runs), and no paths of runs.
std::vector<std::string> ShardArguments(const CLI::App& command);

// The arguments of a run that is resumed: `stored` as its record has them. What --resume takes from a run's plan is
// taken from there; anything else, such as a model that is a command, must be given again, because the record may come
// from elsewhere. Error: it isn't, or something was not given then.
Result<std::vector<std::string>> ConfirmedArguments(const CLI::App& command, const std::vector<std::string>& stored);

// The ones of `arguments` that have to be given again with --resume.
std::vector<std::string> ArgumentsToRepeat(const std::vector<std::string>& arguments);

// The words before `eval`: "--no-env-file".
std::vector<std::string> GlobalArguments(const CLI::App& command);

}  // namespace upskill
