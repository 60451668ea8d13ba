// SPDX-License-Identifier: Apache-2.0
#include "fuzz/fuzz_program.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "fuzz/fuzz_checks.h"
#include "program/endpoint_request.h"
#include "program/program.h"
#include "program/proxy_answer.h"
#include "program/proxy_request.h"
#include "util/files.h"
#include "util/text.h"

namespace upskill {
namespace {

// Reads all requests, in pieces of the given size (bytes).
std::vector<ProxyRequest> AllRequests(std::string_view input, std::size_t piece) {
  ProxyRequestReader reader;
  std::vector<ProxyRequest> requests;
  while (!input.empty()) {
    reader.Add(input.substr(0, piece));
    input.remove_prefix(std::min(piece, input.size()));
    while (true) {
      Result<std::optional<ProxyRequest>> next = reader.Next();
      if (!Parsed(next)) return requests;
      if (!next->has_value()) break;
      requests.push_back(**std::move(next));
    }
  }
  return requests;
}

}  // namespace

void FuzzProxyRequest(std::string_view input) {
  const std::vector<ProxyRequest> requests = AllRequests(input, 100'000);
  const std::vector<ProxyRequest> again = AllRequests(input, 3);
  CHECK(requests.size() == again.size());
  for (std::size_t i = 0; i < requests.size(); ++i)
    CHECK(requests[i].target == again[i].target && requests[i].body == again[i].body);
  ModelEndpoint endpoint;
  endpoint.model = "m";
  for (const Protocol protocol : {Protocol::kMessages, Protocol::kChat, Protocol::kResponses, Protocol::kGemini}) {
    endpoint.protocol = protocol;
    for (const ProxyRequest& request : requests) {
      const Result<EndpointRequest> made = RequestForEndpoint(request, endpoint, "https://host");
      if (!Parsed(made) || made->kind == EndpointRequest::Kind::kHello) continue;
      CHECK(made->http.url.starts_with("https://host/") && made->http.url.find(' ') == std::string::npos);
    }
  }
}

std::vector<std::string> ProxyRequestSeeds() {
  return {
      "POST /v1/chat/completions HTTP/1.1\r\nContent-Length: "
      "46\r\n\r\n{\"stream\":true,\"stream_options\":1,\"tools\":\"x\"}",
      "POST /v1/messages HTTP/1.1\r\nHost: a\r\nContent-Length: 14\r\n\r\n{\"tools\":[{}]}",
      "POST /v1beta/models/x:streamGenerateContent?key=k&alt=sse HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
      "2\r\n{}\r\n0\r\n\r\nGET /v1/models HTTP/1.1\r\nConnection: close\r\n\r\n"};
}

void FuzzProxyAnswer(std::string_view input) {
  for (const bool streamed : {false, true}) {
    ProxyAnswer answer(Protocol::kGemini, streamed);
    answer.Feed(input.substr(0, input.size() / 2));
    answer.Feed(input.substr(input.size() / 2));
    const Result<ChatResponse> response = answer.Finish();
    if (!Parsed(response)) continue;
    CHECK(response->usage.input >= 0 && response->usage.output >= response->usage.reasoning);
  }
}

std::vector<std::string> ProxyAnswerSeeds() {
  const std::string body =
      R"({"candidates":[{"content":{"parts":[{"text":"a"}]},"finishReason":"STOP"}],"modelVersion":"m",)"
      R"("usageMetadata":{"promptTokenCount":10,"cachedContentTokenCount":2,"candidatesTokenCount":3,"thoughtsTokenCount":1}})";
  return {body, "data: " + body + "\r\n\r\n", R"({"error":{"code":429,"message":"slow down"}})"};
}

void FuzzPrograms(std::string_view input) {
  const Result<std::vector<AgentProgram>> programs = ParsePrograms(input, "agents.toml");
  if (!Parsed(programs)) return;
  for (const AgentProgram& program : *programs) {
    CHECK(!program.id.empty() && !program.command.empty() && !program.protocols.empty());
    for (const auto& [name, text] : program.files) CHECK(ContainedPath("", name).ok());
    CHECK(Filled(program.command, {}) == program.command);
  }
}

std::vector<std::string> ProgramSeeds() {
  return {
      "[[program]]\nid = \"x\"\nname = \"X\"\nagent = \"codex\"\nexecutable = \"x\"\ncommand = \"{program} {prompt}\"\n"
      "protocols = { chat = \"c\" }\nsessions = [\".x\", \"*.jsonl\"]\nneeds = [\"rg\"]\nvariables = { A = \"{model}\" "
      "}\n"
      "[program.files]\n\".x/config\" = \"{base_url}\"\n[program.endpoint]\nbase_url = \"https://h\"\n"};
}

}  // namespace upskill
