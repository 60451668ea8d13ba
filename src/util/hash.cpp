// SPDX-License-Identifier: Apache-2.0
#include "util/hash.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <openssl/evp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <memory>
#include <vector>

#include "util/files.h"

namespace upskill {

struct StreamingHash::Context {
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> evp{EVP_MD_CTX_new(), &EVP_MD_CTX_free};
};

StreamingHash::StreamingHash(Kind kind) : context_(std::make_unique<Context>()) {
  CHECK(context_->evp != nullptr);
  CHECK(EVP_DigestInit_ex(context_->evp.get(), kind == Kind::kSha256 ? EVP_sha256() : EVP_sha1(), nullptr) == 1);
}

StreamingHash::~StreamingHash() = default;
StreamingHash::StreamingHash(StreamingHash&& other) noexcept = default;
StreamingHash& StreamingHash::operator=(StreamingHash&& other) noexcept = default;

void StreamingHash::Add(std::string_view bytes) {
  CHECK(EVP_DigestUpdate(context_->evp.get(), bytes.data(), bytes.size()) == 1);
}

std::string StreamingHash::Hex() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int length = 0;
  CHECK(EVP_DigestFinal_ex(context_->evp.get(), digest.data(), &length) == 1);
  std::string out;
  for (unsigned int i = 0; i < length; ++i) out += fmt::format("{:02x}", digest.at(i));
  return out;
}

std::string Sha256Hex(std::string_view bytes) {
  StreamingHash hash(StreamingHash::Kind::kSha256);
  hash.Add(bytes);
  return hash.Hex();
}

Result<std::string> FingerprintFile(const std::filesystem::path& path) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd.valid()) return ErrnoError("reading", path, errno);
  struct stat info{};
  if (::fstat(fd.get(), &info) != 0) return ErrnoError("reading", path, errno);
  if (S_ISDIR(info.st_mode)) return ErrnoError("reading", path, EISDIR);
  if (!S_ISREG(info.st_mode)) return InputError(fmt::format("reading {}: not a regular file", path.string()));
  constexpr off_t kBlock = off_t{64} * 1024;
  constexpr off_t kBlocks = 64;
  StreamingHash hash(StreamingHash::Kind::kSha256);
  hash.Add(fmt::format("{}\n", info.st_size));
  std::vector<char> block(static_cast<std::size_t>(kBlock));
  const off_t last = info.st_size > kBlock ? info.st_size - kBlock : 0;
  off_t previous = -kBlock;
  for (off_t i = 0; i < kBlocks; ++i) {
    const off_t spread = i == kBlocks - 1 ? last : last / (kBlocks - 1) * i;
    const off_t offset = info.st_size <= kBlock * kBlocks ? i * kBlock : spread;
    if (offset >= info.st_size || offset == previous) break;
    previous = offset;
    const ssize_t got = ::pread(fd.get(), block.data(), block.size(), offset);
    if (got < 0) return ErrnoError("reading", path, errno);
    hash.Add({block.data(), static_cast<std::size_t>(got)});
  }
  return hash.Hex();
}

}  // namespace upskill
