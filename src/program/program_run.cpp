// SPDX-License-Identifier: Apache-2.0
#include "program/program_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "install/agents.h"
#include "sandbox/file_bundle.h"
#include "util/text.h"

namespace upskill {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr int kPort = 8080;
constexpr const char* kHome = "/tmp/home";
constexpr CollectLimits kKept = {std::size_t{64} << 20U, kMaxWorkspaceFiles + 100};  // of a run
constexpr seconds kExportTime{60};
constexpr seconds kPackTime{60};
constexpr seconds kPatience{3};  // between SIGTERM and SIGKILL

// What of the workspace isn't work: the program's or npm's own.
constexpr const char* kIgnored = R"(! -path './.git/*' ! -path '*/node_modules/*' ! -path '*/__pycache__/*')";

// $1: the program's command, $2: its time in seconds, $3: the command that exports the session, $4: the folder of
// sessions, $5: their pattern. The files for the home folder are in .upskill of the workspace at first. Everything that
// the program has started is ended before its files are packed: what it leaves in the background must not change them.
// The end of standard output may be cut.
constexpr const char* kRunAndPack = R"(
mv .upskill /tmp/upskill && mkdir -p /tmp/scratch /tmp/upskill/home /tmp/upskill/sessions /tmp/upskill/result &&
  mv /tmp/upskill/home "$HOME" || exit 121
start=$(date +%s)
timeout -k 3 "$2" sh -c "$1" > /tmp/upskill/output 2> /tmp/upskill/error < /dev/null
code=$?
seconds=$(($(date +%s) - start))
kill -KILL -1 2> /dev/null
if [ -n "$3" ]; then timeout -k 3 60 sh -c "$3" > /dev/null 2>&1 < /dev/null; kill -KILL -1 2> /dev/null; fi
cd /tmp/upskill || exit 122
echo "$code $seconds" > result/status
tail -c 4194304 output > result/output
tail -c 65536 error > result/error
if [ -f answer ] && [ ! -L answer ]; then head -c 1048576 answer > result/answer; fi
{ if [ -n "$4" ]; then find "$HOME/$4" -type f -name "$5" -size -16384k 2> /dev/null; fi
  find sessions -type f -size -16384k; } | sort | head -n 20 > found
number=0
while read -r file; do number=$((number + 1)); cp "$file" "result/session-$number-${file##*/}"; done < found
cd /workspace && find . -type f IGNORED -size -8193k -print0 | sort -z > /tmp/upskill/list
tar -cf - --ignore-failed-read --hard-dereference -C /tmp/upskill result --transform 's,^\./,workspace/,' \
  -C /workspace --null -T /tmp/upskill/list 2> /dev/null | head -c 75000000)";

std::string Script() {
  std::string script = kRunAndPack;
  const std::string_view mark = "IGNORED";
  return script.replace(script.find(mark), mark.size(), kIgnored);
}

// Where servers run: each in a folder, with a script beside it.
constexpr const char* kServersFolder = "/tmp/upskill/servers";

// What the program's files say of the servers. The scripts' names are plain: some programs replace what looks like a
// variable.
std::string ServersText(const ProgramJob& job) {
  std::string text;
  for (const ToolServer& server : job.servers) {
    if (!text.empty()) text += job.program.servers->separator;
    text += Filled(job.program.servers->server,
                   {{"server", server.name}, {"script", fmt::format("{}/{}.sh", kServersFolder, server.name)}});
  }
  return text;
}

void AddServerFiles(const ProgramJob& job, std::map<std::string, std::string>& files) {
  for (const ToolServer& server : job.servers) {
    const std::string folder = ".upskill/servers/" + server.name;
    files[folder + ".sh"] =
        fmt::format("cd {}/{} && exec sh -c {}\n", kServersFolder, server.name, ShellWord(server.command));
    files[folder + "/.keep"];  // the folder is there even without files
    for (const WorkspaceFiles* own : {&job.files, &server.files}) {
      for (const auto& [name, content] : *own) files[fmt::format("{}/{}", folder, name)] = content;
    }
  }
}

Status CheckServers(const ProgramJob& job) {
  for (const ToolServer& server : job.servers) {
    const std::string why = !server.url.empty()    ? "it is at a URL, and the program's sandbox has no network"
                            : !job.program.servers ? job.program.name + " can't be given MCP servers"
                                                   : "";
    if (!why.empty()) return Error{ErrorKind::kPermanent, fmt::format("MCP server {}: {}", server.name, why)};
  }
  return {};
}

std::map<std::string, std::string> PlacesOf(const ProgramJob& job) {
  return {{"mcp", ServersText(job)},
          {"mcp_option", job.servers.empty() ? "" : job.program.servers->option},
          {"program", ShellWord(job.place.executable.string())},
          {"prompt", "/tmp/upskill/prompt"},
          {"answer", "/tmp/upskill/answer"},
          {"output", "/tmp/upskill/output"},
          {"sessions", "/tmp/upskill/sessions"},
          {"base_url", fmt::format("http://127.0.0.1:{}{}", kPort, job.base_path)},
          {"model", job.model},
          {"protocol", job.protocol}};
}

// The folder of the home in which the program finds its user's skills.
Result<std::string> SkillsFolderOf(const AgentProgram& program) {
  ASSIGN_OR_RETURN(const Agent* const agent, FindAgent(program.agent));
  const std::string& folder = agent->user_folders.front();
  if (!folder.starts_with("~/"))
    return InputError(fmt::format("{} has its skills in {}, outside of a home folder", agent->name, folder));
  return folder.substr(2);
}

