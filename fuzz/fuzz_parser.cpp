// SPDX-License-Identifier: Apache-2.0
#include "fuzz/fuzz_parser.h"

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "check/check.h"
#include "cuda/checks/cuda_checks.h"
#include "eval/journal/run_data.h"
#include "eval/journal/sample.h"
#include "eval/journal/sample_line.h"
#include "eval/plan/plan.h"
#include "eval/plan/tool_servers.h"
#include "eval/verdict/gate.h"
#include "eval/verdict/judged_run.h"
#include "fuzz/fuzz_agent.h"
#include "fuzz/fuzz_answers.h"
#include "fuzz/fuzz_checks.h"
#include "fuzz/fuzz_cluster.h"
#include "fuzz/fuzz_device.h"
#include "fuzz/fuzz_engine.h"
#include "fuzz/fuzz_import.h"
#include "fuzz/fuzz_install.h"
#include "fuzz/fuzz_kernel.h"
#include "fuzz/fuzz_mcp.h"
#include "fuzz/fuzz_outside.h"
#include "fuzz/fuzz_program.h"
#include "fuzz/fuzz_ptx.h"
#include "fuzz/fuzz_reader.h"
#include "fuzz/fuzz_runs.h"
#include "fuzz/fuzz_stored.h"
#include "fuzz/fuzz_workspace.h"
#include "fuzz/one_run.h"
#include "model/hub/gguf_name.h"
#include "model/model_spec.h"
#include "model/wire/wire.h"
#include "net/sse.h"
#include "net/url.h"
#include "report/export/eval_json.h"
#include "skill/description_edit.h"
#include "skill/frontmatter.h"
#include "skill/skill.h"
#include "skill/suite.h"
#include "util/fences.h"
#include "util/invariant.h"
#include "util/json.h"
#include "util/text.h"

