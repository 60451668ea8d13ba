// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "util/json.h"
#include "util/result.h"

namespace upskill {

enum class Role { kUser, kAssistant };

struct Message {
  Role role = Role::kUser;
  std::string text;
};

struct Sampling {
  double temperature = 0.7;  // 0 picks the likeliest token
  int max_tokens = 512;      // most tokens of an answer
  std::uint64_t seed = 0;    // for models that can be seeded
};

// One question to a model.
struct ChatRequest {
  std::string system;  // the stable prefix: equal for many requests, so providers and the engine can share it
  std::vector<Message> messages;
  Sampling sampling;
  Json simulation;  // read by the simulated student only, never sent anywhere: {"arm", "attempt", "passing_answer"}
  // The sender promises another request that doesn't wait for the answers still due. A local model then fills its
  // batch before it goes on, which makes the composition of batches, and so its answers, repeatable.
  bool more_follows = false;
};

// Why an answer ended. Journaled by name (StopReasonName): never rename.
enum class StopReason { kEnd, kLength, kRefusal };

const char* StopReasonName(StopReason reason);
Result<StopReason> StopReasonFromName(std::string_view name);

// Tokens of one answer, the same meaning for every provider (design: models).
struct Usage {
  std::int64_t input = 0;       // prompt tokens that were evaluated for this answer
  std::int64_t cache_read = 0;  // prompt tokens taken from a cache
  std::int64_t cache_write = 0;
  std::int64_t output = 0;  // answer tokens, reasoning included
  std::int64_t reasoning = 0;

  std::int64_t prompt() const { return input + cache_read + cache_write; }
};

struct ChatResponse {
  std::string text;       // valid UTF-8
  std::string reasoning;  // what the model thought aloud before, if it is told apart
  StopReason stop = StopReason::kEnd;
  Usage usage;
  double seconds = 0.0;  // from the start of work on the request to the last token
};

}  // namespace upskill
