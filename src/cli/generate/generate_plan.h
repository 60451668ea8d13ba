// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "cli/env/config.h"
#include "cli/generate/generate_command.h"
#include "util/json.h"
#include "util/result.h"

namespace upskill {

// The options, with the configuration's defaults filled in: models, attempts, the skills folder. A resumed generation
// uses the stored values and doesn't read the configuration again.
GenerateCommandOptions ResolveOptions(GenerateCommandOptions options, const Config& config);

// The command line that makes a skill from the same sources, for a teacher to be added: without secrets and without the
// options -m and --base-url.
std::string CommandWithoutTeacher(const GenerateCommandOptions& options);

// The options that a generation keeps, by the names in generation.json: all but those that concern one command only
// (what is printed, where the runs are). Secrets are taken out of texts, unless --no-redact; paths are absolute.
Json OptionsToJson(const GenerateCommandOptions& options);

// The inverse of OptionsToJson. The file may have been edited: every key must be there with a value that the command
// line would take. Errors name `source` and the key.
Result<GenerateCommandOptions> OptionsFromJson(const Json& json, const std::string& source);

// The options of a resumed generation: the stored ones, with what `now` (resolved) gives and may change. Errors: an
// option of `now` that conflicts with them.
Result<GenerateCommandOptions> OptionsToResume(const GenerateCommandOptions& now, const GenerateCommandOptions& stored);

// Without '.', '..' and a slash at the end.
std::string AbsolutePath(const std::string& path);

// A name, not a path.
bool IsPlainName(const std::string& name);

}  // namespace upskill
