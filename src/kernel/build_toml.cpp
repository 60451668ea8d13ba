// SPDX-License-Identifier: Apache-2.0
#include "kernel/build_toml.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <variant>

#include "kernel/build_values.h"
#include "kernel/toml_tree.h"
#include "kernel/words.h"
#include "util/list.h"

namespace upskill {
namespace {

// Reads a build.toml by the rules of one version of its schema.
class BuildReader {
 public:
  BuildReader(BuildSchema schema, std::string file) : schema_(schema), file_(std::move(file)) {
    build_.schema = schema;
  }

  void Read(const TomlNode& document);
  const BuildToml& build() const { return build_; }
  const ProblemList& problems() const { return problems_; }

 private:
  void ReadSection(const TomlNode& table, BuildSection section, const std::string& name);
  void ReadValue(const TomlNode& value, const BuildKey& key, BuildSection section, const std::string& name);
  void ReadScalar(const TomlNode& value, const BuildKey& key, const std::string& name);
  void ReadList(const TomlNode& value, const BuildKey& key, BuildSection section, const std::string& name);
  void ReadKernels(const TomlNode& kernels);
  BuildSection KernelSection(const TomlNode& kernel, const std::string& name);
  void ReadKernelDepends(const TomlNode& list, const std::string& name);
  void ReadStableAbi(const TomlNode& value);
  void CheckFramework(const TomlNode& document);
  void Keep(const TomlNode& value, const BuildKey& key, BuildSection section);
  bool Is(const TomlNode& value, TomlNode::Kind kind, const std::string& name, std::string_view wanted);
  void Add(TextPosition at, const std::string& message) { problems_.Add(file_, at, message); }

