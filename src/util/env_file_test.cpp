// SPDX-License-Identifier: Apache-2.0
#include "util/env_file.h"

#include <gmock/gmock.h>

#include <string>
#include <utility>
#include <vector>

namespace upskill {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

using Pairs = std::vector<std::pair<std::string, std::string>>;

Pairs Read(std::string_view text) {
  Pairs pairs;
  for (const EnvLine& line : ParseEnvFile(text).lines) pairs.emplace_back(line.name, line.value);
  return pairs;
}

// Lines of python-dotenv's own tests, with what it reads there.
TEST(ParseEnvFile, AsPythonDotenv) {
  struct Example {
    const char* text;
    Pairs read;
  };
  const std::vector<Example> examples = {
      {"", {}},
      {"a=b", {{"a", "b"}}},
      {"'a'=b", {{"a", "b"}}},
      {"[=b", {{"[", "b"}}},
      {" a = b ", {{"a", "b"}}},
      {"export a=b", {{"a", "b"}}},
      {" export 'a'=b", {{"a", "b"}}},
      {"# a=b", {}},
      {"a=b#c", {{"a", "b#c"}}},
      {"a=b #c", {{"a", "b"}}},
      {"a=b\t#c", {{"a", "b"}}},
      {"a= # c", {{"a", ""}}},
      {"a=#c", {{"a", "#c"}}},
      {"a=b c", {{"a", "b c"}}},
      {"a=b\tc", {{"a", "b\tc"}}},
      {"a=b  c", {{"a", "b  c"}}},
      {"a=b\xC2\xA0 c", {{"a", "b\xC2\xA0 c"}}},
      {"a=b c ", {{"a", "b c"}}},
      {"a='b c '", {{"a", "b c "}}},
      {"a=\"b c \"", {{"a", "b c "}}},
      {"export export_a=1", {{"export_a", "1"}}},
      {"export port=8000", {{"port", "8000"}}},
      {"a=\"b\nc\"", {{"a", "b\nc"}}},
      {"a='b\nc'", {{"a", "b\nc"}}},
      {"a=\"b\\nc\"", {{"a", "b\nc"}}},
      {"a='b\\nc'", {{"a", "b\\nc"}}},
      {"a=\"b\\\"c\"", {{"a", "b\"c"}}},
      {"a='b\\'c'", {{"a", "b'c"}}},
      {"a=\xC3\xA0", {{"a", "\xC3\xA0"}}},
      {"a=\"\xC3\xA0\"", {{"a", "\xC3\xA0"}}},
      {"no_value_var", {}},
      {"a: b", {}},
      {"a=b\nc=d", {{"a", "b"}, {"c", "d"}}},
      {"a=b\rc=d", {{"a", "b"}, {"c", "d"}}},
      {"a=b\r\nc=d", {{"a", "b"}, {"c", "d"}}},
      {"a=\nb=c", {{"a", ""}, {"b", "c"}}},
      {"\n\n", {}},
      {"a=b\n\n", {{"a", "b"}}},
      {"a=b\n\nc=d", {{"a", "b"}, {"c", "d"}}},
      {"a=\"\nb=c", {{"b", "c"}}},
      {"# comment\na=\"b\nc\"\nd=e\n", {{"a", "b\nc"}, {"d", "e"}}},
      {"a=b\n# comment 1", {{"a", "b"}}},
      {"a='\\''\nb='c d'#", {{"a", "'"}, {"b", "c d"}}},
      {"\xEF\xBB\xBF"
       "a=b",
       {{"a", "b"}}},
  };
  for (const Example& example : examples) EXPECT_EQ(Read(example.text), example.read) << example.text;
}

TEST(ParseEnvFile, NamesLines) {
  const EnvFileText file = ParseEnvFile("# keys\r\na=b\r\n\r\nnot a line\r\nc=\"d\ne\"\nf='g\n");
  ASSERT_EQ(file.lines.size(), 2U);
  EXPECT_EQ(file.lines[0].line, 2U);
  EXPECT_EQ(file.lines[1].line, 5U);
  EXPECT_THAT(file.unreadable, ElementsAre(4U, 7U));
}

TEST(ParseEnvFile, DoesNotExpand) { EXPECT_EQ(Read("a=${b}\nc=\"$d\""), (Pairs{{"a", "${b}"}, {"c", "$d"}})); }

// Every line may begin a value that has no end.
TEST(ParseEnvFile, HostileQuotes) {
  std::string text;
  while (text.size() < kMaxEnvFileBytes) text += "a=\\\"\nb=\"\\\"\n'\n='\n";
  EXPECT_FALSE(ParseEnvFile(text).unreadable.empty());
  EXPECT_THAT(Read(std::string(kMaxEnvFileBytes, '\'')), IsEmpty());
  EXPECT_THAT(Read(std::string(1000, '\0')), IsEmpty());
}

}  // namespace
}  // namespace upskill
