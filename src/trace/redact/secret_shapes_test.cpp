// SPDX-License-Identifier: Apache-2.0
// Secrets as issuers and programs write them, and what only looks like one. The values are assembled at run time, so
// that scanners don't report this file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "trace/redact/redact.h"
#include "util/rng.h"

namespace upskill {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
constexpr std::string_view kAlphanumeric = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
constexpr std::string_view kHexDigits = "0123456789abcdef";

std::string Some(std::string_view alphabet, std::size_t length, std::uint64_t seed) {
  Rng rng(seed);
  std::string text;
  for (std::size_t i = 0; i < length; ++i) text += alphabet[rng.Next() % alphabet.size()];
  return text;
}

// Hugging Face's tokens have 34 letters and no digits.
std::string HubToken(std::uint64_t seed) { return std::string("hf") + "_" + Some(kLetters, 34, seed); }
std::string CodeToken(std::uint64_t seed) { return std::string("gh") + "p_" + Some(kAlphanumeric, 36, seed); }

std::string Redacted(const std::string& text) { return Redactor({}).Apply(text); }
std::string WithoutEmails(const std::string& text) { return Redactor({false, true}).Apply(text); }

void ExpectGone(const std::string& text, const std::string& secret, const std::string& kind) {
  const std::string out = Redacted(text);
  EXPECT_THAT(out, Not(HasSubstr(secret)));
  EXPECT_THAT(out, HasSubstr("[redacted:" + kind + ":1]")) << text;
}

void ExpectKept(const std::string& text) { EXPECT_EQ(Redacted(text), text); }

TEST(SecretShapes, HuggingFaceTokensHaveNoDigits) {
  for (std::uint64_t seed = 0; seed < 200; ++seed)
    ExpectGone("use " + HubToken(seed) + " here", HubToken(seed), "hf-token");
  ExpectGone("export HF_TOKEN=" + HubToken(1), HubToken(1), "hf-token");
  ExpectGone("login --token " + HubToken(2) + "\n", HubToken(2), "hf-token");
  ExpectKept("hf_requiredCharacteristicTypesForDisplayMetadata");
  ExpectKept("hf_" + std::string(34, 'x'));
  ExpectKept("from hf_transfer import hf_hub_download_with_progress_bar");
}

// Random characters cut into pieces by `-` and `_`, each of which could be a word. The value is gitleaks' example.
TEST(SecretShapes, TokensInPieces) {
  const std::string body = "OaXzTpZUzWXQBMT_4cFfw-wtsorttJpsmnsSj";
  ExpectGone("token sq0" + ("atp-" + body) + "\n", body, "square-token");
  ExpectKept("glpat-a_token_for_the_project_1");
}

TEST(SecretShapes, QuotedValuesMayHoldAnyCharacter) {
  for (const char mark : std::string_view("$*(#^)&!|;<>%@?~{}[]+")) {
    const std::string secret = std::string("k7Qz") + mark + "mW2" + mark + "xR9tB4";
    ExpectGone("PASSWORD=\"" + secret + "\"", secret, "password");
    ExpectGone("DB_PASSWORD='" + secret + "'", secret, "password");
    ExpectGone(R"({"password": ")" + secret + "\"}", secret, "password");
    ExpectGone("SECRET_KEY = '" + secret + secret + "'", secret, "secret");
    ExpectGone("curl -u ada:'" + secret + "' https://x.test", secret, "password-in-command");
    ExpectGone("curl -u 'ada:" + secret + "' https://x.test", secret, "password-in-command");
    ExpectGone("curl --user \"ada:" + secret + "\" https://x.test", secret, "password-in-command");
  }
  const std::string line = "aB3$dE*(fG#^hJ9";
  ExpectGone("NAME=x\nDB_PASSWORD=" + line + "\nMODE=y\n", line, "password");
  ExpectGone("export PASSWORD='p$w*r(d#1^'", "p$w*r(d#1^", "password");
  ExpectGone("password: \"correct horse battery staple\"", "battery staple", "password");
}

