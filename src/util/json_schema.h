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
// the place in the value as a JSON pointer. A schema that refers to itself without end, or that has too many
// alternatives for so much data, fits nothing, not even as "not".
Status CheckJsonSchema(const Json& schema, const Json& value);

// The part of the schema `root` that a `$ref` names as a JSON pointer ("#/$defs/size"); nullptr if there is none.
const Json* FindReferenced(const Json& root, const Json& reference);

// Errors: a pattern that RE2 rejects, in `pattern` or `patternProperties` at any depth; more than 1,000 patterns; a
// `type` that isn't one of JSON schema's; another keyword whose value has the wrong type ("required": "name"); a `$ref`
// that names nothing in the schema; `$dynamicRef`.
Status CheckSchemaItself(const Json& schema);

// Keys of the schema, at any depth, that have no effect: not supported here, or nearly keywords, such as "requird". Up
// to five sentences.
std::vector<std::string> IgnoredSchemaKeywords(const Json& schema);

}  // namespace upskill
