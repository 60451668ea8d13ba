// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernel/cpp_signature.h"
#include "kernel/op_registration.h"
#include "kernel/op_schema.h"
#include "kernel/rules.h"
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

// Why the function can't implement the operator; empty if nothing speaks against it. Of a wrapped function, only the
// number of arguments is compared.
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

constexpr std::size_t kMostVariants = 8;  // of an operator or a function that are compared

struct BackendDevice {
  std::string_view backend;
  std::string_view device;
};
constexpr std::array<BackendDevice, 5> kDevices = {
    {{"cuda", "CUDA"}, {"rocm", "CUDA"}, {"cpu", "CPU"}, {"metal", "MPS"}, {"xpu", "XPU"}}};

bool IsOutputName(std::string_view name) {
  return name.starts_with("out") || name.starts_with("result") || name == "dst" || name == "y";
}

template <typename Value>
using ByName = std::map<std::string, Value, std::less<>>;

struct DefinedOp {
  const CodeFile* file = nullptr;
  std::size_t token = 0;
  std::uint32_t branch = 0;
  OpSchema schema;
  const OpFunction* function = nullptr;  // given with the schema
  bool is_implemented = false;
};

struct FoundFunction {
  const CodeFile* file = nullptr;
  CppSignature signature;
};

// What a name stands for in the project's code.
struct FunctionUse {
  std::vector<FoundFunction> signatures;  // the first few
  std::size_t declarations = 0;
  std::size_t occurrences = 0;       // in all files that are compiled or included
  std::size_t in_registrations = 0;  // of those, in ops.impl and ops.def
  bool in_unlisted = false;          // it is defined in a file that isn't in `src`
  bool is_defined = false;           // in a file that is compiled or included
};

class OperatorRules {
 public:
  OperatorRules(const BuildToml& build, const ProjectCode& code, ProblemList& problems)
      : build_(build), code_(code), problems_(problems) {}

  void Check() {
    for (const CodeFile& file : code_.files()) {
      if (!file.is_reached) continue;
      registrations_.emplace_back(&file, FindRegistrations(file.code));
    }
    for (const auto& [file, found] : registrations_) {
      for (const OpDefinition& definition : found.definitions) Define(*file, definition);
    }
    CollectFunctions();
    for (const auto& [file, found] : registrations_) {
      for (const OpImplementation& one : found.implementations) CheckImplementation(*file, one);
    }
    for (auto& [name, ops] : ops_) {
      for (DefinedOp& op : ops) CheckDefinition(name, op);
    }
    CheckDevices();
  }

  std::optional<RegisteredOperators> Registered() && {
    if (has_unread_) return std::nullopt;
    RegisteredOperators operators;
    for (auto& [name, same] : ops_) {
      for (DefinedOp& op : same) operators[name.substr(0, name.find('.'))].push_back(std::move(op.schema));
    }
    return operators;
  }

 private:
  void Define(const CodeFile& file, const OpDefinition& definition) {
    if (definition.schema.empty()) {
      has_unread_ = true;  // made by a macro
      return;
    }
    Result<OpSchema> schema = ParseOpSchema(definition.schema);
    if (!schema) {
      ProjectCode::Add(problems_, file, definition.token,
                       fmt::format("the schema {}: {}", CodeQuoted(definition.schema), schema.error().message));
      has_unread_ = true;
      return;
    }
    std::vector<DefinedOp>& same = ops_[schema->name];
    if (!same.empty() && same.back().file == &file && same.back().branch == definition.branch) {
      ProjectCode::Add(problems_, file, definition.token,
                       fmt::format("the operator {} is defined a second time", CodeQuoted(schema->name)));
      return;
    }
    if (same.size() == kMostVariants) return;
    const OpFunction* const function = definition.function ? &*definition.function : nullptr;
    same.push_back({&file, definition.token, definition.branch, *std::move(schema), function, function != nullptr});
    AddWrites(same.back());
  }

