// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "model/wire/wire_replay_test.h"

namespace upskill {
namespace {

std::optional<Dialect> After(const std::string& model, const char* message, Wire wire = Wire::kChat) {
  return WithoutRejectedParameter(OptionsOf(model).dialect, wire, message);
}

TEST(WithoutRejectedParameter, TokenLimit) {
  const char* rejection =
      "400: Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.";
  const std::optional<Dialect> switched = After("generic.x", rejection);
  ASSERT_TRUE(switched.has_value());
  EXPECT_EQ(switched->token_limit, "max_completion_tokens");
  EXPECT_FALSE(WithoutRejectedParameter(*switched, Wire::kChat, "Unsupported parameter: 'max_completion_tokens'")
                   .has_value());  // only once
  EXPECT_EQ(After("openai.x", "Unrecognized request argument supplied: max_completion_tokens")->token_limit,
            "max_tokens");
  EXPECT_FALSE(After("generic.x", "max_tokens is too large: 300000. This model has at most 128000 tokens").has_value());
  EXPECT_FALSE(After("haiku", "max_tokens: 300000 > 64000, which is the maximum allowed number of output tokens",
                     Wire::kAnthropic)
                   .has_value());
}

TEST(WithoutRejectedParameter, SystemRole) {
  for (const char* message :
       {"System role not supported", "400: Only user and assistant roles are supported!", "Unexpected role: system",
        "Conversation roles must alternate user/assistant/user/assistant/...",
        "Developer instruction is not enabled for models/gemma-3-1b-it"}) {
    const std::optional<Dialect> changed = After("generic.x", message);
    ASSERT_TRUE(changed.has_value()) << message;
    EXPECT_FALSE(changed->system_role) << message;
    EXPECT_FALSE(WithoutRejectedParameter(*changed, Wire::kChat, message).has_value()) << "only once";
  }
  EXPECT_FALSE(After("generic.x", "The system is overloaded").has_value());
}

TEST(WithoutRejectedParameter, OtherParameters) {
  EXPECT_FALSE(After("gpt-4o",
                     "Unsupported value: 'temperature' does not support 0.7 with this model. Only the default (1) "
                     "value is supported.")
                   ->temperature);
  EXPECT_FALSE(
      After("haiku", "`temperature` may only be set to 1 when thinking is enabled", Wire::kAnthropic)->temperature);
  EXPECT_FALSE(After("gpt-4o", "Unrecognized request argument supplied: reasoning_effort")->effort);
  EXPECT_FALSE(
      After("gpt-4o", "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.")
          ->schema);
  EXPECT_FALSE(After("sonnet", "output_config.format: Extra inputs are not permitted", Wire::kAnthropic)->schema);
  EXPECT_FALSE(After("sonnet", "adaptive thinking is not supported on this model", Wire::kAnthropic)->effort);
  EXPECT_FALSE(After("gpt-4o", "Unknown parameter: 'seed'.")->seed);
  EXPECT_FALSE(After("gpt-5-mini", "Encrypted content is not supported with this model.", Wire::kResponses)
                   ->encrypted_reasoning);
  EXPECT_FALSE(After("gpt-4o", "Unknown parameter: 'prompt_cache_key'.")->cache_key);
  EXPECT_FALSE(After("gpt-4o", "stream_options: extra fields not permitted")->stream_usage);
}

TEST(WithoutRejectedParameter, ThingsForTheUserToChange) {
  EXPECT_FALSE(After("gpt-4o",
                     "Unsupported value: 'reasoning_effort' does not support 'minimal' with this model. Supported "
                     "values are: 'low', 'high'.")
                   .has_value());
  EXPECT_FALSE(After("gpt-4o", "The model `x` does not exist").has_value());
  EXPECT_FALSE(After("haiku", "temperature: range: 0..1", Wire::kAnthropic).has_value());
  EXPECT_FALSE(After("gpt-4o", "").has_value());
}

}  // namespace
}  // namespace upskill
