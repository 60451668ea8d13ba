// SPDX-License-Identifier: Apache-2.0
#include "mcp/mcp_dialogue.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "util/known_secrets.h"
#include "util/text.h"

namespace upskill {
namespace {

constexpr const char* kProtocolVersion = "2025-06-18";  // servers answer with the version that they speak
constexpr std::size_t kMaxTools = 10'000;
constexpr std::size_t kMaxPages = 1'000;
constexpr int kMaxAsked = 1'000;  // by the server, while it is asked for one thing
constexpr std::size_t kShownColumns = 400;
constexpr int kMethodNotFound = -32601;
// Of kStatelessMcp, for a request without its headers, or in another version; in its drafts -32001 and -32004.
constexpr std::array<int, 5> kNoHandshake = {kMethodNotFound, -32020, -32022, -32001, -32004};

std::string ErrorOf(const Json& answer) {
  const Json& error = Member(answer, "error");
  const std::string message = StringAt(error, "message");
  return fmt::format("error {}: {}", JsonGet<int>(error, "code", 0),
                     ExcerptLine(message.empty() ? DumpJson(error) : message, kShownColumns));
}

}  // namespace

// Requests and their responses, over the lines of a connection.
struct McpSession::State {
 public:
  explicit State(McpConnection connection) : connection_(std::move(connection)) {}

