// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "check/check_makers.h"
#include "check/text_checks.h"
#include "kernel/build_values.h"
#include "kernel/kernel_project.h"
#include "kernel/rules.h"
#include "util/fences.h"
#include "util/json.h"
#include "util/text.h"

namespace upskill {
namespace {

constexpr std::size_t kMostValues = 20;  // of an option
constexpr std::string_view kBuildFile = "build.toml";

struct KernelWishes {
  std::string file;                   // of build.toml; may be empty
  std::optional<ProjectParts> parts;  // nothing: by what the answer has
  std::vector<std::string> capabilities;
  std::vector<std::string> backends;
  bool edition_5 = false;
};

bool IsBuildFile(std::string_view path) { return path == kBuildFile || path.ends_with("/build.toml"); }

// Whether a file shows that the answer is meant as a whole project.
bool IsOfProject(std::string_view path) {
  return CodeKindOf(path) != CodeKind::kNone || path.starts_with("torch-ext/") || path.starts_with("tvm-ffi-ext/");
}

// The block of TOML that is meant as build.toml where no file is named so.
std::optional<std::string> UnnamedBuildToml(std::string_view answer) {
  std::vector<FencedBlock> blocks = FindFencedBlocks(answer);
  if (blocks.empty() && answer.find("[general]") != std::string_view::npos) return std::string(answer);
  std::optional<std::string> found;
  for (FencedBlock& block : blocks) {
    const std::string language = ToLowerAscii(block.info.substr(0, block.info.find_first_of(" \t{")));
    const bool general = block.content.find("[general]") != std::string::npos;
    if ((language == "toml" && blocks.size() == 1) || (general && (language == "toml" || language.empty())))
      found = std::move(block.content);
  }
  return found;
}

class KernelBuilder : public Check {
 public:
  KernelBuilder(std::string name, KernelWishes wishes) : name_(std::move(name)), wishes_(std::move(wishes)) {}

  CheckResult Run(const CheckedAnswer& answer) const override {
    const std::optional<KernelFiles> project = ProjectIn(answer);
    if (!project) {
      return {name_, Outcome::kFail,
              fmt::format("the answer has no file {}", wishes_.file.empty() ? kBuildFile : wishes_.file)};
    }
    const JudgedProject judged = JudgeKernelProject(*project, PartsFor(*project));
    std::vector<std::string> problems = UnmetWishes(judged.build);
    const std::size_t count = problems.size() + judged.problem_count;
    for (const KernelProblem& problem : judged.problems) problems.push_back(ProblemText(problem));
    return {name_, count == 0 ? Outcome::kPass : Outcome::kFail, JoinProblems(problems, count)};
  }

 private:
  // The files of the project, relative to its folder.
  std::optional<KernelFiles> ProjectIn(const CheckedAnswer& answer) const {
    std::string path = wishes_.file;
    for (const auto& [name, content] : answer.files) {
      if (wishes_.file.empty() && IsBuildFile(name) && (path.empty() || name.size() < path.size())) path = name;
    }
    const auto build_toml = path.empty() ? answer.files.end() : answer.files.find(path);
    KernelFiles project;
    if (build_toml == answer.files.end()) {
      if (!wishes_.file.empty() || !answer.parts.front().text) return std::nullopt;
      std::optional<std::string> unnamed = UnnamedBuildToml(*answer.parts.front().text);
      if (!unnamed) return std::nullopt;
      project = answer.files;
      project[std::string(kBuildFile)] = *std::move(unnamed);
      return project;
    }
    const std::string folder = path.substr(0, path.rfind('/') + 1);
    for (auto file = answer.files.lower_bound(folder); file != answer.files.end() && file->first.starts_with(folder);
         ++file)
      project.emplace(file->first.substr(folder.size()), file->second);
    project[std::string(kBuildFile)] = build_toml->second;
    return project;
  }

  ProjectParts PartsFor(const KernelFiles& project) const {
    if (wishes_.parts) return *wishes_.parts;
    const bool whole =
        std::any_of(project.begin(), project.end(), [](const auto& file) { return IsOfProject(file.first); });
    return {whole, whole, whole};
  }

