// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llama.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "llama/allocation_limit.h"
#include "llama/special_texts.h"
#include "model/chat.h"
#include "util/json.h"
#include "util/result.h"

namespace upskill {

// A model's own chat template (Jinja, from the GGUF) in both directions: messages → prompt, generated text → answer.
// Special tokens have an effect only where the template writes them, never within a message.
// A template is a program of whoever made the file: its time and memory are bounded, and beyond them it is an error.
// Not thread-safe; used only by the engine's thread.
class ChatFormat {
 public:
  // Error (kPermanent) if the file has no chat template, or one that llama.cpp can't parse, that exceeds the limits
  // or that leaves out what the user or the system prompt says.
  static Result<ChatFormat> Make(const llama_model* model, const AllocationLimit::Limits& limits = {});
  // The same for a template without a model, with these special tokens. For tests.
  static Result<ChatFormat> ForTemplate(const std::string& chat_template, std::vector<std::string> special_tokens);
  ~ChatFormat();
  ChatFormat(ChatFormat&&) noexcept;
  ChatFormat& operator=(ChatFormat&&) noexcept;
  ChatFormat(const ChatFormat&) = delete;
  ChatFormat& operator=(const ChatFormat&) = delete;

  // A prompt with everything needed to parse its answer.
  struct Prompt {
    std::vector<PromptPiece> pieces;
    std::vector<std::string> stops;             // texts that end the answer, in addition to the end token
    std::vector<std::string> preserved_tokens;  // special tokens that the parser needs as text
    std::string parser;                         // in llama-common's format
    std::string generation_prompt;              // the end of the prompt, which starts the answer
    std::string grammar;                        // GBNF of generation_prompt and answer; empty: no grammar
    std::vector<std::string> triggers;          // regular expressions: the grammar holds from where one matches
    bool has_tools = false;
    int format = 0;
  };
  // With a schema, the grammar constrains the answer to it; with tools, every call that the answer begins. Tools, calls
  // and results are for a template that takes_tools. Error (kPermanent): the template rejects the conversation or
  // exceeds its limits, or llama.cpp rejects a schema.
  Result<Prompt> Render(const std::string& system, const std::vector<Message>& messages,
                        const std::optional<Json>& answer_schema = std::nullopt,
                        const std::vector<Tool>& tools = {}) const;

  // Whether the template has a format for tools, calls and their results of which llama.cpp knows how a call begins.
  bool takes_tools() const { return takes_tools_; }

  struct Answer {
    std::string text;
    std::string reasoning;
    std::vector<ToolCall> calls;
  };
  // Separates reasoning and calls from the answer. Text that the parser can't parse within the limits is returned as
  // is.
  Answer Parse(const Prompt& prompt, const std::string& generated) const;

 private:
  struct Impl;
  static Result<ChatFormat> FromTemplates(const llama_model* model, const std::string& given,
                                          SpecialTexts special_texts, const AllocationLimit::Limits& limits);
  explicit ChatFormat(std::unique_ptr<Impl> impl);
  Status CheckThatItIsHeard() const;
  bool TriesTools() const;
  std::unique_ptr<Impl> impl_;
  bool takes_tools_ = false;
};

}  // namespace upskill
