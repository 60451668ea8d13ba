// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "util/result.h"

namespace upskill {

// The CA certificates that servers are verified with.
struct CaBundle {
  std::string file;      // empty: libcurl's default
  bool missing = false;  // none was found, so no https server can be verified
};

// $CURL_CA_BUNDLE, $SSL_CERT_FILE, else libcurl's built-in path, else (packages: the linked-in libcurl isn't built for
// a particular system) the first of the usual places on Linux.
CaBundle FindCaBundle();

// The first of `places` that is a file.
CaBundle FirstCaBundle(std::span<const std::filesystem::path> places);

Error NoCaBundleError();

}  // namespace upskill
