// SPDX-License-Identifier: Apache-2.0
#include "kernel/binding_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "kernel/op_registration.h"
#include "kernel/operator_rules.h"
#include "kernel/python_calls.h"
#include "kernel/source_rules.h"

namespace upskill {
namespace {

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
