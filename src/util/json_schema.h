// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "util/json.h"
#include "util/result.h"

namespace upskill {

// Validates a value against a JSON schema. Supported keywords: type, properties, required, additionalProperties, items,
// enum, const, minLength, maxLength (in code points), minItems, maxItems, minimum, maximum, anyOf, oneOf, allOf and
// `$ref` within the same schema; all others, `pattern` included, are ignored. The error (kInput) names the place in the
// value as a JSON pointer.
Status CheckJsonSchema(const Json& schema, const Json& value);

}  // namespace upskill
