// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "kernel/build_schema.h"
#include "kernel/build_toml.h"
#include "kernel/kernel_problem.h"
#include "kernel/toml_tree.h"

namespace upskill {

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

}  // namespace upskill
