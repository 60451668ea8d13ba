// SPDX-License-Identifier: Apache-2.0
#include "agent/json_tools.h"

#include <fmt/format.h>

#include <utility>

#include "prompts/prompts.h"

namespace upskill {
namespace {

Json CallSchema(const Tool& tool) {
  return {{"type", "object"},
          {"properties", {{"tool", {{"const", tool.name}}}, {"arguments", tool.schema}}},
          {"required", {"tool", "arguments"}},
          {"additionalProperties", false}};
}

Json AnswerOrCall(const std::vector<Tool>& tools) {
  Json choices = Json::array();
  for (const Tool& tool : tools) choices.push_back(CallSchema(tool));
  choices.push_back({{"type", "object"},
                     {"properties", {{"answer", {{"type", "string"}}}}},
                     {"required", {"answer"}},
                     {"additionalProperties", false}});
  return {{"anyOf", std::move(choices)}};
}

std::string Described(const std::vector<Tool>& tools) {
  std::string text;
  for (const Tool& tool : tools) {
    text += fmt::format("{}{}: {}\n", text.empty() ? "" : "\n", tool.name, tool.description);
    for (const auto& [name, parameter] : Member(tool.schema, "properties").items())
      text += fmt::format("- {} ({}): {}\n", name, StringAt(parameter, "type"), StringAt(parameter, "description"));
  }
  return text;
}

std::string CallText(const ToolCall& call) {
  return DumpJson({{"tool", call.name}, {"arguments", call.arguments.is_object() ? call.arguments : Json::object()}});
}

class JsonToolsModel : public Model {
 public:
  explicit JsonToolsModel(std::unique_ptr<Model> model) : info_(model->info()), model_(std::move(model)) {
    info_.takes_tools = true;
  }

  const ModelInfo& info() const override { return info_; }
  int Window() const override { return model_->Window(); }
  int Parallel() const override { return model_->Parallel(); }
  RateLimits rate_limits() const override { return model_->rate_limits(); }
  int MaxOutputTokens(const ChatRequest& request) const override { return model_->MaxOutputTokens(request); }
  std::optional<std::size_t> CountTokens(const std::string& text) const override { return model_->CountTokens(text); }
  void ShareProcessors(int models) override { model_->ShareProcessors(models); }
  void Cancel(CancelScope scope) override { model_->Cancel(scope); }

  void Start(ChatRequest request, Done done) override {
    if (request.tools.empty()) return model_->Start(std::move(request), std::move(done));
    model_->Start(WithToolsAsJson(std::move(request)), [done = std::move(done)](Result<ChatResponse> response) {
      if (!response.ok()) return done(std::move(response));
      done(WithCallFromJson(*std::move(response)));
    });
  }

 private:
  ModelInfo info_;
  const std::unique_ptr<Model> model_;
};

}  // namespace

ChatRequest WithToolsAsJson(ChatRequest request) {
  request.system += "\n\n" + BuiltInPrompts().Render("workspace-json", {{"tools", Described(request.tools)}});
  request.answer_schema = AnswerOrCall(request.tools);
  request.tools.clear();
  for (Message& message : request.messages) {
    message.provider_blocks = nullptr;
    for (const ToolCall& call : std::exchange(message.tool_calls, {})) {
      if (!message.text.empty()) message.text += '\n';
      message.text += CallText(call);
    }
    for (const ToolResult& result : std::exchange(message.tool_results, {})) {
      if (!message.text.empty()) message.text += '\n';
      message.text += fmt::format("{}:\n{}", result.is_error ? "The call failed" : "The result", result.text);
    }
  }
  return request;
}

ChatResponse WithCallFromJson(ChatResponse response) {
  const Result<Json> answer = ParseJson(response.text, "the answer");
  if (!answer.ok() || !answer->is_object()) return response;
  if (const Json& text = Member(*answer, "answer"); text.is_string()) {
    response.text = text.get<std::string>();
    return response;
  }
  const Json& name = Member(*answer, "tool");
  if (!name.is_string()) return response;
  const Json& arguments = Member(*answer, "arguments");
  response.tool_calls.push_back({"", name.get<std::string>(), arguments, DumpJson(arguments)});
  response.text.clear();
  response.stop = StopReason::kToolUse;
  return response;
}

std::unique_ptr<Model> MakeJsonToolsModel(std::unique_ptr<Model> model) {
  return std::make_unique<JsonToolsModel>(std::move(model));
}

}  // namespace upskill
