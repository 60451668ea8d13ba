// SPDX-License-Identifier: Apache-2.0
#include "cluster/task_script.h"

#include <fmt/format.h>

#include "util/text.h"

namespace upskill {

std::string ShardFolder(int shard) { return fmt::format("shards/{}", shard); }

std::string TaskOutputFile(const std::string& array, const std::string& shard) {
  return fmt::format("jobs/{}-{}.out", array, shard);
}

Result<std::filesystem::path> PathOfInput(const std::string& input) {
  std::filesystem::path path = std::filesystem::path(input).lexically_normal();
  if (path.is_absolute() || path.empty() || *path.begin() == "..") {
    return InputError(fmt::format(
        "{} is outside the current folder; jobs elsewhere can be sent only files inside it: run upskill in a folder "
        "that contains it",
        input));
  }
  return path;
}

std::string TaskScript(const JobArray& array, const std::string& shard, const std::string& head) {
  std::string command;
  for (const std::string& word : array.command) command += ShellWord(word) + " ";
  return fmt::format(
      "#!/bin/sh\n"
      "# Written by upskill: each task of this array measures one shard of a run.\n"
      "{}"
      "cd {} || exit\n"
      "shard={}\n"
      "folder={}/$shard\n"
      "mkdir -p \"$folder\" || exit\n"
      "rm -f \"$folder/exit\"\n"
      "{}--shard \"$shard/{}\" --runs-dir \"$folder\" >>\"$folder/log\" 2>&1\n"
      "code=$?\n"
      "echo $code >\"$folder/exit.new\" && mv \"$folder/exit.new\" \"$folder/exit\"\n"
      "exit $code\n",
      head, ShellWord(array.working_folder.string()), shard, ShellWord((array.folder / "shards").string()), command,
      array.of);
}

}  // namespace upskill
