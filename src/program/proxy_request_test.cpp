// SPDX-License-Identifier: Apache-2.0
#include "program/proxy_request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/work_meter.h"

namespace upskill {
namespace {

constexpr const char* kTwo =
    "POST /v1/x?a=1 HTTP/1.1\r\nHost: here\r\nContent-Length: 5\r\nX-Two:  a b \r\n\r\nhello"
    "POST /y HTTP/1.1\r\nTransfer-Encoding: Chunked\r\nConnection: close\r\n\r\n"
    "3;ext=1\r\nabc\r\n2\r\nde\r\n0\r\nTrailer: t\r\n\r\n";

// All requests of a connection, given in pieces of so many bytes; or the error that ends it.
Result<std::vector<ProxyRequest>> Read(const std::string& bytes, std::size_t piece) {
  ProxyRequestReader reader;
  std::vector<ProxyRequest> requests;
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    reader.Add(std::string_view(bytes).substr(at, piece));
    while (true) {
      ASSIGN_OR_RETURN(std::optional<ProxyRequest> next, reader.Next());
      if (!next) break;
      requests.push_back(*std::move(next));
    }
  }
  return requests;
}

TEST(ProxyRequest, IsReadFromPiecesOfAnySize) {
  for (std::size_t piece = 1; piece < 300; ++piece) {
    const Result<std::vector<ProxyRequest>> requests = Read(kTwo, piece);
    ASSERT_TRUE(requests.ok()) << requests.error().message;
    ASSERT_EQ(requests->size(), 2U) << piece;
    const ProxyRequest& first = requests->front();
    EXPECT_EQ(first.method + first.target + first.body, "POST/v1/x?a=1hello");
    EXPECT_EQ(first.headers.at("x-two"), "a b");
    EXPECT_TRUE(first.keep_alive);
    EXPECT_EQ(requests->back().target + requests->back().body, "/yabcde");
    EXPECT_FALSE(requests->back().keep_alive);
  }
}

TEST(ProxyRequest, RefusesWhatIsNotHttp) {
  for (const char* bytes :
       {"hello\r\n\r\n", "GET /\r\n\r\n", "GET / FTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\nno colon\r\n\r\n",
        "POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", "POST / HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n",
        "POST / HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n",
        "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n",
        "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n",
        "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nfffffff\r\n"})
    EXPECT_FALSE(Read(bytes, 7).ok()) << bytes;
}

TEST(ProxyRequest, LimitsItsHeadAndItsTrailer) {
  EXPECT_FALSE(Read("GET / HTTP/1.1\r\nA: " + std::string(70'000, 'a'), 1000).ok());
  std::string trailer = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n";
  for (int i = 0; i < 10'000; ++i) trailer += "A: aaaaaaaaaa\r\n";
  EXPECT_FALSE(Read(trailer, 1000).ok());
}

// Chunks of one byte, as many as arrive at once: none of them moves the bytes after it.
TEST(ProxyRequest, TakesTimeInStepWithItsSize) {
  const auto body_of = [](std::size_t chunks) {
    std::string bytes = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";
    for (std::size_t i = 0; i < chunks; ++i) bytes += "1\r\na\r\n";
    return bytes + "0\r\n\r\n";
  };
  const double growth = GrowthPerDoubling(20'000, [&](std::size_t chunks) {
    return [bytes = body_of(chunks), chunks] {
      const Result<std::vector<ProxyRequest>> requests = Read(bytes, bytes.size());
      EXPECT_EQ(requests.value().at(0).body.size(), chunks);
    };
  });
  EXPECT_LE(growth, kMaxGrowthPerDoubling);
}

}  // namespace
}  // namespace upskill
