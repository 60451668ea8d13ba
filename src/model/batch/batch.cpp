// SPDX-License-Identifier: Apache-2.0
#include "model/batch/batch.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <chrono>
#include <functional>
#include <optional>
#include <set>
#include <utility>

#include "model/answer_json.h"
#include "model/wire/wire.h"
#include "net/http_error.h"
#include "util/await.h"
#include "util/text.h"

namespace upskill {
namespace {

constexpr double kBatchPrice = 0.5;
constexpr std::size_t kMaxResultBytes = 4ULL << 30U;
constexpr std::size_t kMaxLineBytes = 64U << 20U;
constexpr std::size_t kMaxIdBytes = 200;
constexpr int kMaxPages = 50;  // of a list of batches
constexpr const char* kTokenKey = "upskill";
// The provider's clock may differ from ours, and a large batch takes a while to arrive.
constexpr std::chrono::minutes kEarliest{-5};
constexpr std::chrono::minutes kLatest{60};

// Batch IDs become parts of paths, so they are limited to letters, digits, `_` and `-`.
Status CheckId(const std::string& id, std::size_t max_bytes) {
  const bool clean = !id.empty() && id.size() <= max_bytes && std::all_of(id.begin(), id.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '-';
  });
  if (clean) return {};
  return InputError(fmt::format("'{}' is not a valid batch or request ID", ExcerptLine(id, 80)));
}

// A request that a batch has no answer to. A batch that was ended before the request's turn says nothing about it.
Error WithoutAnswer(const std::string& why) {
  const std::string message = fmt::format("the batch has no answer to this request: {}", ExcerptLine(why, 80));
  return Error{ErrorKind::kUnavailable, message}.Because(
      ContainsAny(why, {"expired", "cancel"}) ? ErrorCause::kNotSent : ErrorCause::kUnknown);
}

// Splits a body that arrives in pieces into lines.
class LineReader {
 public:
  explicit LineReader(std::function<void(std::string_view)> on_line) : on_line_(std::move(on_line)) {}

  bool Feed(std::string_view piece) {
    while (true) {
      const std::size_t end = piece.find('\n');
      if (line_.size() + std::min(end, piece.size()) > kMaxLineBytes) return false;
      line_ += piece.substr(0, end);
      if (end == std::string_view::npos) return true;
      Flush();
      piece.remove_prefix(end + 1);
    }
  }

  void Flush() {
    if (!Trim(line_).empty()) on_line_(line_);
    line_.clear();
  }

 private:
  std::function<void(std::string_view)> on_line_;
  std::string line_;
};

// Shared by the batches of both providers: the blocking calls, and the bodies of requests and answers.
class BatchBase : public BatchApi {
 public:
  BatchBase(ModelSpec spec, Connection connection, const NetworkOptions& options)
      : spec_(std::move(spec)),
        connection_(std::move(connection)),
        format_(WireFormatOf(connection_.provider.wire)),
        price_(options.catalog->PriceOf(spec_.provider, spec_.model)),
        client_(options.client),
        clock_(*options.clock) {}

  void Abort() override { aborted_.store(true); }

  std::size_t BytesOf(const BatchItem& item) const override { return Line(item).size() + 1; }

  Result<std::string> Submit(const std::vector<BatchItem>& items, const std::string& token) override {
    RETURN_IF_ERROR(CheckItems(items));
    std::vector<std::string> lines;
    std::size_t bytes = 0;
    lines.reserve(items.size());
    for (const BatchItem& item : items) {
      lines.push_back(Line(item));
      bytes += lines.back().size() + 1;
    }
    if (bytes > MaxBytes())
      return InputError(fmt::format("the batch has {} bytes; the maximum is {}", bytes, MaxBytes()));
    return SubmitLines(lines, token);
  }

 protected:
  virtual std::string Line(const BatchItem& item) const = 0;
  virtual Result<std::string> SubmitLines(const std::vector<std::string>& lines, const std::string& token) = 0;

