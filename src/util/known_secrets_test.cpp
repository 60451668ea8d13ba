// SPDX-License-Identifier: Apache-2.0
#include "util/known_secrets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "util/append_file.h"
#include "util/base64.h"
#include "util/files.h"
#include "util/log.h"
#include "util/temp_folder.h"

namespace upskill {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// Each test has secrets of its own, because none is ever forgotten.
std::string Feed(const std::vector<std::string>& pieces) {
  SecretStreamMask mask;
  std::string text;
  for (const std::string& piece : pieces) text += mask.Feed(piece);
  return text.append(mask.Rest());
}

TEST(KnownSecrets, AreMaskedWhereverTheyOccur) {
  RememberSecret(Secret("sk-everywhere-1"));
  EXPECT_EQ(MaskSecrets("a sk-everywhere-1 b sk-everywhere-1sk-everywhere-1"), "a *** b ******");
  EXPECT_EQ(MaskSecrets("sk-everywhere-2"), "sk-everywhere-2");
  EXPECT_TRUE(HasKnownSecret("xsk-everywhere-1x"));
  EXPECT_FALSE(HasKnownSecret("sk-everywhere-"));
  EXPECT_FALSE(HasKnownSecret(""));
}

TEST(KnownSecrets, AreMaskedAsOtherFormatsWriteThem) {
  RememberSecret(Secret(R"(p/w+d"q\r&s=7)"));
  EXPECT_EQ(MaskSecrets("?k=p%2Fw%2Bd%22q%5Cr%26s%3D7."), "?k=***.");
  EXPECT_EQ(MaskSecrets("?k=p%2fw%2bd%22q%5cr%26s%3d7."), "?k=***.");
  EXPECT_EQ(MaskSecrets(R"({"k":"p/w+d\"q\\r&s=7"})"), R"({"k":"***"})");
  EXPECT_EQ(MaskSecrets(R"({"k":"p\/w+d\"q\\r&s=7"})"), R"({"k":"***"})");
  EXPECT_EQ(MaskSecrets(R"(<b title="p/w+d&quot;q\r&amp;s=7">)"), R"(<b title="***">)");
}

// A model that wants to give a key away can write it so, and whoever reads its answer can read the key.
TEST(KnownSecrets, AreMaskedWithEveryCharacterEscaped) {
  RememberSecret(Secret("Key/o-12"));
  EXPECT_EQ(MaskSecrets(R"("\u004b\u0065\u0079\u002f\u006f\u002d\u0031\u0032")"), R"("***")");
  EXPECT_EQ(MaskSecrets(R"("\u004B\u0065\u0079\u002F\u006F\u002D\u0031\u0032")"), R"("***")");
  EXPECT_EQ(MaskSecrets("<b>&#75;&#101;&#121;&#47;&#111;&#45;&#49;&#50;</b>"), "<b>***</b>");
  EXPECT_EQ(MaskSecrets("<b>&#x4b;&#x65;&#x79;&#x2f;&#x6f;&#x2d;&#x31;&#x32;</b>"), "<b>***</b>");
  EXPECT_EQ(MaskSecrets("?k=%4B%65%79%2F%6F%2D%31%32."), "?k=***.");
  EXPECT_EQ(MaskSecrets("0x4b65792f6f2d3132!"), "0x***!");
  EXPECT_EQ(MaskSecrets("0x4B65792F6F2D3132!"), "0x***!");
}

TEST(KnownSecrets, AreMaskedWhenEncodedTwice) {
  RememberSecret(Secret(R"(n"o&p-13)"));
  EXPECT_EQ(MaskSecrets("?k=n%2522o%2526p-13."), "?k=***.");
  EXPECT_EQ(MaskSecrets("?k=%256e%2522%256f%2526%2570%252d%2531%2533."), "?k=***.");
  EXPECT_EQ(MaskSecrets(R"("n\\\"o&p-13")"), R"("***")");
  EXPECT_EQ(MaskSecrets(R"("\\u006e\\u0022\\u006f\\u0026\\u0070\\u002d\\u0031\\u0033")"), R"("***")");
  EXPECT_EQ(MaskSecrets("<b>n&amp;quot;o&amp;amp;p-13</b>"), "<b>***</b>");
}

TEST(KnownSecrets, AreMaskedInBase64AtEveryOffset) {
  const std::string secret = "sk-base64-~o~~>~-5";
  RememberSecret(Secret(secret));
  for (const std::string before : {"", "u", "us", "user:", "another-user:"}) {
    for (const std::string after : {"", "x", "xy", " and more"}) {
      const std::string masked = MaskSecrets("Basic " + EncodeBase64(before + secret + after));
      EXPECT_THAT(masked, HasSubstr("***")) << before << after;
      // What is left of it are at most the digits that it shares with other bytes.
      EXPECT_LE(masked.size(), EncodeBase64(before).size() + EncodeBase64(after).size() + 6 + 3 + 4) << masked;
    }
  }
  EXPECT_EQ(MaskSecrets("c2stYmFzZTY0LX5vfn4-fi01"), "***");
}

TEST(KnownSecrets, WordsAndNumbersAreNot) {
  for (const char* value : {"local", "1234567", "20240101", "-1234.5e+10", ""}) {
    RememberSecret(Secret(value));
    EXPECT_EQ(MaskSecrets(std::string("x") + value), std::string("x") + value);
  }
}

TEST(KnownSecrets, AStreamKeepsTheStartOfASecretBack) {
  const std::string secret = "sk-sk-stream-8";
  RememberSecret(Secret(secret));
  const std::string text = "key sk-" + secret + " and sk-sk-" + secret + "!";
  const std::string masked = "key sk-*** and sk-sk-***!";
  EXPECT_EQ(Feed({text}), masked);
  for (std::size_t i = 0; i <= text.size(); ++i) {
    EXPECT_EQ(Feed({text.substr(0, i), text.substr(i)}), masked) << i;
  }
  std::vector<std::string> bytes;
  for (const char c : text) bytes.emplace_back(1, c);
  EXPECT_EQ(Feed(bytes), masked);
  EXPECT_EQ(Feed({"ends in sk-sk-str"}), "ends in sk-sk-str");
}

TEST(KnownSecrets, AStreamDelaysNothingElse) {
  RememberSecret(Secret("sk-delayed-9"));
  SecretStreamMask mask;
  EXPECT_EQ(mask.Feed("data: {}\n\n"), "data: {}\n\n");
  EXPECT_EQ(mask.Feed("sk-del"), "");
  EXPECT_EQ(mask.Feed("icious!"), "sk-delicious!");
  EXPECT_EQ(mask.Rest(), "");
}

TEST(KnownSecrets, AreNeitherWrittenNorLogged) {
  const TempFolder folder;
  const std::string secret = "sk-written-10";
  RememberSecret(Secret(secret));
  ASSERT_TRUE(WriteFileAtomically(folder.path() / "report", "a " + secret + " b").ok());
  EXPECT_EQ(*ReadFile(folder.path() / "report"), "a *** b");
  {
    Result<AppendFile> journal = AppendFile::Open(folder.path() / "journal", false);
    ASSERT_TRUE(journal.ok());
    ASSERT_TRUE(journal->Append("{\"text\":\"" + secret + "\"}\n").ok());
    ASSERT_TRUE(journal->Append("{}\n").ok());
  }
  EXPECT_EQ(*ReadFile(folder.path() / "journal"), "{\"text\":\"***\"}\n{}\n");
  ASSERT_TRUE(SetLogFile(folder.path() / "log"));
  Log("net", "rejected: " + secret);
  ASSERT_TRUE(SetLogFile("/dev/null"));
  EXPECT_THAT(*ReadFile(folder.path() / "log"), AllOf(HasSubstr("rejected: ***"), Not(HasSubstr(secret))));
}

}  // namespace
}  // namespace upskill
