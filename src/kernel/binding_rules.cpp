// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernel/op_registration.h"
#include "kernel/python_names.h"
#include "kernel/rules.h"
#include "kernel/words.h"
#include "util/list.h"
#include "util/text.h"

namespace upskill {
namespace {

constexpr std::size_t kMostProblems = 100;          // before no further call is looked at
constexpr std::size_t kMostArgumentBytes = 10'000;  // of a call that is looked at

std::string_view WordAt(std::string_view text, std::size_t at) {
  const std::string_view rest = text.substr(std::min(at, text.size()));
  return rest.substr(0,
                     static_cast<std::size_t>(std::find_if_not(rest.begin(), rest.end(), IsAsciiWord) - rest.begin()));
}

// The arguments of the call whose bracket is at `open`; nothing if they can't be told.
std::optional<std::vector<std::string_view>> ArgumentsAt(std::string_view text, std::size_t open) {
  std::vector<std::string_view> arguments;
  int depth = 0;
  std::size_t start = open + 1;
  for (std::size_t i = open; i < std::min(text.size(), open + kMostArgumentBytes); ++i) {
    const char c = text[i];
    if (c == '(' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == ']' || c == '}') --depth;
    if ((c != ',' || depth != 1) && depth != 0) continue;
    const std::string_view argument = Trim(text.substr(start, i - start));
    if (argument.starts_with('*')) return std::nullopt;
    if (!argument.empty()) arguments.push_back(argument);
    if (depth == 0) return arguments;
    start = i + 1;
  }
  return std::nullopt;
}

// The keyword of an argument; empty if it is given by its position.
std::string_view KeywordOf(std::string_view argument) {
  const std::string_view word = WordAt(argument, 0);
  const std::string_view rest = Trim(argument.substr(word.size()));
  return rest.starts_with('=') && !rest.starts_with("==") ? word : std::string_view();
}

std::string MismatchOfCall(const OpSchema& schema, const std::vector<std::string_view>& given) {
  std::size_t positional = 0;
  std::vector<std::string_view> keywords;
  for (const std::string_view argument : given) {
    const std::string_view keyword = KeywordOf(argument);
    if (keyword.empty()) {
      ++positional;
    } else {
      keywords.push_back(keyword);
    }
  }
  if (positional > schema.arguments.size())
    return fmt::format("takes {}, not {}", Counted(schema.arguments.size(), "argument"), positional);
  for (std::size_t i = 0; i < schema.arguments.size(); ++i) {
    const OpArgument& argument = schema.arguments[i];
    const auto keyword = std::find(keywords.begin(), keywords.end(), argument.name);
    if (i >= positional && keyword == keywords.end() && !argument.has_default)
      return fmt::format("needs the argument {}", CodeQuoted(argument.name));
    if (keyword != keywords.end()) keywords.erase(keyword);
  }
  return keywords.empty() ? "" : fmt::format("has no argument {}", CodeQuoted(keywords.front()));
}

class CallRules {
 public:
  CallRules(const RegisteredOperators& operators, ProblemList& problems) : operators_(operators), problems_(problems) {}

  // What Python itself registers: @torch.library.custom_op(add_op_namespace_prefix("scale")). Returns false if not all
  // of it can be read.
  bool AddRegistered(std::string_view content) {
    for (const std::string_view call : {"custom_op(", "triton_op(", "library.define("}) {
      for (std::size_t at = content.find(call); at != std::string_view::npos; at = content.find(call, at + 1)) {
        const std::size_t quote = content.find_first_of("\"'", at);
        const std::size_t line = content.find('\n', content.find_first_not_of(" \t\n", at + call.size()));
        if (quote >= line) return false;
        const std::string_view name = content.substr(quote + 1, content.find(content[quote], quote + 1) - quote - 1);
        python_.emplace_back(WordAt(name.substr(name.rfind(':') + 1), 0));
      }
    }
    return content.find("torch.library.Library(") == std::string_view::npos;
  }

  void Check(const std::string& path, const std::string& content) {
    const std::string plain = PythonWithoutStrings(content);
    for (const PythonImport& import : RelativeImports(plain)) {
      if (!import.module.ends_with("._ops")) continue;
      for (const PythonImport::Name& one : import.names) {
        if (one.name == "ops") {
          CheckUses(path, plain, std::string(one.alias) + ".");
          CheckPrefixed(path, content, fmt::format("getattr({}, ", one.alias));
        }
        if (one.name == "add_op_namespace_prefix") CheckPrefixed(path, content, std::string(one.alias) + "(");
      }
    }
  }

 private:
  // @torch.library.register_fake(add_op_namespace_prefix("scale")), getattr(ops, "scale")
  void CheckPrefixed(const std::string& path, const std::string& content, const std::string& call) {
    for (std::size_t at = FindChain(content, call); at != std::string::npos; at = FindChain(content, call, at + 1)) {
      const std::size_t quote = at + call.size();
      if (quote >= content.size() || (content[quote] != '"' && content[quote] != '\'')) continue;
      const std::string_view name = WordAt(content, quote + 1);
      if (content.compare(quote + 1 + name.size(), 2, {content[quote], ')'}) == 0) CheckName(path, content, at, name);
    }
  }