  std::string Url(const std::string& path) const { return connection_.base_urls.front() + path; }

  Json Body(const ChatRequest& request) const {
    const WireOptions options{
        connection_.provider, spec_.model, spec_.effort, spec_.settings, DialectOf(connection_.provider), false, ""};
    if (!request.answer_schema || UsesNativeSchema(request, options)) return format_.build(request, options);
    ChatRequest instructed = request;
    AddSchemaInstruction(instructed);
    return format_.build(instructed, options);
  }

  Result<ChatResponse> Answer(const Json& body) const {
    ASSIGN_OR_RETURN(ChatResponse response, format_.parse(body));
    if (price_) response.cost_usd = CostUsd(*price_, response.usage) * kBatchPrice;
    return response;
  }

  // Sends one request and waits; any response without success is an error.
  Result<HttpResponse> Call(HttpRequest request) const {
    HttpClient::Ticket ticket = 0;
    AwaitHooks hooks;
    hooks.stopped = [this] { return aborted_.load(); };
    hooks.cancel = [&] { client_->Cancel(ticket); };
    ASSIGN_OR_RETURN(
        HttpResponse response,
        Await<Result<HttpResponse>>(
            [&](HttpClient::Done done) { ticket = client_->Start(std::move(request), std::move(done)); }, hooks));
    if (response.status < 200 || response.status > 299) return ErrorOfResponse(response, clock_.WallNow());
    return response;
  }

  Result<Json> CallJson(const std::string& method, const std::string& path, std::string body = "") const {
    HttpRequest request = NewRequest(connection_);
    request.method = method;
    request.url = Url(path);
    request.body = std::move(body);
    // Submitting hundreds of megabytes takes time.
    request.idle_timeout = std::chrono::milliseconds{600'000};
    request.total_timeout = std::chrono::milliseconds{3'600'000};
    ASSIGN_OR_RETURN(const HttpResponse response, Call(std::move(request)));
    return ParseBody(response.body);
  }

  // A file of JSON lines, read line by line as it arrives.
  Status ReadLines(const std::string& path, const std::function<void(const Json&)>& on_line) const {
    HttpRequest request = NewRequest(connection_);
    request.method = "GET";
    request.url = Url(path);
    request.max_body_bytes = kMaxResultBytes;
    request.total_timeout = std::chrono::milliseconds{3'600'000};
    std::optional<Error> error;
    LineReader lines([&](std::string_view line) {
      const Result<Json> json = ParseBody(line);
      if (json) {
        on_line(*json);
      } else if (!error) {
        error = json.error().With("the batch's results");
      }
    });
    request.on_data = [&](std::string_view piece) { return lines.Feed(piece) && !error; };
    const Result<HttpResponse> response = Call(std::move(request));
    if (!response && !error) return response.error();
    if (!error) lines.Flush();
    if (error) return *std::move(error);
    return {};
  }

  // Visits the provider's batches, the newest first, until `visit` returns false.
  Status VisitBatches(const std::string& path, const char* after, const std::function<bool(const Json&)>& visit) const {
    std::string cursor;
    for (int page = 0; page < kMaxPages; ++page) {
      ASSIGN_OR_RETURN(const Json body, CallJson("GET", fmt::format("{}?limit=100{}", path, cursor)));
      const Json& batches = Member(body, "data");
      if (!batches.is_array() || batches.empty()) return {};
      for (const Json& batch : batches) {
        if (!visit(batch)) return {};
      }
      const std::string last = JsonGet<std::string>(batches.back(), "id", "");
      if (!JsonGet(body, "has_more", false) || !CheckId(last, kMaxIdBytes)) return {};
      cursor = fmt::format("&{}={}", after, last);
    }
    return {};
  }

  Result<std::string> IdIn(const Json& body) const {
    std::string id = JsonGet<std::string>(body, "id", "");
    if (!CheckId(id, kMaxIdBytes)) return Error{ErrorKind::kUnavailable, "the provider's response has no batch ID"};
    return id;
  }

  static void Put(const std::string& custom_id, Result<ChatResponse> answer, Answers& answers) {
    if (CheckId(custom_id, 64)) answers.insert_or_assign(custom_id, std::move(answer));
  }

  const Connection& connection() const { return connection_; }
  const WireFormat& format() const { return format_; }

 private:
  Status CheckItems(const std::vector<BatchItem>& items) const {
    if (items.empty()) return InputError("a batch needs at least one request");
    if (items.size() > MaxPerBatch())
      return InputError(fmt::format("the batch has {} requests; the maximum is {}", items.size(), MaxPerBatch()));
    std::set<std::string_view> ids;
    for (const BatchItem& item : items) {
      RETURN_IF_ERROR(CheckId(item.custom_id, 64));
      if (!ids.insert(item.custom_id).second)
        return InputError(fmt::format("duplicate request ID '{}'", item.custom_id));
    }
    return {};
  }

  const ModelSpec spec_;
  const Connection connection_;
  const WireFormat& format_;
  const std::optional<Price> price_;
  const std::shared_ptr<HttpClient> client_;  // one for the whole process
  const Clock& clock_;
  std::atomic<bool> aborted_ = false;
};

class AnthropicBatch : public BatchBase {
 public:
  using BatchBase::BatchBase;