  // The response to a request: {"result": …} or {"error": …}.
  Result<Json> Request(const std::string& method, Json params) {
    const int id = next_id_++;
    if (stateless_) {
      params["_meta"] = {{"io.modelcontextprotocol/protocolVersion", kStatelessMcp},
                         {"io.modelcontextprotocol/clientCapabilities", Json::object()}};
    }
    RETURN_IF_ERROR(Send({{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", params}}));
    int asked = 0;
    unread_.clear();
    while (true) {
      ASSIGN_OR_RETURN(const Received received, Receive());
      const Json& message = received.message;
      const bool answers = Member(message, "id") == Json(id);
      if (received.replaced && answers && !message.contains("method")) {
        return Error{ErrorKind::kUnavailable, fmt::format("its answer to {} is not valid UTF-8", method)}.Because(
            ErrorCause::kUnusable);
      }
      if (message.contains("method") && message.contains("id")) {
        if (++asked > kMaxAsked) return InputError(fmt::format("it has asked for more than {} things", kMaxAsked));
        RETURN_IF_ERROR(Send({{"jsonrpc", "2.0"},
                              {"id", message.at("id")},
                              {"error", {{"code", kMethodNotFound}, {"message", "not supported"}}}}));
      } else if (answers && (message.contains("result") || message.contains("error"))) {
        return message;
      }
    }
  }

  void Agree(const std::string& version) {
    if (connection_.agreed) connection_.agreed(version);
  }

  // The server knows no handshake.
  void BecomeStateless() {
    stateless_ = true;
    Agree(std::string(kStatelessMcp));
  }

  Status Notify(const std::string& method) { return Send({{"jsonrpc", "2.0"}, {"method", method}}); }

 private:
  struct Received {
    Json message;
    bool replaced = false;  // it wasn't valid UTF-8
  };

  Status Send(const Json& message) { return connection_.send(DumpJson(message) + "\n"); }

  // The next line that is a JSON object, apart from invalid UTF-8 in it.
  Result<Received> Receive() {
    while (true) {
      const std::size_t newline = output_.find('\n', searched_);
      if (newline != std::string::npos) {
        const std::string_view line = std::string_view(output_).substr(taken_, newline - taken_);
        const bool replaced = FindInvalidUtf8(line).has_value();
        Result<Json> message = replaced ? ParseJson(ReplaceInvalidUtf8(line), "stdout") : ParseJson(line, "stdout");
        taken_ = searched_ = newline + 1;
        if (message && message->is_object()) {
          // A shortened text would keep the part of a secret that is recognized no more.
          return Received{WithoutKnownSecrets(*std::move(message)), replaced};
        }
        if (!message) unread_ = message.error().message;
        continue;
      }
      output_.erase(0, taken_);
      taken_ = 0;
      searched_ = output_.size();
      const Result<std::string> more = connection_.receive();
      if (!more && !unread_.empty()) {
        Error error = more.error();
        error.message += fmt::format("; what it wrote can't be read: {}", unread_);
        return error;
      }
      if (!more) return more.error();
      output_ += *more;
    }
  }

  const McpConnection connection_;
  int next_id_ = 1;
  bool stateless_ = false;
  std::string unread_;  // why a line since the last request isn't JSON
  std::string output_;
  std::size_t taken_ = 0;     // bytes of output_ already parsed
  std::size_t searched_ = 0;  // bytes of output_ without a line end, from taken_
};

McpSession::McpSession(McpConnection connection) : state_(std::make_unique<State>(std::move(connection))) {}

McpSession::~McpSession() = default;

Result<McpTools> RequestMcpTools(const McpConnection& connection) { return McpSession(connection).Open(); }

Result<McpResult> McpSession::Call(const std::string& name, const Json& arguments) {
  ASSIGN_OR_RETURN(const Json answer, state_->Request("tools/call", {{"name", name}, {"arguments", arguments}}));
  const Json& result = Member(answer, "result");
  if (!result.is_object()) return McpResult{ErrorOf(answer), true};
  if (StringAt(result, "resultType") == "input_required")
    return McpResult{"The tool asked for user input, but no user is available: call it with all of its arguments",
                     true};
  McpResult said{"", JsonGet(result, "isError", false)};
  const Json& content = Member(result, "content");
  for (std::size_t i = 0; content.is_array() && i < content.size(); ++i) {
    const std::string type = StringAt(content[i], "type");
    if (!said.text.empty()) said.text += '\n';
    said.text += type == "text" ? StringAt(content[i], "text") : fmt::format("[{}]", ExcerptLine(type, kShownColumns));
  }
  if (said.text.empty() && result.contains("structuredContent")) said.text = DumpJson(result.at("structuredContent"));
  return said;
}

Result<McpTools> McpSession::Open() {
  State& server = *state_;
  McpTools found;
  ASSIGN_OR_RETURN(const Json hello,
                   server.Request("initialize", {{"protocolVersion", kProtocolVersion},
                                                 {"capabilities", Json::object()},
                                                 {"clientInfo", {{"name", "upskill"}, {"version", "1"}}}}));
  if (const Json& result = Member(hello, "result"); result.is_object()) {
    const Json& info = Member(result, "serverInfo");
    found.server = ExcerptLine(StringAt(info, "name") + " " + StringAt(info, "version"), kShownColumns);
    const std::string version = StringAt(result, "protocolVersion");
    server.Agree(version.empty() ? kProtocolVersion : version);
    RETURN_IF_ERROR(server.Notify("notifications/initialized"));
  } else {
    const int code = JsonGet<int>(Member(hello, "error"), "code", 0);
    if (std::find(kNoHandshake.begin(), kNoHandshake.end(), code) == kNoHandshake.end())
      return InputError("initialize: " + ErrorOf(hello));
    server.BecomeStateless();
  }
  Json params = Json::object();
  std::set<std::string> cursors;
  while (true) {
    ASSIGN_OR_RETURN(const Json answer, server.Request("tools/list", params));
    const Json& result = Member(answer, "result");
    const Json& tools = Member(result, "tools");
    if (!tools.is_array()) {
      return InputError("tools/list: " +
                        (answer.contains("error") ? ErrorOf(answer) : "the response has no `tools` array"));
    }
    if (found.tools.size() + tools.size() > kMaxTools)
      return InputError(fmt::format("it has more than {} tools", kMaxTools));
    for (const Json& tool : tools) found.tools.push_back(tool);
    const std::string cursor = StringAt(result, "nextCursor");
    if (cursor.empty()) return found;
    if (cursors.size() == kMaxPages) return InputError(fmt::format("tools/list: it has more than {} pages", kMaxPages));
    if (!cursors.insert(cursor).second) return InputError("tools/list: it repeats the same page");
    params["cursor"] = cursor;
  }
}

}  // namespace upskill