TEST(SecretShapes, ReferencesAndCodeAreNoValues) {
  for (const char* const text : {"PASSWORD=\"$DB_PASSWORD\"",
                                 "PASSWORD=\"${DB_PASSWORD}\"",
                                 "PASSWORD=$(pass show db)",
                                 "password = '{{ db_password }}'",
                                 "password: \"<your password>\"",
                                 "password=%(password)s",
                                 "f\"postgres://ada:{password}@host/db\"",
                                 "curl -u \"$USER:$PASSWORD\" https://x.test",
                                 "curl -u user:${API_TOKEN} https://x.test",
                                 "password: str",
                                 "password: Optional[str] = None",
                                 "def login(user: str, password: str) -> None:",
                                 "token = get_token()",
                                 "token = self.client.get_token(\"scope\", 3)",
                                 "api_key = os.environ[\"API_KEY\"]",
                                 "os.environ[\"API_KEY\"]",
                                 "os.environ.get(\"OPENAI_API_KEY\", \"\")",
                                 "api_key=os.getenv('API_KEY')",
                                 "const token = await fetchToken(user2, scope1);",
                                 "password = getpass.getpass()",
                                 R"("api_key": {"type": "string", "description": "The key of the account"})",
                                 R"("api_key": {"type":"string","minLength":12}, "password": {"type": "string"})",
                                 R"("required": ["user", "password", "api_key", "token"])",
                                 R"("token": "^[A-Za-z0-9]{20,40}$")",
                                 "if password == confirm_password:",
                                 "std::string password;",
                                 "password->size() > 3",
                                 "TOKEN_LIMIT=24000",
                                 "\"password\": \"Enter your password\"",
                                 "access_token_url = 'https://x.test/oauth2/v1/token'"}) {
    ExpectKept(text);
  }
}

TEST(SecretShapes, CodeAndDigestsAreKept) {
  const std::string sha1 = Some(kHexDigits, 40, 5);
  const std::string sha256 = Some(kHexDigits, 64, 6);
  const std::string uuid = "3f2504e0-4f89-41d3-9a0c-0305e82c3301";
  for (const std::string& text :
       {std::string("TORCH_CUDA_ARCH_LIST=\"8.0;8.6;9.0a+PTX\""), std::string("export TORCH_CUDA_ARCH_LIST=9.0a"),
        std::string("@pytest.mark.parametrize(\"m,n\", [(1, 2)])"),
        std::string("\\n@pytest.mark.skipif(not torch.cuda.is_available(), reason=\\\"\\\")\\n"),
        std::string("@torch.library.custom_op(\"x::y\", mutates_args=())"), "commit " + sha1, "sha256:" + sha256, uuid,
        "--hash=sha256:" + sha256, "\"rev\": \"" + sha1 + "\"", "image@sha256:" + sha256,
        "https://github.com/a/b/commit/" + sha1, "\"uuid\": \"" + uuid + "\"", "etag: \"" + sha256 + "\"",
        "key = " + sha1, "CACHE_KEY=" + sha256, "tokenizer_hash: " + sha256, "\"token_id\": \"" + uuid + "\""}) {
    ExpectKept(text);
    EXPECT_EQ(WithoutEmails(text), text);
  }
}

TEST(SecretShapes, TokensInPathsAndBeforePunctuation) {
  const std::string hub = HubToken(7);
  const std::string code = CodeToken(8);
  for (const char* const after :
       {"/x", "?y=1", "#z", ".", ",", ";", ":", ")", "]", "}", "\"", "'", "`", "!", "...", "-", "</b>"}) {
    ExpectGone("https://x.test/v1/" + hub + after, hub, "hf-token");
    ExpectGone("(" + code + after, code, "github-token");
    ExpectGone("see https://x.test/raw/" + code + after + " there", code, "github-token");
  }
  const std::string lab = std::string("glp") + "at-" + Some(kAlphanumeric, 20, 9);
  ExpectGone("It is " + lab + ".", lab, "gitlab-token");
  const std::string key = std::string("AI") + "za" + Some(kAlphanumeric, 35, 10);
  ExpectGone(key + "-, " + key + "...", key, "google-key");
  ExpectGone("\x1b[32m" + code + "\x1b[0m", code, "github-token");
}

