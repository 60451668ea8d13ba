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
  std::string endpoint = "https://huggingface.co";  // without a trailing slash
  Secret token;                                     // empty: none
  std::filesystem::path cache;                      // HubCacheOf
  bool offline = false;                             // HF_HUB_OFFLINE: no network access
  int attempts = 5;                                 // in a row without a new byte, before a broken download fails
  std::chrono::milliseconds pause{1000};            // before the second attempt; doubled each time
};

// The hub's settings from HF_ENDPOINT, HF_HUB_OFFLINE, the token and the cache's variables. Errors: an invalid
// endpoint, no cache, a malformed token.
Result<HubOptions> HubOptionsOf(const VariableLookup& variable);

// Progress of a download over all parts: bytes present and total; the file being downloaded.
using PullProgress = std::function<void(std::uint64_t done, std::uint64_t total, const std::string& file)>;

// Downloads a GGUF with all its parts from the Hub into the cache and returns the path of its (first) file there.
// Blocks; `progress` is called on the calling thread about ten times a second. A partial download is continued; bytes
// are hashed as they arrive and get their name in the cache only if the hash is right; a file that another process is
// downloading is waited for. A `stop` other than 0 ends it with kCancelled. After every error except a wrong hash, the
// partial download is kept. More errors: kPermanent (not found, private), kUnavailable (no connection, too many failed
// attempts), kIo (disk), and those of ChooseGguf.
Result<std::filesystem::path> PullGguf(HttpClient& client, const HubOptions& options, const GgufName& name,
                                       const PullProgress& progress = nullptr, const StopFlag* stop = nullptr);

}  // namespace upskill
