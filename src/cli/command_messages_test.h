// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "support/command_line.h"

namespace upskill {

inline const std::string kStudent = "sim:base=0,skill=1";

// A skill with two cases, of which a student passes all with the skill and none without it.
class CommandMessages : public CommandLineTest {
 protected:
  CommandMessages() {
    folder.Write("skills/adding/SKILL.md", "---\nname: adding\ndescription: How to add.\n---\nAdd the numbers.\n");
    folder.Write("skills/adding/tests.json", R"([
      {"id": "one", "input": "one and one", "expected": {"contains": "number 2"}},
      {"id": "two", "input": "two and two", "expected": {"contains": "number 4"}}])");
  }

  std::string skill() const { return (folder.path() / "skills/adding").string(); }

  int Eval(std::vector<std::string> more, const std::string& model = kStudent) {
    more.insert(more.begin(), {"eval", skill(), "--runs-dir", runs().string(), "-m", model});
    return Run(more);
  }
};

}  // namespace upskill