TEST(SecretShapes, EscapesOfCharactersAreSeenThrough) {
  const std::string body = "ant-" + Some(kAlphanumeric, 40, 11);
  for (const char* const start :
       {"\\u0073\\u006b\\u002d", "\\u0073\\u006B-", "\\\\u0073k-", "\\x73\\x6b-", "%73%6B%2D"})
    ExpectGone("{\\\"key\\\": \\\"" + std::string(start) + body + "\\\"}", body, "anthropic-key");
  ExpectGone("https://x.test/?next=%2Fa%3Ft%3D" + CodeToken(12) + "%26b", CodeToken(12), "github-token");
  // Every character may be escaped.
  std::string escaped;
  for (const char c : CodeToken(13)) {
    escaped += "\\u00";
    escaped += kHexDigits[static_cast<unsigned char>(c) >> 4U];
    escaped += kHexDigits[static_cast<unsigned char>(c) & 15U];
  }
  EXPECT_EQ(Redacted("\"" + escaped + "\""), "\"[redacted:github-token:1]\"");
  ExpectKept("caf\\u00e9 \\u003cdiv\\u003e 100%25 \\x41\\x42");
}

TEST(SecretShapes, TokensWrappedOverLines) {
  const std::string hub = HubToken(14);
  const std::string code = CodeToken(15);
  for (const char* const line_end :
       {"\n", "\r\n", "\n      ", "\n\t\t", "\\\n  ", "\\n", "\\n    ", "  \n  ", "\n> ", " |\n| "}) {
    for (const std::size_t at : {1U, 2U, 3U, 4U, 9U, 20U, 33U}) {
      const std::string wrapped = hub.substr(0, at) + line_end + hub.substr(at);
      if (at < 3 && std::string_view(line_end).find_first_of(" |") == 0)
        continue;  // the prefix isn't looked for that far
      const std::string out = Redacted("the token " + wrapped + " works");
      EXPECT_EQ(out, "the token [redacted:hf-token:1] works") << at << line_end;
    }
  }
  const std::string thrice = code.substr(0, 12) + "\n    " + code.substr(12, 13) + "\n    " + code.substr(25);
  EXPECT_EQ(Redacted("token:\n    " + thrice + "\n  end"), "token:\n    [redacted:github-token:1]\n  end");
  ExpectKept("the prefix is hf_\nand letters follow");
  // The same secret has the same number however it is written.
  EXPECT_EQ(Redacted(code + " " + code.substr(0, 20) + "\n  " + code.substr(20)),
            "[redacted:github-token:1] [redacted:github-token:1]");
}

TEST(SecretShapes, EmailAddresses) {
  for (const char* const address : {"ada@example.com", "ada.lovelace+kernels@mail.example.org", "a_b@x-y.co.uk",
                                    "ADA@EXAMPLE.COM", "ada@xn--bcher-kva.example"}) {
    const std::string mail(address);
    for (const std::string& text :
         {"<" + mail + ">", "mail " + mail + ".", "mailto:" + mail + "?subject=x", "(" + mail + ")",
          "\"" + mail + "\",", "x\\n" + mail + "\\ny", "Author: Ada <" + mail + ">", "'" + mail + "'"}) {
      EXPECT_THAT(WithoutEmails(text), Not(HasSubstr(mail.substr(1)))) << text;
      EXPECT_THAT(WithoutEmails(text), HasSubstr("[redacted:email:1]")) << text;
      EXPECT_EQ(Redacted(text), text);
    }
  }
  for (const char* const text :
       {"git@github.com:org/repo.git", "root@host.example.com:/srv/data", "https://ada@git.test/x",
        "left-pad@1.3.0.tgz", "npm i vite@5.0.0-rc.beta", "icon@2x.png", "@dataclass", "+@pytest.mark.slow",
        "\\n@app.route(\\\"/\\\")", "y = a@b.inverse()", "getty@tty1.service", "uses: actions/checkout@v4.1.x",
        "a @ b.c", "noreply@anthropic.com", "pkg@npm:x", "x@localhost"}) {
    EXPECT_EQ(WithoutEmails(text), text);
  }
}

