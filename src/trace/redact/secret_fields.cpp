// SPDX-License-Identifier: Apache-2.0
#include "trace/redact/secret_fields.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

#include "trace/redact/assignment.h"
#include "trace/redact/secret_value.h"
#include "trace/redact/token_formats.h"
#include "util/text.h"

namespace upskill {
namespace {

// Keys without a prefix, told by the issuer's name in the field and by their alphabet and length.

struct ValueForm {
  Charset charset = Charset::kAlnum;
  std::uint16_t least = 0;
  std::uint16_t most = 0;  // 0: no form
  // How the value begins, counted in the lengths. Initialized for -Wmissing-field-initializers.
  std::string_view prefix = {};  // NOLINT(readability-redundant-member-init)
};

struct IssuerField {
  std::string_view keyword;  // in the name of the field, in lower case
  std::string_view kind;
  std::array<ValueForm, 4> forms;
};

// A table: one row for each name of an issuer.
// NOLINTNEXTLINE(readability-function-size)
const std::vector<IssuerField>& IssuerFields() {
  using enum Charset;
  constexpr ValueForm kUuid = {kWord, 36, 36};
  static const std::vector<IssuerField> all = {
      {"adafruit", "adafruit-key", {{{kWord, 32, 32}}}},
      {"adobe", "adobe-key", {{{kHex, 32, 32}}}},
      {"airtable", "airtable-key", {{{kAlnum, 17, 17}}}},
      {"algolia", "algolia-key", {{{kAlnum, 32, 32}}}},
      {"alibaba", "alibaba-secret", {{{kAlnum, 30, 30}}}},
      {"aliyun", "alibaba-secret", {{{kAlnum, 30, 30}}}},
      {"amplitude", "amplitude-key", {{{kHex, 32, 32}}}},
      {"artifactory", "artifactory-key", {{{kAlnum, 73, 73}, {kAlnum, 64, 64}}}},
      {"asana", "asana-secret", {{{kAlnum, 32, 32}, {kDigits, 16, 16}}}},
      {"assemblyai", "assemblyai-key", {{{kHex, 32, 32}}}},
      {"atlassian", "atlassian-token", {{{kAlnum, 24, 24}}}},
      {"beamer", "beamer-token", {{{kPadded, 46, 46, "b_"}}}},
      {"bintray", "artifactory-key", {{{kAlnum, 73, 73}, {kAlnum, 64, 64}}}},
      {"bitbucket", "bitbucket-secret", {{{kAlnum, 32, 32}, {kPadded, 64, 64}}}},
      {"bittrex", "bittrex-key", {{{kAlnum, 32, 32}}}},
      {"bundle_enterprise__contribsys__com", "sidekiq-secret", {}},
      {"bundle_gems__contribsys__com", "sidekiq-secret", {}},
      {"circleci", "circleci-token", {{{kHex, 40, 40}}}},
      {"cloudflare", "cloudflare-key", {{{kWord, 40, 40}, {kHex, 37, 37}}}},
      {"co_api_key", "cohere-key", {{{kAlnum, 40, 40}}}},
      {"codecov", "codecov-token", {{{kAlnum, 32, 32}, kUuid}}},
      {"cohere", "cohere-key", {{{kAlnum, 40, 40}}}},
      {"coinbase", "coinbase-key", {{{kWord, 64, 64}}}},
      {"confluence", "atlassian-token", {{{kAlnum, 24, 24}}}},
      {"confluent", "confluent-key", {{{kAlnum, 16, 16}, {kBase64, 64, 64}}}},
      {"contentful", "contentful-token", {{{kPadded, 43, 43}}}},
      {"datadog", "datadog-key", {{{kAlnum, 40, 40}, {kHex, 32, 32}}}},
      {"deepgram", "deepgram-key", {{{kHex, 40, 40}}}},
      {"deepseek", "deepseek-key", {{{kAlnum, 35, 35, "sk-"}}}},
      {"discord", "discord-key", {{{kHex, 64, 64}, {kPadded, 32, 32}, {kDigits, 18, 18}}}},
      {"droneci", "droneci-token", {{{kAlnum, 32, 32}}}},
      {"dropbox", "dropbox-token", {{{kAlnum, 15, 15}, {kPadded, 64, 64}, {kPadded, 130, 160, "sl."}}}},
      {"elevenlabs", "elevenlabs-key", {{{kHex, 32, 32}}}},
      {"etsy", "etsy-token", {{{kAlnum, 24, 24}}}},
      {"facebook", "facebook-secret", {{{kHex, 32, 32}}}},
      {"fastly", "fastly-token", {{{kPadded, 32, 32}}}},
      {"finicity", "finicity-key", {{{kHex, 32, 32}, {kAlnum, 20, 20}}}},
      {"finnhub", "finnhub-token", {{{kAlnum, 20, 20}}}},
      {"flickr", "flickr-key", {{{kAlnum, 32, 32}}}},
      {"freshbooks", "freshbooks-token", {{{kAlnum, 64, 64}}}},
      {"gitter", "gitter-token", {{{kWord, 40, 40}}}},
      {"gocardless", "gocardless-token", {{{kPadded, 45, 45, "live_"}}}},
      {"heroku", "heroku-key", {{kUuid}}},
      {"hubspot", "hubspot-key", {{kUuid}}},
      {"intercom", "intercom-key", {{{kPadded, 60, 60}}}},
      {"jfrog", "artifactory-key", {{{kAlnum, 73, 73}, {kAlnum, 64, 64}}}},
      {"jira", "atlassian-token", {{{kAlnum, 24, 24}}}},
      {"kraken", "kraken-key", {{{kBase64, 80, 90}}}},
      {"kucoin", "kucoin-key", {{{kHex, 24, 24}, kUuid}}},
      {"launchdarkly", "launchdarkly-key", {{{kPadded, 40, 40}}}},
      {"linear", "linear-secret", {{{kHex, 32, 32}}}},
      {"linked_in", "linkedin-secret", {{{kAlnum, 14, 14}, {kAlnum, 16, 16}}}},
      {"linked-in", "linkedin-secret", {{{kAlnum, 14, 14}, {kAlnum, 16, 16}}}},
      {"linkedin", "linkedin-secret", {{{kAlnum, 14, 14}, {kAlnum, 16, 16}}}},
      {"looker", "looker-secret", {{{kAlnum, 20, 20}, {kAlnum, 24, 24}}}},
      {"mailgun", "mailgun-key", {{{kWord, 50, 50}}}},
      {"mattermost", "mattermost-token", {{{kAlnum, 26, 26}}}},
      {"meraki", "meraki-key", {{{kHex, 40, 40}}}},
      {"message_bird", "messagebird-key", {{{kAlnum, 25, 25}, kUuid}}},
      {"message-bird", "messagebird-key", {{{kAlnum, 25, 25}, kUuid}}},
      {"messagebird", "messagebird-key", {{{kAlnum, 25, 25}, kUuid}}},
      {"mixpanel", "mixpanel-key", {{{kHex, 32, 32}}}},
      {"netlify", "netlify-token", {{{kPadded, 40, 46}}}},
      {"new_relic", "newrelic-key", {{{kAlnum, 64, 64}}}},
      {"new-relic", "newrelic-key", {{{kAlnum, 64, 64}}}},
      {"newrelic", "newrelic-key", {{{kAlnum, 64, 64}}}},
      {"new-york-times", "nytimes-key", {{{kPadded, 32, 32}}}},
      {"newyorktimes", "nytimes-key", {{{kPadded, 32, 32}}}},
      {"nytimes", "nytimes-key", {{{kPadded, 32, 32}}}},
      {"okta", "okta-token", {{{kPadded, 42, 42, "00"}}}},
      {"openweather", "openweather-key", {{{kHex, 32, 32}}}},
      {"pagerduty", "pagerduty-key", {{{kWord, 20, 20}, {kHex, 32, 32}}}},
      {"plaid", "plaid-key", {{{kAlnum, 24, 24}, {kAlnum, 30, 30}}}},
      {"private_ai", "privateai-key", {{{kAlnum, 32, 32}}}},
      {"private-ai", "privateai-key", {{{kAlnum, 32, 32}}}},
      {"privateai", "privateai-key", {{{kAlnum, 32, 32}}}},
      {"rapidapi", "rapidapi-key", {{{kWord, 50, 50}}}},
      {"rollbar", "rollbar-token", {{{kHex, 32, 32}}}},
      {"sendbird", "sendbird-key", {{{kHex, 40, 40}, kUuid}}},
      {"sentry", "sentry-token", {{{kHex, 64, 64}}}},
      {"snyk", "snyk-token", {{kUuid}}},
      {"sonar", "sonar-token", {{{kPadded, 40, 44}}}},
      {"sonarqube", "sonar-token", {{{kPadded, 40, 44}}}},
      {"sourcegraph", "sourcegraph-token", {{{kHex, 40, 40}}}},
      {"squarespace", "squarespace-key", {{kUuid}}},
      {"sumologic", "sumologic-key", {{{kAlnum, 64, 64}, {kAlnum, 14, 14, "su"}}}},
      {"sumo", "sumologic-key", {{{kAlnum, 64, 64}, {kAlnum, 14, 14, "su"}}}},
      {"travis", "travis-token", {{{kAlnum, 22, 22}}}},
      {"twilio", "twilio-token", {{{kHex, 32, 32}}}},
      {"twitch", "twitch-token", {{{kAlnum, 30, 30}}}},
      {"twitter", "twitter-key", {{{kAlnum, 45, 45}, {kAlnum, 25, 25}, {kAlnum, 50, 50}, {kPercent, 36, 122}}}},
      {"wandb", "wandb-key", {{{kHex, 40, 40}}}},
      {"xray", "artifactory-key", {{{kAlnum, 73, 73}, {kAlnum, 64, 64}}}},
      {"zendesk", "zendesk-key", {{{kAlnum, 40, 40}}}},
  };
  return all;
}

enum class Word { kPass, kPwd, kSecret, kCredential, kToken, kAuth, kKey };

constexpr std::array<std::pair<std::string_view, Word>, 9> kWords = {{
    {"pass", Word::kPass},
    {"pwd", Word::kPwd},
    {"secret", Word::kSecret},
    {"credential", Word::kCredential},
    {"credentials", Word::kCredential},
    {"creds", Word::kCredential},
    {"token", Word::kToken},
    {"auth", Word::kAuth},
    {"key", Word::kKey},
}};

constexpr std::size_t kMinSecret = 12;

bool Holds(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

bool EndsWithAny(std::string_view text, std::initializer_list<std::string_view> ends) {
  return std::any_of(ends.begin(), ends.end(), [&](std::string_view end) { return text.ends_with(end); });
}

// "_id", "Count": the field says something about a secret instead of holding it.
bool IsAboutSecret(std::string_view rest) {
  const std::string lower = ToLowerAscii(rest);
  constexpr std::array kEnds = {
      std::string_view("id"),          std::string_view("ids"),         std::string_view("count"),
      std::string_view("limit"),       std::string_view("name"),        std::string_view("names"),
      std::string_view("type"),        std::string_view("length"),      std::string_view("size"),
      std::string_view("file"),        std::string_view("path"),        std::string_view("dir"),
      std::string_view("url"),         std::string_view("uri"),         std::string_view("endpoint"),
      std::string_view("header"),      std::string_view("field"),       std::string_view("label"),
      std::string_view("hash"),        std::string_view("sha256"),      std::string_view("digest"),
      std::string_view("env"),         std::string_view("var"),         std::string_view("ttl"),
      std::string_view("expiry"),      std::string_view("expires"),     std::string_view("format"),
      std::string_view("version"),     std::string_view("usage"),       std::string_view("index"),
      std::string_view("fingerprint"), std::string_view("arn"),         std::string_view("prompt"),
      std::string_view("policy"),      std::string_view("placeholder"), std::string_view("text"),
      std::string_view("message"),     std::string_view("error"),       std::string_view("pattern"),
      std::string_view("regex"),       std::string_view("max"),         std::string_view("min"),
      std::string_view("last"),        std::string_view("first"),       std::string_view("default"),
      std::string_view("mask"),        std::string_view("flags"),       std::string_view("bits"),
      std::string_view("mode"),        std::string_view("store"),       std::string_view("at"),
      std::string_view("ref"),
  };
  return std::any_of(kEnds.begin(), kEnds.end(), [&](std::string_view end) {
    if (!lower.ends_with(end) || end.size() > lower.size()) return false;
    const std::size_t before = rest.size() - end.size();
    return before == 0 || !IsLetterChar(rest[before - 1]) || IsUpperChar(rest[before]);
  });
}

bool IsUpperName(std::string_view name) {
  return !name.empty() && std::none_of(name.begin(), name.end(), [](char c) { return IsLowerChar(c); });
}

// A literal with marks that identifiers and numbers don't have, as generated passwords and framework secrets have.
bool LooksGenerated(std::string_view value) {
  constexpr double kMinEntropy = 3.2;
  const auto marks = std::count_if(value.begin(), value.end(), [](char c) {
    return std::string_view("!#$%^&*()+=?@~").find(c) != std::string_view::npos;
  });
  return value.size() >= kMinSecret && marks >= 2 && HasLetter(value) && Entropy(value) >= kMinEntropy &&
         !Holds(value, "://");
}

bool IsMemberAccess(std::string_view value) {
  return Holds(value, ".") &&
         std::all_of(value.begin(), value.end(), [](char c) { return c == '.' || c == '_' || IsLetterChar(c); });
}

bool IsPathLike(std::string_view value) {
  return value.front() == '/' || value.front() == '~' || value.substr(0, 2) == "./" || Holds(value, "://");
}

bool IsSecretValue(std::string_view value, const Assignment& found) {
  if (value.empty() || IsPlaceholder(value, found.quoted) || IsPathLike(value) || IsMemberAccess(value)) return false;
  return LooksRandom(value, kMinSecret) || (found.strong && LooksGenerated(value));
}

// A quoted sentence about a password, not a passphrase.
bool IsSentence(std::string_view value) {
  const std::string padded = " " + ToLowerAscii(value) + " ";
  for (const std::string_view word :
       {" the ",     " a ",    " an ",    " of ", " to ",   " is ",  " must ", " your ",  " for ", " and ",
        " or ",      " be ",   " with ",  " in ", " not ",  " at ",  " on ",   " this ",  " as ",  " by ",
        " password", " token", " secret", " key", " from ", " can ", " are ",  " least ", " too ", " you "}) {
    if (Holds(padded, word)) return true;
  }
  return false;
}

// What decides about a value of several words.
std::string_view FirstWord(std::string_view value) { return value.substr(0, value.find_first_of(" \t")); }

// A name of a program as the value: "password = old_password", "login(password=key_password)".
bool IsIdentifier(std::string_view value, const Assignment& found) {
  const bool name = std::all_of(value.begin(), value.end(), [](char c) { return IsAlnumChar(c) || c == '_'; }) &&
                    !IsDigitChar(value.front()) && Holds(value, "_") && IsMadeOfWords(value);
  const bool compared = found.spaced && value.find_first_of("<>") != std::string_view::npos;
  return compared || (name && (found.spaced || !IsUpperName(found.name)));
}

bool IsPasswordField(std::string_view value, const Assignment& found) {
  if (IsAboutSecret(found.rest) || value.empty()) return false;
  if (found.compared || found.listed || found.argument) return IsSecretValue(value, found);
  if (!found.rest.empty() && !IsSecretValue(value, found) &&
      !(IsUpperName(found.name) && HasDigit(value) && HasLetter(value)))
    return false;
  if (found.sentence && IsSentence(value)) return false;
  if (!found.quoted && IsIdentifier(value, found)) return false;
  return LooksLikePassword(found.sentence ? FirstWord(value) : value, found.strong, found.quoted);
}

bool IsPublic(std::string_view name) {
  const std::string lower = ToLowerAscii(name);
  return Holds(lower, "public") || Holds(lower, "publishable");
}

bool IsTokenField(std::string_view value, const Assignment& found) {
  return !found.sentence && !IsAboutSecret(found.rest) && !IsPublic(found.name) && IsSecretValue(value, found);
}

// Whether the name says that the key is secret: "api_key", "accessKey", "SIGNING-KEY".
bool IsSecretKeyName(std::string_view before) {
  std::string lower = ToLowerAscii(before);
  lower.erase(std::remove_if(lower.begin(), lower.end(), [](char c) { return c == '_' || c == '-'; }), lower.end());
  return EndsWithAny(lower, {"api",     "access",  "auth",    "private",      "signing", "encryption", "master",
                             "account", "license", "service", "secret",       "client",  "deploy",     "app",
                             "storage", "shared",  "admin",   "subscription", "webhook", "hmac",       "jwt",
                             "session", "ingest",  "write",   "application",  "consumer"});
}

struct Match {
  std::string_view kind;
  bool is_secret = false;
};

// Keys of upper-case names, of which many are no secrets.
bool IsKeyOfUpperName(std::string_view value, const Assignment& found, std::string_view before) {
  constexpr double kMinEntropy = 3.5;
  return IsUpperName(found.name) && before.ends_with('_') && !Holds(before, "CACHE") && !IsDigest(value) &&
         value.size() >= 20 && Entropy(value) >= kMinEntropy && IsTokenField(value, found);
}

Match JudgeField(Word word, std::string_view value, const Assignment& found, std::string_view before) {
  switch (word) {
    case Word::kPass:
    case Word::kPwd:
      return {"password", IsPasswordField(value, found)};
    case Word::kSecret:
    case Word::kCredential:
      return {"secret", IsTokenField(value, found)};
    case Word::kToken:
      return {"token", IsTokenField(value, found)};
    case Word::kAuth:
      return {"token", before.ends_with('_') && IsTokenField(value, found)};
    case Word::kKey:
      if (IsSecretKeyName(before))
        return {ToLowerAscii(before).ends_with("secret_") ? "secret" : "api-key", IsTokenField(value, found)};
      return {"api-key", IsKeyOfUpperName(value, found, before)};
  }
  return {};
}

// The rest of "password", "passwd", "passphrase" behind "pass"; 0 if it is another word.
std::size_t RestOfPass(std::string_view text, std::size_t end) {
  const std::string rest = ToLowerAscii(text.substr(end, 6));
  for (const std::string_view more : {"phrase", "word", "wort", "code", "wd"}) {
    if (rest.starts_with(more)) return more.size();
  }
  return 0;
}

// Whether "pass" or "pwd" at `begin` is a word of its own within a name: "DB_PASS", "dbPass", "pass".
bool IsOwnWord(std::string_view text, std::size_t begin) {
  if (begin == 0) return true;
  const char last = text[begin - 1];
  return !IsAlnumChar(last) || (IsLowerChar(last) && IsUpperChar(text[begin])) ||
         (last == 'n' && begin > 1 && text[begin - 2] == '\\');
}

// Long values are judged by their beginning.
std::string_view JudgedPart(std::string_view value) { return value.substr(0, 256); }

std::optional<SecretSpan> MatchWord(std::string_view text, Word word, std::size_t begin, std::size_t end) {
  if (word == Word::kPass) {
    const std::size_t more = RestOfPass(text, end);
    if (more == 0 && !IsOwnWord(text, begin)) return std::nullopt;
    end += more;
  }
  if (word == Word::kPwd && !IsOwnWord(text, begin)) return std::nullopt;
  const std::optional<Assignment> found = AssignmentAt(text, begin, end);
  if (!found) return std::nullopt;
  const std::string_view value = JudgedPart(text.substr(found->begin, found->end - found->begin));
  if (Holds(value, "[redacted:")) return std::nullopt;
  // "pass" is a word of its own, too: a stage of a compiler, a test that passed.
  const bool short_word = word == Word::kPwd || (word == Word::kPass && end - begin == 4);
  // Of `MYSQL_PWD=words`, the name says enough.
  const bool named = word == Word::kPwd && found->strong && text.substr(0, begin).ends_with('_');
  const bool letters = !named && std::all_of(value.begin(), value.end(), IsLetterChar);
  if (short_word &&
      (!found->rest.empty() || (!found->quoted && (letters || IsUpperChar(text[begin]) != IsUpperChar(text[end - 1])))))
    return std::nullopt;
  const auto name_begin = static_cast<std::size_t>(found->name.data() - text.data());
  const Match match = JudgeField(word, value, *found, text.substr(name_begin, begin - name_begin));
  if (!match.is_secret) return std::nullopt;
  return SecretSpan{found->begin, found->quoted ? found->end : EndOfWrapped(text, found->end), std::string(match.kind)};
}

bool HasForm(std::string_view value, const ValueForm& form) {
  return form.most != 0 && value.size() >= form.least && value.size() <= form.most && value.starts_with(form.prefix) &&
         std::all_of(value.begin(), value.end(), [&](char c) { return InCharset(c, form.charset); });
}

// Eight digits, a colon, eight digits.
bool IsContribsysKey(std::string_view value) {
  return value.size() == 17 && value[8] == ':' && IsDigest(value.substr(0, 8)) && IsDigest(value.substr(9));
}

// Whether the name says that the value is secret, so that even a digest or a number is one.
bool NamesSecret(std::string_view name) {
  const std::string lower = ToLowerAscii(name);
  for (const std::string_view word : {"key", "token", "secret", "pass", "auth", "cred", "client", "pat", "license"}) {
    if (Holds(lower, word)) return true;
  }
  return false;
}

std::optional<SecretSpan> MatchIssuer(std::string_view text, const IssuerField& issuer, std::size_t begin,
                                      std::size_t end) {
  constexpr double kMinEntropy = 2.0;
  if (!IsOwnWord(text, begin)) return std::nullopt;
  const std::optional<Assignment> found = AssignmentAt(text, begin, end);
  if (!found) return std::nullopt;
  const std::string_view value = JudgedPart(text.substr(found->begin, found->end - found->begin));
  if (value.size() < 12 || IsPlaceholder(value, true) || Entropy(value) < kMinEntropy) return std::nullopt;
  const bool named = NamesSecret(found->name);
  bool fits = issuer.kind == "sidekiq-secret" && IsContribsysKey(value);
  for (const ValueForm& form : issuer.forms) {
    if (!HasForm(value, form)) continue;
    fits =
        fits || (named ? !IsMadeOfWords(value) || HasDigit(value) : LooksRandom(value, form.least) && !IsDigest(value));
  }
  return fits ? std::optional(SecretSpan{found->begin, found->end, std::string(issuer.kind)}) : std::nullopt;
}

}  // namespace

std::vector<std::string_view> FieldWords() {
  std::vector<std::string_view> words;
  words.reserve(std::size(kWords) + IssuerFields().size());
  for (const auto& [text, word] : kWords) words.push_back(text);
  for (const IssuerField& issuer : IssuerFields()) words.push_back(issuer.keyword);
  return words;
}

bool IsIssuerWord(std::size_t word) { return word >= kWords.size(); }

std::optional<SecretSpan> MatchField(std::string_view text, std::size_t word, std::size_t begin, std::size_t end) {
  if (word < kWords.size()) return MatchWord(text, kWords.at(word).second, begin, end);
  return MatchIssuer(text, IssuerFields()[word - kWords.size()], begin, end);
}

}  // namespace upskill
