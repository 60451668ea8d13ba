// SPDX-License-Identifier: Apache-2.0
// How much material a teacher gets without --budget.
#include "cli/generate/teacher_context.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "support/generate_fixture.h"
#include "util/files.h"

namespace upskill {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(BudgetOfContext, LeavesRoomForTheLongestRequestAndItsAnswer) {
  for (const std::int64_t context : {16'000, 32'768, 100'000, 131'072, 200'000}) {
    const auto budget = static_cast<std::int64_t>(BudgetOfContext(context, 8192));
    EXPECT_LT(budget + budget / 4 + 8192, context) << "half of it for each of two parts, a quarter for a third";
    EXPECT_GT(budget, context / 4);
  }
  EXPECT_GE(BudgetOfContext(131'072, 8192), 60'000U);
  EXPECT_EQ(BudgetOfContext(1'000'000, 8192), 200'000U) << "longer requests have to be asked for";
  EXPECT_LT(BudgetOfContext(200'000, 64'000), BudgetOfContext(200'000, 8192));
  EXPECT_EQ(BudgetOfContext(10, 8192), 500U);
}

TEST(ContextInListing, AsServersTellIt) {
  const auto tokens = [](const char* listing, const char* model) {
    return ContextInListing(*ParseJson(listing, "models"), model);
  };
  const char* const router =
      R"({"data":[{"id":"a/big","context_length":1000000,"top_provider":{"context_length":262144}},
    {"id":"a/small","context_length":32768}]})";
  EXPECT_EQ(tokens(router, "a/big"), 262'144) << "OpenRouter: what its first provider holds";
  EXPECT_EQ(tokens(router, "a/small"), 32'768);
  EXPECT_EQ(tokens(router, "a/other"), 0);
  EXPECT_EQ(tokens(R"({"data":[{"id":"o/m","providers":[{"context_length":131072},{"context_length":65536},{}]},
    {"id":"o/n"}]})",
                   "o/m:fast"),
            65'536)
      << "Hugging Face";
  EXPECT_EQ(tokens(R"({"data":[{"id":"/m.gguf","meta":{"n_ctx_train":40960,"n_ctx":8192}}]})", "any"), 8192)
      << "llama-server has one model, whatever the request calls it";
  EXPECT_EQ(tokens(R"({"data":[{"id":"q","max_model_len":16384}]})", "q"), 16'384) << "vLLM";
  for (const char* hostile :
       {"[]", "{}", R"({"data":3})", R"({"data":[1,null]})", R"({"data":[{"id":"q"}]})",
        R"({"data":[{"id":"q","context_length":-5}]})", R"({"data":[{"id":"q","context_length":"many"}]})",
        R"({"data":[{"id":"q","context_length":1e300}]})"})
    EXPECT_EQ(tokens(hostile, "q"), 0) << hostile;
}

class TeacherContext : public GenerateCli {
 protected:
  // A recording with text of about this many tokens.
  std::string Recording(std::size_t tokens) {
    std::string text;
    for (std::size_t i = 0; text.size() < 3 * tokens; ++i) text += "Sum " + std::to_string(i) + " is written total.\n";
    const Json lines =
        Json::array({{{"role", "user"}, {"content", "Add numbers"}}, {{"role", "assistant"}, {"content", text}}});
    return folder.Write("session.json", DumpJson(lines)).string();
  }
  int Begin(std::size_t tokens, const std::vector<std::string>& more = {}) {
    std::vector<std::string> command = {"Add numbers",
                                        "--from",
                                        Recording(tokens),
                                        "-m",
                                        "generic.teacher",
                                        "--base-url",
                                        teacher.url(),
                                        "--eval-model",
                                        "sim:base=0.1,skill=body",
                                        "--max-attempts",
                                        "0"};
    command.insert(command.end(), more.begin(), more.end());
    return Generate(command);
  }
  std::size_t Listings() const {
    std::size_t count = 0;
    for (const loopback::Request& request : teacher.requests()) count += request.method == "GET" ? 1 : 0;
    return count;
  }

  TeacherServer teacher{"[sim 0.95]"};
};

TEST_F(TeacherContext, TheServerIsAskedIfTheMaterialMayNotFit) {
  teacher.hook = [](const std::string& body) -> std::optional<loopback::Script> {
    if (!body.empty()) return loopback::Answer(401, R"({"error":{"message":"no more answers"}})");
    return loopback::Answer(200, R"({"data":[{"id":"teacher","context_length":131072}]})");
  };
  EXPECT_EQ(Begin(9000), 3);
  EXPECT_THAT(error,
              HasSubstr("tokens of material in one request: generic.teacher has a context of 131,072 (its server)"));
  EXPECT_EQ(Listings(), 1U);
  EXPECT_EQ(Begin(9000, {"--budget", "20000", "--name", "second"}), 3);
  EXPECT_THAT(error, Not(HasSubstr("budget ")));
  EXPECT_EQ(Begin(300, {"--name", "third"}), 3);
  EXPECT_EQ(Listings(), 1U) << "little material fits anywhere";
}

TEST_F(TeacherContext, TheCatalogueKnowsWithoutARequest) {
  variables["UPSKILL_MODELS"] =
      folder.Write("models.toml", "[[context]]\nproviders = [\"generic\"]\nmodels = [\"teach*\"]\ntokens = 100000\n")
          .string();
  ASSERT_EQ(Begin(9000, {"--dry-run"}), 0) << error;
  EXPECT_THAT(error + out, HasSubstr("generic.teacher has a context of 100,000 (the catalogue)"));
  EXPECT_EQ(teacher.requests().size(), 0U);
}

TEST_F(TeacherContext, AnUnknownContextIsSaidOnlyIfTheMaterialExceedsTheBudget) {
  ASSERT_EQ(Begin(9000, {"--dry-run"}), 0) << error;
  EXPECT_THAT(error + out, Not(HasSubstr("the context of")));
  ASSERT_EQ(Begin(70'000, {"--dry-run"}), 0) << error;
  EXPECT_THAT(
      error + out,
      HasSubstr("budget   60,000 tokens of material in one request: the context of generic.teacher is unknown"));
}

}  // namespace
}  // namespace upskill
