// SPDX-License-Identifier: Apache-2.0
// `upskill models …` as whole command lines in process, against scripted servers on this machine.
#include <gmock/gmock.h>

#include <filesystem>
#include <string>
#include <vector>

#include "support/command_line.h"
#include "support/fake_hub.h"
#include "util/files.h"
#include "util/json.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;
using loopback::Request;
using loopback::Script;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

class ModelsCli : public CommandLineTest {
 protected:
  ModelsCli() {
    variables["HF_HOME"] = (folder.path() / "hf").string();
    variables["UPSKILL_EMBEDDED_MODEL"] = folder.Write("embedded.gguf", "GGUF").string();
    // Own providers in the place of those on the network.
    variables["UPSKILL_MODELS"] = folder.Write("models.toml", "").string();
  }

  // The element of a list whose `key` is `value`.
  static Json Find(const Json& list, const char* key, const std::string& value) {
    for (const Json& element : list) {
      if (element.at(key) == value) return element;
    }
    return Json();
  }
};

TEST_F(ModelsCli, ListsNamesProvidersAndModelsHere) {
  variables["ANTHROPIC_API_KEY"] = "sk-very-secret";
  folder.Write("hf/hub/models--org--repo/snapshots/c/m-Q8_0.gguf", "GGUF1234");
  EXPECT_EQ(Run({"models"}), 0) << error;
  EXPECT_THAT(out, AllOf(HasSubstr("haiku"), HasSubstr("USD per million tokens"), HasSubstr("$ANTHROPIC_API_KEY"),
                         HasSubstr("– (set OPENAI_API_KEY)"), HasSubstr("not needed"), HasSubstr("smollm2-135m"),
                         HasSubstr("llama:org/repo:Q8_0")));
  EXPECT_THAT(out, Not(HasSubstr("sk-very-secret")));
  EXPECT_THAT(error, IsEmpty());
}

TEST_F(ModelsCli, AFileNamedWithoutItsFolderIsAnyOfTheseOrInTheCache) {
  variables["UPSKILL_CACHE"] = folder.path().string();
  folder.Write("skill/SKILL.md", "---\nname: skill\ndescription: d\n---\nAdd.\n");
  folder.Write("skill/tests.json", R"([{"input": "one and one", "expected": {"contains": "2"}}])");
  const std::string tiny = folder.Write("models/tiny.gguf", "no GGUF").string();
  const std::string of_hub = folder.Write("hf/hub/models--org--repo/snapshots/c/m-Q8_0.gguf", "no GGUF").string();
  const auto told_of = [&](const std::string& model) {
    EXPECT_EQ(Run({"eval", (folder.path() / "skill").string(), "-m", model}), 2);
    return error;
  };
  EXPECT_THAT(told_of("tiny.gguf"), HasSubstr(tiny));
  EXPECT_THAT(told_of("llama:m-Q8_0.gguf"), HasSubstr(of_hub));
  EXPECT_THAT(told_of("llama:x.gguf"),
              HasSubstr("here or in the cache, which has embedded.gguf, m-Q8_0.gguf, tiny.gguf"));
}

TEST_F(ModelsCli, ListAsJson) {
  variables["HF_TOKEN"] = "hf_very_secret";
  folder.Write("models.toml",
               "[alias.mine]\nmodel = \"openai.gpt-x\"\n[[price]]\nproviders = [\"openai\"]\nmodels = "
               "[\"gpt-x\"]\ninput = 1.5\noutput = 6\ndate = \"2026-11-01\"\n");
  EXPECT_EQ(Run({"models", "--json"}), 0) << error;
  EXPECT_THAT(out, Not(HasSubstr("hf_very_secret")));
  const Json json = OutAsJson();
  const Json mine = Find(json.at("names"), "name", "mine");
  EXPECT_EQ(mine.at("provider"), "openai");
  EXPECT_EQ(mine.at("model"), "gpt-x");
  EXPECT_EQ(mine.at("price").at("output"), 6.0);
  EXPECT_EQ(mine.at("price").at("date"), "2026-11-01");
  EXPECT_EQ(Find(json.at("providers"), "name", "hf").at("key").at("variable"), "HF_TOKEN");
  EXPECT_EQ(Find(json.at("providers"), "name", "openai").at("key").at("found"), false);
  EXPECT_EQ(Find(json.at("local"), "name", "smollm2-135m").at("bytes"), 4);
  EXPECT_FALSE(json.contains("servers"));
}

TEST_F(ModelsCli, ABrokenCatalogueIsNamed) {
  folder.Write("models.toml", "[alias.x]\nmodle = \"y\"\n");
  EXPECT_EQ(Run({"models"}), 2);
  EXPECT_THAT(error, HasSubstr("models.toml:2"));
}

