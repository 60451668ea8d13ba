// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <string>

#include "check/check_makers.h"
#include "support/check_cases.h"

namespace upskill {
namespace {

using ::testing::AllOf;
using ::testing::Eq;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr const char* kToml = R"(Here it is:

```toml
[general]
name = "relu"
edition = 5
backends = ["cuda", "xpu"]
made = 2026-01-02

[kernel.relu]
src = ["relu.cu"]
cuda-capabilities = ["9.0"]

[kernel.gelu]
cuda-capabilities = ["8.0", "9.0"]
```
)";

CheckSpec Toml(const std::string& rest) { return SpecFrom(R"({"type": "toml_value", )" + rest + "}"); }
CheckSpec JsonCheck(const std::string& rest) { return SpecFrom(R"({"type": "json_value", )" + rest + "}"); }

TEST(ValueCheck, EqualsAValueAtAPath) {
  EXPECT_TRUE(Passes(Toml(R"("at": "general.name", "equals": "relu")"), kToml));
  EXPECT_TRUE(Passes(Toml(R"("at": "general.edition", "equals": 5.0)"), kToml));
  EXPECT_TRUE(Passes(Toml(R"("at": "general.backends[1]", "equals": "xpu")"), kToml));
  EXPECT_TRUE(Passes(Toml(R"("at": "/general/backends/1", "equals": "xpu")"), kToml));
  EXPECT_TRUE(Passes(Toml(R"("at": "general.backends", "equals": ["cuda", "xpu"])"), kToml));
  EXPECT_TRUE(Passes(Toml(R"("at": "general.made", "equals": "2026-01-02")"), kToml));
  EXPECT_TRUE(Passes(Toml(R"("at": "kernel.*.cuda-capabilities[*]", "equals": "8.0")"), kToml));
  EXPECT_EQ(DetailOf(Toml(R"("at": "general.edition", "equals": "5")"), kToml),
            "it is the number 5, not the string \"5\"");
  EXPECT_EQ(DetailOf(Toml(R"("at": "kernel.*.cuda-capabilities", "equals": "9.0")"), kToml),
            "it is [\"8.0\",\"9.0\"], [\"9.0\"]");
  EXPECT_EQ(DetailOf(Toml(R"("at": "general.version", "equals": 1)"), kToml), "nothing at this path");
  EXPECT_EQ(ResultOf(Toml(R"("at": "general.name", "equals": "relu")"), kToml).name,
            "toml_value general.name = \"relu\"");
}

TEST(ValueCheck, OtherConditions) {
  EXPECT_TRUE(Passes(Toml(R"("at": "general.edition", "one_of": [4, 5])"), kToml));
  EXPECT_FALSE(Passes(Toml(R"("at": "general.edition", "one_of": [3, 4])"), kToml));
  EXPECT_TRUE(Passes(Toml(R"("at": "general.name", "pattern": "^re")"), kToml));
  EXPECT_FALSE(Passes(Toml(R"("at": "general", "pattern": "relu")"), kToml)) << "not a scalar";
  EXPECT_TRUE(Passes(Toml(R"("at": "kernel.relu.src")"), kToml));
  EXPECT_TRUE(Passes(Toml(R"("at": "torch", "exists": false)"), kToml));
  EXPECT_EQ(DetailOf(Toml(R"("at": "general.edition", "exists": false)"), kToml), "there is 5");
}

TEST(ValueCheck, JsonAndYaml) {
  EXPECT_TRUE(Passes(JsonCheck(R"("at": "a.\"b.c\"[0].d", "equals": {"y": 1, "x": [true, null]})"),
                     R"({"a": {"b.c": [{"d": {"x": [true, null], "y": 1.0}}]}})"));
  EXPECT_TRUE(Passes(JsonCheck(R"("at": "/a~1b/~0c", "equals": 1)"), R"({"a/b": {"~c": 1}})"));
  EXPECT_TRUE(Passes(JsonCheck(R"("at": "*.id", "equals": 2)"), R"([{"id": 1}, {"id": 2}])"));
  const auto yaml = [](const std::string& rest) { return SpecFrom(R"({"type": "yaml_value", )" + rest + "}"); };
  const char* const text = "jobs:\n  build:\n    version: 9.0\n    on: true\n    name: x\n";
  EXPECT_TRUE(Passes(yaml(R"("at": "jobs.build.version", "equals": 9.0)"), text));
  EXPECT_EQ(DetailOf(yaml(R"("at": "jobs.build.version", "equals": "9.0")"), text),
            "it is the number 9.0, not the string \"9.0\"");
  EXPECT_TRUE(Passes(yaml(R"("at": "jobs.build.version", "one_of": ["9.0", 9.0])"), text));
  EXPECT_EQ(DetailOf(yaml(R"("at": "a", "equals": 9.0)"), "a: \"9.0\""),
            "it is the string \"9.0\", not the number 9.0");
  EXPECT_TRUE(Passes(yaml(R"("at": "jobs.build.on", "equals": true)"), text));
  EXPECT_EQ(DetailOf(yaml(R"("at": "jobs.build.name", "equals": "y")"), text), "it is \"x\"");
  EXPECT_EQ(DetailOf(yaml(R"("at": "a", "equals": 2)"), "a: 1"), "it is 1");
}

TEST(ValueCheck, WhatIsNoData) {
  EXPECT_THAT(DetailOf(JsonCheck(R"("at": "a")"), "none"), Eq("the answer is not JSON (line 1, column 1)"));
  EXPECT_THAT(DetailOf(Toml(R"("at": "a")"), "a = \n= 2"), StartsWith("the answer is not TOML (line 1, column"));
  EXPECT_THAT(DetailOf(SpecFrom(R"({"type": "yaml_value", "at": "a"})"), "a: [1"),
              StartsWith("the answer is not YAML"));
  EXPECT_THAT(DetailOf(JsonCheck(R"("at": "a")"), std::string(300, '[')), StartsWith("the answer is not JSON"));
  EXPECT_THAT(DetailOf(JsonCheck(R"("at": "a")"), "\"" + std::string(2U << 20U, 'a') + "\""),
              HasSubstr("more than 1 MiB"));
  EXPECT_THAT(DetailOf(Toml(R"("at": "a")"), "a = " + std::string(5000, '[')), StartsWith("the answer is not TOML"));
}

TEST(ValueCheck, InAFile) {
  const CheckSpec spec = JsonCheck(R"("file": "a.json", "at": "x", "equals": 1)");
  EXPECT_TRUE(Passes(spec, "```json a.json\n{\"x\": 1}\n```\n```json b.json\n{\"x\": 2}\n```\n"));
  EXPECT_EQ(DetailOf(spec, "```json b.json\n{\"x\": 1}\n```\n"), "the answer has no file a.json");
}

TEST(ValueCheck, Malformed) {
  EXPECT_THAT(ErrorOf(Toml(R"("equals": 1)")), HasSubstr("toml_value needs \"at\""));
  EXPECT_THAT(ErrorOf(Toml(R"("at": "a", "equals": 1, "exists": true)")), HasSubstr("takes only one of"));
  EXPECT_THAT(ErrorOf(Toml(R"("at": "a", "one_of": [])")), HasSubstr("\"one_of\" must be a list"));
  EXPECT_THAT(ErrorOf(Toml(R"("at": "a", "pattern": "(")")), HasSubstr("regex \"(\""));
  EXPECT_THAT(ErrorOf(Toml(R"("at": "a", "exists": "yes")")), HasSubstr("must be true or false"));
  for (const char* path : {"a.", ".a", "a..b", "a[0", "'a", "a[-1]", "a[b]", "a['b'c]", "a[0]b", "$.a", "$"})
    EXPECT_THAT(ErrorOf(Toml(R"("at": ")" + std::string(path) + "\"")), AllOf(HasSubstr("\"at\""), HasSubstr(path)));
}

TEST(ValueCheck, PathsWithQuotedKeysInBrackets) {
  EXPECT_TRUE(
      Passes(JsonCheck(R"("at": "a['b.c'][\"$d\"][0].*", "equals": 1)"), R"({"a": {"b.c": {"$d": [[2, 1]]}}})"));
  EXPECT_TRUE(Passes(JsonCheck(R"("at": "$schema", "equals": 1)"), R"({"$schema": 1})"));
  EXPECT_TRUE(Passes(JsonCheck(R"("at": "a.*[*]", "equals": 3)"), R"({"a": [[1], [2, 3]]})"));
}

TEST(ValueCheck, NumbersAreComparedExactly) {
  EXPECT_FALSE(Passes(JsonCheck(R"("at": "a", "equals": 18446744073709551615)"), R"({"a": -1})"));
  EXPECT_FALSE(Passes(JsonCheck(R"("at": "a", "equals": [18446744073709551615])"), R"({"a": [-1]})"));
  EXPECT_FALSE(Passes(JsonCheck(R"("at": "a", "equals": 9007199254740993)"), R"({"a": 9007199254740992.0})"));
  EXPECT_TRUE(Passes(JsonCheck(R"("at": "a", "equals": 9007199254740993)"), R"({"a": 9007199254740993})"));
  EXPECT_TRUE(Passes(JsonCheck(R"("at": "a", "equals": 1e3)"), R"({"a": 1000})"));
  EXPECT_TRUE(Passes(Toml(R"("at": "a", "equals": "inf")"), "a = inf"));
  EXPECT_FALSE(Passes(Toml(R"("at": "a", "equals": null)"), "a = nan"));
}

TEST(ValueCheck, ScalarsOfYaml) {
  const auto yaml = [](const std::string& rest) { return SpecFrom(R"({"type": "yaml_value", )" + rest + "}"); };
  EXPECT_TRUE(Passes(yaml(R"("at": "ports", "equals": [80, 443])"), "ports: [80, 443]"));
  EXPECT_TRUE(Passes(yaml(R"("at": "a", "equals": {"x": 1, "y": [true, "z"]})"), "a:\n  y: [True, z]\n  x: 1.0"));
  EXPECT_TRUE(Passes(yaml(R"("at": "a", "equals": 9)"), "a: 9.0"));
  EXPECT_TRUE(Passes(yaml(R"("at": "a", "equals": false)"), "a: FALSE"));
  EXPECT_TRUE(Passes(yaml(R"("at": "a", "equals": "True")"), "a: \"True\"")) << "quoted: a string";
  EXPECT_FALSE(Passes(yaml(R"("at": "a", "equals": 9)"), "a: 9b"));
  EXPECT_FALSE(Passes(yaml(R"("at": "a", "equals": [1])"), "a: [1, 2]"));
  EXPECT_TRUE(Passes(yaml(R"("at": "a", "equals": "one\ntwo\n")"), "a: |\n  one\n  two\n"));
}

TEST(ValueCheck, AliasesAndDocumentsOfYaml) {
  const auto yaml = [](const std::string& rest) { return SpecFrom(R"({"type": "yaml_value", )" + rest + "}"); };
  std::string shared = "base: &base\n  text: " + std::string(2'000, 'x') + "\n";
  for (int i = 0; i < 4; ++i) shared += "copy" + std::to_string(i) + ": *base\n";
  EXPECT_TRUE(Passes(yaml(R"("at": "copy3.text", "pattern": "^x+$")"), shared));
  EXPECT_EQ(DetailOf(yaml(R"("at": "a", "equals": 1)"), "a: 1\n---\na: 2\n"),
            "the answer is not YAML: a second document follows; a check reads one only");
  EXPECT_TRUE(Passes(yaml(R"("at": "a", "equals": 1)"), "---\na: 1\n---\n")) << "an empty document";
}

TEST(ValueCheck, NullIsAValueToExpect) {
  const CheckSpec null = SpecFrom(R"({"type": "json_value", "at": "a", "equals": null})");
  EXPECT_TRUE(Passes(null, R"({"a": null})"));
  EXPECT_FALSE(Passes(null, R"({"a": 5})"));
}

TEST(JsonSchemaCheck, TheAnswersDataFits) {
  const CheckSpec spec = SpecFrom(
      R"({"type": "json_schema", "schema": {"type": "object", "required": ["name"], "properties": {"name": {"pattern": "^[a-z]+$"}}}})");
  EXPECT_TRUE(Passes(spec, "Here:\n```json\n{\"name\": \"relu\"}\n```\n"));
  EXPECT_EQ(DetailOf(spec, "{}"), "the answer: is missing the key \"name\"");
  EXPECT_THAT(DetailOf(spec, R"({"name": "X"})"), HasSubstr("/name: is \"X\", which doesn't match the pattern"));
  EXPECT_THAT(DetailOf(spec, "prose"), StartsWith("the answer is not JSON"));
}

TEST(JsonSchemaCheck, InAllOfTheAnswerOrAnywhere) {
  const CheckSpec whole = SpecFrom(R"({"type": "json_schema", "schema": {"required": ["a"]}, "in": "whole"})");
  EXPECT_TRUE(Passes(whole, " {\"a\": 1}\n"));
  EXPECT_FALSE(Passes(whole, "```json\n{\"a\": 1}\n```"));
  EXPECT_FALSE(Passes(whole, "{\"a\": 1} as asked"));
  const CheckSpec anywhere = SpecFrom(R"({"type": "json_schema", "schema": {"required": ["a"]}, "in": "anywhere"})");
  EXPECT_TRUE(Passes(anywhere, "The result is {\"a\": 1} as asked."));
  EXPECT_TRUE(Passes(anywhere, "Not {x} nor {\"b\": \"}\"}, but [{\"a\": 1}] or {\"a\": {}}."));
  EXPECT_TRUE(Passes(anywhere, "```json\n{\"a\": 1}\n```"));
  EXPECT_FALSE(Passes(anywhere, "{\"b\": 1} and {\"a\": 1"));
  EXPECT_EQ(DetailOf(anywhere, "none"), "no valid JSON object or array was found in it");
  EXPECT_FALSE(Passes(anywhere, std::string(200'000, '{'))) << "within the time of a test";
  EXPECT_THAT(ErrorOf(SpecFrom(R"({"type": "json_schema", "schema": {}, "in": "all"})")),
              HasSubstr("whole and anywhere"));
}

TEST(JsonSchemaCheck, Malformed) {
  EXPECT_THAT(ErrorOf(SpecFrom(R"({"type": "json_schema"})")), HasSubstr("needs a \"schema\""));
  EXPECT_THAT(ErrorOf(SpecFrom(R"({"type": "json_schema", "schema": {"items": {"type": "objct"}}})")),
              HasSubstr("the schema's \"type\" can't be \"objct\"; did you mean \"object\"?"));
  EXPECT_THAT(ErrorOf(SpecFrom(R"({"type": "json_schema", "schema": {"items": {"pattern": "("}}})")),
              HasSubstr("the schema's pattern \"(\": missing )"));
}

}  // namespace
}  // namespace upskill
