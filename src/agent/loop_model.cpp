// SPDX-License-Identifier: Apache-2.0
#include "agent/loop_model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <optional>
#include <ranges>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "agent/json_tools.h"
#include "agent/skill_reading.h"
#include "agent/text_calls.h"
#include "util/text.h"
#include "util/tokens.h"
#include "util/work_pool.h"

namespace upskill {
namespace {

constexpr std::size_t kMostCalls = 32;  // of one turn that are carried out
constexpr std::size_t kMostNamed = 50;  // changed files in the transcript of a call
constexpr std::size_t kResultBytes = 30'000;
constexpr std::size_t kIdDigits = 40;

// A cell's work from its first turn to its end. Only one thread at a time has it; `stop` and `ending` come from others.
struct LoopJob {
  LoopJob(ChatRequest given, Model::Done when_done)
      : request(std::move(given)), done(std::move(when_done)), reading(*request.task, request.system) {
    state.files = request.task->files;
    state.fixed = reading.placed();
    request.more_follows = false;  // the next turn depends on the tools
  }

  ChatRequest request;  // grows with each turn
  Model::Done done;
  SkillReading reading;
  bool has_servers = false;  // they were started, and their tools added to the request
  std::vector<std::shared_ptr<RunningToolServer>> servers;
  WorkspaceState state;
  WorkRecord work;
  ChatResponse sum;  // its text is that of the last turn
  std::size_t transcript_bytes = 0;
  StopFlag stop = 0;
  std::atomic<bool> ending = false;
};
using JobPtr = std::shared_ptr<LoopJob>;

// The texts of a transcript, cut, within the whole transcript's limit.
std::string Shown(LoopJob& job, const std::string& text) {
  constexpr std::size_t kOfCrowded = 200;
  const bool crowded = job.transcript_bytes + kMaxTranscriptText > kMaxTranscriptBytes;
  std::string shown = WithoutMiddle(text, crowded ? kOfCrowded : kMaxTranscriptText);
  job.transcript_bytes += shown.size();
  return shown;
}

Json NamesOfChanges(const WorkspaceFiles& before, const WorkspaceFiles& after) {
  const FileChanges changes = ChangesBetween(before, after);
  Json names = Json::array();
  for (const auto& [name, content] : changes.written) {
    if (names.size() < kMostNamed) names.push_back(name);
  }
  for (const std::string& name : changes.removed) {
    if (names.size() < kMostNamed && !name.ends_with('/')) names.push_back(name);
  }
  return names;
}

void AddUse(const ChatResponse& response, ChatResponse& sum) {
  sum.usage.Add(response.usage);
  sum.cost_usd = sum.cost_usd && response.cost_usd ? std::optional(*sum.cost_usd + *response.cost_usd) : std::nullopt;
  sum.seconds += response.seconds;
  sum.text = response.text;
  sum.reasoning = response.reasoning;
  sum.stop = response.stop;
  sum.served_model = response.served_model;
  sum.request_id = response.request_id;
}

// An estimate of the next request's tokens.
std::size_t TokensOfRequest(const ChatRequest& request) {
  std::size_t tokens = EstimateTokens(request.system);
  for (const Message& message : request.messages) {
    tokens += EstimateTokens(message.text);
    for (const ToolCall& call : message.tool_calls) tokens += EstimateTokens(call.raw_arguments);
    for (const ToolResult& result : message.tool_results) tokens += EstimateTokens(result.text);
  }
  for (const Tool& tool : request.tools) tokens += EstimateTokens(tool.description + DumpJson(tool.schema));
  return tokens;
}

class LoopModel : public Model {
 public:
  LoopModel(std::unique_ptr<Model> model, const LoopOptions& options, std::size_t workers)
      : sandbox_(*options.sandbox),
        journal_(options.journal),
        access_(options.access),
        info_(model->info()),
        model_(std::move(model)),
        pool_(workers) {
    info_.acts = true;
    info_.meters_turns = true;
  }

  LoopModel(const LoopModel&) = delete;
  LoopModel& operator=(const LoopModel&) = delete;
  ~LoopModel() override {
    LoopModel::Cancel(CancelScope::kRunning);
    std::unique_lock lock(mutex_);
    idle_.wait(lock, [this] { return jobs_.empty(); });
  }

  const ModelInfo& info() const override { return info_; }
  int Window() const override { return model_->Window(); }
  int Parallel() const override { return model_->Parallel(); }
  RateLimits rate_limits() const override { return model_->rate_limits(); }
  int MaxOutputTokens(const ChatRequest& request) const override { return model_->MaxOutputTokens(request); }
  std::optional<std::size_t> CountTokens(const std::string& text) const override { return model_->CountTokens(text); }
  void ShareProcessors(int models) override { model_->ShareProcessors(models); }

