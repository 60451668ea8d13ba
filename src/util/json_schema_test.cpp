// SPDX-License-Identifier: Apache-2.0
#include "util/json_schema.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace upskill {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

struct Case {
  const char* schema;
  const char* value;
  const char* error;  // null: it fits
};

TEST(CheckJsonSchema, Keywords) {
  for (const Case& c : {
           Case{R"({"type":"object"})", "{}", nullptr},
           Case{R"({"type":"object"})", "[]", "must be of type \"object\", but is a list"},
           Case{R"({"type":["string","null"]})", "null", nullptr},
           Case{R"({"type":["string","null"]})", "1", "but is a number"},
           Case{R"({"type":"integer"})", "2.0", nullptr},
           Case{R"({"type":"integer"})", "2.5", "must be of type \"integer\""},
           Case{R"({"required":["a"]})", R"({"b":1})", "is missing the key \"a\""},
           Case{R"({"required":["a"]})", "3", nullptr},
           Case{R"({"properties":{"a":{}},"additionalProperties":false})", R"({"a":1})", nullptr},
           Case{R"({"properties":{"a":{}},"additionalProperties":false})", R"({"a":1,"b/c":1})", "/b~1c: unknown key"},
           Case{R"({"additionalProperties":{"type":"number"}})", R"({"x":"y"})", "/x: must be of type \"number\""},
           Case{R"({"items":{"type":"string"}})", R"(["a",1])", "/1: must be of type"},
           Case{R"({"enum":["yes","no"]})", R"("no")", nullptr},
           Case{R"({"enum":["yes","no"]})", R"("maybe")", "must be one of [\"yes\",\"no\"], but is \"maybe\""},
           Case{R"({"const":{"a":1,"b":2}})", R"({"b":2,"a":1})", nullptr},
           Case{R"({"const":1})", "2", "must be 1, but is 2"},
           Case{R"({"minLength":2,"maxLength":3})", R"("äöü")", nullptr},
           Case{R"({"minLength":2})", R"("ä")", "has 1 characters, but must have at least 2"},
           Case{R"({"maxLength":3})", R"("abcd")", "at most 3"},
           Case{R"({"minItems":1})", "[]", "at least 1"},
           Case{R"({"maxItems":1})", "[1,2]", "at most 1"},
           Case{R"({"minimum":0,"maximum":1})", "0.5", nullptr},
           Case{R"({"minimum":0})", "-1", "is -1, but must be at least 0"},
           Case{R"({"maximum":1})", "2", "must be at most 1"},
           Case{R"({"anyOf":[{"type":"string"},{"type":"number"}]})", "1", nullptr},
           Case{R"({"anyOf":[{"type":"string"},{"type":"number"}]})", "true",
                "matches none of the alternatives of anyOf"},
           Case{R"({"oneOf":[{"minimum":0},{"type":"number"}]})", "1", "matches more than one alternative of oneOf"},
           Case{R"({"allOf":[{"type":"number"},{"maximum":1}]})", "5", "at most 1"},
           Case{R"({"$ref":"#/$defs/n","$defs":{"n":{"type":"number"}}})", R"("x")", "must be of type \"number\""},
           Case{R"({"$ref":"#/nowhere"})", "1", "unresolvable"},
           Case{R"({"$ref":"https://example.org/x"})", "1", "unresolvable"},
           Case{R"({"exclusiveMinimum":0})", "0", "is 0, but must be above 0"},
           Case{R"({"exclusiveMaximum":1})", "0.9", nullptr},
           Case{R"({"multipleOf":0.1})", "0.3", nullptr},
           Case{R"({"multipleOf":2})", "3", "must be a multiple of 2"},
           Case{R"({"multipleOf":0.123456789})", "1e308", "must be a multiple of"},
           Case{R"({"pattern":"^a+$"})", R"("aaa")", nullptr},
           Case{R"({"pattern":"^a+$"})", "12", nullptr},
           Case{R"({"pattern":"^a+$"})", R"("b")", "which doesn't match the pattern \"^a+$\""},
           Case{R"({"pattern":"("})", R"("b")", "not in RE2 syntax"},
           Case{R"({"minProperties":1})", "{}", "has 0 keys, but must have at least 1"},
           Case{R"({"maxProperties":1})", R"({"a":1,"b":2})", "at most 1"},
           Case{R"({"propertyNames":{"maxLength":2}})", R"({"abc":1})", "/abc: has 3 characters"},
           Case{R"({"patternProperties":{"^x":{"type":"number"}},"additionalProperties":false})", R"({"x1":2})",
                nullptr},
           Case{R"({"patternProperties":{"^x":{"type":"number"}},"additionalProperties":false})", R"({"y":2})",
                "/y: unknown key"},
           Case{R"({"patternProperties":{"^x":{"type":"number"}}})", R"({"x1":"a"})", "/x1: must be of type"},
           Case{R"({"dependentRequired":{"a":["b"]}})", R"({"a":1})", "is missing the key \"b\""},
           Case{R"({"dependentRequired":{"a":["b"]}})", R"({"c":1})", nullptr},
           Case{R"({"dependentSchemas":{"a":{"required":["b"]}}})", R"({"a":1})", "is missing the key \"b\""},
           Case{R"({"dependencies":{"a":["b"],"c":{"maxProperties":1}}})", R"({"c":1,"d":2})", "at most 1"},
           Case{R"({"prefixItems":[{"type":"number"}],"items":{"type":"string"}})", R"([1,"a","b"])", nullptr},
           Case{R"({"prefixItems":[{"type":"number"}],"items":false})", R"([1,"a"])", "/1: no value is allowed"},
           Case{R"({"items":[{"type":"number"}],"additionalItems":false})", "[1,2]", "/1: no value is allowed"},
           Case{R"({"items":[{"type":"number"}]})", R"([1,"x"])", nullptr},
           Case{R"({"contains":{"const":1}})", "[2,1]", nullptr},
           Case{R"({"contains":{"const":1}})", "[2]", "has 0 items that fit"},
           Case{R"({"contains":{"const":1},"minContains":0})", "[2]", nullptr},
           Case{R"({"contains":{"const":1},"maxContains":1})", "[1,1]", "has 2 items that fit"},
           Case{R"({"uniqueItems":true})", R"([1,2,{"a":1,"b":2}])", nullptr},
           Case{R"({"uniqueItems":true})", "[1,1.0]", "twice"},
           Case{R"({"uniqueItems":true})", R"([{"a":1,"b":2},{"b":2,"a":1}])", "twice"},
           Case{R"({"not":{"type":"string"}})", "1", nullptr},
           Case{R"({"not":{"type":"string"}})", R"("a")", "which fits the schema of \"not\""},
           Case{R"({"if":{"minimum":10},"then":{"multipleOf":10},"else":{"maximum":5}})", "20", nullptr},
           Case{R"({"if":{"minimum":10},"then":{"multipleOf":10},"else":{"maximum":5}})", "15", "a multiple of 10"},
           Case{R"({"if":{"minimum":10},"then":{"multipleOf":10},"else":{"maximum":5}})", "7", "at most 5"},
           Case{R"({"format":"date"})", R"("no date")", nullptr},
           Case{"true", "1", nullptr},
           Case{"false", "1", "no value is allowed"},
       }) {
    const Status status = CheckJsonSchema(Json::parse(c.schema), Json::parse(c.value));
    if (c.error == nullptr) {
      EXPECT_TRUE(status.ok()) << c.schema << " " << c.value;
    } else {
      ASSERT_FALSE(status.ok()) << c.schema << " " << c.value;
      EXPECT_THAT(status.error().message, HasSubstr(c.error)) << c.schema;
    }
  }
}

TEST(CheckJsonSchema, NamesTheNestedPlace) {
  const Json schema = Json::parse(
      R"({"type":"object","properties":{"cases":{"type":"array","items":{"type":"object","required":["input"],
      "properties":{"input":{"type":"string","minLength":1}}}}}})");
  const Status status = CheckJsonSchema(schema, Json::parse(R"({"cases":[{"input":"a"},{"input":""}]})"));
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.error().message, HasSubstr("/cases/1/input: has 0 characters"));
}

