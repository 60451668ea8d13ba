// SPDX-License-Identifier: Apache-2.0
#include "install/git_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <optional>

#include "util/files.h"
#include "util/text.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxUrlBytes = 2000;
constexpr std::size_t kMaxRefBytes = 200;
constexpr std::size_t kMaxPathBytes = 1000;

constexpr std::string_view kForms =
    "give https://HOST/OWNER/REPO, ssh://USER@HOST/REPO, USER@HOST:REPO or file:///FOLDER, with #REF:PATH after it if "
    "need be";

bool IsWordCharacter(char c) { return IsAsciiAlphanumeric(c) || c == '_'; }

bool HasOnly(std::string_view text, std::string_view more) {
  return std::all_of(text.begin(), text.end(),
                     [&](char c) { return IsWordCharacter(c) || more.find(c) != std::string_view::npos; });
}

// USER@HOST:PATH, which git takes for ssh: the first colon is before any slash.
bool IsScpForm(std::string_view text) {
  const std::size_t at = text.find('@');
  const std::size_t colon = text.find(':');
  const std::size_t slash = text.find('/');
  return at != std::string_view::npos && at > 0 && colon != std::string_view::npos && at + 1 < colon && colon < slash &&
         text.substr(colon, 3) != "://";
}

// The scheme of SCHEME://…, in lower case; empty: there is none.
std::string SchemeOf(std::string_view text) {
  const std::size_t end = text.find("://");
  if (end == std::string_view::npos || end == 0 || !HasOnly(text.substr(0, end), "+.-")) return "";
  return ToLowerAscii(text.substr(0, end));
}

bool HasDotDot(std::string_view path) {
  const fs::path parts{std::string(path)};
  return std::any_of(parts.begin(), parts.end(), [](const fs::path& part) { return part == ".."; });
}

Status CheckRef(std::string_view ref) {
  const bool clean = !ref.starts_with('-') && !ref.starts_with('/') && !ref.ends_with('/') && HasOnly(ref, "./@+-=,") &&
                     !ContainsAny(ref, {"..", "@{", "//"}) && ref.size() <= kMaxRefBytes;
  if (clean) return {};
  return InputError(
      fmt::format("'{}' can't be a branch, tag or commit: letters, digits and ._/@+=,- are allowed, and "
                  "no - at the start",
                  ExcerptLine(ref, 60)));
}

Status CheckPath(const std::string& path) {
  if (path.empty()) return {};
  const Result<fs::path> contained = ContainedPath(".", path);
  const bool clean = contained.ok() && !path.starts_with('-') && path.size() <= kMaxPathBytes &&
                     !FindInvalidUtf8(path) && ToLowerAscii(fs::path(path).begin()->string()) != ".git";
  if (clean) return {};
  return InputError(fmt::format("'{}' can't be a folder of the repository: give its path from the repository's root",
                                ExcerptLine(path, 60)));
}

// HOST or HOST:PORT.
bool IsHost(std::string_view host) {
  if (host.starts_with('[')) {  // an IPv6 address
    const std::size_t end = host.find(']');
    return end != std::string_view::npos && HasOnly(host.substr(1, end - 1), ":.") &&
           HasOnly(host.substr(end + 1), ":");
  }
  return !host.empty() && !host.starts_with('-') && !host.starts_with(':') && HasOnly(host, ".:-");
}

// A user name of ssh.
bool IsUser(std::string_view user) { return !user.empty() && !user.starts_with('-') && HasOnly(user, ".-"); }

Error PasswordError() {
  return InputError(
      "the URL contains a user name or a password, which would be seen in the list of processes; leave it out, and let "
      "git's credential helper give it (git help credentials)");
}

// The parts of a path that a web page of a repository adds.
struct TreeMark {
  std::string_view mark;
  std::size_t least_parts;  // of the repository's own path before it
};
constexpr std::array<TreeMark, 3> kTreeMarks = {{{"/-/tree/", 1}, {"/src/branch/", 2}, {"/tree/", 2}}};

// Divides the path of a web page, after the host, into the repository's and what it shows: at the first mark.
void TakeTree(std::string& path, GitSource& source) {
  std::size_t first = std::string::npos;
  std::string shown;
  for (const TreeMark& tree : kTreeMarks) {
    const std::size_t at = path.find(tree.mark);
    if (at >= first) continue;
    const auto slashes = std::count(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(at), '/');
    if (static_cast<std::size_t>(slashes) < tree.least_parts) continue;
    first = at;
    shown = path.substr(at + tree.mark.size());
  }
  if (first == std::string::npos) return;
  const std::size_t slash = shown.find('/');
  source.ref = shown.substr(0, slash);
  if (slash != std::string::npos) source.path = shown.substr(slash + 1);
  path.resize(first);
}

void DropSlashesAtEnd(std::string& path) {
  while (path.ends_with('/')) path.pop_back();
}

// `rest`: HOST/PATH.
Result<GitSource> HttpsSource(std::string_view rest) {
  const std::size_t slash = rest.find('/');
  const std::string_view host = rest.substr(0, slash);
  if (host.find('@') != std::string_view::npos) return PasswordError();
  if (rest.find('?') != std::string_view::npos)
    return InputError("the URL has a query (?...); give the repository's URL without it");
  GitSource source;
  std::string path(slash == std::string_view::npos ? "" : rest.substr(slash));
  if (!IsHost(host) || path.size() < 2) return InputError(fmt::format("the URL names no repository; {}", kForms));
  TakeTree(path, source);
  DropSlashesAtEnd(path);
  source.url = fmt::format("https://{}{}", host, path);
  return source;
}

