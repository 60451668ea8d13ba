// SPDX-License-Identifier: Apache-2.0
// Downloads that break off, continue, or bring other bytes than the Hub lists.
#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/file.h>
#include <sys/resource.h>

#include <csignal>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "model/hub/gguf_hub_test.h"
#include "support/fake_hub.h"
#include "util/files.h"
#include "util/hash.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;
using loopback::Request;
using loopback::Script;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST_F(GgufHub, ContinuesAfterABrokenConnection) {
  CutFirstAnswer(100'000);
  ExpectPulled(content);
  EXPECT_THAT(Ranges(), ElementsAre("", "bytes=100000-100000", "bytes=100000-"));
}

TEST_F(GgufHub, ContinuesAPartialDownload) {
  CutFirstAnswer(100'000);
  options.attempts = 1;
  const Error error = PullError();
  EXPECT_EQ(error.kind, ErrorKind::kUnavailable);
  EXPECT_EQ(*ReadFile(PartPath(content)), content.substr(0, 100'000));
  EXPECT_FALSE(FindCachedGguf(options.cache, {"org/repo", ""}).ok());
  ExpectPulled(content);
  EXPECT_THAT(Ranges(), ElementsAre("", "bytes=100000-100000", "bytes=100000-"));
}

TEST_F(GgufHub, FailsWithoutProgress) {
  hub.OnStorage([](const Request&) -> std::optional<Script> { return loopback::CutBeforeHeaders(); });
  options.attempts = 3;
  EXPECT_EQ(PullError().kind, ErrorKind::kUnavailable);
  EXPECT_GE(hub.storage().request_count(), 3U);
}

TEST_F(GgufHub, ACompleteDownloadNeedsNoTransfer) {
  LeavePart(content, content);
  ExpectPulled(content);
  EXPECT_EQ(hub.storage().request_count(), 0U);
}

TEST_F(GgufHub, ServersWithoutRangesSendTheWholeFile) {
  LeavePart(content, content.substr(0, 5000));
  hub.OnStorage([this](const Request&) -> std::optional<Script> { return loopback::Answer(200, content); });
  ExpectPulled(content);
  EXPECT_THAT(Ranges(), ElementsAre("bytes=5000-5000", ""));
}

TEST_F(GgufHub, OtherRangesAreNotAppended) {
  LeavePart(content, content.substr(0, 5000));
  hub.OnStorage([this](const Request& request) -> std::optional<Script> {
    if (request.headers.count("range") == 0 || request.headers.at("range") != "bytes=5000-") return std::nullopt;
    return loopback::Answer(206, content.substr(6000),
                            {{"Content-Range", fmt::format("bytes 6000-{}/{}", content.size() - 1, content.size())}});
  });
  ExpectPulled(content);
  EXPECT_THAT(Ranges(), ElementsAre("bytes=5000-5000", "bytes=5000-", ""));
}

TEST_F(GgufHub, WrongEarlierBytesAreDownloadedAgain) {
  LeavePart(content, GgufBytes(5000, 'y'));
  ExpectPulled(content);
  EXPECT_THAT(Ranges(), ElementsAre("bytes=5000-5000", "bytes=5000-", ""));
}

TEST_F(GgufHub, OtherBytesThanTheStartOfTheFileAreDropped) {
  LeavePart(content, "<html>");
  ExpectPulled(content);
  EXPECT_THAT(Ranges(), ElementsAre(""));
}

TEST_F(GgufHub, AWrongHashDeletesTheFile) {
  hub.Claim(kName, std::string(64, 'b'), content.size());
  const Error error = PullError();
  EXPECT_EQ(error.kind, ErrorKind::kInput);
  EXPECT_THAT(error.message, AllOf(HasSubstr("org/repo/m-Q4_K_M.gguf"), HasSubstr("doesn't match the hash")));
  EXPECT_TRUE(fs::is_empty(repo() / "blobs"));
  EXPECT_FALSE(fs::exists(repo() / "refs/main"));
}

TEST_F(GgufHub, OtherFilesThanGgufFailAtOnce) {
  hub.OnStorage([](const Request&) -> std::optional<Script> {
    return loopback::Answer(200, "<!doctype html>" + std::string(10'000, 'x'));
  });
  EXPECT_THAT(PullError().message, HasSubstr("not a GGUF"));
  EXPECT_TRUE(fs::is_empty(repo() / "blobs"));
}

TEST_F(GgufHub, MoreBytesThanListedAreAnError) {
  hub.OnStorage([this](const Request&) -> std::optional<Script> { return loopback::Answer(200, content + content); });
  EXPECT_THAT(PullError().message, HasSubstr("more than the 300,000 bytes"));
  EXPECT_TRUE(fs::is_empty(repo() / "blobs"));
}

TEST_F(GgufHub, AnotherFileOfTheSameNameStartsOver) {
  CutFirstAnswer(100'000);
  options.attempts = 1;
  EXPECT_EQ(PullError().kind, ErrorKind::kUnavailable);
  const std::string changed = GgufBytes(200'000, 'z');
  hub.Set(kName, changed);
  hub.SetCommit(std::string(40, 'c'));
  ExpectPulled(changed);
  EXPECT_THAT(Ranges(), ElementsAre("", ""));
  EXPECT_EQ(*ReadFile(repo() / "refs/main"), std::string(40, 'c'));
}

TEST_F(GgufHub, AStopKeepsThePartialDownload) {
  hub.OnStorage([this](const Request&) -> std::optional<Script> { return StartOnly(content, 100'000, false); });
  const Result<fs::path> file = Pull("", [this](std::uint64_t done, std::uint64_t, const std::string&) {
    if (done == 100'000) stop = 1;
  });
  ASSERT_FALSE(file.ok());
  EXPECT_EQ(file.error().kind, ErrorKind::kCancelled);
  EXPECT_EQ(fs::file_size(PartPath(content)), 100'000U);
  stop = 0;
  hub.OnStorage(nullptr);
  ExpectPulled(content);
}

TEST_F(GgufHub, ABlobThatAnotherProcessWritesIsWaitedFor) {
  const fs::path lock_path = folder.Write("hub/.locks/models--org--repo/" + Sha256Hex(content) + ".lock", "");
  const Fd lock(::open(lock_path.c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_EQ(::flock(lock.get(), LOCK_EX | LOCK_NB), 0);
  LeavePart(content, content.substr(0, 7000));
  int looks = 0;
  const Result<fs::path> file = Pull("", [&](std::uint64_t done, std::uint64_t, const std::string&) {
    if (++looks > 1) return;
    EXPECT_EQ(done, 7000U);  // the other process's progress
    EXPECT_EQ(hub.storage().request_count(), 0U);
    // The other process finishes.
    fs::remove(PartPath(content));
    folder.Write("hub/models--org--repo/blobs/" + Sha256Hex(content), content);
    EXPECT_EQ(::flock(lock.get(), LOCK_UN), 0);
  });
  ASSERT_TRUE(file.ok()) << file.error().message;
  EXPECT_EQ(*ReadFile(*file), content);
  EXPECT_EQ(hub.storage().request_count(), 0U);
}

// A full disk, simulated with the maximum file size.
TEST_F(GgufHub, AFullDiskKeepsThePartialDownload) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  auto* const handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{100'000, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const Error error = PullError();
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(error.kind, ErrorKind::kIo);
  EXPECT_THAT(error.message,
              AllOf(HasSubstr(".incomplete: File too large"), HasSubstr("the partial download is kept")));
  EXPECT_EQ(fs::file_size(PartPath(content)), 100'000U);
  ExpectPulled(content);
  EXPECT_THAT(Ranges(), ElementsAre("", "bytes=100000-100000", "bytes=100000-"));
}

}  // namespace
}  // namespace upskill
