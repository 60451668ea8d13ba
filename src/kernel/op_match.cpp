// SPDX-License-Identifier: Apache-2.0
#include "kernel/op_match.h"

#include <fmt/format.h>

#include <cstddef>
#include <vector>

#include "kernel/kernel_problem.h"
#include "util/text.h"

namespace upskill {
namespace {

bool SameKind(OpKind schema, OpKind cpp) {
  if (schema == cpp) return true;
  return schema == OpKind::kSymInt && cpp == OpKind::kInt;
}

std::string CppNameOf(OpKind kind) {
  switch (kind) {
    case OpKind::kTensor:
      return "torch::Tensor";
    case OpKind::kInt:
      return "int64_t";
    case OpKind::kSymInt:
      return "c10::SymInt";
    case OpKind::kFloat:
      return "double";
    case OpKind::kBool:
      return "bool";
    case OpKind::kString:
      return "std::string";
    case OpKind::kScalar:
      return "at::Scalar";
    case OpKind::kOther:
      break;
  }
  return "";
}

// The C++ type for a type of a schema.
std::string CppTypeFor(const OpType& type) {
  std::string name = CppNameOf(type.kind);
  if (type.item_optional) name = "std::optional<" + name + ">";
  if (type.list) name = (type.kind == OpKind::kTensor ? "std::vector<" : "c10::ArrayRef<") + name + ">";
  if (type.optional) name = "std::optional<" + name + ">";
  return name;
}

bool Fits(const OpType& schema, const CppType& cpp) {
  if (schema.kind == OpKind::kOther || cpp.type.kind == OpKind::kOther) return true;
  return SameKind(schema.kind, cpp.type.kind) && !cpp.is_narrow && schema.list == cpp.type.list &&
         schema.optional == cpp.type.optional && schema.item_optional == cpp.type.item_optional;
}

std::string MismatchOfReturns(const OpSchema& schema, const CppSignature& function) {
  if (!schema.returns || !function.returns) return "";
  const std::vector<OpType>& wanted = *schema.returns;
  const std::vector<CppType>& returned = *function.returns;
  if (wanted.size() != returned.size()) {
    // An alias may stand for a tuple, or for void.
    if (returned.size() == 1 && returned.front().type.kind == OpKind::kOther) return "";
    return fmt::format("the schema has {}, but the function {} returns {}", Counted(wanted.size(), "result"),
                       CodeQuoted(function.name), returned.empty() ? "nothing" : fmt::format("{}", returned.size()));
  }
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (Fits(wanted[i], returned[i])) continue;
    return fmt::format("the schema returns {}, which is {} in C++, but the function {} returns {}",
                       CodeQuoted(wanted[i].text), CppTypeFor(wanted[i]), CodeQuoted(function.name),
                       CodeQuoted(returned[i].type.text));
  }
  return "";
}

}  // namespace

std::string MismatchOf(const OpSchema& schema, const CppSignature& function, bool is_wrapped) {
  if (!schema.returns || function.is_boxed) return "";
  if (schema.arguments.size() != function.parameters.size()) {
    return fmt::format("the schema has {}, but the function {} has {}", Counted(schema.arguments.size(), "argument"),
                       CodeQuoted(function.name), function.parameters.size());
  }
  if (is_wrapped || function.is_template) return "";
  for (std::size_t i = 0; i < schema.arguments.size(); ++i) {
    const OpArgument& argument = schema.arguments[i];
    if (Fits(argument.type, function.parameters[i])) continue;
    return fmt::format(
        "the argument `{}` has the type {} in the schema, which is {} in C++, but the function {} takes {}",
        ExcerptLine(argument.name, 40), CodeQuoted(argument.type.text), CppTypeFor(argument.type),
        CodeQuoted(function.name), CodeQuoted(function.parameters[i].type.text));
  }
  return MismatchOfReturns(schema, function);
}

}  // namespace upskill
