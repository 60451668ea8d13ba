// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "cli/config.h"
#include "cli/generate_command.h"
#include "util/json.h"
#include "util/result.h"

namespace upskill {

// The options, with the configuration's defaults filled in: models, attempts, the skills folder. A resumed generation
// uses the stored values and doesn't read the configuration again.
GenerateCommandOptions ResolveOptions(GenerateCommandOptions options, const Config& config);

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

// Whether it lies below the current folder or the configuration's skills folder, links followed.
bool IsBelowOwnFolders(const std::filesystem::path& path, const Config& config);

// Whether requests may be sent to an address that only generation.json names: it must be on this machine.
bool IsOnThisMachine(const std::string& url);

// Whether a model string from generation.json has to be repeated: it runs a command, or writes to a folder elsewhere.
bool NeedsVouching(const std::string& model, const Config& config);

// A generation.json may have come from elsewhere, so this command must vouch for what it names: a folder that is
// written or read is below the current folder or the skills folder, or named by -o or --from now; a server is on this
// machine, or named by --base-url or --eval-base-url now; a model that NeedsVouching is named now. `existing_folder`:
// of the skill to improve; may be empty. Errors name `source`, the key and the option to give.
Status CheckVouchedFor(const GenerateCommandOptions& now, const GenerateCommandOptions& stored,
                       const std::filesystem::path& existing_folder, const Config& config, const std::string& source);

}  // namespace upskill
