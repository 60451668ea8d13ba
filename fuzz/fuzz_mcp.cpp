// SPDX-License-Identifier: Apache-2.0
#include "fuzz/fuzz_mcp.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fuzz/fuzz_checks.h"
#include "mcp/mcp_dialogue.h"
#include "mcp/mcp_exchange.h"
#include "util/json.h"
#include "util/text.h"
#include "util/variable_text.h"

namespace upskill {
namespace {

struct Talk {
  Result<McpTools> found;
  std::string called;  // what came of a call, if there was one
  std::string sent;
};

// Talks to a server that writes `output` in pieces of `piece` bytes and then exits.
Talk TalkTo(std::string_view output, std::size_t piece) {
  std::string sent;
  McpSession session({[&](std::string_view bytes) -> Status {
                        sent += bytes;
                        return {};
                      },
                      [&]() -> Result<std::string> {
                        if (output.empty()) return InputError("the server has ended");
                        const std::string next(output.substr(0, piece));
                        output.remove_prefix(next.size());
                        return next;
                      }});
  Result<McpTools> found = session.Open();
  std::string called;
  if (found) {
    const Result<McpResult> result = session.Call("tool", {{"a", 1}});
    called = result ? result->text : result.error().message;
  }
  return {std::move(found), std::move(called), std::move(sent)};
}

void CheckSent(const std::string& sent) {
  CHECK(sent.ends_with('\n'));
  for (const std::string_view line : SplitLines(sent)) {
    CHECK(!HasControlCharacter(line));
    const Result<Json> message = ParseJson(line, "sent");
    CHECK(message.ok() && StringAt(*message, "jsonrpc") == "2.0");
    CHECK(message->contains("method") != message->contains("error"));
  }
}

// A response as in HTTP/1.1: a line with the status, the headers, an empty line, the body.
struct RawResponse {
  int status = 0;
  std::map<std::string, std::string> headers;
  std::string_view body;
};

RawResponse SplitResponse(std::string_view input) {
  RawResponse response;
  const auto next_line = [&input] {
    const std::size_t end = std::min(input.find('\n'), input.size());
    const std::string_view line = input.substr(0, end);
    input.remove_prefix(std::min(end + 1, input.size()));
    return line;
  };
  response.status = std::atoi(std::string(next_line()).c_str());
  for (std::string_view line = next_line(); !line.empty(); line = next_line()) {
    const std::size_t colon = std::min(line.find(':'), line.size());
    response.headers[ToLowerAscii(line.substr(0, colon))] = Trim(line.substr(std::min(colon + 1, line.size())));
  }
  response.body = input;
  return response;
}

struct Received {
  Status concluded;
  std::vector<std::string> messages;
  std::string session;
};

// Of a response whose body arrives in pieces of `piece` bytes, as HttpClient delivers it.
Received Exchange(const RawResponse& raw, std::size_t piece) {
  const auto inbox = std::make_shared<McpInbox>();
  McpExchange exchange(inbox, 1, true, raw.headers.contains("x-has-session"));
  const bool success = raw.status >= 200 && raw.status <= 299;
  exchange.OnHeaders(raw.status, raw.headers);
  Result<HttpResponse> response = HttpResponse{raw.status, raw.headers, success ? "" : std::string(raw.body)};
  for (std::size_t at = 0; success && at < raw.body.size(); at += piece) {
    if (exchange.OnData(raw.body.substr(at, piece))) continue;
    response = Error{ErrorKind::kPermanent, "ended by on_data"};
    break;
  }
  exchange.OnEnd(response);
  Status concluded = exchange.Conclude();
  CHECK(exchange.ended() && exchange.concluded());
  return {std::move(concluded), {inbox->messages.begin(), inbox->messages.end()}, inbox->session};
}

}  // namespace

void FuzzMcp(std::string_view input) {
  const Talk whole = TalkTo(input, std::max<std::size_t>(input.size(), 1));
  const Talk pieces = TalkTo(input, 3);
  CHECK(whole.sent == pieces.sent);
  CHECK(whole.found.ok() == pieces.found.ok());
  CHECK(whole.called == pieces.called && whole.called.size() <= 8 * input.size() + 100);
  CheckSent(whole.sent);
  // A server that writes little can't make the program write much.
  constexpr std::size_t kOwnBytes = 300;  // of one message
  const auto lines = static_cast<std::size_t>(std::count(input.begin(), input.end(), '\n'));
  CHECK(whole.sent.size() <= 8 * input.size() + kOwnBytes * (lines + 4));
  if (!Parsed(whole.found)) return;
  const std::string tools = DumpJson(whole.found->tools);
  CHECK(tools == DumpJson(pieces.found->tools));
  CHECK(tools.size() <= 8 * input.size() + 2);
  CHECK(!FindInvalidUtf8(whole.found->server) && whole.found->server.find('\n') == std::string::npos);
}

void FuzzMcpResponse(std::string_view input) {
  const RawResponse raw = SplitResponse(input);
  const Received whole = Exchange(raw, std::max<std::size_t>(raw.body.size(), 1));
  const Received pieces = Exchange(raw, 3);
  CHECK(whole.concluded.ok() == pieces.concluded.ok());
  CHECK(whole.messages == pieces.messages && whole.session == pieces.session);
  CHECK(IsVisibleAscii(whole.session) && whole.session.size() <= input.size());
  std::size_t bytes = 0;
  for (const std::string& message : whole.messages) {
    bytes += message.size();
    CHECK(!Trim(message).empty() && message.find_first_of("\r\n") == message.size() - 1);
  }
  constexpr std::size_t kOwnBytes = 100;
  CHECK(bytes <= 8 * input.size() + kOwnBytes);
  if (!whole.concluded) CheckError(whole.concluded.error());
}

void FuzzMcpHeader(std::string_view input) {
  const Result<std::vector<std::string>> names = VariablesIn(input);
  std::size_t asked = 0;
  const Result<std::string> filled = WithVariables(input, [&](const std::string& name) {
    CHECK(IsVariableName(name));
    ++asked;
    return std::optional<std::string>("${A}");
  });
  CHECK(names.ok() == filled.ok());
  if (names) CHECK(names->size() <= asked && filled->size() <= input.size() + asked);
}

}  // namespace upskill
