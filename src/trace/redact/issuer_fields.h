// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "trace/redact/token_formats.h"

namespace upskill {

// Keys without a prefix, told by the issuer's name in the field and by their alphabet and length.

struct ValueForm {
  Charset charset = Charset::kAlnum;
  std::uint16_t least = 0;
  std::uint16_t most = 0;  // 0: no form
  // How the value begins, counted in the lengths. Initialized for -Wmissing-field-initializers.
  std::string_view prefix = {};  // NOLINT(readability-redundant-member-init)
};

struct IssuerField {
  std::string_view keyword;  // in the name of the field, in lower case
  std::string_view kind;
  std::array<ValueForm, 4> forms;
};

const std::vector<IssuerField>& IssuerFields();

}  // namespace upskill
