// SPDX-License-Identifier: Apache-2.0
#include "util/stored_json.h"

#include <fmt/format.h>

#include <string>
#include <vector>

namespace upskill {
namespace {

std::string Below(const std::string& place, const char* key) { return place.empty() ? key : place + "." + key; }

}  // namespace

Error NotAsWritten(const std::string& file, const StoredJsonFault& fault, const std::string& otherwise) {
  return InputError(
      fmt::format("{}: {}. The file isn't as upskill wrote it: restore it, or {}", file, fault.what(), otherwise));
}

void StoredJson::FailWith(const std::string& what) const {
  throw StoredJsonFault(place_.empty() ? what : place_ + ": " + what);
}

StoredJson StoredJson::at(const char* key) const {
  if (!value_->is_object()) FailWith("expected an object, not " + JsonTypeName(*value_));
  const auto found = value_->find(key);
  if (found == value_->end()) throw StoredJsonFault(Below(place_, key) + ": missing");
  return StoredJson(*found, Below(place_, key));
}

StoredJson StoredJson::element(std::size_t index) const {
  if (!value_->is_array()) FailWith("expected a list, not " + JsonTypeName(*value_));
  const std::string place = fmt::format("{}[{}]", place_, index);
  if (index >= value_->size()) throw StoredJsonFault(place + ": missing");
  return StoredJson((*value_)[index], place);
}

bool StoredJson::has(const char* key) const { return value_->is_object() && value_->contains(key); }

std::vector<StoredJson> StoredJson::elements() const {
  if (!value_->is_array()) FailWith("expected a list, not " + JsonTypeName(*value_));
  std::vector<StoredJson> all;
  all.reserve(value_->size());
  for (std::size_t i = 0; i < value_->size(); ++i) all.emplace_back((*value_)[i], fmt::format("{}[{}]", place_, i));
  return all;
}

std::vector<std::string> StoredJson::texts() const {
  std::vector<std::string> all;
  for (const StoredJson& element : elements()) all.push_back(element.text());
  return all;
}

std::string StoredJson::text() const {
  if (!value_->is_string()) FailWith("expected a string, not " + JsonTypeName(*value_));
  return value_->get<std::string>();
}

bool StoredJson::flag() const {
  if (!value_->is_boolean()) FailWith("expected true or false, not " + JsonTypeName(*value_));
  return value_->get<bool>();
}

}  // namespace upskill
