// SPDX-License-Identifier: Apache-2.0
// Secrets recognised by their context: fields, environment lines, URLs, headers, flags.
#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>

#include "trace/redact/cue_set.h"
#include "trace/redact/redact.h"
#include "util/text.h"

namespace upskill {
namespace {

// Shannon entropy of the characters in `text`, in bits per character.
double Entropy(std::string_view text) {
  std::array<double, 256> counts{};
  for (const char c : text) counts.at(static_cast<unsigned char>(c)) += 1;
  double bits = 0;
  const auto size = static_cast<double>(text.size());
  for (const double count : counts) {
    if (count > 0) bits -= count / size * std::log2(count / size);
  }
  return bits;
}

// Placeholders for a secret: references, examples, code.
bool IsStandIn(std::string_view value) {
  const std::string lower = ToLowerAscii(value);
  if (value.find_first_of("${}<>()[]*") != std::string_view::npos) return true;
  for (const std::string_view word :
       {"os.environ", "process.env", "getenv", "redacted", "xxxx", "your_", "your-", "placeholder", "example.",
        "secrets.", "config.", "settings.", "self.", "args.", "options.", "env."}) {
    if (lower.find(word) != std::string::npos) return true;
  }
  for (const std::string_view word :
       {"none",     "null",     "true",     "false",   "undefined", "string",   "str",
        "required", "optional", "password", "secret",  "token",     "changeme", "todo",
        "nil",      "empty",    "missing",  "invalid", "expired",   "bearer",   "basic"}) {
    if (lower == word) return true;
  }
  return false;
}

bool HasDigit(std::string_view value) {
  return std::any_of(value.begin(), value.end(), [](char c) { return c >= '0' && c <= '9'; });
}

bool HasLetter(std::string_view value) {
  return std::any_of(value.begin(), value.end(),
                     [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); });
}

// Paths, numbers and words, which aren't secrets even in a secret's field.
bool IsPlainValue(std::string_view value) {
  if (value.front() == '/' || value.front() == '~' || value.substr(0, 2) == "./" ||
      value.find("://") != std::string_view::npos) {
    return true;
  }
  return !HasLetter(value) && value.size() < 10;
}

bool LooksRandom(std::string_view value, std::size_t least) {
  return value.size() >= least && HasDigit(value) && HasLetter(value) && Entropy(value) >= 2.8;
}

struct FieldPattern {
  const char* kind;
  const char* cue;         // occurs wherever the expression matches
  const char* expression;  // group 1: the value
  // kRandomLong: also long and not a digest
  enum class Test { kAlways, kPassword, kRandom, kRandomLong } test;
};

#define UPSKILL_SEPARATOR R"((?:\\*["'])?\s*(?:=|:=|:|=>)\s*(?:\\*["'])?)"
#define UPSKILL_VALUE R"(([^\s"'`\\,;&|]+))"

constexpr std::array<FieldPattern, 26> kFields = {{
    {"aws-secret", "secret",
     R"((?i)aws_?secret(?:_?access)?_?key)" UPSKILL_SEPARATOR R"(((?:[A-Za-z0-9+=]|\\?/){40})(?:[^A-Za-z0-9+/=]|$))",
     FieldPattern::Test::kAlways},
    {"aws-session-token", "session", R"((?i)aws_?session_?token)" UPSKILL_SEPARATOR R"(((?:[A-Za-z0-9+=]|\\?/){60,}))",
     FieldPattern::Test::kAlways},
    {"password-in-url", R"(:\\?/)",
     R"([a-zA-Z][a-zA-Z0-9+.-]{1,20}:\\?/\\?/[^\s:/@"'<>]{0,80}:([^\s/@"'<>]{3,200})@[\w.\[-])",
     FieldPattern::Test::kPassword},
    {"token-in-url", R"(:\\?/)", R"(https?:\\?/\\?/([A-Za-z0-9_-]{20,200})@[\w.-])", FieldPattern::Test::kRandom},
    {"bearer-token", "bearer", R"((?i)\bbearer\s+([A-Za-z0-9._~+/-]{16,}=*))", FieldPattern::Test::kRandom},
    {"basic-auth", "authorization",
     R"((?i)authorization(?:\\*["'])?\s*[:=]\s*(?:\\*["'])?basic\s+([A-Za-z0-9+/]{8,}={0,2}))",
     FieldPattern::Test::kAlways},
    {"password-in-command", "-u", R"((?:^|\s)(?:-u|--user)[ =](?:\\*["'])?[^\s:"'\\]+:([^\s"'\\]{4,}))",
     FieldPattern::Test::kPassword},
    {"password", "pass|pwd",
     R"((?i)(?:password|passwd|passphrase|_pass|\bpass|_pwd|\bpwd))" UPSKILL_SEPARATOR UPSKILL_VALUE,
     FieldPattern::Test::kPassword},
    {"password", "--pass", R"((?i)--(?:password|passwd|passphrase)[ =](?:\\*["'])?)" UPSKILL_VALUE,
     FieldPattern::Test::kPassword},
    {"secret", "secret|credential",
     R"((?i)(?:secret|credential|client_?secret|secret_?key|app_?secret|webhook_?secret|jwt_?secret))" UPSKILL_SEPARATOR
         UPSKILL_VALUE,
     FieldPattern::Test::kRandom},
    {"api-key", "key",
     R"((?i)(?:api[_-]?key|access[_-]?key|auth[_-]?key|private[_-]?key|signing[_-]?key|encryption[_-]?key|master[_-]?key|)"
     R"(account[_-]?key|license[_-]?key|service[_-]?key))" UPSKILL_SEPARATOR UPSKILL_VALUE,
     FieldPattern::Test::kRandom},
    {"token", "token|auth", R"((?i)(?:token|_auth|authtoken))" UPSKILL_SEPARATOR UPSKILL_VALUE,
     FieldPattern::Test::kRandom},
    {"token", "--(?:token|api|auth|access|secret)",
     R"((?i)--(?:token|api-?key|auth-?token|access-?token|secret)[ =](?:\\*["'])?)" UPSKILL_VALUE,
     FieldPattern::Test::kRandom},
    {"cookie", "(?:session|sid|token|auth)[a-z_]*=",
     R"((?i)(?:sessionid|session_?id|sid|connect\.sid|csrftoken|auth|session)=([A-Za-z0-9%._-]{24,}))",
     FieldPattern::Test::kRandomLong},
    {"authorization", "authorization",
     R"((?i)authorization(?:\\*["'])?\s*[:=]\s*(?:\\*["'])?(?:token|bot|api-?key|key|digest)\s+([A-Za-z0-9._~+/=-]{16,}))",
     FieldPattern::Test::kRandom},
    {"docker-auth", "auth", R"(\\*"auth\\*"\s*:\s*\\*"([A-Za-z0-9+/]{12,}={0,2}))", FieldPattern::Test::kRandom},
    {"netrc-password", R"(password\s)", R"(\b(?:machine|login)\s+\S+\s+(?:login\s+\S+\s+)?password\s+(\S+))",
     FieldPattern::Test::kPassword},
    {"pgpass", R"(:(?:\d{4,5}|\*):)",
     R"((?m)(?:^|[\s"'=])[\w.*-]+:(?:\d{4,5}|\*):[A-Za-z_*][\w*-]*:[A-Za-z_*][\w*-]*:([^\s:"'\\]{4,}))",
     FieldPattern::Test::kPassword},
    {"password-in-command", "mysql|mariadb",
     R"(\b(?:mysql|mariadb)\w*\s[^\n|;&]{0,300}?-p(?:\\*["'])?([^\s"'\\=-][^\s"'\\]{3,}))",
     FieldPattern::Test::kPassword},
    {"password-in-command", "login",
     R"(\b(?:docker|podman|registry|acr)\s+login\s[^\n|;&]{0,300}?-p[ =](?:\\*["'])?([^\s"'\\]{4,}))",
     FieldPattern::Test::kPassword},
    {"password-in-command", "sshpass", R"(\bsshpass\s+-p\s*(?:\\*["'])?([^\s"'\\]{3,}))",
     FieldPattern::Test::kPassword},
    {"password-in-command", "sudo",
     R"(\becho\s+(?:-\w+\s+)?(?:\\*["'])?([^\s"'|\\]{3,})(?:\\*["'])?\s*\|\s*sudo\s+(?:-\w+\s+)*-\w*S)",
     FieldPattern::Test::kPassword},
    {"password", "(?:password|passphrase) for ",
     R"((?i)\b(?:password|passphrase) for [\w.@'/:-]{1,80}:[ \t]*([^\s"'\\]{4,}))", FieldPattern::Test::kPassword},
    {"signature-in-url", "(?:sig|signature|credential)=",
     R"((?i)\b(?:sig|x-amz-signature|x-goog-signature|x-amz-credential)=([A-Za-z0-9%+/=_-]{30,}))",
     FieldPattern::Test::kRandom},
    {"key-in-url", "(?:key|appid)=", R"([?&](?:key|apikey|appid|subscription-key)=([A-Za-z0-9_-]{20,}))",
     FieldPattern::Test::kRandomLong},
    {"api-key", "_KEY", R"(\b[A-Z][A-Z0-9_]*_KEY)" UPSKILL_SEPARATOR UPSKILL_VALUE, FieldPattern::Test::kRandomLong},
}};

