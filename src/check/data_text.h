// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "util/json.h"
#include "util/result.h"

namespace upskill {

enum class DataFormat { kJson, kToml, kYaml };

const char* DataFormatName(DataFormat format);

// Data that a model wrote: one document of at most 1 MiB. TOML's dates, times, inf and nan, and YAML's scalars other
// than true, false and null, become strings. Errors (kInput): a syntax error with its line and column, too large,
// nested too deep, a second document of YAML.
Result<Json> ParseData(DataFormat format, std::string_view text);

// A place in data: "general.backends[0]", "kernel.*.src", `a."b.c"` or `a["b.c"]`, or a JSON pointer ("/general/name",
// RFC 6901; "*" is an ordinary key there). `*` stands for every member of an object or list. Immutable.
class DataPath {
 public:
  // Errors: empty, longer than 1,000 bytes, an unclosed quote or bracket, an empty key, something else in brackets than
  // a number from 0, a quoted key or *, the $ of JSONPath.
  static Result<DataPath> Parse(std::string_view text);

  // All values at the path; at most 10,000. They point into `data`.
  std::vector<const Json*> In(const Json& data) const;

 private:
  struct Step {
    std::string key;
    bool every = false;
  };
  static Result<Step> TakeBracket(std::string_view& text);

  std::vector<Step> steps_;
};

}  // namespace upskill
