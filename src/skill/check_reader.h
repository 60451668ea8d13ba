// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "skill/suite.h"
#include "util/json.h"
#include "util/result.h"

namespace upskill {

// Reads one check of a suite. A type that this version doesn't know or can't run gives a check with `unavailable` set
// and a warning, so that the rest of the suite can be used; so does a key that the type doesn't have, which is ignored.
// Errors: a value of the wrong type, missing values, groups nested more than 8 deep.
Result<CheckSpec> ReadCheck(const Json& item, std::vector<std::string>& warnings);

// The list under raw[key]; empty if there is none. Errors name the key and the entry.
Result<std::vector<CheckSpec>> ReadCheckList(const Json& raw, const char* key, std::vector<std::string>& warnings);

// A string or a list of strings, none of them empty.
Result<std::vector<std::string>> ReadExpectedStrings(const Json& value, const std::string& key);

// The member if it is a string; empty if there is none. Errors: another type.
Result<std::string> ReadText(const Json& object, const char* key);
Error WrongType(std::string_view key, std::string_view wanted, const Json& value);

// The check as ReadCheck reads it.
Json CheckToJson(const CheckSpec& check);

// What decides whether an answer passes the check, for hashes: equal for equal checks, and never changed for a type.
Json CheckIdentity(const CheckSpec& check);

}  // namespace upskill
