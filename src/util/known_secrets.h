// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "util/json.h"
#include "util/secret.h"

namespace upskill {

// The keys, tokens and passwords that this process has read or is about to send. One list for the whole process, which
// only grows: whatever is received (net/transfer.h), printed (RunCommandLine), logged or written (util/files.h) is
// searched for all of them. Thread-safe.
//
// Values shorter than 8 characters or without a letter aren't searched for: `local` or a number also occurs in ordinary
// text and, unquoted, in JSON.

// From now on `secret` is masked, also in base64, in hexadecimal, percent-encoded, or escaped for JSON (also as Go
// does it) or HTML; the latter three also with every character escaped, and when they are done twice. Not: any other
// transformation, and mixtures of these.
void RememberSecret(const Secret& secret);

bool HasKnownSecret(std::string_view text);

// `text` with `***` in place of known secrets.
std::string MaskSecrets(std::string text);

// The same in all strings of the value: in the text that it was parsed from they may have been escaped ("\u0073k-…").
Json WithoutKnownSecrets(Json value);

// The same for text that arrives in pieces: the end of a piece that may be the start of a secret is kept for the next
// one. The results are valid until the next call.
class SecretStreamMask {
 public:
  std::string_view Feed(std::string_view piece);
  std::string_view Rest();  // at the end of the text

 private:
  std::string kept_;
  std::string shown_;
};

}  // namespace upskill
