// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "model/hub/gguf_name.h"
#include "model/hub/hub_file.h"
#include "util/result.h"

namespace upskill {

// A revision of a repository, as listed by the Hub. Its files are checked when they are chosen.
struct HubListing {
  std::string commit;                    // 40 hex digits
  std::map<std::string, HubFile> files;  // by path
};

// Parses the answer of the Hub's API. `endpoint`: for messages.
Result<HubListing> ParseHubListing(std::string_view body, const std::string& endpoint);

// The files of the model that `name` refers to, each with a path that stays in `snapshot`, a hash, and a size of at
// most 16 TiB. Errors: those of ChooseGguf, kInput if the listing has no valid path, size or hash for a file.
Result<std::vector<HubFile>> ChooseHubFiles(const HubListing& listing, const GgufName& name,
                                            const std::filesystem::path& snapshot);

}  // namespace upskill
