// SPDX-License-Identifier: Apache-2.0
#include "trace/redact/secret_patterns.h"

#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>

#include "trace/redact/assignment.h"
#include "trace/redact/secret_value.h"

namespace upskill {
namespace {

enum class Test {
  kAlways,
  kPassword,
  kLiteral,  // a quoted password
  kRandom,
  kRandomLong,  // also long and not a digest
  kHeader,      // the value of a header that only holds a secret
};

enum class Reach { kNear, kFar };

struct Pattern {
  const char* kind;
  std::vector<std::string_view> cues;  // one of them occurs wherever the expression matches
  Reach reach;                         // kFar: the match may be long
  Test test;
  const char* expression;  // group 1 is the secret
};

#define UPSKILL_SEPARATOR R"((?:\\*["'])?\s*(?:=|:=|:|=>)\s*(?:\\*["'])?)"
#define UPSKILL_NAME R"([\w.-]*(?:password|passwd|secret|token|api_?-?key|credential|private_?-?key)[\w.-]*)"

// A table: one row for each expression.
// NOLINTNEXTLINE(readability-function-size)
const std::vector<Pattern>& Patterns() {
  static const std::vector<Pattern> all = {
      {"private-key",
       {"private key"},
       Reach::kFar,
       Test::kAlways,
       R"((-----BEGIN[A-Za-z0-9 _-]*PRIVATE KEY(?: BLOCK)?-----(?:[A-Za-z0-9+/=\s\\:,.>|"'-]|Proc-Type|DEK-Info)*?)"
       R"((?:-----END[A-Z0-9 _-]*PRIVATE KEY(?: BLOCK)?-----|$)))"},
      {"private-key",
       {"private key"},
       Reach::kFar,
       Test::kAlways,
       R"((-----BEGIN[A-Za-z0-9 _-]*PRIVATE KEY(?: BLOCK)?-----(?:\\r|\\n|\s|[A-Za-z0-9+/=])+))"},
      {"jwt",
       {".ey"},
       Reach::kFar,
       Test::kAlways,
       R"((?:\b|_)(ey[A-Za-z0-9_-]{14,}\.ey[A-Za-z0-9/_-]{14,}(?:\.[A-Za-z0-9/_-]{10,}={0,2})?))"},
      {"slack-webhook",
       {"hooks.slack"},
       Reach::kNear,
       Test::kAlways,
       R"(hooks\.slack\.com\\?/(?:services|workflows|triggers)\\?/([A-Za-z0-9+/\\]{20,90}))"},
      {"discord-webhook",
       {"webhooks"},
       Reach::kNear,
       Test::kAlways,
       R"(discord(?:app)?\.com\\?/api\\?/webhooks\\?/\d{15,}\\?/([A-Za-z0-9_-]{50,}))"},
      {"teams-webhook",
       {"webhook.office.com"},
       Reach::kNear,
       Test::kAlways,
       R"((?i)webhook\.office\.com\\?/webhookb2\\?/([0-9a-z@-]{36,80}\\?/IncomingWebhook\\?/[0-9a-z]{32}\\?/[0-9a-z-]{36}))"},
      {"telegram-token", {":aa"}, Reach::kNear, Test::kAlways, R"((?:\bbot|\b)(\d{8,10}:AA[A-Za-z0-9_-]{32,34})\b)"},
      {"telegram-token",
       {"telegr"},
       Reach::kNear,
       Test::kAlways,
       R"((?i:telegr)[^\n]{0,80}?(\b\d{5,16}:A[A-Za-z0-9_-]{34}))"},
      {"facebook-token",
       {"facebook"},
       Reach::kNear,
       Test::kRandom,
       R"((?i:facebook)[^\n]{0,100}?(\b\d{15,16}(?:\||%7C|%)[0-9A-Za-z_-]{27,40}))"},
      {"wandb-key", {"wandb"}, Reach::kNear, Test::kAlways, R"(\bwandb\s+login\s+(?:--\S+\s+)*([0-9a-fA-F]{40})\b)"},
      {"azure-key",
       {"accountkey=", "sharedaccesskey="},
       Reach::kNear,
       Test::kAlways,
       R"((?:AccountKey|SharedAccessKey)=([A-Za-z0-9+/]{40,}={0,2}))"},
      {"aws-secret",
       {"secret"},
       Reach::kNear,
       Test::kAlways,
       R"((?i)(?:aws_?secret(?:_?access)?_?key|secret_?access_?key))" UPSKILL_SEPARATOR
       R"(((?:[A-Za-z0-9+=]|\\?/){40})(?:[^A-Za-z0-9+/=]|$))"},
      {"aws-session-token",
       {"session"},
       Reach::kFar,
       Test::kAlways,
       R"((?i)(?:aws_?|")session_?token)" UPSKILL_SEPARATOR R"(((?:[A-Za-z0-9+=]|\\?/){60,}))"},
      {"password-in-url",
       {"://", ":\\/"},
       Reach::kNear,
       Test::kLiteral,
       R"([a-zA-Z][a-zA-Z0-9+.-]{1,20}:\\?/\\?/[^\s:/@"'<>]{0,80}:([^\s/"'<>]{3,200})@[\w.\[-])"},
      {"token-in-url",
       {"://", ":\\/"},
       Reach::kNear,
       Test::kRandom,
       R"(https?:\\?/\\?/([A-Za-z0-9_-]{20,200})@[\w.-])"},
      {"bearer-token", {"bearer"}, Reach::kFar, Test::kRandom, R"((?i)\bbearer\s+([A-Za-z0-9._~+/-]{16,}=*))"},
      {"basic-auth",
       {"basic"},
       Reach::kFar,
       Test::kAlways,
       R"((?i)authorization(?:\\*["'])?\s*[:=]\s*(?:\\*["'])?basic\s+([A-Za-z0-9+/]{8,}={0,3}))"},
      {"authorization",
       {"authorization"},
       Reach::kFar,
       Test::kRandom,
       R"((?i)authorization(?:\\*["'])?\s*[:=]\s*(?:\\*["'])?(?:token|bot|api-?key|key|digest|ssws|splunk|genie-?key)\s+)"
       R"(([A-Za-z0-9._~+/=-]{16,}))"},
      {"authorization",
       {"authorization:", "key:", "token:", "auth:", "secret:"},
       Reach::kNear,
       Test::kHeader,
       R"((?i)(?:-H|--header)[ \t=]{0,5}\\*["']\s*(?:[\w-]*(?:authorization|key|token|auth|secret)):[ \t]*)"
       R"((?:(?:bearer|basic|token|api-?token|api-?key)[ \t]+)?([A-Za-z0-9=~@.+/_-]{8,})\\*["'])"},
      {"password-in-command",
       {" -u", "--user", "--proxy-user", "curl"},
       Reach::kNear,
       Test::kLiteral,
       R"((?:^|\s)(?:-[a-zA-Z]{0,4}[uU]|--user|--proxy-user)(?:=|[ \t]*)'[^':\n]*:([^'\n]{3,})')"},
      {"password-in-command",
       {" -u", "--user", "--proxy-user", "curl"},
       Reach::kNear,
       Test::kLiteral,
       R"((?:^|\s)(?:-[a-zA-Z]{0,4}[uU]|--user|--proxy-user)(?:=|[ \t]*)\\*"[^":\n\\]*:([^"\n\\]{3,})\\*")"},
      {"password-in-command",
       {" -u", "--user", "--proxy-user", "curl"},
       Reach::kNear,
       Test::kLiteral,
       R"re((?:^|\s)(?:-[a-zA-Z]{0,4}[uU]|--user|--proxy-user)(?:=|[ \t]+)(?:"[^"\n]*"|'[^'\n]*'|[^\s:"'\\]+):(?:"([^"\n]{3,})"))re"},
      {"password-in-command",
       {" -u", "--user", "--proxy-user", "curl"},
       Reach::kNear,
       Test::kLiteral,
       R"re((?:^|\s)(?:-[a-zA-Z]{0,4}[uU]|--user|--proxy-user)(?:=|[ \t]+)(?:"[^"\n]*"|'[^'\n]*'|[^\s:"'\\]+):(?:'([^'\n]{3,})'))re"},
      {"password-in-command",
       {" -u", "--user", "--proxy-user", "curl"},
       Reach::kNear,
       Test::kPassword,
       R"((?:^|\s)(?:-[a-zA-Z]{0,4}[uU]|--user|--proxy-user)(?:=|[ \t]+)[^\s:"'\\]+:([^\s"'\\]{4,}))"},
      {"token-in-command",
       {" -u", "--user"},
       Reach::kNear,
       Test::kRandom,
       R"((?:^|\s)(?:-u|--user)(?:=|[ \t]+)(?:\\*["'])?([^\s"'\\:@/]{10,}):(?:\\*["']|\s|$))"},
      {"cookie",
       {"sid=", "session=", "sessionid=", "session_id=", "token=", "auth="},
       Reach::kNear,
       Test::kRandomLong,
       R"((?i)(?:sessionid|session_?id|sid|connect\.sid|csrftoken|auth|session)=([A-Za-z0-9%._-]{24,}))"},
      {"docker-auth",
       {"auth\\\"", "auth\""},
       Reach::kNear,
       Test::kRandom,
       R"(\\*"auth\\*"\s*:\s*\\*"([A-Za-z0-9+/]{12,}={0,2}))"},
      {"netrc-password",
       {"login", "machine"},
       Reach::kNear,
       Test::kPassword,
       R"((?m)(?:\bmachine\s+\S+\s+(?:login\s+\S+\s+)?|^[ \t]*login\s+\S+\s+)password\s+(\S+))"},
      {"pgpass",
       {":543", ":643", ":*:"},
       Reach::kNear,
       Test::kPassword,
       R"((?m)(?:^|[\s"'=])[\w.*-]+:(?:\d{4,5}|\*):[A-Za-z_*][\w*-]*:[A-Za-z_*][\w*-]*:([^\s:"'\\]{4,}))"},
      {"password-in-command",
       {"mysql", "mariadb"},
       Reach::kNear,
       Test::kPassword,
       R"(\b(?:mysql|mariadb)\w*\s[^\n|;&]{0,300}?-p(?:\\*["'])?([^\s"'\\=-][^\s"'\\]{3,}))"},
      {"password-in-command",
       {"login"},
       Reach::kNear,
       Test::kPassword,
       R"(\b(?:docker|podman|registry|acr)\s+login\s[^\n|;&]{0,300}?-p[ =](?:\\*["'])?([^\s"'\\]{4,}))"},
      {"password-in-command", {"sshpass"}, Reach::kNear, Test::kLiteral, R"(\bsshpass\s+-p\s*'([^'\n]{3,})')"},
      {"password-in-command",
       {"sshpass"},
       Reach::kNear,
       Test::kPassword,
       R"(\bsshpass\s+-p\s*(?:\\*["'])?([^\s"'\\]{3,}))"},
      {"password-in-command",
       {"sudo"},
       Reach::kNear,
       Test::kPassword,
       R"(\becho\s+(?:-\w+\s+)?(?:\\*["'])?([^\s"'|\\]{3,})(?:\\*["'])?\s*\|\s*sudo\s+(?:-\w+\s+)*-\w*S)"},
      {"password",
       {"pwd=", "pwd ="},
       Reach::kNear,
       Test::kPassword,
       R"((?i)\b(?:uid|user(?:name| id)?|server|database|driver|dsn|host(?:name)?|data source)\s?=[^\n"']{1,300};\s?pwd\s?=\s?\{?)"
       R"(([^$;\s"'\\}][^;\s"'\\}]{3,}))"},
      {"password",
       {"pwd=", "pwd ="},
       Reach::kNear,
       Test::kPassword,
       R"((?i)\bpwd\s?=\s?\{?([^$;\s"'\\}][^;\s"'\\}]{3,})\}?;[^\n"']{0,300}?\b(?:uid|user(?:name| id)?|server|database|driver|dsn)\s?=)"},
      {"password",
       {"password for ", "passphrase for "},
       Reach::kNear,
       Test::kPassword,
       R"((?i)\b(?:password|passphrase) for [\w.@'/:-]{1,80}:[ \t]*([^\s"'\\]{4,}))"},
      {"signature-in-url",
       {"sig=", "signature=", "credential="},
       Reach::kNear,
       Test::kRandom,
       R"((?i)\b(?:sig|x-amz-signature|x-goog-signature|x-amz-credential)=([A-Za-z0-9%+/=_-]{30,}))"},
      {"key-in-url",
       {"key=", "appid="},
       Reach::kNear,
       Test::kRandomLong,
       R"([?&](?:key|apikey|appid|subscription-key)=([A-Za-z0-9_-]{20,}))"},
      {"secret",
       {"value=", "value ="},
       Reach::kNear,
       Test::kLiteral,
       R"((?i)\b(?:key|name)\s*=\s*\\*["'])" UPSKILL_NAME R"(\\*["']\s*value\s*=\s*\\*["']([^"'\\\n]{6,}))"},
      {"secret",
       {"value\"", "value\\\"", "value'"},
       Reach::kNear,
       Test::kLiteral,
       R"((?i)\\*["'](?:key|name)\\*["']\s*:\s*\\*["'])" UPSKILL_NAME
       R"(\\*["']\s*,\s*\\*["']value\\*["']\s*:\s*\\*["']([^"'\\\n]{6,}))"},
      {"secret",
       {"value:"},
       Reach::kNear,
       Test::kLiteral,
       R"((?i)\bname:[ \t]*["']?)" UPSKILL_NAME R"(["']?[ \t]*\n[ \t]*value:[ \t]*["']?([^\s"'\\]{6,}))"},
  };
  return all;
}