  // An operator without results that writes nothing, although an argument is called an output.
  void AddWrites(const DefinedOp& op) {
    if (!op.schema.returns || !op.schema.returns->empty()) return;
    const OpArgument* output = nullptr;
    for (const OpArgument& argument : op.schema.arguments) {
      if (argument.is_written) return;
      if (output == nullptr && argument.type.kind == OpKind::kTensor && IsOutputName(argument.name)) output = &argument;
    }
    if (output == nullptr) return;
    ProjectCode::Add(problems_, *op.file, op.token,
                     fmt::format("the operator {} returns nothing, but says of no argument that it is written; write "
                                 "`Tensor! {}`",
                                 CodeQuoted(op.schema.name), ExcerptLine(output->name, 40)));
  }

  void CollectFunctions() {
    std::set<std::string, std::less<>> names;
    const auto add = [&](const OpFunction& function) {
      if (function.name.empty()) return;
      names.insert(function.name);
      ++functions_[function.name].in_registrations;
    };
    for (const auto& [file, found] : registrations_) {
      for (const OpImplementation& one : found.implementations) add(one.function);
      for (const OpDefinition& one : found.definitions) {
        if (one.function) add(*one.function);
      }
    }
    for (const CodeFile& file : code_.files()) {
      for (CppSignature& signature : FindSignatures(file.code, &names)) {
        FunctionUse& use = functions_.find(signature.name)->second;
        if (signature.is_definition && !file.is_reached) use.in_unlisted = true;
        if (signature.is_definition && file.is_reached) use.is_defined = true;
        if (file.is_reached) ++use.declarations;
        if (file.is_reached && use.signatures.size() < kMostVariants)
          use.signatures.push_back({&file, std::move(signature)});
      }
      if (!file.is_reached) continue;
      for (std::size_t i = 0; i < file.code.tokens.size(); ++i) {
        if (!file.code.IsName(i)) continue;
        if (const auto use = functions_.find(file.code.tokens[i].text); use != functions_.end())
          ++use->second.occurrences;
      }
    }
  }

  // Whether it may be compiled for any of the project's backends.
  bool IsCompiled(const CodeFile& file, std::uint32_t branch) const {
    return build_.kernels.empty() ||
           std::any_of(build_.kernels.begin(), build_.kernels.end(),
                       [&](const BuildKernel& kernel) { return code_.IsCompiled(file, branch, kernel.backend.text); });
  }

  void CheckImplementation(const CodeFile& file, const OpImplementation& one) {
    if (const std::string_view macro = code_.UnknownMacro(file, one.branch); !macro.empty()) {
      if (!std::exchange(has_unread_, true))
        ProjectCode::Add(
            problems_, file, one.token,
            fmt::format("nothing defines {}, which this code is compiled for; the build defines CUDA_KERNEL, "
                        "CPU_KERNEL, ROCM_KERNEL, METAL_KERNEL or XPU_KERNEL",
                        CodeQuoted(macro)));
      return;
    }
    devices_.insert(one.device);
    for (const BuildKernel& kernel : build_.kernels) {
      if (code_.IsCompiled(file, one.branch, kernel.backend.text))
        compiled_devices_.emplace(kernel.backend.text, one.device);
    }
    if (!IsCompiled(file, one.branch)) return;
    if (one.name.empty()) {
      has_unread_ = true;
      return;
    }
    const auto ops = ops_.find(one.name);
    if (ops == ops_.end()) {
      if (!has_unread_ && checked_.emplace(one.name, "").second)
        ProjectCode::Add(problems_, file, one.token,
                         fmt::format("{} has no schema; add ops.def(\"{}(…) -> …\")", CodeQuoted(one.name), one.name));
      return;
    }
    for (DefinedOp& op : ops->second) op.is_implemented = true;
    CheckFunction(file, one.token, one.function, ops->second);
  }

