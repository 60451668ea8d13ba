// SPDX-License-Identifier: Apache-2.0
#include "util/yaml_faults.h"

#include <gtest/gtest.h>

#include "util/yaml.h"

namespace upskill {
namespace {

std::string ErrorOf(const std::string& text) {
  const Result<Json> parsed = ParseYaml(text, "a.yaml");
  return parsed ? "" : parsed.error().message;
}

TEST(YamlFaults, QuotesThatAreNeverClosed) {
  EXPECT_EQ(ErrorOf("input: \"say a"), "a.yaml:1:8: not YAML: the quotation mark \" is never closed");
  EXPECT_EQ(ErrorOf("a: b\nü: 'it''s\n"), "a.yaml:2:5: not YAML: the quotation mark ' is never closed");
  EXPECT_EQ(ErrorOf("a: \"x\\\"\n"), "a.yaml:1:4: not YAML: the quotation mark \" is never closed");
  EXPECT_EQ(ErrorOf("a: ''\nb: 'it''s'\nc: \"x\\\"\"\n"), "");
}

TEST(YamlFaults, QuotesThatTakeInOtherKeys) {
  const std::string reason = "not YAML: the quotation mark \" isn't closed before the next key or list item";
  EXPECT_EQ(ErrorOf("cases:\n  - input: \"x\n    expected: say\n    other: \"\n"), "a.yaml:2:12: " + reason);
  EXPECT_EQ(ErrorOf("- \"x\n- y\"\n"), "a.yaml:1:3: " + reason);
  EXPECT_EQ(ErrorOf("a: \"x\n  note: this is text\"\nb: [\"x\nnote: too\"]\n"), "") << "indented, and in flow style";
  EXPECT_EQ(ErrorOf("a: \"x\n\n  y\"\n"), "");
}

TEST(YamlFaults, SaysInPlainWordsWhatIsWrong) {
  EXPECT_EQ(ErrorOf("a: [1, 2\n"), "a.yaml:2:1: not YAML: `[` is never closed, or a comma is missing in the list");
  EXPECT_EQ(PlainYamlReason("the referenced anchor is not defined: word"), "the referenced anchor is not defined");
  EXPECT_EQ(PlainYamlReason("something new"), "something new");
}

}  // namespace
}  // namespace upskill
