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

// The cache of the Hugging Face clients:
//   CACHE/models--org--repo/blobs/ETAG                     a file's bytes
//   CACHE/models--org--repo/blobs/ETAG.incomplete          a partial download
//   CACHE/models--org--repo/snapshots/COMMIT/path/in/repo  a relative symbolic link to the blob
//   CACHE/models--org--repo/refs/main                      the commit of the newest snapshot
//   CACHE/.locks/models--org--repo/ETAG.lock               held (flock) while a blob is written
// CACHE is the first one set of HF_HUB_CACHE, HUGGINGFACE_HUB_CACHE, HF_HOME, XDG_CACHE_HOME and HOME; empty if none is
// set.
std::filesystem::path HubCacheOf(const VariableLookup& variable);

// The folder of a repository in the cache.
std::filesystem::path RepoFolder(const std::filesystem::path& cache, const std::string& repo);

// The file of a model in the cache (the first part of a split one, with the others next to it), without network access.
// The snapshot of refs/main is searched first, then older ones. Errors are those of ChooseGguf.
Result<std::filesystem::path> FindCachedGguf(const std::filesystem::path& cache, const GgufName& name);

struct CachedGguf {
  std::string repo;
  std::string quant;           // empty: not part of the name
  std::filesystem::path file;  // the first part
  std::uint64_t bytes = 0;     // of all parts
  bool whole = true;           // false: parts are missing
};

// All models in the cache, sorted by repository and name; the newest if several snapshots have the same one.
std::vector<CachedGguf> ListCachedGgufs(const std::filesystem::path& cache);

}  // namespace upskill
