// SPDX-License-Identifier: Apache-2.0
#include "model/hub/hub_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>
#include <vector>

#include "util/folder.h"
#include "util/text.h"

namespace upskill {
namespace {

constexpr std::string_view kMagic = "GGUF";
constexpr std::size_t kBlock = std::size_t{1} << 20U;

}  // namespace

HubFilePart::HubFilePart(Fd fd, std::filesystem::path path, HubFile file)
    : fd_(std::move(fd)),
      path_(std::move(path)),
      file_(std::move(file)),
      hash_(NewHash()),
      size_(std::make_unique<std::atomic<std::uint64_t>>(0)) {}

StreamingHash HubFilePart::NewHash() const {
  if (file_.lfs) return StreamingHash(StreamingHash::Kind::kSha256);
  StreamingHash hash(StreamingHash::Kind::kSha1);
  hash.Add(fmt::format("blob {}", file_.size) + '\0');  // what git hashes
  return hash;
}

void HubFilePart::Count(std::string_view bytes) {
  if (magic_.size() < kMagic.size()) magic_ += bytes.substr(0, kMagic.size() - magic_.size());
  hash_.Add(bytes);
  size_->fetch_add(bytes.size());
}

Result<HubFilePart> HubFilePart::Open(const std::filesystem::path& path, const HubFile& file) {
  Fd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0644));
  if (!fd.valid()) return ErrnoError("writing", path, errno);
  struct stat info{};
  if (::fstat(fd.get(), &info) != 0) return ErrnoError("reading", path, errno);
  if (!S_ISREG(info.st_mode)) return InputError(fmt::format("writing {}: not a regular file", path.string()));
  HubFilePart part(std::move(fd), path, file);
  bool usable = static_cast<std::uint64_t>(info.st_size) <= file.size;
  if (usable) {
    ASSIGN_OR_RETURN(usable, part.TakeUp());
  }
  if (!usable) RETURN_IF_ERROR(part.Restart());
  return part;
}

Result<bool> HubFilePart::TakeUp() {
  std::vector<char> block(kBlock);
  while (true) {
    const ssize_t got = ::read(fd_.get(), block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return ErrnoError("reading", path_, errno);
    if (got == 0) return kMagic.starts_with(magic_);
    Count({block.data(), static_cast<std::size_t>(got)});
  }
}

Status HubFilePart::Append(std::string_view bytes) {
  if (bytes.size() > file_.size - size()) {
    return InputError(fmt::format("the server sent more than the {} bytes that it lists",
                                  WithThousands(static_cast<long long>(file_.size))));
  }
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd_.get(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return ErrnoError("writing", path_, errno);
    Count(bytes.substr(0, static_cast<std::size_t>(written)));
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  if (!kMagic.starts_with(magic_)) return InputError("the server's file is not a GGUF file");
  return {};
}

Status HubFilePart::Restart() {
  hash_ = NewHash();
  magic_.clear();
  size_->store(0);
  if (::ftruncate(fd_.get(), 0) != 0 || ::lseek(fd_.get(), 0, SEEK_SET) != 0)
    return ErrnoError("writing", path_, errno);
  return {};
}

void HubFilePart::Remove() {
  ::unlink(path_.c_str());
  fd_.Close();
}

bool HubFilePart::HasRightHash() { return hash_.Hex() == file_.hash && magic_ == kMagic; }

Status HubFilePart::Finish(const std::filesystem::path& blob) { return PublishFile(fd_, path_, blob); }

}  // namespace upskill
