// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <map>
#include <optional>
#include <string>

#include "model/hub/gguf_hub.h"
#include "util/temp_folder.h"

namespace upskill {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

Result<HubOptions> OptionsOf(const std::map<std::string, std::string>& variables) {
  return HubOptionsOf([&](const std::string& name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    if (found == variables.end()) return std::nullopt;
    return found->second;
  });
}

TEST(HubOptionsOf, Defaults) {
  const Result<HubOptions> options = OptionsOf({{"HOME", "/nowhere"}});
  ASSERT_TRUE(options.ok()) << options.error().message;
  EXPECT_EQ(options->endpoint, "https://huggingface.co");
  EXPECT_EQ(options->cache, "/nowhere/.cache/huggingface/hub");
  EXPECT_TRUE(options->token.empty());
  EXPECT_FALSE(options->offline);
  EXPECT_FALSE(OptionsOf({}).ok());
}

TEST(HubOptionsOf, TokenOfTheVariableOrTheSavedLogin) {
  const TempFolder folder;
  folder.Write("token", "hf_saved\n");
  const std::string home = folder.path().string();
  EXPECT_EQ(OptionsOf({{"HF_HOME", home}})->token.reveal(), "hf_saved");
  EXPECT_EQ(OptionsOf({{"HF_HOME", home}, {"HF_TOKEN", "hf_set"}})->token.reveal(), "hf_set");
}

TEST(HubOptionsOf, NoTokenIsSentUnencryptedToAnotherMachine) {
  const std::map<std::string, std::string> variables = {{"HOME", "/h"}, {"HF_ENDPOINT", "http://hub.example"}};
  EXPECT_TRUE(OptionsOf(variables).ok());
  std::map<std::string, std::string> with_token = variables;
  with_token["HF_TOKEN"] = "hf_insecure";
  ASSERT_FALSE(OptionsOf(with_token).ok());
  EXPECT_THAT(OptionsOf(with_token).error().message,
              AllOf(HasSubstr("the token for the Hub would be sent to hub.example unencrypted"),
                    Not(HasSubstr("hf_insecure"))));
  with_token["UPSKILL_ALLOW_INSECURE_HTTP"] = "1";
  EXPECT_TRUE(OptionsOf(with_token).ok());
  with_token.erase("UPSKILL_ALLOW_INSECURE_HTTP");
  with_token["HF_ENDPOINT"] = "http://localhost:8080";
  EXPECT_TRUE(OptionsOf(with_token).ok());
}

TEST(HubOptionsOf, Endpoints) {
  EXPECT_EQ(OptionsOf({{"HOME", "/h"}, {"HF_ENDPOINT", "https://hub.example/sub/"}})->endpoint,
            "https://hub.example/sub");
  EXPECT_TRUE(OptionsOf({{"HOME", "/h"}, {"HF_HUB_OFFLINE", "1"}})->offline);
  for (const char* endpoint :
       {"hub.example", "ftp://hub.example", "https://user:password@hub.example", "https://hub.example?x", "https://"}) {
    const Result<HubOptions> options = OptionsOf({{"HOME", "/h"}, {"HF_ENDPOINT", endpoint}});
    ASSERT_FALSE(options.ok()) << endpoint;
    EXPECT_THAT(options.error().message, AllOf(HasSubstr("HF_ENDPOINT"), Not(HasSubstr("password"))));
  }
}

}  // namespace
}  // namespace upskill
