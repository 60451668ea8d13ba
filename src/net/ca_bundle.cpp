// SPDX-License-Identifier: Apache-2.0
#include "net/ca_bundle.h"

#include <curl/curl.h>

#include <array>
#include <cstdlib>

namespace upskill {
namespace {

namespace fs = std::filesystem;

bool LibcurlHasDefault() {
  const curl_version_info_data* const info = curl_version_info(CURLVERSION_NOW);
  return info->age >= CURLVERSION_SEVENTH && (info->cainfo != nullptr || info->capath != nullptr);
}

}  // namespace

CaBundle FirstCaBundle(std::span<const fs::path> places) {
  std::error_code code;
  for (const fs::path& place : places) {
    if (fs::is_regular_file(place, code)) return {place.string()};
  }
  return {"", true};
}

CaBundle FindCaBundle() {
  for (const char* name : {"CURL_CA_BUNDLE", "SSL_CERT_FILE"}) {
    const char* path = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): this program never sets variables
    if (path != nullptr && *path != '\0') return {path};
  }
  if (LibcurlHasDefault()) return {};
  const std::array<fs::path, 6> places = {
      "/etc/ssl/certs/ca-certificates.crt",                 // Debian, Ubuntu, Arch, Gentoo
      "/etc/pki/tls/certs/ca-bundle.crt",                   // Fedora, RHEL
      "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",  // Fedora, RHEL
      "/etc/ssl/ca-bundle.pem",                             // openSUSE
      "/etc/ssl/cert.pem",                                  // Alpine, BSDs
      "/var/lib/ca-certificates/ca-bundle.pem",             // openSUSE
  };
  return FirstCaBundle(places);
}

Error NoCaBundleError() {
  return Error{ErrorKind::kPermanent,
               "no CA certificates found, so no https server can be verified; install the package ca-certificates, or "
               "set SSL_CERT_FILE to a file of CA certificates"};
}

}  // namespace upskill
