// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "model/hub/gguf_hub.h"
#include "model/hub/hub_file.h"
#include "model/hub/hub_http.h"
#include "util/result.h"

namespace upskill {

// The parameters of a download; the references must outlive it.
struct HubDownload {
  const HubHttp& http;
  const HubOptions& options;
  const std::string& repo;
  const std::string& commit;
  std::function<void(std::uint64_t done)> progress;  // bytes of this file
};

// Makes sure that the file's blob is in the cache: downloads it, or waits for another process that does.
Status FetchBlob(const HubDownload& download, const HubFile& file);

// Where the blob of a file is stored.
std::filesystem::path BlobPath(const HubDownload& download, const HubFile& file);

}  // namespace upskill
