// SPDX-License-Identifier: Apache-2.0
#include "skill/specification.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <system_error>
#include <utility>

#include "skill/frontmatter.h"
#include "skill/unicode_text.h"
#include "util/byte_order_mark.h"
#include "util/files.h"
#include "util/text.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFence = "---";
constexpr std::size_t kMaxCompatibilityCharacters = 500;
constexpr std::size_t kMaxSpecifiedNameCharacters = 64;
constexpr std::size_t kMaxSpecifiedDescriptionCharacters = 1024;
constexpr std::array<std::string_view, 6> kSpecifiedFields = {"allowed-tools", "compatibility", "description",
                                                              "license",       "metadata",      "name"};

SkillFinding FindingAt(const StrictYaml& value, std::string message) {
  return {std::move(message), value.line, value.column};
}

// Without carriage returns, as a text file is read on any system.
std::string WithPlainLineEnds(std::string_view text) {
  std::string plain;
  plain.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\r') {
      plain += text[i];
    } else if (i + 1 == text.size() || text[i + 1] != '\n') {
      plain += '\n';
    }
  }
  return plain;
}

std::size_t LineOf(std::string_view text, std::size_t offset) {
  return 1 +
         static_cast<std::size_t>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(offset), '\n'));
}

// Whether only blanks are beside the fence at this place.
bool IsAloneOnLine(std::string_view text, std::size_t fence) {
  const std::size_t end = std::min(text.find('\n', fence), text.size());
  const bool first = fence == 0 || text[fence - 1] == '\n';
  return first && Trim(text.substr(fence, end - fence)) == kFence;
}

// The frontmatter's first line begins behind the fence.
void ShiftFirstLine(StrictYaml& value) {
  if (value.line == 1) value.column += kFence.size();
  for (StrictYaml::Key& key : value.keys) {
    if (key.line == 1) key.column += kFence.size();
  }
  for (StrictYaml& item : value.items) {
    if (value.line == 1) ShiftFirstLine(item);
  }
}

void CheckUnknownFields(const StrictYaml& fields, std::vector<SkillFinding>& errors) {
  std::vector<std::string> unknown;
  const StrictYaml::Key* first = nullptr;
  for (const StrictYaml::Key& key : fields.keys) {
    if (std::find(kSpecifiedFields.begin(), kSpecifiedFields.end(), key.text) != kSpecifiedFields.end()) continue;
    unknown.push_back(key.text);
    if (first == nullptr) first = &key;
  }
  if (first == nullptr) return;
  std::sort(unknown.begin(), unknown.end());
  errors.push_back({fmt::format("Unexpected fields in frontmatter: {}. Only ['{}'] are allowed.",
                                fmt::join(unknown, ", "), fmt::join(kSpecifiedFields, "', '")),
                    first->line, first->column});
}

void CheckDescriptionField(const StrictYaml& field, std::vector<SkillFinding>& errors) {
  if (IsBlankField(field)) {
    errors.push_back(FindingAt(field, "Field 'description' must be a non-empty string"));
    return;
  }
  // An escape in quotes, which would reach terminals: the other commands refuse to read it, unlike the reference.
  if (std::any_of(field.text.begin(), field.text.end(),
                  [](char c) { return c == 0x7F || (c >= 0 && c < 0x20 && c != '\n' && c != '\t' && c != '\r'); }))
    errors.push_back(FindingAt(field, "Field 'description' contains a control character"));
  const std::size_t size = CountCodePoints(field.text);
  if (size <= kMaxSpecifiedDescriptionCharacters) return;
  errors.push_back(FindingAt(field, fmt::format("Description exceeds {} character limit ({} chars)",
                                                kMaxSpecifiedDescriptionCharacters, size)));
}

