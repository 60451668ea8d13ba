// SPDX-License-Identifier: Apache-2.0
#include "check/literal_search.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <re2/re2.h>

#include <string>
#include <vector>

#include "skill/unicode_text.h"
#include "util/rng.h"

namespace upskill {
namespace {

std::vector<bool> Find(const std::vector<std::string>& literals, const std::string& text) {
  LiteralSearch search;
  for (const std::string& literal : literals) search.Add(literal);
  search.Finish();
  return search.FindIn(text);
}

// Strings of few letters overlap, contain each other and repeat in every way.
TEST(LiteralSearch, FindsTheSameAsOneByOne) {
  Rng rng(1);
  const auto word = [&](std::size_t longest) {
    std::string text;
    for (std::size_t left = 1 + rng.Next() % longest; left > 0; --left) text += "abAé"[rng.Next() % 3];
    return text;
  };
  for (int attempt = 0; attempt < 300; ++attempt) {
    std::vector<std::string> literals;
    for (std::size_t left = 1 + rng.Next() % 30; left > 0; --left) literals.push_back(word(8));
    const std::string text = word(40);
    const std::vector<bool> found = Find(literals, text);
    for (std::size_t i = 0; i < literals.size(); ++i)
      EXPECT_EQ(found[i], FoldCase(text).find(FoldCase(literals[i])) != std::string::npos)
          << literals[i] << " " << text;
  }
}

TEST(LiteralSearch, SuffixesOfOtherStrings) {
  const std::vector<std::string> literals = {"abcdef", "bcde", "cd", "d", "abcx", "xyz", "ef", "f", "ABCDEF", "zz"};
  EXPECT_EQ(Find(literals, "..abcde.."),
            (std::vector<bool>{false, true, true, true, false, false, false, false, false, false}));
  EXPECT_EQ(Find(literals, "abcdef"),
            (std::vector<bool>{true, true, true, true, false, false, true, true, true, false}));
  EXPECT_EQ(Find(literals, ""), std::vector<bool>(10, false));
}

// The folding agrees with RE2's, for every character that folds.
TEST(FoldCase, FoldsAsRe2Does) {
  int folded = 0;
  for (char32_t c = 0; c < 0x110000; ++c) {
    if (c >= 0xD800 && c <= 0xDFFF) continue;
    const std::string text = EncodeUtf8(std::u32string(1, c));
    const std::string other = FoldCase(text);
    if (other == text) continue;
    ++folded;
    EXPECT_EQ(FoldCase(other), other);
    RE2::Options options;
    options.set_case_sensitive(false);
    EXPECT_TRUE(RE2::FullMatch(text, RE2(RE2::QuoteMeta(other), options))) << fmt::format("U+{:04X}", unsigned{c});
  }
  EXPECT_EQ(folded, 1454);
}

TEST(FoldCase, LeavesInvalidUtf8AsItIs) { EXPECT_EQ(FoldCase("\xFFZ\xC3Z\xE2\x82"), "\xFFz\xC3z\xE2\x82"); }

}  // namespace
}  // namespace upskill
