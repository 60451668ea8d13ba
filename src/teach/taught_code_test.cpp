// SPDX-License-Identifier: Apache-2.0
#include "teach/taught_code.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace upskill {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> Rejected(const std::string& markdown) {
  return FindRejectedCode({"name", "A skill.", markdown, {}, {}, ""}, DefaultSandbox());
}

std::string Block(const std::string& info, const std::string& code) { return "```" + info + "\n" + code + "\n```\n"; }

TEST(FindRejectedCode, DataThatCannotBeParsed) {
  EXPECT_THAT(Rejected(Block("json", "{\"a\": 1,}") + Block("toml", "a = 1") + Block("yaml", "a: [1")),
              ElementsAre(HasSubstr("JSON rejects the block that begins with \"{\"a\": 1,}\""), HasSubstr("YAML")));
  EXPECT_THAT(Rejected(Block("toml title=\"x.toml\"", "a = b")), ElementsAre(HasSubstr("TOML")));
}

TEST(FindRejectedCode, ProgramsThatTheirInterpreterCannotRead) {
  if (!DefaultSandbox().Available()) GTEST_SKIP() << "no sandbox";
  EXPECT_THAT(Rejected(Block("python", "def f(:\n    pass")), ElementsAre(HasSubstr("Python")));
  EXPECT_THAT(Rejected(Block("bash", "if true; then echo")), ElementsAre(HasSubstr("bash")));
  EXPECT_THAT(Rejected(Block("python", "    return 1") + Block("sh", "make -j4 && ./run")), IsEmpty())
      << "an indented line of a function, and a command";
}

TEST(FindRejectedCode, LeavesPartsAndOtherLanguagesAlone) {
  EXPECT_THAT(Rejected(Block("json", "{\"a\": 1, ...}") + Block("cpp", "int f(") + Block("", "{") + "{\"a\": 1,}"),
              IsEmpty());
}

TEST(FindRejectedCode, AKernelProjectThatItsBuilderRejects) {
  EXPECT_THAT(Rejected("build.toml:\n" + Block("toml", "[general]\nname = \"my_kernel\"")),
              ElementsAre(HasSubstr("kernel-builder rejects the project")));
  EXPECT_THAT(Rejected("build.toml:\n" + Block("toml", "[general]\nname = \"my_kernel\"\n...")), IsEmpty()) << "a part";
}

TEST(MarkRejectedFiles, NotesWhatItsToolSaysOfARecordedFile) {
  Material material;
  const auto add = [&](const std::string& path, const std::string& content, bool whole) {
    FileDetail file;
    file.path = path;
    file.content = content;
    file.whole = whole;
    material.items.push_back({path, MaterialKind::kFile, content, {"a.jsonl#1"}, file, "only written"});
  };
  add("/home/me/scaler/build.toml", "[general]\nname = \"my scaler\"\n", true);
  add("data/good.json", "{\"a\": 1}", true);
  add("data/bad.json", "{\"a\": 1,}", true);
  add("data/part.json", "{\"a\": 1,", false);
  EXPECT_EQ(MarkRejectedFiles(DefaultSandbox(), material), 2U);
  EXPECT_THAT(material.items[0].known, HasSubstr("only written; as recorded, kernel-builder rejects it: "));
  EXPECT_EQ(material.items[1].known, "only written");
  EXPECT_THAT(material.items[2].known, HasSubstr("JSON rejects it"));
  EXPECT_EQ(material.items[3].known, "only written");

  add("/home/me/scaler/torch-ext/torch_binding.cpp", "[lines 1 to 9 are not in the recording]", false);
  material.items[0].known = "";
  EXPECT_EQ(MarkRejectedFiles(DefaultSandbox(), material), 1U) << "a project that isn't recorded whole isn't judged";
  EXPECT_EQ(material.items[0].known, "");
}

}  // namespace
}  // namespace upskill
