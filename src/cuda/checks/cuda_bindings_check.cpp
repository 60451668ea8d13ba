// SPDX-License-Identifier: Apache-2.0
#include "cuda/checks/cuda_bindings_check.h"

#include <fmt/format.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "check/text_checks.h"
#include "cuda/checks/compiler_check.h"
#include "cuda/checks/torch_headers.h"
#include "sandbox/sandbox.h"
#include "util/text.h"

namespace upskill {
namespace {

constexpr SourceChoice kBindings = {"binding in C++", ".cpp", "torch-ext/torch_binding.cpp", "cpp c++ cxx cc",
                                    "TORCH_LIBRARY"};
constexpr std::string_view kRegisters = "registers operators";

class CudaBindings : public CompilerCheck {
 public:
  CudaBindings(CheckSubject subject, const Sandbox& sandbox) : CompilerCheck(std::move(subject), kBindings, sandbox) {}

 private:
  std::string WhatIsMissing() const override {
    if (!sandbox().HasProgram("nvcc")) return kHowToAddNvcc;
    return FindTorchHeaders(sandbox()) ? "" : fmt::format("PyTorch's headers are missing: {}", kHowToAddTorch);
  }

  // nvcc hands C++ to the host's compiler, together with the folder of CUDA's headers.
  void Prepare(const std::vector<std::string>& sources, SandboxCommand& command) const override {
    const std::optional<TorchHeaders> torch = FindTorchHeaders(sandbox());
    if (!torch) return;
    for (const auto& [name, content] : torch->files) command.files[name] = content;
    command.command =
        fmt::format("printf 'torch {}, '; nvcc --version | sed -n 's/.*release .*, V/nvcc /p'\n", torch->version);
    std::string all;
    for (std::size_t i = 0; i < sources.size(); ++i) {
      const std::string source = ShellWord(sources[i]);
      command.files[sources[i].substr(0, sources[i].rfind('/') + 1) + "registration.h"] = RegistrationHeader();
      command.command +=
          fmt::format("nvcc -x c++ {} -I. -Itorch-ext -Xcompiler -w,-fmax-errors=5 -c -o /tmp/b{}.o {} || exit 1\n",
                      torch->options, i, source);
      all += " " + source;
    }
    command.command += fmt::format("! grep -q TORCH_LIBRARY{} || echo '{}'\n", all, kRegisters);
  }

  std::string FindProblem(const SandboxOutcome& run) const override {
    return run.output.find(kRegisters) != std::string::npos ? "" : "it registers no operator (TORCH_LIBRARY_EXPAND)";
  }
};

}  // namespace

Result<std::unique_ptr<Check>> MakeCudaBindings(const CheckSpec& spec, CaseParts& parts) {
  parts.NeedFiles();
  return std::unique_ptr<Check>(std::make_unique<CudaBindings>(SubjectOf(spec, "", parts), parts.sandbox()));
}

}  // namespace upskill
