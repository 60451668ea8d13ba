// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <string>

#include "check/check_makers.h"
#include "support/check_cases.h"

namespace upskill {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

CheckSpec NumberSpec(const char* json) { return SpecFrom(std::string(R"({"type": "number", )") + json + "}"); }

TEST(NumbersIn, ThoseThatStandOnTheirOwn) {
  EXPECT_THAT(NumbersIn("3 and 4.5, then .5 or 1e-3; 2E+2.", ""), ElementsAre(3, 4.5, 0.5, 1e-3, 200));
  EXPECT_THAT(NumbersIn("1,234,567.5 but 1, 2 and 1234,567", ""), ElementsAre(1234567.5, 1, 2, 1234, 567));
  EXPECT_THAT(NumbersIn("-3 (-4) \xE2\x88\x92"
                        "5 x-6 3-5",
                        ""),
              ElementsAre(-3, -4, -5, 6, 3, 5));
  EXPECT_THAT(NumbersIn("sm_90 SXM5 v1.2.3 10.0.0.1 a1b2", ""), IsEmpty());
  EXPECT_THAT(NumbersIn("**42** $7$ \\boxed{8}. `9`", ""), ElementsAre(42, 7, 8, 9));
  EXPECT_THAT(NumbersIn("", ""), IsEmpty());
  EXPECT_THAT(NumbersIn("1e999 2", ""), ElementsAre(2));
}

TEST(NumbersIn, WithAUnit) {
  EXPECT_THAT(NumbersIn("80 GB at 3.35 TB/s, 2TB/s", "TB/s"), ElementsAre(3.35, 2));
  EXPECT_THAT(NumbersIn("12 GBs 13 GB", "GB"), ElementsAre(13));
  EXPECT_THAT(NumbersIn("40% or 50 %", "%"), ElementsAre(40, 50));
  EXPECT_THAT(NumbersIn("3 \xC2\xB5s 4 s", "\xC2\xB5s"), ElementsAre(3));
}

TEST(NumbersIn, BesideTextWithoutBlanks) {
  EXPECT_THAT(NumbersIn("答案是42。", ""), ElementsAre(42));
  EXPECT_THAT(NumbersIn("約1,234円と、値は－３．５です（計７）", ""), ElementsAre(1234, -3.5, 7));
  EXPECT_THAT(NumbersIn("答：「42」，共１，２３４个；5，678；9，10", ""), ElementsAre(42, 1234, 5678, 9, 10));
  EXPECT_THAT(NumbersIn("温度是-5度, 정답은 7입니다, ตอบ9ครับ", ""), ElementsAre(-5, 7, 9));
  EXPECT_THAT(NumbersIn("≈6, “7”, €8, 3.35±0.1, naïve5, ß4", ""), ElementsAre(6, 7, 8, 3.35));
  EXPECT_THAT(NumbersIn("长度为3.5米，宽４　米", "米"), ElementsAre(3.5, 4));
  EXPECT_THAT(NumbersIn("40％, 3.5千米", "%"), ElementsAre(40));
  EXPECT_THAT(NumbersIn("用时12ms完成，共3小时", "ms"), ElementsAre(12));
}

TEST(NumbersIn, DigitsAndSignsOfOtherScripts) {
  EXPECT_THAT(NumbersIn("الجواب هو ٤٢، و٣٫٥ و١٬٠٠٠", ""), ElementsAre(42, 3.5, 1000));
  EXPECT_THAT(NumbersIn("۴۲ ४२ ๔๒", ""), ElementsAre(42, 42, 42));
  EXPECT_THAT(NumbersIn("3−5, −6, x−7", ""), ElementsAre(3, 5, -6, 7));
}

TEST(NumbersIn, PowersOfTenAndHexadecimal) {
  EXPECT_THAT(NumbersIn("1.5 × 10^3, 1.5×10⁻³ m, 2 \\times 10^{4}, 3 * 10^−2, 4·10³", ""),
              ElementsAre(1500, 1.5e-3, 20000, 0.03, 4000));
  EXPECT_THAT(NumbersIn("10^3 or 10², 3 × 4, 2 x 10", ""), ElementsAre(1000, 100, 3, 4, 2, 10));
  EXPECT_THAT(NumbersIn("1.5 × 10^3 kg", "kg"), ElementsAre(1500));
  EXPECT_THAT(NumbersIn("at 0x1F, 0XfF; 0x", ""), ElementsAre(31, 255, 0));
  EXPECT_THAT(NumbersIn("0x20 bytes", "bytes"), ElementsAre(32));
}

TEST(NumberCheck, TheLastNumberWithinTheTolerance) {
  EXPECT_TRUE(Passes(NumberSpec(R"("value": 3.35)"), "Not 3, but 3.35."));
  EXPECT_EQ(DetailOf(NumberSpec(R"("value": 3.35)"), "3.35 or 3"), "the last number is 3");
  EXPECT_TRUE(Passes(NumberSpec(R"("value": 0.3)"), "0.30000000000000004"));
  EXPECT_TRUE(Passes(NumberSpec(R"("value": 100, "tolerance": 2)"), "98"));
  EXPECT_FALSE(Passes(NumberSpec(R"("value": 100, "tolerance": 2)"), "97.9"));
  EXPECT_TRUE(Passes(NumberSpec(R"("value": -200, "relative_tolerance": 0.01)"), "-201.5"));
  EXPECT_TRUE(Passes(NumberSpec(R"("value": 100, "relative_tolerance": 0.001, "tolerance": 5)"), "104"));
  EXPECT_TRUE(Passes(NumberSpec(R"("value": 0, "tolerance": 0)"), "0.0"));
  EXPECT_TRUE(Passes(NumberSpec(R"("minimum": 2, "maximum": 4)"), "It is 4"));
  EXPECT_FALSE(Passes(NumberSpec(R"("minimum": 2)"), "1.99"));
  EXPECT_EQ(DetailOf(NumberSpec(R"("value": 1)"), "one"), "no number");
  EXPECT_EQ(DetailOf(NumberSpec(R"("value": 1, "unit": "ms")"), "1 s"), "no number before \"ms\"");
  EXPECT_EQ(DetailOf(NumberSpec(R"("value": 180, "unit": "MB")"), "21 MB"), "the last number before \"MB\" is 21");
  EXPECT_EQ(ResultOf(NumberSpec(R"("value": 3, "relative_tolerance": 0.1)"), "3").name, "number 3 ± 0.3");
  EXPECT_EQ(ResultOf(NumberSpec(R"("value": 3, "tolerance": 0.5, "unit": "ms")"), "3 ms").name, "number 3 ± 0.5 ms");
}

TEST(NumberCheck, MalformedOptions) {
  for (const char* json : {R"("unit": "s")", R"("value": 1, "minimum": 0)", R"("value": "1")", R"("value": true)",
                           R"("value": 1, "tolerance": -1)", R"("minimum": 2, "maximum": 1)",
                           R"("minimum": 2, "tolerance": 1)", R"("value": 1, "unit": 3)"})
    EXPECT_THAT(ErrorOf(NumberSpec(json)), HasSubstr("number")) << json;
}

TEST(NumberCheck, AToleranceOfZeroIsExact) {
  const CheckSpec exact = SpecFrom(R"({"type": "number", "value": 1700000000, "tolerance": 0})");
  EXPECT_TRUE(Passes(exact, "1700000000"));
  EXPECT_FALSE(Passes(exact, "1700000001"));
}

}  // namespace
}  // namespace upskill
