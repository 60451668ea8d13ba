// SPDX-License-Identifier: Apache-2.0
#include "model/hub/gguf_name.h"

#include <gmock/gmock.h>

#include <array>
#include <string>
#include <vector>

namespace upskill {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

using Files = std::vector<std::string>;

std::string Chosen(const Files& files, const std::string& quant) {
  const Result<GgufModel> model = ChooseGguf(files, {"org/repo", quant});
  return model ? model->parts.front() : "error: " + model.error().message;
}

Error ChoiceError(const Files& files, const std::string& quant) {
  const Result<GgufModel> model = ChooseGguf(files, {"org/repo", quant});
  EXPECT_FALSE(model.ok());
  return model ? Error{} : model.error();
}

TEST(GgufName, ParsesNames) {
  for (const auto& [text, repo, quant] : std::vector<std::array<std::string, 3>>{
           {"org/repo", "org/repo", ""},
           {"bartowski/Qwen2.5-0.5B-Instruct-GGUF:Q4_K_M", "bartowski/Qwen2.5-0.5B-Instruct-GGUF", "Q4_K_M"},
           {"a/b:ud-q2_k_xl", "a/b", "ud-q2_k_xl"},
           {"a/b:some model-Q8_0.gguf", "a/b", "some model-Q8_0.gguf"}}) {
    const Result<GgufName> name = ParseGgufName(text);
    ASSERT_TRUE(name.ok()) << name.error().message;
    EXPECT_EQ(name->repo, repo);
    EXPECT_EQ(name->quant, quant);
    EXPECT_EQ(name->text(), text);
  }
}

TEST(GgufName, RejectsInvalidRepositories) {
  for (const char* text : {"", "repo", "/repo", "org/", "org/repo/more", "../repo", "org/..", "org/a..b", "org/a--b",
                           ".org/repo", "org/repo-", "org/re po", "org/repo.git", "org/repo:", "org/rép",
                           "models/x.gguf", "org/repo:a\nb", "org\\repo", "org/repo?x=1"}) {
    const Result<GgufName> name = ParseGgufName(text);
    ASSERT_FALSE(name.ok()) << text;
    EXPECT_THAT(name.error().message, AllOf(HasSubstr("org/repo:QUANT"), Not(HasSubstr("\n")))) << text;
  }
  EXPECT_FALSE(ParseGgufName(std::string(97, 'a') + "/b").ok());
}

TEST(GgufChoice, QuantNames) {
  const Files files = {"README.md",
                       "m-Q4_K_M.gguf",
                       "m-Q8_0.gguf",
                       "m-IQ4_NL.gguf",
                       "m.Q5_K_S.gguf",
                       "BF16/m-BF16-00001-of-00002.gguf",
                       "BF16/m-BF16-00002-of-00002.gguf",
                       "Q6_K/weights.gguf",
                       "m-UD-Q2_K_XL.gguf"};
  EXPECT_EQ(Chosen(files, "Q4_K_M"), "m-Q4_K_M.gguf");
  EXPECT_EQ(Chosen(files, "q4_k_m"), "m-Q4_K_M.gguf");
  EXPECT_EQ(Chosen(files, "q5_k_s"), "m.Q5_K_S.gguf");
  EXPECT_EQ(Chosen(files, "q6_k"), "Q6_K/weights.gguf");
  EXPECT_EQ(Chosen(files, "bf16"), "BF16/m-BF16-00001-of-00002.gguf");
  EXPECT_EQ(Chosen(files, "UD-Q2_K_XL"), "m-UD-Q2_K_XL.gguf");
  EXPECT_EQ(Chosen(files, "Q2_K_XL"), "m-UD-Q2_K_XL.gguf");
  EXPECT_EQ(Chosen(files, "m-q8_0.gguf"), "m-Q8_0.gguf");
  EXPECT_EQ(Chosen(files, "q6_k/WEIGHTS.gguf"), "Q6_K/weights.gguf");
  EXPECT_EQ(Chosen(files, ""), "m-Q4_K_M.gguf");
}

TEST(GgufChoice, WithoutQuantTheDefaults) {
  EXPECT_EQ(Chosen({"m-Q2_K.gguf", "m-Q8_0.gguf"}, ""), "m-Q8_0.gguf");
  EXPECT_EQ(Chosen({"m-Q2_K.gguf", "config.json"}, ""), "m-Q2_K.gguf");
  EXPECT_EQ(Chosen({"model.gguf"}, ""), "model.gguf");
  const Error error = ChoiceError({"m-Q2_K.gguf", "m-Q3_K_S.gguf", "m-UD-IQ1_S.gguf", "other.gguf"}, "");
  EXPECT_EQ(error.kind, ErrorKind::kInput);
  EXPECT_THAT(error.message, AllOf(HasSubstr("4 GGUF files match"), HasSubstr(": Q2_K, Q3_K_S, UD-IQ1_S, other.gguf")));
}

TEST(GgufChoice, ListsTheAvailableModels) {
  const Error error = ChoiceError({"m-Q2_K.gguf", "m-Q8_0.gguf"}, "Q4_K");
  EXPECT_EQ(error.kind, ErrorKind::kNotFound);
  EXPECT_THAT(error.message, AllOf(HasSubstr("org/repo has no GGUF file 'Q4_K'"), HasSubstr("Q2_K, Q8_0")));
  EXPECT_EQ(ChoiceError({"model.safetensors"}, "").message, "org/repo has no GGUF file");
  // A quant is a whole word.
  EXPECT_EQ(ChoiceError({"m-IQ4_NL.gguf"}, "Q4_NL").kind, ErrorKind::kNotFound);
  EXPECT_EQ(ChoiceError({"m-Q4_K_M.gguf"}, "K_M").kind, ErrorKind::kNotFound);
}

TEST(GgufChoice, SeveralModelsOfOneQuantAreNamedByFile) {
  const Files files = {"a-Q4_K_M.gguf", "b-Q4_K_M.gguf"};
  EXPECT_THAT(ChoiceError(files, "Q4_K_M").message,
              AllOf(HasSubstr("2 GGUF files match"), HasSubstr("a-Q4_K_M.gguf, b-Q4_K_M.gguf")));
  EXPECT_EQ(Chosen(files, "b-Q4_K_M.gguf"), "b-Q4_K_M.gguf");
}

TEST(GgufChoice, IgnoresFilesThatBelongToAModel) {
  EXPECT_EQ(Chosen({"mmproj-F16.gguf", "m-mmproj-Q8_0.gguf", "m-imatrix.gguf", "mtp-m-Q4_K_M.gguf", "m-Q2_K.gguf"}, ""),
            "m-Q2_K.gguf");
  EXPECT_THAT(GgufModelsIn({"mmproj-model-f16.gguf"}), IsEmpty());
}

TEST(GgufChoice, Parts) {
  const Result<GgufModel> model = ChooseGguf(
      {"m-Q8_0-00002-of-00003.gguf", "m-Q8_0-00001-of-00003.gguf", "m-Q8_0-00003-of-00003.gguf"}, {"org/repo", "Q8_0"});
  ASSERT_TRUE(model.ok()) << model.error().message;
  EXPECT_THAT(model->parts,
              ElementsAre("m-Q8_0-00001-of-00003.gguf", "m-Q8_0-00002-of-00003.gguf", "m-Q8_0-00003-of-00003.gguf"));
  const Error error = ChoiceError({"m-Q8_0-00001-of-00003.gguf", "m-Q8_0-00003-of-00003.gguf"}, "Q8_0");
  EXPECT_EQ(error.kind, ErrorKind::kNotFound);
  EXPECT_THAT(error.message, HasSubstr("part 2 of 3 is missing"));
  EXPECT_THAT(ChoiceError({"m-Q8_0-00001-of-00003.gguf"}, "Q8_0").message, HasSubstr("part 2 of 3 is missing"));
  EXPECT_THAT(ChoiceError({"m-Q8_0-00003-of-00003.gguf"}, "Q8_0").message,
              HasSubstr("part 1 of 3 is missing next to m-Q8_0-00003-of-00003.gguf"));
  // Not parts: impossible numbers.
  EXPECT_THAT(GgufModelsIn({"m-00004-of-00003.gguf", "m-00000-of-00001.gguf", "m-00001-of-99999.gguf"}), IsEmpty());
}

// A name that claims thousands of parts costs no more than another: 20,000 of them took 2.6 GB.
TEST(GgufChoice, MemoryGrowsWithTheFilesAndNotWithTheirClaims) {
  Files files;
  for (int i = 0; i < 2000; ++i) files.push_back("m" + std::to_string(i) + "-00001-of-04096.gguf");
  const std::vector<GgufModel> models = GgufModelsIn(files);
  ASSERT_EQ(models.size(), 2000U);
  for (const GgufModel& model : models) {
    EXPECT_EQ(model.parts.capacity(), 1U);
    EXPECT_EQ(model.missing, 2U);
    EXPECT_EQ(model.part_count, 4096U);
  }
}

TEST(GgufChoice, TheOrderOfTheFilesDoesNotMatter) {
  const Files files = {"M-q8_0.gguf", "m-Q8_0.GGUF"};
  for (const Files& order : {files, Files(files.rbegin(), files.rend())})
    EXPECT_EQ(ChooseGguf(order, {"org/repo", "Q8_0"})->shown(), "M-q8_0.gguf");
}

TEST(GgufChoice, NamesFromServersStayOnOneLine) {
  const Error error = ChoiceError({"a\x1b[2J.gguf", "b\n.gguf"}, "");
  EXPECT_THAT(error.message, AllOf(HasSubstr("a\x1b[2J.gguf"), Not(HasSubstr("\n"))));
  Files many;
  for (int i = 0; i < 1000; ++i) many.push_back("model" + std::to_string(i) + std::string(300, 'x') + ".gguf");
  EXPECT_LT(ChoiceError(many, "").message.size(), 8000U);
  EXPECT_LT(ChoiceError({std::string(100'000, 'x') + "-00001-of-00002.gguf"}, "").message.size(), 1000U);
}

}  // namespace
}  // namespace upskill
