// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include "kernel/build_values.h"
#include "kernel/python_names.h"
#include "kernel/rules.h"
#include "kernel/words.h"
#include "util/list.h"
#include "util/text.h"

namespace upskill {
namespace {

constexpr std::size_t kMostPythonBytes = std::size_t{1} << 20U;

struct BannedCall {
  std::string_view text;
  std::string_view message;
};
constexpr std::array<BannedCall, 4> kBannedCalls = {{
    {"torch.utils.cpp_extension", "nothing is compiled at run time; list the sources in build.toml"},
    {"load_inline(", "nothing is compiled at run time; list the sources in build.toml"},
    {"torch.ops.load_library(", "the module is loaded by `from ._ops import ops`"},
    {"torch.classes.load_library(", "the module is loaded by `from ._ops import ops`"},
}};

std::string_view FirstWord(std::string_view line) {
  return line.substr(0, std::min(line.find_first_of(" \t"), line.size()));
}

// The module that a line imports from, as written: "._ops", "my_kernel.layers"; empty if it imports nothing.
std::string_view ImportedModule(std::string_view line) {
  const std::string_view word = FirstWord(line);
  if (word != "from" && word != "import") return {};
  line = Trim(line.substr(word.size()));
  return line.substr(0, std::min(line.find_first_of(" \t,;"), line.size()));
}

bool IsOrIsBelow(std::string_view module, std::string_view package) {
  return module.starts_with(package) && (module.size() == package.size() || module[package.size()] == '.');
}

class PythonRules {
 public:
  PythonRules(std::string package, bool is_compiled, ProblemList& problems)
      : package_(std::move(package)), is_compiled_(is_compiled), problems_(problems) {}

  void Check(const std::string& path, std::string_view content) {
    const std::string plain = PythonWithoutStrings(content);
    CheckBrackets(path, plain);
    std::size_t number = 0;
    for (const std::string_view raw : SplitLines(plain)) {
      ++number;
      const std::string_view line = Trim(raw);
      if (line.empty()) continue;
      const TextPosition at = {number, static_cast<std::size_t>(line.data() - raw.data()) + 1};
      CheckImport(path, at, line);
      CheckUses(path, at, line);
    }
  }

  bool imports_operators() const { return imports_operators_; }

 private:
  // Says the first bracket without its partner.
  void CheckBrackets(const std::string& path, std::string_view plain) {
    std::string closing;  // of those that are open, the innermost last
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < plain.size(); ++i) {
      const std::size_t kind = std::string_view("([{").find(plain[i]);
      if (kind != std::string_view::npos) {
        closing += ")]}"[kind];
        open.push_back(i);
      } else if (IsOneOf(plain.substr(i, 1), std::array<std::string_view, 3>{")", "]", "}"})) {
        if (closing.empty() || closing.back() != plain[i]) return AddBracket(path, plain, i, "closes nothing");
        closing.pop_back();
        open.pop_back();
      }
    }
    if (!open.empty()) AddBracket(path, plain, open.back(), "is never closed");
  }

  void AddBracket(const std::string& path, std::string_view plain, std::size_t at, std::string_view fault) {
    problems_.Add(path, PositionAt(plain, at),
                  fmt::format("{} {}, so Python can't load the module", CodeQuoted(plain.substr(at, 1)), fault));
  }

  void CheckImport(const std::string& path, TextPosition at, std::string_view line) {
    const std::string_view module = ImportedModule(line);
    if (module.empty()) return;
    if (module.starts_with('.') && HasChain(line.substr(line.find('.')), "_ops")) imports_operators_ = true;
    if (module.starts_with('.') && module.ends_with("._ops")) imports_operators_ = true;
    if (IsOrIsBelow(module, package_)) {
      problems_.Add(path, at,
                    fmt::format("a kernel is loaded from any folder, so its own modules are imported relatively: write "
                                "`from .{}` rather than {}",
                                module == package_ ? "" : ExcerptLine(module.substr(package_.size() + 1), 40),
                                CodeQuoted(module)));
    }
  }

  void CheckUses(const std::string& path, TextPosition at, std::string_view line) {
    if (HasChain(line, "torch.ops." + package_)) {
      problems_.Add(path, at,
                    fmt::format("torch.ops.{} doesn't exist, because the build adds a hash to the name; write `from "
                                "._ops import ops` and ops.NAME(…)",
                                package_));
    }
    if (!is_compiled_) return;
    for (const BannedCall& call : kBannedCalls) {
      if (HasChain(line, call.text))
        problems_.Add(path, at, fmt::format("{} isn't allowed: {}", CodeQuoted(call.text), call.message));
    }
  }

  std::string package_;
  bool is_compiled_;
  ProblemList& problems_;
  bool imports_operators_ = false;
};

}  // namespace

bool HasChain(std::string_view line, std::string_view text) { return FindChain(line, text) != std::string_view::npos; }

std::size_t FindChain(std::string_view text, std::string_view chain, std::size_t from) {
  for (std::size_t at = text.find(chain, from); at != std::string_view::npos; at = text.find(chain, at + 1)) {
    const bool starts = at == 0 || (!IsAsciiWord(text[at - 1]) && text[at - 1] != '.');
    const std::size_t end = at + chain.size();
    const bool ends = end == text.size() || !IsAsciiWord(text[end]) || !IsAsciiWord(chain.back());
    if (starts && ends) return at;
  }
  return std::string_view::npos;
}

std::string PythonWithoutStrings(std::string_view text) {
  std::string plain;
  plain.reserve(text.size());
  std::string_view quote;  // of the string that is open
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (!quote.empty()) {
      if (c == '\\' && i + 1 < text.size() && text[i + 1] != '\n') {
        ++i;
      } else if (text.substr(i).starts_with(quote)) {
        plain += quote;
        i += quote.size() - 1;
        quote = {};
      } else if (c == '\n') {
        plain += c;
        if (quote.size() == 1) quote = {};
      }
    } else if (c == '#') {
      while (i + 1 < text.size() && text[i + 1] != '\n') ++i;
    } else {
      if (c == '"' || c == '\'') {
        quote = text.substr(i, 1);
        if (text.substr(i, 3) == std::string(3, c)) quote = text.substr(i, 3);
        i += quote.size() - 1;
        plain += quote;
      } else {
        plain += c;
      }
    }
  }
  return plain;
}

void AddPythonProblems(const BuildToml& build, const KernelFiles& files, const std::string& folder,
                       ProblemList& problems) {
  PythonRules rules(KernelPackage(build.name.text), build.framework != KernelFramework::kTorchNoarch, problems);
  const std::string start = folder + "/";
  bool has_python = false;
  for (auto file = files.lower_bound(start); file != files.end() && file->first.starts_with(start); ++file) {
    if (!file->first.ends_with(".py") || file->second.size() > kMostPythonBytes) continue;
    has_python = true;
    rules.Check(file->first, file->second);
  }
  AddNameProblems(files, folder, problems);
  if (has_python && !rules.imports_operators() && build.framework == KernelFramework::kTorch) {
    problems.Add(start + "__init__.py", "no module of the package imports the operators; add `from ._ops import ops`");
  }
}

}  // namespace upskill
