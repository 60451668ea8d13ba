// SPDX-License-Identifier: Apache-2.0
#include "kernel/python_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "kernel/rules.h"
#include "kernel/words.h"
#include "util/text.h"

namespace upskill {
namespace {

constexpr std::size_t kMostNames = 1000;  // of an import

std::string_view TakePythonName(std::string_view& text) {
  text = text.substr(std::min(text.find_first_not_of(" \t\r\n\\(,"), text.size()));
  const auto end = std::find_if_not(text.begin(), text.end(), IsAsciiWord);
  const std::string_view name = text.substr(0, static_cast<std::size_t>(end - text.begin()));
  text.remove_prefix(name.size());
  return name;
}

// Follows the imports of a package, from its __init__.py on.
class NameRules {
 public:
  NameRules(const KernelFiles& files, const std::string& folder, ProblemList& problems)
      : files_(files), folder_(folder), problems_(problems) {}

  void Check() {
    Open(folder_);
    while (!open_.empty()) {
      path_ = open_.back();
      open_.pop_back();
      CheckModule(files_.at(path_));
    }
  }

 private:
  void CheckModule(const std::string& content) {
    const std::string plain = PythonWithoutStrings(content);
    for (const PythonImport& import : RelativeImports(plain)) {
      // In a function or in try, it may never be executed, or may fail.
      if (import.is_indented) continue;
      const TextPosition at = PositionAt(plain, import.offset);
      const std::string module = PathOf(import.module);
      if (module.empty()) continue;
      if (!Exists(module)) {
        problems_.Add(path_, at, fmt::format("there is no module {}", CodeQuoted(import.module)));
        continue;
      }
      if (module == folder_ + "/_ops") continue;
      Open(module);
      for (const PythonImport::Name& one : import.names) {
        const std::string below = module + "/" + std::string(one.name);
        if (Exists(below)) Open(below);
        if (Exists(below) || HasName(module, one.name)) continue;
        problems_.Add(path_, at,
                      fmt::format("{} has no {}", import.module == "." ? "the package" : CodeQuoted(import.module),
                                  CodeQuoted(one.name)));
      }
    }
    CheckAll(content, plain);
  }

  // The module's file, and those of the packages that it is in.
  void Open(std::string module) {
    for (; module.size() >= folder_.size(); module.erase(module.rfind('/'))) {
      for (const char* file : {".py", "/__init__.py"}) {
        const std::string path = module + file;
        if (files_.contains(path) && seen_.insert(path).second) open_.push_back(path);
      }
    }
  }

  // "torch-ext/my_kernel/layers" for .layers; empty if it is outside of the package.
  std::string PathOf(std::string_view module) const {
    std::string path = path_.substr(0, path_.rfind('/'));
    for (module.remove_prefix(1); module.starts_with('.') && path.size() > folder_.size(); module.remove_prefix(1))
      path.erase(path.rfind('/'));
    if (module.starts_with('.')) return "";
    for (const char c : module.empty() ? "" : "." + std::string(module)) path += c == '.' ? '/' : c;
    return path;
  }

  bool Exists(const std::string& module) const {
    if (module == folder_ + "/_ops" || files_.contains(module + ".py")) return true;
    const auto below = files_.lower_bound(module + "/");
    return below != files_.end() && below->first.starts_with(module + "/");
  }

  bool HasName(const std::string& module, std::string_view name) const {
    auto file = files_.find(module + ".py");
    if (file == files_.end()) file = files_.find(module + "/__init__.py");
    // Of this module itself, only what it imports could be meant.
    if (file != files_.end() && file->first == path_) return false;
    return file == files_.end() || MayHave(PythonWithoutStrings(file->second), name);
  }

  static bool MayHave(const std::string& plain, std::string_view name) {
    for (const char* any : {"import *", "__getattr__", "globals()", "exec("}) {
      if (plain.find(any) != std::string::npos) return true;
    }
    return HasChain(plain, name);
  }

  // The strings in the lists that begin with __all__ = [ or __all__ += [.
  void CheckAll(const std::string& content, const std::string& plain) {
    for (std::size_t at = content.find("__all__"); at != std::string::npos; at = content.find("__all__", at + 1)) {
      if (at > 0 && content[at - 1] != '\n') continue;
      std::size_t open = content.find_first_not_of(" \t+=", at + 7);
      if (open == std::string::npos || (content[open] != '[' && content[open] != '(')) continue;
      const std::size_t close = content.find(content[open] == '[' ? ']' : ')', open);
      while (true) {
        const std::size_t start = content.find_first_of("\"'#", open);
        if (start >= close) break;
        const std::size_t end = content.find(content[start] == '#' ? '\n' : content[start], start + 1);
        if (end == std::string::npos) break;
        if (content[start] != '#') CheckListed(content, plain, start + 1, end);
        open = end + 1;
      }
    }
  }

  void CheckListed(const std::string& content, const std::string& plain, std::size_t start, std::size_t end) {
    const std::string name = content.substr(start, end - start);
    if (name.empty() || Exists(path_.substr(0, path_.rfind('/') + 1) + name) || MayHave(plain, name)) return;
    problems_.Add(path_, PositionAt(content, start),
                  fmt::format("__all__ lists {}, which this module doesn't have", CodeQuoted(name)));
  }

  const KernelFiles& files_;
  const std::string& folder_;
  ProblemList& problems_;
  std::string path_;  // of the module that is looked at
  std::vector<std::string> open_;
  std::set<std::string> seen_;
};

}  // namespace

std::vector<PythonImport> RelativeImports(std::string_view plain) {
  std::vector<PythonImport> imports;
  for (std::size_t at = FindChain(plain, "from"); at != std::string_view::npos; at = FindChain(plain, "from", at + 4)) {
    const std::size_t line = plain.rfind('\n', at) + 1;
    std::string_view rest = Trim(plain.substr(at + 4));
    const std::size_t end = std::min(rest.find_first_of(" \t\n"), rest.size());
    if (!rest.starts_with('.') || !Trim(plain.substr(line, at - line)).empty()) continue;
    PythonImport import = {rest.substr(0, end), {}, at, at > line};
    rest.remove_prefix(end);
    if (TakePythonName(rest) != "import") continue;
    rest = Trim(rest);
    const std::size_t close = rest.find(rest.starts_with('(') ? ')' : '\n');
    rest = rest.substr(0, std::min(close, rest.size()));
    while (import.names.size() < kMostNames) {
      const std::string_view name = TakePythonName(rest);
      if (name.empty()) break;
      import.names.push_back({name, name});
      std::string_view after = rest;
      if (TakePythonName(after) != "as" || rest.find(',') < rest.find("as")) continue;
      import.names.back().alias = TakePythonName(after);
      rest = after;
    }
    imports.push_back(std::move(import));
  }
  return imports;
}

void AddNameProblems(const KernelFiles& files, const std::string& folder, ProblemList& problems) {
  NameRules(files, folder, problems).Check();
}

}  // namespace upskill
