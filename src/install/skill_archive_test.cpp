// SPDX-License-Identifier: Apache-2.0
#include "install/skill_archive.h"

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <string>
#include <utility>

#include "support/skill_folder.h"
#include "support/zip.h"
#include "util/hash.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

class SkillArchiveTest : public testing::Test {
 protected:
  using Entries = std::vector<std::pair<std::string, std::string>>;

  Result<SkillFiles> Read(const std::string& bytes) {
    return ReadSkillSource(folder.Write("x.skill", bytes), EvaluationFiles::kLeftOut);
  }

  std::string ErrorOf(Entries entries) {
    entries.insert(entries.begin(), {"greet/SKILL.md", SkillFileOf("greet")});
    const Result<SkillFiles> read = Read(ZipOf(entries));
    return read ? "" : read.error().message;
  }

  TempFolder folder;
};

// Compressed, as other programs make them.
std::string ZipWithLink(const std::string& name, const std::string& target) {
  std::string bytes(std::size_t{1} << 16U, '\0');
  std::size_t used = 0;
  archive* const zip = archive_write_new();
  archive_write_set_format_zip(zip);
  archive_write_open_memory(zip, bytes.data(), bytes.size(), &used);
  archive_entry* const entry = archive_entry_new();
  archive_entry_set_pathname(entry, name.c_str());
  archive_entry_set_filetype(entry, AE_IFLNK);
  archive_entry_set_symlink(entry, target.c_str());
  archive_entry_set_perm(entry, 0777);
  archive_write_header(zip, entry);
  archive_entry_free(entry);
  archive_write_close(zip);
  archive_write_free(zip);
  bytes.resize(used);
  return bytes;
}

TEST_F(SkillArchiveTest, RoundTripKeepsFilesAndModes) {
  const fs::path skill = WriteSkill(folder, "greet", "greet");
  for (const EvaluationFiles evaluation : {EvaluationFiles::kLeftOut, EvaluationFiles::kIncluded}) {
    const Result<SkillFiles> packed = ReadSkillFolder(skill, evaluation);
    ASSERT_TRUE(packed.ok());
    const fs::path file = folder.Write("greet.skill", SkillArchive(*packed));
    const Result<SkillFiles> read = ReadSkillSource(file, EvaluationFiles::kIncluded);
    ASSERT_TRUE(read.ok()) << read.error().message;
    EXPECT_EQ(read->name, "greet");
    EXPECT_EQ(HashesOf(read->files), HashesOf(packed->files));
    EXPECT_TRUE(read->files.at("scripts/greet.sh").executable);
  }
  const Result<SkillFiles> without = ReadSkillSource(folder.path() / "greet.skill", EvaluationFiles::kLeftOut);
  EXPECT_EQ(without->files.size(), 3U);
}

// The bytes are part of what users rely on: a change of them is a change of the format.
TEST_F(SkillArchiveTest, BytesAreAlwaysTheSame) {
  SkillFiles skill;
  skill.name = "greet";
  skill.files = {{"SKILL.md", {SkillFileOf("greet"), false}}, {"scripts/a.sh", {"#!/bin/sh\n", true}}};
  EXPECT_EQ(Sha256Hex(SkillArchive(skill)), "5aefe511d19b8e404f2dbd58472f48330c3d714f538c74c960100884ca15a17c");
}

TEST_F(SkillArchiveTest, SkillMayBeAtTheTop) {
  const Result<SkillFiles> read = Read(ZipOf({{"SKILL.md", SkillFileOf("greet")}, {"a/b.md", "x"}}));
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_TRUE(read->files.contains("a/b.md"));
  EXPECT_EQ(ErrorOf({{"__MACOSX/greet/._SKILL.md", "x"}}), "");
  EXPECT_THAT(Read(ZipOf({{"a/SKILL.md", "x"}, {"b/SKILL.md", "x"}})).error().message, HasSubstr("no SKILL.md"));
}

TEST_F(SkillArchiveTest, NamesThatLeaveTheArchive) {
  for (const char* name : {"../x", "greet/../../x", "/etc/x", "greet/.."}) {
    EXPECT_THAT(ErrorOf({{name, "x"}}), AllOf(HasSubstr("x.skill"), HasSubstr("file name"))) << name;
  }
  EXPECT_THAT(ErrorOf({{"greet/a\\..\\..\\x", "x"}}), HasSubstr("isn't a plain file name"));
}