#undef UPSKILL_SEPARATOR
#undef UPSKILL_NAME

// Values of a Kubernetes Secret, which are base64 of anything.
constexpr std::array kSecretManifest = {std::string_view("kind: secret"), std::string_view("kind: 'secret'"),
                                        std::string_view("kind: \"secret\"")};

bool Passes(std::string_view value, Test test, bool strong) {
  if (value.empty() || value.find("[redacted:") != std::string_view::npos) return false;
  switch (test) {
    case Test::kAlways:
      return true;
    case Test::kPassword:
      return LooksLikePassword(value, strong, false);
    case Test::kLiteral:
      return LooksLikePassword(value, true, true);
    case Test::kRandom:
      return !IsPlaceholder(value, false) && value.front() != '/' && LooksRandom(value, 12);
    case Test::kRandomLong:
      return !IsPlaceholder(value, false) && !IsDigest(value) && LooksRandom(value, 20) && Entropy(value) >= 3.5;
    case Test::kHeader:
      return !IsPlaceholder(value, true) && Entropy(value) >= 2.75 && (HasDigit(value) || HasRandomCase(value));
  }
  return false;
}

std::string_view Piece(re2::StringPiece piece) { return {piece.data(), piece.size()}; }

void MatchPattern(std::string_view text, std::size_t from, std::size_t to, const Pattern& pattern,
                  const RE2& expression, std::vector<SecretSpan>& spans) {
  re2::StringPiece input(text.data() + from, to - from);
  re2::StringPiece group;
  while (RE2::FindAndConsume(&input, expression, &group)) {
    std::string_view value = Piece(group);
    const auto begin = static_cast<std::size_t>(value.data() - text.data());
    if (pattern.test == Test::kPassword || pattern.test == Test::kRandom) {
      while (!value.empty() && std::string_view(".:)]}>").find(value.back()) != std::string_view::npos)
        value.remove_suffix(1);
    }
    const bool strong = begin > 0 && std::string_view("=\"':").find(text[begin - 1]) != std::string_view::npos;
    if (!Passes(value, pattern.test, strong)) continue;
    const std::size_t end = begin + value.size();
    spans.push_back({begin, pattern.test == Test::kLiteral ? end : EndOfWrapped(text, end), pattern.kind});
  }
}

