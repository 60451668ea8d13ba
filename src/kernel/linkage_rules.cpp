// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernel/cpp_signature.h"
#include "kernel/rules.h"
#include "kernel/words.h"
#include "util/list.h"

namespace upskill {
namespace {

constexpr std::string_view kAnyNamespace = "*";  // with a name that is a macro
constexpr std::string_view kExternC = "extern \"C\"";
constexpr std::size_t kMostSameName = 20;  // declarations and definitions of a name that are compared

// Names that mean the same type, and those of which each means another one.
constexpr std::array<std::pair<std::string_view, std::string_view>, 11> kSameTypes = {{{"int32_t", "int"},
                                                                                       {"uint32_t", "unsigned"},
                                                                                       {"uint", "unsigned"},
                                                                                       {"int64_t", "long"},
                                                                                       {"ptrdiff_t", "long"},
                                                                                       {"ssize_t", "long"},
                                                                                       {"uint64_t", "size_t"},
                                                                                       {"half", "__half"},
                                                                                       {"nv_bfloat16", "__nv_bfloat16"},
                                                                                       {"IntArrayRef", "ArrayRef"},
                                                                                       {"string_view", "string"}}};
constexpr std::array<std::string_view, 21> kDistinctTypes = {
    "int",           "unsigned",     "long",   "size_t",   "float",   "double",   "bool",
    "char",          "void",         "int8_t", "uint8_t",  "int16_t", "uint16_t", "__half",
    "__nv_bfloat16", "cudaStream_t", "Tensor", "optional", "vector",  "ArrayRef", "string"};

// A parameter's type without what doesn't change the function: namespaces, qualifiers of the value.
struct TypeShape {
  std::vector<std::string_view> names;
  std::size_t pointers = 0;
  std::size_t references = 0;
  bool points_to_const = false;
};

TypeShape ShapeOf(std::string_view type) {
  TypeShape shape;
  const CppText code = TokenizeCpp(type);
  bool has_const = false;
  for (std::size_t i = 0; i < code.tokens.size(); ++i) {
    std::string_view word = code.tokens[i].text;
    if (word == "*" || word == "&") {
      ++(word == "*" ? shape.pointers : shape.references);
      shape.points_to_const = shape.points_to_const || has_const;
    } else if (word == "const") {
      has_const = has_const || shape.pointers + shape.references == 0;
    } else if (code.IsName(i) && !code.Is(i + 1, "::") && word != "struct" && !word.starts_with("__restrict")) {
      const auto* const same =
          std::find_if(kSameTypes.begin(), kSameTypes.end(), [&](const auto& pair) { return pair.first == word; });
      if (same != kSameTypes.end()) word = same->second;
      const bool after_size = word == "int" && !shape.names.empty() && IsOneOf(shape.names.back(), kDistinctTypes);
      if (!after_size) shape.names.push_back(word);
    }
  }
  return shape;
}

// Whether the types are surely different: a name that isn't known may be an alias.
bool AreDifferent(const std::string& a, const std::string& b) {
  if (a == b) return false;
  const TypeShape left = ShapeOf(a);
  const TypeShape right = ShapeOf(b);
  if (left.names == right.names)
    return left.pointers != right.pointers || left.references != right.references ||
           left.points_to_const != right.points_to_const;
  const auto is_known = [](const TypeShape& shape) {
    return std::all_of(shape.names.begin(), shape.names.end(),
                       [](std::string_view name) { return IsOneOf(name, kDistinctTypes); });
  };
  return is_known(left) && is_known(right);
}

// A function outside of classes and of other functions.
struct Function {
  const CodeFile* file = nullptr;
  CppSignature signature;
  std::string scope;  // its namespaces: "a::b"
  bool is_internal = false;
  bool is_extern_c = false;
};

// The functions of a file that aren't templates; none if its brackets don't match.
class FunctionFinder {
 public:
  explicit FunctionFinder(const CodeFile& file) : file_(file), code_(file.code) {}

