// SPDX-License-Identifier: Apache-2.0
#include "skill/skill_properties.h"

#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "skill/unicode_text.h"
#include "util/json_builder.h"
#include "util/text.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

Json PropertyJson(const StrictYaml& value) {
  if (value.kind == StrictYaml::Kind::kText) return value.text;
  if (value.kind == StrictYaml::Kind::kMap) {
    JsonObjectBuilder map;
    for (std::size_t i = 0; i < value.items.size(); ++i) map.Add(value.keys[i].text) = PropertyJson(value.items[i]);
    return map.Take();
  }
  JsonListBuilder list;
  for (const StrictYaml& item : value.items) list.Add() = PropertyJson(item);
  return list.Take();
}

// As Python prints strings, lists and dictionaries within others.
std::string PythonText(const StrictYaml& value) {
  if (value.kind == StrictYaml::Kind::kText) return PythonLiteral(DecodeUtf8(value.text));
  const bool is_map = value.kind == StrictYaml::Kind::kMap;
  std::vector<std::string> items;
  items.reserve(value.items.size());
  for (std::size_t i = 0; i < value.items.size(); ++i) {
    std::string item = PythonText(value.items[i]);
    items.push_back(is_map ? fmt::format("{}: {}", PythonLiteral(DecodeUtf8(value.keys[i].text)), item)
                           : std::move(item));
  }
  return is_map ? fmt::format("{{{}}}", fmt::join(items, ", ")) : fmt::format("[{}]", fmt::join(items, ", "));
}

Json MetadataJson(const StrictYaml& metadata) {
  if (metadata.kind != StrictYaml::Kind::kMap) return PropertyJson(metadata);
  JsonObjectBuilder map;
  for (std::size_t i = 0; i < metadata.items.size(); ++i) {
    const StrictYaml& value = metadata.items[i];
    map.Add(metadata.keys[i].text) = value.kind == StrictYaml::Kind::kText ? value.text : PythonText(value);
  }
  return map.Take();
}

// Name and description, which must be there, and all other properties.
std::variant<Json, SkillFinding> PropertiesOf(const StrictYaml& fields) {
  for (const char* name : {"name", "description"}) {
    if (fields.Find(name) == nullptr)
      return SkillFinding{fmt::format("Missing required field in frontmatter: {}", name), 1, 1};
  }
  Json properties = Json::object();
  for (const char* name : {"name", "description"}) {
    const StrictYaml& field = *fields.Find(name);
    if (IsBlankField(field))
      return SkillFinding{fmt::format("Field '{}' must be a non-empty string", name), field.line, field.column};
    properties[name] = TrimUnicode(field.text);
  }
  for (const char* name : {"license", "compatibility", "allowed-tools"}) {
    if (const StrictYaml* const field = fields.Find(name)) properties[name] = PropertyJson(*field);
  }
  const StrictYaml* const metadata = fields.Find("metadata");
  if (metadata != nullptr && (!metadata->text.empty() || !metadata->items.empty()))
    properties["metadata"] = MetadataJson(*metadata);
  return properties;
}

std::string EscapedForXml(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&#x27;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

}  // namespace

std::variant<Json, SkillFinding> ReadSkillProperties(const std::string& path) {
  const std::string folder = SkillFolderOf(path);
  const std::optional<fs::path> file = SpecifiedFile(folder);
  if (!file) return SkillFinding{fmt::format("SKILL.md not found in {}", folder)};
  const Result<std::string> text = ReadSpecifiedFile(*file);
  if (!text) return SkillFinding{text.error().message};
  const auto read = ReadSpecifiedSkill(*text);
  if (const auto* const problem = std::get_if<SkillFinding>(&read)) return *problem;
  return PropertiesOf(std::get<SpecifiedSkill>(read).fields);
}

std::variant<std::string, SkillFinding> SkillPromptEntry(const std::string& path) {
  std::error_code code;
  fs::path folder = fs::canonical(SkillFolderOf(path), code);
  if (code) folder = SkillFolderOf(path);
  const auto properties = ReadSkillProperties(folder.string());
  if (const auto* const problem = std::get_if<SkillFinding>(&properties)) return *problem;
  const Json& fields = std::get<Json>(properties);
  const fs::path file = SpecifiedFile(folder).value_or(folder);
  return fmt::format(
      "<skill>\n<name>\n{}\n</name>\n<description>\n{}\n</description>\n<location>\n{}\n</location>\n</skill>\n",
      EscapedForXml(StringAt(fields, "name")), EscapedForXml(StringAt(fields, "description")),
      SafeForTerminalLine(file.string()));
}

}  // namespace upskill
