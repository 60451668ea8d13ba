// SPDX-License-Identifier: Apache-2.0
#include "cli/models/toolchains.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

#include "cli/models/embedded_model.h"
#include "sandbox/sandbox.h"
#include "trace/read/archive.h"
#include "util/error_cause.h"
#include "util/files.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxUnpackedFile = std::size_t{512} << 20U;
constexpr std::size_t kMaxUnpackedPackage = std::size_t{1} << 30U;

// NVIDIA's packages of the compiler, which works without a toolkit or a GPU; the host's g++ is needed as well.
Toolchain Cuda() {
  const auto wheel = [](const char* name, const char* version, const char* tag, std::uint64_t bytes,
                        const char* sha256) {
    std::string file = name;
    std::replace(file.begin(), file.end(), '-', '_');
    return PackageFile{fmt::format("{}=={}", name, version), fmt::format("{}-{}-py3-none-{}.whl", file, version, tag),
                       bytes, sha256};
  };
  constexpr const char* k2014 = "manylinux2014_x86_64.manylinux_2_17_x86_64";
  Toolchain cuda;
  cuda.name = "cuda";
  cuda.version = "13.5.37";
  cuda.about = "nvcc, for checks that compile CUDA";
  cuda.prefix = "nvidia/cu13/";
  cuda.packages = {wheel("nvidia-cuda-nvcc", "13.5.37", k2014, 47'028'279,
                         "f5c4f7ead5d964fb4af42bbf1e6d3ec3c1e6e9d83b53749f691d387e7fcaa3a7"),
                   wheel("nvidia-nvvm", "13.5.37", "manylinux2010_x86_64.manylinux_2_12_x86_64", 75'141'406,
                         "c41bfa362e407405163f103c2229f0765f8cc2ed7d148b754dc77f228bf7e070"),
                   wheel("nvidia-cuda-crt", "13.5.37", k2014, 166'163,
                         "e898b7f73d3035fa89915a3f7bf3b54a73e90249746111aed295822c4729bb29"),
                   wheel("nvidia-cuda-runtime", "13.5.37", k2014, 2'504'024,
                         "df2b79a8852f10d1fef8c848489c49eebb5754051bf870202a862831412b179d"),
                   wheel("nvidia-cuda-cccl", "13.3.5.0.6", k2014, 4'113'651,
                         "d5230098fa2df5021e1a00c0c4eee41797671a91119d31e892463e5ccf3ee326")};
  cuda.unpacked_bytes = 356'000'000;
  cuda.licence = "NVIDIA's licence applies: https://docs.nvidia.com/cuda/eula";
  return cuda;
}

// PyTorch's headers, which are the same for all processors. Of the packages of the package index, those for aarch64 up
// to this version are the smallest ones with headers for CUDA.
Toolchain Torch() {
  Toolchain torch;
  torch.name = "torch";
  torch.version = "2.9.1";
  torch.about = "PyTorch's headers, for checks that compile bindings; they need the toolchain cuda as well";
  torch.prefix = "torch/include/";
  torch.packages = {{"torch==2.9.1", "torch-2.9.1-cp312-cp312-manylinux_2_28_aarch64.whl", 104'126'592,
                     "da5f6f4d7f4940a173e5572791af238cb0b9e21b1aab592bd8b26da4c99f1cd6"}};
  torch.unpacked_bytes = 36'000'000;
  torch.licence = "Its licence: https://github.com/pytorch/pytorch/blob/main/LICENSE";
  return torch;
}

constexpr const char* kSharedCache = "/var/cache/upskill";

// Where the user's own toolchains are; empty without a home.
fs::path OwnFolder(const Env& env) {
  if (const std::optional<std::string> stated = env.variable("UPSKILL_CACHE"); stated && !stated->empty())
    return fs::path(*stated) / "toolchains";
  if (::geteuid() == 0) return fs::path(kSharedCache) / "toolchains";
  const fs::path cache = CacheFolder(env);
  return cache.empty() ? fs::path() : cache / "toolchains";
}

// What to do about a folder that commands can't read.
constexpr const char* kOpenPlace =
    "set UPSKILL_CACHE to a folder that everyone can read, such as /opt/upskill, or, as root, unset it: toolchains are "
    "then installed in /var/cache/upskill";

Status ReadableByCommands(const Toolchain& toolchain, const fs::path& folder) {
  const std::string why = WhyCommandsCantRead(folder);
  if (why.empty()) return {};
  return InputError(fmt::format("checks couldn't use the toolchain {} in {}: {}; {}", toolchain.name, folder.string(),
                                why, kOpenPlace));
}

std::string FolderName(const Toolchain& toolchain) { return toolchain.name + "-" + toolchain.version; }

Status WriteUnpacked(const fs::path& file, const std::string& content) {
  RETURN_IF_ERROR(MakeFolders(file.parent_path()));
  const bool is_program = file.parent_path().filename() == "bin";
  const Fd fd(::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, is_program ? 0755 : 0644));
  if (!fd.valid()) return ErrnoError("writing", file.string(), errno);
  return WriteAll(fd, content, file);
}

}  // namespace

std::span<const Toolchain> KnownToolchains() {
  static const std::array<Toolchain, 2> all = {Cuda(), Torch()};
  return all;
}

