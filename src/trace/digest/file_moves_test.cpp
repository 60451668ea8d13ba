// SPDX-License-Identifier: Apache-2.0
// What a shell command moves, and which files that concerns.
#include "trace/digest/file_moves.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/claude_session.h"
#include "trace/digest/digest.h"

namespace upskill {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::vector<std::string> Moves(const std::string& command) {
  std::vector<std::string> texts;
  for (const FileMove& move : MovesOf(command)) texts.push_back(move.from + " > " + move.to);
  return texts;
}

TEST(FileMoves, OfCommands) {
  EXPECT_THAT(Moves("mv a.py b.py"), ElementsAre("a.py > b.py"));
  EXPECT_THAT(Moves("git mv -f src/old/ src/new && make"), ElementsAre("src/old > src/new"));
  EXPECT_THAT(Moves("cd /p/x; mv 'a b.py' ./c.py"), ElementsAre("/p/x/a b.py > /p/x/c.py"));
  EXPECT_THAT(Moves("mv a.c b.c lib"), ElementsAre("a.c > lib/", "b.c > lib/"));
  EXPECT_THAT(Moves("make && mv out.bin bin/\nmv x y"), ElementsAre("out.bin > bin/", "x > y"));
  for (const char* none : {"mv *.c lib", "mv $A b", "mv a", "echo mv a b", "mvn -q test", "rmv a b", "mv 'a", ""})
    EXPECT_THAT(Moves(none), IsEmpty()) << none;
}

TEST(FileMoves, OfFiles) {
  const auto after = [](const FileMove& move, const char* path) {
    const std::optional<MovedPath> moved = PathAfter(move, path);
    return moved ? moved->root + " " + moved->path : "stays";
  };
  EXPECT_EQ(after({"a.py", "b.py"}, "/p/a.py"), "/p/ /p/b.py");
  EXPECT_EQ(after({"src/old", "src/new"}, "/p/src/old/x/y.c"), "/p/ /p/src/new/x/y.c");
  EXPECT_EQ(after({"/p/src/old", "/p/src/new"}, "src/old/y.c"), " src/new/y.c");
  EXPECT_EQ(after({"a.py", "lib/"}, "a.py"), " lib/a.py");
  EXPECT_EQ(after({"a.py", "/q/b.py"}, "/p/a.py"), "/p/ /q/b.py");
  EXPECT_EQ(after({"a.py", "b.py"}, "/p/aa.py"), "stays");
  EXPECT_EQ(after({"/p/a.py", "/q/b.py"}, "a.py"), "stays") << "its own folder isn't known";
}

class MovedFiles : public testing::Test {
 protected:
  void Write(const std::string& path, const std::string& content) {
    session_.Call("Write", Json::object({{"file_path", path}, {"content", content}}), "ok");
  }
  std::string Digest() { return MakeDigest({session_.Read("s.jsonl")}, {}).text; }

  ClaudeSession session_;
};

TEST_F(MovedFiles, AreToldUnderTheirLastNames) {
  session_.User("rename the module");
  Write("/p/src/old/a.py", "x = 1\n");
  Write("/p/src/old/b.py", "y = 1\n");
  session_.Run("cd /p && git mv src/old src/new", "");
  session_.Run("mv src/new/b.py src/new/c.py", "mv: cannot stat 'src/new/b.py': No such file or directory");
  session_.Call(
      "Edit", Json::object({{"file_path", "/p/src/new/a.py"}, {"old_string", "x = 1"}, {"new_string", "x = 2"}}), "ok");
  const std::string text = Digest();
  EXPECT_THAT(text, HasSubstr("/p/src/new/a.py (final content, whole, 2 changes)\nx = 2\n"));
  EXPECT_THAT(text, HasSubstr("/p/src/new/b.py (final content, whole, 1 change)\ny = 1\n"));
  EXPECT_THAT(text, Not(HasSubstr("/p/src/old/a.py (final")));
}

TEST_F(MovedFiles, AFolderThatIsThereTakesThemIn) {
  session_.User("tidy up");
  Write("/p/lib/a.py", "x = 1\n");
  Write("/p/b.py", "y = 1\n");
  session_.Run("mv b.py lib", "");
  EXPECT_THAT(Digest(), HasSubstr("/p/lib/b.py (final content, whole, 1 change)\n"));
}

TEST_F(MovedFiles, OfSeveralWithTheNameNoneIsMoved) {
  session_.User("tidy up");
  Write("/p/x/a.py", "x = 1\n");
  Write("/p/y/a.py", "y = 1\n");
  session_.Run("mv a.py c.py", "");
  EXPECT_THAT(Digest(), Not(HasSubstr("c.py (final")));
}

}  // namespace
}  // namespace upskill