namespace upskill {
namespace {

void UseAnswer(const Result<ChatResponse>& answer) {
  if (!Parsed(answer)) return;
  CHECK(!FindInvalidUtf8(answer->text));
  CHECK(answer->usage.output >= 0 && answer->usage.input >= 0);
}

template <Wire wire>
void RunBody(std::string_view input) {
  const Result<Json> body = ParseBody(input);
  if (!Parsed(body)) return;
  if (const auto error = ErrorInBody(*body)) CheckError(*error);
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
  AddCudaChecks();
  for (const Case& test_case : suite->cases) {
    const Result<CaseChecks> checks = CaseChecks::Make(test_case);
    Parsed(ServersOf(*suite, test_case));
    if (Parsed(checks) && !checks->executes()) CHECK(!checks->Run(test_case.reference).empty());
  }
  const Result<Suite> again = ParseSuite(DumpJson(SuiteToJson(*suite)), "skill_meta.json");
  CHECK(again.ok() && again->cases.size() == suite->cases.size());
}

void RunSkill(std::string_view input) {
  const Result<Skill> skill = ParseSkill(std::string(input), "SKILL.md");
  if (!Parsed(skill)) return;
  CHECK(!skill->body.empty() && !skill->description.empty());
  const std::string description = "Another \"one\": with \\ and #";
  const Result<std::string> edited = WithDescription(std::string(input), description, "SKILL.md");
  if (!Parsed(edited)) return;
  const Result<Skill> again = ParseSkill(*edited, "SKILL.md");
  CHECK(again.ok() && again->body == skill->body && again->description == description);
}

void RunFrontmatter(std::string_view input) {
  CheckNothingRepeated(ParseFrontmatter(WithPlantedWord(input), "SKILL.md"));
  Parsed(ParseFrontmatter(input, "SKILL.md"));
}

void RunFences(std::string_view input) {
  std::size_t bytes = 0;
  for (const FencedBlock& block : FindFencedBlocks(input)) bytes += block.content.size();
  CHECK(bytes <= input.size());
  CHECK(FenceFor(input).size() >= 3);
}

// What users type: model strings, names of GGUF files, URLs, gates.
void RunNames(std::string_view input) {
  const std::string text(input);
  if (const Result<ModelSpec> spec = ParseModelSpec(text); Parsed(spec) && spec->network())
    CHECK(ParseModelSpec(spec->canonical).ok());
  if (const Result<GgufName> name = ParseGgufName(text); Parsed(name)) CHECK(name->text() == text);
  if (const Result<Gate> gate = ParseGate(text); Parsed(gate)) CHECK(!gate->clauses.empty());
  if (const Result<HttpUrl> url = ParseHttpUrl(text); Parsed(url)) CHECK(!url->authority.empty());
}

void RunJson(std::string_view input) {
  CheckNothingRepeated(ParseJson(WithPlantedWord(input), "x.json"));
  const Result<Json> json = ParseJson(input, "x.json");
  if (!Parsed(json)) return;
  const std::string text = DumpJson(*json);
  const Result<Json> again = ParseJson(text, "x.json");
  CHECK(again.ok());
  CHECK(DumpJson(*again) == text);
}

// A folder of runs may come from elsewhere: whatever its journal says, every cell has at most one result.
void RunJournal(std::string_view input) {
  static const Plan plan = OnePlan();
  std::vector<Sample> samples;
  for (const std::string_view line : SplitLines(input)) {
    if (Result<Sample> sample = SampleFromLine(line); Parsed(sample)) samples.push_back(*std::move(sample));
  }
  RunData grown(plan);
  for (const Sample& sample : samples) grown.Add(sample);
  const JudgedRun run = Judge(RunData(plan, samples));
  const std::size_t cells = plan.arms.size() * plan.suite.cases.size() * static_cast<std::size_t>(plan.rounds);
  CHECK(run.summary.cells == cells && run.summary.answered <= cells);
  for (const auto& [arm, summary] : run.summary.students.front().arms) {
    CHECK(summary.answered + summary.errors <= summary.cells && summary.passed <= summary.answered);
    CHECK(summary.prompt_tokens >= 0 && summary.output_tokens >= 0 && summary.evaluated_tokens >= 0);
  }
  const std::string json = DumpJson(EvalToJson(run));
  CHECK(json == DumpJson(EvalToJson(Judge(std::move(grown)))));
  CHECK(ParseJson(json, "eval --json").ok());
}

// A parser of traces: its seeds are tests/fixtures/traces.
FuzzedParser OfTraces(std::string name, std::function<void(std::string_view)> run, std::string sources) {
  return {std::move(name), std::move(run), {}, std::move(sources), true};
}

std::string ReaderSources(TraceFormat format) {
  static const std::map<TraceFormat, const char*> files = {
      {TraceFormat::kClaudeCode, "claude_code claude_queue claude_text"},
      {TraceFormat::kClaudeCodeResult, "claude_code"},
      {TraceFormat::kClaudeCodeExport, "claude_export claude_text"},
      {TraceFormat::kCodexRollout, "codex codex_rollout"},
      {TraceFormat::kCodexExec, "codex codex_exec"},
      {TraceFormat::kGeminiCli, "gemini"},
      {TraceFormat::kOpenCode, "opencode"},
      {TraceFormat::kPi, "pi"},
      {TraceFormat::kCopilot, "copilot"},
      {TraceFormat::kFastAgent, "fast_agent"},
      {TraceFormat::kAtif, "atif"},
      {TraceFormat::kInspect, "inspect"},
      {TraceFormat::kSweAgent, "swe_agent"},
      {TraceFormat::kMiniSweAgent, "mini_swe_agent"},
      {TraceFormat::kOpenAiMessages, "chat_message chat_messages"},
      {TraceFormat::kAnthropicMessages, "chat_message chat_messages"},
      {TraceFormat::kHfSts, "hf_sts"},
      {TraceFormat::kCursor, "markdown"},
      {TraceFormat::kSpecStory, "markdown"},
      {TraceFormat::kNotes, "markdown"},
  };
  std::string sources;
  std::string_view rest = files.at(format);
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(' '), rest.size());
    sources += (sources.empty() ? "trace/formats/" : " trace/formats/") + std::string(rest.substr(0, end)) + ".cpp";
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return sources;
}

std::vector<FuzzedParser> TraceParsers() {
  std::vector<FuzzedParser> all;
  for (const TraceFormat format : AllTraceFormats()) {
    all.push_back(OfTraces(
        TraceFormatName(format), [format](std::string_view input) { FuzzReader(format, input); },
        ReaderSources(format)));
  }
  all.push_back(OfTraces("detected", FuzzDetected,
                         "trace/read/archive.cpp trace/read/detect.cpp trace/read/line_source.cpp "
                         "trace/read/record_parser.cpp trace/read/zip_directory.cpp util/yaml.cpp"));
  all.push_back(OfTraces("redact", FuzzRedaction,
                         "trace/redact/anchor_scan.cpp trace/redact/assignment.cpp trace/redact/email_address.cpp "
                         "trace/redact/redact.cpp trace/redact/secret_patterns.cpp "
                         "trace/redact/secret_value.cpp trace/redact/token_formats.cpp trace/redact/token_match.cpp "
                         "trace/redact/unescaped_text.cpp"));
  return all;
}

std::vector<FuzzedParser> OtherParsers() {
  return {
      {"json", RunJson, {}, "util/json.cpp util/json_builder.cpp"},
      {"chat-body", RunBody<Wire::kChat>, {}, "model/wire/openai_chat.cpp model/wire/wire.cpp"},
      {"chat-stream", RunStream<Wire::kChat>, {}, "model/wire/openai_chat.cpp net/sse.cpp"},
      {"anthropic-body", RunBody<Wire::kAnthropic>, {}, "model/wire/anthropic.cpp model/wire/wire.cpp"},
      {"anthropic-stream", RunStream<Wire::kAnthropic>, {}, "model/wire/anthropic.cpp net/sse.cpp"},
      {"responses-body", RunBody<Wire::kResponses>, {}, "model/wire/openai_responses.cpp model/wire/wire.cpp"},
      {"responses-stream", RunStream<Wire::kResponses>, {}, "model/wire/openai_responses.cpp net/sse.cpp"},
      {"sample-line",
       RunSampleLine,
       {DumpJson(SampleToJson(OneSample()))},
       "eval/journal/sample.cpp eval/journal/sample_line.cpp"},
      {"journal",
       RunJournal,
       {DumpJson(SampleToJson(OneSample())) + "\n"},
       "eval/journal/run_data.cpp eval/verdict/summary.cpp"},
      {"plan", RunPlan, {DumpJson(PlanToJson(OnePlan()))}, "eval/plan/plan.cpp"},
      {"suite", RunSuite, {}, "skill/suite.cpp skill/case_reader.cpp skill/case_writer.cpp skill/case_lines.cpp"},
      {"skill", RunSkill, {}, "skill/skill.cpp skill/skill_text.cpp skill/frontmatter.cpp"},
      {"frontmatter", RunFrontmatter, {}, "skill/frontmatter.cpp"},
      {"fences", RunFences, {}, "util/fences.cpp"},
      {"catalog", FuzzCatalog, {}, "model/catalog.cpp"},
      {"names", RunNames, {}, "model/model_spec.cpp model/hub/gguf_name.cpp eval/verdict/gate.cpp net/url.cpp"},
      {"mcp", FuzzMcp, {}, "mcp/mcp_dialogue.cpp"},
      {"mcp-response", FuzzMcpResponse, {}, "mcp/mcp_exchange.cpp net/sse.cpp"},
      {"mcp-header", FuzzMcpHeader, {}, "util/variable_text.cpp"},
      {"hub-listing", FuzzHubListing, {}, "model/hub/hub_listing.cpp model/hub/gguf_name.cpp"},
      {"config", FuzzConfig, {}, "cli/env/config.cpp"},
      {"keys", FuzzKeys, {}, "model/api_key.cpp"},
      {"agent-config", FuzzAgentConfig, {}, "cli/models/agent_config.cpp"},
      {"env-file", FuzzEnvFile, {}, "util/env_file.cpp"},
      {"evaluation-files",
       FuzzEvaluationFile,
       {},
       "skill/suite_file.cpp skill/formats/ci_manifest.cpp skill/formats/converted_suite.cpp "
       "skill/formats/evals_file.cpp skill/formats/inspect_samples.cpp skill/formats/plugin_cases.cpp "
       "skill/formats/promptfoo_checks.cpp "
       "skill/formats/promptfoo_file.cpp skill/formats/promptfoo_prompts.cpp skill/formats/text_template.cpp "
       "skill/formats/trigger_queries.cpp"},
      {"prompt", FuzzPrompt, PromptSeeds(), "prompts/prompt_template.cpp prompts/prompts.cpp"},
      {"ledger", FuzzLedger, {}, "eval/verdict/ledger.cpp eval/verdict/ledger_share.cpp eval/plan/alpha_share.cpp"},
      {"command-output", FuzzCommandOutput, {}, "model/command_output.cpp"},
      {"desk", FuzzDesk, {}, "model/desk_files.cpp"},
      {"build-toml",
       FuzzBuildToml,
       {},
       "kernel/build_rules.cpp kernel/build_schema.cpp kernel/build_toml.cpp "
       "kernel/build_values.cpp kernel/toml_tree.cpp"},
      {"kernel-binding",
       FuzzKernelBinding,
       {},
       "kernel/binding_rules.cpp kernel/cpp_signature.cpp kernel/cpp_tokens.cpp "
       "kernel/op_registration.cpp kernel/operator_rules.cpp kernel/python_rules.cpp kernel/source_rules.cpp"},
      {"op-schema", FuzzOpSchema, {}, "kernel/op_schema.cpp"},
      {"fat-binary", FuzzFatBinary, {}, "cuda/device/fat_binary.cpp"},
      {"ptx",
       FuzzPtx,
       {},
       "cuda/ptx/lexer.cpp cuda/ptx/parser.cpp cuda/ptx/parser_function.cpp cuda/ptx/parser_variables.cpp "
       "cuda/ptx/decoder.cpp "
       "cuda/ptx/decode_alu.cpp cuda/ptx/decode_control.cpp cuda/ptx/decode_matrix.cpp cuda/ptx/decode_memory.cpp "
       "cuda/ptx/decode_move.cpp cuda/ptx/block_order.cpp"},
      {"ptx-run",
       FuzzPtxRun,
       {},
       "cuda/ptx/machine.cpp cuda/ptx/warp.cpp cuda/ptx/calls.cpp cuda/ptx/memory_access.cpp "
       "cuda/ptx/synchronisation.cpp "
       "cuda/ptx/async.cpp cuda/ptx/atomics.cpp cuda/ptx/matrix.cpp cuda/ptx/race_checker.cpp "
       "cuda/ptx/special_registers.cpp "
       "cuda/ptx/launch.cpp"},
      {"tensor-map", FuzzTensorMap, {}, "cuda/ptx/tensor_map.cpp"},
      {"answer-files", FuzzAnswerFiles, {}, "check/answer_files.cpp check/number_check.cpp util/fences.cpp"},
      {"judgment", FuzzJudgment, {}, "eval/run/judge_prompt.cpp model/answer_json.cpp"},
      {"labels", FuzzLabels, {}, "eval/run/judge_labels.cpp"},
      {"answer-data", FuzzAnswerData, {}, "check/data_text.cpp util/toml_guard.cpp util/yaml.cpp"},
      {"json-schema", FuzzJsonSchema, {}, "util/json_schema.cpp util/json_schema_check.cpp"},
      {"compiler-output", FuzzCompilerOutput, {}, "cuda/checks/ptx_facts.cpp"},
      {"run-summaries", FuzzRunSummaries, RunSummariesSeeds(), "report/export/run_rows_json.cpp"},
      {"judge-files", FuzzJudgeFiles, JudgeFilesSeeds(), "eval/run/judge_record.cpp eval/journal/judgment_store.cpp"},
      {"tool-call", FuzzToolCall, ToolCallSeeds(), "agent/loop_tools.cpp agent/json_tools.cpp"},
      {"turn-journal", FuzzTurnJournal, TurnJournalSeeds(), "agent/turn_journal.cpp util/record_store.cpp"},
      {"program-session", FuzzProgramSession, {}, "program/program_answer.cpp", true},
      {"device-requests", FuzzDeviceRequests, DeviceRequestSeeds(),
       "cuda/device/device_session.cpp cuda/device/session_launch.cpp cuda/device/stream_order.cpp"},
      {"device-report", FuzzDeviceReport, DeviceReportSeeds(), "cuda/device/device_report.cpp"},
      {"workspace-tar", FuzzWorkspaceTar, WorkspaceTarSeeds(), "sandbox/file_bundle.cpp"},
      {"work-record", FuzzWorkRecord, WorkRecordSeeds(), "model/workspace.cpp"},
      {"skill-archive", FuzzSkillArchive, SkillArchiveSeeds(),
       "install/skill_archive.cpp install/skill_files.cpp trace/read/zip_directory.cpp"},
      {"proxy-request", FuzzProxyRequest, ProxyRequestSeeds(),
       "program/proxy_request.cpp program/endpoint_request.cpp"},
      {"proxy-answer", FuzzProxyAnswer, ProxyAnswerSeeds(), "program/proxy_answer.cpp"},
      {"programs", FuzzPrograms, ProgramSeeds(), "program/program.cpp"},
      {"job-output", FuzzJobOutput, JobOutputSeeds(), "cluster/slurm.cpp cluster/kubernetes.cpp cluster/hf_jobs.cpp"},
      {"job-record", FuzzJobRecord, JobRecordSeeds(), "cluster/job_record.cpp"},
      {"git-source", FuzzGitSource, {}, "install/git_source.cpp"},
      {"installed", FuzzInstalled, InstalledSeeds(), "install/install_records.cpp"},
      {"skill-lock", FuzzSkillLock, SkillLockSeeds(), "install/skill_lock.cpp install/skills_cli_lock.cpp"},
      {"strict-yaml", FuzzStrictYaml, {}, "skill/strict_yaml.cpp"},
      {"imported-results",
       FuzzImportedResults,
       {},
       "import/imported_results.cpp import/imported_run.cpp import/read_driftproof.cpp import/read_inspect.cpp "
       "import/read_plugin_eval.cpp import/read_promptfoo.cpp import/read_results.cpp import/read_skill_creator.cpp "
       "import/read_skillsbench.cpp import/read_vally.cpp"},
      {"message-framing", FuzzMessageFraming, {}, "net/message_framing.cpp"},
      {"special-texts", FuzzSpecialTexts, {}, "llama/special_texts.cpp"},
      {"chat-template", FuzzChatTemplate, {}, "llama/chat_format.cpp"},
      {"worker-messages", FuzzWorkerMessages, {}, "llama/worker_protocol.cpp llama/worker_requests.cpp"},
  };
}

}  // namespace

const std::vector<FuzzedParser>& FuzzedParsers() {
  static const std::vector<FuzzedParser> all = [] {
    std::vector<FuzzedParser> parsers = OtherParsers();
    for (FuzzedParser& parser : TraceParsers()) parsers.push_back(std::move(parser));
    return parsers;
  }();
  return all;
}

}  // namespace upskill
