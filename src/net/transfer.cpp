// SPDX-License-Identifier: Apache-2.0
#include "net/transfer.h"

#include <curl/curl.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <exception>
#include <new>
#include <system_error>
#include <utility>

#include "util/base64.h"
#include "util/text.h"

namespace upskill {

namespace {

constexpr std::size_t kMaxHeaderBytes = 256U << 10U;
constexpr std::size_t kMaxErrorBody = 1U << 20U;
// A body beyond the free size may be this many times as large as what was received of it. JSON and text compress to a
// tenth; gzip can reach 1,032 times, other encodings, or several of them, much more.
constexpr std::size_t kFreeUnpackedBytes = 4U << 20U;
constexpr std::size_t kMaxUnpackRatio = 100;

bool IsToken(std::string_view text) {  // RFC 9110, section 5.6.2
  constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
  return !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
    return IsAsciiAlphanumeric(c) || kMarks.find(c) != std::string_view::npos;
  });
}

bool IsHeaderValue(std::string_view text) {
  return std::none_of(text.begin(), text.end(), [](char c) { return (c >= 0 && c < ' ' && c != '\t') || c == 0x7F; });
}

// Without the scheme: "Bearer KEY". Of "Basic …" (RFC 7617) also the password in it.
void RememberCredentials(const Secret& header) {
  const std::string& value = header.reveal();
  const std::string credentials = value.substr(value.find(' ') + 1);
  RememberSecret(Secret(credentials));
  if (!ToLowerAscii(value).starts_with("basic ")) return;
  const std::string pair = DecodeBase64(credentials);
  RememberSecret(Secret(pair.substr(pair.find(':') + 1)));
}

// Secrets are sent in headers only, and each in its own.
std::shared_ptr<const HttpRequest> WithoutSecretsInBody(std::shared_ptr<const HttpRequest> request) {
  const bool clean = !HasKnownSecret(request->body) &&
                     std::none_of(request->parts.begin(), request->parts.end(),
                                  [](const HttpRequest::Part& part) { return HasKnownSecret(part.content); });
  if (clean) return request;
  auto masked = std::make_shared<HttpRequest>(*request);
  masked->body = MaskSecrets(std::move(masked->body));
  for (HttpRequest::Part& part : masked->parts) part.content = MaskSecrets(std::move(part.content));
  return masked;
}

std::string SecondsText(std::chrono::milliseconds time) {
  return fmt::format("{:g} s", static_cast<double>(time.count()) / 1000.0);
}

}  // namespace

// Exceptions can't pass through libcurl: they end the transfer.
template <typename Work>
bool Transfer::Guarded(const Work& work) noexcept {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    failure_ = Error{ErrorKind::kInput, "not enough memory for the response"};
  } catch (const std::exception& e) {
    failure_ = Error{ErrorKind::kPermanent,
                     fmt::format("the response from {} could not be processed: {}", url_.authority, e.what())};
  } catch (...) {
    failure_ = Error{ErrorKind::kPermanent, "the response from " + url_.authority + " could not be processed"};
  }
  return false;
}

