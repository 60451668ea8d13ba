// SPDX-License-Identifier: Apache-2.0
#include "kernel/cpp_signature.h"

#include <algorithm>
#include <array>
#include <utility>

#include "kernel/words.h"
#include "util/list.h"

namespace upskill {
namespace {

constexpr std::size_t kMostParameterTokens = 600;
constexpr std::size_t kMostReturnTokens = 80;
constexpr int kMostTypeDepth = 8;

// A range of tokens.
struct TokenRange {
  std::size_t begin = 0;
  std::size_t end = 0;
  bool empty() const { return begin >= end; }
};

constexpr std::array<std::string_view, 13> kNotTypes = {
    "return", "else", "case", "goto", "throw", "new", "delete", "using", "co_return", "operator", "do", "and", "or"};
constexpr std::array<std::string_view, 15> kQualifiers = {
    "const",    "volatile",   "struct",     "class",           "typename",     "inline",    "static",    "extern",
    "__host__", "__device__", "__global__", "__forceinline__", "__restrict__", "constexpr", "__restrict"};
constexpr std::array<std::string_view, 12> kNarrowIntegers = {"int",      "int32_t",  "int16_t", "short",
                                                              "size_t",   "unsigned", "uint8_t", "uint16_t",
                                                              "uint32_t", "uint64_t", "uint",    "ssize_t"};
constexpr std::array<std::string_view, 6> kListTemplates = {"vector", "ArrayRef",           "List",
                                                            "span",   "HeaderOnlyArrayRef", "array"};

class TypeReader {
 public:
  explicit TypeReader(const CppText& code) : code_(code) {}

  CppType Read(TokenRange range) const {
    CppType type = Read(range, 0);
    type.type.text = Text(range);
    return type;
  }

  // The types that a function returns: those of a tuple one by one, none for void.
  std::vector<CppType> ReadReturns(TokenRange range) const {
    const TokenRange name = NameOf(range);
    if (name.empty()) return {Read(range)};
    const std::string_view base = code_.tokens[name.end - 1].text;
    if (base == "void" && !Contains(range, "*")) return {};
    if (base != "tuple") return {Read(range)};
    std::vector<CppType> returns;
    for (const TokenRange& argument : Arguments(name.end, range.end)) returns.push_back(Read(argument));
    return returns;
  }

  // The parts of a list in brackets, between `begin` and `end`, at its commas.
  std::vector<TokenRange> Split(std::size_t begin, std::size_t end) const {
    std::vector<TokenRange> parts;
    int angles = 0;
    std::size_t start = begin;
    for (std::size_t i = begin; i < end; ++i) {
      if (code_.Is(i, "<")) ++angles;
      if (code_.Is(i, ">")) angles = std::max(0, angles - 1);
      if (code_.partner[i] > i && code_.partner[i] < end) i = code_.partner[i];
      if (angles == 0 && code_.Is(i, ",")) {
        parts.push_back({start, i});
        start = i + 1;
      }
    }
    if (start < end) parts.push_back({start, end});
    return parts;
  }

 private:
  bool Contains(TokenRange range, std::string_view what) const {
    for (std::size_t i = range.begin; i < range.end; ++i) {
      if (code_.Is(i, what)) return true;
    }
    return false;
  }

  std::string Text(TokenRange range) const {
    if (range.empty()) return "";
    const std::size_t begin = code_.OffsetOf(code_.tokens[range.begin].text);
    const std::string_view last = code_.tokens[range.end - 1].text;
    return std::string(code_.text.substr(begin, code_.OffsetOf(last) + last.size() - begin));
  }

  // The qualified name in the type: torch::Tensor of "const torch::Tensor&"; empty if there is none.
  TokenRange NameOf(TokenRange range) const {
    std::size_t i = range.begin;
    while (i < range.end && (IsOneOf(code_.tokens[i].text, kQualifiers) || code_.Is(i, "::") ||
                             code_.tokens[i].kind == CppToken::Kind::kString))
      ++i;
    // A macro such as TORCH_API before the type.
    if (code_.IsName(i) && i + 1 < range.end && code_.IsName(i + 1) && !IsBuiltin(code_.tokens[i].text) &&
        !IsOneOf(code_.tokens[i + 1].text, kQualifiers))
      ++i;
    if (i >= range.end || !code_.IsName(i)) return {};
    TokenRange name = {i, i + 1};
    while (name.end + 1 < range.end && code_.Is(name.end, "::") && code_.IsName(name.end + 1)) name.end += 2;
    return name;
  }

