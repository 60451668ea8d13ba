// SPDX-License-Identifier: Apache-2.0
#include "fuzz/fuzz_parser.h"

#include <algorithm>
#include <string>

#include "check/check.h"
#include "eval/gate.h"
#include "eval/plan.h"
#include "eval/sample.h"
#include "eval/sample_line.h"
#include "model/catalog.h"
#include "model/hub/gguf_name.h"
#include "model/model_spec.h"
#include "model/wire/wire.h"
#include "net/sse.h"
#include "net/url.h"
#include "skill/frontmatter.h"
#include "skill/skill.h"
#include "skill/suite.h"
#include "util/fences.h"
#include "util/invariant.h"
#include "util/json.h"
#include "util/terminal_text.h"
#include "util/text.h"

namespace upskill {
namespace {

// An error must say something, and something that can be printed.
void UseError(const Error& error) {
  CHECK(!error.message.empty());
  CHECK(!FindInvalidUtf8(TerminalText::Format("{}", error.message).text()));
}

template <typename T>
bool Parsed(const Result<T>& result) {
  if (!result) UseError(result.error());
  return result.ok();
}

void UseAnswer(const Result<ChatResponse>& answer) {
  if (!Parsed(answer)) return;
  CHECK(!FindInvalidUtf8(answer->text));
  CHECK(answer->usage.output >= 0 && answer->usage.input >= 0);
}

template <Wire wire>
void RunBody(std::string_view input) {
  const Result<Json> body = ParseBody(input);
  if (!Parsed(body)) return;
  if (const auto error = ErrorInBody(*body)) UseError(*error);
  UseAnswer(WireFormatOf(wire).parse(*body));
}

// The stream is fed in two orders of pieces, which must give the same events.
template <Wire wire>
void RunStream(std::string_view input) {
  const auto assemble = [&](std::size_t piece) -> Result<Json> {
    const std::unique_ptr<StreamAssembler> assembler = WireFormatOf(wire).assembler();
    Status taken;
    SseParser parser([&](const SseEvent& event) {
      if (taken.ok()) taken = assembler->Take(event);
    });
    for (std::size_t at = 0; at < input.size(); at += piece) {
      RETURN_IF_ERROR(parser.Feed(input.substr(at, piece)));
    }
    RETURN_IF_ERROR(taken);
    return assembler->Body();
  };
  const Result<Json> whole = assemble(std::max<std::size_t>(input.size(), 1));
  const Result<Json> pieces = assemble(3);
  CHECK(whole.ok() == pieces.ok());
  if (!Parsed(whole)) return;
  CHECK(DumpJson(*whole) == DumpJson(*pieces));
  UseAnswer(WireFormatOf(wire).parse(*whole));
}

void RunSampleLine(std::string_view input) {
  const Result<Sample> sample = SampleFromLine(input);
  if (const std::optional<Sample> plain = PlainSampleFromLine(input)) {
    CHECK(sample.ok());
    CHECK(DumpJson(SampleToJson(*plain)) == DumpJson(SampleToJson(*sample)));
  }
  if (!Parsed(sample)) return;
  const std::string line = DumpJson(SampleToJson(*sample));
  const Result<Sample> again = SampleFromLine(line);
  CHECK(again.ok());
  CHECK(DumpJson(SampleToJson(*again)) == line);
}

void RunPlan(std::string_view input) {
  const Result<Json> json = ParseJson(input, "plan.json");
  if (!Parsed(json)) return;
  const Result<Plan> plan = PlanFromJson(*json, "plan.json");
  if (!Parsed(plan)) return;
  const Json written = PlanToJson(*plan);
  const Result<Plan> again = PlanFromJson(written, "plan.json");
  CHECK(again.ok());
  CHECK(DumpJson(PlanToJson(*again)) == DumpJson(written));
}

void RunSuite(std::string_view input) {
  const Result<Suite> suite = ParseSuite(std::string(input), "skill_meta.json");
  if (!Parsed(suite)) return;
  CHECK(!suite->cases.empty());
  for (const Case& test_case : suite->cases) {
    const Result<CaseChecks> checks = CaseChecks::Make(test_case);
    if (Parsed(checks)) CHECK(!checks->Run(test_case.reference).empty());
  }
  const Result<Suite> again = ParseSuite(DumpJson(SuiteToJson(*suite)), "skill_meta.json");
  CHECK(again.ok() && again->cases.size() == suite->cases.size());
}

void RunSkill(std::string_view input) {
  const Result<Skill> skill = ParseSkill(std::string(input), "SKILL.md");
  if (!Parsed(skill)) return;
  CHECK(!skill->body.empty() && !skill->description.empty());
}

void RunFrontmatter(std::string_view input) { Parsed(ParseFrontmatter(input, "SKILL.md")); }

void RunFences(std::string_view input) {
  std::size_t bytes = 0;
  for (const FencedBlock& block : FindFencedBlocks(input)) bytes += block.content.size();
  CHECK(bytes <= input.size());
  CHECK(FenceFor(input).size() >= 3);
}

void RunCatalog(std::string_view input) { Parsed(LoadCatalog(CatalogText{std::string(input), "models.toml"})); }

// What users type: model strings, names of GGUF files, URLs, gates.
void RunNames(std::string_view input) {
  const std::string text(input);
  if (const Result<ModelSpec> spec = ParseModelSpec(text); Parsed(spec) && spec->network())
    CHECK(ParseModelSpec(spec->canonical).ok());
  Parsed(ParseGgufName(text));
  Parsed(ParseGate(text));
}

void RunJson(std::string_view input) {
  const Result<Json> json = ParseJson(input, "x.json");
  if (!Parsed(json)) return;
  const std::string text = DumpJson(*json);
  const Result<Json> again = ParseJson(text, "x.json");
  CHECK(again.ok());
  CHECK(DumpJson(*again) == text);
}

constexpr std::string_view kChatBody =
    R"({"id":"c","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"hi","tool_calls":[{"id":"t","type":"function","function":{"name":"f","arguments":"{}"}}]},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":1}}})";
constexpr std::string_view kAnthropicBody =
    R"({"id":"m","type":"message","role":"assistant","model":"c","content":[{"type":"text","text":"hi"},{"type":"tool_use","id":"t","name":"f","input":{}}],"stop_reason":"end_turn","usage":{"input_tokens":3,"output_tokens":2,"cache_read_input_tokens":1}})";
constexpr std::string_view kResponsesBody =
    R"({"id":"r","object":"response","status":"completed","model":"m","output":[{"type":"reasoning","id":"x","summary":[]},{"type":"message","role":"assistant","content":[{"type":"output_text","text":"hi"}]}],"usage":{"input_tokens":3,"output_tokens":2}})";
constexpr std::string_view kChatStream =
    "data: {\"id\":\"c\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"hi\"}}]}\n\n"
    "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\r\n\r\ndata: [DONE]\n\n";
constexpr std::string_view kAnthropicStream =
    "event: message_start\ndata: "
    "{\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"type\":\"message\",\"role\":\"assistant\","
    "\"content\":[],\"usage\":{\"input_tokens\":3,\"output_tokens\":1}}}\n\n"
    "event: content_block_start\ndata: "
    "{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\","
    "\"text\":\"\"}}\n\nevent: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":"
    "{\"type\":\"text_delta\",\"text\":\"hi\"}}\n\nevent: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":"
    "{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":2}}\n\nevent: message_stop\ndata: "
    "{\"type\":\"message_stop\"}\n\n";
