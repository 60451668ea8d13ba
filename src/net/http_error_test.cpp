// SPDX-License-Identifier: Apache-2.0
#include "net/http_error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/url.h"
#include "util/text.h"

namespace upskill {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;

constexpr Clock::Wall kNow{seconds(1'767'225'600)};  // Thu, 01 Jan 2026 00:00:00 GMT

HttpResponse ResponseWith(int status, std::string body = "", std::map<std::string, std::string> headers = {}) {
  HttpResponse response;
  response.status = status;
  response.body = std::move(body);
  response.headers = std::move(headers);
  return response;
}

ErrorKind KindOf(const HttpResponse& response) { return ErrorOfResponse(response, kNow).kind; }

std::string MessageOf(const HttpResponse& response) { return ErrorOfResponse(response, kNow).message; }

TEST(HttpError, KindFollowsTheStatus) {
  for (const int status : {408, 409, 429, 500, 502, 503, 504, 529})
    EXPECT_EQ(KindOf(ResponseWith(status)), ErrorKind::kUnavailable) << status;
  for (const int status : {301, 302, 307, 401, 402, 403, 404})
    EXPECT_EQ(KindOf(ResponseWith(status)), ErrorKind::kPermanent) << status;
  for (const int status : {400, 405, 413, 422}) EXPECT_EQ(KindOf(ResponseWith(status)), ErrorKind::kInput) << status;
}

TEST(HttpError, CauseFollowsTheStatusTheTimeAndTheWords) {
  const auto cause_of = [](HttpResponse response, double after = 0.1) {
    response.seconds = after;
    return ErrorOfResponse(response, kNow).cause;
  };
  EXPECT_EQ(cause_of(ResponseWith(429), 60.0), ErrorCause::kRateLimit);
  for (const int status : {301, 400, 401, 403, 404, 413, 422})
    EXPECT_EQ(cause_of(ResponseWith(status)), ErrorCause::kRejected) << status;
  for (const int status : {503, 529}) {
    EXPECT_EQ(cause_of(ResponseWith(status)), ErrorCause::kOverloaded) << status;
    EXPECT_EQ(cause_of(ResponseWith(status), 30.0), ErrorCause::kServerError) << status;
  }
  for (const int status : {500, 502}) EXPECT_EQ(cause_of(ResponseWith(status)), ErrorCause::kServerError) << status;
  for (const int status : {408, 504}) EXPECT_EQ(cause_of(ResponseWith(status)), ErrorCause::kTimeout) << status;
  EXPECT_EQ(cause_of(ResponseWith(400, R"({"error":{"code":"content_filter","message":"m"}})")), ErrorCause::kFiltered);
  EXPECT_EQ(cause_of(ResponseWith(400, R"({"error":{"code":"json_validate_failed","message":"m"}})")),
            ErrorCause::kUnusable);
}

TEST(HttpError, TheServersHeaderDecides) {
  EXPECT_EQ(KindOf(ResponseWith(429, "", {{"x-should-retry", "false"}})), ErrorKind::kPermanent);
  EXPECT_EQ(KindOf(ResponseWith(500, "", {{"x-should-retry", "false"}})), ErrorKind::kInput);
  EXPECT_EQ(KindOf(ResponseWith(400, "", {{"x-should-retry", "true"}})), ErrorKind::kUnavailable);
  EXPECT_EQ(KindOf(ResponseWith(429, "", {{"x-should-retry", "maybe"}})), ErrorKind::kUnavailable);
}

TEST(HttpError, LackOfCreditIsPermanent) {
  EXPECT_EQ(KindOf(ResponseWith(429, R"({"error":{"message":"over quota","type":"insufficient_quota"}})")),
            ErrorKind::kPermanent);
  EXPECT_EQ(
      KindOf(ResponseWith(429, R"({"error":{"message":"m","code":"insufficient_quota"}})", {{"retry-after", "1"}})),
      ErrorKind::kPermanent);
  EXPECT_EQ(
      KindOf(ResponseWith(
          400,
          R"({"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low"}})")),
      ErrorKind::kPermanent);
  EXPECT_EQ(KindOf(ResponseWith(403, R"({"error":"no credits left"})")), ErrorKind::kPermanent);
  EXPECT_EQ(KindOf(ResponseWith(429, "Check your plan and billing details")), ErrorKind::kPermanent);
  const HttpResponse empty = ResponseWith(429, R"({"error":{"type":"insufficient_quota"}})");
  EXPECT_FALSE(IsRateLimit(empty));
  const Error error = ErrorOfResponse(empty, {});
  EXPECT_EQ(error.cause, ErrorCause::kRejected);
  EXPECT_NE(error.message.find("the account has no credit or quota left"), std::string::npos) << error.message;
}

TEST(HttpError, MentionsOfMoneyAloneDoNotEndARun) {
  // Rate limits that advertise: they pass with time.
  const std::string text = "Rate limit reached. Add a payment method at https://example.com/account/billing";
  EXPECT_EQ(KindOf(ResponseWith(429, R"({"error":{"message":")" + text + R"(","code":"rate_limit_exceeded"}})")),
            ErrorKind::kUnavailable);
  EXPECT_EQ(KindOf(ResponseWith(429, R"({"error":{"message":")" + text + R"("}})", {{"retry-after", "20"}})),
            ErrorKind::kUnavailable);
  EXPECT_EQ(KindOf(ResponseWith(400, R"({"error":{"message":"messages.0: unknown field credit"}})")),
            ErrorKind::kInput);
  EXPECT_EQ(KindOf(ResponseWith(500, R"({"error":{"message":"billing service is down"}})")), ErrorKind::kUnavailable);
}

TEST(HttpError, MessageHasStatusTextAndRequestId) {
  const std::string body = R"({"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}})";
  const auto response = ResponseWith(529, body, {{"request-id", "req_1"}});
  EXPECT_EQ(MessageOf(response), "HTTP 529 (overloaded_error): Overloaded [request req_1]");
  EXPECT_EQ(MessageOf(ResponseWith(500)), "HTTP 500");
}