  std::vector<Function> Find() && {
    std::vector<CppSignature> signatures = FindSignatures(code_, nullptr);
    auto next = signatures.begin();
    for (std::size_t i = 0; i < code_.tokens.size(); ++i) {
      while (next != signatures.end() && next->token < i) ++next;
      if (next != signatures.end() && next->token == i && !next->is_template) Add(std::move(*next));
      if (code_.tokens[i].kind == CppToken::Kind::kString || code_.tokens[i].in_define) continue;
      while (!open_.empty() && i >= open_.back().end) open_.pop_back();
      if (!code_.Is(i, "{")) continue;
      if (code_.partner[i] == i) return {};
      if (std::optional<std::string> name = NamespaceAt(i)) {
        open_.push_back({code_.partner[i], *std::move(name)});
      } else {
        i = code_.partner[i];
      }
    }
    return std::move(found_);
  }

 private:
  struct Scope {
    std::size_t end;
    std::string name;  // empty: without a name
  };

  // Of the namespace, or the block of extern "C", that begins with this bracket.
  std::optional<std::string> NamespaceAt(std::size_t bracket) const {
    if (bracket < 2) return std::nullopt;
    if (code_.Is(bracket - 2, "extern") && code_.tokens[bracket - 1].kind == CppToken::Kind::kString)
      return std::string(kExternC);
    std::string name;
    std::size_t at = bracket - 1;
    for (; at > 0 && (code_.IsName(at) || code_.Is(at, "::")) && !code_.Is(at, "namespace"); --at)
      name.insert(0, code_.tokens[at].text);
    if (!code_.Is(at, "namespace")) return std::nullopt;
    const bool is_macro = !name.empty() && std::none_of(name.begin(), name.end(), IsAsciiLower);
    return is_macro ? std::string(kAnyNamespace) : name;
  }

  void Add(CppSignature signature) {
    Function function = {&file_, std::move(signature), ""};
    function.is_internal = function.signature.is_static;
    function.is_extern_c = function.signature.is_extern_c;
    std::vector<std::string_view> names;
    for (const Scope& scope : open_) {
      if (scope.name != kExternC) names.push_back(scope.name);
      function.is_extern_c = function.is_extern_c || scope.name == kExternC;
      function.is_internal = function.is_internal || scope.name.empty();
    }
    if (!function.signature.qualifiers.empty()) names.push_back(function.signature.qualifiers);
    for (const std::string_view name : names)
      function.scope += (function.scope.empty() ? "" : "::") + std::string(name);
    found_.push_back(std::move(function));
  }