  std::size_t MaxPerBatch() const override { return 100'000; }
  std::size_t MaxBytes() const override { return 256'000'000; }

  Result<BatchState> Poll(const std::string& id) override {
    RETURN_IF_ERROR(CheckId(id, kMaxIdBytes));
    ASSIGN_OR_RETURN(const Json body, CallJson("GET", std::string(kPath) + "/" + id));
    BatchState state;
    state.status = ExcerptLine(JsonGet<std::string>(body, "processing_status", ""), 40);
    if (state.status.empty()) return Error{ErrorKind::kUnavailable, "the provider's response has no batch status"};
    state.ended = state.status == "ended";
    const Json& counts = Member(body, "request_counts");
    state.waiting = TokensOf(counts, "processing");
    state.succeeded = TokensOf(counts, "succeeded");
    state.failed = TokensOf(counts, "errored") + TokensOf(counts, "canceled") + TokensOf(counts, "expired");
    return state;
  }

  Status Cancel(const std::string& id) override {
    RETURN_IF_ERROR(CheckId(id, kMaxIdBytes));
    RETURN_IF_ERROR(CallJson("POST", std::string(kPath) + "/" + id + "/cancel"));
    return {};
  }

  // There is no metadata. A batch that is taken for another one does no harm: it has no answers to our requests, which
  // are then submitted again.
  Result<std::optional<std::string>> Find(const BatchIntent& intent) override {
    const std::string earliest = UtcTimestamp(intent.time + kEarliest);
    const std::string latest = UtcTimestamp(intent.time + kLatest);
    std::optional<std::string> found;
    RETURN_IF_ERROR(VisitBatches(std::string(kPath), "after_id", [&](const Json& batch) {
      const std::string created = JsonGet<std::string>(batch, "created_at", "");
      if (created < earliest) return false;
      const Json& counts = Member(batch, "request_counts");
      std::int64_t requests = 0;
      for (const char* key : {"processing", "succeeded", "errored", "canceled", "expired"})
        requests += TokensOf(counts, key);
      const Result<std::string> id = IdIn(batch);
      if (id && created <= latest && requests == static_cast<std::int64_t>(intent.requests)) found = *id;
      return true;
    }));
    return found;
  }

  // Built from the API's path instead of results_url: the key is never sent to an address named in an answer.
  Result<Answers> Results(const std::string& id) override {
    RETURN_IF_ERROR(CheckId(id, kMaxIdBytes));
    Answers answers;
    RETURN_IF_ERROR(ReadLines(std::string(kPath) + "/" + id + "/results", [&](const Json& line) {
      Put(JsonGet<std::string>(line, "custom_id", ""), OneResult(Member(line, "result")), answers);
    }));
    return answers;
  }

 protected:
  std::string Line(const BatchItem& item) const override {
    return DumpJson({{"custom_id", item.custom_id}, {"params", Body(item.request)}});
  }

  Result<std::string> SubmitLines(const std::vector<std::string>& lines, const std::string& /*token*/) override {
    ASSIGN_OR_RETURN(const Json answer,
                     CallJson("POST", std::string(kPath), fmt::format("{{\"requests\":[{}]}}", fmt::join(lines, ","))));
    return IdIn(answer);
  }

 private:
  static constexpr std::string_view kPath = "/v1/messages/batches";

  Result<ChatResponse> OneResult(const Json& result) const {
    const std::string type = JsonGet<std::string>(result, "type", "");
    if (type == "succeeded") return Answer(Member(result, "message"));
    if (type == "errored") {
      // The error is in an object like an error response.
      const Json& error = Member(result, "error");
      if (std::optional<Error> reported = ErrorInBody(error)) return *std::move(reported);
      if (std::optional<Error> reported = ErrorInBody(Json{{"error", error}})) return *std::move(reported);
    }
    return WithoutAnswer(type);
  }
};

class OpenAiBatch : public BatchBase {
 public:
  using BatchBase::BatchBase;

