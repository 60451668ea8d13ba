// SPDX-License-Identifier: Apache-2.0
#include "llama/chat_format.h"

#include <chat.h>
#include <fmt/format.h>

#include <exception>
#include <utility>

#include "util/text.h"

namespace upskill {

namespace {

// What llama.cpp would read as something else than text in a message, were it asked to parse special tokens.
SpecialTexts SpecialTextsOf(const llama_vocab* vocab) {
  std::vector<std::string> texts;
  const llama_token count = llama_vocab_n_tokens(vocab);
  for (llama_token token = 0; token < count; ++token) {
    const bool special =
        (llama_vocab_get_attr(vocab, token) & (LLAMA_TOKEN_ATTR_CONTROL | LLAMA_TOKEN_ATTR_UNKNOWN)) != 0;
    if (special || llama_vocab_is_eog(vocab, token)) texts.emplace_back(llama_vocab_get_text(vocab, token));
  }
  return SpecialTexts(std::move(texts));
}

}  // namespace

struct ChatFormat::Impl {
  common_chat_templates_ptr templates;
  SpecialTexts specials;
};

ChatFormat::ChatFormat(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ChatFormat::~ChatFormat() = default;
ChatFormat::ChatFormat(ChatFormat&&) noexcept = default;
ChatFormat& ChatFormat::operator=(ChatFormat&&) noexcept = default;

Result<ChatFormat> ChatFormat::Make(const llama_model* model) {
  if (llama_model_chat_template(model, nullptr) == nullptr) {
    return Error{ErrorKind::kPermanent,
                 "it has no chat template, so it is not a chat model; use an instruct or chat version"};
  }
  try {
    auto impl = std::make_unique<Impl>();
    impl->templates = common_chat_templates_init(model, "");
    if (!common_chat_templates_was_explicit(impl->templates.get())) {
      return Error{ErrorKind::kPermanent, "its chat template can't be read"};
    }
    impl->specials = SpecialTextsOf(llama_model_get_vocab(model));
    return ChatFormat(std::move(impl));
  } catch (const std::exception& e) {
    return Error{ErrorKind::kPermanent, fmt::format("its chat template can't be read: {}", e.what())};
  }
}

Result<ChatFormat::Prompt> ChatFormat::Render(const std::string& system, const std::vector<Message>& messages,
                                              const std::optional<Json>& answer_schema) const {
  common_chat_templates_inputs inputs;
  inputs.use_jinja = true;
  inputs.reasoning_format = COMMON_REASONING_FORMAT_DEEPSEEK;
  inputs.now = std::chrono::system_clock::time_point();  // a template that prints the date must not change the prompt
  if (answer_schema) inputs.json_schema = DumpJson(*answer_schema);
  const auto add = [&](const char* role, const std::string& text) {
    common_chat_msg message;
    message.role = role;
    message.content = text;
    inputs.messages.push_back(std::move(message));
  };
  std::vector<std::string> contents = {system};
  for (const Message& message : messages) contents.push_back(message.text);
  const SpecialTexts::Hidden hidden = impl_->specials.Hide(contents);
  if (!system.empty()) add("system", hidden.contents.front());
  for (std::size_t i = 0; i < messages.size(); ++i) {
    add(messages[i].role == Role::kUser ? "user" : "assistant", hidden.contents[i + 1]);
  }
  try {
    common_chat_params params = common_chat_templates_apply(impl_->templates.get(), inputs);
    Prompt prompt;
    prompt.pieces = SpecialTexts::Reveal(params.prompt, hidden);
    prompt.stops = std::move(params.additional_stops);
    prompt.preserved_tokens = std::move(params.preserved_tokens);
    prompt.parser = std::move(params.parser);
    prompt.generation_prompt = std::move(params.generation_prompt);
    if (answer_schema) prompt.grammar = std::move(params.grammar);
    prompt.format = static_cast<int>(params.format);
    return prompt;
  } catch (const std::exception& e) {
    return Error{ErrorKind::kPermanent,
                 fmt::format("the model's chat template rejects this conversation: {}", e.what())};
  }
}

ChatFormat::Answer ChatFormat::Parse(const Prompt& prompt, const std::string& generated) {
  try {
    common_chat_parser_params params;
    params.format = static_cast<common_chat_format>(prompt.format);
    params.reasoning_format = COMMON_REASONING_FORMAT_DEEPSEEK;
    params.generation_prompt = prompt.generation_prompt;
    params.parse_tool_calls = false;
    if (!prompt.parser.empty()) params.parser.load(prompt.parser);
    common_chat_msg message = common_chat_parse(generated, /*is_partial=*/true, params);
    return {std::move(message.content), std::move(message.reasoning_content)};
  } catch (const std::exception&) {
    return {generated, ""};
  }
}

}  // namespace upskill
