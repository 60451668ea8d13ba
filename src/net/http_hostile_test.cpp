// SPDX-License-Identifier: Apache-2.0
// Servers that break off, dawdle, lie or flood.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include "net/http_client.h"
#include "support/http_outcomes.h"
#include "support/loopback_server.h"
#include "util/text.h"

namespace upskill {
namespace {

using loopback::Request;
using loopback::Script;
using std::chrono::milliseconds;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;

HttpRequest PostWithKey(const std::string& url) {
  HttpRequest request;
  request.url = url;
  request.body = "{}";
  request.secret_headers = {{"Authorization", Secret("Bearer sk-secret-key")}};
  return request;
}

// The outcome of a request to a server with this script.
Error ErrorOf(const Script& script, const std::function<void(HttpRequest&)>& change = {}) {
  const loopback::Server server([&](const Request&) { return script; });
  HttpRequest request = PostWithKey(server.url() + "/v1?token=query-secret");
  if (change) change(request);
  auto result = Fetch(std::move(request));
  EXPECT_FALSE(result.ok());
  if (result) return {};
  EXPECT_THAT(result.error().message, HasSubstr("127.0.0.1:" + std::to_string(server.port())));
  EXPECT_THAT(result.error().message, Not(HasSubstr("secret")));
  EXPECT_LT(result.error().message.size(), 600U);
  EXPECT_EQ(FindInvalidUtf8(result.error().message), std::nullopt);
  return result.error();
}

std::size_t PeakMegabytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::stoul(line.substr(6)) / 1024;
  }
  return 0;
}

TEST(HostileServer, NobodyListens) {
  HttpRequest request = PostWithKey(loopback::DeadUrl() + "/?token=query-secret");
  const auto result = Fetch(std::move(request));
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::kUnavailable);
  EXPECT_THAT(result.error().message, MatchesRegex("no connection to 127.0.0.1:[0-9]+: connection refused"));
  EXPECT_EQ(result.error().cause, ErrorCause::kUnreachable);
}

TEST(HostileServer, NameIsUnknown) {
  const auto result = Fetch(PostWithKey("http://user:pass-secret@no-such-host.invalid/v1?k=query-secret"));
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::kUnavailable);
  EXPECT_THAT(result.error().message, HasSubstr("no-such-host.invalid"));
  EXPECT_THAT(result.error().message, Not(HasSubstr("secret")));
}

TEST(HostileServer, AcceptsNoConnection) {
  // A listener whose queue is full lets further connections hang.
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  ASSERT_GE(fd, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  ASSERT_EQ(bind(fd, reinterpret_cast<sockaddr*>(&address), length), 0);
  ASSERT_EQ(listen(fd, 0), 0);
  ASSERT_EQ(getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length), 0);
  std::vector<int> fillers;
  fillers.reserve(4);
  for (int i = 0; i < 4; ++i) {
    fillers.push_back(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0));
    [[maybe_unused]] const int started = connect(fillers.back(), reinterpret_cast<sockaddr*>(&address), length);
  }
  HttpRequest request = PostWithKey("http://127.0.0.1:" + std::to_string(ntohs(address.sin_port)));
  request.connect_timeout = milliseconds(50);
  const auto result = Fetch(std::move(request));
  for (const int filler : fillers) close(filler);
  close(fd);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::kUnavailable);
  EXPECT_THAT(result.error().message, HasSubstr("no connection to"));
}

TEST(HostileServer, SaysNothing) {
  const Error error =
      ErrorOf(loopback::Silence(), [](HttpRequest& request) { request.idle_timeout = milliseconds(40); });
  EXPECT_EQ(error.kind, ErrorKind::kUnavailable);
  EXPECT_THAT(error.message, HasSubstr("no data from 127.0.0.1"));
  EXPECT_THAT(error.message, HasSubstr("0.04 s"));
}