  BuildSchema schema_;
  std::string file_;
  BuildToml build_;
  ProblemList problems_;
};

constexpr std::array<std::string_view, 3> kOldLanguages = {"cuda", "cuda-hipify", "metal"};
constexpr std::array<std::string_view, 2> kOldPythonNames = {"einops", "nvidia-cutlass-dsl"};

template <typename List>
std::string Joined(const List& list) {
  std::string joined;
  for (const std::string_view one : list) joined += (joined.empty() ? "" : ", ") + std::string(one);
  return joined;
}

bool IsText(const TomlNode& node) { return node.kind == TomlNode::Kind::kString; }

// How a value is named in messages: `minver` of [general.cuda].
std::string Named(std::string_view key, const std::string& section) {
  return section.empty() ? fmt::format("`{}`", key) : fmt::format("`{}` in {}", key, section);
}

std::string BackendOf(BuildSection section) {
  switch (section) {
    case kCudaSection:
      return "cuda";
    case kNeuronSection:
      return "neuron";
    case kTpuSection:
      return "tpu";
    case kXpuSection:
      return "xpu";
    default:
      return "";
  }
}

constexpr std::array<BuildSection, 5> kKernelSections = {kCpuKernel, kCudaKernel, kMetalKernel, kRocmKernel,
                                                         kXpuKernel};

bool BuildReader::Is(const TomlNode& value, TomlNode::Kind kind, const std::string& name, std::string_view wanted) {
  if (value.kind == kind) return true;
  Add(value.at, fmt::format("{} must be {}, not {}", name, wanted, TomlKindName(value.kind)));
  return false;
}

void BuildReader::Read(const TomlNode& document) {
  ReadSection(document, kTopSection, "");
  CheckFramework(document);
}

void BuildReader::CheckFramework(const TomlNode& document) {
  constexpr std::array<std::pair<std::string_view, KernelFramework>, 3> kFrameworks = {
      {{"torch", KernelFramework::kTorch},
       {"torch-noarch", KernelFramework::kTorchNoarch},
       {"tvm-ffi", KernelFramework::kTvmFfi}}};
  for (const auto& [name, framework] : kFrameworks) {
    const TomlNode* const section = document.Find(name);
    if (section == nullptr || FindBuildKey(schema_, kTopSection, name) == nullptr) continue;
    if (build_.framework != KernelFramework::kNone) {
      Add(section->key_at, fmt::format("[{}] is a second framework; keep exactly one of [torch], [torch-noarch] and "
                                       "[tvm-ffi]",
                                       name));
      continue;
    }
    build_.framework = framework;
    build_.framework_at = section->key_at;
  }
  if (build_.framework == KernelFramework::kNone && (schema_ & (kSchemaV4 | kSchemaV5)) != 0)
    problems_.Add(file_, "there is no framework section: add one of [torch], [torch-noarch] and [tvm-ffi]");
}

void BuildReader::ReadSection(const TomlNode& table, BuildSection section, const std::string& name) {
  for (const TomlNode& member : table.below) {
    const BuildKey* const key = FindBuildKey(schema_, section, member.key);
    if (key != nullptr) {
      ReadValue(member, *key, section, name);
    } else {
      Add(member.key_at, fmt::format("{} has no key {}; {}", name.empty() ? "a build.toml" : name,
                                     CodeQuoted(member.key), HintForUnknownKey(schema_, section, member.key)));
    }
  }
  for (const BuildKey& key : BuildKeys()) {
    if ((key.required & schema_) == 0 || (key.sections & section) == 0 || table.Find(key.name) != nullptr) continue;
    if (name.empty()) {
      problems_.Add(file_, fmt::format("there is no [{}]", key.name));
    } else {
      Add(table.at, fmt::format("{} needs the key `{}`", name, key.name));
    }
  }
}

void BuildReader::ReadValue(const TomlNode& value, const BuildKey& key, BuildSection section, const std::string& name) {
  switch (key.value) {
    case BuildValue::kSection: {
      const std::string own = section == kTopSection ? std::string(key.name) : "general." + std::string(key.name);
      if (Is(value, TomlNode::Kind::kTable, Named(key.name, name), "a table"))
        ReadSection(value, key.table, "[" + own + "]");
      return;
    }
    case BuildValue::kKernels:
      if (Is(value, TomlNode::Kind::kTable, "`kernel`", "a table of kernels ([kernel.NAME])")) ReadKernels(value);
      return;
    case BuildValue::kTexts:
    case BuildValue::kBackends:
    case BuildValue::kDependencies:
    case BuildValue::kPythonNames:
      ReadList(value, key, section, name);
      return;
    case BuildValue::kKernelDepends:
      ReadKernelDepends(value, Named(key.name, name));
      return;
    case BuildValue::kStableAbi:
      ReadStableAbi(value);
      return;
    default:
      ReadScalar(value, key, Named(key.name, name));
      if (section == kGeneralSection && key.value == BuildValue::kName && IsText(value))
        build_.name = {value.text, value.at};
  }
}

void BuildReader::ReadScalar(const TomlNode& value, const BuildKey& key, const std::string& name) {
  if (key.value == BuildValue::kFlag) {
    Is(value, TomlNode::Kind::kBoolean, name, "true or false");
    return;
  }
  if (key.value == BuildValue::kCount || key.value == BuildValue::kEdition) {
    if (!Is(value, TomlNode::Kind::kInteger, name, "an integer without quotes")) return;
    if (key.value == BuildValue::kEdition && value.number != 5)
      Add(value.at, fmt::format("edition {} isn't supported; the current edition is 5", value.number));
    if (value.number < 0 && key.value == BuildValue::kCount) Add(value.at, name + " must not be negative");
    return;
  }
  const bool version = key.value == BuildValue::kVersion;
  if (!Is(value, TomlNode::Kind::kString, name, version ? "a string such as \"12.4\"" : "a string")) return;
  if (version && !IsBuildVersion(value.text))
    Add(value.at,
        fmt::format("{} must be a version of two numbers such as \"12.4\", not {}", name, CodeQuoted(value.text)));
  if (key.value == BuildValue::kName && !IsKernelName(value.text)) {
    Add(value.at, fmt::format("the name {} isn't allowed: use at least two lower-case letters, digits and hyphens, "
                              "beginning with a letter and not ending with a hyphen (my-kernel)",
                              CodeQuoted(value.text)));
  }
  if (key.value == BuildValue::kGitUrl) {
    const std::string problem = GitUrlProblem(value.text);
    if (!problem.empty()) Add(value.at, fmt::format("{} {}: {}", name, CodeQuoted(value.text), problem));
  }
  if (key.value == BuildValue::kLanguage && !IsOneOf(value.text, kOldLanguages))
    Add(value.at, fmt::format("the language {} is none of {}", CodeQuoted(value.text), Joined(kOldLanguages)));
}

void BuildReader::ReadList(const TomlNode& value, const BuildKey& key, BuildSection section, const std::string& name) {
  const std::string named = Named(key.name, name);
  if (!Is(value, TomlNode::Kind::kArray, named, "a list of strings")) return;
  if (key.value == BuildValue::kBackends) build_.backends_at = value.at;
  for (const TomlNode& item : value.below) {
    if (!Is(item, TomlNode::Kind::kString, "an entry of " + named, "a string in quotes")) continue;
    if (key.value == BuildValue::kBackends && !IsOneOf(item.text, kKernelBackends)) {
      Add(item.at, fmt::format("unknown backend {}; choose from {}", CodeQuoted(item.text), Joined(kKernelBackends)));
    } else if (key.value == BuildValue::kDependencies && !IsOneOf(item.text, kKernelDependencies)) {
      Add(item.at,
          fmt::format("unknown dependency {}; choose from {}", CodeQuoted(item.text), Joined(kKernelDependencies)));
    } else if (key.value == BuildValue::kPythonNames && !IsOneOf(item.text, kOldPythonNames)) {
      Add(item.at, fmt::format("{} is none of {}", CodeQuoted(item.text), Joined(kOldPythonNames)));
    } else {
      Keep(item, key, section);
    }
  }
}

// The entries of lists that later rules look at.
void BuildReader::Keep(const TomlNode& value, const BuildKey& key, BuildSection section) {
  const PlacedText text = {value.text, value.at};
  const bool in_kernel = (section & (kAnyKernel | kOldKernel)) != 0;
  BuildKernel* const kernel = in_kernel && !build_.kernels.empty() ? &build_.kernels.back() : nullptr;
  if (key.value == BuildValue::kBackends) {
    build_.backends.push_back(text);
  } else if (key.name == "python-depends") {
    build_.python_depends.emplace_back(BackendOf(section), text);
  } else if (key.name == "src") {
    (kernel != nullptr ? kernel->src : build_.src).push_back(text);
  } else if (key.name == "include") {
    (kernel != nullptr ? kernel->include : build_.include).push_back(text);
  } else if (key.name == "cuda_capabilities") {
    build_.capabilities.push_back(text);
  } else if (key.name == "cuda-capabilities" && kernel != nullptr) {
    kernel->capabilities.push_back(text);
  } else if (key.name == "rocm-archs" && kernel != nullptr) {
    kernel->rocm_archs.push_back(text);
  }
}

void BuildReader::ReadKernels(const TomlNode& kernels) {
  for (const TomlNode& kernel : kernels.below) {
    const std::string name = fmt::format("[kernel.{}]", kernel.key.size() > 60 ? "…" : kernel.key);
    if (!Is(kernel, TomlNode::Kind::kTable, name, "a table")) continue;
    build_.kernels.push_back({});
    build_.kernels.back().name = kernel.key;
    build_.kernels.back().at = kernel.key_at;
    const BuildSection section = KernelSection(kernel, name);
    if (section != kNoSection) ReadSection(kernel, section, name);
  }
}

// By the kernel's backend; kNoSection, with a problem, if that isn't known.
BuildSection BuildReader::KernelSection(const TomlNode& kernel, const std::string& name) {
  if (schema_ == kSchemaV1) return kOldKernel;
  const TomlNode* const backend = kernel.Find("backend");
  if (backend == nullptr) {
    Add(kernel.at, fmt::format("{} needs the key `backend`: one of {}", name, Joined(kCompiledBackends)));
    return kNoSection;
  }
  if (!Is(*backend, TomlNode::Kind::kString, Named("backend", name), "a string")) return kNoSection;
  const auto* const found = std::find(kCompiledBackends.begin(), kCompiledBackends.end(), backend->text);
  if (found == kCompiledBackends.end()) {
    Add(backend->at, fmt::format("{} has the backend {}; compiled kernels have one of {}", name,
                                 CodeQuoted(backend->text), Joined(kCompiledBackends)));
    return kNoSection;
  }
  build_.kernels.back().backend = {backend->text, backend->at};
  return kKernelSections[static_cast<std::size_t>(found - kCompiledBackends.begin())];
}

void BuildReader::ReadKernelDepends(const TomlNode& list, const std::string& name) {
  if (!Is(list, TomlNode::Kind::kArray, name, "a list of {repo-id, version} or {repo-id, revision}")) return;
  for (const TomlNode& item : list.below) {
    if (!Is(item, TomlNode::Kind::kTable, "an entry of " + name, "a table {repo-id = …, version = …}")) continue;
    for (const TomlNode& member : item.below) {
      if (member.key == "version") {
        if (Is(member, TomlNode::Kind::kInteger, "`version` of a kernel dependency", "an integer") && member.number < 0)
          Add(member.at, "`version` of a kernel dependency must not be negative");
      } else if (member.key == "repo-id" || member.key == "revision") {
        Is(member, TomlNode::Kind::kString, fmt::format("`{}` of a kernel dependency", member.key), "a string");
      } else {
        Add(member.key_at,
            fmt::format("a kernel dependency has no key {}; the keys are repo-id, and version or revision",
                        CodeQuoted(member.key)));
      }
    }
    if (item.Find("repo-id") == nullptr) Add(item.at, "a kernel dependency needs `repo-id`");
    const bool version = item.Find("version") != nullptr;
    if (version == (item.Find("revision") != nullptr)) {
      Add(item.at, version ? "a kernel dependency has either `version` or `revision`, not both"
                           : "a kernel dependency needs `version` or `revision`");
    }
  }
}

void BuildReader::ReadStableAbi(const TomlNode& value) {
  const auto check = [&](const TomlNode& version) {
    if (!Is(version, TomlNode::Kind::kString, "a version of `stable-abi`", "a string such as \"2.11\"")) return;
    if (!IsBuildVersion(version.text))
      Add(version.at, fmt::format("`stable-abi` must be a version of two numbers such as \"2.11\", not {}",
                                  CodeQuoted(version.text)));
  };
  if (value.kind != TomlNode::Kind::kTable) {
    check(value);
    return;
  }
  for (const TomlNode& member : value.below) {
    if (!IsOneOf(member.key, kKernelBackends)) {
      Add(member.key_at, fmt::format("`stable-abi` has the backend {}; there are {}", CodeQuoted(member.key),
                                     Joined(kKernelBackends)));
    }
    check(member);
  }
}

std::vector<KernelProblem> SortedProblems(const BuildReader& reader) { return ProblemList(reader.problems()).Sorted(); }

// What to say about a file that is in order by an old schema.
KernelProblem OldFormat(const TomlNode& general, BuildSchema schema, const std::string& file) {
  return {file, general.at,
          fmt::format("this is the old {} format, which kernel-builder no longer builds; migrate it with "
                      "`kernel-builder update-build`, or write edition 5 (name, version, edition, license and backends "
                      "in [general])",
                      BuildSchemaName(schema))};
}

ParsedBuildToml ReadWithoutEdition(const TomlNode& document, const TomlNode& general, const std::string& file) {
  BuildReader v4(kSchemaV4, file);
  v4.Read(document);
  ParsedBuildToml parsed = {v4.build(), SortedProblems(v4)};
  if (parsed.problems.empty()) return parsed;
  for (const BuildSchema schema : {kSchemaV3, kSchemaV2, kSchemaV1}) {
    BuildReader old(schema, file);
    old.Read(document);
    if (!old.problems().empty()) continue;
    parsed.build = old.build();
    parsed.problems.insert(parsed.problems.begin(), OldFormat(general, schema, file));
    return parsed;
  }
  for (KernelProblem& problem : parsed.problems) {
    if (problem.message.find("edition") == std::string::npos) {
      problem.message += " (read by the rules before editions, since [general] has no `edition = 5`)";
      break;
    }
  }
  return parsed;
}

}  // namespace

ParsedBuildToml ParseBuildToml(std::string_view text, const std::string& file) {
  const std::variant<TomlNode, KernelProblem> read = ParseTomlTree(text, file);
  if (const auto* problem = std::get_if<KernelProblem>(&read)) return {{}, {*problem}};
  const auto& document = std::get<TomlNode>(read);
  const TomlNode* const general = document.Find("general");
  if (general != nullptr && general->kind == TomlNode::Kind::kTable && general->Find("edition") == nullptr)
    return ReadWithoutEdition(document, *general, file);
  BuildReader reader(kSchemaV5, file);
  reader.Read(document);
  return {reader.build(), SortedProblems(reader)};
}

}  // namespace upskill
