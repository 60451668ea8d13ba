// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "util/result.h"

namespace upskill {

// What the fuzzers check of every result.

// Messages quote no more of an input than this; those of JSON and YAML are far shorter.
inline constexpr std::size_t kMaxErrorBytes = 20'000;

// An error must say something that can be printed, and not repeat a whole input.
void CheckError(const Error& error);

// Whether there is a value; an error is checked.
template <typename T>
bool Parsed(const Result<T>& result) {
  if (!result) CheckError(result.error());
  return result.ok();
}

// A word in the middle of an input, which an error about that input must not repeat: the input may be a file of keys.
inline constexpr std::string_view kPlantedWord = "Zk4QpV9xT2mWh7";
std::string WithPlantedWord(std::string_view input);

template <typename T>
void CheckNothingRepeated(const Result<T>& result) {
  CHECK(result.ok() || result.error().message.find(kPlantedWord) == std::string::npos);
}

bool HasControlCharacter(std::string_view text);

}  // namespace upskill
