// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>

namespace upskill {

// A key or token. It can't be printed, logged or compared by accident: `reveal` is called only where it is sent.
class Secret {
 public:
  Secret() = default;
  explicit Secret(std::string value) : value_(std::move(value)) {}

  bool empty() const { return value_.empty(); }
  const std::string& reveal() const { return value_; }

 private:
  std::string value_;
};

// How a Secret is shown to users and in files: fmt::format("{}", secret) gives ***.
inline std::string format_as(const Secret& secret) { return secret.empty() ? "" : "***"; }

}  // namespace upskill