TEST(CheckJsonSchema, EndlessSchemasEnd) {
  EXPECT_FALSE(CheckJsonSchema(Json::parse(R"({"$ref":"#"})"), Json(1)).ok());
  // Every level doubles the work.
  const Json doubling = Json::parse(R"({"anyOf":[{"$ref":"#"},{"$ref":"#"}]})");
  EXPECT_FALSE(CheckJsonSchema(doubling, Json(1)).ok());
  for (const char* odd : {R"({"type":7})", R"({"enum":"x"})", R"({"required":3,"properties":[],"items":4,"anyOf":{}})",
                          "7", R"({"minimum":"x"})"}) {
    const Status status = CheckJsonSchema(Json::parse(odd), Json::parse(R"({"a":[1]})"));
    static_cast<void>(status);  // either, but it comes back
  }
}

TEST(CheckJsonSchema, ALimitIsNoVerdict) {
  for (const char* schema : {R"({"not":{"$ref":"#"}})", R"({"not":{"$ref":"#/not"}})",
                             R"({"if":{"$ref":"#/if"},"else":true})", R"({"anyOf":[{"$ref":"#/anyOf/0"},true]})"}) {
    const Status status = CheckJsonSchema(Json::parse(schema), Json::parse("[1]"));
    ASSERT_FALSE(status.ok()) << schema;
    EXPECT_THAT(status.error().message, HasSubstr("can't be judged")) << schema;
  }
  Json many = {{"not", {{"items", {{"enum", Json::array()}}}}}};
  for (int i = 0; i < 5'000; ++i) many["not"]["items"]["enum"].push_back(i);
  const Status status = CheckJsonSchema(many, Json(std::vector<int>(100, 7)));
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.error().message, HasSubstr("too many alternatives"));
}

TEST(CheckSchemaItself, NamesKeywordsWithWrongValues) {
  struct Wrong {
    const char* schema;
    const char* error;
  };
  for (const Wrong& wrong : {
           Wrong{R"({"required":"name"})", R"("required" must be a list of strings, not "name")"},
           Wrong{R"({"properties":{"a":{"minLength":"2"}}})", R"("minLength" must be a number from 0, not "2")"},
           Wrong{R"({"exclusiveMinimum":true,"minimum":1})", R"("exclusiveMinimum" must be a number, not true)"},
           Wrong{R"({"properties":["a"]})", R"("properties" must be an object whose values are schemas)"},
           Wrong{R"({"anyOf":[]})", R"("anyOf" must be a list of schemas)"},
           Wrong{R"({"items":{"not":"string"}})", R"("not" must be a schema: an object, true or false)"},
           Wrong{R"({"enum":"x"})", R"("enum" must be a list of values)"},
           Wrong{R"({"$ref":"#/$defs/size"})", R"("$ref" "#/$defs/size" names nothing in it)"},
           Wrong{R"({"$anchor":"a","items":{"$ref":"#a"}})", R"("$ref" "#a" names nothing)"},
           Wrong{R"({"$ref":"https://example.com/size.json"})", "names nothing in it"},
           Wrong{R"({"$dynamicRef":"#a"})", R"("$dynamicRef" is not supported; use "$ref")"},
       }) {
    const Status status = CheckSchemaItself(Json::parse(wrong.schema));
    ASSERT_FALSE(status.ok()) << wrong.schema;
    EXPECT_THAT(status.error().message, HasSubstr(wrong.error)) << wrong.schema;
  }
  EXPECT_TRUE(CheckSchemaItself(Json::parse(R"({"$defs":{"a":{"type":"string"}},"items":{"$ref":"#/$defs/a"},
      "properties":{"required":{"enum":[1]},"enum":{"type":"null"}},"additionalProperties":false})"))
                  .ok());
}

TEST(CheckSchemaItself, FindsPatternsThatRe2Rejects) {
  EXPECT_TRUE(CheckSchemaItself(Json::parse(R"({"properties":{"pattern":{"pattern":"a"}}})")).ok());
  EXPECT_THAT(CheckSchemaItself(Json::parse(R"j({"properties":{"a":{"pattern":"(?=x)"}}})j")).error().message,
              HasSubstr("the schema's pattern \"(?=x)\": "));
  EXPECT_THAT(CheckSchemaItself(Json::parse(R"({"patternProperties":{"[":{}}})")).error().message,
              HasSubstr("missing ]"));
  Json many = Json::array();
  for (int i = 0; i < 1001; ++i) many.push_back({{"pattern", "a"}});
  EXPECT_THAT(CheckSchemaItself({{"anyOf", many}}).error().message, HasSubstr("more than 1,000 patterns"));
}

}  // namespace
}  // namespace upskill
