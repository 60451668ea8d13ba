// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/chat.h"
#include "model/model.h"
#include "net/http_client.h"
#include "program/program.h"
#include "program/proxy_request.h"
#include "util/result.h"

namespace upskill {

// Where the requests of a program really go.
struct ModelEndpoint {
  Protocol protocol = Protocol::kChat;
  std::vector<std::string> base_urls;  // without a slash at their end; a cell keeps to one of them
  std::string model;                   // its name there
  std::vector<std::pair<std::string, std::string>> headers;  // of every request
  std::optional<std::pair<std::string, Secret>> key;         // a header
  std::string token_limit;  // the name of the parameter for the most tokens of an answer; empty: the protocol's own
  std::optional<Price> price;
  bool local = false;  // on this machine, where a model may be slow
};

// A program's request as the endpoint gets it.
struct EndpointRequest {
  enum class Kind {
    kAnswer,  // asks the model
    kOther,   // counts tokens or lists models
    kHello,   // only wants to know whether somebody is there
  };
  Kind kind = Kind::kAnswer;
  bool streamed = false;
  bool has_tools = false;  // else it is an aside of the program, such as a title
  int max_tokens = 0;      // of the answer
  HttpRequest http;        // unless kHello
};

// The path of the base URL that programs are given: "/v1" or nothing.
std::string BasePathOf(Protocol protocol);

// The most tokens of an answer that a program may ask for, and gets if it doesn't say.
inline constexpr int kMostAnswerTokens = 32'000;

// Rewrites a request for the endpoint: its base URL, its key, its model, a limit of tokens, and usage at the end of a
// stream. What isn't part of the protocol's use of a model is refused (kInput): the key is for nothing else.
Result<EndpointRequest> RequestForEndpoint(const ProxyRequest& request, const ModelEndpoint& endpoint,
                                           const std::string& base_url);

}  // namespace upskill