TEST_F(SkillArchiveTest, NamesThatAreThereTwice) {
  EXPECT_THAT(ErrorOf({{"greet/a.md", "x"}, {"greet/a.md", "y"}}), HasSubstr("'greet/a.md' is there twice"));
  EXPECT_THAT(ErrorOf({{"greet/a.md", "x"}, {"greet/./a.md", "y"}}), HasSubstr("is there twice"));
  EXPECT_THAT(ErrorOf({{"greet/a.md", "x"}, {"greet/A.md", "y"}}), HasSubstr("differ only in upper and lower case"));
  EXPECT_THAT(ErrorOf({{"greet/a", "x"}, {"greet/a/b", "y"}}), HasSubstr("'a' is there twice"));
}

// The pairs are one name on file systems that compare names by Unicode's full case folding after decomposition, such as
// APFS.
TEST_F(SkillArchiveTest, NamesInOtherScriptsThatAreThereTwice) {
  for (const auto& [one, other] : {std::pair{"stra\u00dfe", "STRASSE"},
                                   {"\u00e9", "e\u0301"},
                                   {"\u00c9", "e\u0301"},
                                   {"\u03c3", "\u03c2"},
                                   {"\u212a", "k"},
                                   {"\ufb01", "fi"},
                                   {"\u017f", "s"},
                                   {"\u2126", "\u03c9"},
                                   {"\u0130", "i\u0307"}}) {
    EXPECT_THAT(ErrorOf({{fmt::format("greet/{}", one), "x"}, {fmt::format("greet/{}", other), "y"}}),
                HasSubstr("would be one file"))
        << one;
  }
}

TEST_F(SkillArchiveTest, NamesInOtherScriptsAreKept) {
  const std::string name = "references/caf\u00e9 \u6570\u636e.md";
  const Result<SkillFiles> read = Read(ZipOf({{"greet/SKILL.md", SkillFileOf("greet")}, {"greet/" + name, "x"}}));
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_TRUE(read->files.contains(name));
  const Result<SkillFiles> again = Read(SkillArchive(*read));
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_TRUE(again->files.contains(name));
}

TEST_F(SkillArchiveTest, NoRepositoryIsTakenAlong) {
  const Result<SkillFiles> read = Read(
      ZipOf({{"greet/SKILL.md", SkillFileOf("greet")}, {"greet/.GIT/config", "x"}, {"greet/sub/.Git/hooks/x", "x"}}));
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->files.size(), 1U);
}

TEST_F(SkillArchiveTest, LinksAreRefused) {
  EXPECT_THAT(Read(ZipWithLink("greet/SKILL.md", "/etc/passwd")).error().message, HasSubstr("is a link or a device"));
}

TEST_F(SkillArchiveTest, BombsAreNotUnpacked) {
  const std::string zeros(std::size_t{6} << 20U, '\0');
  EXPECT_THAT(ErrorOf({{"greet/zeros", zeros}}), HasSubstr("unpack to more than"));
  Entries many;
  for (std::size_t i = 0; i <= kMaxSkillFiles; ++i) many.emplace_back("greet/" + std::to_string(i), "");
  EXPECT_THAT(ErrorOf(many), HasSubstr("is one file too many"));
}

TEST_F(SkillArchiveTest, DamagedArchives) {
  EXPECT_THAT(Read("not a zip archive").error().message, HasSubstr("damaged zip archive"));
  const std::string whole = ZipOf({{"SKILL.md", SkillFileOf("greet")}});
  EXPECT_FALSE(Read(whole.substr(0, whole.size() / 2)).ok());
}

TEST_F(SkillArchiveTest, OtherFilesAreNoSkills) {
  EXPECT_THAT(ReadSkillSource(folder.Write("x.txt", "x"), EvaluationFiles::kLeftOut).error().message,
              HasSubstr("an archive ending in .skill or .zip"));
  EXPECT_THAT(ReadSkillSource(folder.path() / "none", EvaluationFiles::kLeftOut).error().message,
              HasSubstr("there is no such skill"));
}

}  // namespace
}  // namespace upskill
