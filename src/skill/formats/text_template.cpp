// SPDX-License-Identifier: Apache-2.0
#include "skill/formats/text_template.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "skill/formats/converted_suite.h"
#include "util/text.h"

namespace upskill {
namespace {

constexpr std::size_t kMaxBytes = std::size_t{1} << 20U;
constexpr int kMaxDepth = 5;

bool IsNameCharacter(char c) { return IsAsciiAlphanumeric(c) || c == '_'; }

// The value of `name.key.key`; null if it isn't a path of names, or isn't there.
const Json* Find(const Json& variables, std::string_view path) {
  const Json* value = &variables;
  while (!path.empty()) {
    const std::size_t end = std::min(path.find('.'), path.size());
    const std::string_view name = path.substr(0, end);
    if (name.empty() || !std::all_of(name.begin(), name.end(), IsNameCharacter)) return nullptr;
    value = FindMember(*value, std::string(name).c_str());
    if (value == nullptr) return nullptr;
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return value;
}

Error CantRender(std::string_view expression) {
  return InputError(fmt::format("the test has no variable {}", ExcerptLine(expression, 60)));
}

class Renderer {
 public:
  explicit Renderer(const Json& variables) : variables_(variables) {}

  Status Render(std::string_view text, int depth) {
    if (depth > kMaxDepth) return InputError("its variables contain each other");
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t open = std::min({text.find("{{", at), text.find("{%", at), text.find("{#", at)});
      RETURN_IF_ERROR(Append(text.substr(at, open == std::string_view::npos ? open : open - at)));
      if (open == std::string_view::npos) break;
      const std::string_view rest = text.substr(open);
      const std::size_t close = rest.find("}}");
      if (rest[1] != '{' || close == std::string_view::npos)
        return InputError(fmt::format("statements of templates, such as {}, are not read", ExcerptLine(rest, 40)));
      std::string_view name = rest.substr(2, close - 2);
      if (name.starts_with('-')) name.remove_prefix(1);
      if (name.ends_with('-')) name.remove_suffix(1);
      const Json* const value = Trim(name).empty() ? nullptr : Find(variables_, Trim(name));
      if (value == nullptr) return CantRender(rest.substr(0, close + 2));
      RETURN_IF_ERROR(value->is_string() ? Render(value->get_ref<const std::string&>(), depth + 1)
                                         : Append(TextOf(*value)));
      at = open + close + 2;
    }
    return {};
  }

  std::string Take() { return std::move(out_); }

 private:
  Status Append(std::string_view text) {
    if (out_.size() + text.size() > kMaxBytes) return InputError("with its variables it is larger than 1 MiB");
    out_ += text;
    return {};
  }

  const Json& variables_;
  std::string out_;
};

}  // namespace

Result<std::string> RenderTemplate(std::string_view text, const Json& variables) {
  Renderer renderer(variables);
  RETURN_IF_ERROR(renderer.Render(text, 0));
  return renderer.Take();
}

Result<Json> RenderStrings(const Json& value, const Json& variables) {
  if (value.is_string()) {
    ASSIGN_OR_RETURN(std::string text, RenderTemplate(value.get_ref<const std::string&>(), variables));
    return Json(std::move(text));
  }
  if (!value.is_structured()) return value;
  Json rendered = value;
  for (Json& member : rendered) {
    ASSIGN_OR_RETURN(Json one, RenderStrings(member, variables));
    member = std::move(one);
  }
  return rendered;
}

}  // namespace upskill