constexpr std::string_view kResponsesStream =
    "event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{\"id\":\"r\",\"status\":"
    "\"completed\",\"output\":[],\"usage\":{\"input_tokens\":1,\"output_tokens\":1}}}\n\n";
constexpr std::string_view kSuite =
    R"({"tests":[{"id":"a","input":"Fix it","context":{"files":{"a.py":"x"}},"expected":{"contains":["fix"]}},{"input":"b","checks":[{"type":"regex","pattern":"a+b"}],"reference":"aab"}]})";
constexpr std::string_view kSkill =
    "---\nname: a-skill\ndescription: Fixes it. Use it when it is broken.\nlicense: MIT\n---\n# "
    "Fix\n\n```sh\nfix\n```\n";

Sample OneSample() {
  Sample sample;
  sample.student = "m";
  sample.case_id = "c";
  return sample;
}

Plan OnePlan() {
  Plan plan;
  plan.run = "2026_01_02_10_00_00-0123";
  plan.skill = Snapshot("a-skill", "Fix it.");
  plan.suite = *ParseSuite(std::string(kSuite), "skill_meta.json");
  plan.students = {{"sim:base=0.4", "sim", "sim:base=0.4"}};
  plan.arms = {Arm::kBaseline, Arm::kSkill};
  return plan;
}

}  // namespace

const std::vector<FuzzedParser>& FuzzedParsers() {
  static const std::vector<FuzzedParser> all = {
      {"json", RunJson, {R"({"a": [1, -2.5e3, true, null, "\u00e9"]})"}},
      {"chat-body", RunBody<Wire::kChat>, {std::string(kChatBody)}},
      {"chat-stream", RunStream<Wire::kChat>, {std::string(kChatStream)}},
      {"anthropic-body", RunBody<Wire::kAnthropic>, {std::string(kAnthropicBody)}},
      {"anthropic-stream", RunStream<Wire::kAnthropic>, {std::string(kAnthropicStream)}},
      {"responses-body", RunBody<Wire::kResponses>, {std::string(kResponsesBody)}},
      {"responses-stream", RunStream<Wire::kResponses>, {std::string(kResponsesStream)}},
      {"sample-line", RunSampleLine, {DumpJson(SampleToJson(OneSample()))}},
      {"plan", RunPlan, {DumpJson(PlanToJson(OnePlan()))}},
      {"suite", RunSuite, {std::string(kSuite)}},
      {"skill", RunSkill, {std::string(kSkill)}},
      {"frontmatter", RunFrontmatter, {"name: a\ndescription: |\n  b\nmetadata: {a: 1}\n"}},
      {"fences", RunFences, {"a\n```c\nx\n```\n- b\n  ~~~\n  y\n  ~~~\n"}},
      {"catalog", RunCatalog, {"[alias.x]\nmodel = \"anthropic.x\"\n"}},
      {"names", RunNames, {"anthropic.claude-x.high?temperature=0.5", "org/repo:Q4_K_M", "helps:*", "lift>10"}},
  };
  return all;
}

}  // namespace upskill
