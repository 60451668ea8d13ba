// SPDX-License-Identifier: Apache-2.0
#include "trace/read/foreign_file.h"

#include <array>

#include "util/text.h"

namespace upskill {
namespace {

struct KnownFront {
  std::string_view bytes;  // in lowercase if it is text
  std::string_view what;
};

using std::string_view_literals::operator""sv;

constexpr std::array kKnownText = {
    KnownFront{"<!doctype html", "a web page (HTML); save the session's own file"},
    KnownFront{"<html", "a web page (HTML); save the session's own file"},
    KnownFront{"<?xml", "an XML document"},
    KnownFront{"version https://git-lfs.github.com/", "a Git LFS pointer; `git lfs pull` fetches the file itself"},
    KnownFront{"/annex/objects/", "a git-annex pointer; `git annex get` fetches the file itself"},
    KnownFront{"%pdf-", "a PDF document"},
    KnownFront{"{\\rtf", "an RTF document; save it as plain text"},
};

// Signatures as file(1) knows them.
constexpr std::array kKnownBytes = {
    KnownFront{"SQLite format 3\0"sv, "an SQLite database; export the session as JSON or Markdown"},
    KnownFront{"\x1f\x8b"sv, "gzip data; unpack it first"},
    KnownFront{"\x28\xb5\x2f\xfd"sv, "Zstandard data; unpack it first"},
    KnownFront{"\xfd\x37zXZ\0"sv, "xz data; unpack it first"},
    KnownFront{"BZh91AY&SY"sv, "bzip2 data; unpack it first"},
    KnownFront{"7z\xbc\xaf\x27\x1c"sv, "a 7-Zip archive; unpack it first"},
    KnownFront{"\xff\xfe"sv, "UTF-16 text; convert it to UTF-8"},
    KnownFront{"\xfe\xff"sv, "UTF-16 text; convert it to UTF-8"},
    KnownFront{"GGUF"sv, "a GGUF model"},
    KnownFront{"\x7f\x45LF"sv, "an ELF program"},
    KnownFront{"\x89PNG\r\n"sv, "a PNG image"},
    KnownFront{"\xff\xd8\xff"sv, "a JPEG image"},
};

}  // namespace

std::optional<std::string> ForeignFileKind(std::string_view front) {
  for (const KnownFront& known : kKnownBytes) {
    if (front.starts_with(known.bytes)) return std::string(known.what);
  }
  constexpr std::size_t kUstarOffset = 257;
  if (front.size() > kUstarOffset && front.substr(kUstarOffset).starts_with("ustar"))
    return "a tar archive; unpack it first";
  const std::size_t begin = front.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return std::nullopt;
  const std::string text = ToLowerAscii(front.substr(begin, 64));
  for (const KnownFront& known : kKnownText) {
    if (text.starts_with(known.bytes)) return std::string(known.what);
  }
  return std::nullopt;
}

}  // namespace upskill
