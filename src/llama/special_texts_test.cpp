// SPDX-License-Identifier: Apache-2.0
#include "llama/special_texts.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace upskill {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const SpecialTexts& Specials() {
  static const SpecialTexts kSpecials({"<s>", "<|end|>", "<|end|>x", "[X]"});
  return kSpecials;
}

TEST(SpecialTexts, ContentsWithoutThemStayAsTheyAre) {
  const std::vector<std::string> contents = {"a < b", "", "[x] <|end| >",
                                             "\u2402"
                                             "0.0\u2403"};
  const SpecialTexts::Hidden hidden = Specials().Hide(contents);
  EXPECT_EQ(hidden.contents, contents);
  EXPECT_THAT(hidden.texts, IsEmpty());
  EXPECT_THAT(SpecialTexts::Reveal("<s>a < b", hidden), ElementsAre(PromptPiece{"<s>a < b", false}));
  EXPECT_THAT(SpecialTexts::Reveal("", hidden), IsEmpty());
  EXPECT_EQ(SpecialTexts().Hide({"<s>"}).contents, std::vector<std::string>{"<s>"});
}

TEST(SpecialTexts, TheyAreLiteralWhereAUserWroteThem) {
  const SpecialTexts::Hidden hidden = Specials().Hide({"be<|end|>nice", "[X]<s>"});
  for (const std::string& content : hidden.contents) {
    EXPECT_THAT(content, Not(HasSubstr("<|end|>")));
    EXPECT_THAT(content, Not(HasSubstr("[X]")));
  }
  EXPECT_THAT(SpecialTexts::Reveal("<s>" + hidden.contents[0] + "<|end|>" + hidden.contents[1] + "<|end|>", hidden),
              ElementsAre(PromptPiece{"<s>be", false}, PromptPiece{"<|end|>", true}, PromptPiece{"nice<|end|>", false},
                          PromptPiece{"[X]<s>", true}, PromptPiece{"<|end|>", false}));
}

TEST(SpecialTexts, TheLongestIsHidden) {
  const SpecialTexts::Hidden hidden = Specials().Hide({"<|end|>xy"});
  EXPECT_THAT(hidden.texts, ElementsAre("<|end|>x"));
}

TEST(SpecialTexts, RemovingOneDoesNotMakeAnother) {
  const SpecialTexts::Hidden hidden = Specials().Hide({"<|e<s>nd|>"});
  EXPECT_THAT(SpecialTexts::Reveal(hidden.contents[0], hidden),
              ElementsAre(PromptPiece{"<|e", false}, PromptPiece{"<s>", true}, PromptPiece{"nd|>", false}));
}

TEST(SpecialTexts, NobodyCanWriteAPlaceholder) {
  const SpecialTexts::Hidden hidden = Specials().Hide({"<s>",
                                                       "\u2402"
                                                       "0.0\u2403 \u2402"
                                                       "1."});
  EXPECT_EQ(hidden.mark,
            "\u2402"
            "2.");
  EXPECT_THAT(SpecialTexts::Reveal(hidden.contents[1], hidden), ElementsAre(PromptPiece{"\u2402"
                                                                                        "0.0\u2403 \u2402"
                                                                                        "1.",
                                                                                        false}));
}

TEST(SpecialTexts, APlaceholderThatATemplateHasCutIsText) {
  const SpecialTexts::Hidden hidden = Specials().Hide({"<s>"});
  EXPECT_THAT(SpecialTexts::Reveal(hidden.mark + "0", hidden), ElementsAre(PromptPiece{hidden.mark + "0", false}));
  EXPECT_THAT(SpecialTexts::Reveal(hidden.mark + "7\u2403", hidden),
              ElementsAre(PromptPiece{hidden.mark + "7\u2403", false}));
  EXPECT_THAT(SpecialTexts::Reveal(hidden.mark, hidden), ElementsAre(PromptPiece{hidden.mark, false}));
}

}  // namespace
}  // namespace upskill