TEST(SecretShapes, TokensOfManyIssuers) {
  const struct {
    const char* kind;
    std::string token;
  } cases[] = {
      {"gitlab-token", std::string("glr") + "t-" + Some(kAlphanumeric, 20, 20)},
      {"gitlab-token", std::string("glag") + "ent-" + Some(kAlphanumeric, 50, 21)},
      {"slack-token", std::string("xo") + "xb-123456789012-123456789012-" + Some(kAlphanumeric, 24, 22)},
      {"digitalocean-token", std::string("doo") + "_v1_" + Some(kHexDigits, 64, 23)},
      {"shopify-token", std::string("shp") + "ca_" + Some(kHexDigits, 32, 24)},
      {"easypost-key", std::string("EZ") + "AK" + Some(kAlphanumeric, 54, 25)},
      {"dynatrace-token", std::string("dt0") + "c01." + Some("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 24, 26) + "." +
                              Some("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 64, 27)},
      {"openshift-token", std::string("sha") + "256~" + Some(kAlphanumeric, 43, 28)},
      {"terraform-token", Some(kAlphanumeric, 14, 29) + ".atla" + "sv1." + Some(kAlphanumeric, 67, 30)},
      {"azure-secret", std::string("aB1") + "8Q~" + Some(kAlphanumeric, 34, 31)},
      {"mailchimp-key", Some(kHexDigits, 32, 32) + "-us1" + "2"},
      {"airtable-token", std::string("pa") + "t" + Some(kAlphanumeric, 14, 33) + "." + Some(kHexDigits, 64, 34)},
      {"maxmind-key", Some(kAlphanumeric, 6, 35) + "_" + Some(kAlphanumeric, 29, 36) + "_mm" + "k"},
      {"prefect-key", std::string("pn") + "u_" + Some(kAlphanumeric, 36, 37)},
      {"brevo-key", std::string("xkey") + "sib-" + Some(kHexDigits, 64, 38) + "-" + Some(kAlphanumeric, 16, 39)},
      {"heroku-key", std::string("HRKU") + "-AA" + Some(kAlphanumeric, 58, 40)},
      {"aws-bedrock-key", std::string("AB") + "SK" + Some(kAlphanumeric, 128, 41)},
      {"databricks-token", std::string("da") + "pi" + Some(kHexDigits, 32, 42)},
      {"planetscale-password", std::string("pscale") + "_pw_" + Some(kAlphanumeric, 43, 43)},
      {"vault-token", std::string("hv") + "b." + Some(kAlphanumeric, 150, 44)},
  };
  for (const auto& [kind, token] : cases) {
    ExpectGone("use " + token + " now", token, kind);
    ExpectGone("KEY='" + token + "'", token, kind);
    ExpectGone("  " + token + "\n", token, kind);
  }
}

TEST(SecretShapes, TokensOfNewerFormats) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"cloudflare-token", std::string("cf") + "ut_" + Some(kAlphanumeric, 40, 70) + Some(kHexDigits, 8, 71)},
      {"cloudflare-token", std::string("cf") + "at_" + Some(kAlphanumeric, 40, 72) + Some(kHexDigits, 8, 73)},
      {"cloudflare-token", std::string("cf") + "ast_" + Some(kAlphanumeric, 40, 74) + Some(kHexDigits, 8, 75)},
      {"cloudflare-token", std::string("cf") + "k_" + Some(kAlphanumeric, 40, 76) + Some(kHexDigits, 8, 77)},
      {"google-key", std::string("AQ") + ".Ab8" + Some(kAlphanumeric, 44, 78)},
      {"prefect-key", std::string("pn") + "b_" + Some(kAlphanumeric, 36, 79)},
      {"crates-token", std::string("ci") + "o" + Some(kAlphanumeric, 32, 80)},
      {"vercel-token", std::string("vc") + "k_" + Some(kAlphanumeric, 56, 81)},
      {"cursor-key", std::string("cr") + "sr_" + Some(kHexDigits, 64, 82)},
      {"moonshot-key", std::string("sk") + "-kimi-" + Some(kAlphanumeric, 64, 83)},
      {"azure-key", Some(kAlphanumeric, 52, 84) + "JQQ" + "J99" + Some(kAlphanumeric, 26, 85)},
      {"stripe-key", std::string("sk") + "_org_live_" + Some(kAlphanumeric, 40, 86)},
  };
  for (const auto& [kind, token] : cases) {
    ExpectGone("rotated to " + token + " today", token, kind);
    ExpectGone("{\"value\": \"" + token + "\"}", token, kind);
  }
  ExpectKept("use as-internationalization and ciolistenersForBackgroundTaskQueues");
  ExpectKept("cfk_" + std::string(48, 'x') + " vcp_maximum_number_of_connections");
}

