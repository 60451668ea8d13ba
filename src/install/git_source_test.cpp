// SPDX-License-Identifier: Apache-2.0
#include "install/git_source.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace upskill {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

struct Example {
  std::string text;
  std::string url;
  std::string ref = {};
  std::string path = {};
};

TEST(GitSource, ReadsTheFormsThatPeopleHave) {
  const std::vector<Example> examples = {
      {"https://github.com/o/r", "https://github.com/o/r"},
      {"HTTPS://github.com/o/r.git/", "https://github.com/o/r.git"},
      {"https://github.com/o/r/tree/main", "https://github.com/o/r", "main"},
      {"https://github.com/o/r/tree/v1.2/skills/pdf/", "https://github.com/o/r", "v1.2", "skills/pdf"},
      {"https://github.com/o/r/tree/main/skills/pdf/SKILL.md", "https://github.com/o/r", "main", "skills/pdf"},
      {"https://gitlab.com/a/b/c/-/tree/main/x", "https://gitlab.com/a/b/c", "main", "x"},
      {"https://codeberg.org/o/r/src/branch/main/x", "https://codeberg.org/o/r", "main", "x"},
      {"https://github.com/o/r/tree/main/x/src/branch/y", "https://github.com/o/r", "main", "x/src/branch/y"},
      {"https://huggingface.co/o/r/tree/main/x", "https://huggingface.co/o/r", "main", "x"},
      {"https://host/tree/r", "https://host/tree/r"},
      {"https://[::1]:8443/o/r", "https://[::1]:8443/o/r"},
      {"git+https://h/o/r#feature/one:skills/a", "https://h/o/r", "feature/one", "skills/a"},
      {"git+https://h/o/r#:skills/a", "https://h/o/r", "", "skills/a"},
      {"https://h/o/r#main", "https://h/o/r", "main"},
      {"git@github.com:o/r.git", "git@github.com:o/r.git"},
      {"git@github.com:o/r#main:a/./b", "git@github.com:o/r", "main", "a/b"},
      {"ssh://git@host:2222/o/r", "ssh://git@host:2222/o/r"},
      {"git+ssh://host/o/r#v1", "ssh://host/o/r", "v1"},
      {"file:///srv/skills.git", "file:///srv/skills.git"},
      {"git+file:///srv/a b", ""},
  };
  for (const Example& example : examples) {
    SCOPED_TRACE(example.text);
    EXPECT_TRUE(IsGitSource(example.text));
    const Result<GitSource> source = ParseGitSource(example.text);
    ASSERT_EQ(source.ok(), !example.url.empty());
    if (!source) continue;
    EXPECT_EQ(source->url, example.url);
    EXPECT_EQ(source->ref, example.ref);
    EXPECT_EQ(source->path, example.path);
    const Result<GitSource> again = ParseGitSource(GitSourceText(*source));
    ASSERT_TRUE(again.ok()) << again.error().message;
    EXPECT_EQ(GitSourceText(*again), GitSourceText(*source));
  }
  for (const char* name : {"skills/pdf", "pdf", "./a:b", "a/b@c:d", "x.skill", "C:/x", ""})
    EXPECT_FALSE(IsGitSource(name)) << name;
}

TEST(GitSource, RefusesWhatCouldBeMeantForGitItself) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"ext::sh -c id", "has a space"},
      {"ext::id", "not a source that git can be asked for"},
      {"git+--upload-pack=id", "not a source that git can be asked for"},
      {"https://-oProxyCommand=id/x", "names no repository"},
      {"ssh://-oProxyCommand=id/x", "names no repository"},
      {"ssh://-x@host/x", "names no repository"},
      {"-x@host:o/r", "names no repository"},
      {"git@-x:o/r", "names no repository"},
      {"git@host:-x", "names no repository"},
      {"https://host", "names no repository"},
      {"http://host/o/r", "use https:// or ssh://"},
      {"git://host/o/r", "use https:// or ssh://"},
      {"fd://7/x", "not a source that git can be asked for"},
      {"file://host/x", "absolute path"},
      {"https://h/o/../r", "'..'"},
      {"https://h/o/r?tab=readme", "has a query"},
      {"https://h/o/r#-x", "can't be a branch"},
      {"https://h/o/r#a..b", "can't be a branch"},
      {"https://h/o/r#a b", "can't be a branch"},
      {"https://h/o/r#+a", ""},
      {"https://h/o/r#a*", "can't be a branch"},
      {"https://h/o/r#main:../x", "can't be a folder"},
      {"https://h/o/r#main:a/../../x", "can't be a folder"},
      {"https://h/o/r#main:/etc", "can't be a folder"},
      {"https://h/o/r#main:-x", "can't be a folder"},
      {"https://h/o/r#main:.git/hooks", "can't be a folder"},
      {"https://h/o/r/tree/main#other", "names a branch twice"},
      {"https://h/o/" + std::string(3000, 'r'), "longer than"}};
  for (const auto& [text, message] : cases) {
    SCOPED_TRACE(text.substr(0, 100));
    EXPECT_TRUE(IsGitSource(text) || text.find("://") == std::string::npos);
    const Result<GitSource> source = ParseGitSource(text);
    ASSERT_EQ(source.ok(), message.empty());
    if (!source) {
      EXPECT_THAT(source.error().message, HasSubstr(message));
    }
  }
}

TEST(GitSource, NeverRepeatsAPassword) {
  for (const char* text : {"https://me:hunter2@h/o/r", "https://hunter2@h/o/r", "ssh://me:hunter2@h/o/r",
                           "http://me:hunter2@h/o/r", "git+https://hunter2:x@h/o/r#main"}) {
    const Result<GitSource> source = ParseGitSource(text);
    ASSERT_FALSE(source.ok()) << text;
    EXPECT_THAT(source.error().message, Not(HasSubstr("hunter2")));
  }
  EXPECT_EQ(WithoutCredentials("unable to access 'https://a:b@h/x', ssh://u@h:1/y and https://h/a@b"),
            "unable to access 'https://h/x', ssh://h:1/y and https://h/a@b");
}

TEST(GitSource, NamesTheRepository) {
  EXPECT_EQ(RepositoryName({"https://h/o/skills.git", "", ""}), "skills");
  EXPECT_EQ(RepositoryName({"git@h:skills", "", ""}), "skills");
  EXPECT_EQ(RepositoryName({"file:///.git", "", ""}), "repository");
}

}  // namespace
}  // namespace upskill
