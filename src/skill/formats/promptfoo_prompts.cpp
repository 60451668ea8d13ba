// SPDX-License-Identifier: Apache-2.0
#include "skill/formats/promptfoo_prompts.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "skill/formats/converted_suite.h"
#include "util/text.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

bool IsTextFile(const std::string& name) {
  const std::string extension = ToLowerAscii(fs::path(name).extension().string());
  return extension == ".txt" || extension == ".md" || extension == ".json" || extension == ".j2";
}

// The name of the file that an entry stands for; empty if it is the prompt itself.
std::string FileNameIn(const std::string& entry) {
  if (entry.starts_with(kFileScheme)) return entry.substr(kFileScheme.size());
  const bool looks_so = IsTextFile(entry) && entry.find_first_of(" \n{") == std::string::npos;
  return looks_so ? entry : "";
}

// A file of text may have several prompts, with a line of three hyphens between them.
void AddPrompts(const std::string& text, const std::string& label, std::vector<PromptfooPrompt>& prompts) {
  std::string one;
  const auto add = [&] {
    if (!Trim(one).empty()) prompts.push_back({std::string(Trim(one)), label});
    one.clear();
  };
  for (const std::string_view line : SplitLines(text)) {
    if (Trim(line) == "---") {
      add();
    } else {
      one += std::string(line) + "\n";
    }
  }
  add();
}

void AddEntry(const Json& entry, const fs::path& folder, std::vector<PromptfooPrompt>& prompts,
              std::vector<std::string>& warnings) {
  std::string text = entry.is_string() ? entry.get<std::string>() : StringAt(entry, "raw");
  if (text.empty()) text = StringAt(entry, "id");
  if (text.empty()) {
    warnings.emplace_back("a prompt is left out: it has neither a text nor a file");
    return;
  }
  const std::string label = StringAt(entry, "label");
  const std::string file = FileNameIn(text);
  if (file.empty()) {
    prompts.push_back({std::move(text), label});
    return;
  }
  if (!IsTextFile(file)) {
    warnings.push_back(fmt::format("the prompt {} is left out: only texts are read, not code or patterns of names",
                                   ExcerptLine(file, 60)));
    return;
  }
  const Result<std::string> content = ReadTextBelow(folder, file);
  if (content) {
    AddPrompts(*content, label, prompts);
  } else {
    warnings.push_back(fmt::format("the prompt {} is left out: {}", ExcerptLine(file, 60), content.error().message));
  }
}

}  // namespace

std::vector<PromptfooPrompt> PromptfooPrompts(const Json& prompts, const fs::path& folder,
                                              std::vector<std::string>& warnings) {
  std::vector<PromptfooPrompt> read;
  if (prompts.is_null()) return read;
  for (const Json& entry : prompts.is_array() ? prompts : Json::array({prompts}))
    AddEntry(entry, folder, read, warnings);
  return read;
}

Result<std::string> MessageOfPrompt(std::string prompt) {
  if (!Trim(prompt).starts_with('[')) return prompt;
  const Result<Json> messages = ParseJson(prompt, "prompt");
  if (!messages || !messages->is_array() || messages->empty() || FindMember(messages->front(), "role") == nullptr)
    return prompt;
  if (messages->size() > 1 || StringAt(messages->front(), "role") != "user")
    return InputError("a case is one message of the user, not a conversation");
  std::optional<std::string> text = TextOfContent(Member(messages->front(), "content"));
  if (!text) return InputError("its message has something else than text");
  return *std::move(text);
}

std::optional<std::string> PromptAmongVariables(const Json& variables) {
  for (const char* name : {"prompt", "input", "question", "query", "message"}) {
    if (const Json* const value = FindMember(variables, name); value != nullptr && value->is_string())
      return fmt::format("{{{{{}}}}}", name);
  }
  std::optional<std::string> only;
  if (!variables.is_object()) return only;
  for (const auto& [name, value] : variables.items()) {
    if (!value.is_string()) continue;
    if (only) return std::nullopt;
    only = fmt::format("{{{{{}}}}}", name);
  }
  return only;
}

}  // namespace upskill
