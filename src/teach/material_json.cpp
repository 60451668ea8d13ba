// SPDX-License-Identifier: Apache-2.0
#include "teach/material_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "util/stored_json.h"

namespace upskill {
namespace {

struct KindName {
  MaterialKind kind;
  const char* name;     // persisted
  const char* earlier;  // in the earlier form
};
constexpr std::array<KindName, 10> kKindNames = {{
    {MaterialKind::kEpisode, "request", "Requests and how they ended"},
    {MaterialKind::kCorrection, "correction", "Corrections by the person"},
    {MaterialKind::kFix, "fix", "Errors and what fixed them"},
    {MaterialKind::kCommand, "command", "Commands that worked"},
    {MaterialKind::kFile, "file", "Files written"},
    {MaterialKind::kFact, "fact", "Facts looked up"},
    {MaterialKind::kFinding, "finding", "Findings"},
    {MaterialKind::kDeadEnd, "dead end", "Dead ends"},
    {MaterialKind::kDocument, "document", "Document"},
    {MaterialKind::kTool, "tool", "Tool"},
}};

const char* NameOf(MaterialKind kind) {
  return std::find_if(kKindNames.begin(), kKindNames.end(), [&](const KindName& row) { return row.kind == kind; })
      ->name;
}

MaterialKind KindFromName(const std::string& name) {
  const auto* const found = std::find_if(kKindNames.begin(), kKindNames.end(),
                                         [&](const KindName& row) { return name == row.name || name == row.earlier; });
  return found == kKindNames.end() ? MaterialKind::kDocument : found->kind;
}

// Persisted.
constexpr std::array<std::pair<FileEdit::Kind, const char*>, 4> kEditNames = {{{FileEdit::Kind::kWrite, "write"},
                                                                               {FileEdit::Kind::kReplace, "replace"},
                                                                               {FileEdit::Kind::kPatch, "patch"},
                                                                               {FileEdit::Kind::kDelete, "delete"}}};

Json EditToJson(const FileEdit& edit) {
  Json json = Json::object();
  for (const auto& [kind, name] : kEditNames) {
    if (kind == edit.kind) json["edit"] = name;
  }
  json["path"] = edit.path;
  if (!edit.before.empty()) json["before"] = edit.before;
  if (!edit.after.empty()) json["after"] = edit.after;
  return json;
}

FileEdit EditFromJson(const StoredJson& json) {
  FileEdit edit;
  const std::string kind = json.at("edit").text();
  for (const auto& [known, name] : kEditNames) {
    if (kind == name) edit.kind = known;
  }
  edit.path = json.at("path").text();
  edit.before = StringAt(json.json(), "before");
  edit.after = StringAt(json.json(), "after");
  return edit;
}

Json StepToJson(const FixStep& step) {
  switch (step.kind) {
    case FixStep::Kind::kEdit:
      break;
    case FixStep::Kind::kCommand:
      return {{"command", step.text}};
    case FixStep::Kind::kUserMessage:
      return {{"user", step.text}};
  }
  return EditToJson(step.edit);
}

FixStep StepFromJson(const StoredJson& json) {
  if (json.has("command")) return {FixStep::Kind::kCommand, {}, json.at("command").text()};
  if (json.has("user")) return {FixStep::Kind::kUserMessage, {}, json.at("user").text()};
  return {FixStep::Kind::kEdit, EditFromJson(json), ""};
}

// The detail as an object under the name of its type.
class DetailWriter {
 public:
  explicit DetailWriter(Json& item) : item_(item) {}

  void operator()(const std::monostate& /*none*/) const {}
  void operator()(const FixDetail& fix) const {
    Json steps = Json::array();
    for (const FixStep& step : fix.steps) steps.push_back(StepToJson(step));
    item_["fix"] = {
        {"is_command", fix.is_command},       {"failed", fix.failed}, {"error", fix.error}, {"steps", std::move(steps)},
        {"earlier_steps", fix.earlier_steps}, {"reason", fix.reason}, {"works", fix.works}, {"call", fix.call}};
  }
  void operator()(const FileDetail& file) const {
    Json edits = Json::array();
    for (const FileEdit& edit : file.edits) edits.push_back(EditToJson(edit));
    item_["file"] = {{"path", file.path},         {"whole", file.whole},       {"content", file.content},
                     {"first", file.first},       {"edits", std::move(edits)}, {"deleted", file.deleted},
                     {"versions", file.versions}, {"replaced", file.replaced}};
  }

