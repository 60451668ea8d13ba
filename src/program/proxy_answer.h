// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "model/chat.h"
#include "model/wire/wire.h"
#include "net/sse.h"
#include "program/program.h"
#include "util/result.h"

namespace upskill {

// What a model has answered to a program, read beside being passed on: its usage above all. Not thread-safe.
class ProxyAnswer {
 public:
  // `streamed`: as server-sent events.
  ProxyAnswer(Protocol protocol, bool streamed);

  void Feed(std::string_view piece);

  // At the end of the answer. Errors: it isn't complete, or reports an error, or can't be read.
  Result<ChatResponse> Finish();

 private:
  void TakeEvent(const SseEvent& event);
  void TakeGemini(const Json& body);

  Protocol protocol_;
  bool streamed_;
  std::unique_ptr<StreamAssembler> assembler_;  // absent for Gemini
  SseParser parser_;
  std::string raw_;  // of an answer that isn't streamed
  bool has_event_ = false;
  ChatResponse gemini_;
  bool gemini_ended_ = false;
  std::optional<Error> error_;
};

// The usage that a body of Gemini's API reports.
Usage GeminiUsage(const Json& body);

}  // namespace upskill
