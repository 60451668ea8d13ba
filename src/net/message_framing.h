// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace upskill {

// Checks the headers that say where the body of an HTTP/1.1 response ends (RFC 9112, section 6.3). Where they leave
// that open, two readers may cut the bytes of a connection in different ways, and one response passes for a part of
// another: libcurl takes the last of two lengths and keeps the connection. Equal lengths may be repeated. For the
// headers of one response.
class MessageFraming {
 public:
  // Takes the next header, its name in lower case. What is wrong, in words: "sent contradictory headers: Content-Length
  // 5 and 7"; nothing if all is well, or for other headers.
  std::optional<std::string> Add(std::string_view name, std::string_view value);

 private:
  std::optional<std::string> AddLength(std::string_view value);
  std::optional<std::string> AddEncoding(std::string_view value);

  std::optional<std::int64_t> length_;
  bool chunked_ = false;
};

}  // namespace upskill
