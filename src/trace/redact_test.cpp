// SPDX-License-Identifier: Apache-2.0
#include "trace/redact.h"

#include <gtest/gtest.h>

#include <set>

#include "trace/digest.h"
#include "trace/read_trace.h"
#include "trace/show.h"
#include "util/json.h"
#include "util/rng.h"

namespace upskill {
namespace {

// The planted keys are put together at run time, so that no scanner takes this file for a leak.
std::string Random(Rng& rng, std::string_view alphabet, std::size_t length) {
  std::string text;
  for (std::size_t i = 0; i < length; ++i) text += alphabet[rng.Next() % alphabet.size()];
  text[0] = 'A';
  text[1] = '7';
  text[2] = 'b' < text[2] && alphabet.find('k') != std::string_view::npos ? 'k' : '4';
  return text;
}

constexpr std::string_view kAlnum = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnpqrstuvwxyz23456789";
constexpr std::string_view kHex = "0123456789abcdef";
constexpr std::string_view kUpper = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

std::string Base64(std::string_view text) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t i = 0; i < text.size(); i += 3) {
    unsigned value = 0;
    for (std::size_t k = 0; k < 3; ++k) value = value << 8U | (i + k < text.size() ? static_cast<unsigned char>(text[i + k]) : 0U);
    for (std::size_t k = 0; k < 4; ++k) out += i + k <= text.size() ? kDigits[value >> (18U - 6U * static_cast<unsigned>(k)) & 63U] : '=';
  }
  return out;
}

struct Planted {
  std::string kind;
  std::string secret;   // must be gone
  std::string context;  // text that holds it
};

// Three of each class: bare, in a JSON text, in a sentence or command.
std::vector<Planted> PlantedSecrets() {
  Rng rng(20260301);
  std::vector<Planted> all;
  const auto token = [&](const char* kind, const std::string& prefix, std::string_view alphabet, std::size_t length) {
    for (int i = 0; i < 3; ++i) {
      const std::string secret = prefix + Random(rng, alphabet, length);
      const std::vector<std::string> contexts = {"use " + secret + " now", "{\\\"value\\\": \\\"" + secret + "\\\"}",
                                                 "curl -H 'X-Key:" + secret + "' https://x.test"};
      all.push_back({kind, secret, contexts.at(static_cast<std::size_t>(i))});
    }
  };
  token("anthropic-key", "sk-ant-api03-", kAlnum, 93);
  token("openai-key", "sk-proj-", kAlnum, 120);
  token("aws-key", "AKIA", kUpper, 16);
  token("github-token", "ghp_", kAlnum, 36);
  token("github-token", "github_pat_", kAlnum, 59);
  token("gitlab-token", "glpat-", kAlnum, 20);
  token("hf-token", "hf_", kAlnum, 34);
  token("google-key", "AIza", kAlnum, 35);
  token("slack-token", "xoxb-", kAlnum, 50);
  token("stripe-key", "sk_live_", kAlnum, 24);
  token("npm-token", "npm_", kAlnum, 36);
  token("pypi-token", "pypi-AgEIcHlwaS5vcmc", kAlnum, 60);
  token("digitalocean-token", "dop_v1_", kHex, 64);
  token("groq-key", "gsk_", kAlnum, 52);
  token("vault-token", "hvs.", kAlnum, 90);
  const auto field = [&](const char* kind, const std::string& before, const std::string& after, std::size_t length) {
    for (int i = 0; i < 3; ++i) {
      const std::string secret = Random(rng, kAlnum, length);
      all.push_back({kind, secret, before + secret + after});
    }
  };
  field("aws-secret", "aws_secret_access_key = ", "\n", 40);
  field("password-in-url", "postgres://admin:", "@db.internal:5432/app", 14);
  field("password", "export DB_PASSWORD=", "\n", 12);
  field("password", "{\\\"password\\\": \\\"", "\\\"}", 12);
  field("bearer-token", "-H \"Authorization: Bearer ", "\"", 40);
  field("secret", "client_secret: \"", "\"", 32);
  field("api-key", "WEATHER_API_KEY='", "'", 32);
  field("token", "\"refresh_token\": \"", "\",", 40);
  field("slack-webhook", "https://hooks.slack.com/services/T0ABCDEFG/B0ABCDEFG/", "", 24);
  field("telegram-token", "bot123456789:AA", " ", 33);
  for (int i = 0; i < 3; ++i) {
    const std::string part = Random(rng, kAlnum, 40);
    all.push_back({"jwt", part, "cookie eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0." + part});
    const std::string body = Random(rng, kAlnum, 64);
    const char* const line = i == 0 ? "\n" : "\\n";
    all.push_back({"private-key", body, std::string("-----BEGIN RSA ") + "PRIVATE KEY-----" + line + body + line + "-----END RSA " +
                   "PRIVATE KEY-----"});
    const std::string hidden = Base64("github token ghp_" + Random(rng, kAlnum, 36) + " for the build");
    all.push_back({"github-token", hidden, "data: " + hidden});
    const std::string wrapped = "sk-ant-api03-" + Random(rng, kAlnum, 93);
    const std::string cut = wrapped.substr(0, 60) + (i == 0 ? "\n     " : i == 1 ? "\\n" : "\\\n") + wrapped.substr(60);
    all.push_back({"anthropic-key", wrapped.substr(60), "key " + cut + " end"});
    const std::string basic = Base64("ada:" + Random(rng, kAlnum, 16));
    all.push_back({"basic-auth", basic, "Authorization: Basic " + basic});
  }
  return all;
}

