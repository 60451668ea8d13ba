// SPDX-License-Identifier: Apache-2.0
#include "kernel/toml_tree.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <optional>
#include <utility>

#include "util/toml_guard.h"

namespace upskill {
namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 20U;

TextPosition PlaceOf(const toml::source_region& region) { return {region.begin.line, region.begin.column}; }

TomlNode NodeFrom(const toml::node& from);

void AddMembers(const toml::table& table, TomlNode& node) {
  node.below.reserve(table.size());
  for (const auto& [key, value] : table) {
    TomlNode member = NodeFrom(value);
    member.key = std::string(key.str());
    member.key_at = PlaceOf(key.source());
    node.below.push_back(std::move(member));
  }
}

TomlNode NodeFrom(const toml::node& from) {
  TomlNode node;
  node.at = PlaceOf(from.source());
  if (const toml::table* table = from.as_table()) {
    AddMembers(*table, node);
  } else if (const toml::array* array = from.as_array()) {
    node.kind = TomlNode::Kind::kArray;
    node.below.reserve(array->size());
    for (const toml::node& item : *array) node.below.push_back(NodeFrom(item));
  } else if (const auto* text = from.as_string()) {
    node.kind = TomlNode::Kind::kString;
    node.text = text->get();
  } else if (const auto* number = from.as_integer()) {
    node.kind = TomlNode::Kind::kInteger;
    node.number = number->get();
  } else if (from.is_floating_point()) {
    node.kind = TomlNode::Kind::kFloat;
  } else if (from.is_boolean()) {
    node.kind = TomlNode::Kind::kBoolean;
  } else {
    node.kind = TomlNode::Kind::kTime;
  }
  return node;
}

KernelProblem WholeFile(const std::string& file, std::string message) {
  return {file, {.line = 0, .column = 0}, std::move(message)};
}

}  // namespace

const TomlNode* TomlNode::Find(std::string_view name) const {
  if (kind != Kind::kTable) return nullptr;
  const auto found = std::lower_bound(below.begin(), below.end(), name,
                                      [](const TomlNode& node, std::string_view wanted) { return node.key < wanted; });
  return found != below.end() && found->key == name ? &*found : nullptr;
}

std::string_view TomlKindName(TomlNode::Kind kind) {
  switch (kind) {
    case TomlNode::Kind::kTable:
      return "a table";
    case TomlNode::Kind::kArray:
      return "a list";
    case TomlNode::Kind::kString:
      return "a string";
    case TomlNode::Kind::kInteger:
      return "an integer";
    case TomlNode::Kind::kFloat:
      return "a floating-point number";
    case TomlNode::Kind::kBoolean:
      return "true or false";
    case TomlNode::Kind::kTime:
      return "a date or time";
  }
  return "";
}

std::variant<TomlNode, KernelProblem> ParseTomlTree(std::string_view text, const std::string& file) {
  if (text.size() > kMostBytes) return WholeFile(file, "larger than 1 MiB");
  if (const std::optional<std::size_t> deep = FindDeepTomlKey(text))
    return KernelProblem{file, PositionAt(text, *deep), "a key has too many dotted parts"};
  try {
    const toml::table document = toml::parse(text);
    return NodeFrom(document);
  } catch (const toml::parse_error& error) {
    return KernelProblem{file, PlaceOf(error.source()), "not valid TOML: " + ExcerptLine(error.description(), 160)};
  } catch (const std::exception& error) {
    return WholeFile(file, ExcerptLine(error.what(), 120));
  }
}

}  // namespace upskill
