// SPDX-License-Identifier: Apache-2.0
#include "model/answer_json.h"

#include <fmt/format.h>

#include <optional>
#include <vector>

#include "util/json_schema.h"
#include "util/text.h"

namespace upskill {
namespace {

// Bodies of ``` blocks, those marked json first.
std::vector<std::string_view> FencedBlocks(std::string_view text) {
  constexpr std::size_t kMaxBlocks = 50;
  std::vector<std::string_view> marked;
  std::vector<std::string_view> others;
  std::size_t at = 0;
  while (marked.size() + others.size() < kMaxBlocks) {
    const std::size_t open = text.find("```", at);
    if (open == std::string_view::npos) break;
    const std::size_t line_end = text.find('\n', open);
    if (line_end == std::string_view::npos) break;
    const std::size_t close = text.find("```", line_end);
    const std::string_view language = Trim(text.substr(open + 3, line_end - open - 3));
    const std::size_t length = close == std::string_view::npos ? close : close - line_end - 1;
    (ToLowerAscii(language) == "json" ? marked : others).push_back(text.substr(line_end + 1, length));
    if (close == std::string_view::npos) break;
    at = close + 3;
  }
  marked.insert(marked.end(), others.begin(), others.end());
  return marked;
}

std::optional<std::string_view> Between(std::string_view text, char open, char close) {
  const std::size_t first = text.find(open);
  const std::size_t last = text.rfind(close);
  if (first == std::string_view::npos || last == std::string_view::npos || last <= first) return std::nullopt;
  return text.substr(first, last - first + 1);
}

}  // namespace

Result<Json> AnswerJson(std::string_view text, const Json& schema) {
  constexpr std::string_view kThought = "</think>";
  if (const std::size_t thought = text.rfind(kThought); thought != std::string_view::npos)
    text.remove_prefix(thought + kThought.size());
  std::vector<std::string_view> candidates = {Trim(text)};
  for (const std::string_view block : FencedBlocks(text)) candidates.push_back(Trim(block));
  if (const auto object = Between(text, '{', '}')) candidates.push_back(*object);
  if (const auto list = Between(text, '[', ']')) candidates.push_back(*list);
  std::optional<Error> parse_error;
  std::optional<Error> schema_error;
  for (const std::string_view candidate : candidates) {
    Result<Json> json = ParseJson(candidate, "the answer");
    if (!json) {
      if (!parse_error || candidate.starts_with('{')) parse_error = json.error();
      continue;
    }
    const Status status = CheckJsonSchema(schema, *json);
    if (status) return json;
    if (!schema_error || json->is_structured()) schema_error = status.error();
  }
  if (schema_error) return *std::move(schema_error);
  return *std::move(parse_error);
}

std::string SchemaInstruction(const Json& schema) {
  return fmt::format("Answer with one JSON value and nothing else. It must fit this JSON schema:\n{}",
                     DumpJson(schema));
}

std::string RepairRequest(const std::string& problem, const Json& schema) {
  return fmt::format(
      "Your answer can't be used: {}\nAnswer again, with one JSON value and nothing else. It must fit this JSON "
      "schema:\n{}",
      problem, DumpJson(schema));
}

}  // namespace upskill