// `rest`: USER@HOST:PORT/PATH.
Result<GitSource> SshSource(std::string_view rest) {
  const std::size_t slash = rest.find('/');
  const std::string_view authority = rest.substr(0, slash);
  const std::size_t at = authority.rfind('@');
  const std::string_view host = at == std::string_view::npos ? authority : authority.substr(at + 1);
  if (at != std::string_view::npos && authority.substr(0, at).find(':') != std::string_view::npos)
    return PasswordError();
  std::string path(slash == std::string_view::npos ? "" : rest.substr(slash));
  DropSlashesAtEnd(path);
  if (!IsHost(host) || (at != std::string_view::npos && !IsUser(authority.substr(0, at))) || path.size() < 2)
    return InputError(fmt::format("the URL names no repository; {}", kForms));
  GitSource source;
  source.url = fmt::format("ssh://{}{}", authority, path);
  return source;
}

Result<GitSource> ScpSource(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::size_t at = text.find('@');
  std::string path(text.substr(colon + 1));
  DropSlashesAtEnd(path);
  if (!IsUser(text.substr(0, at)) || !IsHost(text.substr(at + 1, colon - at - 1)) || path.empty() ||
      path.starts_with('-'))
    return InputError(fmt::format("the source names no repository; {}", kForms));
  GitSource source;
  source.url = fmt::format("{}:{}", text.substr(0, colon), path);
  return source;
}

// `rest`: an absolute path.
Result<GitSource> FileSource(std::string_view rest) {
  std::string path(rest);
  DropSlashesAtEnd(path);
  if (!path.starts_with('/')) return InputError("file:// is followed by an absolute path: file:///FOLDER");
  GitSource source;
  source.url = "file://" + path;
  return source;
}

Result<GitSource> SourceOfUrl(std::string_view url) {
  if (IsScpForm(url)) return ScpSource(url);
  const std::string scheme = SchemeOf(url);
  const std::string_view rest = scheme.empty() ? url : url.substr(scheme.size() + 3);
  if (scheme == "https") return HttpsSource(rest);
  if (scheme == "ssh") return SshSource(rest);
  if (scheme == "file") return FileSource(rest);
  if (scheme == "http" || scheme == "git") {
    return InputError(fmt::format("{}:// is neither encrypted nor shows who answers; use https:// or ssh://", scheme));
  }
  return InputError(fmt::format("not a source that git can be asked for; {}", kForms));
}

}  // namespace

bool IsGitSource(std::string_view text) {
  return text.starts_with("git+") || !SchemeOf(text).empty() || text.starts_with("ext::") || IsScpForm(text);
}

Result<GitSource> ParseGitSource(std::string_view text) {
  if (text.starts_with("git+")) text.remove_prefix(4);
  const std::size_t hash = text.find('#');
  const std::string_view url = text.substr(0, hash);
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) <= ' ' || c == '\x7F'; };
  if (url.size() > kMaxUrlBytes || std::any_of(url.begin(), url.end(), is_control) || FindInvalidUtf8(url))
    return InputError("the URL is longer than 2,000 bytes, or has a space or another invalid character in it");
  ASSIGN_OR_RETURN(GitSource source, SourceOfUrl(url));
  if (HasDotDot(source.url)) return InputError("the URL has '..' in it");
  if (hash != std::string_view::npos) {
    const std::string_view fragment = text.substr(hash + 1);
    if (!source.ref.empty()) return InputError("the source names a branch twice: in /tree/ and after #");
    const std::size_t colon = fragment.find(':');
    source.ref = fragment.substr(0, colon);
    if (colon != std::string_view::npos) source.path = fragment.substr(colon + 1);
  }
  DropSlashesAtEnd(source.path);
  // A link to the skill's file means its folder.
  if (source.path == "SKILL.md") source.path.clear();
  if (source.path.ends_with("/SKILL.md")) source.path.resize(source.path.rfind('/'));
  if (!source.path.empty() && !source.path.starts_with('/')) source.path = PlainFileName(source.path);
  if (source.path == ".") source.path.clear();
  RETURN_IF_ERROR(CheckRef(source.ref));
  RETURN_IF_ERROR(CheckPath(source.path));
  return source;
}

std::string GitSourceText(const GitSource& source) {
  std::string text = "git+" + source.url;
  if (!source.ref.empty() || !source.path.empty()) text += "#" + source.ref;
  if (!source.path.empty()) text += ":" + source.path;
  return text;
}

std::string RepositoryName(const GitSource& source) {
  const std::size_t start = source.url.find_last_of("/:");
  std::string name = source.url.substr(start == std::string::npos ? 0 : start + 1);
  if (name.ends_with(".git")) name.resize(name.size() - 4);
  const bool plain = !name.empty() && !name.starts_with('.') && !name.starts_with('-') && HasOnly(name, ".-");
  return plain ? name : "repository";
}

std::string WithoutCredentials(std::string_view text) {
  std::string shown;
  while (true) {
    const std::size_t start = text.find("://");
    if (start == std::string_view::npos) return shown + std::string(text);
    shown += text.substr(0, start + 3);
    text.remove_prefix(start + 3);
    const std::size_t end = std::min(text.find_first_of("/ \t\n'\""), text.size());
    const std::size_t at = text.substr(0, end).rfind('@');
    if (at != std::string_view::npos) text.remove_prefix(at + 1);
  }
}

}  // namespace upskill
