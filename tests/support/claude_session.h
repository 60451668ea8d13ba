// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <utility>

#include "trace/load/read_trace.h"
#include "trace/trace.h"
#include "util/json.h"

namespace upskill {

// Writes a Claude Code session line by line.
class ClaudeSession {
 public:
  void User(const std::string& text) { Line("user", Json::object({{"role", "user"}, {"content", text}})); }
  void Say(const std::string& text) { Assistant(Json::object({{"type", "text"}, {"text", text}})); }
  void Call(const std::string& tool, const Json& input, const std::string& output, bool error = false) {
    const std::string id = fmt::format("t{}", ++calls_);
    Assistant(Json::object({{"type", "tool_use"}, {"id", id}, {"name", tool}, {"input", input}}));
    const Json result =
        Json::object({{"type", "tool_result"}, {"tool_use_id", id}, {"content", output}, {"is_error", error}});
    Line("user", Json::object({{"role", "user"}, {"content", Json::array({result})}}));
  }
  void Run(const std::string& command, const std::string& output, bool error = false) {
    Call("Bash", Json::object({{"command", command}}), output, error);
  }
  const std::string& text() const { return text_; }
  Trace Read(const std::string& name) const {
    Result<Trace> trace = ReadTrace(LineSource::FromText(text_, name), {});
    EXPECT_TRUE(trace.ok()) << (trace.ok() ? "" : trace.error().message);
    return trace.ok() ? std::move(*trace) : Trace{};
  }

 private:
  void Assistant(const Json& block) {
    const std::string id = fmt::format("m{}", lines_);
    Line("assistant",
         Json::object({{"id", id}, {"role", "assistant"}, {"model", "x"}, {"content", Json::array({block})}}));
  }
  void Line(const char* type, const Json& message) {
    text_ += DumpJson(Json::object(
        {{"type", type}, {"uuid", fmt::format("u{}", ++lines_)}, {"sessionId", "s"}, {"message", message}}));
    text_ += '\n';
  }
  std::string text_;
  std::size_t lines_ = 0;
  std::size_t calls_ = 0;
};

}  // namespace upskill
