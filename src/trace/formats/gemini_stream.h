// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "trace/read/builder.h"
#include "trace/read/record.h"

namespace upskill {

// How a call ended whose program says `success`: Gemini CLI writes the exit code of commands into their output.
CallStatus StatusOfGeminiCall(CallStatus status, std::string_view tool, std::string_view output);

// What `gemini --output-format stream-json` prints: a line for each message, part of a message, call and result.
class GeminiStream {
 public:
  // Whether the record is one of such a stream.
  static bool Has(const Json& record);

  explicit GeminiStream(TraceBuilder& builder) : builder_(builder) {}

  void Add(Json& record, std::size_t line);

 private:
  // The model's message that calls and text belong to until a result or a user's message follows.
  std::size_t CurrentMessage();
  void AddMessage(Json& record, EventContext stamp);
  void AddResult(Json& record, const EventContext& stamp);
  void AddTotals(const Json& stats);

  TraceBuilder& builder_;
  std::size_t message_ = kNoIndex;
  std::size_t text_ = kNoIndex;  // the event that the next part of the answer's text continues
};

}  // namespace upskill
