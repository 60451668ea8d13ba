// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/chat.h"
#include "model/connection.h"
#include "model/model_spec.h"
#include "util/clock.h"
#include "util/result.h"

namespace upskill {

struct BatchItem {
  std::string custom_id;  // 1 to 64 letters, digits, `_` and `-`; unique within the batch
  ChatRequest request;
};

// What is noted of a batch that is about to be submitted. Its answer may get lost, with the process or the connection.
struct BatchIntent {
  std::string token;  // 40 hex digits, of this batch alone
  Clock::Wall time;   // when it is submitted
  std::size_t requests = 0;
};

struct BatchState {
  bool ended = false;  // the results can be read
  std::string status;  // in the provider's words
  std::int64_t waiting = 0;
  std::int64_t succeeded = 0;
  std::int64_t failed = 0;  // errored, cancelled or expired
};

// A provider's Batch API: many requests submitted together and answered within a day at half the price. The calls block
// and may be made from any thread except the HttpClient's. A batch lives at the provider: another process can poll it
// by its ID. Answers aren't checked against answer_schema here, and parameters that the provider rejects aren't left
// out: those requests end with an error.
class BatchApi {
 public:
  using Answers = std::map<std::string, Result<ChatResponse>>;

  BatchApi() = default;
  virtual ~BatchApi() = default;
  BatchApi(const BatchApi&) = delete;
  BatchApi& operator=(const BatchApi&) = delete;

  virtual std::size_t MaxPerBatch() const = 0;
  virtual std::size_t MaxBytes() const = 0;
  // What the item adds to the size of a batch; for splitting.
  virtual std::size_t BytesOf(const BatchItem& item) const = 0;

  // Returns the ID of the new batch, which carries the token where the provider keeps metadata. An error (kInput) if it
  // is empty or too large, or if request IDs are malformed or not unique.
  virtual Result<std::string> Submit(const std::vector<BatchItem>& items, const std::string& token) = 0;
  // The batch that was submitted by this intent: by its token, else (Anthropic) the oldest batch of that time with that
  // many requests. Nothing if the provider has none.
  virtual Result<std::optional<std::string>> Find(const BatchIntent& intent) = 0;
  virtual Result<BatchState> Poll(const std::string& id) = 0;
  virtual Status Cancel(const std::string& id) = 0;
  // Answers by custom_id, in any order; cost_usd is at half price. Errors of single requests: kInput if the request is
  // at fault, kUnavailable (worth resubmitting) if it expired, was cancelled or failed. Requests that the provider lost
  // are missing. An error of the whole call: the batch hasn't ended, or its results can't be read.
  virtual Result<Answers> Results(const std::string& id) = 0;

  // Ends the current call and all later ones with kCancelled. Thread-safe.
  virtual void Abort() = 0;
};

// kInput for providers without a Batch API.
Result<std::unique_ptr<BatchApi>> OpenBatchApi(const ModelSpec& spec, const NetworkOptions& options);

}  // namespace upskill
