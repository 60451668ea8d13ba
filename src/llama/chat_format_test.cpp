// SPDX-License-Identifier: Apache-2.0
// Chat templates that can't be used, each in the metadata of a model file.
#include "llama/chat_format.h"

#include <gmock/gmock.h>

#include <memory>
#include <string>

#include "llama/llama_model.h"
#include "support/changed_model.h"
#include "support/model_answers.h"
#include "util/temp_folder.h"

namespace upskill {
namespace {

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

}  // namespace
}  // namespace upskill
