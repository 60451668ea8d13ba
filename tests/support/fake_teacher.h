// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "model/model.h"
#include "util/json.h"

namespace upskill {

// For tests: a teacher whose script computes an answer from the request.
class FakeTeacher : public Model {
 public:
  using Script = std::function<Result<std::string>(const ChatRequest&, std::size_t number)>;

  explicit FakeTeacher(Script script) : script_(std::move(script)) {
    info_.name = "teacher";
    info_.identity = "fake:teacher";
    info_.price = Price{1.0, 2.0, 0.1, 1.25, "2026-11-21"};
  }

  const ModelInfo& info() const override { return info_; }
  int Window() const override { return 1; }
  void Cancel(CancelScope /*scope*/) override {}
  void Start(ChatRequest request, Done done) override {
    requests.push_back(request);
    const Result<std::string> text = script_(request, requests.size() - 1);
    if (!text) return done(text.error());
    ChatResponse response;
    response.text = WithinSchema(request, *text);
    response.usage.input = 1000;
    response.usage.output = 100;
    response.cost_usd = 0.01;
    done(std::move(response));
  }

  std::vector<ChatRequest> requests;

 private:
  // A draft has no name if none is asked for.
  static std::string WithinSchema(const ChatRequest& request, const std::string& text) {
    Result<Json> json = ParseJson(text, "answer");
    if (!json || !json->is_object() || !json->contains("sections") || !request.answer_schema ||
        request.answer_schema->at("properties").contains("name"))
      return text;
    json->erase("name");
    return DumpJson(*json);
  }

  ModelInfo info_;
  Script script_;
};

// Identifies a request by its schema.
inline bool AsksFor(const ChatRequest& request, const char* property) {
  return request.answer_schema && request.answer_schema->at("properties").contains(property);
}

inline Json DraftJson(const std::string& body_rule, const std::vector<std::string>& cites = {}) {
  return {{"name", "adding"},
          {"description", "Adds numbers. Use it for sums."},
          {"sections",
           Json::array({{{"title", "Adding"}, {"rules", Json::array({{{"text", body_rule}, {"cites", cites}}})}}})},
          {"references", Json::array()},
          {"scripts", Json::array()}};
}

// `count` valid cases: "What is the sum number K?" → "total-K". Half of them ask for work, a quarter are transfers.
// They cite the first item, if there is one.
inline Json CasesJson(int count) {
  Json cases = Json::array();
  for (int k = 1; k <= count; ++k) {
    cases.push_back({{"kind", k % 2 == 1 ? "command" : "answer"},
                     {"transfer", k % 4 == 1},
                     {"input", "What is the sum number " + std::to_string(k) + "?"},
                     {"contains", {"total-" + std::to_string(k) + "."}},
                     {"any_of", Json::array()},
                     {"not_contains", Json::array()},
                     {"checks", Json::array()},
                     {"output_file", ""},
                     {"reference", "It is total-" + std::to_string(k) + "."},
                     {"cites", {"d1"}}});
  }
  return {{"cases", cases}};
}

inline Json ProposalJson(const std::string& why, const std::string& body) {
  return {{"why", why}, {"edits", Json::array()}, {"body", body}, {"cites", Json::array()}};
}

// A critique that finds nothing, or, with a corrected draft, one point.
inline Json CritiqueJson(const Json& corrected = nullptr) {
  Json json = corrected.is_null() ? DraftJson("") : corrected;
  json.erase("name");
  json["points"] = Json::array();
  if (corrected.is_null()) {
    json["sections"] = Json::array();
  } else {
    json["points"].push_back({{"kind", "missing"}, {"point", "d1 has the command"}});
  }
  return json;
}

}  // namespace upskill
