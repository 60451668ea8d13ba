// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/hub/gguf_hub.h"
#include "support/fake_hub.h"
#include "util/files.h"
#include "util/hash.h"
#include "util/temp_folder.h"

namespace upskill {

// The start of a response that is never completed; the connection is then kept open or closed.
inline loopback::Script StartOnly(const std::string& content, std::size_t size, bool cut) {
  loopback::Script script{loopback::Send(
      fmt::format("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{}", content.size(), content.substr(0, size)))};
  script.push_back(cut ? loopback::Close() : loopback::Wait(std::chrono::hours(1)));
  return script;
}

// For tests: downloads from a scripted Hub on this machine.
class GgufHub : public testing::Test {
 protected:
  static constexpr const char* kName = "m-Q4_K_M.gguf";

  GgufHub() {
    options.endpoint = hub.endpoint();
    options.cache = folder.path() / "hub";
    options.pause = std::chrono::milliseconds(0);
    hub.Set(kName, content);
  }

  Result<std::filesystem::path> Pull(const std::string& quant = "", const PullProgress& progress = nullptr) {
    return PullGguf(client, options, {"org/repo", quant}, progress, &stop);
  }
  Error PullError(const std::string& quant = "") {
    const Result<std::filesystem::path> file = Pull(quant);
    EXPECT_FALSE(file.ok());
    return file ? Error{} : file.error();
  }
  // Pulls the file and expects it in the cache with the layout of the Hub's own clients.
  void ExpectPulled(const std::string& bytes) {
    const Result<std::filesystem::path> file = Pull();
    ASSERT_TRUE(file.ok()) << file.error().message;
    EXPECT_EQ(*ReadFile(*file), bytes);
    EXPECT_EQ(std::filesystem::read_symlink(*file), "../../blobs/" + Sha256Hex(bytes));
    EXPECT_FALSE(std::filesystem::exists(PartPath(bytes)));
  }

  std::filesystem::path repo() const { return options.cache / "models--org--repo"; }
  std::filesystem::path PartPath(const std::string& bytes) const {
    return repo() / "blobs" / (Sha256Hex(bytes) + ".incomplete");
  }
  // The Range headers that the storage host saw, empty for none.
  std::vector<std::string> Ranges() const {
    std::vector<std::string> ranges;
    for (const loopback::Request& request : hub.storage().requests()) {
      const auto found = request.headers.find("range");
      ranges.push_back(found == request.headers.end() ? "" : found->second);
    }
    return ranges;
  }
  void LeavePart(const std::string& bytes, const std::string& start) const {
    folder.Write(std::filesystem::relative(PartPath(bytes), folder.path()).string(), start);
  }
  // The first response of the storage host ends after `size` bytes.
  void CutFirstAnswer(std::size_t size) {
    hub.OnStorage([this, size, first = true](const loopback::Request&) mutable -> std::optional<loopback::Script> {
      if (!std::exchange(first, false)) return std::nullopt;
      return StartOnly(content, size, true);
    });
  }

  const std::string content = GgufBytes(300'000);
  TempFolder folder;
  FakeHub hub;
  HttpClient client;
  HubOptions options;
  std::atomic<int> stop = 0;
};

}  // namespace upskill
