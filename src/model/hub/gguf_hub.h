// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "model/hub/gguf_cache.h"
#include "model/hub/gguf_name.h"
#include "net/http_client.h"
#include "util/result.h"
#include "util/secret.h"
#include "util/stop_flag.h"

namespace upskill {

struct HubOptions {
  std::string endpoint = "https://huggingface.co";  // without a slash at its end
  Secret token;                                     // empty: none
  std::filesystem::path cache;                      // HubCacheOf
  bool offline = false;                             // HF_HUB_OFFLINE: ask nobody
  int attempts = 5;                                 // without a new byte, until a broken download is given up
  std::chrono::milliseconds pause{1000};            // before the second attempt; doubled each time
};

// From HF_ENDPOINT, HF_HUB_OFFLINE, the token and the cache's variables. Errors: no valid endpoint, no cache, a broken
// token.
Result<HubOptions> HubOptionsOf(const VariableLookup& variable);

// How a download goes: of all parts together, what there is and will be; the file being fetched.
using PullProgress = std::function<void(std::uint64_t done, std::uint64_t total, const std::string& file)>;

// Fetches a GGUF with all its parts from the Hub into the cache and returns the path of its (first) file there. Blocks;
// `progress` is called on the calling thread about ten times a second. What an earlier, broken download left is gone on
// with; bytes are hashed as they come and get their name in the cache only when the hash is right; a file that another
// process is fetching is waited for. `stop` becoming other than 0 ends it with kCancelled. After every error but a
// wrong hash, what was fetched is kept. Errors also: kPermanent (not found, private), kUnavailable (no connection,
// given up), kIo (disk), and those of ChooseGguf.
Result<std::filesystem::path> PullGguf(HttpClient& client, const HubOptions& options, const GgufName& name,
                                       const PullProgress& progress = nullptr, const StopFlag* stop = nullptr);

}  // namespace upskill
