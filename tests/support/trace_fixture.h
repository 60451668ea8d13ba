// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ctime>
#include <filesystem>
#include <string>
#include <vector>

#include "support/command_line.h"
#include "support/source_dir.h"
#include "util/files.h"
#include "util/json.h"

namespace upskill {

// For tests: `trace` command lines.
class TraceCli : public CommandLineTest {
 protected:
  static constexpr int kOk = 0;
  static constexpr int kFailed = 1;
  static constexpr int kUsage = 2;

  TraceCli() { columns = 80; }

  int Show(const std::filesystem::path& file, const std::vector<std::string>& more = {}) {
    return RunOn("show", {file}, more);
  }
  int Digest(const std::vector<std::filesystem::path>& files, const std::vector<std::string>& more = {}) {
    return RunOn("digest", files, more);
  }
  int RunOn(const char* command, const std::vector<std::filesystem::path>& files,
            const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"trace", command};
    for (const std::filesystem::path& file : files) arguments.push_back(file.string());
    arguments.insert(arguments.end(), more.begin(), more.end());
    return Run(arguments);
  }

  // Runs the command with `text` on standard input.
  int RunWithInput(const std::string& text, const std::vector<std::string>& arguments) {
    const std::filesystem::path file = folder.Write("stdin", text);
    const Fd kept(::dup(STDIN_FILENO));
    const Fd input(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
    EXPECT_TRUE(kept.valid() && input.valid());
    EXPECT_GE(::dup2(input.get(), STDIN_FILENO), 0);
    const int code = Run(arguments);
    EXPECT_GE(::dup2(kept.get(), STDIN_FILENO), 0);
    return code;
  }

  void SetAge(const std::filesystem::path& file, time_t modified) const {
    const timespec times[2] = {{modified, 0}, {modified, 0}};
    ASSERT_EQ(::utimensat(AT_FDCWD, file.c_str(), times, 0), 0);
  }

  static std::filesystem::path Fixture(const char* name) { return SourceDir() / "tests/fixtures/traces" / name; }

  // A session of one failing and one working command.
  static std::string Session(const std::string& prompt, const std::string& answer = "Done.") {
    const auto line = [](const char* type, int number, const std::string& message) {
      return std::string(R"({"type":")") + type + R"(","uuid":"u)" + std::to_string(number) +
             R"(","sessionId":"s","timestamp":"2026-01-12T14:0)" + std::to_string(number) + R"(:00.000Z","message":)" +
             message + "}\n";
    };
    const auto call = [&](int number, const std::string& command) {
      const std::string id = std::to_string(number);
      return line("assistant", number,
                  R"({"id":"m)" + id +
                      R"(","role":"assistant","model":"claude-x","content":[{"type":"tool_use","id":"t)" + id +
                      R"(","name":"Bash","input":{"command":")" + command +
                      R"("}}],"usage":{"input_tokens":10,"output_tokens":5}})");
    };
    const auto result = [&](int number, const std::string& text, bool failed) {
      return line("user", number,
                  R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"t)" + std::to_string(number - 1) +
                      R"(","is_error":)" + (failed ? "true" : "false") + R"(,"content":")" + text + R"("}]})");
    };
    return line("user", 1, R"({"role":"user","content":)" + Json(prompt).dump() + "}") + call(2, "make test") +
           result(3, "error: zone is ignored", true) + call(4, "make test ZONE=1") + result(5, "all passed", false) +
           line("assistant", 6,
                R"({"id":"m6","role":"assistant","model":"claude-x","content":[{"type":"text","text":")" + answer +
                    R"("}]})");
  }
};

}  // namespace upskill