// libcurl's callbacks: C functions that find their transfer through a pointer.
struct TransferCallbacks {
  static std::size_t Header(char* data, std::size_t size, std::size_t count, void* transfer) noexcept {
    auto* self = static_cast<Transfer*>(transfer);
    const bool taken = self->Guarded([&] { return self->TakeHeaderLine({data, size * count}); });
    return taken ? size * count : CURL_WRITEFUNC_ERROR;
  }
  static std::size_t Body(char* data, std::size_t size, std::size_t count, void* transfer) noexcept {
    auto* self = static_cast<Transfer*>(transfer);
    const bool taken = self->Guarded([&] { return self->TakeBody({data, size * count}); });
    return taken ? size * count : CURL_WRITEFUNC_ERROR;
  }
  static int Progress(void* transfer, curl_off_t, curl_off_t down, curl_off_t, curl_off_t up) noexcept {
    static_cast<Transfer*>(transfer)->TakeProgress(down + up);
    return 0;
  }
  static int Connected(void* transfer, char*, char*, int, int) noexcept {
    auto* self = static_cast<Transfer*>(transfer);
    const auto take = [&] {
      self->TakeConnection();
      return true;
    };
    return self->Guarded(take) ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT;
  }
  // Child processes started meanwhile must not inherit the connections.
  static curl_socket_t OpenSocket(void*, curlsocktype, curl_sockaddr* address) noexcept {
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
  }
  static std::size_t ReadPart(char* data, std::size_t size, std::size_t count, void* reader) noexcept {
    auto* part = static_cast<Transfer::PartReader*>(reader);
    const std::size_t length = std::min(size * count, part->content.size() - part->offset);
    part->content.copy(data, length, part->offset);
    part->offset += length;
    return length;
  }
  static int SeekPart(void* reader, curl_off_t offset, int origin) noexcept {
    auto* part = static_cast<Transfer::PartReader*>(reader);
    if (origin != SEEK_SET || offset < 0 || static_cast<std::size_t>(offset) > part->content.size())
      return CURL_SEEKFUNC_FAIL;
    part->offset = static_cast<std::size_t>(offset);
    return CURL_SEEKFUNC_OK;
  }
};

Transfer::Transfer(std::shared_ptr<const HttpRequest> request)
    : request_(std::move(request)), error_text_(CURL_ERROR_SIZE, '\0') {}

Transfer::~Transfer() {
  curl_mime_free(mime_);
  curl_slist_free_all(header_list_);
}

Status Transfer::Prepare(void* easy, const CaBundle& ca_bundle) {
  easy_ = easy;
  started_ = last_progress_ = std::chrono::steady_clock::now();
  ASSIGN_OR_RETURN(url_, ParseHttpUrl(request_->url));
  RememberSecret(url_.password);
  for (const auto& [name, secret] : request_->secret_headers) RememberCredentials(secret);
  request_ = WithoutSecretsInBody(std::move(request_));
  RETURN_IF_ERROR(SetHeaders());
  RETURN_IF_ERROR(SetMethod());
  if (url_.secure && ca_bundle.missing) return NoCaBundleError();
  SetConnection(ca_bundle.file);

  curl_easy_setopt(easy_, CURLOPT_ERRORBUFFER, error_text_.data());
  curl_easy_setopt(easy_, CURLOPT_HEADERFUNCTION, &TransferCallbacks::Header);
  curl_easy_setopt(easy_, CURLOPT_HEADERDATA, this);
  curl_easy_setopt(easy_, CURLOPT_WRITEFUNCTION, &TransferCallbacks::Body);
  curl_easy_setopt(easy_, CURLOPT_WRITEDATA, this);
  curl_easy_setopt(easy_, CURLOPT_XFERINFOFUNCTION, &TransferCallbacks::Progress);
  curl_easy_setopt(easy_, CURLOPT_XFERINFODATA, this);
  curl_easy_setopt(easy_, CURLOPT_NOPROGRESS, 0L);
  curl_easy_setopt(easy_, CURLOPT_PREREQFUNCTION, &TransferCallbacks::Connected);
  curl_easy_setopt(easy_, CURLOPT_PREREQDATA, this);
  return {};
}

