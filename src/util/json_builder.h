// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "util/json.h"

namespace upskill {

// Destroys a value without allocating memory, which the library's destructor does: it ends the process if there is none
// left. Leaves null.
void DiscardJson(Json& value) noexcept;

// Makes an object of many members in n log n. (Json's own operator[] compares each new key with all others, and copies
// the members that it has whenever it grows.) Of equal keys, the last value counts, at the place of the first.
// A builder that is abandoned, for example because of std::bad_alloc, is destroyed without allocating memory.
class JsonObjectBuilder {
 public:
  JsonObjectBuilder() = default;
  ~JsonObjectBuilder();
  JsonObjectBuilder(JsonObjectBuilder&&) noexcept = default;
  JsonObjectBuilder& operator=(JsonObjectBuilder&&) = delete;
  JsonObjectBuilder(const JsonObjectBuilder&) = delete;
  JsonObjectBuilder& operator=(const JsonObjectBuilder&) = delete;

  // The place for the member's value, until the next Add.
  Json& Add(std::string key);
  std::size_t size() const { return members_.size(); }
  Json Take();

 private:
  using Members = std::vector<std::pair<std::string, Json>>;

  void MergeEqualKeys();

  Members members_;
};

// The same for a list.
class JsonListBuilder {
 public:
  JsonListBuilder() = default;
  ~JsonListBuilder();
  JsonListBuilder(JsonListBuilder&&) noexcept = default;
  JsonListBuilder& operator=(JsonListBuilder&&) = delete;
  JsonListBuilder(const JsonListBuilder&) = delete;
  JsonListBuilder& operator=(const JsonListBuilder&) = delete;

  Json& Add();
  Json Take();

 private:
  Json::array_t items_;
};

}  // namespace upskill
