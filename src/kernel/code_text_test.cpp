// SPDX-License-Identifier: Apache-2.0
// How the text of C++, Python, schemas and values is read.
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "kernel/build_values.h"
#include "kernel/cpp_signature.h"
#include "kernel/cpp_tokens.h"
#include "kernel/op_registration.h"
#include "kernel/op_schema.h"
#include "kernel/project_code.h"
#include "kernel/rules.h"

namespace upskill {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::vector<std::string> TokensOf(std::string_view text) {
  std::vector<std::string> tokens;
  for (const CppToken& token : TokenizeCpp(text).tokens) tokens.emplace_back(token.text);
  return tokens;
}

TEST(TokenizeCpp, LeavesOutCommentsAndDisabledCode) {
  EXPECT_THAT(TokensOf("a /* b */ c // d \\\n e\nf"), ElementsAre("a", "c", "f"));
  EXPECT_THAT(TokensOf("#if 0\na\n#elif X\nb\n#else\nc\n#endif\nd"), ElementsAre("b", "c", "d"));
  EXPECT_THAT(TokensOf("#if 1\na\n#else\nb\n#endif\nd"), ElementsAre("a", "d"));
  EXPECT_THAT(TokensOf("#if 0\n#if 1\na\n#endif\n#endif\nb"), ElementsAre("b"));
  EXPECT_THAT(TokensOf("#pragma once\n#undef X\n#endif\n#else\na"), ElementsAre("a"));
  EXPECT_THAT(TokensOf("a /* b"), ElementsAre("a"));
}

TEST(TokenizeCpp, KnowsStringsAndNumbers) {
  EXPECT_THAT(TokensOf(R"(f("a // \" b", 'c', 1'000, 1e-6f, x::y))"),
              ElementsAre("f", "(", R"(a // \" b)", ",", "c", ",", "1'000", ",", "1e-6f", ",", "x", "::", "y", ")"));
  EXPECT_THAT(TokensOf("R\"x(a )\" b)x\" c"), ElementsAre("a )\" b", "c"));
  EXPECT_THAT(TokensOf("R\"(a"), ElementsAre("a"));
  EXPECT_THAT(TokensOf("\"a\nb"), ElementsAre("a", "b")) << "a string ends with its line";
}

TEST(TokenizeCpp, KnowsIncludesMacrosAndBranches) {
  const CppText code =
      TokenizeCpp("#include <a.h>\n# include \"b/c.h\" // x\n#define F(x) \\\n  g(x)\nh();\n#ifdef A\ni\n#endif");
  ASSERT_THAT(code.includes, SizeIs(2));
  EXPECT_EQ(code.includes[0].name, "a.h");
  EXPECT_FALSE(code.includes[0].quoted);
  EXPECT_EQ(code.includes[1].name, "b/c.h");
  EXPECT_TRUE(code.includes[1].quoted);
  EXPECT_TRUE(code.tokens.front().in_define);
  EXPECT_EQ(code.tokens.back().text, "i");
  EXPECT_FALSE(code.tokens.back().in_define);
  EXPECT_NE(code.tokens.back().branch, 0U);
}

TEST(TakeStrings, JoinsWhatFollows) {
  const CppText code = TokenizeCpp("\"a \" /* x */\n  \"b\\\"c\" d");
  std::size_t token = 0;
  EXPECT_EQ(TakeStrings(code, token), "a b\"c");
  EXPECT_EQ(token, 2U);
}

TEST(ParseOpSchema, ReadsTypesMarksAndResults) {
  const Result<OpSchema> schema = ParseOpSchema(
      "f.out(Tensor(a!) out, Tensor (b!) x, Tensor!? y, int[2] s=[1, 2], *, Tensor?[] t, str k=\"a,b\", Generator? g) "
      "-> "
      "(Tensor, Tensor?)");
  ASSERT_TRUE(schema.ok()) << schema.error().message;
  EXPECT_EQ(schema->name, "f.out");
  ASSERT_THAT(schema->arguments, SizeIs(7));
  EXPECT_TRUE(schema->arguments[0].is_written && schema->arguments[1].is_written && schema->arguments[2].is_written);
  EXPECT_TRUE(schema->arguments[2].type.optional);
  EXPECT_TRUE(schema->arguments[3].type.list);
  EXPECT_TRUE(schema->arguments[4].type.item_optional && !schema->arguments[4].type.optional);
  EXPECT_EQ(schema->arguments[5].name, "k");
  EXPECT_THAT(*schema->returns, SizeIs(2));
  EXPECT_FALSE(ParseOpSchema("relu")->returns.has_value());
  EXPECT_THAT(*ParseOpSchema("f() -> ()")->returns, IsEmpty());
}

TEST(ParseOpSchema, TakesEveryTypeOfPyTorchsParser) {
  for (const char* type : {"QScheme", "Dict(str, Tensor)", "(int, int)", "(Tensor, float)[]", "Any?", "Future(Tensor)",
                           "__torch__.torch.classes.quantized.Conv2dPackedParamsBase"}) {
    const auto schema = ParseOpSchema("f(" + std::string(type) + " x, int n) -> Tensor");
    ASSERT_TRUE(schema.ok()) << type << ": " << schema.error().message;
    ASSERT_THAT(schema->arguments, SizeIs(2)) << type;
    EXPECT_EQ(schema->arguments[0].name, "x") << type;
  }
}

TEST(ParseOpSchema, SaysWhatIsWrong) {
  const auto error_of = [](const char* text) {
    const Result<OpSchema> schema = ParseOpSchema(text);
    return schema ? std::string() : schema.error().message;
  };
  EXPECT_THAT(error_of(""), HasSubstr("must begin with the operator's name"));
  EXPECT_THAT(error_of("f(Tenzor x) -> ()"), HasSubstr("`Tenzor` is not a type that a schema can have"));
  EXPECT_THAT(error_of("f(Tensor x, double y) -> ()"), HasSubstr("it is called float"));
  EXPECT_THAT(error_of("f(Tensor x, int64_t y) -> ()"), HasSubstr("it is called int"));
  EXPECT_THAT(error_of("f(Tensor) -> ()"), HasSubstr("the argument of type `Tensor` has no name"));
  EXPECT_THAT(error_of("f(Tensor x"), HasSubstr("expected , or ) between arguments, not the end"));
  EXPECT_THAT(error_of("f(Tensor x)"), HasSubstr("needs its results"));
  EXPECT_THAT(error_of("f(Tensor x) -> Tensor y z"), HasSubstr("expected the end after the results, not `z`"));
  EXPECT_THAT(error_of("my::f(Tensor x) -> ()"), HasSubstr("must not have a namespace"));
  EXPECT_THAT(error_of("f[Tensor x] -> ()"), HasSubstr("expected ( after the name"));
}

TEST(FindSignatures, TellsDeclarationsFromCalls) {
  const CppText code = TokenizeCpp(
      "namespace a { TORCH_API void f(const torch::Tensor&, int64_t n = 4);\n"
      "template <typename T> static inline std::tuple<at::Tensor, int64_t> f(T x) { return f(x); } }\n"
      "auto f() -> int64_t;\nvoid g() { f(x, 1); auto y = f(z); return f(z); TORCH_FN(f); }");
  const std::set<std::string, std::less<>> names = {"f"};
  const std::vector<CppSignature> found = FindSignatures(code, &names);
  ASSERT_THAT(found, SizeIs(3));
  ASSERT_THAT(found[0].parameters, SizeIs(2));
  EXPECT_EQ(found[0].parameters[0].type.kind, OpKind::kTensor);
  EXPECT_EQ(found[0].parameters[1].type.kind, OpKind::kInt);
  EXPECT_THAT(*found[0].returns, IsEmpty());
  EXPECT_FALSE(found[0].is_definition);
  EXPECT_TRUE(found[1].is_template && found[1].is_definition);
  EXPECT_THAT(*found[1].returns, SizeIs(2));
  EXPECT_FALSE(found[2].returns.has_value());
  EXPECT_THAT(FindSignatures(code, nullptr), SizeIs(4));
}

TEST(FindRegistrations, ReadsFunctionsAndDevices) {
  const OpRegistrations found = FindRegistrations(TokenizeCpp(
      "TORCH_LIBRARY_EXPAND(TORCH_EXTENSION_NAME, m) {\n"
      "m.def(\"a() -> ()\", &x::f); m.impl(\"a\", c10::DispatchKey::CUDA, TORCH_FN(g)); m.impl(\"b\", make_shim(&h));\n"
      "m.impl(\"c\", torch::kCPU, [](int) {}); other.impl(\"d\", &i); }\n"
      "TORCH_LIBRARY_IMPL_EXPAND(TORCH_EXTENSION_NAME, MPS, n) { n.impl(\"e\", &j<float>); }"));
  ASSERT_THAT(found.definitions, SizeIs(1));
  EXPECT_EQ(found.definitions[0].function->name, "f");
  ASSERT_THAT(found.implementations, SizeIs(4));
  EXPECT_EQ(found.implementations[0].device, "CUDA");
  EXPECT_EQ(found.implementations[0].function.name, "g");
  EXPECT_FALSE(found.implementations[0].function.is_wrapped);
  EXPECT_EQ(found.implementations[1].function.name, "h");
  EXPECT_TRUE(found.implementations[1].function.is_wrapped);
  EXPECT_EQ(found.implementations[2].function.name, "");
  EXPECT_EQ(found.implementations[3].device, "MPS");
}

TEST(PythonWithoutStrings, KeepsTheLines) {
  EXPECT_EQ(PythonWithoutStrings("a = 'b' # c\n\"\"\"d\n'e'\"\"\" f\n'g\\'h' i"), "a = '' \n\"\"\"\n\"\"\" f\n'' i");
}

TEST(BuildValues, VersionsAndCapabilities) {
  for (const char* text : {"12.4", " 2.0 ", "+2.11"}) EXPECT_TRUE(IsBuildVersion(text)) << text;
  for (const char* text : {"", ".", "1.", "1.x", "1..2", "-1.2", "12", "12.4.1", "99999999999999999999.1"})
    EXPECT_FALSE(IsBuildVersion(text)) << text;
  for (const char* text : {"9.0", "9.0a", "10.0f", "12.0+PTX"}) EXPECT_TRUE(IsCapability(text)) << text;
  for (const char* text : {"90", "sm_90", "9", "9.0b", "", "9.", ".0", "9.0+ptx"})
    EXPECT_FALSE(IsCapability(text)) << text;
  EXPECT_TRUE(AnyCapabilityIsBuilt({"99.0", "8.0"}));
  EXPECT_TRUE(AnyCapabilityIsBuilt({"9.0a"}));
  EXPECT_TRUE(AnyCapabilityIsBuilt({"5.0+PTX"}));
  EXPECT_FALSE(AnyCapabilityIsBuilt({"5.0"}));
  EXPECT_FALSE(AnyCapabilityIsBuilt({"9.5"}));
}

TEST(NormalPath, ResolvesDots) {
  EXPECT_EQ(NormalPath("./a/../b/c.cu"), "b/c.cu");
  EXPECT_EQ(CodeKindOf("a/b.cu"), CodeKind::kCompiled);
  EXPECT_EQ(CodeKindOf("a.x/b"), CodeKind::kNone);
  EXPECT_EQ(CodeKindOf("b.cuh"), CodeKind::kHeader);
}

}  // namespace
}  // namespace upskill
