// SPDX-License-Identifier: Apache-2.0
#include "kernel/op_schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "kernel/kernel_problem.h"
#include "kernel/words.h"

namespace upskill {
namespace {

constexpr std::size_t kMostArguments = 200;
constexpr int kMostSuffixes = 8;

struct TypeName {
  std::string_view name;
  OpKind kind;
};
// The types of torch/csrc/jit/frontend/schema_type_parser.cpp. Those in the brackets of a Dict or a tuple are skipped
// as annotations are.
constexpr std::array<TypeName, 8> kTypeNames = {{{"Tensor", OpKind::kTensor},
                                                 {"int", OpKind::kInt},
                                                 {"SymInt", OpKind::kSymInt},
                                                 {"float", OpKind::kFloat},
                                                 {"bool", OpKind::kBool},
                                                 {"str", OpKind::kString},
                                                 {"Scalar", OpKind::kScalar},
                                                 {"number", OpKind::kScalar}}};
constexpr std::string_view kOtherTypeNames =
    " complex SymBool Generator ScalarType Device DeviceIndex Layout MemoryFormat Dimname Storage Stream Any QScheme "
    "Quantizer ConstQuantizerPtr Capsule AnyClassType AnyEnumType Dict Future RRef ";

class SchemaParser {
 public:
  explicit SchemaParser(std::string_view text) : text_(text) {}

  Result<OpSchema> Parse() {
    OpSchema schema;
    SkipBlanks();
    const std::size_t start = at_;
    while (at_ < text_.size() && (IsAsciiWord(text_[at_]) || text_[at_] == '.' || text_[at_] == ':')) ++at_;
    schema.name = std::string(text_.substr(start, at_ - start));
    if (schema.name.empty()) return InputError("the schema must begin with the operator's name");
    if (schema.name.find(':') != std::string::npos)
      return InputError(fmt::format("the name {} must not have a namespace", CodeQuoted(schema.name)));
    SkipBlanks();
    if (at_ == text_.size()) return schema;
    if (!Take('(')) return InputError(fmt::format("expected ( after the name, not {}", Here()));
    RETURN_IF_ERROR(ParseArguments(schema));
    SkipBlanks();
    if (!Take('-') || !Take('>'))
      return InputError("the schema needs its results after the arguments: -> (), -> Tensor, …");
    ASSIGN_OR_RETURN(schema.returns, ParseReturns());
    SkipBlanks();
    if (at_ < text_.size()) return InputError(fmt::format("expected the end after the results, not {}", Here()));
    return schema;
  }

 private:
  void SkipBlanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n' || text_[at_] == '\r'))
      ++at_;
  }
  bool Take(char c) {
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  std::string Here() const { return at_ == text_.size() ? "the end" : CodeQuoted(text_.substr(at_, 30)); }

  std::string_view TakeWord() {
    SkipBlanks();
    const std::size_t start = at_;
    while (at_ < text_.size() && IsAsciiWord(text_[at_])) ++at_;
    return text_.substr(start, at_ - start);
  }

  Status ParseArguments(OpSchema& schema) {
    SkipBlanks();
    if (Take(')')) return {};
    while (true) {
      SkipBlanks();
      if (!Take('*')) {  // what follows is keyword-only
        if (schema.arguments.size() == kMostArguments)
          return InputError(fmt::format("more than {} arguments", kMostArguments));
        ASSIGN_OR_RETURN(OpArgument argument, ParseArgument());
        schema.arguments.push_back(std::move(argument));
      }
      SkipBlanks();
      if (Take(')')) return {};
      if (!Take(',')) return InputError(fmt::format("expected , or ) between arguments, not {}", Here()));
    }
  }

  Result<OpArgument> ParseArgument() {
    OpArgument argument;
    ASSIGN_OR_RETURN(argument.type, ParseType(argument.is_written));
    argument.name = std::string(TakeWord());
    if (argument.name.empty())
      return InputError(fmt::format("the argument of type {} has no name", CodeQuoted(argument.type.text)));
    SkipBlanks();
    argument.has_default = Take('=');
    if (argument.has_default) SkipDefault();
    return argument;
  }

  // Up to the comma or bracket that ends the argument.
  void SkipDefault() {
    int depth = 0;
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (depth == 0 && (c == ',' || c == ')')) return;
      if (c == '[' || c == '(') ++depth;
      if (c == ']' || c == ')') --depth;
      if (c == '"' || c == '\'') at_ = std::min(text_.find(c, at_ + 1), text_.size() - 1);
    }
  }

