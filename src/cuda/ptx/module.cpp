// SPDX-License-Identifier: Apache-2.0
#include "cuda/ptx/module.h"

#include <fmt/format.h>

#include <algorithm>

#include "cuda/ptx/parser.h"
#include "cuda/ptx/program.h"

namespace upskill::ptx {

const char* SpaceName(Space space) {
  switch (space) {
    case Space::kGeneric:
      return "generic";
    case Space::kGlobal:
      return "global";
    case Space::kShared:
      return "shared";
    case Space::kLocal:
      return "local";
    case Space::kConst:
      return "constant";
    case Space::kParam:
      return "param";
  }
  return "";
}

Module::Module(std::unique_ptr<const Program> program) : program_(std::move(program)) {}
Module::~Module() = default;

const std::string& Module::Version() const { return program_->version; }
const std::string& Module::Target() const { return program_->target; }
const std::vector<KernelInfo>& Module::Kernels() const { return program_->kernels; }
const std::vector<Variable>& Module::Variables() const { return program_->variables; }
const std::vector<std::string>& Module::Unsupported() const { return program_->unsupported; }

const KernelInfo* Module::FindKernel(std::string_view name) const {
  const auto found = std::find_if(program_->kernels.begin(), program_->kernels.end(),
                                  [&](const KernelInfo& kernel) { return kernel.name == name; });
  return found == program_->kernels.end() ? nullptr : &*found;
}

const Variable* Module::FindVariable(std::string_view name) const {
  const auto found = std::find_if(program_->variables.begin(), program_->variables.end(),
                                  [&](const Variable& variable) { return variable.name == name; });
  return found == program_->variables.end() ? nullptr : &*found;
}

std::vector<std::string> Module::Functions() const {
  std::vector<std::string> names;
  for (const Function& function : program_->functions) {
    if (function.has_body && !function.is_kernel) names.push_back(function.name);
  }
  return names;
}

Result<std::shared_ptr<const Module>> ParseModule(std::string_view text, const ParseLimits& limits) {
  if (text.size() > limits.source_bytes) {
    return InputError(fmt::format("the PTX has {} bytes; at most {} are read", text.size(), limits.source_bytes));
  }
  ASSIGN_OR_RETURN(std::unique_ptr<Program> program, Parser(text, limits).Parse());
  return std::shared_ptr<const Module>(std::make_shared<const Module>(std::move(program)));
}

}  // namespace upskill::ptx
