// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "support/loopback_server.h"
#include "util/hash.h"
#include "util/json.h"

namespace upskill {

// For tests: a Hub with one repository, org/repo, on one port of this machine, and its storage host on another.
class FakeHub {
 public:
  using Hook = std::function<std::optional<loopback::Script>(const loopback::Request&)>;

  FakeHub()
      : storage_([this](const loopback::Request& r) { return Storage(r); }),
        hub_([this](const loopback::Request& r) { return Hub(r); }) {}

  std::string endpoint() const { return hub_.url(); }
  const loopback::Server& hub() const { return hub_; }
  const loopback::Server& storage() const { return storage_; }

  void Set(const std::string& path, const std::string& content) {
    const std::lock_guard lock(mutex_);
    files_[path] = {content, Sha256Hex(content), content.size(), true};
  }
  void SetWithoutLfs(const std::string& path, const std::string& content) {
    StreamingHash sha1(StreamingHash::Kind::kSha1);
    sha1.Add(fmt::format("blob {}", content.size()) + '\0' + content);
    const std::lock_guard lock(mutex_);
    files_[path] = {content, sha1.Hex(), content.size(), false};
  }
  // The list entry of an existing file.
  void Claim(const std::string& path, const std::string& hash, std::uint64_t size) {
    const std::lock_guard lock(mutex_);
    files_.at(path).hash = hash;
    files_.at(path).size = size;
  }
  void SetCommit(const std::string& commit) {
    const std::lock_guard lock(mutex_);
    commit_ = commit;
  }
  // Used instead of the normal responses, as long as they return any.
  void OnStorage(Hook hook) {
    const std::lock_guard lock(mutex_);
    storage_hook_ = std::move(hook);
  }
  void OnHub(Hook hook) {
    const std::lock_guard lock(mutex_);
    hub_hook_ = std::move(hook);
  }

 private:
  struct File {
    std::string content;
    std::string hash;
    std::uint64_t size = 0;
    bool lfs = true;
  };

  loopback::Script Hub(const loopback::Request& request) {
    const std::lock_guard lock(mutex_);
    if (hub_hook_) {
      if (auto script = hub_hook_(request)) return *std::move(script);
    }
    if (request.path == "/api/models/org/repo/revision/main?blobs=true") return loopback::Answer(200, DumpJson(List()));
    const std::string resolve = "/org/repo/resolve/" + commit_ + "/";
    if (!request.path.starts_with(resolve)) return loopback::Answer(404, R"({"error":"Repository not found"})");
    const auto file = files_.find(request.path.substr(resolve.size()));
    if (file == files_.end()) return loopback::Answer(404, R"({"error":"Entry not found"})");
    if (!file->second.lfs) return loopback::Answer(200, file->second.content);
    return loopback::Answer(302, "Found",
                            {{"Location", storage_.url() + "/" + request.path.substr(resolve.size())},
                             {"X-Linked-Etag", "\"" + file->second.hash + "\""},
                             {"X-Repo-Commit", commit_}});
  }

  Json List() const {
    Json siblings = Json::array();
    for (const auto& [path, file] : files_) {
      Json entry = {{"rfilename", path}, {"size", file.size}, {"blobId", file.lfs ? std::string(40, '1') : file.hash}};
      if (file.lfs) entry["lfs"] = {{"sha256", file.hash}, {"size", file.size}, {"pointerSize", 134}};
      siblings.push_back(entry);
    }
    return {{"id", "org/repo"}, {"sha", commit_}, {"siblings", siblings}};
  }

  loopback::Script Storage(const loopback::Request& request) {
    const std::lock_guard lock(mutex_);
    if (storage_hook_) {
      if (auto script = storage_hook_(request)) return *std::move(script);
    }
    const auto file = files_.find(request.path.substr(1));
    if (file == files_.end()) return loopback::Answer(404, "");
    const std::string& content = file->second.content;
    const auto range = request.headers.find("range");
    if (range == request.headers.end()) return loopback::Answer(200, content);
    const std::string& text = range->second;  // bytes=A- or bytes=A-B
    std::size_t from = 0;
    std::size_t to = content.size() - 1;
    const char* end = text.data() + text.size();
    const char* dash = std::from_chars(text.data() + 6, end, from).ptr;
    std::from_chars(dash + 1, end, to);
    if (from >= content.size()) return loopback::Answer(416, "");
    return loopback::Answer(206, content.substr(from, to - from + 1),
                            {{"Content-Range", fmt::format("bytes {}-{}/{}", from, to, content.size())}});
  }

  std::mutex mutex_;  // guards everything except the servers
  std::string commit_ = std::string(40, 'a');
  std::map<std::string, File> files_;
  Hook hub_hook_;
  Hook storage_hook_;
  loopback::Server storage_;  // last: their threads use everything above
  loopback::Server hub_;
};

// Bytes that start like a GGUF.
inline std::string GgufBytes(std::size_t size, char fill = 'x') {
  return ("GGUF" + std::string(size, fill)).substr(0, size);
}

}  // namespace upskill
