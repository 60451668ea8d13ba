// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "net/ca_bundle.h"
#include "net/http_client.h"
#include "net/message_framing.h"
#include "net/url.h"
#include "util/known_secrets.h"
#include "util/result.h"

struct curl_slist;  // NOLINT(readability-identifier-naming): a type of libcurl
struct curl_mime;   // NOLINT(readability-identifier-naming)

namespace upskill {

// One request in flight and the response received so far, without the secrets that the process knows, whoever sent
// them. Sets up an easy handle of libcurl, whose callbacks point here, so it must outlive the handle's work and must
// not be moved. Used on the client's thread only.
class Transfer {
 public:
  using Time = std::chrono::steady_clock::time_point;

  explicit Transfer(std::shared_ptr<const HttpRequest> request);
  ~Transfer();
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

  // Puts the request into a fresh or reset easy handle (CURL*), which the caller owns.
  Status Prepare(void* easy, const CaBundle& ca_bundle);

  // The response, or the error, once libcurl reports that the handle is done (CURLcode).
  Result<HttpResponse> Finish(int curl_code);

  // When to check the timeouts next, and the error if one has passed.
  Time NextLook(Time now) const;
  std::optional<Error> TimedOut(Time now) const;

 private:
  friend struct TransferCallbacks;
  struct PartReader {
    std::string_view content;
    std::size_t offset = 0;
  };

  Status SetHeaders();
  Status AddHeader(const std::string& name, const std::string& value);
  Status SetMethod();
  Status SetParts();
  void SetConnection(const std::string& ca_file);
  template <typename Work>
  bool Guarded(const Work& work) noexcept;
  void TakeConnection();
  bool TakeHeaderLine(std::string_view line);
  bool TakeBody(std::string_view piece);
  bool PassOn(std::string_view piece);
  bool IsInflated() const;
  void TakeProgress(long long bytes);
  std::string Reason(int curl_code) const;
  Error ErrorOfCode(int curl_code) const;

  std::shared_ptr<const HttpRequest> request_;
  HttpUrl url_;
  void* easy_ = nullptr;
  curl_slist* header_list_ = nullptr;
  curl_mime* mime_ = nullptr;
  std::vector<PartReader> readers_;
  std::vector<char> error_text_;  // libcurl's message

  HttpResponse response_;
  SecretStreamMask mask_;  // of the body
  MessageFraming framing_;
  std::size_t header_bytes_ = 0;
  std::size_t body_bytes_ = 0;
  bool headers_done_ = false;
  bool cut_ = false;              // the rest of a long error page is dropped
  std::optional<Error> failure_;  // why a callback ended the transfer

  Time started_;
  std::optional<Time> connected_;
  Time last_progress_;
  long long progress_bytes_ = 0;
};

}  // namespace upskill
