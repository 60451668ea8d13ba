// SPDX-License-Identifier: Apache-2.0
#include "trace/read/line_source.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "util/byte_order_mark.h"
#include "util/text.h"

namespace upskill {
namespace {

constexpr std::size_t kBlock = std::size_t{256} * 1024;

}  // namespace

Result<LineSource> LineSource::OpenFile(const std::filesystem::path& path) {
  ASSIGN_OR_RETURN(Fd fd, OpenRegularFile(path, "give - to read from a pipe"));
  return FromDescriptor(std::move(fd), path.filename().string());
}

LineSource LineSource::FromDescriptor(Fd fd, std::string name) {
  LineSource source;
  source.fd_ = std::move(fd);
  source.name_ = std::move(name);
  return source;
}

LineSource LineSource::FromText(std::string text, std::string name) {
  LineSource source;
  source.buffer_ = std::move(text);
  source.name_ = std::move(name);
  source.at_end_ = true;
  return source;
}

Status LineSource::Fill() {
  // Consumed bytes are discarded only once they fill most of the buffer, so that moving costs a constant per byte.
  if (start_ > kBlock && start_ > buffer_.size() / 2) {
    buffer_.erase(0, start_);
    start_ = 0;
  }
  const std::size_t size = buffer_.size();
  if (buffer_.capacity() < size + kBlock) buffer_.reserve(size + std::max(kBlock, size / 2));
  buffer_.resize(size + kBlock);
  ssize_t got = -1;
  do {
    got = ::read(fd_.get(), buffer_.data() + size, kBlock);
  } while (got < 0 && errno == EINTR);
  buffer_.resize(size + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  if (got < 0) return ErrnoError("reading", name_, errno);
  if (got == 0) at_end_ = true;
  return {};
}

Result<std::string_view> LineSource::Peek(std::size_t least, std::size_t most) {
  std::size_t searched = start_;
  bool has_line_end = false;
  while (!at_end_ && buffer_.size() - start_ < most && (buffer_.size() - start_ < least || !has_line_end)) {
    const std::size_t before = start_;
    RETURN_IF_ERROR(Fill());
    searched -= before - start_;
    has_line_end = has_line_end || buffer_.find('\n', searched) != std::string::npos;
    searched = buffer_.size();
  }
  if (!mark_checked_) {
    mark_checked_ = true;
    if (std::string_view(buffer_).substr(start_).starts_with(kByteOrderMark)) start_ += kByteOrderMark.size();
  }
  return std::string_view(buffer_).substr(start_, most);
}

Result<std::optional<LineSource::Line>> LineSource::Next(std::size_t max_bytes) {
  if (!mark_checked_) {
    ASSIGN_OR_RETURN([[maybe_unused]] const std::string_view front, Peek(3, 3));
  }
  std::size_t searched = start_;
  Line line;
  while (true) {
    const std::size_t end = buffer_.find('\n', searched);
    if (end != std::string::npos || at_end_) {
      line.ended = end != std::string::npos;
      if (!line.ended && start_ == buffer_.size()) return std::optional<Line>();
      const std::size_t stop = line.ended ? end : buffer_.size();
      line.text = std::string_view(buffer_).substr(start_, stop - start_);
      start_ = std::min(stop + 1, buffer_.size());
      break;
    }
    searched = buffer_.size();
    if (buffer_.size() - start_ > max_bytes) return PassOverLine();
    const std::size_t before = start_;
    RETURN_IF_ERROR(Fill());
    searched -= before - start_;
  }
  ++line_;
  line.number = line_;
  line.too_long = line.text.size() > max_bytes;
  if (!line.text.empty() && line.text.back() == '\r') line.text.remove_suffix(1);
  return std::optional<Line>(line);
}

Result<std::optional<LineSource::Line>> LineSource::PassOverLine() {
  constexpr std::size_t kFront = 4096;
  front_ = buffer_.substr(start_, kFront);
  Line line;
  line.too_long = true;
  line.text = front_;
  line.number = ++line_;
  std::size_t end = std::string::npos;
  do {
    buffer_.clear();
    start_ = 0;
    RETURN_IF_ERROR(Fill());
    end = buffer_.find('\n');
  } while (end == std::string::npos && !at_end_);
  line.ended = end != std::string::npos;
  start_ = line.ended ? end + 1 : buffer_.size();
  return std::optional<Line>(line);
}

Result<std::string> LineSource::ReadAll(std::size_t max_bytes) {
  if (!mark_checked_) {
    ASSIGN_OR_RETURN([[maybe_unused]] const std::string_view front, Peek(3, 3));
  }
  while (!at_end_) {
    RETURN_IF_ERROR(Fill());
    if (buffer_.size() - start_ > max_bytes) {
      return InputError(fmt::format("{}: larger than {} bytes, the maximum for a file of this kind", name_,
                                    WithThousands(static_cast<long long>(max_bytes))));
    }
  }
  std::string all = std::move(buffer_);
  all.erase(0, start_);
  buffer_.clear();
  start_ = 0;
  return all;
}

}  // namespace upskill