struct Range {
  std::size_t from = 0;
  std::size_t to = 0;
};

// Adds the part of the text around a cue in which its pattern may match, from the beginning of a word, to parts that do
// not touch each other.
void AddAround(std::string_view text, std::size_t at, Reach reach, std::vector<Range>& ranges) {
  constexpr std::size_t kBefore = 340;
  constexpr std::size_t kAfter = 1000;
  constexpr std::size_t kFarBefore = 4096;
  constexpr std::size_t kFarAfter = 16'384;
  const std::size_t before = reach == Reach::kFar ? kFarBefore : kBefore;
  const std::size_t to = std::min(text.size(), at + (reach == Reach::kFar ? kFarAfter : kAfter));
  std::size_t from = at - std::min(at, before);
  if (!ranges.empty() && from <= ranges.back().to) {
    ranges.back().to = std::max(ranges.back().to, to);
    return;
  }
  const auto is_blank = [&](std::size_t i) {
    return std::string_view(" \t\r\n").find(text[i]) != std::string_view::npos;
  };
  while (from > 0 && at - from < 2 * before && !is_blank(from - 1)) --from;
  ranges.push_back({from, to});
}

// A bot's token: three parts in base64, the first of which is a number.
void FindDiscordTokens(std::string_view text, std::vector<SecretSpan>& spans) {
  constexpr std::size_t kMiddle = 6;
  const auto is_part = [&](std::size_t at) { return IsAlnumChar(text[at]) || text[at] == '_' || text[at] == '-'; };
  for (std::size_t dot = text.find('.'); dot != std::string_view::npos; dot = text.find('.', dot + 1)) {
    const std::size_t second = dot + kMiddle + 1;
    if (second >= text.size() || text[second] != '.') continue;
    std::size_t begin = dot;
    while (begin > 0 && dot - begin < 30 && is_part(begin - 1)) --begin;
    const std::size_t first = dot - begin;
    if (first < 24 || first > 28 || std::string_view("MNO").find(text[begin]) == std::string_view::npos) continue;
    std::size_t end = second + 1;
    while (end < text.size() && is_part(end)) ++end;
    const std::size_t last = end - second - 1;
    if (last >= 27 && last <= 40) spans.push_back({begin, end, "discord-token"});
  }
}

