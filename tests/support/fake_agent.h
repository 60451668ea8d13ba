// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "support/source_dir.h"
#include "util/files.h"
#include "util/temp_folder.h"

namespace upskill {

// For tests: an agent program of a few lines of shell (tests/support/fake_agent), in a folder for PATH that everyone
// can read, because commands of root run as another user in a sandbox.
class FakeAgent {
 public:
  FakeAgent() {
    namespace fs = std::filesystem;
    fs::permissions(folder_.path(), fs::perms(0755));
    const fs::path file =
        folder_.Write("fake_agent", ReadFile(SourceDir() / "tests" / "support" / "fake_agent").value());
    fs::permissions(file, fs::perms(0755));
  }

  std::filesystem::path folder() const { return folder_.path(); }
  // As assets/agents.toml would have it.
  static std::string Description() { return ReadFile(SourceDir() / "tests" / "support" / "fake_agents.toml").value(); }

 private:
  TempFolder folder_;
};

}  // namespace upskill