 private:
  Json& item_;
};

FixDetail FixFromJson(const StoredJson& json) {
  FixDetail fix{json.at("is_command").flag(),
                json.at("failed").text(),
                json.at("error").text(),
                {},
                json.at("earlier_steps").number<std::size_t>(),
                json.at("reason").text(),
                json.at("works").text(),
                json.at("call").text()};
  for (const StoredJson& step : json.at("steps").elements()) fix.steps.push_back(StepFromJson(step));
  return fix;
}

FileDetail FileFromJson(const StoredJson& json) {
  FileDetail file{json.at("path").text(),
                  json.at("whole").flag(),
                  json.at("content").text(),
                  json.at("first").text(),
                  {},
                  json.at("deleted").flag(),
                  json.at("versions").number<std::size_t>(),
                  StringAt(json.json(), "replaced")};
  for (const StoredJson& edit : json.at("edits").elements()) file.edits.push_back(EditFromJson(edit));
  return file;
}

// In the earlier form the details of all kinds were texts of the item itself.
MaterialDetail EarlierDetail(MaterialKind kind, const Json& item) {
  const auto text = [&](const char* key) { return JsonGet<std::string>(item, key, ""); };
  if (kind == MaterialKind::kFix) return FixDetail{true, text("failed"), text("error"), {}, 0, "", text("works"), ""};
  if (kind == MaterialKind::kFile) return FileDetail{"", true, text("works"), "", {}, false, 1, ""};
  return {};
}

MaterialItem ItemFromJson(const StoredJson& json) {
  const std::string kind = json.at("kind").text();
  MaterialItem item{
      json.at("id").text(),          KindFromName(kind), json.at("text").text(), json.at("places").texts(), {},
      StringAt(json.json(), "known")};
  if (json.has("fix")) {
    item.detail = FixFromJson(json.at("fix"));
  } else if (json.has("file")) {
    item.detail = FileFromJson(json.at("file"));
  } else if (kind != NameOf(item.kind)) {
    item.detail = EarlierDetail(item.kind, json.json());
  }
  return item;
}

using NamedTexts = std::vector<std::pair<std::string, std::string>>;

Json PairsToJson(const NamedTexts& pairs) {
  Json list = Json::array();
  for (const auto& [name, text] : pairs) list.push_back({name, text});
  return list;
}

NamedTexts PairsFromJson(const StoredJson& list) {
  NamedTexts pairs;
  for (const StoredJson& pair : list.elements()) pairs.emplace_back(pair.element(0).text(), pair.element(1).text());
  return pairs;
}

Material ReadMaterial(const StoredJson& json) {
  Material material;
  material.task = json.at("task").text();
  for (const StoredJson& item : json.at("items").elements()) material.items.push_back(ItemFromJson(item));
  for (const StoredJson& request : json.at("requests").elements())
    material.requests.push_back(request.at("text").text());
  for (const StoredJson& example : json.at("examples").elements())
    material.examples.push_back({example.at("input").text(), example.at("output").text()});
  if (!json.has("existing")) return material;
  const StoredJson existing = json.at("existing");
  material.existing = {existing.at("name").text(),
                       existing.at("description").text(),
                       existing.at("body").text(),
                       PairsFromJson(existing.at("references")),
                       PairsFromJson(existing.at("scripts")),
                       StringAt(existing.json(), "other_fields")};
  return material;
}

}  // namespace

Json MaterialToJson(const Material& material) {
  Json json = {
      {"task", material.task}, {"items", Json::array()}, {"requests", Json::array()}, {"examples", Json::array()}};
  for (const MaterialItem& item : material.items) {
    Json written = {{"id", item.id}, {"kind", NameOf(item.kind)}, {"text", item.text}, {"places", item.places}};
    if (!item.known.empty()) written["known"] = item.known;
    std::visit(DetailWriter(written), item.detail);
    json["items"].push_back(std::move(written));
  }
  for (const std::string& request : material.requests) json["requests"].push_back({{"text", request}});
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
    return ReadMaterial(StoredJson(json, "material"));
  } catch (const StoredJsonFault& fault) {
    return NotAsWritten(source, fault, "start a new generation");
  }
}

}  // namespace upskill