  void Start(ChatRequest request, Done done) override {
    if (!request.task) return model_->Start(std::move(request), std::move(done));
    const auto job = std::make_shared<LoopJob>(std::move(request), std::move(done));
    job->sum.cost_usd = 0.0;
    {
      const std::lock_guard lock(mutex_);
      jobs_.insert(job);
    }
    Post(job, [this, job] { Continue(job); });
  }

  void Cancel(CancelScope scope) override {
    {
      const std::lock_guard lock(mutex_);
      for (const JobPtr& job : jobs_) {
        job->ending = true;
        if (scope == CancelScope::kRunning) job->stop = 2;
      }
    }
    model_->Cancel(scope);
  }

 private:
  // An exception must not lose the request.
  void Post(const JobPtr& job, std::function<void()> work) {
    pool_.Post([this, job, work = std::move(work)] {
      try {
        work();
      } catch (const std::exception& e) {
        Finish(job, Error{ErrorKind::kPermanent, fmt::format("the workspace failed: {}", e.what())});
      }
    });
  }

  void Finish(const JobPtr& job, Result<ChatResponse> result) {
    Done done;
    {
      const std::lock_guard lock(mutex_);
      if (jobs_.erase(job) == 0) return;
      done = std::move(job->done);
    }
    job->servers.clear();  // here and not on a thread of the model, which may hold the job a little longer
    done(std::move(result));
    const std::lock_guard lock(mutex_);
    idle_.notify_all();
  }

