// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "util/result.h"

namespace upskill {

using PromptValues = std::map<std::string, std::string, std::less<>>;

// A text with placeholders:
//   {{name}}                the value of `name`
//   {{#name}} … {{/name}}   the text between them, if the value isn't empty
//   {{^name}} … {{/name}}   the text between them, if the value is empty
// A tag of the last two kinds that is alone on its line is left out together with the line. Names consist of lowercase
// letters and underscores.
class PromptTemplate {
 public:
  // `known` are the names it may use. Errors (kInput) name `source`, the line and what is wrong.
  static Result<PromptTemplate> Parse(const std::string& text, const std::set<std::string>& known,
                                      const std::string& source);

  // White space at both ends is removed. Values are inserted as they are; an absent one is empty.
  std::string Render(const PromptValues& values) const;

  // The names whose values it inserts.
  std::set<std::string> Placeholders() const;

 private:
  struct Piece {
    enum class Kind { kText, kValue, kIfFilled, kIfEmpty, kEnd };
    Kind kind = Kind::kText;
    std::string text;  // kText: the text, else the name
  };

  friend class PromptParser;
  std::vector<Piece> pieces_;
};

}  // namespace upskill
