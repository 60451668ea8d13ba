// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "model/network_model.h"
#include "model/structured_answer.h"
#include "support/fake_network.h"
#include "util/json.h"

namespace upskill {

inline std::string ChatBody(const std::string& text, const std::string& finish = "stop") {
  return DumpJson({{"id", "c"},
                   {"model", "served"},
                   {"choices", Json::array({{{"index", 0},
                                             {"finish_reason", finish},
                                             {"message", {{"role", "assistant"}, {"content", text}}}}})},
                   {"usage", {{"prompt_tokens", 10}, {"completion_tokens", 5}}}});
}

inline ChatRequest Question(const std::string& text, int max_tokens = 100) {
  ChatRequest request;
  request.messages.push_back({Role::kUser, text});
  request.sampling.max_tokens = max_tokens;
  return request;
}

// A server with a handler, and a model that sends requests to it.
struct Rig {
  explicit Rig(loopback::Server::Handler handler, const std::string& text = "generic.m")
      : server(std::move(handler)), network(server) {
    Result<std::unique_ptr<Model>> opened = OpenNetworkModel(network.Spec(text), network.options);
    EXPECT_TRUE(opened.ok()) << (opened ? "" : opened.error().message);
    if (opened) model = *std::move(opened);
  }

  Result<ChatResponse> Ask(ChatRequest request = Question("hi")) {
    return request.answer_schema ? GenerateStructured(*model, std::move(request))
                                 : Generate(*model, std::move(request));
  }
  Json Body(std::size_t index) const { return Json::parse(server.requests().at(index).body); }

  loopback::Server server;
  TestNetwork network;
  std::unique_ptr<Model> model;
};

}  // namespace upskill