  std::size_t MaxPerBatch() const override { return 50'000; }
  std::size_t MaxBytes() const override { return 200'000'000; }

  Result<BatchState> Poll(const std::string& id) override {
    ASSIGN_OR_RETURN(const Json body, BatchObject(id));
    BatchState state;
    state.status = JsonGet<std::string>(body, "status", "");
    static const std::set<std::string> ended_states = {"failed", "completed", "expired", "cancelled"};
    state.ended = ended_states.contains(state.status);
    const Json& counts = Member(body, "request_counts");
    state.succeeded = TokensOf(counts, "completed");
    state.failed = TokensOf(counts, "failed");
    state.waiting = std::max<std::int64_t>(0, TokensOf(counts, "total") - state.succeeded - state.failed);
    state.status = ExcerptLine(state.status, 40);
    if (state.status.empty()) return Error{ErrorKind::kUnavailable, "the provider's response has no batch status"};
    return state;
  }

  Result<std::optional<std::string>> Find(const BatchIntent& intent) override {
    const auto earliest =
        std::chrono::duration_cast<std::chrono::seconds>((intent.time + kEarliest).time_since_epoch()).count();
    std::optional<std::string> found;
    RETURN_IF_ERROR(VisitBatches("/batches", "after", [&](const Json& batch) {
      if (TokensOf(batch, "created_at") < earliest) return false;
      const bool ours = JsonGet<std::string>(Member(batch, "metadata"), kTokenKey, "") == intent.token;
      const Result<std::string> id = IdIn(batch);
      if (ours && id) found = *id;
      return !found;
    }));
    return found;
  }

  Status Cancel(const std::string& id) override {
    RETURN_IF_ERROR(CheckId(id, kMaxIdBytes));
    RETURN_IF_ERROR(CallJson("POST", "/batches/" + id + "/cancel"));
    return {};
  }

  Result<Answers> Results(const std::string& id) override {
    ASSIGN_OR_RETURN(const Json body, BatchObject(id));
    Answers answers;
    bool has_file = false;
    for (const char* key : {"output_file_id", "error_file_id"}) {
      const std::string file = JsonGet<std::string>(body, key, "");
      if (file.empty()) continue;
      RETURN_IF_ERROR(CheckId(file, kMaxIdBytes));
      has_file = true;
      RETURN_IF_ERROR(ReadLines("/files/" + file + "/content", [&](const Json& line) {
        Put(JsonGet<std::string>(line, "custom_id", ""), OneResult(line), answers);
      }));
    }
    if (!has_file) return WholeError(body);
    return answers;
  }

 protected:
  std::string Line(const BatchItem& item) const override {
    return DumpJson(
        {{"custom_id", item.custom_id}, {"method", "POST"}, {"url", Target()}, {"body", Body(item.request)}});
  }

  Result<std::string> SubmitLines(const std::vector<std::string>& lines, const std::string& token) override {
    HttpRequest upload = NewRequest(connection());
    std::erase_if(upload.headers,
                  [](const auto& header) { return header.first == "content-type"; });  // multipart has its own
    upload.url = Url("/files");
    upload.parts = {{"purpose", "", "batch"}, {"file", "batch.jsonl", fmt::format("{}\n", fmt::join(lines, "\n"))}};
    upload.idle_timeout = std::chrono::milliseconds{600'000};
    upload.total_timeout = std::chrono::milliseconds{3'600'000};
    ASSIGN_OR_RETURN(const HttpResponse uploaded, Call(std::move(upload)));
    ASSIGN_OR_RETURN(const Json file, ParseBody(uploaded.body));
    ASSIGN_OR_RETURN(const std::string file_id, IdIn(file));
    const Json request = {{"input_file_id", file_id},
                          {"endpoint", Target()},
                          {"completion_window", "24h"},
                          {"metadata", {{kTokenKey, token}}}};
    ASSIGN_OR_RETURN(const Json answer, CallJson("POST", "/batches", DumpJson(request)));
    return IdIn(answer);
  }

 private:
  std::string Target() const { return "/v1" + std::string(format().path); }

  Result<Json> BatchObject(const std::string& id) const {
    RETURN_IF_ERROR(CheckId(id, kMaxIdBytes));
    return CallJson("GET", "/batches/" + id);
  }

  // A batch without any file: it is still running, or was rejected as a whole.
  static Error WholeError(const Json& body) {
    const std::string status = JsonGet<std::string>(body, "status", "unknown");
    const Json& list = Member(Member(body, "errors"), "data");
    if (list.is_array() && !list.empty()) {
      return InputError(fmt::format("the provider rejected the batch: {} (line {})",
                                    ExcerptLine(JsonGet<std::string>(list.front(), "message", ""), 300),
                                    TokensOf(list.front(), "line")));
    }
    return Error{ErrorKind::kUnavailable,
                 fmt::format("the batch has no results; its status is '{}'", ExcerptLine(status, 40))};
  }

  Result<ChatResponse> OneResult(const Json& line) const {
    const Json& response = Member(line, "response");
    const std::int64_t status = TokensOf(response, "status_code");
    const Json& body = Member(response, "body");
    if (status >= 200 && status <= 299) return Answer(body);
    if (status != 0) {
      HttpResponse failed;
      failed.status = static_cast<int>(std::min<std::int64_t>(status, 999));
      failed.body = DumpJson(body);
      return ErrorOfResponse(failed, {});
    }
    return WithoutAnswer(JsonGet<std::string>(Member(line, "error"), "code", "no answer"));
  }
};

}  // namespace

Result<std::unique_ptr<BatchApi>> OpenBatchApi(const ModelSpec& spec, const NetworkOptions& options) {
  const Provider* provider = options.catalog->FindProvider(spec.provider);
  if (provider == nullptr || provider->batch == BatchStyle::kNone) {
    return InputError(
        fmt::format("model '{}': no Batch API is supported for provider '{}'; supported providers: "
                    "anthropic, openai, responses",
                    spec.text, spec.provider));
  }
  ASSIGN_OR_RETURN(Connection connection, ConnectionOf(spec, options));
  if (provider->batch == BatchStyle::kAnthropic)
    return std::unique_ptr<BatchApi>(std::make_unique<AnthropicBatch>(spec, std::move(connection), options));
  return std::unique_ptr<BatchApi>(std::make_unique<OpenAiBatch>(spec, std::move(connection), options));
}

}  // namespace upskill
