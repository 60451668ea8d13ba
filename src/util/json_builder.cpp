// SPDX-License-Identifier: Apache-2.0
#include "util/json_builder.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace upskill {
namespace {

// Up to here, comparing each key with each other is faster than sorting them.
constexpr std::size_t kFewKeys = 16;

// For each member, whether an earlier one has the same key; empty if none has.
template <typename Members>
std::vector<bool> FindRepeats(const Members& members) {
  std::vector<bool> repeats;
  const auto note = [&](std::size_t index) {
    if (repeats.empty()) repeats.resize(members.size());
    repeats[index] = true;
  };
  if (members.size() <= kFewKeys) {
    for (std::size_t i = 1; i < members.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        if (members[i].first != members[j].first) continue;
        note(i);
        break;
      }
    }
    return repeats;
  }
  // Sorted rather than hashed: whoever chooses the keys can choose ones with equal hashes.
  std::vector<std::size_t> order(members.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const int compared = members[a].first.compare(members[b].first);
    return compared != 0 ? compared < 0 : a < b;
  });
  for (std::size_t i = 1; i < order.size(); ++i) {
    if (members[order[i]].first == members[order[i - 1]].first) note(order[i]);
  }
  return repeats;
}

}  // namespace

// Nesting is limited wherever values come from (ParseJson, ParseRecord), so recursion is safe.
void DiscardJson(Json& value) noexcept {  // NOLINT(misc-no-recursion)
  if (value.is_array()) {
    auto& items = value.get_ref<Json::array_t&>();
    for (Json& item : items) DiscardJson(item);
    items.clear();
  } else if (value.is_object()) {
    auto& members = value.get_ref<Json::object_t&>();
    for (auto& member : members) DiscardJson(member.second);
    members.clear();
  }
  value = nullptr;
}

JsonObjectBuilder::~JsonObjectBuilder() {
  for (auto& [key, value] : members_) DiscardJson(value);
}

Json& JsonObjectBuilder::Add(std::string key) { return members_.emplace_back(std::move(key), nullptr).second; }

void JsonObjectBuilder::MergeEqualKeys() {
  const std::vector<bool> repeats = FindRepeats(members_);
  if (repeats.empty()) return;
  std::vector<std::size_t> firsts;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    if (!repeats[i]) firsts.push_back(i);
  }
  std::sort(firsts.begin(), firsts.end(),
            [&](std::size_t a, std::size_t b) { return members_[a].first < members_[b].first; });
  for (std::size_t i = 0; i < members_.size(); ++i) {
    if (!repeats[i]) continue;
    const auto first =
        std::lower_bound(firsts.begin(), firsts.end(), members_[i].first,
                         [&](std::size_t index, const std::string& key) { return members_[index].first < key; });
    std::swap(members_[*first].second, members_[i].second);
  }
  std::size_t kept = 0;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    if (repeats[i]) continue;
    if (kept != i) std::swap(members_[kept], members_[i]);
    ++kept;
  }
  for (std::size_t i = kept; i < members_.size(); ++i) DiscardJson(members_[i].second);
  members_.resize(kept);
}

Json JsonObjectBuilder::Take() {
  MergeEqualKeys();
  Json object = Json::object();
  auto& members = object.get_ref<Json::object_t&>();
  members.reserve(members_.size());
  // From here on, nothing is allocated.
  for (auto& [key, value] : members_) members.emplace_back(std::move(key), std::move(value));
  members_.clear();
  return object;
}

JsonListBuilder::~JsonListBuilder() {
  for (Json& item : items_) DiscardJson(item);
}

Json& JsonListBuilder::Add() { return items_.emplace_back(nullptr); }

Json JsonListBuilder::Take() {
  Json list = Json::array();
  list.get_ref<Json::array_t&>() = std::move(items_);
  items_.clear();
  return list;
}

}  // namespace upskill