void Transfer::SetConnection(const std::string& ca_file) {
  curl_easy_setopt(easy_, CURLOPT_URL, request_->url.c_str());
  curl_easy_setopt(easy_, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(easy_, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(easy_, CURLOPT_ACCEPT_ENCODING, "");  // all encodings that libcurl supports
  curl_easy_setopt(easy_, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy_, CURLOPT_QUICK_EXIT, 1L);  // a pending name lookup must not hold up the thread
  curl_easy_setopt(easy_, CURLOPT_TCP_KEEPALIVE, 1L);
  curl_easy_setopt(easy_, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  curl_easy_setopt(easy_, CURLOPT_OPENSOCKETFUNCTION, &TransferCallbacks::OpenSocket);
  curl_easy_setopt(easy_, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(request_->connect_timeout.count()));
  if (url_.loopback) curl_easy_setopt(easy_, CURLOPT_NOPROXY, "*");
  if (!ca_file.empty()) {
    curl_easy_setopt(easy_, CURLOPT_CAINFO, ca_file.c_str());
    curl_easy_setopt(easy_, CURLOPT_PROXY_CAINFO, ca_file.c_str());
  }
  long version = CURL_HTTP_VERSION_1_1;
  if (url_.secure) version = CURL_HTTP_VERSION_2TLS;
  if (request_->http2_prior_knowledge) {
    version = CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE;
    curl_easy_setopt(easy_, CURLOPT_FRESH_CONNECT, 1L);  // libcurl 7.88 resends the preface on a reused connection
    curl_easy_setopt(easy_, CURLOPT_FORBID_REUSE, 1L);
  }
  curl_easy_setopt(easy_, CURLOPT_HTTP_VERSION, version);
  // With many concurrent requests to a new host, find out first whether one connection can carry them all.
  curl_easy_setopt(easy_, CURLOPT_PIPEWAIT, 1L);
}

Status Transfer::AddHeader(const std::string& name, const std::string& value) {
  if (!IsToken(name)) return Error{ErrorKind::kPermanent, "a header name contains characters that HTTP doesn't allow"};
  if (!IsHeaderValue(value)) {
    return Error{ErrorKind::kPermanent,
                 "the value of the header " + name + " contains a line break or control character; check the API key"};
  }
  // `Name;` makes libcurl send a header without a value.
  curl_slist* longer = curl_slist_append(header_list_, (value.empty() ? name + ";" : name + ": " + value).c_str());
  if (longer != nullptr) header_list_ = longer;
  return {};
}

Status Transfer::SetHeaders() {
  bool has_type = false;
  bool has_agent = false;
  for (const auto& [name, value] : request_->headers) {
    const std::string lower = ToLowerAscii(name);
    has_type |= lower == "content-type";
    has_agent |= lower == "user-agent";
    RETURN_IF_ERROR(AddHeader(name, value));
  }
  for (const auto& [name, secret] : request_->secret_headers) RETURN_IF_ERROR(AddHeader(name, secret.reveal()));
  // By default, libcurl declares every body a form and asks servers for permission to send a large one, which many
  // ignore.
  header_list_ = curl_slist_append(header_list_, "Expect:");
  if (!has_type && request_->parts.empty()) header_list_ = curl_slist_append(header_list_, "Content-Type:");
  if (!has_agent) header_list_ = curl_slist_append(header_list_, "User-Agent: upskill");
  curl_easy_setopt(easy_, CURLOPT_HTTPHEADER, header_list_);
  return {};
}

Status Transfer::SetMethod() {
  const std::string& method = request_->method;
  if (!IsToken(method))
    return Error{ErrorKind::kPermanent, "the request method contains characters that HTTP doesn't allow"};
  if (!request_->parts.empty()) {
    RETURN_IF_ERROR(SetParts());
  } else if (method == "POST" || !request_->body.empty()) {
    curl_easy_setopt(easy_, CURLOPT_POST, 1L);
    curl_easy_setopt(easy_, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request_->body.size()));
    curl_easy_setopt(easy_, CURLOPT_POSTFIELDS, request_->body.data());
  } else if (method == "HEAD") {
    curl_easy_setopt(easy_, CURLOPT_NOBODY, 1L);
  } else {
    curl_easy_setopt(easy_, CURLOPT_HTTPGET, 1L);
  }
  if (method != "POST" && method != "GET" && method != "HEAD")
    curl_easy_setopt(easy_, CURLOPT_CUSTOMREQUEST, method.c_str());
  return {};
}

Status Transfer::SetParts() {
  mime_ = curl_mime_init(easy_);
  readers_.reserve(request_->parts.size());  // libcurl keeps pointers to its elements
  for (const HttpRequest::Part& part : request_->parts) {
    PartReader& reader = readers_.emplace_back(PartReader{part.content});
    curl_mimepart* added = curl_mime_addpart(mime_);
    curl_mime_name(added, part.name.c_str());
    if (!part.file_name.empty()) curl_mime_filename(added, part.file_name.c_str());
    const CURLcode code =
        curl_mime_data_cb(added, static_cast<curl_off_t>(part.content.size()), &TransferCallbacks::ReadPart,
                          &TransferCallbacks::SeekPart, nullptr, &reader);
    if (code != CURLE_OK) return Error{ErrorKind::kUnavailable, "out of memory"}.Because(ErrorCause::kNotSent);
  }
  curl_easy_setopt(easy_, CURLOPT_MIMEPOST, mime_);
  return {};
}

void Transfer::TakeConnection() {
  last_progress_ = std::chrono::steady_clock::now();
  if (!connected_) connected_ = last_progress_;
  if (request_->on_connected) request_->on_connected();
}

void Transfer::TakeProgress(long long bytes) {
  if (bytes == progress_bytes_) return;
  progress_bytes_ = bytes;
  last_progress_ = std::chrono::steady_clock::now();
}

bool Transfer::TakeHeaderLine(std::string_view received) {
  last_progress_ = std::chrono::steady_clock::now();
  header_bytes_ += received.size();
  const std::string masked = MaskSecrets(std::string(received));
  const std::string_view line = masked;
  if (header_bytes_ > kMaxHeaderBytes) {
    failure_ = Error{ErrorKind::kUnavailable, url_.authority + " sent more than 256 KiB of headers"}.Because(
        ErrorCause::kUnusable);
    return false;
  }
  if (headers_done_) return true;  // a trailer
  if (line.starts_with("HTTP/")) {
    response_.headers.clear();  // those of an interim response (1xx)
    framing_ = {};
    return true;
  }
  const std::size_t colon = line.find(':');
  if (colon != std::string_view::npos) {
    const std::string name = ToLowerAscii(Trim(line.substr(0, colon)));
    const std::string_view value = Trim(line.substr(colon + 1));
    if (const std::optional<std::string> problem = framing_.Add(name, value)) {
      failure_ = Error{ErrorKind::kUnavailable, url_.authority + " " + *problem}.Because(ErrorCause::kUnusable);
      return false;
    }
    response_.headers[name] = std::string(value);
  } else if (Trim(line).empty()) {
    long status = 0;
    curl_easy_getinfo(easy_, CURLINFO_RESPONSE_CODE, &status);
    response_.status = static_cast<int>(status);
    headers_done_ = status >= 200;
    if (headers_done_ && request_->on_headers) request_->on_headers(response_.status, response_.headers);
  }
  return true;
}

// Whether the body unpacks to far more than what was sent.
bool Transfer::IsInflated() const {
  if (body_bytes_ <= kFreeUnpackedBytes) return false;
  curl_off_t received = 0;
  curl_easy_getinfo(easy_, CURLINFO_SIZE_DOWNLOAD_T, &received);
  return body_bytes_ / kMaxUnpackRatio > static_cast<std::size_t>(std::max<curl_off_t>(received, 0));
}

bool Transfer::TakeBody(std::string_view piece) {
  last_progress_ = std::chrono::steady_clock::now();
  if (response_.status < 200 || response_.status > 299) {
    const std::size_t room = std::min(kMaxErrorBody, request_->max_body_bytes) - response_.body.size();
    cut_ = piece.size() > room;
    response_.body.append(piece.substr(0, room));
    return !cut_;
  }
  body_bytes_ += piece.size();
  if (body_bytes_ > request_->max_body_bytes) {
    failure_ = InputError(fmt::format("the response from {} is larger than {} bytes", url_.authority,
                                      request_->max_body_bytes))
                   .Because(ErrorCause::kTooLong);
    return false;
  }
  if (IsInflated()) {
    failure_ = InputError(fmt::format("the response from {} is compressed and unpacks to more than {} times its size",
                                      url_.authority, kMaxUnpackRatio))
                   .Because(ErrorCause::kTooLong);
    return false;
  }
  if (!request_->on_data) {
    response_.body.append(piece);
    return true;
  }
  return PassOn(request_->is_binary ? piece : mask_.Feed(piece));
}

bool Transfer::PassOn(std::string_view piece) {
  if (piece.empty() || request_->on_data(piece)) return true;
  failure_ = Error{ErrorKind::kPermanent, "the response from " + url_.authority + " was cancelled by its reader"};
  return false;
}

Transfer::Time Transfer::NextLook(Time now) const {
  const auto shorter = std::min(request_->idle_timeout, request_->total_timeout);
  if (connected_) return std::min(last_progress_ + request_->idle_timeout, *connected_ + request_->total_timeout);
  // The connection may be established at any moment; checking again after the shorter timeout can't be late.
  return std::min(started_ + request_->connect_timeout, now + shorter);
}

std::optional<Error> Transfer::TimedOut(Time now) const {
  if (!connected_) {
    if (now < started_ + request_->connect_timeout) return std::nullopt;
    return Error{ErrorKind::kUnavailable,
                 fmt::format("no connection to {} within {}", url_.authority, SecondsText(request_->connect_timeout))}
        .Because(ErrorCause::kUnreachable);
  }
  if (now >= *connected_ + request_->total_timeout) {
    return Error{ErrorKind::kUnavailable, fmt::format("the response from {} is incomplete after {}", url_.authority,
                                                      SecondsText(request_->total_timeout))}
        .Because(ErrorCause::kTimeout);
  }
  if (now < last_progress_ + request_->idle_timeout) return std::nullopt;
  return Error{ErrorKind::kUnavailable,
               fmt::format("no data from {} for {}", url_.authority, SecondsText(request_->idle_timeout))}
      .Because(ErrorCause::kTimeout);
}

// Libcurl's words repeat the address and count milliseconds; the system's reason is shorter and says more.
std::string Transfer::Reason(int curl_code) const {
  const auto code = static_cast<CURLcode>(curl_code);
  if (code == CURLE_COULDNT_RESOLVE_HOST) return "unknown host";
  long error_number = 0;
  if (code == CURLE_COULDNT_CONNECT && curl_easy_getinfo(easy_, CURLINFO_OS_ERRNO, &error_number) == CURLE_OK &&
      error_number != 0)
    return ToLowerAscii(std::generic_category().message(static_cast<int>(error_number)));
  if (code == CURLE_OUT_OF_MEMORY) return "a line of its headers is too long, or there is no memory left";
  const std::string message(error_text_.data());
  return ServerText(message.empty() ? curl_easy_strerror(code) : message);
}

Error Transfer::ErrorOfCode(int curl_code) const {
  const auto code = static_cast<CURLcode>(curl_code);
  const std::string reason = Reason(code);
  ErrorKind kind = ErrorKind::kUnavailable;
  switch (code) {
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_ISSUER_ERROR:
      kind = ErrorKind::kPermanent;
      break;
    default:
      break;
  }
  const std::string what = connected_ ? "transfer error with" : "no connection to";
  return Error{kind, fmt::format("{} {}: {}", what, url_.authority, reason)}.Because(
      connected_ ? ErrorCause::kBroken : ErrorCause::kUnreachable);
}

Result<HttpResponse> Transfer::Finish(int curl_code) {
  if (failure_) return *failure_;
  if (!cut_ && curl_code != CURLE_OK) return ErrorOfCode(curl_code);
  if (!headers_done_)
    return Error{ErrorKind::kUnavailable, "no response from " + url_.authority}.Because(ErrorCause::kBroken);
  const bool passes_on = request_->on_data && response_.status >= 200 && response_.status <= 299;
  if (passes_on && !PassOn(mask_.Rest())) return *failure_;
  // What a cut body ends with may be the start of a secret.
  response_.body = cut_ ? std::string(mask_.Feed(response_.body)) : MaskSecrets(std::move(response_.body));
  curl_off_t total = 0;
  curl_easy_getinfo(easy_, CURLINFO_TOTAL_TIME_T, &total);
  response_.seconds = static_cast<double>(total) * 1e-6;
  return std::move(response_);
}

}  // namespace upskill