TEST(HttpError, MessageHandlesEveryProvidersFormat) {
  EXPECT_EQ(MessageOf(ResponseWith(404, R"({"error":"model not found"})")), "HTTP 404: model not found");
  EXPECT_EQ(MessageOf(ResponseWith(400, R"({"object":"error","message":"m","code":400})")), "HTTP 400: m");
  EXPECT_EQ(MessageOf(ResponseWith(422, R"({"detail":"d"})")), "HTTP 422: d");
  EXPECT_EQ(MessageOf(ResponseWith(400, R"([{"error":{"message":"g","code":400}}])")), "HTTP 400: g");
  EXPECT_EQ(MessageOf(ResponseWith(502, "upstream\nis\ndown")), "HTTP 502: upstream is down");
  EXPECT_THAT(MessageOf(ResponseWith(404, "<!DOCTYPE html><html>secret</html>")), HasSubstr("web page"));
}

TEST(HttpError, MessageHandlesOddResponses) {
  for (const char* body : {"{", "[]", "[[[[]]]]", "{}", "null", "\xff\xfe", R"({"error":null})",
                           R"({"error":{"message":7}})", R"({"error":[1]})"}) {
    EXPECT_THAT(MessageOf(ResponseWith(400, body)), HasSubstr("HTTP 400")) << body;
  }
}