#undef UPSKILL_SEPARATOR
#undef UPSKILL_VALUE

// Digests, commits and UUIDs are random, but not secret.
bool IsDigest(std::string_view value) {
  return std::all_of(value.begin(), value.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F') || c == '-';
  });
}

// The end of the quoted value that begins at `begin` and was matched up to `end`, since passwords may contain any
// character. `end` itself if the value isn't quoted or the quote isn't closed on the same line.
std::size_t EndOfQuoted(std::string_view text, std::size_t begin, std::size_t end) {
  constexpr std::size_t kMax = 200;
  if (begin == 0 || (text[begin - 1] != '"' && text[begin - 1] != '\'')) return end;
  std::size_t escapes = 0;
  while (escapes + 1 < begin && text[begin - 2 - escapes] == '\\') ++escapes;
  const std::string quote = std::string(escapes, '\\') + text[begin - 1];
  const std::string_view rest = text.substr(end, kMax);
  const std::size_t close = rest.find(quote);
  return close == std::string_view::npos || rest.substr(0, close).find('\n') != std::string_view::npos ? end
                                                                                                       : end + close;
}

// The number of columns before `at` in its line.
std::size_t ColumnOf(std::string_view text, std::size_t at) {
  constexpr std::size_t kMax = 400;
  const std::string_view front = text.substr(at - std::min(at, kMax), std::min(at, kMax));
  std::size_t from = front.rfind('\n');
  if (const std::size_t escaped = front.rfind("\\n");
      escaped != std::string_view::npos && (from == std::string_view::npos || escaped > from)) {
    from = escaped + 1;
  }
  return from == std::string_view::npos ? front.size() : front.size() - from - 1;
}

