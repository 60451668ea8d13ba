// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "check/check.h"
#include "check/data_text.h"
#include "skill/suite.h"
#include "util/result.h"

namespace upskill {

// `json_value`, `toml_value`, `yaml_value`: one of the values at the path `at` (DataPath) equals `equals` (numbers by
// their value, objects regardless of the order of keys), is in the list `one_of`, or is a string, number or flag whose
// text the RE2 `pattern` matches anywhere; with `exists` (true by default) alone, there is a value, or with false,
// none. A YAML scalar equals the text that it is, and the number that it is as a whole. The data is the file, or the
// block or text that the answer consists of (DataInAnswer). Errors: no `at`, two of the four conditions, a wrong type,
// a bad path or pattern.
Result<std::unique_ptr<Check>> MakeValueCheck(DataFormat format, const CheckSpec& spec, CaseParts& parts);

// `json_schema`: the data fits `schema` (CheckJsonSchema has the keywords). Errors: no schema, or one that isn't an
// object or flag, or has a `pattern` that RE2 rejects.
Result<std::unique_ptr<Check>> MakeJsonSchema(const CheckSpec& spec, CaseParts& parts);

}  // namespace upskill