  static bool IsBuiltin(std::string_view name) {
    return name == "unsigned" || name == "signed" || name == "long" || name == "short";
  }

  // The arguments of a template, whose < is the token at `open`.
  std::vector<TokenRange> Arguments(std::size_t open, std::size_t end) const {
    if (open >= end || !code_.Is(open, "<")) return {};
    int depth = 0;
    for (std::size_t i = open; i < end; ++i) {
      if (code_.Is(i, "<")) ++depth;
      if (code_.Is(i, ">") && --depth == 0) return Split(open + 1, i);
    }
    return {};
  }

  CppType Read(TokenRange range, int depth) const {
    CppType result;
    const TokenRange name = NameOf(range);
    if (name.empty() || depth > kMostTypeDepth || Contains(range, "*")) return result;
    const std::string_view base = code_.tokens[name.end - 1].text;
    if (base == "optional" || IsOneOf(base, kListTemplates)) return ReadTemplate(base, name.end, range.end, depth);
    OpType& type = result.type;
    if (base == "Tensor") {
      type.kind = OpKind::kTensor;
    } else if (base == "TensorList" || base == "ITensorListRef") {
      type.kind = OpKind::kTensor;
      type.list = true;
    } else if (base == "IntArrayRef" || base == "OptionalIntArrayRef") {
      type.kind = OpKind::kInt;
      type.list = true;
      type.optional = base.starts_with("Optional");
    } else if (base == "int64_t" || (base == "long" && name.end == LastName(range))) {
      type.kind = OpKind::kInt;
    } else if (base == "SymInt") {
      type.kind = OpKind::kSymInt;
    } else if (base == "double") {
      type.kind = OpKind::kFloat;
    } else if (base == "bool") {
      type.kind = OpKind::kBool;
    } else if (base == "string" || base == "string_view") {
      type.kind = OpKind::kString;
    } else if (base == "Scalar") {
      type.kind = OpKind::kScalar;
    } else if (base == "float" || IsOneOf(base, kNarrowIntegers)) {
      type.kind = base == "float" ? OpKind::kFloat : OpKind::kInt;
      result.is_narrow = true;
    }
    return result;
  }

  // The end of the last name in the range, so that "long long" isn't taken for "long".
  std::size_t LastName(TokenRange range) const {
    while (range.end > range.begin && !code_.IsName(range.end - 1)) --range.end;
    return range.end;
  }

  CppType ReadTemplate(std::string_view base, std::size_t open, std::size_t end, int depth) const {
    const std::vector<TokenRange> arguments = Arguments(open, end);
    if (arguments.empty()) return {};
    CppType result = Read(arguments.front(), depth + 1);
    OpType& type = result.type;
    if (type.kind == OpKind::kOther) return {};
    if (base == "optional") {
      type.optional = true;
    } else {
      type.item_optional = type.optional;
      type.optional = false;
      type.list = true;
    }
    return result;
  }

  const CppText& code_;
};

class SignatureFinder {
 public:
  explicit SignatureFinder(const CppText& code) : code_(code), types_(code) {}

  // The declaration whose name is the token `at`, if it is one.
  std::optional<CppSignature> At(std::size_t at) const {
    const std::size_t open = at + 1;
    if (code_.tokens[at].in_define || !code_.Is(open, "(") || code_.partner[open] == open) return std::nullopt;
    const std::size_t close = code_.partner[open];
    if (close - open > kMostParameterTokens) return std::nullopt;
    std::size_t name = at;
    while (name >= 2 && code_.Is(name - 1, "::") && code_.IsName(name - 2)) name -= 2;
    if (name > 0 && code_.Is(name - 1, "::")) --name;
    if (!EndsType(name)) return std::nullopt;
    CppSignature signature;
    signature.name = code_.tokens[at].text;
    signature.token = at;
    const std::size_t after = AfterQualifiers(close + 1);
    signature.is_definition = code_.Is(after, "{");
    if (!signature.is_definition && !code_.Is(after, ";") && !(code_.Is(after, "-") && code_.Is(after + 1, ">")))
      return std::nullopt;
    const std::optional<TokenRange> returns = ReturnType(name, signature.is_template);
    if (!returns || code_.Is(returns->begin, ",")) return std::nullopt;
    for (std::size_t i = returns->begin; i < returns->end; ++i) {
      signature.is_static = signature.is_static || code_.Is(i, "static");
      signature.is_extern_c = signature.is_extern_c || (code_.Is(i, "extern") && i + 1 < name &&
                                                        code_.tokens[i + 1].kind == CppToken::Kind::kString);
    }
    for (std::size_t i = name; i + 1 < at; ++i) signature.qualifiers += code_.tokens[i].text;
    if (!code_.Is(returns->begin, "auto")) signature.returns = types_.ReadReturns(*returns);
    ReadParameters(open, close, signature);
    return signature;
  }