Result<std::map<std::string, std::string>> FilesFor(const ProgramJob& job,
                                                    const std::map<std::string, std::string>& places) {
  std::map<std::string, std::string> files = job.files;
  for (const auto& [name, text] : job.program.files) files[".upskill/home/" + name] = Filled(text, places);
  if (job.skill) {
    ASSIGN_OR_RETURN(const std::string folder, SkillsFolderOf(job.program));
    const auto install = [&](const SkillFolder& skill) {
      for (const auto& [name, content] : skill.files)
        files[fmt::format(".upskill/home/{}/{}/{}", folder, skill.name, name)] = content;
    };
    for (const SkillFolder& other : job.others) install(other);
    install(*job.skill);
  }
  AddServerFiles(job, files);
  files[".upskill/prompt"] = job.prompt;
  return files;
}

// The files by what they are.
Result<ProgramRun> Unpacked(const std::string& tar, const ProgramJob& job) {
  FileBundle content = FilesOfTar(tar, kKept);
  ProgramRun run;
  run.all_files = !content.too_much;
  const auto take = [&](const char* name) {
    const auto file = content.files.find(std::string("result/") + name);
    return file == content.files.end() ? std::string() : std::move(file->second);
  };
  const std::string status = take("status");
  const std::size_t space = status.find(' ');
  const auto code = ParseWholeNumber(status.substr(0, space), 0, 255);
  if (!code || space == std::string::npos)
    return Error{ErrorKind::kUnavailable, "what the program has left could not be read"}.Because(ErrorCause::kCommand);
  const auto whole_seconds = ParseWholeNumber(Trim(std::string_view(status).substr(space)), 0);
  run.exit_code = static_cast<int>(*code);
  // timeout(1) ends with 124, and with 128 + SIGKILL where SIGTERM was not enough.
  run.timed_out = (*code == 124 || *code == 137) &&
                  whole_seconds.value_or(0) + 1 >= std::chrono::ceil<seconds>(job.time_limit).count();
  run.output = take("output");
  run.error = take("error");
  run.answer = take("answer");
  for (auto& [name, text] : content.files) {
    constexpr std::string_view kSession = "result/session-";
    constexpr std::string_view kWorkspaceFile = "workspace/";
    if (name.starts_with(kSession)) {
      run.sessions[name.substr(kSession.size())] = std::move(text);
    } else if (name.starts_with(kWorkspaceFile)) {
      run.files[name.substr(kWorkspaceFile.size())] = std::move(text);
    }
  }
  return run;
}

Error EndedBy(SandboxOutcome::Ending ending, const std::string& name) {
  using Ending = SandboxOutcome::Ending;
  const auto failed = [&](const char* why) {
    return Error{ErrorKind::kPermanent, fmt::format("{} {}", name, why)}.Because(ErrorCause::kCommand);
  };
  switch (ending) {
    case Ending::kStopped:
      return Error{ErrorKind::kCancelled, "cancelled"};
    case Ending::kMemoryLimit:
      return failed("and its commands used more memory than the sandbox allows");
    case Ending::kProcessLimit:
      return failed("and its commands started more processes than the sandbox allows");
    case Ending::kFileLimit:
      return failed("and its commands made more files than the sandbox allows");
    case Ending::kOutputLimit:
      return failed("left more files than are kept");
    case Ending::kTimeLimit:
    case Ending::kExited:
      break;
  }
  return Error{ErrorKind::kUnavailable, fmt::format("{} could not be ended in time", name)}.Because(
      ErrorCause::kTimeout);
}

}  // namespace

Result<ProgramRun> RunProgram(const Sandbox& sandbox, const ProgramJob& job) {
  RETURN_IF_ERROR(CheckServers(job));
  const std::map<std::string, std::string> places = PlacesOf(job);
  SandboxCommand command;
  ASSIGN_OR_RETURN(command.files, FilesFor(job, places));
  const auto time = std::chrono::ceil<seconds>(job.time_limit);
  const SessionPlace sessions = job.program.sessions.value_or(SessionPlace{});
  std::string words;
  for (const std::string& word : {Filled(job.program.command, places), std::to_string(time.count()),
                                  Filled(job.program.export_command, places), sessions.folder, sessions.pattern})
    words += " " + ShellWord(word);
  command.command = fmt::format("set --{}\n{}", words, Script());
  command.variables = {fmt::format("HOME={}", kHome), "TMPDIR=/tmp/scratch", "USER=agent", "TERM=dumb"};
  for (const auto& [name, text] : job.program.variables)
    command.variables.push_back(fmt::format("{}={}", name, Filled(text, places)));
  command.settings = {{"passwd", fmt::format("agent:x:1000:1000::{}:/bin/sh\n", kHome)},
                      {"group", "agent:x:1000:\n"},
                      {"hosts", "127.0.0.1 localhost\n"}};
  command.limits.time = time + kPatience + kExportTime + kPatience + kPackTime;
  command.limits.processes = 1'024;  // threads of Node.js and of what the program runs
  command.limits.output_bytes = MostTarBytes(kKept);
  command.stop = job.stop;
  command.served_port = kPort;
  command.serve = job.serve;
  ASSIGN_OR_RETURN(const SandboxOutcome outcome, sandbox.Run(command));
  if (outcome.ending != SandboxOutcome::Ending::kExited) return EndedBy(outcome.ending, job.program.name);
  Result<ProgramRun> run = Unpacked(outcome.output, job);
  if (!run) return run.error().With(job.program.name);
  run->seconds = outcome.seconds;
  return run;
}

}  // namespace upskill
