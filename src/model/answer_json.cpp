// SPDX-License-Identifier: Apache-2.0
#include "model/answer_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "util/fences.h"
#include "util/json_schema.h"
#include "util/text.h"

namespace upskill {
namespace {

// Contents of the fenced blocks, those marked json first.
std::vector<std::string> FencedContents(std::string_view text) {
  constexpr std::size_t kMaxBlocks = 50;
  std::vector<FencedBlock> blocks = FindFencedBlocks(text);
  if (blocks.size() > kMaxBlocks) blocks.resize(kMaxBlocks);
  std::stable_partition(blocks.begin(), blocks.end(),
                        [](const FencedBlock& block) { return ToLowerAscii(block.info) == "json"; });
  std::vector<std::string> contents;
  contents.reserve(blocks.size());
  for (FencedBlock& block : blocks) contents.push_back(std::move(block.content));
  return contents;
}

std::optional<std::string_view> Between(std::string_view text, char open, char close) {
  const std::size_t first = text.find(open);
  const std::size_t last = text.rfind(close);
  if (first == std::string_view::npos || last == std::string_view::npos || last <= first) return std::nullopt;
  return text.substr(first, last - first + 1);
}

constexpr std::string_view kInstruction =
    "Answer with one JSON value and nothing else. It must fit this JSON schema:\n";

std::string SchemaInstruction(const Json& schema) { return fmt::format("{}{}", kInstruction, DumpJson(schema)); }

// ParseJson's message ("answer:1:7: reason") as a clause about the answer.
Error NotJson(const std::string& message) {
  const std::size_t line = message.find(':');
  const std::size_t column = line == std::string::npos ? line : message.find(':', line + 1);
  const std::size_t end = column == std::string::npos ? column : message.find(": ", column + 1);
  if (end == std::string::npos || message[line + 1] == ' ') return InputError("it isn't valid JSON: " + message);
  return InputError(fmt::format("it isn't valid JSON (line {}, column {}){}",
                                message.substr(line + 1, column - line - 1),
                                message.substr(column + 1, end - column - 1), message.substr(end)));
}

void LeaveOutUnknownKeys(const Json& schema, Json& value, std::set<std::string>& left_out) {
  constexpr std::size_t kMostNamed = 10;
  const Json& items = Member(schema, "items");
  if (value.is_array() && items.is_object()) {
    for (Json& item : value) LeaveOutUnknownKeys(items, item, left_out);
  }
  const Json& properties = Member(schema, "properties");
  if (!value.is_object() || !properties.is_object() || Member(schema, "additionalProperties") != false) return;
  Json kept = Json::object();
  for (const auto& [key, member] : value.items()) {
    const auto property = properties.find(key);
    if (property != properties.end()) {
      LeaveOutUnknownKeys(*property, member, left_out);
      kept[key] = std::move(member);
    } else if (left_out.size() < kMostNamed) {
      left_out.insert(key);
    }
  }
  value = std::move(kept);
}

}  // namespace

Result<FittingAnswer> AnswerJson(std::string_view text, const Json& schema) {
  constexpr std::string_view kThought = "</think>";
  if (const std::size_t thought = text.rfind(kThought); thought != std::string_view::npos)
    text.remove_prefix(thought + kThought.size());
  const std::vector<std::string> blocks = FencedContents(text);
  std::vector<std::string_view> candidates = {Trim(text)};
  for (const std::string& block : blocks) candidates.push_back(Trim(block));
  if (const auto object = Between(text, '{', '}')) candidates.push_back(*object);
  if (const auto list = Between(text, '[', ']')) candidates.push_back(*list);
  std::optional<Error> parse_error;
  std::optional<Error> schema_error;
  bool about_structure = false;  // the error is about an object or a list: the first one is the largest
  for (const std::string_view candidate : candidates) {
    Result<Json> json = ParseJson(candidate, "answer");
    if (!json) {
      if (!parse_error || candidate.starts_with('{')) parse_error = json.error();
      continue;
    }
    FittingAnswer answer{*std::move(json), {}};
    LeaveOutUnknownKeys(schema, answer.json, answer.left_out);
    const Status status = CheckJsonSchema(schema, answer.json);
    if (status) return answer;
    if (schema_error && (about_structure || !answer.json.is_structured())) continue;
    schema_error = status.error();
    about_structure = answer.json.is_structured();
  }
  if (schema_error) return *std::move(schema_error);
  return NotJson(parse_error->message);
}

void AddSchemaInstruction(ChatRequest& request) {
  if (!request.answer_schema || request.messages.empty()) return;
  std::string& text = request.messages.back().text;
  const std::string instruction = SchemaInstruction(*request.answer_schema);
  if (!text.ends_with(instruction)) text += (text.empty() ? "" : "\n\n") + instruction;
}

std::optional<Json> SchemaAskedFor(std::string_view request) {
  const std::size_t at = request.rfind(kInstruction);
  if (at == std::string_view::npos) return std::nullopt;
  Result<Json> schema = ParseJson(Trim(request.substr(at + kInstruction.size())), "schema");
  return schema ? std::optional(*std::move(schema)) : std::nullopt;
}

std::string RepairRequest(const std::string& problem, const Json& schema) {
  return fmt::format("Your answer can't be used: {}\n\n{}", problem, SchemaInstruction(schema));
}

}  // namespace upskill
