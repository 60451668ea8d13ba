// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "util/result.h"

namespace upskill {

struct HttpUrl {
  bool secure = false;    // https
  std::string host;       // lower case; an IPv6 address without its brackets
  std::string authority;  // host and, where one is given, port: safe to show, no user name, path or query
  bool loopback = false;  // localhost, 127.0.0.0/8 or ::1: nothing leaves this machine
};

// Takes an address apart. Error: kPermanent; the message doesn't repeat the address, which may hold a password.
Result<HttpUrl> ParseHttpUrl(const std::string& url);

// Text from a server, made safe to stand in a message: one line, at most 300 columns.
std::string ServerText(std::string_view text);

}  // namespace upskill