// GitHub's tokens of installations: the app's number and a JSON Web Token.
TEST(SecretShapes, WebTokensBehindAPrefix) {
  const std::string token = std::string("ey") + "JhbGciOiJSUzI1NiIsInR5cCI6IkpXVCJ9.ey" +
                            "Jpc3MiOiIxMjM0NTY3IiwiZXhwIjoxNzg3MjE2NDAwfQ." + Some(kAlphanumeric, 86, 90);
  ExpectGone("printed " + (std::string("gh") + "s_1234567_" + token) + ".", token, "github-token");
  ExpectGone("GITHUB_TOKEN=" + (std::string("gh") + "s_1234567_" + token), token, "github-token");
  ExpectGone("use app_" + token + " now", token, "jwt");
}

TEST(SecretShapes, PasswordsOfConnectionStrings) {
  const std::string password = "bluegatehouse";
  ExpectGone("DATABASE=SAMPLE;UID=db2inst1;PWD=" + password, password, "password");
  ExpectGone("Driver={ODBC};Server=db;Uid=sa;Pwd=" + password + ";Encrypt=yes", password, "password");
  ExpectGone("PWD=" + password + ";UID=sa", password, "password");
  ExpectKept("cd src;PWD=somewhere make");
  ExpectKept("user=ada; PWD=$HOME; make");
}

TEST(SecretShapes, KeysAreToldByTheNamesOfTheirIssuers) {
  ExpectGone("ADAFRUIT_IO_KEY = \"" + Some("abcdefghijklmnopqrstuvwxyz", 32, 50) + "\"",
             Some("abcdefghijklmnopqrstuvwxyz", 32, 50), "adafruit-key");
  const std::string uuid = "0c9a7d54-5b1e-4f0a-9c3b-7d1f00e2a4b6";
  ExpectGone("HEROKU_API_KEY=" + uuid, uuid, "api-key");
  ExpectGone("herokuToken: '" + uuid + "'", uuid, "token");
  ExpectKept("heroku release: " + uuid);
  const std::string letters = Some("abcdefghijklmnopqrstuvwxyz", 30, 51);
  ExpectGone("twitch_secret := `" + letters + "`", letters, "twitch-token");
}

TEST(SecretShapes, NamesAndValuesApart) {
  const std::string secret = "k7Qz!mW2xR9tB4";
  ExpectGone("<add key=\"ClearTextPassword\" value=\"" + secret + "\" />", secret, "secret");
  ExpectGone(R"({"name": "DB_PASSWORD", "value": ")" + secret + "\"}", secret, "secret");
  ExpectGone("- name: DB_PASSWORD\n  value: " + secret + "\n", secret, "secret");
  ExpectGone("<password>" + secret + "</password>", secret, "password");
  ExpectGone("apiVersion: v1\nkind: Secret\nmetadata:\n  name: x\ndata:\n  user: YWRhbG92ZWxhY2U=\n", "YWRhbG92ZWxhY2U",
             "kubernetes-secret");
  ExpectGone("var apiToken string = \"" + Some(kAlphanumeric, 30, 60) + "\"", Some(kAlphanumeric, 30, 60), "token");
  ExpectGone("postgres://ada:p@ss#1!x@db.test/app", "ss#1!x", "password-in-url");
}