void CheckCompatibilityField(const StrictYaml& field, std::vector<SkillFinding>& errors) {
  if (field.kind != StrictYaml::Kind::kText) {
    errors.push_back(FindingAt(field, "Field 'compatibility' must be a string"));
    return;
  }
  const std::size_t size = CountCodePoints(field.text);
  if (size <= kMaxCompatibilityCharacters) return;
  errors.push_back(FindingAt(
      field, fmt::format("Compatibility exceeds {} character limit ({} chars)", kMaxCompatibilityCharacters, size)));
}

// "." and ".." are called by the names that they have.
std::string NameOfFolder(const std::string& folder) {
  std::string name = fs::path(folder).filename().string();
  if (!name.empty() && name != "." && name != "..") return name;
  std::error_code code;
  const fs::path real = fs::canonical(folder, code);
  return code ? name : real.filename().string();
}

}  // namespace

Result<std::string> ReadSpecifiedFile(const fs::path& file) { return ReadFile(file, kMaxValidatedBytes); }

bool IsBlankField(const StrictYaml& field) {
  return field.kind != StrictYaml::Kind::kText || TrimUnicode(field.text).empty();
}

std::variant<SpecifiedSkill, SkillFinding> ReadSpecifiedSkill(std::string_view text) {
  if (const auto bad = FindInvalidUtf8(text)) {
    const TextPosition position = PositionAt(text, *bad);
    return SkillFinding{"SKILL.md is not UTF-8 text", position.line, position.column};
  }
  const std::string plain = WithPlainLineEnds(text);
  const std::string_view content = plain;
  if (!content.starts_with(kFence)) {
    return SkillFinding{fmt::format("SKILL.md must start with YAML frontmatter (---){}",
                                    content.starts_with(kByteOrderMark) ? ", not with a byte order mark" : ""),
                        1, 1};
  }
  const std::size_t end = content.find(kFence, kFence.size());
  if (end == std::string_view::npos) return SkillFinding{"SKILL.md frontmatter not properly closed with ---", 1, 1};
  auto read = ReadStrictYaml(content.substr(kFence.size(), end - kFence.size()));
  if (auto* const problem = std::get_if<StrictYamlProblem>(&read)) {
    const std::size_t column = problem->column + (problem->line == 1 ? kFence.size() : 0);
    return SkillFinding{fmt::format("{}line {}, column {}: {}", kYamlProblem, problem->line, column, problem->message),
                        problem->line, column};
  }
  SpecifiedSkill skill;
  skill.fields = std::get<StrictYaml>(std::move(read));
  if (skill.fields.kind != StrictYaml::Kind::kMap)
    return SkillFinding{"SKILL.md frontmatter must be a YAML mapping", 1, 1};
  ShiftFirstLine(skill.fields);
  const std::string_view body = TrimUnicode(content.substr(end + kFence.size()));
  skill.body = body;
  skill.body_line = LineOf(content, static_cast<std::size_t>(body.data() - content.data()));
  if (!IsAloneOnLine(content, end)) skill.shared_fence_line = LineOf(content, end);
  if (!IsAloneOnLine(content, 0)) skill.shared_fence_line = 1;
  return skill;
}

std::vector<SkillFinding> FindNameErrors(const StrictYaml& field, const std::string& folder_name) {
  std::vector<SkillFinding> errors;
  const auto report = [&](std::string message) { errors.push_back(FindingAt(field, std::move(message))); };
  if (IsBlankField(field)) {
    report("Field 'name' must be a non-empty string");
    return errors;
  }
  const std::string name = NormalizeNfkc(TrimUnicode(field.text));
  const std::u32string characters = DecodeUtf8(name);
  if (characters.size() > kMaxSpecifiedNameCharacters) {
    report(fmt::format("Skill name '{}' exceeds {} character limit ({} chars)", name, kMaxSpecifiedNameCharacters,
                       characters.size()));
  }
  if (!std::all_of(characters.begin(), characters.end(), IsLowercase))
    report(fmt::format("Skill name '{}' must be lowercase", name));
  if (name.starts_with('-') || name.ends_with('-')) report("Skill name cannot start or end with a hyphen");
  if (name.find("--") != std::string::npos) report("Skill name cannot contain consecutive hyphens");
  if (!std::all_of(characters.begin(), characters.end(), [](char32_t c) { return c == U'-' || IsAlphanumeric(c); })) {
    report(fmt::format("Skill name '{}' contains invalid characters. Only letters, digits, and hyphens are allowed.",
                       name));
  }
  const bool readable = !FindInvalidUtf8(folder_name);
  if (!readable || NormalizeNfkc(folder_name) != name) {
    report(fmt::format("Directory name '{}' must match skill name '{}'", ReplaceInvalidUtf8(folder_name), name));
  }
  return errors;
}

