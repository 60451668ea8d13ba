// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "util/json.h"
#include "util/result.h"

namespace upskill {

// What isn't in a file as upskill writes it: "students[2].name: expected a string, not a number".
class StoredJsonFault : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The error for the user: "FILE: students[2].name: expected a string, not a number. The file isn't as upskill wrote it:
// restore it, or start a new run".
Error NotAsWritten(const std::string& file, const StoredJsonFault& fault, const std::string& otherwise);

// A value in a JSON document that upskill has written, and its place there. People edit such files, so whatever is
// missing or has another type throws a StoredJsonFault, which the reader of the file catches. Points to the value, so
// the document must outlive it.
class StoredJson {
 public:
  // `place`: of the value in its file; empty: it is the whole.
  explicit StoredJson(const Json& value, std::string place = "") : value_(&value), place_(std::move(place)) {}

  StoredJson at(const char* key) const;         // a member of an object
  StoredJson element(std::size_t index) const;  // an element of a list
  bool has(const char* key) const;              // an object's member; false also for what isn't an object
  std::vector<StoredJson> elements() const;     // of a list
  std::vector<std::string> texts() const;       // a list of strings
  std::string text() const;
  bool flag() const;
  // Without its fraction if T has none.
  template <typename T>
  T number() const {
    if (!value_->is_number()) FailWith("expected a number, not " + JsonTypeName(*value_));
    const std::optional<T> number = NumberAs<T>(*value_);
    if (!number) FailWith("the number is out of range");
    return *number;
  }

  const Json& json() const { return *value_; }

 private:
  [[noreturn]] void FailWith(const std::string& what) const;

  const Json* value_;
  std::string place_;
};

}  // namespace upskill
