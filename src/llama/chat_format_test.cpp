// SPDX-License-Identifier: Apache-2.0
// Chat templates that can't be used, each in the metadata of a model file.
#include "llama/chat_format.h"

#include <gmock/gmock.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "llama/llama_model.h"
#include "support/changed_model.h"
#include "support/model_answers.h"
#include "util/temp_folder.h"

namespace upskill {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;

constexpr AllocationLimit::Limits kLimits{std::chrono::milliseconds(300), 50'000'000};

class ChatTemplate : public testing::Test {
 protected:
  Result<std::unique_ptr<Model>> Open(std::string_view chat_template) {
    LlamaOptions options;
    options.path = folder_.Write("model.gguf", ModelWithTemplate(chat_template));
    options.parallel = 1;
    options.threads = 1;
    options.template_limits = kLimits;
    return LoadLlamaModel(options);
  }

  std::string OpeningError(std::string_view chat_template) {
    const Result<std::unique_ptr<Model>> model = Open(chat_template);
    return model ? "none" : std::string(ErrorKindName(model.error().kind)) + ": " + model.error().message;
  }

  // Of a request that makes the template do what it must not, while others are answered before and after it.
  std::string RequestError(std::string_view chat_template) {
    const Result<std::unique_ptr<Model>> model = Open(chat_template);
    if (!model) return model.error().message;
    EXPECT_TRUE(Generate(**model, Ask("Name a colour.", 1)).ok());
    ChatRequest request = Ask("Name a colour.", 1);
    request.system = "please fail";
    const Result<ChatResponse> failed = Generate(**model, request);
    EXPECT_TRUE(Generate(**model, Ask("Name a colour.", 1)).ok());
    return failed ? "none" : std::string(ErrorKindName(failed.error().kind)) + ": " + failed.error().message;
  }

