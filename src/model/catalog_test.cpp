// SPDX-License-Identifier: Apache-2.0
#include "model/catalog.h"

#include <gmock/gmock.h>

#include <string>

#include "model/model_spec.h"

namespace upskill {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

Catalog Load(const std::string& own = "") {
  Result<Catalog> catalog = LoadCatalog(CatalogText{own, "own.toml"});
  EXPECT_TRUE(catalog.ok()) << (catalog ? "" : catalog.error().message);
  return catalog ? *std::move(catalog) : Catalog{};
}

std::string CatalogError(const std::string& own) {
  const Result<Catalog> catalog = LoadCatalog(CatalogText{own, "own.toml"});
  EXPECT_FALSE(catalog.ok()) << own;
  return catalog ? "" : catalog.error().message;
}

TEST(Catalog, EveryBuiltInAliasLeadsToAKnownProvider) {
  const Catalog catalog = Load();
  for (const auto& [name, alias] : catalog.aliases) {
    const Result<ModelSpec> spec = ParseModelSpec(name, {&catalog, false});
    ASSERT_TRUE(spec.ok()) << name;
    EXPECT_NE(catalog.FindProvider(spec->provider), nullptr) << name;
  }
  EXPECT_EQ(catalog.aliases.at("sonnet").previous, "claude-sonnet-4-5");
}

TEST(Catalog, BuiltInProviders) {
  const Catalog catalog = Load();
  const Provider& anthropic = *catalog.FindProvider("anthropic");
  EXPECT_EQ(anthropic.wire, Wire::kAnthropic);
  EXPECT_EQ(anthropic.batch, BatchStyle::kAnthropic);
  EXPECT_EQ(anthropic.key_variables.front(), "ANTHROPIC_API_KEY");
  EXPECT_EQ(catalog.FindProvider("openai")->token_limit, "max_completion_tokens");
  EXPECT_EQ(catalog.FindProvider("google")->base_url, "https://generativelanguage.googleapis.com/v1beta/openai");
  EXPECT_TRUE(catalog.FindProvider("generic")->default_key.has_value());
  EXPECT_FALSE(catalog.FindProvider("hf")->default_key.has_value());
  EXPECT_EQ(catalog.FindProvider("nobody"), nullptr);
}

// `generate` measures the skills of dearer models on these.
TEST(Catalog, StudentsOfProvidersAreCheaperThanTheirBestModels) {
  const Result<Catalog> catalog = LoadCatalog();
  ASSERT_TRUE(catalog.ok());
  EXPECT_EQ(catalog->FindProvider("anthropic")->student, "haiku");
  const std::optional<Price> haiku = catalog->PriceOf("anthropic", "claude-haiku-4-5");
  const std::optional<Price> opus = catalog->PriceOf("anthropic", "claude-opus-5");
  ASSERT_TRUE(haiku && opus);
  EXPECT_LT(haiku->output, opus->output);
  EXPECT_TRUE(catalog->PriceOf("openai", "gpt-5-mini").has_value());
}

TEST(Catalog, Prices) {
  const Catalog catalog = Load();
  const std::optional<Price> haiku = catalog.PriceOf("anthropic", "claude-haiku-4-5-20251001");
  ASSERT_TRUE(haiku.has_value());
  EXPECT_EQ(haiku->input, 1.0);
  EXPECT_EQ(haiku->output, 5.0);
  EXPECT_EQ(haiku->cache_write, 1.25);
  EXPECT_FALSE(haiku->date.empty());
  const std::optional<Price> mini = catalog.PriceOf("responses", "gpt-5-mini-2025-08-07");
  ASSERT_TRUE(mini.has_value());
  EXPECT_EQ(mini->cache_write, mini->input);  // not distinguished
  EXPECT_FALSE(catalog.PriceOf("openrouter", "gpt-5-mini").has_value());
  EXPECT_FALSE(catalog.PriceOf("anthropic", "claude-haiku-4-5-preview").has_value());
  EXPECT_FALSE(catalog.PriceOf("generic", "x").has_value());
}

TEST(Catalog, TheUsersFileTakesPrecedence) {
  const Catalog catalog = Load(R"(
[provider.generic]
token_limit = "max_completion_tokens"
[provider.farm]
wire = "anthropic"
base_url = "https://farm.example"
headers = { x-team = "red" }
[alias]
haiku = { model = "farm.small" }
[[name]]
provider = "farm"
patterns = ["claude-*"]
[[price]]
providers = ["anthropic"]
models = ["claude-haiku-4-5"]
input = 9
output = 10.5
)");
  EXPECT_EQ(catalog.FindProvider("generic")->token_limit, "max_completion_tokens");
  EXPECT_EQ(catalog.FindProvider("generic")->base_url, "http://localhost:11434/v1");
  EXPECT_EQ(catalog.FindProvider("farm")->headers.front().second, "red");
  EXPECT_EQ(catalog.aliases.at("haiku").model, "farm.small");
  EXPECT_EQ(catalog.ProviderOfName("claude-x")->name, "farm");
  EXPECT_EQ(catalog.ProviderOfName("gpt-4o")->name, "openai");
  EXPECT_EQ(catalog.PriceOf("anthropic", "claude-haiku-4-5")->input, 9.0);
}

TEST(Catalog, ErrorsNameThePlace) {
  EXPECT_THAT(CatalogError("x = 1"), StartsWith("own.toml:1:5: unknown entry 'x'"));
  EXPECT_THAT(CatalogError("[provider.a\n"), StartsWith("own.toml:1:"));
  EXPECT_THAT(CatalogError("[provider.a]\nbase_url = 7"), StartsWith("own.toml:2:12: 'base_url' must be a string"));
  EXPECT_THAT(CatalogError("[provider.a]\nwire = \"carrier\""),
              HasSubstr("it must be one of anthropic, chat, responses"));
  EXPECT_THAT(CatalogError("[provider.a]\ncolour = 1"), HasSubstr("unknown key 'colour' in a provider"));
  EXPECT_THAT(CatalogError("[provider.a]\nwire = \"chat\""), HasSubstr("provider 'a' needs a base_url"));
  EXPECT_THAT(CatalogError("[provider.a]\nbase_url = \"x\"\nheaders = { \"a b\" = \"c\" }"),
              HasSubstr("is not a valid header name"));
  EXPECT_THAT(CatalogError("[provider.a]\nbase_url = \"x\"\nheaders = { a = \"c\\r\\nd\" }"),
              HasSubstr("control character"));
  EXPECT_THAT(CatalogError("[alias]\na = 1"), HasSubstr("'alias.a' must be a table"));
  EXPECT_THAT(CatalogError("[alias]\na = {}"), HasSubstr("needs a model"));
  EXPECT_THAT(CatalogError("[[price]]\nproviders = [\"a\"]"), HasSubstr("a price needs"));
  EXPECT_THAT(CatalogError("[[price]]\nproviders = [\"a\"]\nmodels = [\"b\"]\ninput = -1\noutput = 1"),
              StartsWith("own.toml:4:9: 'input' must be a non-negative number"));
  EXPECT_THAT(CatalogError("[[name]]\nprovider = \"nobody\"\npatterns = [\"a\"]"),
              HasSubstr("unknown provider 'nobody'"));
  EXPECT_THAT(CatalogError("a = \"\xff\""), HasSubstr("own.toml:1:6: not UTF-8"));
}

TEST(MatchesPattern, Stars) {
  EXPECT_TRUE(MatchesPattern("claude-*", "claude-x"));
  EXPECT_TRUE(MatchesPattern("o1", "o1"));
  EXPECT_FALSE(MatchesPattern("o1", "o12"));
  EXPECT_FALSE(MatchesPattern("claude-*", "xclaude-x"));
  EXPECT_TRUE(MatchesPattern("a*b*c", "axxbyyc"));
  EXPECT_TRUE(MatchesPattern("*", ""));
  EXPECT_FALSE(MatchesPattern("ab*bc", "abc"));
  EXPECT_TRUE(MatchesPattern("ab*bc", "abbc"));
}

TEST(Catalog, APriceMayBeThatOfManyModels) {
  const Result<Catalog> catalog = LoadCatalog(CatalogText{
      "[[price]]\nproviders = [\"generic\"]\nmodels = [\"qwen*\", \"m\"]\ninput = 0\noutput = 0\n", "mine.toml"});
  ASSERT_TRUE(catalog.ok()) << catalog.error().message;
  EXPECT_EQ(catalog->PriceOf("generic", "qwen3-8b")->input, 0.0);
  EXPECT_EQ(catalog->PriceOf("generic", "m")->output, 0.0);
  EXPECT_FALSE(catalog->PriceOf("generic", "m2").has_value());
  EXPECT_FALSE(catalog->PriceOf("openrouter", "qwen3-8b").has_value());
}

}  // namespace
}  // namespace upskill
