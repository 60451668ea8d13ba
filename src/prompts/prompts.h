// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "prompts/prompt_template.h"
#include "util/json.h"
#include "util/result.h"

namespace upskill {

struct PromptPlaceholder {
  std::string_view name;
  bool required = false;  // whether a prompt without it can't work
};

// What is said to a model in one situation. Names are those of the files in assets/prompts.
struct PromptKind {
  std::string_view name;   // "draft"
  std::string_view about;  // for people: "Asks the teacher for the skill"
  std::vector<PromptPlaceholder> placeholders;
};

// All kinds, in the order in which a generation uses them.
const std::vector<PromptKind>& PromptKinds();

// The texts that are said to teachers and students. A value; all of them are parsed and complete.
class Prompts {
 public:
  // The built-in ones, with NAME.md of the folder in place of those that are there. Errors (kInput, kNotFound) name
  // file and line: an unknown placeholder, a required one that is missing, a file that isn't a prompt's.
  static Result<Prompts> FromFolder(const std::filesystem::path& folder);

  // Texts by name, as ToJson writes them. A name that is missing has the built-in text. Errors name `source`.
  static Result<Prompts> FromJson(const Json& json, const std::string& source);
  Json ToJson() const;

  std::string Render(std::string_view name, const PromptValues& values = {}) const;
  const std::string& Text(std::string_view name) const;

  // SHA-256 of all texts.
  std::string Hash() const;

 private:
  friend const Prompts& BuiltInPrompts();
  struct Parsed {
    std::string text;
    PromptTemplate form;
  };

  static Result<Prompts> FromTexts(const std::map<std::string, std::string>& texts, const std::string& source);
  Status Set(const PromptKind& kind, const std::string& text, const std::string& source);

  std::map<std::string, Parsed, std::less<>> prompts_;
};

const Prompts& BuiltInPrompts();

// The content of assets/prompts, by name.
std::map<std::string, std::string> BuiltInPromptTexts();

}  // namespace upskill
