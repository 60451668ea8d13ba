// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "model/api_key.h"
#include "model/hub/gguf_name.h"
#include "util/result.h"

namespace upskill {

// Where the Hugging Face clients keep models:
//   CACHE/models--org--repo/blobs/ETAG                     a file's bytes
//   CACHE/models--org--repo/blobs/ETAG.incomplete          what there is of one that is being fetched
//   CACHE/models--org--repo/snapshots/COMMIT/path/in/repo  a relative symbolic link to the blob
//   CACHE/models--org--repo/refs/main                      the commit of the newest snapshot
//   CACHE/.locks/models--org--repo/ETAG.lock               held (flock) while a blob is written
// CACHE itself is named by HF_HUB_CACHE, HUGGINGFACE_HUB_CACHE, HF_HOME, XDG_CACHE_HOME or HOME, the first that is set;
// empty: none of them is.
std::filesystem::path HubCacheOf(const VariableLookup& variable);

// The folder of a repository in the cache.
std::filesystem::path RepoFolder(const std::filesystem::path& cache, const std::string& repo);

// The file of a model that is in the cache (of a split one the first part, its others beside it), without any network.
// The snapshot of refs/main is looked at first, then older ones. Errors are those of ChooseGguf.
Result<std::filesystem::path> FindCachedGguf(const std::filesystem::path& cache, const GgufName& name);

struct CachedGguf {
  std::string repo;
  std::string quant;           // empty: the name doesn't say
  std::filesystem::path file;  // the first part
  std::uint64_t bytes = 0;     // all parts
  bool whole = true;           // false: parts are missing
};

// All models in the cache, sorted by repository and name; of one that several snapshots have, the newest.
std::vector<CachedGguf> ListCachedGgufs(const std::filesystem::path& cache);

}  // namespace upskill
