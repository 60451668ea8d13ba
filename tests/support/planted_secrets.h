// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace upskill {

// For tests. Keys and passwords that nobody uses, put together at run time, so that no scanner takes the sources for a
// leak.
struct Planted {
  std::string kind;
  std::string secret;   // must be gone
  std::string context;  // text that holds it
};

// Three of each class: bare, in a JSON text, in a sentence or command; also escaped, base64 and broken over lines.
std::vector<Planted> PlantedSecrets();

// Texts that look like secrets and are none: digests, identifiers, mangled names, code that handles passwords.
std::vector<std::string> LookAlikes();

// A session in which a person, a command and its output say each of them.
std::string SessionWith(const std::vector<Planted>& planted);

}  // namespace upskill
