// SPDX-License-Identifier: Apache-2.0
#include "util/spawn_settings.h"

#include <signal.h>

namespace upskill {
namespace {

sigset_t SetOf(std::initializer_list<int> signals) {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int signal : signals) ::sigaddset(&set, signal);
  return set;
}

}  // namespace

SpawnSettings::SpawnSettings() {
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawnattr_init(&attributes);
}

SpawnSettings::~SpawnSettings() {
  ::posix_spawn_file_actions_destroy(&actions);
  ::posix_spawnattr_destroy(&attributes);
}

void SpawnSettings::SetSignals(std::initializer_list<int> blocked, std::initializer_list<int> defaults) {
  const sigset_t blocked_set = SetOf(blocked);
  const sigset_t default_set = SetOf(defaults);
  ::posix_spawnattr_setsigmask(&attributes, &blocked_set);
  ::posix_spawnattr_setsigdefault(&attributes, &default_set);
  AddFlags(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
}

void SpawnSettings::LeadGroup() {
  ::posix_spawnattr_setpgroup(&attributes, 0);
  AddFlags(POSIX_SPAWN_SETPGROUP);
}

void SpawnSettings::LeadSession() { AddFlags(POSIX_SPAWN_SETSID); }

void SpawnSettings::AddFlags(short more) {
  short flags = 0;
  ::posix_spawnattr_getflags(&attributes, &flags);
  ::posix_spawnattr_setflags(&attributes, static_cast<short>(flags | more));
}

std::vector<char*> PointersTo(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace upskill