 private:
  // Whether the token before `name` can be the end of a type.
  bool EndsType(std::size_t name) const {
    if (name == 0) return false;
    if (code_.IsName(name - 1)) return !IsOneOf(code_.tokens[name - 1].text, kNotTypes);
    return code_.Is(name - 1, ">") || code_.Is(name - 1, "&") || code_.Is(name - 1, "*");
  }

  std::size_t AfterQualifiers(std::size_t at) const {
    while (code_.Is(at, "const") || code_.Is(at, "noexcept") || code_.Is(at, "override")) ++at;
    return at;
  }

  std::optional<TokenRange> ReturnType(std::size_t name, bool& is_template) const {
    TokenRange range = {name, name};
    while (range.begin > 0 && name - range.begin < kMostReturnTokens) {
      const std::size_t before = range.begin - 1;
      if (code_.Is(before, ";") || code_.Is(before, "{") || code_.Is(before, "}") || code_.Is(before, ")") ||
          code_.Is(before, ":") || code_.tokens[before].in_define)
        break;
      if (code_.Is(before, "=") || code_.Is(before, "(") || IsOneOf(code_.tokens[before].text, kNotTypes))
        return std::nullopt;
      --range.begin;
    }
    if (code_.Is(range.begin, "]")) ++range.begin;
    while (code_.Is(range.begin, "[") && code_.partner[range.begin] < name)
      range.begin = code_.partner[range.begin] + 1;
    if (code_.Is(range.begin, "template")) {
      is_template = true;
      int depth = 0;
      std::size_t i = range.begin + 1;
      for (; i < name; ++i) {
        if (code_.Is(i, "<")) ++depth;
        if (code_.Is(i, ">") && --depth == 0) break;
      }
      range.begin = i + 1;
    }
    if (range.empty()) return std::nullopt;
    return range;
  }

  void ReadParameters(std::size_t open, std::size_t close, CppSignature& signature) const {
    for (TokenRange part : types_.Split(open + 1, close)) {
      const std::size_t end = part.end;
      for (std::size_t i = part.begin; i < part.end; ++i) {
        if (code_.Is(i, "=")) part.end = i;  // a default
        signature.is_variadic = signature.is_variadic || code_.Is(i, ".");
      }
      if (part.end == part.begin + 1 && code_.Is(part.begin, "void")) continue;
      if (part.end > part.begin + 1 && code_.IsName(part.end - 1) && IsWholeType({part.begin, part.end - 1}))
        --part.end;
      signature.parameters.push_back(types_.Read(part));
      if (part.end == end || part.end + 1 == end) signature.required = signature.parameters.size();
      const std::string& text = signature.parameters.back().type.text;
      if (text.find("StableIValue") != std::string::npos || text.find("OperatorHandle") != std::string::npos)
        signature.is_boxed = true;
    }
  }

  // Whether these tokens are a type, so that the name after them is the parameter's own.
  bool IsWholeType(TokenRange range) const {
    if (code_.Is(range.end - 1, "::")) return false;
    while (range.begin < range.end && IsOneOf(code_.tokens[range.begin].text, kQualifiers)) ++range.begin;
    return !range.empty();
  }

  const CppText& code_;
  TypeReader types_;
};

}  // namespace

std::vector<CppSignature> FindSignatures(const CppText& code, const std::set<std::string, std::less<>>* names) {
  std::vector<CppSignature> found;
  const SignatureFinder finder(code);
  for (std::size_t i = 0; i < code.tokens.size(); ++i) {
    if (!code.IsName(i) || !code.Is(i + 1, "(") || (names != nullptr && !names->contains(code.tokens[i].text)))
      continue;
    if (std::optional<CppSignature> signature = finder.At(i)) found.push_back(*std::move(signature));
  }
  return found;
}

}  // namespace upskill
