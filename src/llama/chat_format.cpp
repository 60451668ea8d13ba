// SPDX-License-Identifier: Apache-2.0
#include "llama/chat_format.h"

#include <chat.h>
#include <common.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <exception>
#include <string_view>
#include <utility>

#include "util/text.h"

namespace upskill {
namespace {

// A prompt may be this much longer than the texts of its conversation. Real templates add some kilobytes.
constexpr std::size_t kMaxMarkupBytes = 1'000'000;
constexpr std::size_t kMaxRepeats = 4;

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
  AllocationLimit::Limits limits;
  common_chat_templates_ptr templates;
  SpecialTexts specials;

  // The error's message follows "the model's chat template ".
  Result<common_chat_params> Apply(const common_chat_templates_inputs& inputs) const {
    const auto failed = [](std::string how) { return Error{ErrorKind::kPermanent, std::move(how)}; };
    const AllocationLimit limit(limits);
    try {
      common_chat_params params = common_chat_templates_apply(templates.get(), inputs);
      if (std::optional<std::string> how = limit.Exceeded()) return failed(*std::move(how));
      return params;
    } catch (const std::exception& e) {
      if (std::optional<std::string> how = limit.Exceeded()) return failed(*std::move(how));
      return failed(fmt::format("rejects this conversation: {}", ExcerptLine(e.what(), 1000)));
    }
  }
};

ChatFormat::ChatFormat(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ChatFormat::~ChatFormat() = default;
ChatFormat::ChatFormat(ChatFormat&&) noexcept = default;
ChatFormat& ChatFormat::operator=(ChatFormat&&) noexcept = default;

Result<ChatFormat> ChatFormat::Make(const llama_model* model, const AllocationLimit::Limits& limits) {
  if (llama_model_chat_template(model, nullptr) == nullptr) {
    return Error{ErrorKind::kPermanent,
                 "it has no chat template, so it is not a chat model; use an instruct or chat version"};
  }
  return FromTemplates(model, "", SpecialTextsOf(llama_model_get_vocab(model)), limits);
}

Result<ChatFormat> ChatFormat::ForTemplate(const std::string& chat_template, std::vector<std::string> special_tokens) {
  return FromTemplates(nullptr, chat_template, SpecialTexts(std::move(special_tokens)), {});
}

// Of the model, or the one given.
Result<ChatFormat> ChatFormat::FromTemplates(const llama_model* model, const std::string& given,
                                             SpecialTexts special_texts, const AllocationLimit::Limits& limits) {
  auto impl = std::make_unique<Impl>();
  impl->limits = limits;
  impl->specials = std::move(special_texts);
  {
    const AllocationLimit limit(limits);
    std::string why;
    try {
      impl->templates = common_chat_templates_init(model, given);
    } catch (const std::exception& e) {
      why = fmt::format(": {}", ExcerptLine(e.what(), 1000));
    }
    if (const std::optional<std::string> exceeded = limit.Exceeded()) {
      return Error{ErrorKind::kPermanent, fmt::format("its chat template {}", *exceeded)};
    }
    if (!impl->templates || !common_chat_templates_was_explicit(impl->templates.get())) {
      return Error{ErrorKind::kPermanent, fmt::format("its chat template can't be read{}", why)};
    }
  }
  ChatFormat format(std::move(impl));
  RETURN_IF_ERROR(format.CheckThatItIsHeard());
  format.takes_tools_ = format.TriesTools();
  return format;
}

// A template that leaves out what is said would have every case of every suite answered alike. One that rejects these
// conversations may accept others: that is an error of the requests concerned.
Status ChatFormat::CheckThatItIsHeard() const {
  constexpr std::string_view kUserText = "upskill asks";
  constexpr std::string_view kSystemText = "upskill instructs";
  const auto leaves_out = [](const Result<Prompt>& prompt, std::string_view text) {
    return prompt && std::none_of(prompt->pieces.begin(), prompt->pieces.end(),
                                  [&](const PromptPiece& piece) { return piece.text.find(text) != std::string::npos; });
  };
  const auto error = [](std::string_view what) {
    return Error{ErrorKind::kPermanent, fmt::format("its chat template leaves out {}, so the model can't be measured; "
                                                    "use a file with the template of the model's authors",
                                                    what)};
  };
  const std::vector<Message> messages = {{Role::kUser, std::string(kUserText)}};
  const Result<Prompt> alone = Render("", messages);
  if (leaves_out(alone, kUserText)) return error("what the user says");
  const Result<Prompt> instructed = Render(std::string(kSystemText), messages);
  if (leaves_out(instructed, kUserText)) return error("what the user says");
  if (leaves_out(instructed, kSystemText)) return error("the system prompt, which has the skill");
  return {};
}

// A conversation about a tool, all of which must be in the prompt.
bool ChatFormat::TriesTools() const {
  const Tool tool{"probe_tool",
                  "upskill describes",
                  {{"type", "object"},
                   {"properties", {{"probe_parameter", {{"type", "string"}}}}},
                   {"required", {"probe_parameter"}}}};
  Message call{Role::kAssistant, ""};
  const Json arguments = {{"probe_parameter", "upskill passes"}};
  call.tool_calls.push_back({"call_1_1", tool.name, arguments, DumpJson(arguments)});
  Message result{Role::kUser, ""};
  result.tool_results.push_back({"call_1_1", "upskill returns", false});
  const Result<Prompt> prompt =
      Render("upskill instructs", {{Role::kUser, "upskill asks"}, call, result}, std::nullopt, {tool});
  if (!prompt || prompt->grammar.empty() || prompt->triggers.empty()) return false;
  std::string text;
  for (const PromptPiece& piece : prompt->pieces) text += piece.text;
  constexpr std::array<std::string_view, 7> kSaid = {"upskill instructs", "upskill asks",   "upskill describes",
                                                     "probe_parameter",   "upskill passes", "upskill returns",
                                                     "probe_tool"};
  return std::all_of(kSaid.begin(), kSaid.end(),
                     [&](std::string_view said) { return text.find(said) != std::string::npos; });
}

namespace {

// The texts of a conversation in the order in which they are put into llama.cpp's form.
std::vector<std::string> TextsOf(const std::string& system, const std::vector<Message>& messages,
                                 const std::vector<Tool>& tools) {
  std::vector<std::string> texts = {system};
  for (const Message& message : messages) {
    texts.push_back(message.text);
    for (const ToolCall& call : message.tool_calls) {
      texts.push_back(call.name);
      texts.push_back(DumpJson(call.arguments.is_object() ? call.arguments : Json::object()));
    }
    for (const ToolResult& result : message.tool_results) texts.push_back(result.text);
  }
  for (const Tool& tool : tools) {
    texts.push_back(tool.description);
    texts.push_back(DumpJson(tool.schema));
  }
  return texts;
}

// Takes the texts of TextsOf, changed or not, one after the other.
class InputMaker {
 public:
  explicit InputMaker(const std::vector<std::string>& texts) : texts_(texts) {}

  void AddConversation(const std::vector<Message>& messages, common_chat_templates_inputs& inputs) {
    if (const std::string& system = Next(); !system.empty()) inputs.messages.push_back(Said("system", system));
    for (const Message& message : messages) {
      const bool assistant = message.role == Role::kAssistant;
      common_chat_msg said = Said(assistant ? "assistant" : "user", Next());
      for (const ToolCall& call : message.tool_calls) {
        const std::string& name = Next();
        said.tool_calls.push_back({name, Next(), call.id});
      }
      if (message.tool_results.empty() || !said.content.empty()) inputs.messages.push_back(std::move(said));
      for (const ToolResult& result : message.tool_results) {
        common_chat_msg returned = Said("tool", Next());
        returned.tool_call_id = result.call_id;
        inputs.messages.push_back(std::move(returned));
      }
    }
  }

  void AddTools(const std::vector<Tool>& tools, common_chat_templates_inputs& inputs) {
    for (const Tool& tool : tools) {
      const std::string& description = Next();
      inputs.tools.push_back({tool.name, description, Next()});
    }
  }

 private:
  const std::string& Next() { return texts_[next_++]; }
  static common_chat_msg Said(const char* role, const std::string& text) {
    common_chat_msg message;
    message.role = role;
    message.content = text;
    return message;
  }

  const std::vector<std::string>& texts_;
  std::size_t next_ = 0;
};

// Regular expressions for the texts with which a call begins. Empty: one of them isn't a text.
std::vector<std::string> TriggersOf(const common_chat_params& params) {
  std::vector<std::string> triggers;
  for (const common_grammar_trigger& trigger : params.grammar_triggers) {
    if (trigger.type == COMMON_GRAMMAR_TRIGGER_TYPE_WORD) {
      triggers.push_back(regex_escape(trigger.value));
    } else if (trigger.type == COMMON_GRAMMAR_TRIGGER_TYPE_PATTERN) {
      triggers.push_back(trigger.value);
    } else {
      return {};
    }
  }
  return triggers;
}

}  // namespace

Result<ChatFormat::Prompt> ChatFormat::Render(const std::string& system, const std::vector<Message>& messages,
                                              const std::optional<Json>& answer_schema,
                                              const std::vector<Tool>& tools) const {
  common_chat_templates_inputs inputs;
  inputs.use_jinja = true;
  inputs.reasoning_format = COMMON_REASONING_FORMAT_DEEPSEEK;
  inputs.now = std::chrono::system_clock::time_point();  // a template that prints the date must not change the prompt
  if (answer_schema) inputs.json_schema = DumpJson(*answer_schema);
  const SpecialTexts::Hidden hidden = impl_->specials.Hide(TextsOf(system, messages, tools));
  InputMaker maker(hidden.contents);
  maker.AddConversation(messages, inputs);
  maker.AddTools(tools, inputs);
  std::size_t bytes = 0;
  for (const std::string& content : hidden.contents) bytes += content.size();
  const auto failed = [](const std::string& how) {
    return Error{ErrorKind::kPermanent, fmt::format("the model's chat template {}", how)};
  };
  Result<common_chat_params> params = impl_->Apply(inputs);
  if (!params) return failed(params.error().message);
  if (params->prompt.size() > kMaxMarkupBytes + kMaxRepeats * bytes) {
    return failed(fmt::format("makes a prompt of {} of a conversation of {}", BytesText(params->prompt.size()),
                              BytesText(bytes)));
  }
  Prompt prompt;
  prompt.pieces = SpecialTexts::Reveal(params->prompt, hidden);
  prompt.stops = std::move(params->additional_stops);
  prompt.preserved_tokens = std::move(params->preserved_tokens);
  prompt.parser = std::move(params->parser);
  prompt.generation_prompt = std::move(params->generation_prompt);
  prompt.has_tools = !tools.empty();
  if (prompt.has_tools && params->grammar_lazy) prompt.triggers = TriggersOf(*params);
  if (answer_schema || !prompt.triggers.empty()) prompt.grammar = std::move(params->grammar);
  prompt.format = static_cast<int>(params->format);
  return prompt;
}

ChatFormat::Answer ChatFormat::Parse(const Prompt& prompt, const std::string& generated) const {
  const AllocationLimit limit(impl_->limits);
  try {
    common_chat_parser_params params;
    params.format = static_cast<common_chat_format>(prompt.format);
    params.reasoning_format = COMMON_REASONING_FORMAT_DEEPSEEK;
    params.generation_prompt = prompt.generation_prompt;
    params.parse_tool_calls = prompt.has_tools;
    if (!prompt.parser.empty()) params.parser.load(prompt.parser);
    common_chat_msg message = common_chat_parse(generated, /*is_partial=*/true, params);
    Answer answer{std::move(message.content), std::move(message.reasoning_content), {}};
    for (common_chat_tool_call& call : message.tool_calls) {
      if (call.name.empty()) continue;  // cut off
      Result<Json> arguments = ParseJson(call.arguments, "the arguments");
      const bool whole = arguments && arguments->is_object();
      answer.calls.push_back(
          {"", std::move(call.name), whole ? *std::move(arguments) : Json(), std::move(call.arguments)});
    }
    return answer;
  } catch (const std::exception&) {
    return {generated, "", {}};
  }
}

}  // namespace upskill
