// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "support/command_line.h"
#include "support/fake_teacher.h"
#include "support/loopback_server.h"

namespace upskill {

// For tests: `generate` command lines, with their own folder for skills and runs.
class GenerateCli : public CommandLineTest {
 protected:
  GenerateCli() {
    folder.Write("config.yaml",
                 "skills_dir: " + (folder.path() / "skills").string() + "\nruns_dir: " + runs().string() + "\n");
  }

  int Generate(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "generate");
    return Run(arguments);
  }
  // With the options that name this teacher.
  int GenerateBy(const std::string& url, std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"-m", "generic.teacher", "--base-url", url, "--max-attempts", "0"});
    return Generate(arguments);
  }
  std::filesystem::path skill(const std::string& name) const { return folder.path() / "skills" / name; }
};

// For tests: answers the teacher's questions that contain `kind` in another way (TeacherServer::hook).
inline auto Instead(const char* kind, loopback::Script script) {
  return [kind, script = std::move(script)](const std::string& body) -> std::optional<loopback::Script> {
    return body.find(kind) == std::string::npos ? std::nullopt : std::optional(script);
  };
}

inline loopback::Script KeyTakenBack() {
  return loopback::Answer(401, R"({"error":{"message":"the key was taken back"}})");
}

// For tests: a draft without a name if the request doesn't ask for one.
inline Json AsAsked(Json draft, const std::string& body) {
  if (body.find("\"maxLength\":64}") == std::string::npos) draft.erase("name");
  return draft;
}

// For tests: a server like OpenAI's whose teacher answers according to the requested schema.
class TeacherServer {
 public:
  explicit TeacherServer(std::string mark)
      : mark_(std::move(mark)), server_([this](const loopback::Request& request) { return Answer(request); }) {}
  std::string url() const { return server_.url() + "/v1"; }
  std::vector<loopback::Request> requests() const { return server_.requests(); }
  std::size_t max_concurrent() const { return server_.max_concurrent(); }
  std::function<std::optional<loopback::Script>(const std::string& body)> hook;

 private:
  loopback::Script Answer(const loopback::Request& request) const {
    if (hook) {
      if (auto script = hook(request.body)) return *std::move(script);
    }
    if (request.body.find("\"cases\"") != std::string::npos)
      return loopback::ChatCompletion(DumpJson(CasesJson(16)), 100, 50);
    if (request.body.find("\"points\"") != std::string::npos)
      return loopback::ChatCompletion(DumpJson(CritiqueJson()), 100, 50);
    if (request.body.find("\"proposals\"") == std::string::npos) {
      const std::vector<std::string> cites(request.body.find("[d1]") == std::string::npos ? 0 : 1, "d1");
      return loopback::ChatCompletion(DumpJson(AsAsked(DraftJson("Draft [sim 0.1]", cites), request.body)), 100, 50);
    }
    const Json edit = {{"find", "[sim 0.1]"}, {"replace", mark_}};
    const Json proposal = {
        {"why", "it knew too little"}, {"edits", Json::array({edit})}, {"body", ""}, {"cites", Json::array()}};
    return loopback::ChatCompletion(DumpJson({{"proposals", Json::array({proposal})}}), 100, 50);
  }

  std::string mark_;
  loopback::Server server_;
};

}  // namespace upskill