TEST_F(ModelsCli, CheckAsksProvidersWithAKey) {
  const loopback::Server good([](const Request& request) -> Script {
    const bool right = request.path == "/v1/models" && request.headers.at("x-api-key") == "sk-secret";
    return right ? loopback::Answer(200, R"({"data":[{"id":"a"},{"id":"b"}]})") : loopback::Answer(404, "");
  });
  const loopback::Server refusing(
      [](const Request&) -> Script { return loopback::Answer(401, R"({"error":{"message":"bad key"}})"); });
  const loopback::Server failing([](const Request&) -> Script { return loopback::Answer(503, "down"); });
  variables["ANTHROPIC_API_KEY"] = "sk-secret";
  variables["ANTHROPIC_BASE_URL"] = good.url();
  variables["OPENAI_API_KEY"] = "sk-secret";
  variables["OPENAI_BASE_URL"] = refusing.url() + "/v1";
  variables["GENERIC_BASE_URL"] = loopback::DeadUrl();
  variables["GROQ_API_KEY"] = "sk-secret";
  variables["GROQ_BASE_URL"] = failing.url();
  EXPECT_EQ(Run({"models", "--check", "--json"}), 0) << error;
  EXPECT_THAT(out, Not(HasSubstr("sk-secret")));
  const Json servers = OutAsJson().at("servers");
  EXPECT_EQ(Find(servers, "provider", "anthropic").at("state"), "reachable");
  EXPECT_EQ(Find(servers, "provider", "anthropic").at("detail"), "2 models");
  EXPECT_EQ(Find(servers, "provider", "openai").at("state"), "key rejected");
  EXPECT_EQ(Find(servers, "provider", "generic").at("state"), "not reachable");
  EXPECT_EQ(Find(servers, "provider", "groq").at("state"), "not reachable");
  EXPECT_TRUE(Find(servers, "provider", "xai").is_null());  // no key: not asked
  EXPECT_EQ(Run({"models", "--check"}), 0) << error;
  EXPECT_THAT(out, AllOf(HasSubstr("Servers"), HasSubstr("key rejected"), Not(HasSubstr("sk-secret"))));
}

class PullCli : public ModelsCli {
 protected:
  PullCli() {
    variables["HF_ENDPOINT"] = hub.endpoint();
    hub.Set("m-Q8_0.gguf", content);
    hub.Set("m-Q2_K.gguf", GgufBytes(10));
  }
  const std::string content = GgufBytes(200'000);
  FakeHub hub;
};

TEST_F(PullCli, PullsOnceAndIsListed) {
  EXPECT_EQ(Run({"models", "pull", "org/repo:Q8_0"}), 0) << error;
  EXPECT_THAT(out, AllOf(StartsWith((folder.path() / "hf/hub/models--org--repo/snapshots/").string()),
                         HasSubstr("/m-Q8_0.gguf\n")));
  EXPECT_THAT(error, AllOf(HasSubstr("downloading org/repo:Q8_0 from http://127.0.0.1:"),
                           HasSubstr("-m llama:org/repo:Q8_0"), Not(HasSubstr("\x1b"))));
  const std::size_t requests = hub.hub().request_count();
  EXPECT_EQ(Run({"models", "pull", "llama:org/repo:q8_0", "--json"}), 0) << error;
  EXPECT_EQ(*ReadFile(OutAsJson().at("file").get<std::string>()), content);
  EXPECT_EQ(hub.hub().request_count(), requests);  // found without asking
  EXPECT_EQ(Run({"models", "pull", "org/repo:Q8_0", "--update"}), 0) << error;
  EXPECT_GT(hub.hub().request_count(), requests);
  EXPECT_EQ(Run({"models"}), 0);
  EXPECT_THAT(out, AllOf(HasSubstr("llama:org/repo:Q8_0"), HasSubstr("200.0 kB")));
}

TEST_F(PullCli, ALiveLineOnATerminal) {
  terminal = true;
  EXPECT_EQ(Run({"models", "pull", "org/repo"}), 0) << error;
  EXPECT_THAT(error, AllOf(HasSubstr("\r\x1b[K  200.0 kB/200.0 kB ████████████████████   100 %"),
                           HasSubstr("m-Q8_0.gguf\r\x1b[K")));
}

TEST_F(PullCli, InterruptedKeepsThePartAndSaysHowToGoOn) {
  hub.OnStorage([this](const Request&) -> std::optional<Script> {
    return Script{loopback::Send(fmt::format("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{}", content.size(),
                                             content.substr(0, 100'000))),
                  loopback::Wait(std::chrono::hours(1))};
  });
  on_error = [this] {
    if (error.find("100.0 kB/200.0 kB") != std::string::npos) stop = 1;
  };
  EXPECT_EQ(Run({"models", "pull", "org/repo:Q8_0"}), 130);
  EXPECT_THAT(error,
              HasSubstr("stopped; what has been downloaded is kept. To continue: upskill models pull org/repo:Q8_0"));
  stop = 0;
  on_error = nullptr;
  hub.OnStorage(nullptr);
  EXPECT_EQ(Run({"models", "pull", "org/repo:Q8_0"}), 0) << error;
  EXPECT_EQ(hub.storage().requests().back().headers.at("range"), "bytes=100000-");
}

TEST_F(PullCli, ErrorsSayWhatToDo) {
  EXPECT_EQ(Run({"models", "pull", "org/none:Q8_0"}), 2);
  EXPECT_THAT(error, HasSubstr("org/none: not found, or private: set HF_TOKEN"));
  EXPECT_EQ(Run({"models", "pull", "org/repo:Q5_0"}), 2);
  EXPECT_THAT(error, HasSubstr("available: Q2_K, Q8_0"));
  EXPECT_EQ(Run({"models", "pull", "repo"}), 2);
  EXPECT_THAT(error, HasSubstr("org/repo:QUANT"));
  EXPECT_EQ(Run({"models", "pull"}), 2);
  variables["HF_ENDPOINT"] = loopback::DeadUrl();
  EXPECT_EQ(Run({"models", "pull", "org/repo:Q8_0"}), 3);
  variables["HF_HUB_OFFLINE"] = "1";
  EXPECT_EQ(Run({"models", "pull", "org/repo:Q8_0"}), 2);
  EXPECT_THAT(error, AllOf(HasSubstr("HF_HUB_OFFLINE"), Not(HasSubstr("getting"))));
}

}  // namespace
}  // namespace upskill
