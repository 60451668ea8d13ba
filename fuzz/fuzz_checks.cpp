// SPDX-License-Identifier: Apache-2.0
#include "fuzz/fuzz_checks.h"

#include <algorithm>

#include "util/terminal_text.h"
#include "util/text.h"

namespace upskill {

void CheckError(const Error& error) {
  CHECK(!error.message.empty());
  CHECK(error.message.size() <= kMaxErrorBytes);
  CHECK(!FindInvalidUtf8(TerminalText::Format("{}", error.message).text()));
}

std::string WithPlantedWord(std::string_view input) {
  const std::size_t middle = input.size() / 2;
  return std::string(input.substr(0, middle)) + std::string(kPlantedWord) + std::string(input.substr(middle));
}

bool HasControlCharacter(std::string_view text) {
  return std::any_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; });
}

}  // namespace upskill
