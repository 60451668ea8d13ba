// SPDX-License-Identifier: Apache-2.0
#include "teach/material.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <variant>

#include "trace/digest/digest.h"
#include "util/text.h"

namespace upskill {
namespace {

constexpr std::size_t kMaxDocumentBytes = 400'000;

// Pieces of at most about `most` bytes, cut at lines.
std::vector<std::string> Pieces(const std::string& text, std::size_t most) {
  std::vector<std::string> pieces;
  std::string piece;
  for (const std::string_view line : SplitLines(text)) {
    if (!piece.empty() && piece.size() + line.size() > most) pieces.push_back(std::exchange(piece, {}));
    piece += std::string(line) + "\n";
  }
  if (!Trim(piece).empty()) pieces.push_back(std::move(piece));
  return pieces;
}

std::string NextId(const Material& material) { return fmt::format("d{}", material.items.size() + 1); }

void AddRequests(const Trace& trace, Material& material) {
  for (std::size_t i = 0; i < trace.events.size(); ++i) {
    const Event& event = trace.events[i];
    if (event.kind == EventKind::kUser && event.agent.empty() && !event.abandoned) {
      material.requests.push_back({event.text, "", EventPlace(trace, i)});
    } else if (event.kind == EventKind::kAssistant && event.agent.empty() && !event.abandoned &&
               !material.requests.empty() && !Trim(event.text).empty()) {
      std::string& answer = material.requests.back().answer;
      answer += (answer.empty() ? "" : "\n\n") + event.text;
    }
  }
}

std::array<std::pair<const char*, const std::string*>, 5> FieldsOf(const MaterialItem& item) {
  return {{{"failed", &item.failed},
           {"error", &item.error},
           {"change", &item.change},
           {"works", &item.works},
           {"purpose", &item.purpose}}};
}

Json PairsToJson(const std::vector<std::pair<std::string, std::string>>& pairs) {
  Json list = Json::array();
  for (const auto& [name, text] : pairs) list.push_back({name, text});
  return list;
}

}  // namespace

std::string AddTraces(const std::vector<Trace>& traces, std::size_t budget_tokens, Material& material) {
  DigestOptions options;
  options.budget_tokens = budget_tokens;
  const Digest digest = MakeDigest(traces, options);
  for (const DigestItem& item : digest.items) {
    MaterialItem made{NextId(material),
                      DigestKindTitle(item.kind),
                      item.in_full ? item.full : item.brief,
                      item.places,
                      "",
                      "",
                      "",
                      "",
                      ""};
    if (const auto* fix = std::get_if<FixDetail>(&item.detail)) {
      made.failed = fix->failed;
      made.error = fix->error;
      made.change = fix->change;
      made.works = fix->works;
    } else if (const auto* command = std::get_if<CommandDetail>(&item.detail)) {
      made.works = command->command;
      made.purpose = command->purpose;
    } else if (const auto* file = std::get_if<FileDetail>(&item.detail)) {
      made.works = file->content;
    }
    material.items.push_back(std::move(made));
  }
  for (const Trace& trace : traces) AddRequests(trace, material);
  return KeptLine(digest);
}

void AddDocument(const std::string& name, const std::string& text, Material& material) {
  constexpr std::size_t kPieceBytes = 6000;
  for (std::string& piece : Pieces(text.substr(0, kMaxDocumentBytes), kPieceBytes)) {
    material.items.push_back({NextId(material), "Document", std::move(piece), {name}, "", "", "", "", ""});
  }
}

Status AddTool(const Json& schema, const std::string& source, Material& material) {
  const std::string name = JsonGet<std::string>(schema, "name", "");
  if (name.empty()) return InputError(source + ": a tool without a name");
  Json input = Json::object();
  for (const char* key : {"inputSchema", "input_schema", "parameters"}) {
    if (schema.contains(key)) input = schema.at(key);
  }
  material.items.push_back(
      {NextId(material),
       "Tool",
       fmt::format("{}: {}\narguments: {}", name, JsonGet<std::string>(schema, "description", ""), DumpJson(input)),
       {source},
       "",
       "",
       "",
       "",
       ""});
  return {};
}

Example ParseExample(const std::string& text) {
  for (const std::string_view arrow : {" -> ", " => ", " → "}) {
    const std::size_t at = text.find(arrow);
    if (at == std::string::npos) continue;
    return {std::string(Trim(std::string_view(text).substr(0, at))),
            std::string(Trim(std::string_view(text).substr(at + arrow.size())))};
  }
  return {std::string(Trim(text)), ""};
}

std::string TaskText(const Material& material) {
  std::string text = material.task.empty() ? "" : fmt::format("Task:\n{}\n\n", material.task);
  if (!material.examples.empty()) text += "Examples:\n";
  for (const Example& example : material.examples) {
    text += fmt::format("- input: {}\n", example.input);
    if (!example.output.empty()) text += fmt::format("  output: {}\n", example.output);
  }
  return text;
}

std::string ItemsText(const Material& material, std::size_t first, std::size_t last) {
  std::string text;
  for (std::size_t i = first; i < std::min(last, material.items.size()); ++i) {
    const MaterialItem& item = material.items[i];
    text += fmt::format("[{}] {}\n{}\n\n", item.id, item.kind, Trim(item.text));
  }
  return text;
}

Json MaterialToJson(const Material& material) {
  Json json = {
      {"task", material.task}, {"items", Json::array()}, {"requests", Json::array()}, {"examples", Json::array()}};
  for (const MaterialItem& item : material.items) {
    json["items"].push_back({{"id", item.id}, {"kind", item.kind}, {"text", item.text}, {"places", item.places}});
    Json& last = json["items"].back();
    for (const auto& [key, text] : FieldsOf(item)) {
      if (!text->empty()) last[key] = *text;
    }
  }
  for (const UserRequest& request : material.requests) {
    json["requests"].push_back({{"text", request.text}, {"answer", request.answer}, {"place", request.place}});
  }
  for (const Example& example : material.examples)
    json["examples"].push_back({{"input", example.input}, {"output", example.output}});
  if (material.has_existing()) {
    json["existing"] = {{"name", material.existing.name},
                        {"description", material.existing.description},
                        {"body", material.existing.body},
                        {"references", PairsToJson(material.existing.references)},
                        {"scripts", PairsToJson(material.existing.scripts)},
                        {"other_fields", material.existing.other_fields}};
  }
  return json;
}

Result<Material> MaterialFromJson(const Json& json, const std::string& source) {
  try {
    Material material;
    material.task = json.at("task").get<std::string>();
    for (const Json& item : json.at("items")) {
      MaterialItem read{item.at("id"), item.at("kind"), item.at("text"), item.at("places"), "", "", "", "", ""};
      read.failed = JsonGet<std::string>(item, "failed", "");
      read.error = JsonGet<std::string>(item, "error", "");
      read.change = JsonGet<std::string>(item, "change", "");
      read.works = JsonGet<std::string>(item, "works", "");
      read.purpose = JsonGet<std::string>(item, "purpose", "");
      material.items.push_back(std::move(read));
    }
    for (const Json& request : json.at("requests"))
      material.requests.push_back({request.at("text"), request.at("answer"), request.at("place")});
    for (const Json& example : json.at("examples"))
      material.examples.push_back({example.at("input"), example.at("output")});
    if (json.contains("existing")) {
      const Json& existing = json.at("existing");
      material.existing.name = existing.at("name");
      material.existing.description = existing.at("description");
      material.existing.body = existing.at("body");
      material.existing.other_fields = JsonGet<std::string>(existing, "other_fields", "");
      for (const Json& pair : existing.at("references"))
        material.existing.references.emplace_back(pair.at(0), pair.at(1));
      for (const Json& pair : existing.at("scripts")) material.existing.scripts.emplace_back(pair.at(0), pair.at(1));
    }
    return material;
  } catch (const Json::exception& error) {
    return InputError(fmt::format("{}: not the material of a generation: {}", source, error.what()));
  }
}

}  // namespace upskill
