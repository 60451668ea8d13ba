// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "kernel/build_values.h"
#include "kernel/rules.h"

namespace upskill {
namespace {

std::vector<std::string> Texts(const std::vector<PlacedText>& placed) {
  std::vector<std::string> texts;
  texts.reserve(placed.size());
  for (const PlacedText& one : placed) texts.push_back(one.text);
  return texts;
}

// "sm_90", "90", "compute_90a" → "9.0", "9.0a"; empty for anything else.
std::string MeantCapability(std::string_view text) {
  for (const std::string_view start : {"sm_", "compute_", "sm"}) {
    if (text.starts_with(start)) {
      text.remove_prefix(start.size());
      break;
    }
  }
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const std::string_view suffix = text.substr(digits);
  if (digits < 2 || digits > 3 || (!suffix.empty() && suffix != "a" && suffix != "f")) return "";
  return fmt::format("{}.{}{}", text.substr(0, digits - 1), text[digits - 1], suffix);
}

void AddCapabilityProblems(const std::vector<PlacedText>& capabilities, const std::string& owner,
                           const std::string& file, ProblemList& problems) {
  bool all_valid = true;
  for (const PlacedText& one : capabilities) {
    if (IsCapability(one.text)) continue;
    all_valid = false;
    const std::string meant = MeantCapability(one.text);
    problems.Add(file, one.at,
                 fmt::format("{} is not a compute capability; write {}", CodeQuoted(one.text),
                             meant.empty() ? "it as \"9.0\"" : "\"" + meant + "\""));
  }
  if (all_valid && !capabilities.empty() && !AnyCapabilityIsBuilt(Texts(capabilities))) {
    problems.Add(
        file, capabilities.front().at,
        fmt::format("kernel-builder supports none of the capabilities of {}, so nothing would be compiled; for "
                    "example, an H100 has 9.0",
                    owner));
  }
}

void AddKernelProblems(const BuildToml& build, const BuildKernel& kernel, const std::string& file,
                       ProblemList& problems) {
  const std::string owner = "[kernel." + ExcerptLine(kernel.name, 60) + "]";
  if (!kernel.backend.text.empty() && !HasBackend(build, kernel.backend.text)) {
    problems.Add(file, kernel.backend.at,
                 fmt::format("{} has the backend `{}`, which isn't in `backends` of [general], so the kernel isn't "
                             "built; add it there",
                             owner, kernel.backend.text));
  }
  AddCapabilityProblems(kernel.capabilities, owner, file, problems);
  const auto& archs = kernel.rocm_archs;
  if (!archs.empty() &&
      std::none_of(archs.begin(), archs.end(), [](const PlacedText& arch) { return IsSupportedRocmArch(arch.text); })) {
    problems.Add(
        file, archs.front().at,
        fmt::format("kernel-builder supports none of the ROCm architectures of {}; write such as \"gfx942\"", owner));
  }
}

}  // namespace

bool HasBackend(const BuildToml& build, std::string_view backend) {
  return std::any_of(build.backends.begin(), build.backends.end(),
                     [&](const PlacedText& one) { return one.text == backend; });
}

void AddBuildProblems(const BuildToml& build, const std::string& file, ProblemList& problems) {
  if (build.backends.empty() && build.backends_at.line > 0 && build.framework != KernelFramework::kNone)
    problems.Add(file, build.backends_at, "`backends` is empty, so nothing is built");
  for (const auto& [backend, package] : build.python_depends) {
    const std::vector<std::string_view> known = PythonDependenciesOf(backend);
    if (std::find(known.begin(), known.end(), package.text) != known.end()) continue;
    problems.Add(file, package.at,
                 fmt::format("kernels may not depend on the Python package {} {}; there are {}",
                             CodeQuoted(package.text), backend.empty() ? "in [general]" : "for " + backend,
                             known.empty() ? "none" : fmt::format("{}", fmt::join(known, ", "))));
  }
  AddCapabilityProblems(build.capabilities, "[torch-noarch]", file, problems);
  for (const BuildKernel& kernel : build.kernels) {
    AddKernelProblems(build, kernel, file, problems);
    if (build.framework == KernelFramework::kTorchNoarch) {
      problems.Add(file, kernel.at,
                   fmt::format("[kernel.{}] isn't built, because [torch-noarch] is for projects without compiled code; "
                               "use [torch]",
                               ExcerptLine(kernel.name, 60)));
    }
  }
}

bool BuildsForCapability(const BuildToml& build, std::string_view capability) {
  if (!HasBackend(build, "cuda")) return false;
  if (build.framework == KernelFramework::kTorchNoarch) return HasCodeFor(Texts(build.capabilities), capability);
  return std::any_of(build.kernels.begin(), build.kernels.end(), [&](const BuildKernel& kernel) {
    return kernel.backend.text == "cuda" && HasCodeFor(Texts(kernel.capabilities), capability);
  });
}

std::vector<std::string> ListedCapabilities(const BuildToml& build) {
  std::vector<std::string> listed = Texts(build.capabilities);
  for (const BuildKernel& kernel : build.kernels) {
    if (kernel.backend.text != "cuda") continue;
    for (const PlacedText& one : kernel.capabilities) listed.push_back(one.text);
  }
  std::sort(listed.begin(), listed.end());
  listed.erase(std::unique(listed.begin(), listed.end()), listed.end());
  return listed;
}

}  // namespace upskill