// The values of `data:` and `stringData:` in the manifest of a Kubernetes Secret.
void FindManifestValues(std::string_view text, const Range& range, std::vector<SecretSpan>& spans) {
  static const RE2 data(R"((?m)^([ \t]*)(?:data|stringData):[ \t]*$)");
  static const RE2 entry(
      R"((?:[ \t]*#[^\n]*\n)*([ \t]+)[\w.-]+:[ \t]*(?:[|>][+-]?\s+)?["']?([^\s"'#{}]{6,})["']?[ \t]*(?:\n|$))");
  re2::StringPiece input(text.data() + range.from, range.to - range.from);
  re2::StringPiece indent;
  while (RE2::FindAndConsume(&input, data, &indent)) {
    re2::StringPiece lines = input;
    if (!lines.empty() && lines[0] == '\n') lines.remove_prefix(1);
    re2::StringPiece own;
    re2::StringPiece value;
    while (RE2::Consume(&lines, entry, &own, &value) && own.size() > indent.size()) {
      if (IsPlaceholder(Piece(value), true)) continue;
      const auto begin = static_cast<std::size_t>(value.data() - text.data());
      spans.push_back({begin, begin + value.size(), "kubernetes-secret"});
    }
  }
}

// Which patterns a word is a cue of.
const std::vector<std::vector<std::size_t>>& PatternsOfWords() {
  static const std::vector<std::vector<std::size_t>> all = [] {
    std::vector<std::vector<std::size_t>> of_words;
    for (std::size_t i = 0; i < Patterns().size(); ++i) {
      for (std::size_t k = 0; k < Patterns()[i].cues.size(); ++k) of_words.push_back({i});
    }
    return of_words;
  }();
  return all;
}

}  // namespace

