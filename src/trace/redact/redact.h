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

// One place where something was taken out. Never holds the value.
struct Redaction {
  std::string kind;        // "aws-key"
  std::size_t number = 0;  // the same value has the same number in every place
  std::size_t event = kNoIndex;
  std::size_t line = 0;  // of the source, 0 where it has none
};

// Takes secrets out of texts and puts `[redacted:aws-key:1]` in their place: keys and tokens of known shapes, private
// keys, passwords in URLs, commands and environment lines, and values of secret-looking fields; also JSON-escaped,
// base64 or line-wrapped. Numbers are stable over all texts of one Redactor. Not thread-safe.
class Redactor {
 public:
  explicit Redactor(RedactOptions options) : options_(options) {}

  std::string Apply(std::string text, std::size_t event = kNoIndex, std::size_t line = 0);
  // The same without a note, for texts that repeat a part of another.
  std::string ApplyQuietly(std::string text);

  const std::vector<Redaction>& redactions() const { return redactions_; }

 private:
  RedactOptions options_;
  std::vector<Redaction> redactions_;
  std::map<std::string, std::size_t> numbers_;  // class and SHA-256 of the value → number
  std::map<std::string, std::size_t> counts_;   // values per class
};

// All texts of a trace.
void RedactTrace(Trace& trace, Redactor& redactor);

// "2 secrets redacted (1 hf-token line 812, 1 password-in-url event 17)" with `done` "redacted"; the event where the
// source has no lines. Empty for none.
std::string RedactionSummary(const std::vector<Redaction>& redactions, std::string_view done);

// The rule for --no-redact: an error that says why, unless the teacher runs on this machine.
Status AllowWithoutRedaction(bool teacher_is_local);

// A secret in a text.
struct SecretSpan {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::string kind;
};
// In order, not overlapping.
std::vector<SecretSpan> FindSecrets(std::string_view text, const RedactOptions& options);

// Parts of FindSecrets: tokens known by their shape, and values known by what stands around them.
std::vector<SecretSpan> FindTokenShapes(std::string_view text);
std::vector<SecretSpan> FindSecretFields(std::string_view text);

// Length of a line end with the indentation behind it: plain, behind a shell's backslash, or as `\n` inside a JSON text
// (with more backslashes where that stands in another one). 0 if `text` doesn't begin with one.
std::size_t LineBreakLength(std::string_view text);

// Digits among letters, or upper and lower case in turn: a piece of a key that was broken over lines, not a word.
bool LooksLikeKeyPiece(std::string_view text);

}  // namespace upskill
