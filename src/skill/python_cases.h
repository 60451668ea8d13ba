// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "util/json.h"
#include "util/result.h"

namespace upskill {

// Cases in a form that the Python tool of the same name reads too. Its reader (upskill 0.2.1, models.py) refuses a test
// with a key that it doesn't know, and requires `expected`. So the list of tests has only what means the same there,
// and a namespaced object beside it has the rest:
//
//   {"tests": [{"input": "…", "expected": {"contains": ["…"]}}],
//    "x-upskill": {"tests": [{"input": "…", "id": "…", "reference": "…"}, …]}}
//
// An entry of x-upskill with checks is a case of its own, which the Python tool can't judge; any other completes the
// test that has the same input.

// Moves what the Python tool doesn't know out of the document's list of cases, `tests` or `cases`. Documents without
// either, and lists that it reads as they are, stay as they are.
Json ReadableByPython(Json document);

// Whether the document has cases in x-upskill.
bool HasOwnTests(const Json& document);

struct JoinedTests {
  Json document;  // without x-upskill.tests; its list has whole cases, in the order of x-upskill.tests
  // By case: its place in the list as it was read; nothing for those that x-upskill has as a whole. Empty: the list is
  // as it was.
  std::vector<std::optional<std::size_t>> places;
};

// The reverse of ReadableByPython: `key` is that of the list. Tests that no entry completes follow the others. Errors:
// an entry that is no object, or completes no test.
Result<JoinedTests> JoinTests(Json document, const std::string& key);

}  // namespace upskill