std::vector<std::string> LookAlikes() {
  Rng rng(7);
  std::vector<std::string> all;
  for (int i = 0; i < 8; ++i) {
    all.push_back("commit " + Random(rng, kHex, 40));
    all.push_back("id " + Random(rng, kHex, 8) + "-" + Random(rng, kHex, 4) + "-4" + Random(rng, kHex, 3) + "-a" + Random(rng, kHex, 3) +
                  "-" + Random(rng, kHex, 12));
    all.push_back("sha256:" + Random(rng, kHex, 64));
    all.push_back("\"integrity\": \"sha512-" + Base64(Random(rng, kAlnum, 64)) + "\"");
    all.push_back("_ZN4llama" + std::to_string(10 + i) + "tokenize_impl" + Random(rng, "abcdefghi", 5) +
                  "ERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE");
  }
  for (const char* text : {"max_tokens: 4096", "\"total_tokens\": 123456", "token_count=1200",
                           "task-force-risk-assessment-2024-final-version", "sk-learn-contrib-something-else",
                           "password: str = Field(...)", "password = getpass.getpass()", "api_key=os.environ[\"API_KEY\"]",
                           "API_KEY=${API_KEY}", "token = self.tokenizer.decode(ids)",
                           "secret_name: my-secret", "PWD=/home/ada/project", "if token == expected_token:", "hf_hub_download(repo_id)",
                           "npm_config_registry", "the password should be long",
                           "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQC7 ada@host", "https://example.com:8080/path@v2",
                           "git@github.com:org/repo.git", "cache-key-d41d8cd98f00b204e9800998ecf8427e",
                           "user.password", "new_password = form.password", "eyJust a word", "AKIArrow key handler",
                           "bearer of bad news", "key: value", "tokens/s 132.5",
                           "SHA256:nThbg6kXUpJWGl7E1IGOCspRomTxdCARLviKw6E5SY8", "mov x0, #0x7fffdeadbeef1234", "sid=short",
                           "author: Ada Lovelace <ada@x.test>"}) {
    all.emplace_back(text);
  }
  return all;
}

TEST(RedactTest, PlantedSecretsAreGone) {
  const std::vector<Planted> planted = PlantedSecrets();
  std::set<std::string> kinds;
  Redactor redactor({});
  for (const Planted& plant : planted) {
    kinds.insert(plant.kind);
    const std::string out = redactor.Apply(plant.context);
    EXPECT_EQ(out.find(plant.secret), std::string::npos) << plant.kind << ": " << out;
    EXPECT_EQ(out.find(plant.secret.substr(plant.secret.size() / 2)), std::string::npos) << plant.kind << ": " << out;
    EXPECT_NE(out.find("[redacted:" + plant.kind), std::string::npos) << plant.kind << ": " << out;
  }
  EXPECT_GE(planted.size(), 60U);
  EXPECT_GE(kinds.size(), 20U);
}