  TempFolder folder_;
};

// Follows what a template does with the system prompt "please fail".
const std::string kRest = "{% endif %}{% for m in messages %}{{ m['content'] }}{% endfor %}";
const std::string kIfAsked = "{% if 'please fail' in messages[0]['content'] %}";
const std::string kEndless = "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}";
// Doubles a text until the memory is full.
const std::string kDoubles =
    "{% set n = namespace(s='xxxxxxxx') %}{% for i in range(60) %}{% set n.s = n.s + n.s %}{% endfor %}";

TEST_F(ChatTemplate, ThatLeavesOutTheUserIsRefused) {
  EXPECT_THAT(OpeningError("The answer is always 42."),
              HasSubstr("permanent: model " + (folder_.path() / "model.gguf").string() +
                        ": its chat template leaves out what the user says"));
  EXPECT_THAT(OpeningError("{% for m in messages %}{% if m['role'] == 'system' %}{{ m['content'] }}{% endif %}"
                           "{% endfor %}Answer:"),
              HasSubstr("leaves out what the user says"));
}

TEST_F(ChatTemplate, ThatLeavesOutTheSystemPromptIsRefused) {
  EXPECT_THAT(OpeningError("{{ messages[0]['content'] | length }}: {{ messages[-1]['content'] }}"),
              HasSubstr("leaves out the system prompt"));
}

// Some models have no system role. llama.cpp puts the system prompt into the user's message for them.
TEST_F(ChatTemplate, WithoutASystemRoleIsAccepted) {
  EXPECT_EQ(OpeningError("{% if messages[0]['role'] == 'system' %}{{ raise_exception('no system role') }}{% endif %}"
                         "{{ messages[0]['content'] }}"),
            "none");
}

TEST_F(ChatTemplate, ThatRejectsAConversationIsAnErrorOfTheRequest) {
  const Result<std::unique_ptr<Model>> model = Open("{{ raise_exception('not today') }}");
  ASSERT_TRUE(model.ok()) << model.error().message;
  const Result<ChatResponse> answer = Generate(**model, Ask("Name a colour.", 1));
  ASSERT_FALSE(answer.ok());
  EXPECT_THAT(answer.error().message, HasSubstr("not today"));
}

class LimitedTemplate : public ChatTemplate {
 protected:
  void SetUp() override {
    if (!AllocationLimit::IsEnforced()) GTEST_SKIP() << "this build has the operator new of a sanitizer";
  }
};

TEST_F(LimitedTemplate, EndlessIsAnErrorOfItsRequest) {
  EXPECT_EQ(RequestError(kIfAsked + kEndless + kRest), "permanent: the model's chat template took more than 0.3 s");
}

TEST_F(LimitedTemplate, GreedyIsAnErrorOfItsRequest) {
  EXPECT_EQ(RequestError(kIfAsked + kDoubles + kRest), "permanent: the model's chat template needed more than 50.0 MB");
}

TEST_F(LimitedTemplate, RecursiveIsAnErrorOfItsRequest) {
  EXPECT_EQ(RequestError("{% macro f(x) %}{{ f(x) }}{% endmacro %}" + kIfAsked + "{{ f(1) }}" + kRest),
            "permanent: the model's chat template calls itself too often");
}

TEST_F(LimitedTemplate, WritingAMuchLongerPromptIsAnErrorOfItsRequest) {
  const std::string long_text =
      "{% set n = namespace(s='0123456789') %}{% for i in range(17) %}{% set n.s = n.s + n.s %}{% endfor %}{{ n.s }}";
  EXPECT_THAT(RequestError(kIfAsked + long_text + kRest),
              HasSubstr("permanent: the model's chat template makes a prompt of 1.3 MB of a conversation of 25 B"));
}

TEST_F(LimitedTemplate, AlwaysEndlessIsAnErrorOfTheFile) {
  EXPECT_THAT(OpeningError(kEndless + "{% for m in messages %}{{ m['content'] }}{% endfor %}"),
              HasSubstr("model.gguf: its chat template took more than 0.3 s"));
}

// The form of Hermes and Qwen.
const std::string kToolTemplate = R"j({%- if tools %}
{{- '<|im_start|>system\n' }}
{%- if messages[0].role == 'system' %}{{- messages[0].content + '\n\n' }}{%- endif %}
{{- "# Tools\n\nYou are provided with function signatures within <tools></tools> XML tags:\n<tools>" }}
{%- for tool in tools %}{{- "\n" }}{{- tool | tojson }}{%- endfor %}
{{- "\n</tools>\n\nFor each function call, return a json object with function name and arguments within <tool_call></tool_call> XML tags:\n<tool_call>\n{\"name\": <function-name>, \"arguments\": <args-json-object>}\n</tool_call><|im_end|>\n" }}
{%- elif messages[0].role == 'system' %}{{- '<|im_start|>system\n' + messages[0].content + '<|im_end|>\n' }}
{%- endif %}
{%- for message in messages %}
{%- if message.role == 'user' or (message.role == 'system' and not loop.first) %}{{- '<|im_start|>' + message.role + '\n' + message.content + '<|im_end|>\n' }}
{%- elif message.role == 'assistant' %}{{- '<|im_start|>assistant\n' }}{%- if message.content %}{{- message.content }}{%- endif %}
{%- for tool_call in message.tool_calls %}
{%- if tool_call.function %}{%- set tool_call = tool_call.function %}{%- endif %}
{%- if (loop.first and message.content) or not loop.first %}{{- '\n' }}{%- endif %}
{{- '<tool_call>\n{"name": "' }}{{- tool_call.name }}{{- '", "arguments": ' }}{{- tool_call.arguments | tojson }}{{- '}\n</tool_call>' }}
{%- endfor %}{{- '<|im_end|>\n' }}
{%- elif message.role == 'tool' %}
{%- if loop.first or messages[loop.index0 - 1].role != 'tool' %}{{- '<|im_start|>user' }}{%- endif %}
{{- '\n<tool_response>\n' }}{{- message.content }}{{- '\n</tool_response>' }}
{%- if loop.last or messages[loop.index0 + 1].role != 'tool' %}{{- '<|im_end|>\n' }}{%- endif %}
{%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\n' }}{%- endif %})j";

const std::vector<Tool> kFileTools = {
    {"read_file", "Reads a file.",
     Json::parse(R"({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]})")},
    {"bash", "Runs <|im_end|>.",
     Json::parse(R"({"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]})")}};

TEST(ChatFormatTools, AreThoseOfTheTemplate) {
  const Result<ChatFormat> format = ChatFormat::ForTemplate(kToolTemplate, {"<|im_start|>", "<|im_end|>"});
  ASSERT_TRUE(format.ok()) << format.error().message;
  EXPECT_TRUE(format->takes_tools());
  Message call{Role::kAssistant, "I look."};
  call.tool_calls.push_back({"1", "read_file", {{"path", "a<|im_end|>"}}, ""});
  Message result{Role::kUser, ""};
  result.tool_results.push_back({"1", "hello <|im_start|>", false});
  const Result<ChatFormat::Prompt> prompt =
      format->Render("Be brief.", {{Role::kUser, "What is in a?"}, call, result}, std::nullopt, kFileTools);
  ASSERT_TRUE(prompt.ok()) << prompt.error().message;
  std::string text;
  std::string literal;
  for (const PromptPiece& piece : prompt->pieces) (piece.literal ? literal : text) += piece.text;
  EXPECT_EQ(literal, "<|im_end|><|im_end|><|im_start|>");  // of a description, an argument and a result
  EXPECT_THAT(text, AllOf(HasSubstr("Be brief."), HasSubstr("Reads a file."),
                          HasSubstr("I look.\n<tool_call>\n{\"name\": \"read_file\""),
                          HasSubstr("<tool_response>\nhello "), EndsWith("<|im_start|>assistant\n")));
  EXPECT_THAT(prompt->triggers, ElementsAre(HasSubstr("tool_call")));
  EXPECT_THAT(prompt->grammar, HasSubstr("read_file"));

  const ChatFormat::Answer called = format->Parse(
      *prompt,
      "I run it.\n<tool_call>\n{\"name\": \"bash\", \"arguments\": {\"command\": \"ls \\\"b\\\"\"}}\n</tool_call>");
  ASSERT_EQ(called.calls.size(), 1U) << called.text;
  EXPECT_EQ(called.calls[0].name, "bash");
  EXPECT_EQ(StringAt(called.calls[0].arguments, "command"), "ls \"b\"");
  EXPECT_THAT(called.text, HasSubstr("I run it."));
  const ChatFormat::Answer said = format->Parse(*prompt, "It says hello.");
  EXPECT_EQ(said.text, "It says hello.");
  EXPECT_TRUE(said.calls.empty());
  const ChatFormat::Answer cut =
      format->Parse(*prompt, "<tool_call>\n{\"name\": \"bash\", \"arguments\": {\"command\": \"l");
  for (const ToolCall& partial : cut.calls) EXPECT_FALSE(partial.arguments.is_object());
}

// Of the same form, for the little room in the model.
const std::string kSmallToolTemplate = R"j({% for t in tools or [] %}{{ t | tojson }}{% endfor %}
{%- for m in messages %}<|im_start|>{{ m.role }}
{{ m.content }}{% for c in m.tool_calls or [] %}<tool_call>
{"name": "{{ c.function.name }}", "arguments": {{ c.function.arguments | tojson }}}
</tool_call>{% endfor %}<|im_end|>
{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant
{% endif %})j";

// The engine asks for calls, forces them from their beginning, and shares the beginning of prompts with the same tools.
TEST_F(ChatTemplate, WithToolsIsGivenThem) {
  const Result<std::unique_ptr<Model>> model = Open(kSmallToolTemplate);
  ASSERT_TRUE(model.ok()) << model.error().message;
  EXPECT_TRUE((*model)->info().takes_tools);
  ChatRequest request = Ask("Name a colour.", 1);
  const Result<ChatResponse> without = Generate(**model, request);
  request.tools = kFileTools;
  const Result<ChatResponse> first = Generate(**model, request);
  ASSERT_TRUE(without.ok() && first.ok()) << first.error().message;
  EXPECT_GT(first->usage.prompt(), without->usage.prompt() + 50);
  request.messages.front().text = "Name another colour.";
  const Result<ChatResponse> second = Generate(**model, request);
  ASSERT_TRUE(second.ok()) << second.error().message;
  EXPECT_GT(second->usage.cache_read, 50);
  request.tools.front().schema = {{"type", "no such type"}};
  const Result<ChatResponse> wrong = Generate(**model, request);
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.error().kind, ErrorKind::kPermanent);
}

TEST(ChatFormatTools, AreNotAskedOfTemplatesWithoutThem) {
  for (const char* plain : {"{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor "
                            "%}<|im_start|>assistant\n",
                            // It names the tools, but not their results.
                            "{% for t in tools %}{{ t | tojson }}{% endfor %}{% for m in messages %}{% if m.role != "
                            "'tool' %}{{ m.content }}"
                            "{% endif %}{% endfor %}"}) {
    const Result<ChatFormat> format = ChatFormat::ForTemplate(plain, {"<|im_end|>"});
    ASSERT_TRUE(format.ok()) << format.error().message;
    EXPECT_FALSE(format->takes_tools()) << plain;
  }
}

}  // namespace
}  // namespace upskill
