// SPDX-License-Identifier: Apache-2.0
// Where `generate` writes when folders of a skill are links to elsewhere.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "support/file_fixture.h"
#include "support/generate_fixture.h"
#include "util/files.h"
#include "util/json.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class GenerateOutput : public GenerateCli {
 protected:
  GenerateOutput() {
    fs::create_directory(outside());
    teacher.hook = [this](const std::string& body) -> std::optional<loopback::Script> {
      if (body.find("\"cases\"") != std::string::npos) return std::nullopt;
      if (on_draft) on_draft();
      Json draft = DraftJson("Draft [sim 0.95]");
      draft["references"] = Json::array({{{"file", "more.md"}, {"text", "from the teacher"}}});
      return loopback::ChatCompletion(DumpJson(AsAsked(draft, body)), 100, 50);
    };
  }

  int Write(const std::vector<std::string>& more = {}) {
    std::vector<std::string> command = {"Add numbers", "-m",        "generic.teacher", "--base-url",
                                        teacher.url(), "--no-eval", "--no-critique"};
    command.insert(command.end(), more.begin(), more.end());
    return Generate(command);
  }
  fs::path outside() const { return folder.path() / "outside"; }

  TeacherServer teacher{"[sim 0.95]"};
  std::function<void()> on_draft;
};

TEST_F(GenerateOutput, ALinkIsNamedBeforeATeacherIsAsked) {
  fs::create_directories(skill("adding"));
  fs::create_directory_symlink(outside(), skill("adding") / "references");
  EXPECT_EQ(Write({"-o", skill("adding").string()}), 2);
  EXPECT_THAT(error, HasSubstr("adding/references is a symbolic link"));
  EXPECT_THAT(teacher.requests(), SizeIs(0));
  folder.Write("skills/sums/SKILL.md", "---\nname: sums\ndescription: Sums.\n---\n\nBy hand\n");
  fs::create_directory_symlink(outside(), skill("sums") / "scripts");
  EXPECT_EQ(Write({"--from", skill("sums").string()}), 2);
  EXPECT_THAT(error, HasSubstr("sums/scripts is a symbolic link"));
  EXPECT_THAT(NamesIn(outside()), IsEmpty());
}

TEST_F(GenerateOutput, NothingIsWrittenThroughALinkThatAppearsLater) {
  on_draft = [&] {
    fs::create_directories(skill("adding"));
    fs::create_directory_symlink(outside(), skill("adding") / "references");
  };
  EXPECT_EQ(Write({"-o", skill("adding").string()}), 2);
  EXPECT_THAT(error, HasSubstr("symbolic link"));
  EXPECT_THAT(NamesIn(outside()), IsEmpty());
  // What the teacher answered is kept: without the link, the generation goes on.
  fs::remove(skill("adding") / "references");
  const std::size_t asked = teacher.requests().size();
  ASSERT_EQ(Generate({"--resume", "--base-url", teacher.url(), "-o", skill("adding").string()}), 0) << error;
  EXPECT_THAT(teacher.requests(), SizeIs(asked));
  EXPECT_EQ(*ReadFile(skill("adding") / "references/more.md"), "from the teacher");
}

TEST_F(GenerateOutput, ASkillsFolderWithALinkOfTheNameThatTheTeacherChose) {
  fs::create_directories(folder.path() / "skills");
  fs::create_directory_symlink(outside(), skill("adding"));
  EXPECT_EQ(Write(), 2);
  EXPECT_THAT(error, HasSubstr("symbolic link"));
  EXPECT_THAT(NamesIn(outside()), IsEmpty());
  // A link that the user names is followed.
  EXPECT_EQ(Write({"-o", skill("adding").string()}), 0) << error;
  EXPECT_EQ(*ReadFile(outside() / "references/more.md"), "from the teacher");
}

}  // namespace
}  // namespace upskill
