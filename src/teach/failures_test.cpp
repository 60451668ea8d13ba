// SPDX-License-Identifier: Apache-2.0
#include "teach/failures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace upskill {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

Case WithChecks() {
  Case test_case;
  test_case.checks = {
      {"contains", {"edition = 5", "[torch]", "found"}, ""}, {"any_of", {"9.0", "9.0a"}, ""}, {"regex", {}, "x+"}};
  return test_case;
}

SkillText WithBody(const std::string& body) { return {"name", "A skill.", body, {}, {}, ""}; }

TEST(MissingTexts, SayWhetherTheSkillHasThem) {
  const std::string body = "# Build\n\nIn build.toml, `Edition = 5` comes first.\n";
  const std::string text = MissingTexts(WithChecks(), "It was Found.", WithBody(body));
  EXPECT_THAT(text, AllOf(HasSubstr("Missing text `edition = 5`: in the skill, line 3\n"),
                          HasSubstr("Missing text `[torch]`: absent from the skill\n"), Not(HasSubstr("found"))));
  EXPECT_THAT(text, HasSubstr("Missing text, one of `9.0`, `9.0a`: absent from the skill\n"));
  Case ordered;
  ordered.checks = {{"in_order", {"[general]", "[torch]", "edition"}, ""}};
  EXPECT_EQ(MissingTexts(ordered, "[general]", WithBody(body)),
            "Missing text `[torch]`: absent from the skill\nMissing text `edition`: in the skill, line 3\n");
  EXPECT_THAT(MissingTexts(WithChecks(), "9.0a", WithBody(body)), Not(HasSubstr("9.0"))) << "one of them is enough";
  EXPECT_THAT(MissingTexts(WithChecks(), "", WithBody("Set\n`9.0a`.")),
              HasSubstr("one of `9.0`, `9.0a`: `9.0` is in the skill, line 2; `9.0a` is in the skill, line 2\n"));
}

TEST(MissingTexts, AreWordsOfTheReferenceIfTheAnswerRuns) {
  Case test_case;
  test_case.input = "Pause the test: body is its JSON.";
  test_case.checks = {{"command", {}, ""}};
  test_case.reference = "```python\nbody[\"status\"] = \"paused\"\n```";
  EXPECT_EQ(MissingTexts(test_case, "body[\"running\"] = False", WithBody("# States\nA `status` is live.")),
            "Missing word `status` of the right answer: in the skill, line 2\n"
            "Missing word `paused` of the right answer: absent from the skill\n");
}

TEST(MissingTexts, SayWhichLineHasMostOfThem) {
  Case test_case;
  test_case.checks = {{"contains", {"ops.def(\"relu"}, ""}, {"contains", {"flake.nix"}, ""}};
  EXPECT_THAT(MissingTexts(test_case, "", WithBody("# Ops\n`ops.def(\"fft_forward(Tensor! out)\")` in nix")),
              AllOf(HasSubstr("absent from the skill, whose line 2 has `ops.def(\"`\n"),
                    HasSubstr("`flake.nix`: absent from the skill\n")));
}

TEST(PlaceOfCheck, OfPatternsAndKeys) {
  const SkillText skill = WithBody("# Build\nSet `edition = 5` in [general].\n");
  EXPECT_THAT(PlaceOfCheck({"regex", {}, "edition\\s*=\\s*\\d"}, skill), HasSubstr("line 2 matches"));
  EXPECT_THAT(PlaceOfCheck({"regex", {}, "backends"}, skill), HasSubstr("no line"));
  CheckSpec value("toml_value", {});
  value.options = {{"at", "general.edition"}};
  EXPECT_THAT(PlaceOfCheck(value, skill), HasSubstr("`edition` in line 2"));
  value.options = {{"at", "kernel.*.cuda-capabilities[0]"}};
  EXPECT_THAT(PlaceOfCheck(value, skill), HasSubstr("`cuda-capabilities` is absent"));
  EXPECT_EQ(PlaceOfCheck({"contains", {"edition"}}, skill), "");
}

TEST(MissingTexts, SayWhichReferenceHasThem) {
  SkillText skill = WithBody("Read `references/bindings.md`.");
  skill.references = {{"flake.md", "inputs"}, {"bindings.md", "All of\n[torch]\n"}};
  EXPECT_THAT(MissingTexts(WithChecks(), "", skill), HasSubstr("Missing text `[torch]`: in references/bindings.md\n"));
}

TEST(MissingTexts, OfTransfersMayFollowFromTheSkill) {
  const SkillText skill =
      WithBody("# Files\n\nWrite `kernel_src/NAME.cu`.\n`ops.impl(\"NAME_forward\", &NAME_forward)`");
  Case test_case;
  test_case.checks = {{"contains", {"kernel_src/relu.cu", "impl(\"relu_forward\", &relu_forward)", "relu.cuh"}, ""}};
  EXPECT_THAT(MissingTexts(test_case, "", skill), Not(HasSubstr("follows"))) << "only a transfer changes the name";
  test_case.tags = {"transfer"};
  EXPECT_THAT(MissingTexts(test_case, "", skill),
              AllOf(HasSubstr("`kernel_src/relu.cu`: follows from the skill, line 3\n"),
                    HasSubstr("&relu_forward)`: follows from the skill, line 4\n"),
                    HasSubstr("`relu.cuh`: absent from the skill\n")));
}

}  // namespace
}  // namespace upskill
