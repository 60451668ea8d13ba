// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llama.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/chat.h"
#include "util/json.h"
#include "util/result.h"

namespace upskill {

// A model's own chat template (Jinja, from the GGUF) both ways: messages → prompt, generated text → answer.
// Not thread-safe; used by the engine's thread only.
class ChatFormat {
 public:
  // Error (kPermanent) when the file has no chat template, or one that llama.cpp can't read.
  static Result<ChatFormat> Make(const llama_model* model);
  ~ChatFormat();
  ChatFormat(ChatFormat&&) noexcept;
  ChatFormat& operator=(ChatFormat&&) noexcept;
  ChatFormat(const ChatFormat&) = delete;
  ChatFormat& operator=(const ChatFormat&) = delete;

  // A prompt with what is needed to read its answer.
  struct Prompt {
    std::string text;
    std::vector<std::string> stops;             // texts that end the answer besides the end token
    std::vector<std::string> preserved_tokens;  // special tokens the parser wants to see as text
    std::string parser;                         // llama-common's own form
    std::string generation_prompt;              // the end of the text, which begins the answer
    std::string grammar;                        // GBNF of generation_prompt and answer; empty: the answer is free
    int format = 0;
  };
  // With a schema, the grammar holds the answer to it. Error (kPermanent): the template refuses the conversation, or
  // llama.cpp the schema.
  Result<Prompt> Render(const std::string& system, const std::vector<Message>& messages,
                        const std::optional<Json>& answer_schema = std::nullopt) const;

  struct Answer {
    std::string text;
    std::string reasoning;
  };
  // Separates reasoning from the answer. Text that the parser can't read is returned as it is.
  static Answer Parse(const Prompt& prompt, const std::string& generated);

 private:
  struct Impl;
  explicit ChatFormat(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace upskill