  const RegisteredOperators::value_type* CheckName(const std::string& path, const std::string& text, std::size_t at,
                                                   std::string_view name) {
    if (name.empty() || name.starts_with('_') || IsOneOf(name, python_)) return nullptr;
    const auto found = operators_.find(name);
    if (found != operators_.end()) return &*found;
    problems_.Add(path, PositionAt(text, at), fmt::format("no operator {} is registered (ops.def)", CodeQuoted(name)));
    return nullptr;
  }

  void CheckUses(const std::string& path, const std::string& plain, const std::string& start) {
    for (std::size_t at = FindChain(plain, start); at != std::string::npos && problems_.count() < kMostProblems;
         at = FindChain(plain, start, at + 1)) {
      const std::string_view name = WordAt(plain, at + start.size());
      const RegisteredOperators::value_type* const op = CheckName(path, plain, at, name);
      std::size_t open = at + start.size() + name.size();
      if (plain.compare(open, 8, ".default") == 0) open += 8;
      if (op == nullptr || open >= plain.size() || plain[open] != '(') continue;
      if (const auto given = ArgumentsAt(plain, open)) CheckCall(path, plain, at, *op, *given);
    }
  }

  // The arguments must fit one of the operator's overloads.
  void CheckCall(const std::string& path, const std::string& text, std::size_t at,
                 const RegisteredOperators::value_type& op, const std::vector<std::string_view>& given) {
    std::string mismatch;
    for (const OpSchema& schema : op.second) {
      mismatch = schema.returns ? MismatchOfCall(schema, given) : "";
      if (mismatch.empty()) return;
    }
    problems_.Add(path, PositionAt(text, at), fmt::format("the operator {} {}", CodeQuoted(op.first), mismatch));
  }

  const RegisteredOperators& operators_;
  ProblemList& problems_;
  std::vector<std::string> python_;
};

// The uses of operators in the Python package in `folder`, through what is imported from ._ops: each is one that the
// project registers, in C++ or in Python, and a call gives the arguments of its schema.
void AddCallProblems(const KernelFiles& files, const std::string& folder, const RegisteredOperators& operators,
                     ProblemList& problems) {
  std::vector<const KernelFiles::value_type*> modules;
  CallRules rules(operators, problems);
  for (auto file = files.lower_bound(folder + "/"); file != files.end() && file->first.starts_with(folder + "/");
       ++file) {
    if (!file->first.ends_with(".py")) continue;
    modules.push_back(&*file);
    if (!rules.AddRegistered(file->second)) return;
  }
  for (const KernelFiles::value_type* module : modules) rules.Check(module->first, module->second);
}

constexpr std::string_view kExtensionName = "TORCH_EXTENSION_NAME";

struct BannedName {
  std::string_view name;
  std::string_view instead;
};
constexpr std::array<BannedName, 8> kBannedNames = {{
    {"PYBIND11_MODULE", "register operators in TORCH_LIBRARY_EXPAND(TORCH_EXTENSION_NAME, ops) { … } instead"},
    {"TORCH_LIBRARY", "its name is fixed; write TORCH_LIBRARY_EXPAND(TORCH_EXTENSION_NAME, ops) { … }"},
    {"STABLE_TORCH_LIBRARY", "its name is fixed; write STABLE_TORCH_LIBRARY_EXPAND(TORCH_EXTENSION_NAME, ops) { … }"},
    {"TORCH_LIBRARY_FRAGMENT", "its name is fixed; write TORCH_LIBRARY_EXPAND(TORCH_EXTENSION_NAME, ops) { … }"},
    {"TORCH_LIBRARY_IMPL", "its name is fixed; write TORCH_LIBRARY_IMPL_EXPAND(TORCH_EXTENSION_NAME, CUDA, ops) { … }"},
    {"PyMODINIT_FUNC", "REGISTER_EXTENSION(TORCH_EXTENSION_NAME) makes the module"},
    {"PyArg_ParseTuple", "operators get their arguments from PyTorch, by their schema"},
    {"PyInit_", "REGISTER_EXTENSION(TORCH_EXTENSION_NAME) makes the module"},
}};

const BannedName* FindBanned(std::string_view token) {
  for (const BannedName& one : kBannedNames) {
    if (token == one.name || (one.name.ends_with('_') && token.starts_with(one.name))) return &one;
  }
  return nullptr;
}

bool IsBannedInclude(std::string_view name) {
  return name == "torch/extension.h" || name.starts_with("pybind11/") || name == "torch/python.h";
}

// The generated header, or a copy of it.
bool IsRegistrationHeader(std::string_view path) {
  return path == "registration.h" || path.ends_with("/registration.h");
}

class BindingRules {
 public:
  BindingRules(const ProjectCode& code, ProblemList& problems) : code_(code), problems_(problems) {}

