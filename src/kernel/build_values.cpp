// SPDX-License-Identifier: Apache-2.0
#include "kernel/build_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <system_error>
#include <utility>

#include "kernel/words.h"
#include "util/list.h"
#include "util/text.h"

namespace upskill {
namespace {

// The union of the builder's lists for CUDA 12.6 to 13.2 (preamble.cmake).
constexpr std::array<std::string_view, 13> kBuiltCapabilities = {"7.0", "7.2",  "7.5",  "8.0",  "8.6",  "8.7", "8.9",
                                                                 "9.0", "10.0", "10.1", "11.0", "12.0", "12.1"};
constexpr std::array<std::string_view, 10> kRocmArchs = {"gfx906",  "gfx908",  "gfx90a",  "gfx942",  "gfx950",
                                                         "gfx1030", "gfx1100", "gfx1101", "gfx1200", "gfx1201"};
constexpr std::array<std::string_view, 7> kGitSchemes = {"https",   "http",      "git",     "ssh",
                                                         "git+ssh", "git+https", "git+http"};

struct Capability {
  int major = 0;
  int minor = 0;
  bool accelerated = false;
  bool ptx = false;
};

std::optional<Capability> ParseCapability(std::string_view text) {
  Capability capability;
  if (text.ends_with("+PTX")) {
    capability.ptx = true;
    text.remove_suffix(4);
  }
  if (text.ends_with('a') || text.ends_with('f')) {
    capability.accelerated = true;
    text.remove_suffix(1);
  }
  const std::size_t dot = text.find('.');
  if (dot == std::string_view::npos) return std::nullopt;
  const auto whole = [](std::string_view digits, int& number) {
    if (digits.empty() || digits.size() > 6 || !std::all_of(digits.begin(), digits.end(), IsAsciiDigit)) return false;
    return std::from_chars(digits.data(), digits.data() + digits.size(), number).ec == std::errc();
  };
  if (!whole(text.substr(0, dot), capability.major) || !whole(text.substr(dot + 1), capability.minor))
    return std::nullopt;
  return capability;
}

bool NotAfter(const Capability& one, const Capability& other) {
  return std::pair(one.major, one.minor) <= std::pair(other.major, other.minor);
}

bool IsBuilt(const Capability& capability) {
  if (capability.accelerated)
    return IsOneOf(fmt::format("{}.{}", capability.major, capability.minor), kBuiltCapabilities);
  const auto runs = [&](std::string_view target) {
    const std::optional<Capability> on = ParseCapability(target);
    return on && NotAfter(capability, *on) && (capability.ptx || capability.major == on->major);
  };
  return std::any_of(kBuiltCapabilities.begin(), kBuiltCapabilities.end(), runs);
}

bool IsSchemeCharacter(char c) {
  return IsAsciiLower(c) || (c >= 'A' && c <= 'Z') || IsAsciiDigit(c) || c == '+' || c == '-' || c == '.';
}

// As URL parsers see it: without control characters and blanks at the ends, tabs and newlines within.
std::string WithoutOuterBlanks(std::string_view url) {
  const auto outer = [](char c) { return static_cast<unsigned char>(c) <= 0x20; };
  while (!url.empty() && outer(url.front())) url.remove_prefix(1);
  while (!url.empty() && outer(url.back())) url.remove_suffix(1);
  std::string plain;
  std::copy_if(url.begin(), url.end(), std::back_inserter(plain),
               [](char c) { return c != '\t' && c != '\n' && c != '\r'; });
  return plain;
}

// `authority`: user, host and port.
bool IsAuthority(std::string_view authority, bool may_be_empty) {
  const std::size_t at = authority.rfind('@');
  const bool has_user = at != std::string_view::npos;
  std::string_view host = has_user ? authority.substr(at + 1) : authority;
  if (host.starts_with('[')) {
    const std::size_t end = host.find(']');
    return end != std::string_view::npos && end > 2;
  }
  if (const std::size_t colon = host.rfind(':'); colon != std::string_view::npos) {
    const std::string_view port = host.substr(colon + 1);
    if (!port.empty() && !ParseWholeNumber(port, 0, 65535)) return false;
    host = host.substr(0, colon);
    may_be_empty = false;
  }
  if (host.empty()) return may_be_empty && !has_user;
  return std::none_of(host.begin(), host.end(), [](char c) {
    return static_cast<unsigned char>(c) <= 0x20 || c == 0x7F ||
           std::string_view("#/:<>?@[\\]^|%").find(c) != std::string_view::npos;
  });
}

// A URL with this scheme, whose rest comes after the colon.
bool IsUrlRest(std::string_view scheme, std::string_view rest) {
  const bool special = scheme == "http" || scheme == "https";
  if (!special && !rest.starts_with("//")) return true;  // a path without a host
  const std::string_view slashes = special ? "/\\" : "/";
  if (special) {
    rest.remove_prefix(std::min(rest.find_first_not_of(slashes), rest.size()));
  } else {
    rest.remove_prefix(2);
  }
  return IsAuthority(rest.substr(0, rest.find_first_of(special ? "/\\?#" : "/?#")), !special);
}

}  // namespace

bool IsKernelName(std::string_view name) {
  if (name.size() < 2 || !IsAsciiLower(name.front()) || name.back() == '-') return false;
  return std::all_of(name.begin(), name.end(), [](char c) { return IsAsciiLower(c) || IsAsciiDigit(c) || c == '-'; });
}

std::string KernelPackage(std::string_view name) {
  std::string package(name);
  std::replace(package.begin(), package.end(), '-', '_');
  return package;
}

bool IsBuildVersion(std::string_view text) {
  text = Trim(text);
  const std::size_t dot = std::min(text.find('.'), text.size());
  const auto whole = [](std::string_view part) {
    if (part.starts_with('+')) part.remove_prefix(1);
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), number);
    return error == std::errc() && end == part.data() + part.size();
  };
  return dot < text.size() && whole(text.substr(0, dot)) && whole(text.substr(dot + 1));
}