  std::vector<std::string> UnmetWishes(const BuildToml& build) const {
    std::vector<std::string> unmet;
    if (wishes_.edition_5 && build.schema != kSchemaV5)
      unmet.emplace_back("build.toml: [general] has no `edition = 5`, which is expected here");
    for (const std::string& backend : wishes_.backends) {
      if (!HasBackend(build, backend))
        unmet.push_back(fmt::format("build.toml: expected the backend {} in `backends` of [general]", backend));
    }
    for (const std::string& capability : wishes_.capabilities) {
      if (BuildsForCapability(build, capability)) continue;
      const std::string listed = fmt::format("{}", fmt::join(ListedCapabilities(build), ", "));
      unmet.push_back(fmt::format(
          "build.toml: expected code for the capability {}; {}", capability,
          listed.empty() ? "no CUDA kernel is built for it" : "the CUDA kernels list " + ExcerptLine(listed, 80)));
    }
    return unmet;
  }

  std::string name_;
  KernelWishes wishes_;
};

// The strings of an option, each allowed by `is_allowed`. `wanted` names what is allowed.
template <typename IsAllowed>
Result<std::vector<std::string>> Strings(const CheckSpec& spec, const char* key, const char* wanted,
                                         IsAllowed is_allowed) {
  std::vector<std::string> strings;
  const Json* const value = FindMember(spec.options, key);
  if (value == nullptr) return strings;
  const Error error = InputError(fmt::format("kernel_builder: \"{}\" must be a list of {}", key, wanted));
  if (!value->is_array() || value->empty() || value->size() > kMostValues) return error;
  for (const Json& item : *value) {
    if (!item.is_string() || !is_allowed(item.get_ref<const std::string&>())) return error;
    strings.push_back(item.get<std::string>());
  }
  return strings;
}

Result<KernelWishes> WishesOf(const CheckSpec& spec) {
  KernelWishes wishes;
  wishes.file = spec.file;
  const auto is_part = [](const std::string& name) {
    return name == "build_toml" || name == "sources" || name == "layout" || name == "bindings";
  };
  ASSIGN_OR_RETURN(const std::vector<std::string> require,
                   Strings(spec, "require", "build_toml, sources, layout and bindings", is_part));
  const auto requires_part = [&](std::string_view part) {
    return std::find(require.begin(), require.end(), part) != require.end();
  };
  if (!require.empty())
    wishes.parts = ProjectParts{requires_part("sources"), requires_part("layout"), requires_part("bindings")};
  ASSIGN_OR_RETURN(wishes.capabilities,
                   Strings(spec, "capabilities", "compute capabilities such as \"9.0\"",
                           [](const std::string& one) { return IsCapability(one) && !one.ends_with("+PTX"); }));
  ASSIGN_OR_RETURN(wishes.backends, Strings(spec, "backends", "backends such as \"cuda\"", [](const std::string& one) {
                     return std::find(kKernelBackends.begin(), kKernelBackends.end(), one) != kKernelBackends.end();
                   }));
  if (const Json* const edition = FindMember(spec.options, "edition")) {
    if (*edition != 4 && *edition != 5) return InputError("kernel_builder: \"edition\" must be 4 or 5");
    wishes.edition_5 = *edition == 5;
  }
  return wishes;
}

std::string NameOf(const CheckSpec& spec) {
  std::string name = spec.type;
  if (!spec.file.empty()) name += " " + ExcerptLine(spec.file, 60);
  std::string expected;
  for (const char* key : {"require", "backends", "capabilities"}) {
    const Json* const values = FindMember(spec.options, key);
    if (values == nullptr) continue;
    for (const Json& value : *values) expected += (expected.empty() ? "" : ", ") + value.get<std::string>();
  }
  if (const Json* const edition = FindMember(spec.options, "edition"))
    expected += fmt::format("{}edition {}", expected.empty() ? "" : ", ", edition->get<int>());
  return expected.empty() ? name : fmt::format("{} ({})", name, ExcerptLine(expected, 80));
}

}  // namespace

Result<std::unique_ptr<Check>> MakeKernelBuilder(const CheckSpec& spec, CaseParts& parts) {
  ASSIGN_OR_RETURN(KernelWishes wishes, WishesOf(spec));
  parts.NeedFiles();
  if (!spec.file.empty()) parts.Number(spec.file);
  return std::unique_ptr<Check>(std::make_unique<KernelBuilder>(NameOf(spec), std::move(wishes)));
}

}  // namespace upskill
