// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "trace/trace.h"
#include "util/result.h"

namespace upskill {

struct RedactOptions {
  bool home_folders = false;  // /home/ada, /Users/ada, C:\Users\ada
  bool emails = false;
};

// One place where a secret was removed. Never contains the secret.
struct Redaction {
  std::string kind;        // "aws-key"
  std::size_t number = 0;  // the same secret has the same number everywhere
  std::size_t event = kNoIndex;
  std::size_t line = 0;  // of the source; 0 if it has no lines
};

// Replaces secrets in texts with labels such as `[redacted:aws-key:1]`: keys and tokens of known shapes, private keys,
// passwords in URLs, commands and environment lines, and values of fields named like secrets; also if JSON-escaped,
// percent-encoded, base64-encoded or line-wrapped. Numbers are consistent over all texts of one Redactor. Not
// thread-safe.
class Redactor {
 public:
  explicit Redactor(RedactOptions options) : options_(options) {}

  // For the texts to come.
  void SetOptions(RedactOptions options) { options_ = options; }

  std::string Apply(std::string text, std::size_t event = kNoIndex, std::size_t line = 0);
  // Apply without an entry in redactions(), for texts that repeat part of another.
  std::string ApplyQuietly(std::string text);
  // Replaces what Apply has replaced in other texts, wherever it occurs as a word: secrets of at least eight characters
  // with letters and digits.
  std::string ApplyKnown(std::string text) const;

  const std::vector<Redaction>& redactions() const { return redactions_; }

 private:
  RedactOptions options_;
  std::vector<Redaction> redactions_;
  std::map<std::string, std::size_t> numbers_;  // kind and SHA-256 of the secret → number
  std::map<std::string, std::size_t> counts_;   // secrets per kind
  static constexpr std::size_t kMostRemembered = 1000;
  std::map<std::string, std::string, std::less<>> labels_;  // by secret, for ApplyKnown
};

// Redacts all texts of a trace.
void RedactTrace(Trace& trace, Redactor& redactor);

// "2 secrets redacted (1 hf-token line 812, 1 password-in-url event 17)" with `done` "redacted"; the event if the
// source has no lines. Empty if there are none.
std::string RedactionSummary(const std::vector<Redaction>& redactions, std::string_view done);

// The rule for --no-redact: an error unless the teacher runs on this machine.
Status AllowWithoutRedaction(bool teacher_is_local);

// A secret in a text.
struct SecretSpan {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::string kind;
};
// In order, not overlapping.
std::vector<SecretSpan> FindSecrets(std::string_view text, const RedactOptions& options);

// The part of FindSecrets that doesn't look into escapes and encodings, and neither for home folders nor e-mail
// addresses. Not in order, may overlap; where two begin and end alike, the first names the kind better.
std::vector<SecretSpan> FindPlainSecrets(std::string_view text);

}  // namespace upskill