std::string GitUrlProblem(std::string_view url) {
  const std::string plain = WithoutOuterBlanks(url);
  const std::size_t colon = plain.find(':');
  const std::string_view before = std::string_view(plain).substr(0, std::min(colon, plain.size()));
  const std::string_view after = std::string_view(plain).substr(std::min(before.size() + 1, plain.size()));
  const std::string scheme = ToLowerAscii(before);
  const bool has_scheme = colon != std::string::npos && !scheme.empty() && IsAsciiLower(scheme.front()) &&
                          std::all_of(before.begin(), before.end(), IsSchemeCharacter);
  if (has_scheme && IsUrlRest(scheme, after)) {
    if (IsOneOf(scheme, kGitSchemes)) return "";
    return fmt::format("the scheme `{}` isn't one of https, http, git, ssh, git+ssh, git+https and git+http",
                       ExcerptLine(scheme, 40));
  }
  // user@host:path
  if (colon != std::string::npos && colon > 0 && !after.empty() && !after.starts_with('/') &&
      IsAuthority(before, false) && static_cast<unsigned char>(url.front()) > 0x20)
    return "";
  return "it is no URL of a git repository; write https://HOST/PATH or git@HOST:PATH";
}

bool IsCapability(std::string_view text) { return ParseCapability(text).has_value(); }

bool AnyCapabilityIsBuilt(const std::vector<std::string>& capabilities) {
  return std::any_of(capabilities.begin(), capabilities.end(), [](const std::string& text) {
    const std::optional<Capability> capability = ParseCapability(text);
    return capability && IsBuilt(*capability);
  });
}

bool HasCodeFor(const std::vector<std::string>& capabilities, std::string_view wanted) {
  if (capabilities.empty()) return IsOneOf(wanted, kBuiltCapabilities);
  return std::any_of(capabilities.begin(), capabilities.end(), [&](std::string_view one) {
    if (one.ends_with("+PTX")) one.remove_suffix(4);
    if (one == wanted) return true;
    return (one.ends_with('a') || one.ends_with('f')) && one.substr(0, one.size() - 1) == wanted;
  });
}

bool IsSupportedRocmArch(std::string_view arch) { return IsOneOf(arch, kRocmArchs); }

std::vector<std::string_view> PythonDependenciesOf(std::string_view backend) {
  if (backend.empty()) return {"einops", "helion", "tvm-ffi"};
  if (backend == "cuda") return {"nvidia-cutlass-dsl"};
  if (backend == "neuron") return {"nki"};
  if (backend == "xpu") return {"onednn"};
  return {};
}

}  // namespace upskill
