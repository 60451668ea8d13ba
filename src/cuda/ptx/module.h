// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "util/result.h"

namespace upskill::ptx {

struct Program;  // the decoded instructions (program.h), for this folder alone

struct Dim3 {
  std::uint32_t x = 1;
  std::uint32_t y = 1;
  std::uint32_t z = 1;
  std::uint64_t Count() const { return std::uint64_t{x} * y * z; }
  bool operator==(const Dim3&) const = default;
};

// State spaces of PTX. Constants and the parameters of kernels live in global memory here, read-only for kernels.
enum class Space : std::uint8_t { kGeneric, kGlobal, kShared, kLocal, kConst, kParam };

const char* SpaceName(Space space);  // "global"

// Bounds of what ParseModule accepts; more is an error that names the bound.
struct ParseLimits {
  std::size_t source_bytes = std::size_t{64} << 20U;
  std::size_t instructions = 1'000'000;
  std::size_t registers = 200'000;  // of one function
  std::size_t variables = 100'000;
  std::uint64_t variable_bytes = std::uint64_t{256} << 20U;  // all variables of a space together
  std::size_t constant_bytes = std::size_t{128} << 20U;      // numbers in instructions, each as 32 lanes
  std::size_t scopes = 200'000;                              // blocks in braces of one function
  std::size_t addresses = 500'000;                           // in the initial values of all variables
  int nesting = 64;
};

struct Parameter {
  std::string name;
  std::uint64_t offset = 0;  // in the buffer of arguments
  std::uint64_t bytes = 0;
  std::uint64_t alignment = 1;
};

struct KernelInfo {
  std::string name;
  std::vector<Parameter> parameters;
  std::uint64_t parameter_bytes = 0;
  std::uint64_t static_shared_bytes = 0;
  std::uint64_t local_bytes = 0;   // of one thread, without the functions that it calls
  std::uint64_t max_threads = 0;   // .maxntid or .reqntid; 0: not given
  Dim3 required_cluster{0, 0, 0};  // .reqnctapercluster; 0: not given
};

struct Variable {
  std::string name;
  Space space = Space::kGlobal;  // kGlobal or kConst
  std::uint64_t bytes = 0;
  std::uint64_t alignment = 1;
  bool managed = false;  // the host uses it, too: it has its pages to itself
};

// A PTX module, parsed and decoded once. Immutable, so it may be used by several threads.
class Module {
 public:
  explicit Module(std::unique_ptr<const Program> program);
  ~Module();
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  const std::string& Version() const;  // "9.0"
  const std::string& Target() const;   // "sm_90"
  const std::vector<KernelInfo>& Kernels() const;
  const KernelInfo* FindKernel(std::string_view name) const;  // nullptr if there is none
  const std::vector<Variable>& Variables() const;             // of the spaces global and const
  const Variable* FindVariable(std::string_view name) const;
  std::vector<std::string> Functions() const;  // that have a body and are no kernels
  // Instructions that are not implemented, each once, by name. They matter only when one is executed.
  const std::vector<std::string>& Unsupported() const;

  const Program& program() const { return *program_; }

 private:
  std::unique_ptr<const Program> program_;
};

// Errors name the line of the PTX. shared_ptr: a module outlives whoever parsed it as long as launches use it.
Result<std::shared_ptr<const Module>> ParseModule(std::string_view text, const ParseLimits& limits = {});

}  // namespace upskill::ptx
