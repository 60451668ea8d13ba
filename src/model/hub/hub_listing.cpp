// SPDX-License-Identifier: Apache-2.0
#include "model/hub/hub_listing.h"

#include <fmt/format.h>

#include <utility>

#include "util/files.h"
#include "util/json.h"
#include "util/text.h"

namespace upskill {
namespace {

constexpr JsonLimits kListLimits = {16U << 20U, 500'000, 10'000, 1U << 20U};  // about 50,000 files
constexpr std::uint64_t kMaxFileBytes = std::uint64_t{1} << 44U;              // 16 TiB
constexpr std::size_t kShownPathColumns = 200;

bool IsHex(const std::string& text, std::size_t length) {
  return text.size() == length && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

// A file as described in `siblings`.
HubFile FileFrom(const Json& sibling) {
  HubFile file;
  file.path = StringAt(sibling, "rfilename");
  const Json* sized = &sibling;
  file.hash = StringAt(sibling, "blobId");
  if (const Json& lfs = Member(sibling, "lfs"); lfs.is_object()) {
    sized = &lfs;
    file.lfs = true;
    file.hash = StringAt(lfs, "sha256");
  }
  if (const Json& size = Member(*sized, "size"); size.is_number_unsigned()) file.size = size.get<std::uint64_t>();
  return file;
}

}  // namespace

Result<HubListing> ParseHubListing(std::string_view body, const std::string& endpoint) {
  ASSIGN_OR_RETURN(const Json json, ParseJson(body, endpoint + "'s list of files", kListLimits));
  HubListing listing{StringAt(json, "sha"), {}};
  const Json& siblings = Member(json, "siblings");
  if (!IsHex(listing.commit, 40) || !siblings.is_array())
    return InputError(fmt::format("{} returned no valid list of files", endpoint));
  for (const Json& sibling : siblings) {
    if (!sibling.is_object()) continue;
    HubFile file = FileFrom(sibling);
    listing.files[file.path] = std::move(file);
  }
  return listing;
}

Result<std::vector<HubFile>> ChooseHubFiles(const HubListing& listing, const GgufName& name,
                                            const std::filesystem::path& snapshot) {
  std::vector<std::string> paths;
  paths.reserve(listing.files.size());
  for (const auto& [path, file] : listing.files) paths.push_back(path);
  ASSIGN_OR_RETURN(const GgufModel model, ChooseGguf(paths, name));
  std::vector<HubFile> files;
  for (const std::string& part : model.parts) {
    const HubFile& file = listing.files.at(part);
    const Result<std::filesystem::path> contained = ContainedPath(snapshot, part);
    if (!contained) return contained.error().With(name.repo);
    if (!IsHex(file.hash, file.lfs ? 64 : 40) || file.size == 0 || file.size > kMaxFileBytes) {
      return InputError(fmt::format("{}: the Hub lists no valid size and hash for {}", name.repo,
                                    ExcerptLine(part, kShownPathColumns)));
    }
    files.push_back(file);
  }
  return files;
}

}  // namespace upskill
