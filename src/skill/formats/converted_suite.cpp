// SPDX-License-Identifier: Apache-2.0
#include "skill/formats/converted_suite.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <cmath>
#include <cstdint>
#include <set>
#include <system_error>

#include "util/files.h"
#include "util/text.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMaxTextBytes = std::uint64_t{1} << 20U;
constexpr std::size_t kMaxFacts = 20;
constexpr std::size_t kMaxFactBytes = 60;

// Where a name leads, links followed.
fs::path RealPath(const fs::path& path) {
  std::error_code code;
  fs::path real = fs::canonical(path, code);
  if (code) real.clear();
  return real;
}

bool IsBelow(const fs::path& path, const fs::path& folder) {
  const fs::path relative = path.lexically_relative(folder);
  return !relative.empty() && *relative.begin() != "..";
}

}  // namespace

Json SkippedCheck(std::string_view name, std::string_view reason) {
  return {{"type", "skipped"}, {"name", std::string(name)}, {"reason", std::string(reason)}};
}

Json ContainsCheck(Json values) { return {{"type", "contains"}, {"values", std::move(values)}}; }

Json JudgeCheck(std::string_view rubric) { return {{"type", "judge"}, {"rubric", std::string(rubric)}}; }

void AddSharedTags(std::vector<ConvertedCase>& cases) {
  std::map<std::string, std::size_t> times;
  for (const ConvertedCase& one : cases) {
    for (const std::string& fact : std::set<std::string>(one.facts.begin(), one.facts.end())) ++times[fact];
  }
  for (ConvertedCase& one : cases) {
    Json tags = Json::array();
    for (const std::string& fact : one.facts) {
      if (times[fact] > 1) tags.push_back(fact);
    }
    if (!tags.empty()) one.json["tags"] = std::move(tags);
  }
}

std::vector<std::string> FactsIn(const Json& metadata) {
  std::vector<std::string> facts;
  if (!metadata.is_object()) return facts;
  for (const auto& [key, value] : metadata.items()) {
    if (facts.size() == kMaxFacts) break;
    for (const Json& one : value.is_array() ? value : Json::array({value})) {
      if (one.is_null() || one.is_structured() || facts.size() == kMaxFacts) continue;
      std::string fact = fmt::format("{}: {}", key, TextOf(one));
      if (fact.size() <= kMaxFactBytes && fact.find('\n') == std::string::npos) facts.push_back(std::move(fact));
    }
  }
  return facts;
}

std::string UniqueIds::Take(const std::string& id) {
  std::string unique = id;
  for (std::size_t& time = times_[id]; time++ > 0;) {
    unique = fmt::format("{} ({})", id, time);
    if (times_.emplace(unique, 1).second) break;
  }
  return unique;
}

Result<std::string> ReadTextBelow(const fs::path& folder, const std::string& name) {
  ASSIGN_OR_RETURN(const fs::path path, ContainedPath(folder, name));
  const fs::path real = RealPath(path);
  if (real.empty()) return Error{ErrorKind::kNotFound, fmt::format("{}: no such file", path.string())};
  const fs::path base = RealPath(folder.empty() ? "." : folder);
  if (base.empty() || !IsBelow(real, base))
    return InputError(fmt::format("{}: a link leads out of the folder {}", path.string(), folder.string()));
  ASSIGN_OR_RETURN(std::string text, ReadFile(real, kMaxTextBytes));
  if (FindInvalidUtf8(text) || text.find('\0') != std::string::npos)
    return InputError(fmt::format("{}: not a text in UTF-8", path.string()));
  return text;
}

Status CheckRe2Syntax(const std::string& pattern) {
  RE2::Options options;
  options.set_log_errors(false);
  const RE2 compiled(pattern, options);
  if (compiled.ok()) return {};
  return InputError(fmt::format("its pattern {} is not in RE2 syntax: {}", ExcerptLine(pattern, 60), compiled.error()));
}

fs::path FindAbove(const fs::path& folder, const std::function<fs::path(const fs::path&)>& find) {
  constexpr int kMaxLevels = 6;
  std::error_code code;
  fs::path above = fs::absolute(folder, code).lexically_normal();
  if (!above.has_filename()) above = above.parent_path();
  for (int level = 0; level < kMaxLevels && !code; ++level) {
    if (fs::path found = find(above); !found.empty()) return found;
    if (fs::exists(above / ".git", code) || above == above.parent_path()) break;
    above = above.parent_path();
  }
  return {};
}

std::optional<std::string> TextOfContent(const Json& content) {
  if (content.is_string()) return content.get<std::string>();
  if (!content.is_array()) return std::nullopt;
  std::string text;
  for (const Json& part : content) {
    if (StringAt(part, "type") != "text") return std::nullopt;
    text += (text.empty() ? "" : "\n") + StringAt(part, "text");
  }
  return text;
}

std::string TextOf(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_float()) {
    const double number = value.get<double>();
    if (std::isfinite(number) && number == std::trunc(number) && std::abs(number) < 1e15)
      return fmt::format("{:.0f}", number);
  }
  return DumpJson(value);
}

}  // namespace upskill