  // One of the schemas must fit one of the function's declarations: branches of #if may have their own.
  void CheckFunction(const CodeFile& file, std::size_t token, const OpFunction& function,
                     const std::vector<DefinedOp>& ops) {
    // For several devices, an operator often has the same function.
    if (function.name.empty() || !checked_.emplace(ops.front().schema.name, function.name).second) return;
    const FunctionUse& use = functions_.find(function.name)->second;
    if (use.signatures.empty()) {
      if (use.occurrences > use.in_registrations) return;  // made by a macro, or an alias
      ProjectCode::Add(problems_, file, token,
                       fmt::format("the function {} is declared nowhere in the project{}", CodeQuoted(function.name),
                                   use.in_unlisted ? "'s `src` files" : ""));
      return;
    }
    const std::set<const CodeFile*> included = code_.Reached({{std::string(file.path), {}}});
    const bool is_visible = std::any_of(use.signatures.begin(), use.signatures.end(),
                                        [&](const FoundFunction& found) { return included.contains(found.file); });
    if (!is_visible && file.kind == CodeKind::kCompiled && use.declarations == use.signatures.size()) {
      if (not_included_.insert(&file).second) ProjectCode::Add(problems_, file, token, UndeclaredText(function.name));
      return;
    }
    std::string mismatch;
    bool fits = false;
    for (const DefinedOp& op : ops) {
      for (const FoundFunction& found : use.signatures) {
        const std::string one = MismatchOf(op.schema, found.signature, function.is_wrapped);
        fits = fits || one.empty();
        if (mismatch.empty()) mismatch = one;
      }
    }
    if (!fits) {
      ProjectCode::Add(problems_, file, token, fmt::format("{}: {}", CodeQuoted(ops.front().schema.name), mismatch));
    } else if (!use.is_defined && use.in_unlisted) {
      ProjectCode::Add(problems_, file, token,
                       fmt::format("the function {} is defined only in a file that no `src` of build.toml lists",
                                   CodeQuoted(function.name)));
    } else if (!use.is_defined && use.occurrences == use.in_registrations + use.declarations) {
      ProjectCode::Add(
          problems_, file, token,
          fmt::format("the function {} is declared, but no file of `src` defines it", CodeQuoted(function.name)));
    }
  }

  void CheckDefinition(const std::string& name, DefinedOp& op) {
    if (op.function != nullptr) CheckFunction(*op.file, op.token, *op.function, {op});
    if (op.is_implemented || has_unread_ || !IsCompiled(*op.file, op.branch)) return;
    ProjectCode::Add(problems_, *op.file, op.token,
                     fmt::format("the operator {} has no implementation; add ops.impl(\"{}\", torch::kCUDA, &function)",
                                 CodeQuoted(name), ExcerptLine(name, 60)));
  }

  void CheckDevices() {
    if (devices_.empty() || has_unread_) return;
    for (const BuildKernel& kernel : build_.kernels) {
      const auto* const device = std::find_if(kDevices.begin(), kDevices.end(), [&](const BackendDevice& one) {
        return one.backend == kernel.backend.text;
      });
      if (device == kDevices.end() || !HasKnownDevices() ||
          compiled_devices_.contains({kernel.backend.text, std::string(device->device)}))
        continue;
      problems_.Add("build.toml", kernel.backend.at,
                    fmt::format("there is a kernel for {}, but no operator is registered for it (ops.impl(…, "
                                "torch::k{}, …)){}",
                                kernel.backend.text, device->device,
                                devices_.contains(device->device)
                                    ? " in code that is compiled: the build defines CUDA_KERNEL, CPU_KERNEL and so on"
                                    : ""));
      return;
    }
  }

  // Whether all implementations are for devices that the rule knows.
  bool HasKnownDevices() const {
    return std::all_of(devices_.begin(), devices_.end(), [](const std::string& device) {
      return std::any_of(kDevices.begin(), kDevices.end(),
                         [&](const BackendDevice& one) { return one.device == device; });
    });
  }

  const BuildToml& build_;
  const ProjectCode& code_;
  ProblemList& problems_;
  std::vector<std::pair<const CodeFile*, OpRegistrations>> registrations_;
  ByName<std::vector<DefinedOp>> ops_;
  ByName<FunctionUse> functions_;
  std::set<std::string, std::less<>> devices_;
  std::set<std::pair<std::string, std::string>> compiled_devices_;  // by backend
  std::set<std::pair<std::string, std::string>> checked_;           // operators with their functions
  std::set<const CodeFile*> not_included_;  // files that lack a header, of which one function is named
  bool has_unread_ = false;  // a registration that can't be read, so that others may only seem to be missing
};

}  // namespace

std::optional<RegisteredOperators> AddOperatorProblems(const BuildToml& build, const ProjectCode& code,
                                                       ProblemList& problems) {
  OperatorRules rules(build, code, problems);
  rules.Check();
  return std::move(rules).Registered();
}

}  // namespace upskill
