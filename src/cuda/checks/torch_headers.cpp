// SPDX-License-Identifier: Apache-2.0
#include "cuda/checks/torch_headers.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <filesystem>
#include <string_view>
#include <utility>

#include "util/files.h"
#include "util/text.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFolder = "upskill-headers";
constexpr const char* kRegistration = R"(#pragma once
#define UPSKILL_JOIN_(A, B) A##B
#define UPSKILL_JOIN(A, B) UPSKILL_JOIN_(A, B)
#define TORCH_LIBRARY_EXPAND(NAME, MODULE) TORCH_LIBRARY(NAME, MODULE)
#define TORCH_LIBRARY_IMPL_EXPAND(NAME, DEVICE, MODULE) TORCH_LIBRARY_IMPL(NAME, DEVICE, MODULE)
#define STABLE_TORCH_LIBRARY_EXPAND(NAME, MODULE) STABLE_TORCH_LIBRARY(NAME, MODULE)
#define STABLE_TORCH_LIBRARY_IMPL_EXPAND(NAME, DEVICE, MODULE) STABLE_TORCH_LIBRARY_IMPL(NAME, DEVICE, MODULE)
#define REGISTER_EXTENSION(NAME) \
  extern "C" void* UPSKILL_JOIN(PyInit_, NAME)() { return nullptr; }
)";

constexpr int kFirstMinorWithCpp20 = 12;  // of PyTorch 2

// The number that the header defines the macro as; -1 if it doesn't.
int DefinedNumber(std::string_view header, std::string_view macro) {
  const std::string definition = fmt::format("#define {} ", macro);
  const std::size_t at = header.find(definition);
  int number = -1;
  if (at != std::string_view::npos)
    std::from_chars(header.data() + at + definition.size(), header.data() + header.size(), number);
  return number;
}

// From the folder of headers: major, minor and patch.
std::array<int, 3> VersionOf(const fs::path& include) {
  for (const char* name : {"torch/headeronly/version.h", "torch/csrc/api/include/torch/version.h"}) {
    const Result<std::string> header = ReadFile(include / name);
    if (!header) continue;
    std::array<int, 3> version = {DefinedNumber(*header, "TORCH_VERSION_MAJOR"),
                                  DefinedNumber(*header, "TORCH_VERSION_MINOR"),
                                  DefinedNumber(*header, "TORCH_VERSION_PATCH")};
    if (version[0] > 0) return version;
  }
  return {0, 0, 0};
}

// The types that PyTorch's headers mention; bindings of kernels use no more of these libraries.
std::map<std::string, std::string> StandIns() {
  const auto opaque = [](const char* library, const char* handle, const char* status) {
    return fmt::format(
        "#pragma once\n#include <cuda_runtime.h>\ntypedef struct {0}{1}Opaque* {0}{1}_t;\ntypedef int {0}{2}_t;\n",
        library, handle, status);
  };
  const std::string folder = std::string(kFolder) + "/";
  return {{folder + "cusparse.h", opaque("cusparse", "Handle", "Status")},
          {folder + "cublas_v2.h", opaque("cublas", "Handle", "Status")},
          {folder + "cublasLt.h", opaque("cublasLt", "Handle", "Status")},
          {folder + "cusolverDn.h", opaque("cusolverDn", "Handle", "Status")},
          {folder + "cusolver_common.h", "#pragma once\ntypedef int cusolverStatus_t;\n"},
          {folder + "registration.h", kRegistration}};
}

}  // namespace

const char* RegistrationHeader() { return kRegistration; }

std::optional<TorchHeaders> FindTorchHeaders(const Sandbox& sandbox) {
  fs::path include;
  if (std::optional<fs::path> folder = sandbox.ToolchainWith("torch/library.h")) {
    include = *std::move(folder);
  } else if (folder = sandbox.ToolchainWith("include/torch/library.h"); folder) {
    include = *folder / "include";
  } else {
    return std::nullopt;
  }
  const std::array<int, 3> version = VersionOf(include);
  const bool is_cpp20 = version[0] > 2 || (version[0] == 2 && version[1] >= kFirstMinorWithCpp20);
  TorchHeaders headers;
  headers.version = fmt::format("{}.{}.{}", version[0], version[1], version[2]);
  headers.options = fmt::format(
      "-std=c++{} -I{} -isystem {} -isystem {} -DTORCH_EXTENSION_NAME=_upskill_kernel -DCUDA_KERNEL -DUSE_CUDA=1 "
      "-DC10_CUDA_NO_CMAKE_CONFIGURE_FILE",
      is_cpp20 ? 20 : 17, kFolder, ShellWord(include.string()),
      ShellWord((include / "torch/csrc/api/include").string()));
  headers.files = StandIns();
  return headers;
}

}  // namespace upskill
