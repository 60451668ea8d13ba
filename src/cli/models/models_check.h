// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "cli/env/env.h"
#include "model/catalog.h"

namespace upskill {

// Where a provider's key comes from; never the key itself.
struct KeyState {
  enum class Kind { kVariable, kSaved, kNotNeeded, kMissing, kBroken } kind = Kind::kMissing;
  std::string source;  // the variable's name; kMissing: the one to set; kBroken: what is wrong

  bool usable() const { return kind != Kind::kMissing && kind != Kind::kBroken; }
};
KeyState KeyStateOf(const Provider& provider, const Env& env);

// Whether a server answers GET BASE/models.
struct Reachability {
  std::string provider;  // empty: a server on this machine that no provider names
  std::string host;
  enum class Kind { kReachable, kKeyRejected, kNotReachable } kind = Kind::kNotReachable;
  std::string detail;  // "12 models", why not
};

// Asks the usual local servers and, if `ask_providers`, the servers of all providers with a usable key, all at once;
// takes a few seconds at most. Of the local ones only those that answer are in the list.
std::vector<Reachability> CheckServers(const Catalog& catalog, const Env& env, bool ask_providers);

const char* ReachabilityName(Reachability::Kind kind);

}  // namespace upskill
