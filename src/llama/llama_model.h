// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>

#include "llama/allocation_limit.h"
#include "llama/life_signs.h"
#include "llama/scheduler.h"
#include "model/model.h"
#include "util/file_hash.h"
#include "util/result.h"

namespace upskill {

struct LlamaOptions {
  std::filesystem::path path;      // a GGUF
  std::string name;                // for tables; empty: the file name without ".gguf"
  std::string sha256;              // of the file (IdentifyGguf), for ModelInfo::identity; empty: computed
  FileHashOptions hashing;         // how it is computed
  int parallel = 0;                // sequences evaluated at once; 0: kDefaultParallel
  int threads = 0;                 // 0: one per processor available to this process
  int context_tokens = 0;          // KV cells for all sequences together; 0: sized by the first request
  std::size_t guessed_tokens = 8;  // at most in a batch of a few answers; 0: none (the answers are the same)
  std::chrono::milliseconds promise_patience = Scheduler::kPatience;  // how long to wait for a promised request
  AllocationLimit::Limits template_limits = {};                       // of the chat template, for each conversation
  LifeSigns* life = nullptr;  // of the thread that loads the model, then of the engine's; outlives the model
};

// The SHA-256 of a file (HashGguf), after a look at its first bytes. Errors: it can't be read, or isn't a GGUF.
Result<std::string> IdentifyGguf(const std::filesystem::path& path, const FileHashOptions& hashing);
// ModelInfo::identity of a model whose file has this SHA-256.
std::string IdentityOfGguf(const std::string& sha256);

// Measured on two cores with the default model (bench/README.md): more sequences aren't faster there.
inline constexpr int kDefaultParallel = 32;

// Loads a GGUF into this process (llama.cpp). A damaged or hostile file may crash or hang it: the program does this in
// a worker process only (OpenWorkerModel). Errors: file missing or unreadable, not a GGUF or truncated, not a chat
// model, not enough memory; each with the reason.
Result<std::unique_ptr<Model>> LoadLlamaModel(const LlamaOptions& options);

}  // namespace upskill
