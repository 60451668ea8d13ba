// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <spawn.h>

#include <initializer_list>
#include <string>
#include <vector>

namespace upskill {

// What posix_spawn(3) is told about a new process, released with the object. Not thread-safe.
class SpawnSettings {
 public:
  SpawnSettings();
  ~SpawnSettings();
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;

  // The process starts with these signals blocked, and with the default action for those.
  void SetSignals(std::initializer_list<int> blocked, std::initializer_list<int> defaults);
  // The process leads a process group of its own.
  void LeadGroup();
  // The process leads a session of its own, which has no terminal, and its process group.
  void LeadSession();

  posix_spawn_file_actions_t actions{};
  posix_spawnattr_t attributes{};

 private:
  void AddFlags(short more);
};

// `words` as exec(3) wants them, with a null pointer at the end. They point into `words`.
std::vector<char*> PointersTo(std::vector<std::string>& words);

}  // namespace upskill