  void Check() {
    for (const CodeFile& file : code_.files()) {
      if (!file.is_reached || IsRegistrationHeader(file.path)) continue;
      CheckIncludes(file);
      CheckNames(file);
    }
    if (!has_library_) {
      problems_.Add("build.toml",
                    "no file of `src` has TORCH_LIBRARY_EXPAND(TORCH_EXTENSION_NAME, ops) { … }, which "
                    "registers the operators; add it to torch-ext/torch_binding.cpp");
    }
    if (!has_extension_) {
      problems_.Add("build.toml",
                    "no file of `src` has REGISTER_EXTENSION(TORCH_EXTENSION_NAME), so Python can't load "
                    "the module; add it to the end of torch-ext/torch_binding.cpp");
    }
    if (first_expand_.file != nullptr && !includes_registration_) {
      ProjectCode::Add(problems_, *first_expand_.file, first_expand_.token,
                       fmt::format("{} comes from registration.h; add #include \"registration.h\"",
                                   first_expand_.file->code.tokens[first_expand_.token].text));
    }
  }

 private:
  struct Place {
    const CodeFile* file = nullptr;
    std::size_t token = 0;
  };

  // Which branches of a header are compiled depends on who includes it.
  static bool IsSure(const CodeFile& file, std::uint32_t branch) {
    return file.kind == CodeKind::kCompiled || branch == 0;
  }

  void CheckIncludes(const CodeFile& file) {
    for (const CppInclude& include : file.code.includes) {
      if (IsRegistrationHeader(include.name)) includes_registration_ = true;
      if (!IsBannedInclude(include.name) || !IsSure(file, include.branch)) continue;
      TextPosition at = {.line = 0, .column = 0};
      if (problems_.keeps_more()) at = PositionAt(file.code.text, file.code.OffsetOf(include.name));
      problems_.Add(std::string(file.path), at,
                    fmt::format("{} isn't allowed, because it brings in pybind11; include <torch/torch.h> and "
                                "<torch/library.h>",
                                include.name));
    }
  }

  void CheckNames(const CodeFile& file) {
    const CppText& code = file.code;
    for (std::size_t i = 0; i < code.tokens.size(); ++i) {
      if (!code.IsName(i) || code.tokens[i].in_define || !IsSure(file, code.tokens[i].branch)) continue;
      const std::string_view name = code.tokens[i].text;
      if (const BannedName* banned = FindBanned(name)) {
        ProjectCode::Add(problems_, file, i, fmt::format("{} isn't allowed: {}", CodeQuoted(name), banned->instead));
      } else if ((name == "py" || name == "pybind11") && code.Is(i + 1, "::")) {
        ProjectCode::Add(problems_, file, i, "pybind11 isn't allowed: kernels are bound by TORCH_LIBRARY_EXPAND");
      } else if (IsTorchLibrary(name) && code.Is(i + 1, "(")) {
        CheckLibrary(file, i);
      } else if (name == "REGISTER_EXTENSION" && code.Is(i + 1, "(")) {
        CheckExtension(file, i);
      }
    }
  }

  void CheckLibrary(const CodeFile& file, std::size_t at) {
    const std::string_view name = file.code.tokens[at].text;
    if (name.find("_IMPL") == std::string_view::npos) has_library_ = true;
    NeedRegistration(file, at);
    CheckArgument(file, at);
  }

  void CheckArgument(const CodeFile& file, std::size_t at) {
    if (file.code.Is(at + 2, kExtensionName)) return;
    const std::string_view given = at + 2 < file.code.tokens.size() ? file.code.tokens[at + 2].text : "";
    ProjectCode::Add(problems_, file, at,
                     fmt::format("{} must be given TORCH_EXTENSION_NAME, the name that the build chooses, not {}",
                                 file.code.tokens[at].text, CodeQuoted(given)));
  }

  // Once, or once in each of several branches of #if.
  void CheckExtension(const CodeFile& file, std::size_t at) {
    NeedRegistration(file, at);
    CheckArgument(file, at);
    const std::uint32_t branch = file.code.tokens[at].branch;
    const bool twice = has_extension_ && branch == extension_branch_ && (branch == 0 || extension_.file == &file);
    if (twice) {
      ProjectCode::Add(
          problems_, file, at,
          fmt::format("REGISTER_EXTENSION occurs a second time (the first is in {}); keep one", extension_.file->path));
    }
    has_extension_ = true;
    extension_ = {&file, at};
    extension_branch_ = branch;
  }

  void NeedRegistration(const CodeFile& file, std::size_t at) {
    if (first_expand_.file == nullptr) first_expand_ = {&file, at};
  }

  const ProjectCode& code_;
  ProblemList& problems_;
  bool has_library_ = false;
  bool has_extension_ = false;
  bool includes_registration_ = false;
  Place first_expand_;
  Place extension_;
  std::uint32_t extension_branch_ = 0;
};

}  // namespace

void AddBindingProblems(const BuildToml& build, const KernelFiles& files, const ProjectCode& code,
                        ProblemList& problems) {
  if (build.framework != KernelFramework::kTorch) return;
  BindingRules(code, problems).Check();
  const std::size_t before = problems.count();
  const std::optional<RegisteredOperators> operators = AddOperatorProblems(build, code, problems);
  if (operators && problems.count() == before) AddCallProblems(files, PackageFolder(build), *operators, problems);
}

}  // namespace upskill