TEST(HostileServer, FallsSilentInTheBody) {
  Script script = loopback::WrongLength(100, "some");
  script.back() = loopback::Wait(std::chrono::hours(1));
  const Error error = ErrorOf(script, [](HttpRequest& request) { request.idle_timeout = milliseconds(40); });
  EXPECT_THAT(error.message, HasSubstr("no data from 127.0.0.1"));
}

TEST(HostileServer, DripsForever) {
  const Error error = ErrorOf(loopback::Drip(std::string(1000, 'x'), milliseconds(5)), [](HttpRequest& request) {
    request.idle_timeout = milliseconds(2000);
    request.total_timeout = milliseconds(80);
  });
  EXPECT_EQ(error.kind, ErrorKind::kUnavailable);
  EXPECT_THAT(error.message, HasSubstr("is incomplete after 0.08 s"));
  EXPECT_EQ(error.cause, ErrorCause::kTimeout);
}

TEST(HostileServer, DripsWithinTheTimeLimit) {
  const loopback::Server server([](const Request&) { return loopback::Drip(std::string(30, 'x'), milliseconds(20)); });
  HttpRequest request = PostWithKey(server.url());
  request.idle_timeout = milliseconds(400);  // shorter than the whole answer, longer than each pause
  const auto response = Fetch(std::move(request));
  ASSERT_TRUE(response.ok()) << response.error().message;
  EXPECT_EQ(response->body.size(), 30U);
}

TEST(HostileServer, HangsUpBeforeItsHeaders) {
  const Error error = ErrorOf(loopback::CutBeforeHeaders());
  EXPECT_EQ(error.kind, ErrorKind::kUnavailable);
  EXPECT_EQ(error.cause, ErrorCause::kBroken);
}

TEST(HostileServer, ResetsBeforeItsHeaders) { EXPECT_EQ(ErrorOf({loopback::Reset()}).kind, ErrorKind::kUnavailable); }

TEST(HostileServer, BreaksOffInItsHeaders) {
  EXPECT_EQ(ErrorOf({loopback::Send("HTTP/1.1 200 OK\r\nContent-Le"), loopback::Close()}).kind,
            ErrorKind::kUnavailable);
}

TEST(HostileServer, BreaksOffInItsBody) {
  EXPECT_EQ(ErrorOf(loopback::CutInBody("half of this never comes")).kind, ErrorKind::kUnavailable);
}

TEST(HostileServer, PromisesMoreThanItSends) {
  EXPECT_EQ(ErrorOf(loopback::WrongLength(1000, "short")).kind, ErrorKind::kUnavailable);
}

TEST(HostileServer, PromisesLessThanItSends) {
  const loopback::Server server([](const Request&) { return loopback::WrongLength(5, "hello, and more"); });
  HttpClient client;
  for (int i = 0; i < 2; ++i) {  // the rest must not pass for the next answer
    TestOutcomes outcomes;
    client.Start(PostWithKey(server.url()), outcomes.Take());
    EXPECT_EQ(outcomes.Get()->body, "hello");
  }
}

TEST(HostileServer, BreaksOffInAChunk) {
  const Script script{loopback::Send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nff\r\nabc"),
                      loopback::Close()};
  EXPECT_EQ(ErrorOf(script).kind, ErrorKind::kUnavailable);
}

