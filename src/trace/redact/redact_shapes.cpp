// SPDX-License-Identifier: Apache-2.0
// Tokens recognised by their shape. Prefixes and lengths are those that issuers publish for secret scanning.
#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>

#include "trace/redact/cue_set.h"
#include "trace/redact/redact.h"

namespace upskill {
namespace {

enum class Charset { kAlnum, kWord, kDotted, kHex, kUpper };

struct Shape {
  std::string_view prefix;
  std::string_view kind;
  Charset charset;
  std::size_t least;  // characters after the prefix
  std::size_t most;   // equal to `least`: exactly that many
};

constexpr std::size_t kAny = 400;

constexpr std::array<Shape, 76> kShapes = {{
    {"sk-ant-", "anthropic-key", Charset::kWord, 24, kAny},
    {"sk-or-v1-", "openrouter-key", Charset::kHex, 40, 64},
    {"sk-proj-", "openai-key", Charset::kWord, 24, kAny},
    {"sk-svcacct-", "openai-key", Charset::kWord, 24, kAny},
    {"sk-admin-", "openai-key", Charset::kWord, 24, kAny},
    {"sk-lf-", "langfuse-key", Charset::kWord, 30, 40},
    {"sk-", "openai-key", Charset::kAlnum, 32, kAny},
    {"AKIA", "aws-key", Charset::kUpper, 16, 16},
    {"ASIA", "aws-key", Charset::kUpper, 16, 16},
    {"ABIA", "aws-key", Charset::kUpper, 16, 16},
    {"ghp_", "github-token", Charset::kAlnum, 36, 36},
    {"gho_", "github-token", Charset::kAlnum, 36, 36},
    {"ghu_", "github-token", Charset::kAlnum, 36, 36},
    {"ghs_", "github-token", Charset::kAlnum, 36, 36},
    {"ghr_", "github-token", Charset::kAlnum, 36, 76},
    {"github_pat_", "github-token", Charset::kWord, 40, 82},
    {"glpat-", "gitlab-token", Charset::kDotted, 20, 64},
    {"glrt-", "gitlab-token", Charset::kDotted, 20, 64},
    {"gldt-", "gitlab-token", Charset::kWord, 20, 64},
    {"hf_", "hf-token", Charset::kAlnum, 30, 40},
    {"api_org_", "hf-token", Charset::kAlnum, 30, 40},
    {"AIza", "google-key", Charset::kWord, 35, 35},
    {"ya29.", "google-token", Charset::kWord, 30, kAny},
    {"GOCSPX-", "google-secret", Charset::kWord, 28, 28},
    {"xoxb-", "slack-token", Charset::kWord, 20, 200},
    {"xoxp-", "slack-token", Charset::kWord, 20, 200},
    {"xoxa-", "slack-token", Charset::kWord, 20, 200},
    {"xoxr-", "slack-token", Charset::kWord, 20, 200},
    {"xoxs-", "slack-token", Charset::kWord, 20, 200},
    {"xapp-", "slack-token", Charset::kWord, 20, 200},
    {"sk_live_", "stripe-key", Charset::kAlnum, 20, 200},
    {"sk_test_", "stripe-key", Charset::kAlnum, 20, 200},
    {"rk_live_", "stripe-key", Charset::kAlnum, 20, 200},
    {"rk_test_", "stripe-key", Charset::kAlnum, 20, 200},
    {"whsec_", "stripe-key", Charset::kAlnum, 24, 80},
    {"SG.", "sendgrid-key", Charset::kDotted, 60, 70},
    {"npm_", "npm-token", Charset::kAlnum, 36, 36},
    {"pypi-AgE", "pypi-token", Charset::kWord, 40, kAny},
    {"dckr_pat_", "docker-token", Charset::kWord, 24, 40},
    {"dop_v1_", "digitalocean-token", Charset::kHex, 64, 64},
    {"gsk_", "groq-key", Charset::kAlnum, 40, 80},
    {"xai-", "xai-key", Charset::kAlnum, 60, 100},
    {"r8_", "replicate-token", Charset::kAlnum, 36, 40},
    {"pplx-", "perplexity-key", Charset::kAlnum, 40, 64},
    {"dapi", "databricks-token", Charset::kHex, 32, 34},
    {"hvs.", "vault-token", Charset::kWord, 24, 200},
    {"AGE-SECRET-KEY-1", "age-key", Charset::kUpper, 50, 64},
    {"lin_api_", "linear-key", Charset::kAlnum, 32, 48},
    {"ntn_", "notion-token", Charset::kAlnum, 40, 60},
    {"shpat_", "shopify-token", Charset::kHex, 32, 32},
    {"shpss_", "shopify-token", Charset::kHex, 32, 32},
    {"sq0atp-", "square-token", Charset::kWord, 22, 22},
    {"sq0csp-", "square-token", Charset::kWord, 43, 43},
    {"NRAK-", "newrelic-key", Charset::kAlnum, 27, 27},
    {"sntrys_", "sentry-token", Charset::kWord, 40, kAny},
    {"sbp_", "supabase-token", Charset::kHex, 40, 40},
    {"figd_", "figma-token", Charset::kWord, 36, 60},
    {"ATATT3", "atlassian-token", Charset::kWord, 60, 240},
    {"dp.pt.", "doppler-token", Charset::kAlnum, 40, 44},
    {"pscale_tkn_", "planetscale-token", Charset::kWord, 32, 64},
    {"nfp_", "netlify-token", Charset::kAlnum, 36, 40},
    {"PMAK-", "postman-key", Charset::kWord, 50, 64},
    {"tskey-", "tailscale-key", Charset::kWord, 24, 80},
    {"key-", "mailgun-key", Charset::kHex, 32, 32},
    {"SK", "twilio-key", Charset::kHex, 32, 32},
    {"tvly-", "tavily-key", Charset::kWord, 24, 60},
    {"nvapi-", "nvidia-key", Charset::kWord, 50, 90},
    {"csk-", "cerebras-key", Charset::kAlnum, 40, 60},
    {"jina_", "jina-key", Charset::kWord, 50, 80},
    {"glsa_", "grafana-token", Charset::kWord, 36, 60},
    {"rubygems_", "rubygems-key", Charset::kHex, 48, 48},
    {"pul-", "pulumi-token", Charset::kHex, 40, 40},
    {"glptt-", "gitlab-token", Charset::kWord, 20, 64},
    {"oy2", "nuget-key", Charset::kAlnum, 43, 43},
    {"ddp_", "datadog-key", Charset::kAlnum, 32, 40},
    {"ops_ey", "onepassword-token", Charset::kWord, 100, 1200},
}};

bool IsAlnum(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

bool InCharset(char c, Charset charset) {
  switch (charset) {
    case Charset::kAlnum:
      return IsAlnum(c);
    case Charset::kWord:
      return IsAlnum(c) || c == '_' || c == '-';
    case Charset::kDotted:
      return IsAlnum(c) || c == '_' || c == '-' || c == '.';
    case Charset::kHex:
      return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
    case Charset::kUpper:
      return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z');
  }
  return false;
}

bool HasDigitAndLetter(std::string_view text) {
  const bool digit = std::any_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
  const bool letter = std::any_of(text.begin(), text.end(), [](char c) { return IsAlnum(c) && (c < '0' || c > '9'); });
  return digit && letter;
}

std::size_t RunLength(std::string_view text, Charset charset) {
  std::size_t length = 0;
  while (length < text.size() && InCharset(text[length], charset)) ++length;
  return length;
}

// The end of the token whose body begins at `at`, or npos. A body may continue after a line end if it is too short, or
// if what follows looks as random as a key.
std::size_t TokenEnd(std::string_view text, std::size_t at, const Shape& shape) {
  std::size_t have = 0;
  std::string body;
  while (true) {
    const std::size_t run = RunLength(text.substr(at, shape.most - have + 1), shape.charset);
    if (have + run > shape.most) return shape.most < kAny ? std::string_view::npos : at + run;
    body += text.substr(at, run);
    have += run;
    at += run;
    if (have >= shape.most) break;
    const std::size_t line_end = LineBreakLength(text.substr(at));
    if (line_end == 0) break;
    const std::size_t next = RunLength(text.substr(at + line_end), shape.charset);
    const std::string_view fragment = text.substr(at + line_end, next);
    const bool completes = have < shape.least && have + next >= shape.least && have + next <= shape.most;
    const bool goes_on = have + next <= shape.most && next >= 8 && LooksLikeKeyPiece(fragment);
    if (!completes && !goes_on) break;
    at += line_end;
  }
  if (have < shape.least || !HasDigitAndLetter(body)) return std::string_view::npos;
  return at;
}

const RE2& PrefixPattern() {
  static const RE2 pattern([] {
    std::string alternatives;
    for (const Shape& shape : kShapes) {
      if (!alternatives.empty()) alternatives += '|';
      alternatives += RE2::QuoteMeta(re2::StringPiece(shape.prefix.data(), shape.prefix.size()));
    }
    return "(" + alternatives + ")";
  }());
  return pattern;
}

struct Pattern {
  const char* kind;
  const char* cue;         // occurs wherever the expression matches
  const char* expression;  // group 1 is the secret
};

// Shapes that are more than a prefix.
constexpr std::array<Pattern, 9> kPatterns = {{
    {"private-key", "PRIVATE KEY",
     R"((-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----(?:[A-Za-z0-9+/=\s\\:,.>|-]|Proc-Type|DEK-Info)*?)"
     R"((?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|$)))"},
    {"private-key", "PRIVATE KEY",
     R"((-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----(?:\\r|\\n|\s|[A-Za-z0-9+/=])+))"},
    {"jwt", "eyJ", R"(\b(eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{10,}))"},
    {"slack-webhook", R"(hooks\.slack)",
     R"(hooks\.slack\.com\\?/services\\?/(T[A-Z0-9]{6,}\\?/B[A-Z0-9]{6,}\\?/[A-Za-z0-9]{16,}))"},
    {"discord-webhook", "webhooks", R"(discord(?:app)?\.com\\?/api\\?/webhooks\\?/\d{15,}\\?/([A-Za-z0-9_-]{50,}))"},
    {"telegram-token", ":AA", R"((?:\bbot|\b)(\d{8,10}:AA[A-Za-z0-9_-]{32,34})\b)"},
    {"discord-token", R"([MNO][\w-]{23,27}\.[\w-]{6}\.)",
     R"(\b([MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40})\b)"},
    {"wandb-key", "wandb", R"(\bwandb\s+login\s+(?:--\S+\s+)*([0-9a-fA-F]{40})\b)"},
    {"azure-key", "Account|Shared", R"((?:AccountKey|SharedAccessKey)=([A-Za-z0-9+/]{40,}={0,2}))"},
}};

}  // namespace

std::size_t LineBreakLength(std::string_view text) {
  std::size_t i = 0;
  while (i < text.size() && i < 8 && text[i] == '\\') ++i;
  if (text.substr(i, 2) == "\r\n") ++i;
  const bool escaped = i > 0 && text.substr(i, 1) == "n";
  if (!escaped && text.substr(i, 1) != "\n") return 0;
  ++i;
  while (i < text.size() && (text[i] == ' ' || text[i] == '\t')) ++i;
  return i;
}

bool LooksLikeKeyPiece(std::string_view text) {
  constexpr std::size_t kMaxTurnsOfWords = 5;
  if (HasDigitAndLetter(text)) return true;
  const auto is_upper = [](char c) { return c >= 'A' && c <= 'Z'; };
  std::size_t turns = 0;
  for (std::size_t i = 1; i < text.size(); ++i) turns += is_upper(text[i]) != is_upper(text[i - 1]) ? 1 : 0;
  return turns > kMaxTurnsOfWords;
}

std::vector<SecretSpan> FindTokenShapes(std::string_view text) {
  std::vector<SecretSpan> spans;
  re2::StringPiece rest(text.data(), text.size());
  re2::StringPiece found;
  while (RE2::FindAndConsume(&rest, PrefixPattern(), &found)) {
    const auto begin = static_cast<std::size_t>(found.data() - text.data());
    if (begin > 0 && (IsAlnum(text[begin - 1]) || text[begin - 1] == '_')) {
      // In a JSON string, a preceding `\n` or `\t` looks like a letter.
      const bool escape = begin > 1 && text[begin - 2] == '\\' &&
                          std::string_view("nrt").find(text[begin - 1]) != std::string_view::npos;
      if (!escape) continue;
    }
    // The alternation takes the first matching prefix, so longer prefixes come before their own beginnings.
    for (const Shape& shape : kShapes) {
      if (text.substr(begin, shape.prefix.size()) != shape.prefix) continue;
      // "cache-key-<digest>" isn't a Mailgun key.
      if (shape.prefix == "key-" && begin > 0 && text[begin - 1] == '-') continue;
      const std::size_t end = TokenEnd(text, begin + shape.prefix.size(), shape);
      if (end == std::string_view::npos) continue;
      spans.push_back({begin, end, std::string(shape.kind)});
      rest = re2::StringPiece(text.data() + end, text.size() - end);
      break;
    }
  }
  static const std::vector<std::pair<std::string, std::unique_ptr<RE2>>> patterns = [] {
    std::vector<std::pair<std::string, std::unique_ptr<RE2>>> compiled;
    compiled.reserve(kPatterns.size());
    for (const Pattern& pattern : kPatterns)
      compiled.emplace_back(pattern.kind, std::make_unique<RE2>(pattern.expression));
    return compiled;
  }();
  static const CueSet cues = [] {
    std::vector<std::string_view> all;
    all.reserve(kPatterns.size());
    for (const Pattern& pattern : kPatterns) all.emplace_back(pattern.cue);
    return CueSet(all);
  }();
  for (const int cue : cues.In(text)) {
    const auto& [kind, pattern] = patterns[static_cast<std::size_t>(cue)];
    re2::StringPiece input(text.data(), text.size());
    while (RE2::FindAndConsume(&input, *pattern, &found)) {
      const auto begin = static_cast<std::size_t>(found.data() - text.data());
      spans.push_back({begin, begin + found.size(), kind});
    }
  }
  return spans;
}

}  // namespace upskill
