// SPDX-License-Identifier: Apache-2.0
#include "kernel/python_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernel/python_names.h"
#include "kernel/python_rules.h"
#include "kernel/words.h"
#include "util/list.h"
#include "util/text.h"

namespace upskill {
namespace {

constexpr std::size_t kMostProblems = 100;          // before no further call is looked at
constexpr std::size_t kMostArgumentBytes = 10'000;  // of a call that is looked at

std::string_view WordAt(std::string_view text, std::size_t at) {
  const std::string_view rest = text.substr(std::min(at, text.size()));
  return rest.substr(0,
                     static_cast<std::size_t>(std::find_if_not(rest.begin(), rest.end(), IsAsciiWord) - rest.begin()));
}

// The arguments of the call whose bracket is at `open`; nothing if they can't be told.
std::optional<std::vector<std::string_view>> ArgumentsAt(std::string_view text, std::size_t open) {
  std::vector<std::string_view> arguments;
  int depth = 0;
  std::size_t start = open + 1;
  for (std::size_t i = open; i < std::min(text.size(), open + kMostArgumentBytes); ++i) {
    const char c = text[i];
    if (c == '(' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == ']' || c == '}') --depth;
    if ((c != ',' || depth != 1) && depth != 0) continue;
    const std::string_view argument = Trim(text.substr(start, i - start));
    if (argument.starts_with('*')) return std::nullopt;
    if (!argument.empty()) arguments.push_back(argument);
    if (depth == 0) return arguments;
    start = i + 1;
  }
  return std::nullopt;
}

// The keyword of an argument; empty if it is given by its position.
std::string_view KeywordOf(std::string_view argument) {
  const std::string_view word = WordAt(argument, 0);
  const std::string_view rest = Trim(argument.substr(word.size()));
  return rest.starts_with('=') && !rest.starts_with("==") ? word : std::string_view();
}

std::string MismatchOfCall(const OpSchema& schema, const std::vector<std::string_view>& given) {
  std::size_t positional = 0;
  std::vector<std::string_view> keywords;
  for (const std::string_view argument : given) {
    const std::string_view keyword = KeywordOf(argument);
    if (keyword.empty()) {
      ++positional;
    } else {
      keywords.push_back(keyword);
    }
  }
  if (positional > schema.arguments.size())
    return fmt::format("takes {}, not {}", Counted(schema.arguments.size(), "argument"), positional);
  for (std::size_t i = 0; i < schema.arguments.size(); ++i) {
    const OpArgument& argument = schema.arguments[i];
    const auto keyword = std::find(keywords.begin(), keywords.end(), argument.name);
    if (i >= positional && keyword == keywords.end() && !argument.has_default)
      return fmt::format("needs the argument {}", CodeQuoted(argument.name));
    if (keyword != keywords.end()) keywords.erase(keyword);
  }
  return keywords.empty() ? "" : fmt::format("has no argument {}", CodeQuoted(keywords.front()));
}

class CallRules {
 public:
  CallRules(const RegisteredOperators& operators, ProblemList& problems) : operators_(operators), problems_(problems) {}

  // What Python itself registers: @torch.library.custom_op(add_op_namespace_prefix("scale")). Returns false if not all
  // of it can be read.
  bool AddRegistered(std::string_view content) {
    for (const std::string_view call : {"custom_op(", "triton_op(", "library.define("}) {
      for (std::size_t at = content.find(call); at != std::string_view::npos; at = content.find(call, at + 1)) {
        const std::size_t quote = content.find_first_of("\"'", at);
        const std::size_t line = content.find('\n', content.find_first_not_of(" \t\n", at + call.size()));
        if (quote >= line) return false;
        const std::string_view name = content.substr(quote + 1, content.find(content[quote], quote + 1) - quote - 1);
        python_.emplace_back(WordAt(name.substr(name.rfind(':') + 1), 0));
      }
    }
    return content.find("torch.library.Library(") == std::string_view::npos;
  }

  void Check(const std::string& path, const std::string& content) {
    const std::string plain = PythonWithoutStrings(content);
    for (const PythonImport& import : RelativeImports(plain)) {
      if (!import.module.ends_with("._ops")) continue;
      for (const PythonImport::Name& one : import.names) {
        if (one.name == "ops") {
          CheckUses(path, plain, std::string(one.alias) + ".");
          CheckPrefixed(path, content, fmt::format("getattr({}, ", one.alias));
        }
        if (one.name == "add_op_namespace_prefix") CheckPrefixed(path, content, std::string(one.alias) + "(");
      }
    }
  }

 private:
  // @torch.library.register_fake(add_op_namespace_prefix("scale")), getattr(ops, "scale")
  void CheckPrefixed(const std::string& path, const std::string& content, const std::string& call) {
    for (std::size_t at = FindChain(content, call); at != std::string::npos; at = FindChain(content, call, at + 1)) {
      const std::size_t quote = at + call.size();
      if (quote >= content.size() || (content[quote] != '"' && content[quote] != '\'')) continue;
      const std::string_view name = WordAt(content, quote + 1);
      if (content.compare(quote + 1 + name.size(), 2, {content[quote], ')'}) == 0) CheckName(path, content, at, name);
    }
  }

  const RegisteredOperators::value_type* CheckName(const std::string& path, const std::string& text, std::size_t at,
                                                   std::string_view name) {
    if (name.empty() || name.starts_with('_') || IsOneOf(name, python_)) return nullptr;
    const auto found = operators_.find(name);
    if (found != operators_.end()) return &*found;
    problems_.Add(path, PositionAt(text, at), fmt::format("no operator {} is registered (ops.def)", CodeQuoted(name)));
    return nullptr;
  }

  void CheckUses(const std::string& path, const std::string& plain, const std::string& start) {
    for (std::size_t at = FindChain(plain, start); at != std::string::npos && problems_.count() < kMostProblems;
         at = FindChain(plain, start, at + 1)) {
      const std::string_view name = WordAt(plain, at + start.size());
      const RegisteredOperators::value_type* const op = CheckName(path, plain, at, name);
      std::size_t open = at + start.size() + name.size();
      if (plain.compare(open, 8, ".default") == 0) open += 8;
      if (op == nullptr || open >= plain.size() || plain[open] != '(') continue;
      if (const auto given = ArgumentsAt(plain, open)) CheckCall(path, plain, at, *op, *given);
    }
  }

  // The arguments must fit one of the operator's overloads.
  void CheckCall(const std::string& path, const std::string& text, std::size_t at,
                 const RegisteredOperators::value_type& op, const std::vector<std::string_view>& given) {
    std::string mismatch;
    for (const OpSchema& schema : op.second) {
      mismatch = schema.returns ? MismatchOfCall(schema, given) : "";
      if (mismatch.empty()) return;
    }
    problems_.Add(path, PositionAt(text, at), fmt::format("the operator {} {}", CodeQuoted(op.first), mismatch));
  }

  const RegisteredOperators& operators_;
  ProblemList& problems_;
  std::vector<std::string> python_;
};

}  // namespace

void AddCallProblems(const KernelFiles& files, const std::string& folder, const RegisteredOperators& operators,
                     ProblemList& problems) {
  std::vector<const KernelFiles::value_type*> modules;
  CallRules rules(operators, problems);
  for (auto file = files.lower_bound(folder + "/"); file != files.end() && file->first.starts_with(folder + "/");
       ++file) {
    if (!file->first.ends_with(".py")) continue;
    modules.push_back(&*file);
    if (!rules.AddRegistered(file->second)) return;
  }
  for (const KernelFiles::value_type* module : modules) rules.Check(module->first, module->second);
}

}  // namespace upskill