const Toolchain* FindKnownToolchain(std::string_view name) {
  for (const Toolchain& toolchain : KnownToolchains()) {
    if (toolchain.name == name) return &toolchain;
  }
  return nullptr;
}

std::optional<fs::path> InstalledToolchain(const Toolchain& toolchain, const Env& env) {
  for (const fs::path& parent : {OwnFolder(env), fs::path(kSharedCache) / "toolchains"}) {
    std::error_code code;
    if (!parent.empty() && fs::is_directory(parent / FolderName(toolchain), code))
      return parent / FolderName(toolchain);
  }
  return std::nullopt;
}

std::vector<fs::path> InstalledToolchains(const Env& env) {
  std::vector<fs::path> folders;
  for (const Toolchain& toolchain : KnownToolchains()) {
    if (std::optional<fs::path> folder = InstalledToolchain(toolchain, env)) folders.push_back(std::move(*folder));
  }
  return folders;
}

std::vector<fs::path> ReadableToolchains(const Env& env) {
  std::vector<fs::path> folders;
  for (const Toolchain& toolchain : KnownToolchains()) {
    std::optional<fs::path> folder = InstalledToolchain(toolchain, env);
    if (!folder) continue;
    if (const std::string why = WhyCommandsCantRead(*folder); !why.empty()) {
      PrintWarning(env,
                   fmt::format("the toolchain {} in {} isn't used: {}; {}, and run `upskill toolchain add {}` again",
                               toolchain.name, folder->string(), why, kOpenPlace, toolchain.name));
      continue;
    }
    folders.push_back(std::move(*folder));
  }
  return folders;
}

Result<fs::path> InstallToolchain(const Toolchain& toolchain, const Env& env) {
  if (std::optional<fs::path> there = InstalledToolchain(toolchain, env)) {
    RETURN_IF_ERROR(ReadableByCommands(toolchain, *there));
    return *there;
  }
  const fs::path parent = OwnFolder(env);
  if (parent.empty()) {
    return Error{ErrorKind::kNotFound,
                 "no folder for toolchains: none of UPSKILL_CACHE, XDG_CACHE_HOME and HOME is set"};
  }
  RETURN_IF_ERROR(ReadableByCommands(toolchain, parent));
  const fs::path downloads = parent / "downloads";
  RETURN_IF_ERROR(MakeFolders(downloads));
  std::vector<fs::path> archives;
  for (const PackageFile& package : toolchain.packages) {
    RETURN_IF_ERROR(FetchPackageFile(package, downloads, fmt::format("the toolchain {}", toolchain.name),
                                     "upskill toolchain add " + toolchain.name, env));
    archives.push_back(downloads / package.file);
  }
  const fs::path folder = parent / FolderName(toolchain);
  const fs::path partial = parent / fmt::format(".{}.{}", FolderName(toolchain), ::getpid());
  std::error_code code;
  fs::remove_all(partial, code);
  Status unpacked = UnpackPackages(archives, toolchain.prefix, partial);
  if (unpacked && ::rename(partial.c_str(), folder.c_str()) != 0 && !fs::is_directory(folder, code))
    unpacked = ErrnoError("writing", folder.string(), errno);
  fs::remove_all(partial, code);
  if (!unpacked) return unpacked.error();
  for (const fs::path& archive : archives) fs::remove(archive, code);
  RETURN_IF_ERROR(ReadableByCommands(toolchain, folder));  // a umask may have closed it
  return folder;
}

Status RemoveToolchain(const Toolchain& toolchain, const Env& env) {
  const fs::path folder = OwnFolder(env) / FolderName(toolchain);
  std::error_code code;
  if (!fs::is_directory(folder, code)) {
    return Error{ErrorKind::kNotFound,
                 fmt::format("the toolchain {} isn't installed in {}", toolchain.name, OwnFolder(env).string())};
  }
  fs::remove_all(folder, code);
  return code ? Error{ErrorKind::kIo, fmt::format("{}: {}", folder.string(), code.message())} : Status();
}

Status UnpackPackages(const std::vector<fs::path>& archives, std::string_view prefix, const fs::path& folder) {
  RETURN_IF_ERROR(MakeFolders(folder));
  for (const fs::path& archive : archives) {
    ASSIGN_OR_RETURN(const std::string bytes, ReadFile(archive));
    RETURN_IF_ERROR(CheckZipDirectory(bytes, archive.string()));
    std::size_t written = 0;
    ASSIGN_OR_RETURN(const std::size_t rejected,
                     ReadZipEntries(
                         bytes, archive.string(), {kMaxUnpackedFile, kMaxUnpackedPackage},
                         [&](const std::string& name) { return name.starts_with(prefix) && !name.ends_with('/'); },
                         [&](const std::string& name, const std::string& content) -> Status {
                           ASSIGN_OR_RETURN(const fs::path file, ContainedPath(folder, name.substr(prefix.size())));
                           ++written;
                           return WriteUnpacked(file, content);
                         }));
    if (written == 0 || rejected > 0)
      return InputError(fmt::format("{}: not the package that is expected: {} of its files can be used, {} lie outside",
                                    archive.string(), written, rejected));
  }
  return {};
}

}  // namespace upskill