std::vector<std::string_view> PatternWords() {
  std::vector<std::string_view> words;
  for (const Pattern& pattern : Patterns()) words.insert(words.end(), pattern.cues.begin(), pattern.cues.end());
  words.insert(words.end(), kSecretManifest.begin(), kSecretManifest.end());
  return words;
}

std::vector<SecretSpan> FindPatterns(std::string_view text, const std::vector<PatternHit>& hits) {
  static const std::vector<std::unique_ptr<RE2>> expressions = [] {
    std::vector<std::unique_ptr<RE2>> compiled;
    for (const Pattern& pattern : Patterns()) compiled.push_back(std::make_unique<RE2>(pattern.expression));
    return compiled;
  }();
  std::vector<std::vector<Range>> ranges(Patterns().size());
  std::vector<Range> manifests;
  std::vector<SecretSpan> spans;
  for (const PatternHit& hit : hits) {
    if (hit.word >= PatternsOfWords().size()) {
      AddAround(text, hit.begin, Reach::kFar, manifests);
      continue;
    }
    for (const std::size_t i : PatternsOfWords()[hit.word]) AddAround(text, hit.begin, Patterns()[i].reach, ranges[i]);
  }
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    for (const Range& range : ranges[i])
      MatchPattern(text, range.from, range.to, Patterns()[i], *expressions[i], spans);
  }
  for (const Range& range : manifests) FindManifestValues(text, range, spans);
  FindDiscordTokens(text, spans);
  return spans;
}

}  // namespace upskill
