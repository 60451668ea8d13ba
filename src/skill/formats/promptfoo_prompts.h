// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "util/json.h"
#include "util/result.h"

namespace upskill {

// Before the name of a file that a value is in.
inline constexpr std::string_view kFileScheme = "file://";

struct PromptfooPrompt {
  std::string text;
  std::string label;  // may be empty
};

// The prompts of a promptfoo configuration: texts, objects with `raw` or `id`, files of text below the folder. Those
// that code would make, or that can't be read, are left out with a warning.
std::vector<PromptfooPrompt> PromptfooPrompts(const Json& prompts, const std::filesystem::path& folder,
                                              std::vector<std::string>& warnings);

// The user's message that a rendered prompt is: a text, or a list of messages with a single one. Errors: a
// conversation, or a message that isn't text.
Result<std::string> MessageOfPrompt(std::string prompt);

// For a test without prompts: the variable that is one by its name, or the only text. Nothing if there is none.
std::optional<std::string> PromptAmongVariables(const Json& variables);

}  // namespace upskill
