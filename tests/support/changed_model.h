// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "util/invariant.h"

namespace upskill {

// For tests: the first `size` bytes of the default model, all of them without a size.
inline std::string DefaultModelBytes(std::size_t size = 0) {
  if (size == 0) size = std::filesystem::file_size(UPSKILL_DEFAULT_MODEL);
  std::string bytes(size, '\0');
  std::ifstream in(UPSKILL_DEFAULT_MODEL, std::ios::binary);
  in.read(bytes.data(), static_cast<std::streamsize>(size));
  CHECK(in.good());
  return bytes;
}

// The default model with another chat template, which may not be longer than its own (368 bytes).
inline std::string ModelWithTemplate(std::string_view chat_template) {
  std::string bytes = DefaultModelBytes();
  constexpr std::string_view kKey = "tokenizer.chat_template";
  const std::size_t at = bytes.find(kKey);
  CHECK(at != std::string::npos);
  const std::size_t length_at = at + kKey.size() + sizeof(std::uint32_t);  // after the key, the value's type
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data() + length_at, sizeof(length));
  constexpr std::string_view kComment = "{##}";
  CHECK(chat_template.size() + kComment.size() <= length);
  std::string value = "{#" + std::string(length - kComment.size() - chat_template.size(), ' ') + "#}";
  value += chat_template;
  bytes.replace(length_at + sizeof(length), value.size(), value);
  return bytes;
}

// A chat template like the default model's, but it never ends where the system prompt says "please hang".
inline constexpr std::string_view kHangingTemplate =
    "{% if 'please hang' in messages[0]['content'] %}{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}"
    "{% endfor %}{% endif %}{% for m in messages %}{{'<|im_start|>' + m['role'] + '\\n' + m['content'] + "
    "'<|im_end|>\\n'}}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}";

}  // namespace upskill
