// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace upskill {

// For tests. Keys and passwords that were never used, assembled at run time, so that scanners don't report the sources
// as a leak.
struct Planted {
  std::string kind;
  std::string secret;   // must be removed
  std::string context;  // text that contains it
};

// Three of each class: bare, in JSON, in a sentence or command; also escaped, in base64 and broken across lines.
std::vector<Planted> PlantedSecrets();

// Texts that only look like secrets: digests, identifiers, mangled names, code that handles passwords.
std::vector<std::string> LookAlikes();

// A session in which a user message, a command and its output each contain every secret.
std::string SessionWith(const std::vector<Planted>& planted);

}  // namespace upskill
