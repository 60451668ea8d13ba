// SPDX-License-Identifier: Apache-2.0
#include "cluster/s3_storage.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <vector>

#include "cluster/job_tool.h"
#include "cluster/task_script.h"
#include "util/folder.h"
#include "util/text.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLongestUrl = 512;

// Amazon S3 User Guide, "General purpose bucket naming rules"; other servers take capital letters and `_`, too.
constexpr std::size_t kShortestBucket = 3;
constexpr std::size_t kLongestBucket = 63;

bool IsBucketName(std::string_view name) {
  return name.size() >= kShortestBucket && name.size() <= kLongestBucket && IsAsciiAlphanumeric(name.front()) &&
         IsAsciiAlphanumeric(name.back()) && std::all_of(name.begin(), name.end(), [](char c) {
           return IsAsciiAlphanumeric(c) || c == '-' || c == '.' || c == '_';
         });
}

// Names of folders, separated by slashes.
bool IsFolderName(std::string_view path) {
  while (true) {
    const std::size_t slash = path.find('/');
    const std::string_view name = path.substr(0, slash);
    const bool fits = !name.empty() && name != "." && name != ".." && std::all_of(name.begin(), name.end(), [](char c) {
      return IsAsciiAlphanumeric(c) || c == '-' || c == '.' || c == '_' || c == '=';
    });
    if (!fits) return false;
    if (slash == std::string_view::npos) return true;
    path.remove_prefix(slash + 1);
  }
}

std::vector<std::string> AwsWords(const char* verb, const std::string& from, const std::string& to) {
  std::vector<std::string> words = {"aws", "s3", verb, "--only-show-errors", "--no-follow-symlinks"};
  // Two versions of a file of one size differ by their times alone.
  if (std::string_view(verb) == "sync") words.emplace_back("--exact-timestamps");
  words.insert(words.end(), {from, to});
  return words;
}

}  // namespace

Result<S3Storage> S3Storage::Parse(std::string_view url) {
  constexpr std::string_view kScheme = "s3://";
  std::string_view rest = url;
  while (rest.ends_with('/') && rest.size() > kScheme.size()) rest.remove_suffix(1);
  const std::string whole(rest);
  std::string reason;
  bool fits = rest.starts_with(kScheme) && rest.size() <= kLongestUrl;
  if (fits) {
    rest.remove_prefix(kScheme.size());
    const std::size_t slash = rest.find('/');
    const std::string_view bucket = rest.substr(0, slash);
    if (!bucket.empty() && (bucket.size() < kShortestBucket || bucket.size() > kLongestBucket)) {
      reason = fmt::format("; the bucket's name, '{}', must have from {} to {} characters", ExcerptLine(bucket, 80),
                           kShortestBucket, kLongestBucket);
    }
    fits = IsBucketName(bucket) && (slash == std::string_view::npos || IsFolderName(rest.substr(slash + 1)));
  }
  if (!fits) {
    return InputError(
        fmt::format("--job-option storage: '{}' can't be used; expected s3://BUCKET or s3://BUCKET/FOLDER, of letters, "
                    "digits, '-', '_', '.' and '='{}",
                    ExcerptLine(url, 80), reason));
  }
  return S3Storage(whole);
}

std::string S3Storage::FolderOf(const fs::path& run) const { return url_ + "/" + run.filename().string(); }

Status S3Storage::SendInputs(const JobArray& array) const {
  for (const std::string& input : array.inputs) {
    ASSIGN_OR_RETURN(const fs::path path, PathOfInput(input));
    std::error_code code;
    const fs::path here = array.working_folder / path;
    const char* verb = fs::is_directory(here, code) ? "sync" : "cp";
    const std::string there = FolderOf(array.folder) + "/in/" + path.generic_string();
    ASSIGN_OR_RETURN(const JobToolOutcome outcome, RunTool(AwsWords(verb, here.string(), there), "", kTransferLimit));
    if (outcome.exit_code != 0) return RefusedByTool({std::string("aws s3 ") + verb}, outcome);
  }
  return {};
}

Status S3Storage::FetchShard(const fs::path& run, int shard) const {
  const std::string own = ShardFolder(shard);
  ASSIGN_OR_RETURN(const Folder opened, Folder::Open(run));
  RETURN_IF_ERROR(opened.MakeBelow(own));
  ASSIGN_OR_RETURN(const JobToolOutcome outcome,
                   RunTool(AwsWords("sync", FolderOf(run) + "/" + own, (run / own).string()), "", kTransferLimit));
  if (outcome.exit_code != 0) return ToolError({"aws s3 sync"}, outcome);
  return {};
}

std::string S3Storage::TaskScriptFor(const JobArray& array, const std::string& program, const std::string& shard,
                                     ExitWith exit_with) const {
  JobArray there = array;
  if (!there.command.empty()) there.command.front() = program;
  there.working_folder = "in";  // below $work, as is shards/
  there.folder = "..";
  // The loop ends between two copies: an older one must not arrive after the last. Its `sleep` is ended by itself, so
  // that nothing holds the container's output open.
  const std::string head = fmt::format(
      "store={}\n"
      "own=shards/{}\n"
      "copy() {{ aws s3 sync --only-show-errors --no-follow-symlinks --exact-timestamps \"$1\" \"$2\"; }}\n"
      "work=${{TMPDIR:-/tmp}}/upskill\n"
      "mkdir -p \"$work/in\" \"$work/$own\" && cd \"$work\" || exit 75\n"
      "copy \"$store/in\" in && copy \"$store/$own\" \"$own\" || exit 75\n"
      "keep() {{ copy \"$work/$own\" \"$store/$own\"; }}\n"
      "(trap 'kill $nap; exit' TERM; while sleep 30 & nap=$!; wait $nap; do keep; done) &\n"
      "loop=$!\n"
      "finish() {{\n"
      "  kill $loop; wait $loop\n"
      "  for pause in 1 5 20 60; do if keep; then return; fi; sleep $pause; done\n"
      "  keep\n"
      "}}\n"
      "trap 'finish{}' EXIT\n",
      ShellWord(FolderOf(array.folder)), shard, exit_with == ExitWith::kZero ? "; exit 0" : "");
  return TaskScript(there, shard, head);
}

}  // namespace upskill