// The end of a value that a terminal or editor wrapped at the end of a long line: it continues on the next line if that
// looks as random as a key and isn't the name of the next field.
std::size_t EndOfWrapped(std::string_view text, std::size_t end) {
  constexpr std::size_t kLongLine = 60;
  constexpr std::size_t kMin = 6;
  while (ColumnOf(text, end) >= kLongLine) {
    const std::size_t line_end = LineBreakLength(text.substr(end, 200));
    if (line_end == 0) break;
    std::size_t next = end + line_end;
    while (next < text.size() && (HasLetter(text.substr(next, 1)) || HasDigit(text.substr(next, 1)) ||
                                  std::string_view("+/=_-").find(text[next]) != std::string_view::npos)) {
      ++next;
    }
    const std::string_view piece = text.substr(end + line_end, next - end - line_end);
    const bool ends =
        next == text.size() || std::string_view(" \t\r\n\"'\\,;)}]&").find(text[next]) != std::string_view::npos;
    if (piece.size() < kMin || !LooksLikeKeyPiece(piece) || !ends) break;
    end = next;
  }
  return end;
}

// "user.password" of a program's source.
bool IsMemberAccess(std::string_view value) {
  const bool words = std::all_of(value.begin(), value.end(),
                                 [](char c) { return c == '.' || c == '_' || HasLetter(std::string_view(&c, 1)); });
  return words && value.find('.') != std::string_view::npos;
}