TEST(SecretShapes, ValuesThatCommandsAndPromptsName) {
  const std::string key = "2mIZ89nVtoNoh8ep6+FxiRBq23yMP96af8omMgdN";
  for (const char* before :
       {"aws configure set aws_secret_access_key ", "aws configure set profile.dev.aws_secret_access_key '",
        "aws --profile dev configure set aws_secret_access_key \"", "AWS Secret Access Key [None]: ",
        R"("configure", "set", "aws_secret_access_key", ")", "AWS Secret Access Key [****************Mgd1]: "}) {
    ExpectGone(before + key, key, "aws-secret");
  }
  const std::string value = "lHmJE1tr3QpLnSA75Kri0i6H";
  for (const auto& [before, after] : std::vector<std::pair<std::string, std::string>>{
           {"gh secret set DEPLOY_TOKEN --body ", ""},
           {"gh secret set DEPLOY_TOKEN -b\"", "\""},
           {"az keyvault secret set --vault-name v --name n --value '", "'"},
           {"echo ", " | docker login -u ada --password-stdin"},
           {"printf '%s' '", "' | gh auth login --with-token"},
           {"printf \"", "\\n\" | gh secret set DEPLOY_TOKEN"},
           {"docker login -u ada --password-stdin <<< ", ""},
           {"echo \"", "\" | npx wrangler secret put API"},
           {"set -gx API_TOKEN ", ""},
           {"setx API_TOKEN \"", "\""},
           {"set API_TOKEN ", ""},
           {"set -gx --export DB_PASSWORD ", ""},
           {R"(["npm", "config", "set", "_authToken", ")", "\"]"},
           {"npm config set //registry.npmjs.org/:_authToken ", ""},
           {"poetry config pypi-token.pypi ", ""},
           {"git config --global github.token ", ""},
           {"ALTER USER app WITH PASSWORD '", "';"},
           {"CREATE USER 'app'@'%' IDENTIFIED BY '", "';"},
           {"SET PASSWORD FOR 'app'@'%' = '", "'"},
           {"CREATE LOGIN app WITH PASSWORD = N'", "'"},
           {"psql -c \"ALTER ROLE app PASSWORD '", "'\""},
           {"sqlcmd -S db -U sa -P ", ""},
           {"redis-cli -h db -a ", " ping"},
           {"htpasswd -bc users ada ", ""},
           {"echo 'ada:", "' | sudo chpasswd"},
           {"default login ada password ", ""},
           {"aws configure <<EOF\n$ID\n", "ab+/0123456789yz\nus-east-1\njson\nEOF"},
           {"printf '%s\\n' " + ("AKIA" + Some("ABCDEFGH", 16, 3)) + " ", "ab+/0123456789yz us-east-1 | aws configure"},
           {"vault login ", ""},
           {"az login --service-principal -u 1 -p ", " --tenant t"},
           {"cargo login ", ""},
           {"echo ", " | vercel env add API production"},
           {"docker login -u ada -p", ""},
           {"useradd -m -p '", "' ada"},
           {"npm config set _auth ", ""},
           {"mc alias set store http://h ada ", ""},
           {"supabase secrets set API=", ""},
           {"my API key is ", ", use it"},
           {"gh secret set NAME `\n  --body ", ""},
           {"az login ^\r\n -u ada ^\r\n -p ", ""},
           {R"({"command":"vault login `\r\n )", "\"}"},
           {"vault login \\\n  # of the server\n  ", ""},
       }) {
    EXPECT_THAT(Redacted(before + value + after), Not(HasSubstr(value))) << before;
  }
  for (const char* text : {
           "aws configure set region eu-central-1-with-a-long-name",
           "gh secret set DEPLOY_TOKEN --body \"$DEPLOY_TOKEN\"",
           "echo \"$TOKEN\" | docker login -u ada --password-stdin",
           "cat token.txt | gh auth login --with-token",
           "git config --global credential.helper /usr/lib/git-core/git-credential-libsecret",
           "git config user.signingkey-path secret-service/collection2",
           "set the token to the value of the variable, and set password length-12",
           "npm config set //registry.npmjs.org/:_authToken ${NPM_TOKEN}",
           "create a form whose password 'must be' long",
           "sqlcmd -S db -U sa -P $SA_PASSWORD",
           "secret access key of the account that the deployment uses",
           "echo done | sudo tee /etc/motd",
           "mongosh --host my-production-db --quiet",
           "mkdir -p build && mongod --dbpath data",
           "mysql --print-defaults",
           "The machine is password protected, and the default password should change",
           "users identified by address",
           "UID={user};PWD={db_password}",
           "the key is configuration_of_the_cluster",
           "7z x -p archive1.7z",
           "unzip -p archive.zip && scp -P 2222 archive host:",
           "vault login -method=oidc role=readers",
           "ssh-keygen -t ed25519 -f key -N ''",
       }) {
    ExpectKept(text);
  }
}

// Where a command or file holds a password, even a word is one.
TEST(SecretShapes, PasswordsOfLettersWhereNothingElseStands) {
  for (const auto& [before, after] : std::vector<std::pair<std::string, std::string>>{
           {"docker login -u ada -p ", " registry.test"},
           {"docker login `\n  -u ada `\n  -p ", ""},
           {"mysql -u root -p", " shop"},
           {"sshpass -p ", " ssh ada@host"},
           {"curl -uada:", " https://h.test"},
           {"chpasswd <<< 'ada:", "'"},
           {"sudo chpasswd <<EOF\nbob:lakewindow\nada:", "\nEOF"},
           {"printf '", "\\nbluegatehouse\\n' | passwd ada"},
           {"sudo -S <<< '", "' ls"},
           {"zip -P ", " a.zip f"},
           {"7z a -p", " a.7z f"},
           {"ssh-keygen -t ed25519 -N '", "' -f k"},
           {"gpg --batch --passphrase ", " -d f"},
           {"poetry config http-basic.store ada ", ""},
           {"smbclient //h/s -U ada%", ""},
           {"MYSQL_PWD=", " mysql"},
           {"machine h.test\n  login ada\n  password ", "\n"},
           {"default login ada password ", ""},
           {"create user app identified by ", ";"},
           {"ALTER USER app\n  WITH PASSWORD '", "';"},
           {"Driver={X};UID=sa;PWD={", "};Encrypt=yes"},
           {"UID=sa;PWD={a;", "}"},
       }) {
    EXPECT_THAT(Redacted(before + "bluegatehouse" + after), Not(HasSubstr("bluegatehouse"))) << before;
  }
}

TEST(SecretShapes, KeysOfOtherShells) {
  const std::string line = Some(kAlphanumeric, 64, 8);
  ExpectGone("---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\nComment: \"k\"\n" + line +
                 "\n---- END SSH2 ENCRYPTED PRIVATE KEY ----",
             line, "private-key");
  for (const char* end : {"\n", "\r\n", "\\n"})
    ExpectGone(std::string("Private-Lines: 2") + end + "AAAA" + line + end + line + end + "Private-MAC: 00", line,
               "private-key");
}

TEST(SecretShapes, AddressesInsideOfUrls) {
  for (const char* text :
       {"https://h.test/leave?mail=ada.lovelace%40engine.test", "ssh://ada.lovelace@engine.test@host.test/x"})
    EXPECT_THAT(WithoutEmails(text), Not(HasSubstr("lovelace")));
}

TEST(SecretShapes, LongTextsOfAnyKindStayWhole) {
  std::string chinese;
  for (int i = 0; i < 3000; ++i) chinese += "\xE4\xBB\xA4";
  EXPECT_EQ(Redacted("token:" + chinese), "token:" + chinese);
  EXPECT_EQ(Redacted(std::string(100'000, '@')), std::string(100'000, '@'));
}

}  // namespace
}  // namespace upskill