  Result<OpType> ParseType(bool& is_written) {
    SkipBlanks();
    const std::size_t start = at_;
    std::string_view word = TakeWord();
    if (word.empty() && at_ < text_.size() && text_[at_] == '(') word = "Any";  // a tuple
    if (word.empty()) return InputError(fmt::format("expected a type, not {}", Here()));
    if (word == "__torch__") {  // a class: __torch__.torch.classes.space.Name
      while (Take('.')) TakeWord();
      word = "Any";
    }
    const auto* const known =
        std::find_if(kTypeNames.begin(), kTypeNames.end(), [&](const TypeName& one) { return one.name == word; });
    if (known == kTypeNames.end() && kOtherTypeNames.find(fmt::format(" {} ", word)) == std::string_view::npos) {
      // PyTorch before 2.4 took them for variables.
      if (word == "double" || word == "int64_t")
        return InputError(fmt::format("{} is a C++ type; in a schema it is called {}", CodeQuoted(word),
                                      word == "double" ? "float" : "int"));
      return InputError(
          fmt::format("{} is not a type that a schema can have; use Tensor, int, float, bool, str, Scalar, or these "
                      "with ? or []",
                      CodeQuoted(word)));
    }
    OpType type;
    type.kind = known == kTypeNames.end() ? OpKind::kOther : known->kind;
    RETURN_IF_ERROR(ParseSuffixes(type, is_written));
    type.text = std::string(text_.substr(start, at_ - start));
    return type;
  }

  // ! ? [] [2] (a!) in any order.
  Status ParseSuffixes(OpType& type, bool& is_written) {
    for (int i = 0; i < kMostSuffixes; ++i) {
      const std::size_t before = at_;
      SkipBlanks();
      if (Take('!')) {
        is_written = true;
      } else if (Take('?')) {
        type.optional = true;
      } else if (Take('[')) {
        type.item_optional = type.item_optional || type.optional;
        type.optional = false;
        type.list = true;
        TakeWord();
        if (!Take(']')) return InputError(fmt::format("expected ] after [, not {}", Here()));
      } else if (at_ < text_.size() && text_[at_] == '(') {
        const std::size_t end = text_.find(')', at_);
        if (end == std::string_view::npos) return InputError("an annotation such as (a!) isn't closed");
        if (text_.substr(at_, end - at_).find('!') != std::string_view::npos) is_written = true;
        at_ = end + 1;
      } else {
        at_ = before;
        return {};
      }
    }
    return InputError("a type has too many marks");
  }

  Result<std::vector<OpType>> ParseReturns() {
    std::vector<OpType> returns;
    bool written = false;
    SkipBlanks();
    if (!Take('(')) {
      ASSIGN_OR_RETURN(OpType type, ParseType(written));
      TakeWord();
      returns.push_back(std::move(type));
      return returns;
    }
    SkipBlanks();
    if (Take(')')) return returns;
    while (true) {
      ASSIGN_OR_RETURN(OpType type, ParseType(written));
      TakeWord();
      returns.push_back(std::move(type));
      SkipBlanks();
      if (Take(')')) return returns;
      if (!Take(',') || returns.size() > kMostArguments)
        return InputError(fmt::format("expected , or ) between results, not {}", Here()));
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

Result<OpSchema> ParseOpSchema(std::string_view text) { return SchemaParser(text).Parse(); }

}  // namespace upskill
