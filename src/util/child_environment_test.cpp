// SPDX-License-Identifier: Apache-2.0
#include "util/child_environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <string>
#include <utility>

#include "util/known_secrets.h"

namespace upskill {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Not;
using testing::StartsWith;

// Sets variables of this process for a test.
class Variables {
 public:
  explicit Variables(std::map<std::string, std::string> values) : values_(std::move(values)) {
    for (const auto& [name, value] : values_) ::setenv(name.c_str(), value.c_str(), 1);
  }
  ~Variables() {
    for (const auto& [name, value] : values_) ::unsetenv(name.c_str());
  }
  Variables(const Variables&) = delete;
  Variables& operator=(const Variables&) = delete;

 private:
  std::map<std::string, std::string> values_;
};

TEST(ChildEnvironment, HasNoVariableThatMayHoldAKey) {
  const Variables variables({{"OPENAI_API_KEY", "sk-1"},
                             {"HF_TOKEN", "hf_1"},
                             {"HTTPS_PROXY", "http://user:password@proxy"},
                             {"MY_OWN", "x"},
                             {"LC_TIME", "C"},
                             {"XDG_STATE_HOME", "/s"},
                             {"TZ", "() { evil; }"}});
  const std::vector<std::string> environment = ChildEnvironment();
  for (const char* name : {"OPENAI_API_KEY=", "HF_TOKEN=", "HTTPS_PROXY=", "MY_OWN=", "TZ="})
    EXPECT_THAT(environment, Not(Contains(StartsWith(name))));
  EXPECT_THAT(environment, Contains("LC_TIME=C"));
  EXPECT_THAT(environment, Contains("XDG_STATE_HOME=/s"));
  EXPECT_THAT(environment, Contains(StartsWith("PATH=")));
}

TEST(ChildEnvironment, MoreByNameAndByStart) {
  const Variables variables({{"PIP_INDEX_URL", "i"}, {"PIP_CERT", "c"}, {"PIPX_HOME", "x"}, {"NETRC", "n"}});
  const std::vector<std::string> environment = ChildEnvironment({"PIP_*", "NETRC"});
  for (const char* variable : {"PIP_INDEX_URL=i", "PIP_CERT=c", "NETRC=n"})
    EXPECT_THAT(environment, Contains(variable));
  EXPECT_THAT(environment, Not(Contains("PIPX_HOME=x")));
}

TEST(WithVariable, RemembersKeys) {
  WithVariable({}, "AGENT_TOKEN", "tok-5d0c1f7a9e");
  WithVariable({}, "AGENT_MODE", "mode-5d0c1f7a9e");
  EXPECT_TRUE(HasKnownSecret("said tok-5d0c1f7a9e"));
  EXPECT_FALSE(HasKnownSecret("said mode-5d0c1f7a9e"));
}

TEST(WithVariable, ReplacesOneOfThatName) {
  EXPECT_THAT(WithVariable({"A=1", "AB=2"}, "A", "3=4"), ElementsAre("AB=2", "A=3=4"));
}

}  // namespace
}  // namespace upskill