// `strong`: preceded by a quote or an equals sign, so that it isn't a word of a sentence.
bool IsPassword(std::string_view value, bool strong) {
  if (value.size() < 4 || IsStandIn(value) || IsPlainValue(value) || IsMemberAccess(value)) return false;
  const bool word = std::all_of(value.begin(), value.end(), [](char c) { return HasLetter(std::string_view(&c, 1)); });
  return !word || (strong && value.size() >= 6);
}

bool IsSecretValue(std::string_view value, FieldPattern::Test test, bool strong) {
  if (value.empty() || value.find("[redacted:") != std::string_view::npos) return false;
  switch (test) {
    case FieldPattern::Test::kAlways:
      return true;
    case FieldPattern::Test::kPassword:
      return IsPassword(value, strong);
    case FieldPattern::Test::kRandom:
      return !IsStandIn(value) && !IsPlainValue(value) && !IsMemberAccess(value) && LooksRandom(value, 12);
    case FieldPattern::Test::kRandomLong:
      return !IsStandIn(value) && !IsDigest(value) && LooksRandom(value, 20) && Entropy(value) >= 3.5;
  }
  return false;
}

}  // namespace

std::vector<SecretSpan> FindSecretFields(std::string_view text) {
  static const std::vector<std::unique_ptr<RE2>> patterns = [] {
    std::vector<std::unique_ptr<RE2>> compiled;
    compiled.reserve(kFields.size());
    for (const FieldPattern& field : kFields) compiled.push_back(std::make_unique<RE2>(field.expression));
    return compiled;
  }();
  static const CueSet cues = [] {
    std::vector<std::string_view> all;
    all.reserve(kFields.size());
    for (const FieldPattern& field : kFields) all.emplace_back(field.cue);
    return CueSet(all);
  }();
  std::vector<SecretSpan> spans;
  for (const int cue : cues.In(text)) {
    const auto i = static_cast<std::size_t>(cue);
    re2::StringPiece input(text.data(), text.size());
    re2::StringPiece value;
    while (RE2::FindAndConsume(&input, *patterns[i], &value)) {
      const auto begin = static_cast<std::size_t>(value.data() - text.data());
      const std::string_view quoted = text.substr(begin, EndOfQuoted(text, begin, begin + value.size()) - begin);
      // If several words are quoted, the first decides whether this is a secret.
      const bool sentence = quoted.find_first_of(" \t") != std::string_view::npos;
      std::string_view found = sentence ? std::string_view(value.data(), value.size()) : quoted;
      while (!found.empty() && std::string_view(".:)]}").find(found.back()) != std::string_view::npos)
        found.remove_suffix(1);
      const bool strong = begin > 0 && std::string_view("=\"':").find(text[begin - 1]) != std::string_view::npos;
      if (!IsSecretValue(found, kFields.at(i).test, strong)) continue;
      const std::size_t end = begin + (sentence ? quoted.size() : found.size());
      spans.push_back({begin, EndOfWrapped(text, end), kFields.at(i).kind});
    }
  }
  return spans;
}

}  // namespace upskill
