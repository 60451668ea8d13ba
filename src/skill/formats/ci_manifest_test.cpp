// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <filesystem>
#include <string>
#include <vector>

#include "skill/formats/readers.h"
#include "util/temp_folder.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class CiManifestTest : public ::testing::Test {
 protected:
  CiManifestTest() {
    fs::create_directories(folder_.path() / "skills/a");
    fs::create_directories(folder_.path() / "skills/b");
  }

  Result<ConvertedSuite> Convert(const std::string& manifest, const fs::path& skill = {}) {
    const Json document = ParseJson(manifest, "t").value();
    EXPECT_TRUE(IsCiManifest(document));
    return ConvertCiManifest(document, folder_.path() / ".upskill/evals.json", skill, [&](const fs::path& path) {
      read_.push_back(path.lexically_relative(folder_.path()).string());
      ConvertedSuite suite;
      suite.cases.push_back({Json{{"input", "i"}}, "p", {}});
      suite.cases.push_back({Json{{"id", "x"}, {"input", "j"}}, "p", {}});
      return Result<ConvertedSuite>(suite);
    });
  }

  static std::vector<std::string> IdsOf(const ConvertedSuite& suite) {
    std::vector<std::string> ids;
    for (const ConvertedCase& one : suite.cases) ids.push_back(one.json.at("id").get<std::string>());
    return ids;
  }

  TempFolder folder_;
  std::vector<std::string> read_;
};

constexpr const char* kTwo = R"({"scenarios":[
  {"id":"one","skills":["skills/a"],"tests":"evals/a.json","judge":{"enabled":true,"criteria":["c"]}},
  {"id":"two","skills":["skills/b","skills/a"],"tests":"evals/b.json"},
  {"skills":["skills/b"],"tests":"evals/c.json"}]})";

TEST_F(CiManifestTest, AllScenariosWithTheirNamesBeforeTheIds) {
  const Result<ConvertedSuite> suite = Convert(kTwo);
  ASSERT_TRUE(suite.ok());
  EXPECT_THAT(read_, ElementsAre("evals/a.json", "evals/b.json", "evals/c.json"));
  EXPECT_THAT(IdsOf(*suite),
              ElementsAre("one/case-1", "one/x", "two/case-1", "two/x", "scenario-3/case-1", "scenario-3/x"));
  EXPECT_THAT(suite->warnings, ElementsAre(HasSubstr("scenario 1 (\"one\"): the scores of its judge are not measured"),
                                           HasSubstr("it is for 2 skills together")));
}

TEST_F(CiManifestTest, OfASkill) {
  const Result<ConvertedSuite> suite = Convert(kTwo, folder_.path() / "skills/a");
  ASSERT_TRUE(suite.ok());
  EXPECT_THAT(read_, ElementsAre("evals/a.json", "evals/b.json"));
  const Result<ConvertedSuite> other = Convert(kTwo, folder_.path() / "skills");
  ASSERT_TRUE(other.ok());
  EXPECT_THAT(other->warnings.at(0), HasSubstr("no scenario names this skill"));
  EXPECT_THAT(IdsOf(*other).size(), 6U);
}

TEST_F(CiManifestTest, ErrorsNameTheScenario) {
  const auto error_of = [&](const std::string& scenario) {
    const Result<ConvertedSuite> suite =
        Convert(R"({"scenarios":[{"skills":["a"],"tests":"t.json"},)" + scenario + "]}");
    return suite ? "" : suite.error().message;
  };
  EXPECT_THAT(error_of(R"({"id":"s"})"), HasSubstr("scenario 2 (\"s\"): no \"tests\""));
  EXPECT_THAT(error_of(R"({"id":"s","tests":"../x.json"})"), HasSubstr("scenario 2 (\"s\"): \"tests\": file name"));
  EXPECT_THAT(error_of("5"), HasSubstr("scenario 2 (\"scenario-2\"): no \"tests\""));
}

TEST_F(CiManifestTest, OtherDocuments) {
  for (const char* text : {"[]", "{}", R"({"scenarios":[]})", R"({"scenarios":[{"config":[],"tests":[]}]})", "3"})
    EXPECT_FALSE(IsCiManifest(ParseJson(text, "t").value())) << text;
}

}  // namespace
}  // namespace upskill
