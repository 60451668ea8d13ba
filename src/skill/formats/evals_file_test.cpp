// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <filesystem>
#include <string>

#include "skill/formats/readers.h"
#include "util/temp_folder.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class EvalsFileTest : public ::testing::Test {
 protected:
  Json CaseOf(const std::string& one) {
    const Result<Json> list = ParseJson("[" + one + "]", "t");
    EXPECT_TRUE(list.ok());
    const ConvertedSuite suite = ConvertEvals(*list, {7}, file_);
    EXPECT_THAT(suite.cases, SizeIs(1));
    EXPECT_EQ(suite.cases[0].place, file_.string() + ":7");
    return suite.cases[0].json;
  }

  TempFolder folder_;
  fs::path file_ = folder_.Write("skill/evals/evals.json", "{}");
};

TEST_F(EvalsFileTest, AssertionsAndExpectationsAreJudged) {
  EXPECT_EQ(DumpJson(CaseOf(R"({"id":1,"prompt":"p","expected_output":"A chart","assertions":["Has axes"]})")),
            R"({"id":1,"prompt":"p","description":"A chart","checks":[{"type":"judge","rubric":"Has axes"}]})");
  EXPECT_EQ(DumpJson(CaseOf(R"({"prompt":"p","expectations":[" a ",{"text":"b"},5]})")),
            R"({"prompt":"p","checks":[{"type":"judge","rubric":"a"},{"type":"judge","rubric":"b"},)"
            R"({"type":"skipped","name":"an assertion without a text","reason":"it must be a sentence"}]})");
}

TEST_F(EvalsFileTest, TheDescriptionIsJudgedWhereThereAreNoAssertions) {
  const Json one = CaseOf(R"({"prompt":"p","expected_output":"A chart","assertions":[]})");
  EXPECT_EQ(one.at("checks").at(0).at("rubric"),
            "The answer is what this description of a good result asks for: A chart");
  EXPECT_FALSE(one.contains("expected_output"));
  EXPECT_EQ(CaseOf(R"({"prompt":"p","assertions":[]})").at("checks").at(0).at("name"), "a case without assertions");
}

TEST_F(EvalsFileTest, ACaseWithChecksOfOursIsKept) {
  const std::string own = R"({"prompt":"p","expected":{"contains":["x"]},"expectations":["prose"],"files":["a"]})";
  EXPECT_EQ(DumpJson(CaseOf(own)), own);
}

TEST_F(EvalsFileTest, FilesAreFoundFromTheSkillAndFromTheFile) {
  folder_.Write("skill/evals/files/a.csv", "1,2\n");
  folder_.Write("skill/evals/b.txt", "beside");
  const Json one = CaseOf(R"({"prompt":"p","assertions":["a"],"files":["evals/files/a.csv","b.txt"]})");
  EXPECT_EQ(DumpJson(one.at("context")), R"({"files":{"evals/files/a.csv":"1,2\n","b.txt":"beside"}})");
  EXPECT_THAT(one.at("checks"), SizeIs(1));
}

TEST_F(EvalsFileTest, FilesThatCantBeSentSkipTheCase) {
  folder_.Write("secret.txt", "s");
  folder_.Write("skill/evals/x.pdf", std::string("%PDF\0", 5));
  fs::create_symlink(folder_.path() / "secret.txt", folder_.path() / "skill/evals/link.txt");
  const Json one = CaseOf(
      R"({"prompt":"p","assertions":["a"],"files":["../secret.txt","/etc/hostname","evals/link.txt","evals/x.pdf","none",3]})");
  EXPECT_FALSE(one.contains("context"));
  const Json& checks = one.at("checks");
  ASSERT_THAT(checks, SizeIs(7));
  for (std::size_t i = 1; i < checks.size(); ++i) EXPECT_EQ(checks[i].at("type"), "skipped") << i;
  EXPECT_THAT(checks[3].at("reason").get<std::string>(), HasSubstr("a link leads out of the folder"));
  EXPECT_THAT(checks[4].at("reason").get<std::string>(), HasSubstr("not a text"));
  EXPECT_THAT(checks[5].at("reason").get<std::string>(), HasSubstr("no such file"));
}

}  // namespace
}  // namespace upskill