// Which of them counts is anybody's guess, so the rest of the connection may be a part of another response.
TEST(HostileServer, SaysTwiceHowLongItsBodyIs) {
  const auto error = [](const std::string& headers) {
    return ErrorOf({loopback::Send("HTTP/1.1 200 OK\r\n" + headers + "\r\n\r\n5\r\nhello\r\n0\r\n\r\n"),
                    loopback::Wait(std::chrono::hours(1))});
  };
  const auto expect = [&](const std::string& headers, const std::string& words) {
    const Error found = error(headers);
    EXPECT_EQ(found.kind, ErrorKind::kUnavailable) << headers;
    EXPECT_EQ(found.cause, ErrorCause::kUnusable) << headers;
    EXPECT_THAT(found.message, testing::EndsWith(words)) << headers;
  };
  expect("Content-Length: 5\r\nContent-Length: 7", " sent contradictory headers: Content-Length 5 and 7");
  expect("Content-Length: 5, 7", " sent contradictory headers: Content-Length 5 and 7");
  const std::string both = " sent contradictory headers: Content-Length and Transfer-Encoding";
  expect("Content-Length: 5\r\nTransfer-Encoding: chunked", both);
  expect("Transfer-Encoding: chunked\r\nContent-Length: 5", both);
  expect("Transfer-Encoding: chunked\r\ntransfer-encoding: chunked", " sent Transfer-Encoding twice");
  expect("Transfer-Encoding: xchunked", " sent an unusable header: Transfer-Encoding 'xchunked'");
  expect("Content-Length: 5 apples", " sent an unusable header: Content-Length '5 apples'");
}

TEST(HostileServer, GetsANewConnectionAfterContradictoryHeaders) {
  const loopback::Server server([](const Request& request) {
    if (request.connection > 0) return loopback::Answer(200, "fine");
    return Script{
        loopback::Send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 38\r\n\r\n{}"
                       "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nstale")};
  });
  HttpClient client;
  TestOutcomes outcomes;
  client.Start(PostWithKey(server.url()), outcomes.Take());
  EXPECT_FALSE(outcomes.Get().ok());
  TestOutcomes again;
  client.Start(PostWithKey(server.url()), again.Take());
  const Result<HttpResponse> response = again.Get();
  ASSERT_TRUE(response.ok()) << response.error().message;
  EXPECT_EQ(response->body, "fine");
}

