// SPDX-License-Identifier: Apache-2.0
#include "trace/redact/email_address.h"

#include <algorithm>
#include <array>
#include <string>

#include "trace/redact/secret_value.h"
#include "util/text.h"

namespace upskill {
namespace {

constexpr std::size_t kMaxLocal = 64;
constexpr std::size_t kMaxDomain = 253;

bool IsLocalChar(char c) { return IsAlnumChar(c) || std::string_view("._%+-").find(c) != std::string_view::npos; }
bool IsDomainChar(char c) { return IsAlnumChar(c) || c == '.' || c == '-'; }

// Endings of file names, units and attributes that top-level domains don't have.
bool IsFileEnding(std::string_view label) {
  constexpr std::array kEndings = {
      std::string_view("png"),   std::string_view("jpg"),   std::string_view("jpeg"),      std::string_view("gif"),
      std::string_view("svg"),   std::string_view("webp"),  std::string_view("json"),      std::string_view("yaml"),
      std::string_view("yml"),   std::string_view("toml"),  std::string_view("html"),      std::string_view("txt"),
      std::string_view("css"),   std::string_view("js"),    std::string_view("jsx"),       std::string_view("ts"),
      std::string_view("tsx"),   std::string_view("mjs"),   std::string_view("tgz"),       std::string_view("whl"),
      std::string_view("tar"),   std::string_view("lock"),  std::string_view("service"),   std::string_view("socket"),
      std::string_view("timer"), std::string_view("mount"), std::string_view("target"),    std::string_view("slice"),
      std::string_view("cpp"),   std::string_view("hpp"),   std::string_view("patch"),     std::string_view("diff"),
      std::string_view("log"),   std::string_view("so"),    std::string_view("dll"),       std::string_view("mark"),
      std::string_view("jar"),   std::string_view("shape"), std::string_view("transpose"), std::string_view("view"),
  };
  return std::find(kEndings.begin(), kEndings.end(), label) != kEndings.end();
}

bool IsService(std::string_view local) {
  const std::string lower = ToLowerAscii(local);
  return lower == "git" || lower == "noreply" || lower == "no-reply" || lower == "donotreply";
}

// "v1.2.3", "2x", "5.0.0-rc": a version, not a host.
bool IsVersion(std::string_view domain) {
  const std::size_t at = domain.starts_with('v') ? 1 : 0;
  return domain.size() > at && IsDigitChar(domain[at]) &&
         (domain.size() <= at + 1 || !IsLetterChar(domain[at + 1]) || domain[at + 1] == 'x');
}

// Whether the text before `begin` is the beginning of a URL: "https://", "https://user:".
bool IsInUrl(std::string_view text, std::size_t begin) {
  constexpr std::size_t kMax = 200;
  std::size_t i = begin;
  while (i > 0 && begin - i < kMax) {
    const char c = text[i - 1];
    if (c == '/') return i > 1 && (text[i - 2] == '/' || text[i - 2] == '\\');
    if (!IsLocalChar(c) && c != ':') return false;
    --i;
  }
  return false;
}

// The domain at `begin`: labels of which the last is of letters; empty if there is none.
std::string_view DomainAt(std::string_view text, std::size_t begin) {
  std::size_t end = begin;
  while (end < text.size() && end - begin < kMaxDomain && IsDomainChar(text[end])) ++end;
  std::string_view domain = text.substr(begin, end - begin);
  while (!domain.empty() && (domain.back() == '.' || domain.back() == '-')) domain.remove_suffix(1);
  const std::size_t dot = domain.rfind('.');
  if (dot == std::string_view::npos || dot == 0 || domain.front() == '-' || domain.find("..") != std::string_view::npos)
    return {};
  const std::string_view last = domain.substr(dot + 1);
  if (last.size() < 2 || last.size() > 24 || !std::all_of(last.begin(), last.end(), IsLetterChar)) return {};
  // `a@b.inverse()`, `a@b.data[0]`
  const std::size_t after = begin + domain.size();
  if (after < text.size() && std::string_view("([_").find(text[after]) != std::string_view::npos) return {};
  return IsVersion(domain) || IsFileEnding(ToLowerAscii(last)) ? std::string_view() : domain;
}

}  // namespace

std::vector<SecretSpan> FindEmailAddresses(std::string_view text) {
  std::vector<SecretSpan> spans;
  for (std::size_t at = text.find('@'); at != std::string_view::npos; at = text.find('@', at + 1)) {
    const std::string_view domain = DomainAt(text, at + 1);
    if (domain.empty()) continue;
    std::size_t begin = at;
    while (begin > 0 && at - begin < kMaxLocal && IsLocalChar(text[begin - 1])) --begin;
    // In a string, `\n` before an address or decorator looks like its first letter.
    if (begin > 0 && begin < at && text[begin - 1] == '\\' &&
        std::string_view("nrt").find(text[begin]) != std::string_view::npos) {
      ++begin;
    }
    while (begin < at && !IsAlnumChar(text[begin]) && text[begin] != '_') ++begin;  // "+@decorator" of a patch
    const std::string_view local = text.substr(begin, at - begin);
    const std::size_t end = at + 1 + domain.size();
    const bool remote =
        text.substr(end, 1) == ":" && end + 1 < text.size() &&
        (IsAlnumChar(text[end + 1]) || std::string_view("/~.").find(text[end + 1]) != std::string_view::npos);
    // In a URL, the part before the last `@` is a user's name.
    const bool user_name = text.substr(end, 1) == "@";
    if (local.empty() || IsService(local) || (IsInUrl(text, begin) && !user_name)) continue;
    if (remote && text.substr(end + 1, 40).find('/') != std::string_view::npos) continue;  // user@host:path
    spans.push_back({begin, end, "email"});
  }
  return spans;
}

}  // namespace upskill