  // A shared server outlives the task; the others have the task's files.
  Result<std::shared_ptr<RunningToolServer>> ServerFor(const LoopJob& job, const ToolServer& server) {
    constexpr std::chrono::milliseconds kToEnd{60'000};
    if (!server.shared) {
      ASSIGN_OR_RETURN(std::shared_ptr<RunningToolServer> own,
                       RunningToolServer::Start(server, job.request.task->files, {&sandbox_, &access_},
                                                job.request.task->time_limit + kToEnd, &job.stop));
      return own;
    }
    constexpr std::chrono::hours kLongest{24};
    const std::lock_guard lock(servers_mutex_);
    // One that has ended is started again for the next task.
    std::erase_if(shared_servers_, [](const auto& entry) { return entry.second->broken(); });
    for (const auto& [known, running] : shared_servers_) {
      if (known == server) return running;
    }
    ASSIGN_OR_RETURN(std::shared_ptr<RunningToolServer> started,
                     RunningToolServer::Start(server, {}, {&sandbox_, &access_}, kLongest, &job.stop));
    shared_servers_.emplace_back(server, started);
    return started;
  }

  Status StartServers(LoopJob& job) {
    if (job.has_servers) return {};
    job.has_servers = true;
    for (const ToolServer& server : job.request.task->servers) {
      ASSIGN_OR_RETURN(std::shared_ptr<RunningToolServer> running, ServerFor(job, server));
      for (const Tool& tool : running->tools()) {
        const auto has_name = [&](const Tool& other) { return other.name == tool.name; };
        if (std::any_of(job.request.tools.begin(), job.request.tools.end(), has_name)) {
          return Error{ErrorKind::kPermanent,
                       fmt::format("MCP server {}: a tool would be called {}, as another one is; "
                                   "give the server another name",
                                   server.name, tool.name)};
        }
        job.request.tools.push_back(tool);
      }
      job.servers.push_back(std::move(running));
    }
    return {};
  }

  // Takes the turns that are stored, and asks for the first that isn't.
  void Continue(const JobPtr& job) {
    if (const Status started = StartServers(*job); !started) return Finish(job, started.error());
    while (true) {
      if (job->ending) return Finish(job, Error{ErrorKind::kCancelled, "stopped between two turns"});
      job->work.limit = LimitReached(*job);
      if (!job->work.limit.empty()) return Complete(job);
      const std::string key = TurnJournal::KeyOf(info_.identity, job->request);
      std::optional<ChatResponse> stored = journal_ ? journal_->FindTurn(key) : std::nullopt;
      if (!stored) return Ask(job, key);
      if (!Take(job, key, *stored)) return;
    }
  }

  std::string LimitReached(const LoopJob& job) const {
    const WorkspaceTask& task = *job.request.task;
    if (job.work.turns == 0) return "";
    if (job.work.turns >= task.max_turns) return "turns";
    if (job.sum.seconds * 1000.0 >= static_cast<double>(task.time_limit.count())) return "time";
    if (task.max_tokens > 0 && job.sum.usage.prompt() + job.sum.usage.output >= task.max_tokens) return "tokens";
    const std::size_t tokens = TokensOfRequest(job.request);
    if (info_.context_tokens > 0 && tokens >= static_cast<std::size_t>(info_.context_tokens)) return "context";
    return "";
  }

  void Ask(const JobPtr& job, const std::string& key) {
    if (!job->request.meter) return Send(job, key, std::nullopt);
    job->request.meter->Reserve(*model_, job->request, [this, job, key](Result<std::uint64_t> ticket) {
      Post(job, [this, job, key, ticket = std::move(ticket)] {
        if (!ticket.ok()) return Finish(job, ticket.error());
        Send(job, key, *ticket);
      });
    });
  }

  void Send(const JobPtr& job, const std::string& key, std::optional<std::uint64_t> ticket) {
    ChatRequest request = job->request;
    request.id = key.substr(0, kIdDigits);
    request.task.reset();
    request.meter.reset();
    model_->Start(std::move(request), [this, job, key, ticket](Result<ChatResponse> answer) {
      Post(job, [this, job, key, ticket, answer = std::move(answer)] { OnAnswer(job, key, ticket, answer); });
    });
  }

  void OnAnswer(const JobPtr& job, const std::string& key, std::optional<std::uint64_t> ticket,
                const Result<ChatResponse>& answer) {
    // Stored first: what was paid for isn't paid again, whatever happens now.
    const Status stored = answer.ok() && journal_ ? journal_->StoreTurn(key, *answer) : Status();
    if (ticket) job->request.meter->Settle(*ticket, answer);
    if (!answer.ok()) return Finish(job, answer.error());
    if (!stored) return Finish(job, Error{ErrorKind::kPermanent, stored.error().message});
    if (Take(job, key, *answer)) Continue(job);
  }

  // Whether another turn follows; else the job is finished.
  bool Take(const JobPtr& job, const std::string& key, const ChatResponse& response) {
    AddUse(response, job->sum);
    ++job->work.turns;
    Json turn = {{"calls", Json::array()}};
    Message asked{Role::kAssistant, response.text};
    asked.tool_calls =
        response.tool_calls.empty() ? TakeCallsFromText(job->request.tools, asked.text) : response.tool_calls;
    if (!asked.text.empty()) turn["text"] = Shown(*job, asked.text);
    asked.provider_blocks = response.provider_blocks;
    for (std::size_t i = 0; i < asked.tool_calls.size(); ++i) {
      std::string& id = asked.tool_calls[i].id;
      if (id.empty()) id = fmt::format("call_{}_{}", job->work.turns, i + 1);
    }
    Message results{Role::kUser, ""};
    const std::size_t carried = std::min(asked.tool_calls.size(), kMostCalls);
    for (std::size_t i = 0; i < carried; ++i) {
      Result<ToolResult> result = Carry(*job, key, asked.tool_calls[i], i, response.stop, turn["calls"]);
      if (!result.ok()) {
        Finish(job, result.error());
        return false;
      }
      results.tool_results.push_back(*std::move(result));
    }
    RefuseRest(*job, asked.tool_calls, turn["calls"], results.tool_results);
    job->work.transcript.push_back(std::move(turn));
    if (asked.tool_calls.empty()) {
      if (job->work.tool_calls == 0 && LooksLikeCall(job->request.tools, asked.text)) job->work.limit = "call";
      Complete(job);
      return false;
    }
    job->request.messages.push_back(std::move(asked));
    job->request.messages.push_back(std::move(results));
    return true;
  }

  // What is said of the calls beyond the most of a turn. There may be many thousands, so they aren't stored, and one
  // entry of the transcript tells of all of them.
  static void RefuseRest(LoopJob& job, const std::vector<ToolCall>& asked, Json& calls,
                         std::vector<ToolResult>& results) {
    if (asked.size() <= kMostCalls) return;
    const std::size_t refused = asked.size() - kMostCalls;
    for (std::size_t i = kMostCalls; i < asked.size(); ++i)
      results.push_back({asked[i].id, "Error: too many calls at once; this one was not carried out", true});
    job.work.tool_calls += static_cast<int>(refused);
    job.work.tool_errors += static_cast<int>(refused);
    calls.push_back({{"name", Shown(job, asked[kMostCalls].name)},
                     {"arguments", Shown(job, asked[kMostCalls].raw_arguments)},
                     {"result", fmt::format("Error: too many calls at once; {} not carried out",
                                            refused == 1 ? "1 call was" : fmt::format("{} calls were", refused))},
                     {"error", true}});
  }

  // Carries out a call, or finds that it was carried out before.
  Result<ToolResult> Carry(LoopJob& job, const std::string& key, const ToolCall& call, std::size_t index,
                           StopReason stop, Json& calls) {
    std::optional<ToolOutcome> outcome =
        journal_ ? journal_->FindTool(key, index, job.state.files) : std::optional<ToolOutcome>();
    if (!outcome) {
      ASSIGN_OR_RETURN(outcome, Run(job, call, stop));
      if (journal_) {
        const Status stored = journal_->StoreTool(key, index, job.state.files, *outcome);
        if (!stored) return Error{ErrorKind::kPermanent, stored.error().message};
      }
    }
    job.sum.seconds += outcome->seconds;
    ++job.work.tool_calls;
    ++job.work.tools[ReplaceInvalidUtf8(std::string_view(call.name).substr(0, kMaxToolName))];
    if (outcome->is_error) ++job.work.tool_errors;
    job.reading.Note(call, outcome->text, outcome->is_error);
    Json shown = {{"name", Shown(job, call.name)},
                  {"arguments", Shown(job, call.raw_arguments)},
                  {"result", Shown(job, outcome->text)}};
    if (outcome->is_error) shown["error"] = true;
    if (Json names = NamesOfChanges(job.state.files, outcome->files); !names.empty())
      shown["changed"] = std::move(names);
    // Even short texts add up if there are enough of them.
    if (job.transcript_bytes <= 2 * kMaxTranscriptBytes) calls.push_back(std::move(shown));
    job.state.files = std::move(outcome->files);
    return ToolResult{call.id, outcome->text, outcome->is_error};
  }

  Result<ToolOutcome> Run(LoopJob& job, const ToolCall& call, StopReason stop) const {
    const auto refused = [&](std::string why) { return ToolOutcome{std::move(why), true, job.state.files, 0.0}; };
    if (!call.arguments.is_object() && (stop == StopReason::kLength || stop == StopReason::kContext))
      return refused("Error: your answer was cut off at its token limit, so this call is incomplete");
    const auto names = std::views::transform(job.request.tools, &Tool::name);
    if (!names.empty() && std::ranges::find(names, call.name) == names.end())
      return refused(fmt::format("Error: there is no tool \"{}\"; the tools are {}", ExcerptLine(call.name, 80),
                                 fmt::join(names.begin(), names.end(), ", ")));
    ToolLimits limits;
    limits.text_bytes = kResultBytes;
    if (info_.context_tokens > 0) {
      constexpr std::size_t kShare = 8;
      limits.text_bytes = std::clamp<std::size_t>(
          static_cast<std::size_t>(info_.context_tokens) * kBytesPerToken / kShare, 1'000, kResultBytes);
    }
    const double left = static_cast<double>(job.request.task->time_limit.count()) - job.sum.seconds * 1000.0;
    limits.time = std::chrono::milliseconds(std::max<std::int64_t>(1'000, static_cast<std::int64_t>(left)));
    for (const std::shared_ptr<RunningToolServer>& server : job.servers) {
      if (!server->Has(call.name)) continue;
      ASSIGN_OR_RETURN(ToolOutcome outcome, server->Call(call, limits, &job.stop));
      outcome.files = job.state.files;
      return outcome;
    }
    return RunTool(call, job.state, sandbox_, limits, &job.stop);
  }

  void Complete(const JobPtr& job) {
    ChatResponse response = std::move(job->sum);
    WorkspaceFiles after = job->state.files;
    std::erase_if(after, [](const auto& entry) { return entry.first.ends_with('/'); });
    job->work.changes = ChangesBetween(job->request.task->files, after);
    job->work.skill = job->reading.Use();
    response.work = std::move(job->work);
    Finish(job, std::move(response));
  }

  const Sandbox& sandbox_;
  const std::shared_ptr<TurnJournal> journal_;
  const McpAccess access_;
  ModelInfo info_;
  std::mutex mutex_;  // guards jobs_
  std::condition_variable idle_;
  std::set<JobPtr> jobs_;
  std::mutex servers_mutex_;  // guards shared_servers_
  std::vector<std::pair<ToolServer, std::shared_ptr<RunningToolServer>>> shared_servers_;
  const std::unique_ptr<Model> model_;
  WorkPool pool_;  // ends first: its threads may still be in the model's Start
};

}  // namespace

Result<std::unique_ptr<Model>> MakeLoopModel(std::unique_ptr<Model> model, const LoopOptions& options) {
  // In process, a grammar forces calls to be valid, whatever the chat template knows of tools.
  if (model->info().in_process && !model->info().takes_tools) model = MakeJsonToolsModel(std::move(model));
  if (!model->info().takes_tools) {
    return InputError(fmt::format(
        "model '{}' can't work in a workspace: it takes no tools; leave out --mode workspace, or name another model",
        model->info().name));
  }
  constexpr std::size_t kFewest = 4;
  const std::size_t processors = std::max<std::size_t>(kFewest, std::thread::hardware_concurrency());
  return std::unique_ptr<Model>(
      std::make_unique<LoopModel>(std::move(model), options, options.workers > 0 ? options.workers : processors));
}

}  // namespace upskill