  const CodeFile& file_;
  const CppText& code_;
  std::vector<Scope> open_;
  std::vector<Function> found_;
};

std::string ScopeText(const Function& function) {
  return function.scope.empty() ? "outside of any namespace" : "in " + CodeQuoted(function.scope);
}

// Whether the definition sees the declaration, and so has its extern "C".
bool Sees(const ProjectCode& code, const Function& defined, const Function& declared) {
  return defined.file->kind != CodeKind::kCompiled ||
         code.Reached({{std::string(defined.file->path), {}}}).contains(declared.file);
}

// Why the definition isn't the one that the declaration promises; empty if it may be.
std::string MismatchOfLinkage(const ProjectCode& code, const Function& declared, const Function& defined) {
  const std::string place = CodeQuoted(declared.file->path);
  if (defined.is_internal)
    return fmt::format("is static or in an unnamed namespace here, but {} declares it for other files", place);
  if (declared.is_extern_c && defined.is_extern_c) return "";
  if (declared.is_extern_c != defined.is_extern_c) {
    if (Sees(code, defined, declared)) return "";
    return fmt::format(R"({} extern "C" here, but {} declares it {} it)", defined.is_extern_c ? "is" : "isn't", place,
                       declared.is_extern_c ? "with" : "without");
  }
  const auto is_sure = [](const Function& one) { return one.scope.find(kAnyNamespace) == std::string::npos; };
  if (!is_sure(declared) || !is_sure(defined)) return "";
  if (declared.scope != defined.scope)
    return fmt::format("is {} here, but {} declares it {}", ScopeText(defined), place, ScopeText(declared));
  const std::vector<CppType>& wanted = declared.signature.parameters;
  const std::vector<CppType>& given = defined.signature.parameters;
  if (wanted.size() != given.size())
    return fmt::format("has {} here, but {} declares it with {}", Counted(given.size(), "parameter"), place,
                       wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (!AreDifferent(wanted[i].type.text, given[i].type.text)) continue;
    return fmt::format("has {} as parameter {} here, but {} declares it with {}", CodeQuoted(given[i].type.text), i + 1,
                       place, CodeQuoted(wanted[i].type.text));
  }
  return "";
}

struct SameName {
  std::vector<const Function*> declared;
  std::vector<const Function*> defined;
  std::size_t uses = 0;  // and declarations
};
using FunctionsOfFiles = std::map<const CodeFile*, std::vector<Function>>;
using FunctionsByName = std::map<std::string_view, SameName>;

// Whether the name is that of a member, or in a library's namespace.
bool IsOfOthers(const CppText& code, std::size_t at) {
  constexpr std::array<std::string_view, 5> kLibraries = {"at", "c10", "cuda", "std", "torch"};
  if (at > 1 && code.Is(at - 1, "::")) return IsOneOf(code.tokens[at - 2].text, kLibraries);
  return at > 1 && (code.Is(at - 1, ".") || (code.Is(at - 1, ">") && code.Is(at - 2, "-")));
}

FunctionsByName NamedFunctions(const std::set<const CodeFile*>& files, const FunctionsOfFiles& functions) {
  FunctionsByName by_name;
  for (const CodeFile* file : files) {
    for (const Function& function : functions.at(file)) {
      SameName& same = by_name[function.signature.name];
      auto& list = function.signature.is_definition ? same.defined : same.declared;
      if ((function.signature.is_definition || !function.is_internal) && list.size() < kMostSameName)
        list.push_back(&function);
    }
  }
  for (const CodeFile* file : files) {
    for (std::size_t i = 0; i < file->code.tokens.size(); ++i) {
      const auto same = by_name.find(file->code.tokens[i].text);
      if (same != by_name.end() && !IsOfOthers(file->code, i)) ++same->second.uses;
    }
  }
  return by_name;
}

// What is used and defined differently from its declaration.
void AddMismatches(const FunctionsByName& by_name, const ProjectCode& code, std::set<const Function*>& named,
                   ProblemList& problems) {
  for (const auto& [name, same] : by_name) {
    if (same.uses <= same.declared.size() + same.defined.size()) continue;
    const auto fits = [&](const Function* declared, const Function* defined) {
      return MismatchOfLinkage(code, *declared, *defined).empty();
    };
    for (const Function* defined : same.defined) {
      const bool is_declared = std::any_of(same.declared.begin(), same.declared.end(),
                                           [&](const Function* one) { return fits(one, defined); });
      const auto orphan = std::find_if(same.declared.begin(), same.declared.end(), [&](const Function* one) {
        return std::none_of(same.defined.begin(), same.defined.end(),
                            [&](const Function* other) { return fits(one, other); });
      });
      if (is_declared || orphan == same.declared.end() || !named.insert(*orphan).second) continue;
      ProjectCode::Add(problems, *defined->file, defined->signature.token,
                       fmt::format("the function {} {}, so linking fails", CodeQuoted(name),
                                   MismatchOfLinkage(code, **orphan, *defined)));
    }
  }
}

// What is declared and called, but isn't defined in any file, not even in one that isn't listed.
void AddUndefined(const FunctionsByName& by_name, const ProjectCode& code, ProblemList& problems) {
  std::set<std::string, std::less<>> names;
  for (const auto& [name, same] : by_name) {
    const bool is_ours = std::none_of(same.declared.begin(), same.declared.end(), [](const Function* one) {
      return one->is_extern_c || one->scope.find(kAnyNamespace) != std::string::npos || !one->signature.returns;
    });
    if (!same.declared.empty() && same.defined.empty() && same.uses > same.declared.size() && is_ours &&
        !code.IsInMacro(name))
      names.emplace(name);
  }
  for (const CodeFile& file : code.files()) {
    for (const CppSignature& signature : FindSignatures(file.code, &names)) {
      if (signature.is_definition) names.erase(std::string(signature.name));
    }
  }
  for (const std::string& name : names) {
    const Function& declared = *by_name.at(name).declared.front();
    ProjectCode::Add(problems, *declared.file, declared.signature.token,
                     fmt::format("the function {} is declared and used, but no file defines it", CodeQuoted(name)));
  }
}

// The number of arguments in the call whose bracket is at `open`; with_templates: commas within < and > separate none.
std::size_t CountArguments(const CppText& code, std::size_t open, bool with_templates) {
  const std::size_t close = code.partner[open];
  std::size_t count = close > open + 1 ? 1 : 0;
  int angles = 0;
  for (std::size_t i = open + 1; i < close; ++i) {
    if (with_templates && code.Is(i, "<")) ++angles;
    if (code.Is(i, ">") && angles > 0) --angles;
    if (code.partner[i] > i) i = code.partner[i];
    if (angles == 0 && code.Is(i, ",")) ++count;
  }
  return count;
}

// Calls, in one compiled file, of the project's own functions that it doesn't declare or include, or with a number of
// arguments that none of them takes. Names that stand for anything else, too, are left out.
void AddWrongCalls(const CodeFile& file, const FunctionsByName& by_name, const ProjectCode& code,
                   ProblemList& problems) {
  std::map<std::string_view, std::set<std::size_t>> calls;  // by token; 0: something else
  const CppText& text = file.code;
  for (std::size_t i = 0; i + 1 < text.tokens.size(); ++i) {
    const std::string_view name = text.tokens[i].text;
    if (!text.IsName(i) || text.tokens[i].in_define || IsOfOthers(text, i) || !by_name.contains(name)) continue;
    const bool is_call = text.Is(i + 1, "(") && text.partner[i + 1] > i && (i == 0 || !text.Is(i - 1, "::"));
    calls[name].insert(is_call ? i : 0);
  }
  if (calls.empty()) return;
  std::set<std::string, std::less<>> names;
  for (const auto& [name, tokens] : calls) names.emplace(name);
  std::map<std::string_view, std::vector<CppSignature>> visible;
  std::map<std::string_view, std::size_t> mentions;
  for (const CodeFile* one : code.Reached({{std::string(file.path), {}}})) {
    for (CppSignature& signature : FindSignatures(one->code, &names)) {
      if (one == &file) calls[signature.name].erase(signature.token);
      visible[signature.name].push_back(std::move(signature));
    }
    for (const CppToken& token : one->code.tokens) {
      if (names.contains(token.text)) ++mentions[token.text];
    }
  }
  for (const auto& [name, tokens] : calls) {
    const std::vector<CppSignature>& known = visible[name];
    const bool is_sure = mentions[name] == tokens.size() + known.size() && !tokens.contains(0) &&
                         std::none_of(known.begin(), known.end(),
                                      [](const CppSignature& one) { return one.is_template || one.is_variadic; });
    if (!is_sure || code.IsInMacro(name)) continue;
    for (const std::size_t token : tokens) {
      if (known.empty()) {
        ProjectCode::Add(problems, file, token, UndeclaredText(name));
        continue;
      }
      const auto takes = [&](std::size_t count) {
        return std::any_of(known.begin(), known.end(), [&](const CppSignature& one) {
          return count >= one.required && count <= one.parameters.size();
        });
      };
      const std::size_t count = CountArguments(text, token + 1, true);
      if (takes(count) || takes(CountArguments(text, token + 1, false))) continue;
      ProjectCode::Add(problems, file, token,
                       fmt::format("the function {} has {}, but is called with {}", CodeQuoted(name),
                                   Counted(known.front().parameters.size(), "parameter"), count));
    }
  }
}

}  // namespace

std::string UndeclaredText(std::string_view function) {
  return fmt::format("the function {} is declared neither in this file nor in what it includes", CodeQuoted(function));
}

void AddLinkageProblems(const BuildToml& build, const ProjectCode& code, ProblemList& problems) {
  std::map<std::string_view, std::vector<PlacedText>> sources;
  if (build.kernels.empty()) sources[""] = build.src;
  for (const BuildKernel& kernel : build.kernels) {
    std::vector<PlacedText>& of_backend = sources.emplace(kernel.backend.text, build.src).first->second;
    of_backend.insert(of_backend.end(), kernel.src.begin(), kernel.src.end());
  }
  FunctionsOfFiles functions;
  std::set<const CodeFile*> all;
  for (const CodeFile& file : code.files()) {
    functions.emplace(&file, FunctionFinder(file).Find());
    if (file.is_reached) all.insert(&file);
  }
  std::set<const Function*> named;
  for (const auto& [backend, list] : sources)
    AddMismatches(NamedFunctions(code.Reached(list), functions), code, named, problems);
  const FunctionsByName by_name = NamedFunctions(all, functions);
  AddUndefined(by_name, code, problems);
  for (const CodeFile* file : all) {
    if (file->kind == CodeKind::kCompiled) AddWrongCalls(*file, by_name, code, problems);
  }
}

}  // namespace upskill
