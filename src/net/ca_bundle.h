// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "util/result.h"

namespace upskill {

// The certificates by which servers are known.
struct CaBundle {
  std::string file;      // empty: libcurl's own default
  bool missing = false;  // none was found, so no server can be trusted
};

// $CURL_CA_BUNDLE, $SSL_CERT_FILE, else what libcurl was built with, else (packages: libcurl is linked in and was built
// for no particular system) the first of the places where Linux systems keep them.
CaBundle FindCaBundle();

// The first of `places` that is a file.
CaBundle FirstCaBundle(std::span<const std::filesystem::path> places);

Error NoCaBundleError();

}  // namespace upskill
