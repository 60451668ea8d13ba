// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <string_view>

namespace upskill {

template <typename Value, typename List>
bool IsOneOf(const Value& value, const List& list) {
  return std::find(std::begin(list), std::end(list), value) != std::end(list);
}

inline bool IsOneOf(std::string_view word, std::initializer_list<std::string_view> list) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

}  // namespace upskill
