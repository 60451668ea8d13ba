// SPDX-License-Identifier: Apache-2.0
#include "program/program_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "model/request_text.h"
#include "program/model_proxy.h"
#include "program/program_answer.h"
#include "program/program_run.h"
#include "util/text.h"

namespace upskill {
namespace {

constexpr int kDefaultPrograms = 4;
constexpr int kMaxPrograms = 64;
constexpr int kEndNow = 2;  // for StopFlag

// What the program is told. It has a system prompt of its own, finds an installed skill by itself, and has its own
// words for its tools: of ours, only the body of a skill that isn't installed is left.
std::string PromptOf(ChatRequest request, const WorkspaceTask& task) {
  if (request.task == nullptr) return RequestText(std::move(request));
  request.system.clear();
  std::string prompt = RequestText(std::move(request));
  if (!task.skill || task.load == SkillLoad::kOnDemand) return prompt;
  const auto file = task.skill->files.find("SKILL.md");
  if (file == task.skill->files.end()) return prompt;
  std::string_view body = file->second;
  if (const std::size_t end = body.starts_with("---\n") ? body.find("\n---\n", 3) : std::string_view::npos;
      end != std::string_view::npos)
    body.remove_prefix(end + 5);
  return fmt::format("<skill name=\"{}\">\n{}\n</skill>\n\n{}", task.skill->name, Trim(body), prompt);
}

class ProgramModel : public Model {
 public:
  ProgramModel(ProgramModelOptions options, ModelInfo info, std::unique_ptr<Sandbox> sandbox)
      : options_(std::move(options)),
        info_(std::move(info)),
        sandbox_(std::move(sandbox)),
        proxy_(options_.endpoint, options_.client, *options_.clock) {
    for (int i = 0; i < options_.parallel; ++i) {
      threads_.emplace_back([this](const std::stop_token& stop) { Work(stop); });
    }
  }
  ~ProgramModel() override {
    for (std::jthread& thread : threads_) thread.request_stop();
    ProgramModel::Cancel(CancelScope::kRunning);
    threads_.clear();
  }
  ProgramModel(const ProgramModel&) = delete;
  ProgramModel& operator=(const ProgramModel&) = delete;

  const ModelInfo& info() const override { return info_; }
  int Window() const override { return options_.parallel; }
  // Of one turn: what the proxy lets the program ask for.
  int MaxOutputTokens(const ChatRequest& request) const override {
    return request.task == nullptr ? std::clamp(request.sampling.max_tokens, 1, kMostAnswerTokens) : kMostAnswerTokens;
  }

  void Start(ChatRequest request, Done done) override {
    if (!request.tools.empty() && request.task == nullptr) {
      return done(Error{ErrorKind::kPermanent, fmt::format("model '{}' has tools of its own", info_.name)});
    }
    {
      const std::lock_guard lock(mutex_);
      waiting_.push_back({std::move(request), std::move(done)});
    }
    wake_.notify_one();
  }

  void Cancel(CancelScope scope) override {
    std::deque<Job> dropped;
    {
      const std::lock_guard lock(mutex_);
      dropped.swap(waiting_);
      if (scope == CancelScope::kRunning) {
        for (StopFlag* stop : running_) stop->store(kEndNow);
      }
    }
    for (const Job& job : dropped) job.done(Error{ErrorKind::kCancelled, "cancelled"});
  }

 private:
  struct Job {
    ChatRequest request;
    Done done;
  };

  void Work(const std::stop_token& stop) {
    while (true) {
      Job job;
      StopFlag ended{0};
      {
        std::unique_lock lock(mutex_);
        if (!wake_.wait(lock, stop, [this] { return !waiting_.empty(); })) return;
        if (stop.stop_requested()) return;
        job = std::move(waiting_.front());
        waiting_.pop_front();
        running_.insert(&ended);
      }
      Result<ChatResponse> answer = Answer(std::move(job.request), ended);
      {
        const std::lock_guard lock(mutex_);
        running_.erase(&ended);
      }
      job.done(std::move(answer));
    }
  }

  Result<ChatResponse> Answer(ChatRequest request, StopFlag& stop) {
    WorkspaceTask without;
    without.time_limit = options_.time_limit;
    const std::shared_ptr<const WorkspaceTask> given = request.task;
    const WorkspaceTask& task = given != nullptr ? *given : without;
    ProgramJob job;
    job.program = options_.program;
    job.place = options_.place;
    job.model = options_.endpoint.model;
    job.protocol = *options_.program.NameOf(options_.endpoint.protocol);
    job.base_path = BasePathOf(options_.endpoint.protocol);
    const std::shared_ptr<TurnMeter> meter = request.meter;
    job.prompt = PromptOf(std::move(request), task);
    job.files = task.files;
    if (task.load == SkillLoad::kOnDemand) {
      job.skill = task.skill;
      job.others = task.others;
    }
    job.servers = task.servers;
    job.time_limit = task.time_limit;
    job.stop = &stop;
    ProxyLimits limits;
    limits.turns = task.max_turns;
    limits.tokens = task.max_tokens;
    limits.meter = meter;
    limits.model = this;
    // Programs would ask again for minutes.
    limits.refused = [&stop] { stop.store(kEndNow); };
    const ModelProxy::Ticket ticket = proxy_.Open(std::move(limits));
    job.serve = [&](Fd listener) { proxy_.Listen(ticket, std::move(listener)); };
    const Result<ProgramRun> run = RunProgram(*sandbox_, job);
    const ProxyRecord record = proxy_.Close(ticket, stop.load() != 0);
    if (run || record.refused) return AnswerOfRun(job, run ? *run : ProgramRun{}, record, task);
    Error error = run.error();
    error.used_usd = record.cost_usd.value_or(0.0);
    error.used_tokens = record.usage.prompt() + record.usage.output;
    return error;
  }

  const ProgramModelOptions options_;
  const ModelInfo info_;
  const std::unique_ptr<Sandbox> sandbox_;
  ModelProxy proxy_;

  std::mutex mutex_;  // guards the rest
  std::condition_variable_any wake_;
  std::deque<Job> waiting_;
  std::set<StopFlag*> running_;  // of the requests that are worked on

  std::vector<std::jthread> threads_;  // last: they use everything above
};

}  // namespace

Result<std::unique_ptr<Model>> MakeProgramModel(ProgramModelOptions options) {
  options.parallel = std::clamp(options.parallel > 0 ? options.parallel : kDefaultPrograms, 1, kMaxPrograms);
  const std::string& program = options.program.name;
  if (!options.sandbox.confined)
    return InputError(fmt::format("{} runs in a sandbox only: leave out --no-sandbox", program));
  for (const auto& folder : options.place.toolchains) options.sandbox.toolchains.push_back(folder);
  auto sandbox = std::make_unique<Sandbox>(options.sandbox);
  if (const Status available = sandbox->Available(); !available) return available.error().With(program);
  ModelInfo info;
  info.name = fmt::format("agent:{}:{}", options.program.id, options.endpoint.model);
  info.identity =
      fmt::format("agent {} {} with {}", options.program.id, options.place.version, options.endpoint_identity);
  info.detail = fmt::format("{}{}{}, {}", program, options.place.version.empty() ? "" : " ", options.place.version,
                            options.endpoint.model);
  info.local = options.endpoint.local;
  info.price = options.endpoint.price;
  info.bounded = false;
  info.acts = true;
  info.meters_turns = true;
  info.starts_servers = options.program.servers.has_value();
  return std::unique_ptr<Model>(
      std::make_unique<ProgramModel>(std::move(options), std::move(info), std::move(sandbox)));
}

}  // namespace upskill
