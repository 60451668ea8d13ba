// SPDX-License-Identifier: Apache-2.0
#include "model/hub/gguf_hub.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <optional>
#include <system_error>
#include <vector>

#include "model/api_key.h"
#include "model/hub/hub_file.h"
#include "model/hub/hub_http.h"
#include "model/hub/hub_listing.h"
#include "net/url.h"
#include "util/files.h"
#include "util/text.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

// The parameters of a download; the references must outlive it.
struct HubDownload {
  const HubHttp& http;
  const HubOptions& options;
  const std::string& repo;
  const std::string& commit;
  std::function<void(std::uint64_t done)> progress;  // bytes of this file
};

constexpr std::chrono::milliseconds kLockLook{200};
constexpr std::chrono::milliseconds kLongestPause{60'000};

// Where the blob of a file is stored.
fs::path BlobPath(const HubDownload& download, const HubFile& file) {
  return RepoFolder(download.options.cache, download.repo) / "blobs" / file.hash;
}

fs::path PartPath(const HubDownload& download, const HubFile& file) {
  return BlobPath(download, file).string() + ".incomplete";
}

bool HasBlob(const HubDownload& download, const HubFile& file) {
  std::error_code code;
  return fs::file_size(BlobPath(download, file), code) == file.size && !code;
}

// Percent-encodes characters that have a meaning in a URL.
std::string UrlPath(const std::string& path) {
  std::string url;
  for (const char c : path) {
    const bool plain = IsAsciiAlphanumeric(c) || std::string_view("/-._~").find(c) != std::string_view::npos;
    url += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return url;
}

// The lock under which huggingface_hub writes the same blob. While another process holds it, reports that process's
// progress.
Result<Fd> TakeLock(const HubDownload& download, const HubFile& file) {
  const fs::path folder =
      download.options.cache / ".locks" / RepoFolder(download.options.cache, download.repo).filename();
  RETURN_IF_ERROR(MakeFolders(folder));
  const fs::path path = folder / (file.hash + ".lock");
  Fd lock(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (!lock.valid()) return ErrnoError("locking", path, errno);
  while (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) break;  // a file system without locks
    std::error_code code;
    const std::uintmax_t done = fs::file_size(PartPath(download, file), code);
    if (!code) download.progress(std::min<std::uint64_t>(done, file.size));
    RETURN_IF_ERROR(download.http.Pause(kLockLook));
  }
  return lock;
}

// "bytes 100-199/200" → 100.
std::optional<std::uint64_t> RangeStart(const HttpResponse& response) {
  const std::optional<std::string> range = HeaderOf(response, "content-range");
  constexpr std::string_view kUnit = "bytes ";
  if (response.status != 206 || !range || !range->starts_with(kUnit)) return std::nullopt;
  std::uint64_t start = 0;
  const auto [end, code] = std::from_chars(range->data() + kUnit.size(), range->data() + range->size(), start);
  if (code != std::errc() || end == range->data() + range->size() || *end != '-') return std::nullopt;
  return start;
}

Status CheckAnswer(const HubDownload& download, const HubFile& file, const HubAnswer& answer) {
  if (answer.response.status < 200 || answer.response.status > 299) {
    return HubError(answer, download.http, download.repo + "/" + file.path);
  }
  return {};
}

// Requests the first missing byte. Returns the URL that sent it; empty: the server can't continue a download there.
Result<std::string> AddressToResume(const HubDownload& download, const HubFile& file, const std::string& url,
                                    std::uint64_t from) {
  std::size_t received = 0;
  const auto take = [&](std::string_view bytes) {
    received += bytes.size();
    return received <= 1;
  };
  const Result<HubAnswer> answer = download.http.Get(
      {url, fmt::format("bytes={}-{}", from, from), file.hash, take, [&] { download.progress(from); }});
  if (received > 1) return std::string();
  if (!answer) return answer.error();
  if (answer->response.status == 416) return std::string();
  RETURN_IF_ERROR(CheckAnswer(download, file, *answer));
  if (RangeStart(answer->response) != from) return std::string();
  return answer->url;
}

// One attempt to download the missing bytes.
Status FetchRest(const HubDownload& download, const HubFile& file, HubFilePart& part) {
  HubHttp::HubRequest request;
  request.hash = file.hash;
  request.url =
      fmt::format("{}/{}/resolve/{}/{}", download.options.endpoint, download.repo, download.commit, UrlPath(file.path));
  const std::uint64_t from = part.size();
  if (from > 0) {
    ASSIGN_OR_RETURN(std::string address, AddressToResume(download, file, request.url, from));
    if (address.empty()) {
      RETURN_IF_ERROR(part.Restart());
    } else {
      request.url = std::move(address);
      request.range = fmt::format("bytes={}-", from);
    }
  }
  Status written;
  request.on_data = [&](std::string_view bytes) {
    if (download.http.stopped()) return false;
    written = part.Append(bytes);
    return written.ok();
  };
  request.on_tick = [&] { download.progress(part.size()); };
  download.progress(part.size());  // bytes of earlier attempts, so that the displayed speed is right
  const Result<HubAnswer> answer = download.http.Get(request);
  download.progress(part.size());
  if (!written) return written.error();
  if (!answer) return answer.error();
  RETURN_IF_ERROR(CheckAnswer(download, file, *answer));
  if (!request.range.empty() && RangeStart(answer->response) != from) {
    RETURN_IF_ERROR(part.Restart());
    return Error{ErrorKind::kUnavailable, "the server sent a different part of the file than requested"};
  }
  if (part.size() < file.size) {
    return Error{ErrorKind::kUnavailable,
                 fmt::format("the download ended after {} of {}", BytesText(part.size()), BytesText(file.size))};
  }
  return {};
}

// Attempts until all bytes are present; the count of attempts starts over after one that brought new bytes.
Status FetchAll(const HubDownload& download, const HubFile& file, HubFilePart& part) {
  int attempt = 0;
  std::uint64_t max_size = part.size();
  std::chrono::milliseconds pause = download.options.pause;
  while (part.size() < file.size) {
    const Status fetched = FetchRest(download, file, part);
    if (fetched) break;
    const Error& error = fetched.error();
    if (part.size() > max_size) {
      max_size = part.size();
      attempt = 0;
      pause = download.options.pause;
    }
    if (error.kind != ErrorKind::kUnavailable || ++attempt >= download.options.attempts) return error;
    RETURN_IF_ERROR(download.http.Pause(std::min(kLongestPause, std::max(pause, error.retry_after.value_or(pause)))));
    pause *= 2;
  }
  return {};
}

// Makes sure that the file's blob is in the cache: downloads it, or waits for another process that does.
Status FetchBlob(const HubDownload& download, const HubFile& file) {
  const fs::path blob = BlobPath(download, file);
  RETURN_IF_ERROR(MakeFolders(blob.parent_path()));
  ASSIGN_OR_RETURN(const Fd lock, TakeLock(download, file));
  if (HasBlob(download, file)) return {};
  ASSIGN_OR_RETURN(HubFilePart part, HubFilePart::Open(PartPath(download, file), file));
  const std::string name = fmt::format("{}/{}", download.repo, file.path);
  for (bool resumed = part.size() > 0;; resumed = false) {
    if (const Status fetched = FetchAll(download, file, part); !fetched) {
      Error error = fetched.error().With(name);
      if (error.kind == ErrorKind::kInput) part.Remove();  // not this file: nothing to continue from
      if (error.kind == ErrorKind::kIo)
        error.message += "; the partial download is kept; free some space and run this again";
      return error;
    }
    if (part.HasRightHash()) return part.Finish(blob);
    if (!resumed) break;
    // The bytes from an earlier download may be wrong.
    RETURN_IF_ERROR(part.Restart());
  }
  part.Remove();
  return InputError(fmt::format(
      "{}: the download doesn't match the hash that the Hub lists ({}) and was deleted; try again", name, file.hash));
}

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
