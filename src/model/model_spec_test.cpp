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

ModelSpec Parse(const std::string& text) {
  const Result<ModelSpec> spec = ParseModelSpec(text);
  EXPECT_TRUE(spec.ok()) << text << ": " << (spec ? "" : spec.error().message);
  return spec ? *spec : ModelSpec{};
}

std::string ErrorOf(const std::string& text) {
  const Result<ModelSpec> spec = ParseModelSpec(text);
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
  for (const Form& form : {Form{"smollm2-135m", "embedded", ""},
                           Form{"llama:/models/x.gguf", "llama", "/models/x.gguf"},
                           Form{"llama:x", "llama", "x"},
                           Form{"llama./models/x.gguf", "llama", "/models/x.gguf"},
                           Form{"/models/x.gguf", "llama", "/models/x.gguf"},
                           Form{"a b.gguf", "llama", "a b.gguf"},
                           Form{"sim:base=0.4,skill=0.85", "sim", "base=0.4,skill=0.85"},
                           Form{"sim:", "sim", ""}}) {
    const ModelSpec spec = Parse(form.text);
    EXPECT_EQ(spec.text, form.text);
    EXPECT_EQ(spec.provider, form.provider) << form.text;
    EXPECT_EQ(spec.rest, form.rest) << form.text;
    EXPECT_THAT(spec.query, IsEmpty());
  }
}

TEST(ParseModelSpec, PathsThatBeginLikeTheProvider) {
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
  for (const char* text : {"", "gpt-5", "llama", "sim", "smollm2", "SMOLLM2-135M", "x.gguf.part"}) {
    EXPECT_THAT(ErrorOf(text), AllOf(HasSubstr("unknown model '" + std::string(text) + "'"), HasSubstr("smollm2-135m"),
                                     HasSubstr("llama:PATH.gguf"), HasSubstr("sim:base=")));
  }
  for (const char* text : {"llama:", "llama:?threads=2"}) EXPECT_THAT(ErrorOf(text), HasSubstr("names no file"));
  EXPECT_THAT(ErrorOf("x.gguf?threads"), HasSubstr("'threads' is not key=value"));
  EXPECT_THAT(ErrorOf("x.gguf?=4"), HasSubstr("'=4' is not key=value"));
  EXPECT_THAT(ErrorOf("x.gguf?a=1&&b=2"), HasSubstr("'' is not key=value"));
}

TEST(ParseModelSpec, MessagesAreSafeForATerminal) {
  EXPECT_THAT(ErrorOf("evil\x1b[2J\nname"), AllOf(HasSubstr("\\x1b[2J name"), Not(HasSubstr("\x1b"))));
  EXPECT_THAT(ErrorOf("x.gguf?\x1b"), Not(HasSubstr("\x1b")));
}

}  // namespace
}  // namespace upskill
