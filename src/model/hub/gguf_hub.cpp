// SPDX-License-Identifier: Apache-2.0
#include "model/hub/gguf_hub.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <system_error>
#include <vector>

#include "model/api_key.h"
#include "model/hub/hub_download.h"
#include "model/hub/hub_file.h"
#include "model/hub/hub_http.h"
#include "model/hub/hub_listing.h"
#include "net/url.h"
#include "util/files.h"
#include "util/text.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

Result<HubListing> ListRepository(const HubHttp& http, const std::string& repo) {
  const Result<HubAnswer> answer = http.Get(
      {fmt::format("{}/api/models/{}/revision/main?blobs=true", http.endpoint(), repo), "", "", nullptr, nullptr});
  if (!answer) return answer.error().With(repo);
  if (answer->response.status < 200 || answer->response.status > 299) return HubError(*answer, http, repo);
  return ParseHubListing(answer->response.body, http.endpoint()).With(repo);
}

// Makes `pointer` a relative link to the blob, atomically for readers.
Status LinkTo(const fs::path& blob, const fs::path& pointer) {
  RETURN_IF_ERROR(MakeFolders(pointer.parent_path()));
  const fs::path target = blob.lexically_relative(pointer.parent_path());
  std::error_code code;
  if (fs::read_symlink(pointer, code) == target) return {};
  const fs::path temporary = pointer.string() + fmt::format(".{}", ::getpid());
  fs::remove(temporary, code);
  fs::create_symlink(target, temporary, code);
  if (code == std::errc::operation_not_permitted || code == std::errc::operation_not_supported ||
      code == std::errc::function_not_supported) {
    // No links on this file system: like huggingface_hub, store the file itself.
    code.clear();
    fs::rename(blob, pointer, code);
  } else if (!code) {
    fs::rename(temporary, pointer, code);
  }
  if (code) return ErrnoError("linking", pointer, code.value());
  return {};
}

bool IsThere(const fs::path& snapshot, const HubFile& file) {
  std::error_code code;
  return fs::file_size(snapshot / file.path, code) == file.size && !code;
}

Status CheckRoom(const HubDownload& download, const std::vector<HubFile>& files, const fs::path& snapshot) {
  std::uint64_t needed = 0;
  std::error_code code;
  for (const HubFile& file : files) {
    if (IsThere(snapshot, file) || fs::exists(BlobPath(download, file), code)) continue;
    const std::uintmax_t part = fs::file_size(BlobPath(download, file).string() + ".incomplete", code);
    needed += file.size - (code ? 0 : std::min<std::uint64_t>(part, file.size));
  }
  const fs::space_info space = fs::space(download.options.cache, code);
  if (code || needed <= space.available) return {};
  return Error{
      ErrorKind::kIo,
      fmt::format(
          "not enough disk space in {}: {} needed, {} available; free some space or set HF_HUB_CACHE to another folder",
          download.options.cache.string(), BytesText(needed), BytesText(space.available))};
}

Status FetchFiles(HubDownload& download, const std::vector<HubFile>& files, const fs::path& snapshot,
                  const PullProgress& progress) {
  std::uint64_t total = 0;
  for (const HubFile& file : files) total += file.size;
  std::uint64_t before = 0;
  for (const HubFile& file : files) {
    const std::string name = file.path;
    download.progress = [&](std::uint64_t done) {
      if (progress) progress(before + done, total, name);
    };
    if (!IsThere(snapshot, file)) {
      RETURN_IF_ERROR(FetchBlob(download, file));
      RETURN_IF_ERROR(LinkTo(BlobPath(download, file), snapshot / file.path));
    }
    download.progress(file.size);
    before += file.size;
  }
  return {};
}

}  // namespace

Result<HubOptions> HubOptionsOf(const VariableLookup& variable) {
  HubOptions options;
  if (const auto endpoint = variable("HF_ENDPOINT"); endpoint && !Trim(*endpoint).empty())
    options.endpoint = std::string(Trim(*endpoint));
  while (options.endpoint.ends_with('/')) options.endpoint.pop_back();
  if (options.endpoint.find_first_of("?#@") != std::string::npos || !ParseHttpUrl(options.endpoint) ||
      options.endpoint.find("://") == std::string::npos) {
    return InputError("HF_ENDPOINT is not a valid URL; expected one such as https://huggingface.co");
  }
  options.cache = HubCacheOf(variable);
  if (options.cache.empty()) return InputError("no folder for models; set HOME, HF_HOME or HF_HUB_CACHE");
  const std::string offline = ToLowerAscii(variable("HF_HUB_OFFLINE").value_or(""));
  options.offline = offline == "1" || offline == "on" || offline == "yes" || offline == "true";
  Provider hub;
  hub.name = "hf";
  hub.key_variables = {"HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"};
  hub.default_key = "";
  ASSIGN_OR_RETURN(options.token, FindApiKey(hub, "", variable));
  if (!options.token.empty()) {
    ASSIGN_OR_RETURN(const HttpUrl url, ParseHttpUrl(options.endpoint));
    RETURN_IF_ERROR(CheckUrlKeepsSecrets(url, "token for the Hub", variable));
  }
  return options;
}

Result<fs::path> PullGguf(HttpClient& client, const HubOptions& options, const GgufName& name,
                          const PullProgress& progress, const StopFlag* stop) {
  RETURN_IF_ERROR(ParseGgufName(name.text()));  // the names of folders and URLs are made from it
  if (options.offline) {
    return Error{ErrorKind::kNotFound,
                 fmt::format("{} is not in the cache, and HF_HUB_OFFLINE forbids downloading it", name.text())};
  }
  const HubHttp http(client, options.endpoint, options.token, stop);
  ASSIGN_OR_RETURN(const HubListing listing, ListRepository(http, name.repo));
  const fs::path repo_folder = RepoFolder(options.cache, name.repo);
  const fs::path snapshot = repo_folder / "snapshots" / listing.commit;
  ASSIGN_OR_RETURN(const std::vector<HubFile> files, ChooseHubFiles(listing, name, snapshot));
  RETURN_IF_ERROR(MakeFolders(options.cache));
  HubDownload download{http, options, name.repo, listing.commit, nullptr};
  RETURN_IF_ERROR(CheckRoom(download, files, snapshot));
  RETURN_IF_ERROR(FetchFiles(download, files, snapshot, progress));
  RETURN_IF_ERROR(MakeFolders(repo_folder / "refs"));
  RETURN_IF_ERROR(WriteFileAtomically(repo_folder / "refs" / "main", listing.commit));
  return snapshot / files.front().path;
}

}  // namespace upskill