std::vector<SkillFinding> FindFieldErrors(const SpecifiedSkill& skill, const std::string& folder_name) {
  std::vector<SkillFinding> errors;
  CheckUnknownFields(skill.fields, errors);
  if (const StrictYaml* const name = skill.fields.Find("name")) {
    std::vector<SkillFinding> of_name = FindNameErrors(*name, folder_name);
    errors.insert(errors.end(), std::make_move_iterator(of_name.begin()), std::make_move_iterator(of_name.end()));
  } else {
    errors.push_back({"Missing required field in frontmatter: name", 1, 1});
  }
  if (const StrictYaml* const description = skill.fields.Find("description")) {
    CheckDescriptionField(*description, errors);
  } else {
    errors.push_back({"Missing required field in frontmatter: description", 1, 1});
  }
  if (const StrictYaml* const compatibility = skill.fields.Find("compatibility"))
    CheckCompatibilityField(*compatibility, errors);
  return errors;
}

std::optional<fs::path> SpecifiedFile(const fs::path& folder) {
  std::error_code code;
  for (const char* name : {"SKILL.md", "skill.md"}) {
    if (fs::exists(folder / name, code)) return folder / name;
  }
  return std::nullopt;
}

std::string PlainPath(const std::string& path) {
  std::string plain;
  const bool two_slashes = path.starts_with("//") && !path.starts_with("///");
  if (path.starts_with('/')) plain = two_slashes ? "//" : "/";
  for (std::size_t begin = 0; begin < path.size();) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    const std::string part = path.substr(begin, end - begin);
    begin = end + 1;
    if (part.empty() || part == ".") continue;
    if (!plain.empty() && !plain.ends_with('/')) plain += '/';
    plain += part;
  }
  return plain.empty() ? "." : plain;
}

std::string SkillFolderOf(const std::string& path) {
  std::string plain = PlainPath(path);
  std::error_code code;
  const bool is_file = fs::is_regular_file(plain, code);
  if (is_file && ToLowerAscii(fs::path(plain).filename().string()) == "skill.md")
    plain = PlainPath(FolderOf(plain).string());
  return plain;
}

SkillValidation ValidateSkill(const std::string& path) {
  SkillValidation result;
  result.folder = SkillFolderOf(path);
  const auto fail = [&](SkillFinding finding) {
    result.errors.push_back(std::move(finding));
    return result;
  };
  std::error_code code;
  const fs::file_status status = fs::status(result.folder, code);
  if (!fs::exists(status)) return fail({fmt::format("Path does not exist: {}", result.folder)});
  if (!fs::is_directory(status)) return fail({fmt::format("Not a directory: {}", result.folder)});
  const std::optional<fs::path> file = SpecifiedFile(result.folder);
  if (!file) return fail({std::string(kNoSkillFile)});
  result.file = PlainPath(file->string());
  const Result<std::string> text = ReadSpecifiedFile(*file);
  if (!text) return fail({text.error().message});
  auto read = ReadSpecifiedSkill(*text);
  if (auto* const problem = std::get_if<SkillFinding>(&read)) return fail(*problem);
  result.skill = std::get<SpecifiedSkill>(std::move(read));
  result.errors = FindFieldErrors(*result.skill, NameOfFolder(result.folder));
  return result;
}

}  // namespace upskill
