// SPDX-License-Identifier: Apache-2.0
#include "model/model_spec.h"

#include <gmock/gmock.h>

#include <string>

namespace upskill {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Pair;

// The built-in catalogue, read once.
const Catalog& BuiltIn() {
  static const Catalog catalog = [] {
    Result<Catalog> loaded = LoadCatalog();
    EXPECT_TRUE(loaded.ok()) << (loaded ? "" : loaded.error().message);
    return loaded ? *std::move(loaded) : Catalog{};
  }();
  return catalog;
}

ModelSpec Parse(const std::string& text, bool base_url = false) {
  const Result<ModelSpec> spec = ParseModelSpec(text, {&BuiltIn(), base_url});
  EXPECT_TRUE(spec.ok()) << text << ": " << (spec ? "" : spec.error().message);
  return spec ? *spec : ModelSpec{};
}

std::string SpecError(const std::string& text) {
  const Result<ModelSpec> spec = ParseModelSpec(text, {&BuiltIn(), false});
  EXPECT_FALSE(spec.ok()) << text;
  if (spec) return "";
  EXPECT_EQ(spec.error().kind, ErrorKind::kInput);
  return spec.error().message;
}

TEST(ParseModelSpec, Providers) {
  struct Form {
    const char* text;
    const char* provider;
    const char* rest;
  };
  for (const Form& form :
       {Form{"smollm2-135m", "embedded", ""}, Form{"llama:/models/x.gguf", "llama", "/models/x.gguf"},
        Form{"llama:x", "llama", "x"}, Form{"llama:org/repo:Q4_K_M", "llama", "org/repo:Q4_K_M"},
        Form{"llama./models/x.gguf", "llama", "/models/x.gguf"}, Form{"/models/x.gguf", "llama", "/models/x.gguf"},
        Form{"a b.gguf", "llama", "a b.gguf"}, Form{"sim:base=0.4,skill=0.85", "sim", "base=0.4,skill=0.85"},
        Form{"sim:", "sim", ""}}) {
    const ModelSpec spec = Parse(form.text);
    EXPECT_EQ(spec.text, form.text);
    EXPECT_EQ(spec.provider, form.provider) << form.text;
    EXPECT_EQ(spec.rest, form.rest) << form.text;
    EXPECT_FALSE(spec.network()) << form.text;
    EXPECT_THAT(spec.query, IsEmpty());
  }
}

TEST(ParseModelSpec, NetworkModels) {
  struct Form {
    const char* text;
    const char* provider;
    const char* model;
    const char* effort;
  };
  for (const Form& form : {
           Form{"haiku", "anthropic", "claude-haiku-4-5", ""},
           Form{"sonnet.high", "anthropic", "claude-sonnet-5", "high"},
           Form{"sonnet?reasoning=low", "anthropic", "claude-sonnet-5", "low"},
           Form{"sonnet.high?reasoning=low", "anthropic", "claude-sonnet-5", "low"},
           Form{"sonnet.auto", "anthropic", "claude-sonnet-5", ""},
           Form{"claude-opus-4-6", "anthropic", "claude-opus-4-6", ""},
           Form{"anthropic.claude-opus-4-6.xhigh", "anthropic", "claude-opus-4-6", "xhigh"},
           Form{"anthropic/claude-opus-4-6", "anthropic", "claude-opus-4-6", ""},
           Form{"gpt-5-mini.low", "responses", "gpt-5-mini", "low"},
           Form{"gpt-5.2", "responses", "gpt-5.2", ""},
           Form{"o3", "responses", "o3", ""},
           Form{"o4-mini", "responses", "o4-mini", ""},
           Form{"gpt-4o", "openai", "gpt-4o", ""},
           Form{"gpt-4.1-mini", "openai", "gpt-4.1-mini", ""},
           Form{"openai.gpt-5-mini.minimal", "openai", "gpt-5-mini", "minimal"},
           Form{"gemini-2.5-flash", "google", "gemini-2.5-flash", ""},
           Form{"grok-4", "xai", "grok-4", ""},
           Form{"qwen-turbo", "aliyun", "qwen-turbo", ""},
           Form{"deepseek-chat", "deepseek", "deepseek-chat", ""},
           Form{"deepseek", "deepseek", "deepseek-v4-flash", ""},
           Form{"kimi", "hf", "moonshotai/Kimi-K2.7-Code:fireworks-ai", ""},
           Form{"kimi:groq", "hf", "moonshotai/Kimi-K2.7-Code:groq", ""},
           Form{"codex.medium", "responses", "gpt-5.3-codex", "medium"},
           Form{"hf.openai/gpt-oss-120b:cerebras", "hf", "openai/gpt-oss-120b:cerebras", ""},
           Form{"hf.Qwen/Qwen3.5-397B-A17B", "hf", "Qwen/Qwen3.5-397B-A17B", ""},
           Form{"openrouter.deepseek/deepseek-r1:free", "openrouter", "deepseek/deepseek-r1:free", ""},
           Form{"openrouter/deepseek/deepseek-r1.high:free", "openrouter", "deepseek/deepseek-r1:free", "high"},
           Form{"generic.llama3.2:latest", "generic", "llama3.2:latest", ""},
           Form{"generic.unsloth/GLM-4.7-Flash-GGUF:Q4_0", "generic", "unsloth/GLM-4.7-Flash-GGUF:Q4_0", ""},
       }) {
    const ModelSpec spec = Parse(form.text);
    EXPECT_EQ(spec.provider, form.provider) << form.text;
    EXPECT_EQ(spec.model, form.model) << form.text;
    EXPECT_EQ(spec.effort, form.effort) << form.text;
    EXPECT_TRUE(spec.network());
  }
}

TEST(ParseModelSpec, WithABaseUrlPlainNamesBelongToTheServer) {
  for (const char* name : {"llama3.2:latest", "unsloth/GLM-4.7-Flash-GGUF:Q4_0", "openai/gpt-oss-20b", "gpt-5-mini",
                           "haiku", "qwen.max", "x", "models/y.gguf"}) {
    const ModelSpec spec = Parse(name, true);
    EXPECT_EQ(spec.provider, "generic") << name;
    EXPECT_EQ(spec.model, name);
    EXPECT_EQ(spec.effort, "");
  }
  EXPECT_EQ(Parse("x?reasoning=high&temperature=0.5", true).effort, "high");
  EXPECT_EQ(Parse("anthropic.claude-haiku-4-5", true).provider, "anthropic");
  EXPECT_EQ(Parse("generic.x", true).model, "x");
  EXPECT_EQ(Parse("smollm2-135m", true).provider, "embedded");
  EXPECT_EQ(Parse("sim:base=0.1", true).provider, "sim");
  EXPECT_EQ(Parse("./local.gguf", true).provider, "llama");
}

TEST(ParseModelSpec, CanonicalTextIsTheSameForEverySpelling) {
  EXPECT_EQ(Parse("haiku").canonical, "anthropic.claude-haiku-4-5");
  EXPECT_EQ(Parse("sonnet.high?temperature=0.5&stream=true").canonical,
            "anthropic.claude-sonnet-5?reasoning=high&temperature=0.5");
  EXPECT_EQ(Parse("claude-sonnet-5?temperature=0.5&reasoning=high").canonical,
            Parse("sonnet.high?temperature=0.5").canonical);
  EXPECT_EQ(Parse("sonnet?reasoning=auto").canonical, Parse("sonnet").canonical);
}

TEST(ParseModelSpec, Settings) {
  const ModelSettings all = Parse(
                                "gpt-4o?temperature=0.5&top_p=0.9&top_k=40&min_p=0.05&max_tokens=100&verbosity=low&"
                                "structured=tool_use&stream=true&transport=sse")
                                .settings;
  EXPECT_EQ(all.temperature, 0.5);
  EXPECT_EQ(all.top_p, 0.9);
  EXPECT_EQ(all.top_k, 40);
  EXPECT_EQ(all.min_p, 0.05);
  EXPECT_EQ(all.max_tokens, 100);
  EXPECT_EQ(all.verbosity, "low");
  EXPECT_EQ(all.structured, "tool_use");
  EXPECT_EQ(all.stream, true);
  EXPECT_TRUE(Parse("sonnet?context=1m").settings.long_context);
}

TEST(ParseModelSpec, BadSettings) {
  EXPECT_THAT(SpecError("haiku?wings=2"),
              AllOf(HasSubstr("unknown setting 'wings'"), HasSubstr("expected reasoning, temperature")));
  EXPECT_THAT(SpecError("haiku?temperature=hot"), HasSubstr("temperature must be a number from 0 to 2, not 'hot'"));
  EXPECT_THAT(SpecError("haiku?temperature=nan"), HasSubstr("temperature must be a number"));
  EXPECT_THAT(SpecError("haiku?top_k=1.5"), HasSubstr("top_k must be a number from 0"));
  EXPECT_THAT(SpecError("haiku?max_tokens=0"), HasSubstr("max_tokens must be a number from 1"));
  EXPECT_THAT(SpecError("haiku?reasoning=much"), HasSubstr("reasoning must be one of auto, none, minimal"));
  EXPECT_THAT(SpecError("haiku?transport=ws"), HasSubstr("transport must be one of sse, auto"));
  EXPECT_THAT(SpecError("haiku?verbosity=low"), HasSubstr("verbosity is not a setting of provider anthropic"));
  EXPECT_THAT(SpecError("gpt-4o?context=1m"), HasSubstr("context is not a setting of provider openai"));
}

TEST(ParseModelSpec, PathsThatStartLikeTheProvider) {
  for (const std::string path : {"llama.gguf", "llama.cpp/models/x.gguf", "llama-3.gguf"}) {
    EXPECT_EQ(Parse(path).provider, "llama");
    EXPECT_EQ(Parse(path).rest, path);
  }
}

TEST(ParseModelSpec, Query) {
  EXPECT_THAT(Parse("x.gguf?threads=4").query, ElementsAre(Pair("threads", "4")));
  const ModelSpec spec = Parse("smollm2-135m?threads=4&parallel=8&empty=&a=b=c");
  EXPECT_EQ(spec.provider, "embedded");
  EXPECT_THAT(spec.query,
              ElementsAre(Pair("a", "b=c"), Pair("empty", ""), Pair("parallel", "8"), Pair("threads", "4")));
  EXPECT_THAT(Parse("x.gguf?").query, IsEmpty());
}

TEST(ParseModelSpec, Errors) {
  for (const char* text : {"", "gpt-99", "llama", "sim", "smollm2", "SMOLLM2-135M", "x.gguf.part", ":", ".", "/",
                           "anthropic.", "hf/", ".high", "?"}) {
    EXPECT_THAT(SpecError(text), AllOf(HasSubstr("unknown model '" + std::string(text) + "'"),
                                       HasSubstr("`upskill help model-strings` explains how models are named")));
  }
  for (const char* text : {"llama:", "llama:?threads=2"}) EXPECT_THAT(SpecError(text), HasSubstr("names no file"));
  EXPECT_THAT(SpecError("x.gguf?threads"), HasSubstr("'threads' is not key=value"));
  EXPECT_THAT(SpecError("x.gguf?=4"), HasSubstr("'=4' is not key=value"));
  EXPECT_THAT(SpecError("x.gguf?a=1&&b=2"), HasSubstr("'' is not key=value"));
}

TEST(ParseModelSpec, NearNames) {
  EXPECT_THAT(SpecError("haikku"), HasSubstr("; did you mean 'haiku'? `upskill help"));
  EXPECT_THAT(SpecError("hiaku"), HasSubstr("; did you mean 'haiku'"));
  EXPECT_THAT(SpecError("antropic.claude-haiku-4-5"), HasSubstr("; did you mean 'anthropic.claude-haiku-4-5'?"));
  EXPECT_THAT(SpecError("haiku.hgih"), HasSubstr("'hgih' isn't an effort; did you mean 'haiku.high'?"));
  EXPECT_THAT(SpecError("sonet"), HasSubstr("unknown model 'sonet'; did you mean 'sonnet'"));
  EXPECT_THAT(SpecError("SMOLLM2-135M"), HasSubstr("did you mean 'smollm2-135m'?"));
  EXPECT_THAT(SpecError("entirely-different"), Not(HasSubstr("did you mean")));
}

TEST(ParseModelSpec, NamesOfTheHub) {
  EXPECT_EQ(SpecError("moonshotai/Kimi-K2-Thinking"),
            "unknown model 'moonshotai/Kimi-K2-Thinking'; if it is a model of the Hugging Face Hub, -m "
            "hf.moonshotai/Kimi-K2-Thinking asks it there (with HF_TOKEN), and -m llama:ORG/REPO:QUANT runs a GGUF of "
            "it on this machine; if a server of yours has it, -m moonshotai/Kimi-K2-Thinking --base-url URL");
  EXPECT_THAT(SpecError("unsloth/GLM-4.7-Flash-GGUF:Q4_0"),
              HasSubstr("-m llama:unsloth/GLM-4.7-Flash-GGUF:Q4_0 runs it on this machine"));
  for (const char* text : {"a/b/c", "a/", "/b", "a b/c", "a/:Q4"})
    EXPECT_THAT(SpecError(text), Not(HasSubstr("Hugging Face Hub"))) << text;
}

TEST(ParseModelSpec, MessagesQuoteTheTextUnescaped) {
  EXPECT_THAT(SpecError("evil\x1b[2J\nname"), HasSubstr("'evil\x1b[2J\nname'"));
  EXPECT_THAT(SpecError("x.gguf?\x1b"), HasSubstr("'\x1b' is not key=value"));
  EXPECT_THAT(SpecError("generic.a\nb"), HasSubstr("unknown model"));
}

TEST(ParseModelSpec, TheBuiltInCatalogueIsTheDefault) {
  const Result<ModelSpec> spec = ParseModelSpec("haiku");
  ASSERT_TRUE(spec.ok());
  EXPECT_EQ(spec->model, "claude-haiku-4-5");
}

}  // namespace
}  // namespace upskill