TEST(HostileServer, MayRepeatTheSameLength) {
  const loopback::Server server([](const Request&) {
    return Script{loopback::Send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\ncontent-length: 2\r\n\r\n{}")};
  });
  const Result<HttpResponse> response = Fetch(PostWithKey(server.url()));
  ASSERT_TRUE(response.ok()) << response.error().message;
  EXPECT_EQ(response->body, "{}");
}

TEST(HostileServer, SendsBrokenGzip) {
  const Script script = loopback::Answer(200, "this is no gzip", {{"Content-Encoding", "gzip"}});
  EXPECT_EQ(ErrorOf(script).kind, ErrorKind::kUnavailable);
}

TEST(HostileServer, DoesNotSpeakHttp) { EXPECT_EQ(ErrorOf(loopback::Garbage()).kind, ErrorKind::kUnavailable); }

TEST(HostileServer, SendsHeadersWithoutEnd) {
  EXPECT_EQ(ErrorOf(loopback::EndlessHeaders()).kind, ErrorKind::kUnavailable);
}

TEST(HostileServer, RepeatsInterimAnswersWithoutEnd) {
  const Script script{loopback::Send("HTTP/1.1 100 Continue\r\nX: " + std::string(500, 'y') + "\r\n\r\n", 100'000),
                      loopback::Close()};
  EXPECT_EQ(ErrorOf(script).kind, ErrorKind::kUnavailable);
}

TEST(HostileServer, SendsMoreThanTheLimit) {
  const Error error = ErrorOf(loopback::Endless(64), [](HttpRequest& request) { request.max_body_bytes = 1U << 20U; });
  EXPECT_EQ(error.kind, ErrorKind::kInput);
  EXPECT_THAT(error.message, HasSubstr("larger than 1048576 bytes"));
}

TEST(HostileServer, SendsACompressionBomb) {
  const Script script = loopback::GzipBomb(200);
  const std::size_t before = PeakMegabytes();
  const Error error = ErrorOf(script, [](HttpRequest& request) { request.max_body_bytes = 1U << 20U; });
  EXPECT_EQ(error.kind, ErrorKind::kInput);
  EXPECT_LT(PeakMegabytes() - before, 100U);
}

TEST(HostileServer, UnpacksToManyTimesItsSize) {
  const std::size_t before = PeakMegabytes();
  const Error error = ErrorOf(loopback::GzipBomb(60));  // less than max_body_bytes
  EXPECT_EQ(error.kind, ErrorKind::kInput);
  EXPECT_THAT(error.message, HasSubstr("unpacks to more than 100 times its size"));
  EXPECT_LT(PeakMegabytes() - before, 60U);
}

TEST(HostileServer, MayCompressWhatItSends) {
  // 4 MiB may be packed as well as can be; beyond that, to a hundredth.
  const loopback::Server server([](const Request& request) {
    if (request.path == "/small") return loopback::Gzip(200, std::string(std::size_t{4} << 20U, 'x'));
    std::string lines;
    for (int i = 0; lines.size() < std::size_t{6} << 20U; ++i) lines += "{\"number\":" + std::to_string(i) + "}\n";
    return loopback::Gzip(200, lines);
  });
  for (const char* path : {"/small", "/large"}) {
    const auto response = Fetch(PostWithKey(server.url() + path));
    ASSERT_TRUE(response.ok()) << response.error().message;
    EXPECT_GE(response->body.size(), std::size_t{4} << 20U);
  }
}

TEST(HostileServer, StreamsMoreThanTheLimit) {
  std::size_t taken = 0;
  const Error error = ErrorOf(loopback::Endless(64), [&](HttpRequest& request) {
    request.max_body_bytes = 1U << 20U;
    request.on_data = [&](std::string_view piece) {
      taken += piece.size();
      return true;
    };
  });
  EXPECT_EQ(error.kind, ErrorKind::kInput);
  EXPECT_LE(taken, 1U << 20U);
}

TEST(HostileServer, ExplainsAnErrorWithoutEnd) {
  const loopback::Server server([](const Request&) {
    return Script{loopback::Send("HTTP/1.1 500 Oops\r\nConnection: close\r\n\r\n"),
                  loopback::Send(std::string(1U << 16U, 'x'), 1024)};
  });
  const auto response = Fetch(PostWithKey(server.url()));
  ASSERT_TRUE(response.ok()) << response.error().message;  // the status is what matters
  EXPECT_EQ(response->status, 500);
  EXPECT_EQ(response->body.size(), 1U << 20U);
}

TEST(HostileServer, RedirectsWithoutGettingTheKey) {
  const loopback::Server thief([](const Request&) { return loopback::Answer(200, "{}"); });
  const loopback::Server server([&](const Request&) { return loopback::Redirect(thief.url() + "/steal"); });
  const auto response = Fetch(PostWithKey(server.url()));
  ASSERT_TRUE(response.ok());
  EXPECT_EQ(response->status, 307);
  EXPECT_EQ(thief.connections(), 0U);
}

TEST(HostileServer, GoesAwayInHttp2) {
  const loopback::Server server([](const Request&) { return loopback::Http2GoAway(); });
  HttpRequest request = PostWithKey(server.url());
  request.http2_prior_knowledge = true;
  request.total_timeout = milliseconds(5000);
  const auto result = Fetch(std::move(request));
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::kUnavailable);
  EXPECT_THAT(result.error().message, Not(HasSubstr("not complete")));
}

TEST(HostileServer, PassesInvalidUtf8OnUnchanged) {
  const loopback::Server server(
      [](const Request&) { return loopback::Answer(200, "\xff\xfe\x80", {{"X-Odd", "\xff"}}); });
  const auto response = Fetch(PostWithKey(server.url()));
  ASSERT_TRUE(response.ok());
  EXPECT_EQ(response->body, "\xff\xfe\x80");
  EXPECT_EQ(HeaderOf(*response, "x-odd"), "\xff");
}

}  // namespace
}  // namespace upskill
