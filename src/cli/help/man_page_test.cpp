// SPDX-License-Identifier: Apache-2.0
#include "cli/help/man_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>

#include "support/command_line.h"
#include "util/files.h"
#include "util/text.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class ManCommand : public CommandLineTest {};

TEST_F(ManCommand, HasWhatTheHelpHas) {
  ASSERT_EQ(Run({"man", "eval"}), 0) << error;
  EXPECT_THAT(out, AllOf(StartsWith(".TH UPSKILL\\-EVAL 1"), HasSubstr("upskill\\-eval \\- Measure a skill"),
                         HasSubstr(".SH SYNOPSIS\n.B upskill eval SKILL... [OPTIONS]\n"), HasSubstr(".SH BUDGET\n"),
                         HasSubstr(".B \\-\\-max\\-cost USD\n"), HasSubstr(".SH EXAMPLES\n")));
  ASSERT_EQ(Run({"man"}), 0);
  EXPECT_THAT(out, AllOf(HasSubstr(".SH MEASURE SKILLS\n"), HasSubstr(".SH MODEL\\-STRINGS\n"),
                         HasSubstr(".BR upskill\\-eval (1),")));
  EXPECT_EQ(Run({"man", "evla"}), 2);
  EXPECT_THAT(error, HasSubstr("no manual page for 'evla'; did you mean 'eval'?"));
}

TEST_F(ManCommand, WritesAPageForEachCommandOfTheHelp) {
  const fs::path pages = folder.path() / "man1";
  ASSERT_EQ(Run({"man", "-o", pages.string()}), 0) << error;
  EXPECT_TRUE(fs::exists(pages / "upskill-trace-show.1"));
  std::size_t count = 0;
  for (const auto& entry : fs::directory_iterator(pages)) {
    ++count;
    // Only requests begin with a dot.
    const std::set<std::string> requests = {".TH", ".SH", ".TP", ".B", ".BR", ".PP", ".nf", ".fi", ".RS", ".RE"};
    const Result<std::string> page = ReadFile(entry.path());
    ASSERT_TRUE(page.ok());
    for (const std::string_view line : SplitLines(*page)) {
      if (line.starts_with('.')) {
        EXPECT_TRUE(requests.contains(std::string(line.substr(0, line.find(' '))))) << line;
      }
    }
  }
  ASSERT_EQ(Run({"--help"}), 0);
  EXPECT_GT(count, 35U);
}

TEST(ManPageText, IsQuoted) {
  CLI::App app(".first 'quoted' \\fBbold\\fR\n.second", "upskill");
  CLI::App* const command = app.add_subcommand("one", "About ~ and ^ and `, 1–2 … 𝄞");
  const std::string page = ManPage(app);
  EXPECT_THAT(page, AllOf(HasSubstr("\\&.first \\(aqquoted\\(aq \\efBbold\\efR"), HasSubstr("\n\\&.second"),
                          Not(HasSubstr("\n.second"))));
  EXPECT_THAT(ManPage(*command), HasSubstr("About \\(ti and \\(ha and \\(ga, 1\\[u2013]2 \\[u2026] \\[u1D11E]"));
  EXPECT_EQ(ManPageName(*command), "upskill-one");
}

TEST_F(ManCommand, GroffFindsNothingWrong) {
  if (std::system("command -v groff >/dev/null") != 0) GTEST_SKIP() << "needs groff";
  const fs::path pages = folder.path() / "man1";
  ASSERT_EQ(Run({"man", "-o", pages.string()}), 0) << error;
  const std::string warnings = (folder.path() / "warnings").string();
  const std::string command =
      "for page in " + pages.string() + "/*.1; do groff -man -Tutf8 -ww \"$page\" >/dev/null 2>>" + warnings + "; done";
  ASSERT_EQ(std::system(command.c_str()), 0);
  EXPECT_EQ(*ReadFile(warnings), "");
}

}  // namespace
}  // namespace upskill
