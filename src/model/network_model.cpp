// SPDX-License-Identifier: Apache-2.0
#include "model/network_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <functional>
#include <new>
#include <optional>
#include <utility>

#include "model/answer_json.h"
#include "model/request_advice.h"
#include "net/sse.h"
#include "util/json_builder.h"
#include "util/log.h"
#include "util/text.h"

namespace upskill {
namespace {

using std::chrono::milliseconds;

constexpr int kDefaultInFlight = 64;
constexpr int kStreamFromTokens = 4'000;
constexpr int kMaxAdaptations = 8;
constexpr const char* kAnswerTool = "answer";
constexpr std::size_t kMaxEventBytes = std::size_t{16} << 20U;
constexpr std::size_t kLongAnswerBytes = std::size_t{1} << 20U;  // about 10 ms of parsing

// Without streaming, nothing arrives before the whole answer is ready. A server on this machine may be slow and may
// keep requests waiting for a slot.
void SetTimeouts(bool stream, bool local, HttpRequest& request) {
  constexpr milliseconds kHour{3'600'000};
  constexpr milliseconds kWhole{600'000};
  request.idle_timeout = local ? kHour : stream ? milliseconds{180'000} : kWhole;
  request.total_timeout = local || stream ? kHour : kWhole;
}

std::string RequestIdOf(const HttpResponse& response) {
  for (const char* name : {"request-id", "x-request-id"}) {
    if (const auto id = HeaderOf(response, name)) return ExcerptLine(*id, 100);
  }
  return "";
}

// By which a pool finds a server that may have the beginning of the request in its cache.
Prefixes PrefixesOf(const ChatRequest& request) {
  Prefixes prefixes;
  const std::hash<std::string> hash;
  if (!request.messages.empty()) prefixes.push_back(hash(request.system + '\0' + request.messages.front().text));
  if (!request.system.empty()) prefixes.push_back(hash(request.system));
  return prefixes;
}

}  // namespace

// A request in flight; once sent, it belongs to the client's thread.
struct NetworkModel::Job {
  ChatRequest request;
  Done done;
  std::uint64_t cancel_count = 0;     // when the job started
  std::uint64_t dialect_version = 0;  // used by the last attempt
  bool streamed = false;              // the last attempt
  int adaptations = 0;
};

// Reads the body of a streamed answer as it arrives. A server that doesn't stream sends the body as a whole.
class NetworkModel::Reading {
 public:
  explicit Reading(const WireFormat& format)
      : assembler_(format.assembler()), parser_([this](const SseEvent& event) { TakeEvent(event); }, kMaxEventBytes) {}

  // False: stop, there is an error.
  bool Feed(std::string_view piece) {
    if (has_event_) {
      raw_.clear();
    } else {
      raw_ += piece;
    }
    if (raw_.size() > kMaxAnswerBodyBytes && !error_)
      error_ = InputError(fmt::format("the response has more than {} bytes", kMaxAnswerBodyBytes))
                   .Because(ErrorCause::kTooLong);
    if (const Status status = parser_.Feed(piece); !status && !error_)
      error_ = Error{ErrorKind::kUnavailable, status.error().message}.Because(ErrorCause::kTooLong);
    return !error_;
  }

  const std::optional<Error>& error() const { return error_; }
  std::size_t unread_bytes() const { return raw_.size(); }

  Result<Json> Body() {
    if (!has_event_ && Trim(raw_).starts_with('{')) return ParseBody(raw_);
    // The last event may lack the empty line after it.
    Feed("\n\n");
    if (error_) return *error_;
    if (!has_event_ && !Trim(raw_).empty()) return ParseBody(raw_);
    return assembler_->Body();
  }

 private:
  void TakeEvent(const SseEvent& event) {
    has_event_ = true;
    if (error_) return;
    if (const Status status = assembler_->Take(event); !status) error_ = status.error();
  }

  std::unique_ptr<StreamAssembler> assembler_;
  SseParser parser_;
  std::string raw_;  // until the first event
  bool has_event_ = false;
  std::optional<Error> error_;
};

NetworkModel::NetworkModel(ModelSpec spec, Connection connection, ModelInfo info, const NetworkOptions& options)
    : spec_(std::move(spec)),
      connection_(std::move(connection)),
      info_(std::move(info)),
      format_(WireFormatOf(connection_.provider.wire)),
      dialect_(DialectOf(connection_.provider)),
      endpoint_(options.client,
                EndpointOptions{connection_.base_urls, options.parallel > 0 ? options.parallel : kDefaultInFlight},
                *options.clock) {}

NetworkModel::~NetworkModel() {
  NetworkModel::Cancel(CancelScope::kRunning);
  std::unique_lock lock(mutex_);
  while (pending_ > 0) {
    // Cancel may miss a job that was being continued at that moment; the next round cancels it.
    if (idle_.wait_for(lock, milliseconds(50)) == std::cv_status::timeout) {
      lock.unlock();
      endpoint_.CancelAll();
      lock.lock();
    }
  }
}

// A pool chooses among as many more: each server gets the requests whose beginnings it knows.
int NetworkModel::Window() const {
  const EndpointOptions& options = endpoint_.options();
  return options.base_urls.size() > 1 ? 2 * options.max_in_flight : options.max_in_flight;
}

void NetworkModel::Start(ChatRequest request, Done done) {
  const auto job = std::make_shared<Job>();
  job->request = std::move(request);
  job->done = std::move(done);
  {
    const std::lock_guard lock(mutex_);
    ++pending_;
    job->cancel_count = cancel_count_;
  }
  Guarded(job, [&] { Send(job); });
}

// A request always gets its answer, whatever a library throws: an exception would end the client's thread, or leave the
// destructor waiting.
void NetworkModel::Guarded(const std::shared_ptr<Job>& job, const std::function<void()>& work) {
  try {
    work();
  } catch (const std::exception& e) {
    if (job->done) Finish(job, Error{ErrorKind::kUnavailable, fmt::format("internal error: {}", e.what())});
  }
}

void NetworkModel::Cancel(CancelScope scope) {
  if (scope == CancelScope::kWaiting) {
    endpoint_.CancelWaiting();
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    ++cancel_count_;
  }
  endpoint_.CancelAll();
}

WireOptions NetworkModel::OptionsFor(const ChatRequest& request, const Dialect& dialect) const {
  WireOptions options{connection_.provider, spec_.model, spec_.effort, spec_.settings, dialect, false, ""};
  options.stream = spec_.settings.stream.value_or(MaxTokensOf(request, options) > kStreamFromTokens);
  if (request.answer_schema && spec_.settings.structured == "tool_use") options.forced_tool = kAnswerTool;
  return options;
}

// Computed from the request body: settings of the model string take precedence, and some formats add room for
// reasoning.
int NetworkModel::MaxOutputTokens(const ChatRequest& request) const {
  Dialect dialect;
  {
    const std::lock_guard lock(mutex_);
    dialect = dialect_;
  }
  ChatRequest bare;
  bare.sampling = request.sampling;
  bare.messages.push_back({Role::kUser, "?"});
  const WireOptions options = OptionsFor(bare, dialect);
  const Json body = format_.build(bare, options);
  int tokens = MaxTokensOf(bare, options);
  for (const char* key : {"max_tokens", "max_completion_tokens", "max_output_tokens"}) {
    if (const Json& limit = Member(body, key); limit.is_number_integer()) tokens = std::max(tokens, limit.get<int>());
  }
  return tokens;
}

void NetworkModel::Send(const std::shared_ptr<Job>& job) {
  Dialect dialect;
  bool cancelled = false;
  {
    const std::lock_guard lock(mutex_);
    dialect = dialect_;
    job->dialect_version = dialect_version_;
    cancelled = job->cancel_count != cancel_count_;
  }
  if (cancelled) return Finish(job, Error{ErrorKind::kCancelled, "the request was cancelled"});

  const WireOptions options = OptionsFor(job->request, dialect);
  ChatRequest request = job->request;
  if (!options.forced_tool.empty()) {
    request.tools.push_back(
        {kAnswerTool, "Call this tool once, with your answer as its arguments.", *request.answer_schema});
  } else if (!UsesNativeSchema(request, options)) {
    AddSchemaInstruction(request);
  }
  HttpRequest http = NewRequest(connection_);
  http.body = DumpJson(format_.build(request, options));
  SetTimeouts(options.stream, connection_.local, http);
  // A stream repeats names and IDs with each token, but is parsed little by little.
  http.max_body_bytes = options.stream ? 4 * kMaxAnswerBodyBytes : kMaxAnswerBodyBytes;
  job->streamed = options.stream;
  std::shared_ptr<Reading> reading;
  if (options.stream) {
    reading = std::make_shared<Reading>(format_);
    http.on_data = [reading](std::string_view piece) { return reading->Feed(piece); };
  }
  endpoint_.Start(
      std::string(format_.path), std::move(http),
      [this, job, reading](Result<HttpResponse> result) {
        Guarded(job, [&] { OnAnswer(job, reading, std::move(result)); });
      },
      connection_.base_urls.size() > 1 ? PrefixesOf(job->request) : Prefixes());
}

void NetworkModel::OnAnswer(const std::shared_ptr<Job>& job, const std::shared_ptr<Reading>& reading,
                            Result<HttpResponse> result) {
  if (!result) {
    const bool cancelled = result.error().kind == ErrorKind::kCancelled;
    if (!cancelled && reading && reading->error()) return OnError(job, *reading->error());
    return OnError(job, result.error());
  }
  if ((reading ? reading->unread_bytes() : result->body.size()) < kLongAnswerBytes)
    return ReadAnswer(job, reading, *result);
  // The client's thread serves the other requests meanwhile.
  const auto shared = std::make_shared<const HttpResponse>(*std::move(result));  // std::function must be copyable
  parser_.Post([this, job, reading, shared] { Guarded(job, [&] { ReadAnswer(job, reading, *shared); }); });
}

Result<ChatResponse> NetworkModel::ParseAnswer(Reading* reading, const HttpResponse& result) const {
  Result<Json> body = reading != nullptr ? reading->Body() : ParseBody(result.body);
  if (!body) {
    const std::string type = HeaderOf(result, "content-type").value_or("no content type");
    return Error{body.error().kind,
                 fmt::format("{} ({}, {})", body.error().message, result.status, CutToColumns(type, 60)),
                 body.error().retry_after, body.error().cause};
  }
  Result<ChatResponse> response = format_.parse(*body);
  DiscardJson(*body);
  return response;
}

void NetworkModel::ReadAnswer(const std::shared_ptr<Job>& job, const std::shared_ptr<Reading>& reading,
                              const HttpResponse& result) {
  const auto parsed = [&]() -> Result<ChatResponse> {
    try {
      return ParseAnswer(reading.get(), result);
    } catch (const std::bad_alloc&) {
      return InputError("the response is too large for the available memory").Because(ErrorCause::kTooLong);
    }
  };
  Result<ChatResponse> response = parsed();
  if (!response) return OnError(job, response.error());
  // llama-server reports every answer of its Responses API as completed, even a truncated one.
  const WireOptions options = OptionsFor(job->request, {});
  if (connection_.provider.wire == Wire::kResponses && response->stop == StopReason::kEnd &&
      response->usage.output >= MaxTokensOf(job->request, options)) {
    response->stop = StopReason::kLength;
  }
  response->request_id = RequestIdOf(result);
  response->seconds = result.seconds;
  OnResponse(job, *std::move(response));
}

// Leaves out a parameter that the server rejected. False: the error names none.
bool NetworkModel::AdaptTo(const Job& job, const Error& error) {
  const std::lock_guard lock(mutex_);
  if (job.dialect_version != dialect_version_) return true;  // another response has already changed it
  std::optional<Dialect> changed = WithoutRejectedParameter(dialect_, connection_.provider.wire, error.message);
  if (!changed) return false;
  dialect_ = *std::move(changed);
  ++dialect_version_;
  return true;
}

void NetworkModel::OnError(const std::shared_ptr<Job>& job, const Error& error) {
  if (error.kind == ErrorKind::kInput && job->adaptations < kMaxAdaptations && AdaptTo(*job, error)) {
    ++job->adaptations;
    Log("model", fmt::format("{}: leaving out a rejected parameter from now on: {}", info_.name, error.message));
    return Send(job);
  }
  if (AsksForModelList(error)) {
    HttpRequest list = NewRequest(connection_);
    list.method = "GET";
    list.total_timeout = milliseconds{10'000};
    endpoint_.Start(ModelListPath(connection_), std::move(list),
                    [this, job, failed = error](const Result<HttpResponse>& models) {
                      Guarded(job, [&] {
                        Error advised = failed;
                        advised.message += ModelListAdvice(connection_, format_.path, spec_.model, failed, models);
                        Finish(job, std::move(advised));
                      });
                    });
    return;
  }
  Error advised = error;
  advised.message += ConnectionAdvice(connection_, error);
  Finish(job, std::move(advised));
}

void NetworkModel::OnResponse(const std::shared_ptr<Job>& job, ChatResponse response) {
  if (!response.cost_usd && info_.price) response.cost_usd = CostUsd(*info_.price, response.usage);
  const bool by_tool = job->request.answer_schema && spec_.settings.structured == "tool_use";
  if (by_tool && response.tool_calls.size() == 1 && response.tool_calls.front().name == kAnswerTool) {
    response.text = response.tool_calls.front().raw_arguments;
    response.tool_calls.clear();
    response.provider_blocks = nullptr;
    if (response.stop == StopReason::kToolUse) response.stop = StopReason::kEnd;
  }
  Finish(job, std::move(response));
}

void NetworkModel::Finish(const std::shared_ptr<Job>& job, Result<ChatResponse> result) {
  const Done done = std::exchange(job->done, nullptr);
  try {
    done(std::move(result));
  } catch (const std::exception& e) {
    Log("model", fmt::format("{}: the taker of an answer failed: {}", info_.name, e.what()));
  }
  // Notify under the lock: the destructor may continue as soon as it is released.
  const std::lock_guard lock(mutex_);
  --pending_;
  idle_.notify_all();
}

Result<std::unique_ptr<Model>> OpenNetworkModel(const ModelSpec& spec, const NetworkOptions& options) {
  ASSIGN_OR_RETURN(Connection connection, ConnectionOf(spec, options));
  ModelInfo info;
  info.name = spec.text;
  info.identity = fmt::format("{} at {}", spec.canonical, connection.servers);
  info.detail = fmt::format("{}, {}", connection.hosts.empty() ? spec.provider : connection.hosts, spec.model);
  info.local = connection.local;
  info.warm_up = !connection.local;
  info.takes_tools = true;
  info.price = options.catalog->PriceOf(spec.provider, spec.model);
  constexpr std::int64_t kLongContext = 1'000'000;
  info.context_tokens =
      spec.settings.long_context ? kLongContext : options.catalog->ContextOf(spec.provider, spec.model);
  return std::unique_ptr<Model>(std::make_unique<NetworkModel>(spec, std::move(connection), std::move(info), options));
}

}  // namespace upskill
