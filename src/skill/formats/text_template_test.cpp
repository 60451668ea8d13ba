// SPDX-License-Identifier: Apache-2.0
#include "skill/formats/text_template.h"

#include <gmock/gmock.h>

#include <string>

namespace upskill {
namespace {

using ::testing::HasSubstr;

std::string Rendered(const std::string& text, const Json& variables) {
  const Result<std::string> rendered = RenderTemplate(text, variables);
  return rendered ? *rendered : "error: " + rendered.error().message;
}

TEST(RenderTemplate, ReplacesVariables) {
  const Json variables = {{"a", "x"}, {"n", 5}, {"whole", 2.0}, {"flag", true}, {"o", {{"k", "deep"}, {"l", {1, 2}}}}};
  EXPECT_EQ(Rendered("{{a}} {{ n }}, {{- o.k -}}", variables), "x 5, deep");
  EXPECT_EQ(Rendered("{{whole}} {{flag}} {{o.l}}", variables), "2 true [1,2]");
  EXPECT_EQ(Rendered("no template: { } $x", variables), "no template: { } $x");
  EXPECT_EQ(Rendered("", variables), "");
}

TEST(RenderTemplate, ValuesMayBeTemplates) {
  EXPECT_EQ(Rendered("{{a}}", {{"a", "<{{b}}>"}, {"b", "c"}}), "<c>");
  EXPECT_THAT(Rendered("{{a}}", {{"a", "{{b}}"}, {"b", "{{a}}"}}), HasSubstr("contain each other"));
}

TEST(RenderTemplate, WhatItCantRenderIsAnError) {
  EXPECT_EQ(Rendered("{{ x }}", Json::object()), "error: the test has no variable {{ x }}");
  for (const char* text : {"{{ a | upper }}", "{{ a() }}", "{{}}", "{{ a.b }}"})
    EXPECT_THAT(Rendered(text, {{"a", "x"}}), HasSubstr("the test has no variable")) << text;
  for (const char* text : {"{% if a %}b{% endif %}", "{# note #}", "{{ a"})
    EXPECT_THAT(Rendered(text, {{"a", "x"}}), HasSubstr("statements of templates")) << text;
}

TEST(RenderTemplate, TheResultIsBounded) {
  Json variables = {{"a", std::string(1000, 'x')}};
  std::string text;
  for (int i = 0; i < 1100; ++i) text += "{{a}}";
  EXPECT_THAT(Rendered(text, variables), HasSubstr("larger than 1 MiB"));
}

TEST(RenderStrings, AtAllLevels) {
  const Result<Json> rendered = RenderStrings({{"k", {"{{a}}", 1, {{"l", "{{a}}!"}}}}}, {{"a", "x"}});
  ASSERT_TRUE(rendered.ok());
  EXPECT_EQ(DumpJson(*rendered), R"({"k":["x",1,{"l":"x!"}]})");
}

}  // namespace
}  // namespace upskill