TEST(HttpError, MessageIsShortAndOnOneLine) {
  const std::string id = "\x1b]0;\xff" + std::string(9000, 'y');
  const std::string message =
      MessageOf(ResponseWith(500, "\x1b[31m\n\xff" + std::string(100'000, 'x'), {{"request-id", id}}));
  EXPECT_EQ(FindInvalidUtf8(message), std::nullopt);
  EXPECT_EQ(message.find('\n'), std::string::npos);
  EXPECT_LT(DisplayColumns(message), 640U);
}

TEST(HttpError, RedirectNamesTheHostOnly) {
  const std::string message =
      MessageOf(ResponseWith(307, "", {{"location", "https://u:secret@Other.example:8443/path?token=secret"}}));
  EXPECT_EQ(message, "HTTP 307: the server redirects to https://other.example:8443; use that address as its base URL");
  EXPECT_THAT(MessageOf(ResponseWith(302, "", {{"location", "/relative"}})), HasSubstr("redirects elsewhere"));
  EXPECT_THAT(MessageOf(ResponseWith(302)), HasSubstr("redirects elsewhere"));
}

TEST(RetryAfter, ReadsSecondsAndMilliseconds) {
  EXPECT_EQ(RetryAfter(ResponseWith(429, "", {{"retry-after", "7"}}), kNow), seconds(7));
  EXPECT_EQ(RetryAfter(ResponseWith(429, "", {{"retry-after", "0.5"}}), kNow), milliseconds(500));
  EXPECT_EQ(RetryAfter(ResponseWith(429, "", {{"retry-after", "7"}, {"retry-after-ms", "20"}}), kNow),
            milliseconds(20));
  EXPECT_EQ(RetryAfter(ResponseWith(429, "", {{"retry-after", "7"}, {"retry-after-ms", "soon"}}), kNow), seconds(7));
  EXPECT_EQ(RetryAfter(ResponseWith(429), kNow), std::nullopt);
}

TEST(ErrorOfResponse, ADelayOfHoursIsNotWaitedFor) {
  for (const int status : {429, 503, 529}) {
    const HttpResponse day = ResponseWith(status, "", {{"retry-after", "86400"}});
    const Error error = ErrorOfResponse(day, kNow);
    EXPECT_EQ(error.kind, ErrorKind::kPermanent) << status;
    EXPECT_THAT(error.message, HasSubstr("24 hours"));
    EXPECT_FALSE(IsRateLimit(day));
    EXPECT_TRUE(IsRateLimit(ResponseWith(status, "", {{"retry-after", "600"}}))) << status;
  }
}

TEST(RetryAfter, ReadsDatesByTheServersClock) {
  const auto delay = [](const std::string& after, const std::string& date) {
    return RetryAfter(ResponseWith(429, "", {{"retry-after", after}, {"date", date}}), kNow);
  };
  // A server whose clock is five hours ahead of ours.
  EXPECT_EQ(delay("Thu, 01 Jan 2026 05:00:30 GMT", "Thu, 01 Jan 2026 05:00:00 GMT"), seconds(30));
  // And five hours behind.
  EXPECT_EQ(delay("Wed, 31 Dec 2025 19:00:30 GMT", "Wed, 31 Dec 2025 19:00:00 GMT"), seconds(30));
  // Without its date ours has to do.
  EXPECT_EQ(delay("Thu, 01 Jan 2026 00:00:12 GMT", ""), seconds(12));
  // Past: now.
  EXPECT_EQ(delay("Wed, 31 Dec 2025 23:00:00 GMT", ""), seconds(0));
}

TEST(RetryAfter, IsBoundedAndIgnoresNonsense) {
  const auto delay = [](const std::string& after) {
    return RetryAfter(ResponseWith(429, "", {{"retry-after", after}}), kNow);
  };
  EXPECT_EQ(delay("86400"), seconds(120));
  EXPECT_EQ(delay("1e300"), seconds(120));
  EXPECT_EQ(delay("Fri, 01 Jan 2100 00:00:00 GMT"), seconds(120));
  for (const char* nonsense : {"", "-5", "nan", "inf", "soon", "5 s", "\xff"})
    EXPECT_EQ(delay(nonsense), std::nullopt) << nonsense;
}

TEST(RateLimit, IsDistinguishedFromAFault) {
  EXPECT_TRUE(IsRateLimit(ResponseWith(429)));
  EXPECT_TRUE(IsRateLimit(ResponseWith(529)));
  EXPECT_TRUE(IsRateLimit(ResponseWith(503, "", {{"retry-after", "1"}})));
  EXPECT_FALSE(IsRateLimit(ResponseWith(503)));
  EXPECT_FALSE(IsRateLimit(ResponseWith(500, "", {{"retry-after", "1"}})));
  EXPECT_FALSE(IsRateLimit(ResponseWith(429, "", {{"x-should-retry", "false"}})));
}

TEST(HttpUrl, IsParsed) {
  const auto url = ParseHttpUrl("https://user:pw@API.Example.com:8443/v1?q=1");
  ASSERT_TRUE(url.ok());
  EXPECT_TRUE(url->secure);
  EXPECT_EQ(url->host, "api.example.com");
  EXPECT_EQ(url->authority, "api.example.com:8443");
  EXPECT_FALSE(url->loopback);
}

TEST(HttpUrl, KnowsLoopbackAddresses) {
  for (const char* url :
       {"http://localhost", "http://LOCALHOST:1", "http://127.0.0.1:8080/v1", "http://127.9.9.9", "http://[::1]:80/"}) {
    EXPECT_TRUE(ParseHttpUrl(url)->loopback) << url;
  }
  for (const char* url :
       {"http://127.0.0.1.example.com", "http://localhost.example.com", "http://10.0.0.1", "http://[::2]"}) {
    EXPECT_FALSE(ParseHttpUrl(url)->loopback) << url;
  }
}

}  // namespace
}  // namespace upskill
