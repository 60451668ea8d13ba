// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "util/json.h"
#include "util/result.h"

namespace upskill {

// Validates a value against a JSON schema (draft 2020-12, and draft 7 where it differs in notation). Supported
// keywords: type, enum, const, properties, patternProperties, additionalProperties, propertyNames, required,
// minProperties, maxProperties, dependentRequired, dependentSchemas, items, prefixItems (and `items` as a list with
// additionalItems), contains, minContains, maxContains, uniqueItems, minItems, maxItems, minLength, maxLength (in code
// points), pattern (RE2), minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf, anyOf, oneOf, allOf, not,
// if, then, else, and
// `$ref` within the same schema by JSON pointer. All others, `format` included, are ignored. The error (kInput) names
// the place in the value as a JSON pointer.
Status CheckJsonSchema(const Json& schema, const Json& value);

// Errors: a pattern that RE2 rejects, in `pattern` or `patternProperties` at any depth; more than 1,000 patterns; a
// `type` that isn't one of JSON schema's.
Status CheckSchemaItself(const Json& schema);

// Keys of the schema, at any depth, that are nearly keywords, such as "requird": up to five sentences.
std::vector<std::string> MisspeltSchemaKeywords(const Json& schema);

}  // namespace upskill
