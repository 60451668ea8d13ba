// SPDX-License-Identifier: Apache-2.0
#include "agent/turn_journal.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "util/files.h"
#include "util/hash.h"
#include "util/stored_json.h"

namespace upskill {
namespace {

double StoredSeconds(const Json& json) { return std::clamp(JsonGet(json, "seconds", 0.0), 0.0, kMaxStoredSeconds); }

Json CallsToJson(const std::vector<ToolCall>& calls) {
  Json list = Json::array();
  for (const ToolCall& call : calls)
    list.push_back({{"id", call.id}, {"name", call.name}, {"arguments", call.arguments}, {"raw", call.raw_arguments}});
  return list;
}

std::vector<ToolCall> CallsFromJson(const StoredJson& stored) {
  std::vector<ToolCall> calls;
  for (const StoredJson& call : stored.elements()) {
    calls.push_back({call.at("id").text(), call.at("name").text(), call.at("arguments").json(), call.at("raw").text()});
  }
  return calls;
}

Json MessageToJson(const Message& message) {
  Json json = {{"role", message.role == Role::kUser ? "user" : "assistant"}, {"text", message.text}};
  if (!message.tool_calls.empty()) json["calls"] = CallsToJson(message.tool_calls);
  for (const ToolResult& result : message.tool_results)
    json["results"].push_back({{"id", result.call_id}, {"text", result.text}, {"error", result.is_error}});
  if (!message.provider_blocks.is_null()) json["blocks"] = message.provider_blocks;
  return json;
}

Result<ChatResponse> TurnFromJson(const StoredJson& stored) {
  const Json& json = stored.json();
  ChatResponse response;
  response.text = stored.at("text").text();
  response.reasoning = StringAt(json, "reasoning");
  response.tool_calls = CallsFromJson(stored.at("calls"));
  response.provider_blocks = Member(json, "blocks");
  ASSIGN_OR_RETURN(response.stop, StopReasonFromName(stored.at("stop").text()));
  response.usage = UsageFromJson(stored.at("usage").json());
  if (const Json& cost = Member(json, "cost_usd"); cost.is_number())
    response.cost_usd = std::clamp(cost.get<double>(), 0.0, kMaxStoredUsd);
  response.served_model = StringAt(json, "served_model");
  response.request_id = StringAt(json, "request_id");
  response.seconds = StoredSeconds(json);
  return response;
}

std::string ToolKey(const std::string& turn, std::size_t call) {
  return Sha256Hex(fmt::format("tool\n{}\n{}", turn, call));
}

}  // namespace

Result<std::shared_ptr<TurnJournal>> TurnJournal::Open(const std::filesystem::path& file) {
  ASSIGN_OR_RETURN(RecordStore store, RecordStore::Open(file));
  return std::shared_ptr<TurnJournal>(new TurnJournal(std::move(store)));
}

std::string TurnJournal::KeyOf(const std::string& model_identity, const ChatRequest& request) {
  Json messages = Json::array();
  for (const Message& message : request.messages) messages.push_back(MessageToJson(message));
  Json tools = Json::array();
  for (const Tool& tool : request.tools)
    tools.push_back({{"name", tool.name}, {"description", tool.description}, {"schema", tool.schema}});
  const Sampling& sampling = request.sampling;
  return Sha256Hex(CanonicalJson({{"key", 1},
                                  {"model", model_identity},
                                  {"system", request.system},
                                  {"messages", std::move(messages)},
                                  {"tools", std::move(tools)},
                                  {"temperature", sampling.temperature ? Json(*sampling.temperature) : Json(nullptr)},
                                  {"max_tokens", sampling.max_tokens},
                                  {"seed", sampling.seed},
                                  {"simulation", request.simulation}}));
}

std::optional<ChatResponse> TurnJournal::FindTurn(const std::string& key) const {
  const std::optional<Json> record = store_.Find(key);
  if (!record) return std::nullopt;
  try {
    Result<ChatResponse> turn = TurnFromJson(StoredJson(*record));
    if (turn.ok()) return *std::move(turn);
  } catch (const StoredJsonFault&) {
    return std::nullopt;
  }
  return std::nullopt;
}

Status TurnJournal::StoreTurn(const std::string& key, const ChatResponse& response) {
  Json record = {{"key", key},
                 {"text", response.text},
                 {"calls", CallsToJson(response.tool_calls)},
                 {"stop", StopReasonName(response.stop)},
                 {"usage", UsageToJson(response.usage)},
                 {"seconds", response.seconds}};
  if (!response.reasoning.empty()) record["reasoning"] = response.reasoning;
  if (!response.provider_blocks.is_null()) record["blocks"] = response.provider_blocks;
  if (response.cost_usd) record["cost_usd"] = *response.cost_usd;
  if (!response.served_model.empty()) record["served_model"] = response.served_model;
  if (!response.request_id.empty()) record["request_id"] = response.request_id;
  return store_.Append(record);
}

std::optional<ToolOutcome> TurnJournal::FindTool(const std::string& turn, std::size_t call,
                                                 const WorkspaceFiles& before) const {
  const std::optional<Json> record = store_.Find(ToolKey(turn, call));
  if (!record) return std::nullopt;
  const Json& changed = *record;
  WorkspaceFiles folders;  // have names that FileChangesFromJson doesn't take
  for (const Json& folder : Member(changed, "folders")) {
    if (!folder.is_string() || folders.size() >= kMaxWorkspaceFiles) continue;
    const auto name = folder.get<std::string>();
    if (ContainedPath("", name) && PlainFileName(name) == name) folders[name + "/"];
  }
  Result<FileChanges> changes = FileChangesFromJson(changed);
  if (!changes.ok()) return std::nullopt;
  ToolOutcome outcome;
  outcome.text = StringAt(changed, "result");
  outcome.is_error = JsonGet(changed, "error", false);
  outcome.seconds = StoredSeconds(changed);
  outcome.files = before;
  std::erase_if(outcome.files, [](const auto& entry) { return entry.first.ends_with('/'); });
  outcome.files = WithChanges(std::move(outcome.files), *changes);
  outcome.files.merge(folders);
  return outcome;
}

Status TurnJournal::StoreTool(const std::string& turn, std::size_t call, const WorkspaceFiles& before,
                              const ToolOutcome& outcome) {
  Json folders = Json::array();
  const auto only_files = [](WorkspaceFiles files) {
    std::erase_if(files, [](const auto& entry) { return entry.first.ends_with('/'); });
    return files;
  };
  for (const auto& [name, content] : outcome.files) {
    if (name.ends_with('/')) folders.push_back(name.substr(0, name.size() - 1));
  }
  Json record = FileChangesToJson(ChangesBetween(only_files(before), only_files(outcome.files)));
  record["key"] = ToolKey(turn, call);
  record["result"] = outcome.text;
  record["error"] = outcome.is_error;
  record["seconds"] = outcome.seconds;
  record["folders"] = std::move(folders);
  return store_.Append(record);
}

}  // namespace upskill
