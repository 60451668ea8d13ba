// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "cluster/job_engine.h"
#include "util/files.h"
#include "util/temp_folder.h"

namespace upskill {

// For tests: commands in PATH that write down how they were called, an argument a line.
class FakeTools : public testing::Test {
 protected:
  FakeTools() {
    const char* path = std::getenv("PATH");
    path_ = path == nullptr ? "" : path;
    ::setenv("PATH", (folder.path().string() + ":" + path_).c_str(), 1);
    std::filesystem::create_directories(folder.path() / "run/jobs");
  }
  ~FakeTools() override { ::setenv("PATH", path_.c_str(), 1); }

  void Tool(const std::string& name, const std::string& body) {
    const std::filesystem::path file =
        folder.Write(name, "#!/bin/sh\nprintf '%s\\n' \"$@\" >'" + (folder.path() / (name + ".called")).string() +
                               "'\n" + body + "\n");
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
  }
  std::string Called(const std::string& name) {
    const Result<std::string> text = ReadFile(folder.path() / (name + ".called"));
    return text ? *text : "";
  }
  JobArray Array() const {
    JobArray array;
    array.name = "upskill-x-1";
    array.folder = folder.path() / "run";
    array.working_folder = folder.path();
    array.command = {"/bin/upskill", "eval", "it's a skill", "--seed=7"};
    array.shards = {1, 3};
    array.of = 4;
    return array;
  }

  TempFolder folder;

 private:
  std::string path_;
};

}  // namespace upskill