TEST(RedactTest, LookAlikesSurvive) {
  const std::vector<std::string> look_alikes = LookAlikes();
  EXPECT_GE(look_alikes.size(), 60U);
  std::size_t touched = 0;
  for (const std::string& text : look_alikes) {
    Redactor redactor({});
    if (redactor.Apply(text) == text) continue;
    ++touched;
    ADD_FAILURE() << redactor.Apply(text);
  }
  EXPECT_LE(touched * 50, look_alikes.size());
}

TEST(RedactTest, NothingLeavesATrace) {
  const std::vector<Planted> planted = PlantedSecrets();
  std::string session;
  std::size_t number = 0;
  for (const Planted& plant : planted) {
    const Json text = Json(plant.context).dump();
    const std::string id = std::to_string(number++);
    session += R"({"type":"user","uuid":"u)" + id + R"(","sessionId":"s","message":{"role":"user","content":)" +
        text.get<std::string>() + "}}\n";
    session += R"({"type":"assistant","uuid":"a)" + id + R"(","sessionId":"s","message":{"id":"m)" + id +
        R"(","role":"assistant","content":[{"type":"tool_use","id":"t)" + id +
               R"(","name":"Bash","input":{"command":)" + text.get<std::string>() + "}}]}}\n";
    session += R"({"type":"user","uuid":"r)" + id +
        R"(","sessionId":"s","message":{"role":"user","content":[{"type":"tool_result","is_error":true,"tool_use_id":"t)" + id +
               R"(","content":)" + text.get<std::string>() + "}]}}\n";
  }
  Result<Trace> trace = ReadTrace(LineSource::FromText(session, "planted.jsonl"), {});
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  Redactor redactor({});
  RedactTrace(*trace, redactor);
  std::string everything = DumpJson(TraceShowJson(*trace)) + RedactionSummary(redactor.redactions(), "redacted");
  for (std::size_t i = 0; i < trace->events.size(); ++i) everything += DumpJson(EventJson(*trace, i)) + "\n";
  std::vector<Trace> traces;
  traces.push_back(std::move(*trace));
  everything += MakeDigest(traces, {200'000}).text;
  for (const Planted& plant : planted) EXPECT_EQ(everything.find(plant.secret), std::string::npos) << plant.kind;
}

TEST(RedactTest, PlaceholdersAreStableAndListed) {
  Redactor redactor({});
  const std::string first = std::string("ghp_") + "A7k4567890123456789012345678901234Ab";
  const std::string second = std::string("ghp_") + "B7k4567890123456789012345678901234Ab";
  EXPECT_EQ(redactor.Apply(first + " " + second + " " + first, 4, 12),
            "[redacted:github-token:1] [redacted:github-token:2] [redacted:github-token:1]");
  EXPECT_EQ(redactor.Apply(second, 5, 13), "[redacted:github-token:2]");
  ASSERT_EQ(redactor.redactions().size(), 4U);
  EXPECT_EQ(redactor.redactions()[3].event, 5U);
  EXPECT_EQ(RedactionSummary(redactor.redactions(), "redacted"), "2 secrets redacted (2 github-token line 12)");
  EXPECT_EQ(redactor.Apply("[redacted:github-token:1] password=[redacted:password:1]"),
            "[redacted:github-token:1] password=[redacted:password:1]");
}

TEST(RedactTest, HomeFoldersAndEmailsByOption) {
  const std::string text = "/home/ada/x and ada@example.com";
  EXPECT_EQ(Redactor({}).Apply(text), text);
  EXPECT_EQ(Redactor({true, true}).Apply(text), "[redacted:home:1]/x and [redacted:email:1]");
}

TEST(RedactTest, WithoutRedactionOnlyForLocalTeachers) {
  EXPECT_TRUE(AllowWithoutRedaction(true).ok());
  EXPECT_FALSE(AllowWithoutRedaction(false).ok());
}

}  // namespace
}  // namespace upskill
