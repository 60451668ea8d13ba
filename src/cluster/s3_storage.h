// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "cluster/job_engine.h"
#include "util/result.h"

namespace upskill {

// Storage with S3's interface, through which jobs get their input and hand over their shards where they share no folder
// with this machine. Below its URL is a folder for each run: in/ (what the command reads) and shards/. Driven by the
// user's `aws s3`, here and in the jobs, so that its keys, regions and endpoints (AWS_ENDPOINT_URL) are the user's:
// this program never sees them. Immutable.
class S3Storage {
 public:
  // "s3://BUCKET" or "s3://BUCKET/FOLDER". Error (kInput): another form, or characters that such names rarely have.
  static Result<S3Storage> Parse(std::string_view url);

  // Copies the array's inputs. Links in them aren't followed. Errors: an input that is not below the current folder;
  // what `aws` says (kUnavailable if it may work later).
  Status SendInputs(const JobArray& array) const;

  // Copies shards/SHARD to the run's folder here. A shard that has written nothing is no error. Error (kUnavailable):
  // `aws` failed.
  Status FetchShard(const std::filesystem::path& run, int shard) const;

  // TaskScript for a container with `aws`: works on a copy below its temporary folder, which is copied back every half
  // minute and at the end. `shard`: see TaskScript. `program`: upskill in the container. Exits with 75 if the storage
  // can't be read, else with the command's code or, if that isn't to be reported, with 0.
  enum class ExitWith { kCommandsCode, kZero };
  std::string TaskScriptFor(const JobArray& array, const std::string& program, const std::string& shard,
                            ExitWith exit_with) const;

  const std::string& url() const { return url_; }

 private:
  explicit S3Storage(std::string url) : url_(std::move(url)) {}
  std::string FolderOf(const std::filesystem::path& run) const;

  std::string url_;  // without a trailing slash
};

}  // namespace upskill
