// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "support/command_line.h"
#include "support/skill_folder.h"

namespace upskill {

// Commands in a part of a project, with a skill `greet` outside it.
class InstallingTest : public CommandLineTest {
 protected:
  InstallingTest() {
    folder.Write("project/.git/HEAD", "");
    folder.Write("project/part/x", "");
    std::filesystem::create_directories(home());
    std::filesystem::current_path(project() / "part");
  }
  ~InstallingTest() override { std::filesystem::current_path(before_); }
  InstallingTest(const InstallingTest&) = delete;
  InstallingTest& operator=(const InstallingTest&) = delete;

  std::filesystem::path project() const { return folder.path() / "project"; }
  std::vector<std::string> InHome() const { return NamesBelow(home()); }
  void ChangeSource() { folder.Write("source/greet/SKILL.md", SkillFileOf("greet", "Say good morning.")); }

  // Runs it, and expects success.
  void Do(const std::vector<std::string>& arguments) { ASSERT_EQ(Run(arguments), 0) << error; }

  std::filesystem::path source = WriteSkill(folder, "source/greet", "greet");

 private:
  std::filesystem::path before_ = std::filesystem::current_path();
};

}  // namespace upskill
