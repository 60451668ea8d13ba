// SPDX-License-Identifier: Apache-2.0
#include "support/planted_secrets.h"

#include <string_view>

#include "util/json.h"
#include "util/rng.h"

namespace upskill {
namespace {

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
    for (std::size_t k = 0; k < 3; ++k)
      value = value << 8U | (i + k < text.size() ? static_cast<unsigned char>(text[i + k]) : 0U);
    for (std::size_t k = 0; k < 4; ++k)
      out += i + k <= text.size() ? kDigits[value >> (18U - 6U * static_cast<unsigned>(k)) & 63U] : '=';
  }
  return out;
}

}  // namespace

// A table: each line is one kind of secret with the text around it.
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
  field("netrc-password", "machine api.test login ada password ", "\n", 14);
  field("pgpass", "db.internal:5432:app:admin:", "", 14);
  field("password-in-command", "mysql -u root -p", " app", 12);
  field("password-in-command", "echo '", "' | sudo -S true", 12);
  field("password-in-command", "sshpass -p ", " ssh host", 12);
  field("authorization", "Authorization: token ", "\"", 40);
  field("signature-in-url", "https://store.test/blob?se=2026&sig=", "&sp=r", 43);
  field("key-in-url", "https://maps.test/v1?key=", "&q=x", 39);
  field("aws-session-token", "AWS_SESSION_TOKEN=", "\n", 80);
  field("token-in-url", "https://", "@git.test/org/repo.git", 40);
  field("password", "deploy --password ", " now", 12);
  field("token", "deploy --auth-token ", " now", 40);
  field("cookie", "Cookie: connect.sid=", "; path=/", 40);
  field("password-in-command", "docker login -u ada -p ", " registry.test", 14);
  field("password", "Password for 'https://ada@git.test': ", "\n", 12);
  field("api-key", "export MISTRAL_KEY=", "\n", 32);
  field("discord-webhook", "https://discord.com/api/webhooks/123456789012345678/", "", 68);
  field("azure-key", "AccountName=a;AccountKey=", "==;EndpointSuffix=x", 86);
  for (int i = 0; i < 3; ++i) {
    const std::string part = Random(rng, kAlnum, 40);
    all.push_back({"jwt", part, "cookie eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0." + part});
    const std::string body = Random(rng, kAlnum, 64);
    const char* const line = i == 0 ? "\n" : "\\n";
    all.push_back({"private-key", body,
                   std::string("-----BEGIN RSA ") + "PRIVATE KEY-----" + line + body + line + "-----END RSA " +
                       "PRIVATE KEY-----"});
    const std::string hidden = Base64("github token ghp_" + Random(rng, kAlnum, 36) + " for the build");
    all.push_back({"github-token", hidden, "data: " + hidden});
    const std::string wrapped = "sk-ant-api03-" + Random(rng, kAlnum, 93);
    const std::string cut = wrapped.substr(0, 60) + (i == 0 ? "\n     " : i == 1 ? "\\n" : "\\\n") + wrapped.substr(60);
    all.push_back({"anthropic-key", wrapped.substr(60), "key " + cut + " end"});
    const std::string basic = Base64("ada:" + Random(rng, kAlnum, 16));
    all.push_back({"basic-auth", basic, "Authorization: Basic " + basic});
    all.push_back({"docker-auth", basic, R"({"auths":{"https://registry.test/v1/":{"auth":")" + basic + "\"}}}"});
    const std::string digits = Random(rng, kHex, 40);
    all.push_back({"wandb-key", digits, "wandb login --relogin " + digits});
    const std::string broken = Random(rng, kAlnum, 40);
    const std::string line_end = i == 0 ? "\n     " : i == 1 ? "\\n  " : "\\\n";
    all.push_back({i == 1 ? "bearer-token" : "token", broken.substr(24),
                   "  set these before the first call of the service, please: " +
                       std::string(i == 1 ? "Bearer " : "CI_JOB_TOKEN=") + broken.substr(0, 24) + line_end +
                       broken.substr(24) + " then call it"});
    // As in a file dump: lines of 76 characters, after a line that only looks like base64.
    const std::string key = std::string("-----BEGIN PRIVATE ") + "KEY-----\n" + Random(rng, kAlnum, 64) + "\n" +
                            Random(rng, kAlnum, 64) + "\n";
    const std::string encoded = Base64(key);
    const std::string dump = encoded.substr(0, 76) + "\n" + encoded.substr(76);
    all.push_back({"private-key", encoded.substr(76), "src/kernels/attention_forward_sm90\n" + dump});
    const std::string quoted = Random(rng, kAlnum, 8) + "&;|" + Random(rng, kAlnum, 4);
    all.push_back({"password", quoted,
                   i == 0   ? "password: \"" + quoted + "\""
                   : i == 1 ? "{\\\"password\\\":\\\"" + quoted + "\\\"}"
                            : "PASSWORD='" + quoted + "'"});
  }
  return all;
}

// A table: each line is a text that only looks like a secret.
std::vector<std::string> LookAlikes() {
  Rng rng(7);
  std::vector<std::string> all;
  for (int i = 0; i < 8; ++i) {
    all.push_back("commit " + Random(rng, kHex, 40));
    all.push_back("id " + Random(rng, kHex, 8) + "-" + Random(rng, kHex, 4) + "-4" + Random(rng, kHex, 3) + "-a" +
                  Random(rng, kHex, 3) + "-" + Random(rng, kHex, 12));
    all.push_back("sha256:" + Random(rng, kHex, 64));
    all.push_back("\"integrity\": \"sha512-" + Base64(Random(rng, kAlnum, 64)) + "\"");
    all.push_back("_ZN4llama" + std::to_string(10 + i) + "tokenize_impl" + Random(rng, "abcdefghi", 5) +
                  "ERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE");
  }
  for (const char* text :
       {"max_tokens: 4096",
        "\"total_tokens\": 123456",
        "token_count=1200",
        "task-force-risk-assessment-2024-final-version",
        "sk-learn-contrib-something-else",
        "password: str = Field(...)",
        "password = getpass.getpass()",
        "api_key=os.environ[\"API_KEY\"]",
        "API_KEY=${API_KEY}",
        "token = self.tokenizer.decode(ids)",
        "secret_name: my-secret",
        "PWD=/home/ada/project",
        "if token == expected_token:",
        "hf_hub_download(repo_id)",
        "npm_config_registry",
        "the password should be long",
        "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQC7 ada@host",
        "https://example.com:8080/path@v2",
        "git@github.com:org/repo.git",
        "cache-key-d41d8cd98f00b204e9800998ecf8427e",
        "user.password",
        "new_password = form.password",
        "eyJust a word",
        "AKIArrow key handler",
        "bearer of bad news",
        "key: value",
        "tokens/s 132.5",
        "SHA256:nThbg6kXUpJWGl7E1IGOCspRomTxdCARLviKw6E5SY8",
        "mov x0, #0x7fffdeadbeef1234",
        "sid=short",
        "author: Ada Lovelace <ada@x.test>",
        "CACHE_KEY=3f786850e387550fdab836ed7e6dc881de23001b",
        "\"password\": \"The password of the account\"",
        "?key=name&sort=asc",
        "docker login registry.test",
        "mysql --port 3306 -u root app",
        "echo \"$PASSWORD\" | sudo -S true",
        "Authorization: Bearer <token>",
        "PRIMARY_KEY = (tenant_id, user_id)",
        "password for the test: see the vault",
        "https://x.test/a/b?sig=none",
        "key_from=2026-03-01T10:00:00Z",
        "LS0tIGEvc3JjL2RhdGUuYwo=",
        "src/date.c:1204:15:error:undefined-name",
        "the value that the service wants to see here is the max_tokens = 4096\n  step2run9 follows"}) {
    all.emplace_back(text);
  }
  return all;
}

std::string SessionWith(const std::vector<Planted>& planted) {
  std::string session;
  std::size_t number = 0;
  const auto line = [&](const char* type, const Json& message) {
    const Json record = Json::object(
        {{"type", type}, {"uuid", "u" + std::to_string(number++)}, {"sessionId", "s"}, {"message", message}});
    session += DumpJson(record) + "\n";
  };
  for (const Planted& plant : planted) {
    const std::string id = "t" + std::to_string(number);
    line("user", Json::object({{"role", "user"}, {"content", plant.context}}));
    line("assistant",
         Json::object(
             {{"id", "m" + id},
              {"role", "assistant"},
              {"content", Json::array({Json::object({{"type", "tool_use"},
                                                     {"id", id},
                                                     {"name", "Bash"},
                                                     {"input", Json::object({{"command", plant.context}})}})})}}));
    line(
        "user",
        Json::object(
            {{"role", "user"},
             {"content",
              Json::array({Json::object(
                  {{"type", "tool_result"}, {"is_error", true}, {"tool_use_id", id}, {"content", plant.context}})})}}));
  }
  return session;
}

}  // namespace upskill
