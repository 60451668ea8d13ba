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

// For tests: the first `size` bytes of a file.
inline std::string BytesOf(const std::filesystem::path& file, std::size_t size) {
  std::string bytes(size, '\0');
  std::ifstream in(file, std::ios::binary);
  in.read(bytes.data(), static_cast<std::streamsize>(size));
  CHECK(in.good());
  return bytes;
}

inline std::string DefaultModelBytes(std::size_t size) { return BytesOf(UPSKILL_DEFAULT_MODEL, size); }

// The tiny model (make_tiny_model.cpp).
inline std::string TinyModelBytes() {
  return BytesOf(UPSKILL_TINY_MODEL, std::filesystem::file_size(UPSKILL_TINY_MODEL));
}

// The tiny model with another chat template, which may not be longer than its own (368 bytes).
inline std::string ModelWithTemplate(std::string_view chat_template) {
  std::string bytes = TinyModelBytes();
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

// A chat template like the model's own, but its program never ends where the system prompt says "please hang": the
// engine gives it up.
inline constexpr std::string_view kHangingTemplate =
    "{% if 'please hang' in messages[0]['content'] %}{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}"
    "{% endfor %}{% endif %}{% for m in messages %}{{'<|im_start|>' + m['role'] + '\\n' + m['content'] + "
    "'<|im_end|>\\n'}}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}";

}  // namespace upskill
