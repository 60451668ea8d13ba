// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "cli/env/config.h"
#include "cli/generate/generate_command.h"
#include "util/result.h"

namespace upskill {

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
