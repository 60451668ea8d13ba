// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "util/error_cause.h"
#include "util/invariant.h"

namespace upskill {

// What a caller can do about an error. Journaled by name (ErrorKindName): never rename.
enum class ErrorKind {
  kInput,        // bad file, value or option: the user must change something
  kNotFound,     // a file, folder or model that doesn't exist
  kIo,           // reading or writing failed (full disk, permissions)
  kUnavailable,  // may succeed on a retry: timeout, overload, broken connection
  kPermanent,    // will fail again on a retry: no key, unknown model, too long
  kCancelled,    // cancelled on request
};

const char* ErrorKindName(ErrorKind kind);

struct Error {
  ErrorKind kind = ErrorKind::kInput;
  std::string message;
  std::optional<std::chrono::milliseconds> retry_after = std::nullopt;
  ErrorCause cause = ErrorCause::kUnknown;  // of a request to a model
  // What a request to a model reports to have used although it failed: dollars, and tokens of prompt and answer.
  double used_usd = 0.0;
  std::int64_t used_tokens = 0;

  // The same error with `context: ` prepended to its message.
  [[nodiscard]] Error With(const std::string& context) const {
    Error error = *this;
    error.message = context + ": " + message;
    return error;
  }
  // The same error with this cause.
  [[nodiscard]] Error Because(ErrorCause why) const {
    Error error = *this;
    error.cause = why;
    return error;
  }
};

// A value, or the error why there is none.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT: implicit by design
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT: implicit by design

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  T& value() & {
    T* value = std::get_if<0>(&state_);
    CHECK(value != nullptr);
    return *value;
  }
  const T& value() const& {
    const T* value = std::get_if<0>(&state_);
    CHECK(value != nullptr);
    return *value;
  }
  T&& value() && { return std::move(value()); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }

  const Error& error() const {
    const Error* error = std::get_if<1>(&state_);
    CHECK(error != nullptr);
    return *error;
  }

  // Prepends `context: ` to the message of an error; a value is returned unchanged.
  Result With(const std::string& context) && {
    if (ok()) return std::move(*this);
    return error().With(context);
  }

 private:
  std::variant<T, Error> state_;
};

// Success or an error.
template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}  // NOLINT: implicit by design

  bool ok() const { return !error_.has_value(); }
  explicit operator bool() const { return ok(); }
  const Error& error() const {
    CHECK(!ok());
    return *error_;
  }
  Result With(const std::string& context) && {
    if (ok()) return {};
    return error_->With(context);
  }

 private:
  std::optional<Error> error_;
};

using Status = Result<void>;

inline Error InputError(std::string message) { return Error{ErrorKind::kInput, std::move(message)}; }

}  // namespace upskill

// Returns the error of `expression` (a Result) from the enclosing function if there is one.
#define RETURN_IF_ERROR(expression)                                 \
  do {                                                              \
    const auto status_of_expression = (expression);                 \
    if (!status_of_expression) return status_of_expression.error(); \
  } while (false)

#define UPSKILL_CONCAT_INNER(a, b) a##b
#define UPSKILL_CONCAT(a, b) UPSKILL_CONCAT_INNER(a, b)

// Declares or assigns `target` from the value of `expression` (a Result), or returns its error.
#define ASSIGN_OR_RETURN(target, expression) \
  ASSIGN_OR_RETURN_INNER(UPSKILL_CONCAT(result_at_line_, __LINE__), target, expression)
#define ASSIGN_OR_RETURN_INNER(result, target, expression) \
  auto result = (expression);                              \
  if (!result) return result.error();                      \
  target = std::move(result).value()
