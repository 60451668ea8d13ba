// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "util/result.h"
#include "util/secret.h"

namespace upskill {

struct HttpUrl {
  bool secure = false;    // https
  std::string host;       // lower case; an IPv6 address without its brackets
  std::string authority;  // host and port, if one is given: safe to show, without user name, path or query
  bool loopback = false;  // localhost, 127.0.0.0/8 or ::1: nothing leaves this machine
  Secret password;        // http://user:password@host, decoded; a user name without a password counts as one
};

// Parses a URL. Error: kPermanent; the message doesn't repeat the URL, which may contain a password.
Result<HttpUrl> ParseHttpUrl(const std::string& url);

// Host and port for a message; "the server" if it isn't such a URL.
std::string AuthorityOf(const std::string& url);

// A server's text for quoting in a message: one line, at most 300 columns, without known secrets.
std::string ServerText(std::string_view text);

}  // namespace upskill
