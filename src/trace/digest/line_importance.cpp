// SPDX-License-Identifier: Apache-2.0
#include "trace/digest/line_importance.h"

#include <re2/re2.h>

#include <algorithm>
#include <array>

#include "util/text.h"

namespace upskill {
namespace {

bool IsMatch(std::string_view text, const RE2& pattern) {
  return RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), pattern);
}

bool IsTestOrMessage(std::string_view line) {
  static const RE2 pattern(
      R"((?i)^(?:await |return )?(?:\w*print\w*|describe|it|test|suite|context|vi|jest|expect\w*|assert\w*|)"
      R"(echo)\b\S*\(|)"
      R"(^(?:.*\W)?(?:log\w*|warn\w*|error|debug|info|raise|throw|panic|t\.run)\b[^"'(]*\(\s*["'`]|^self\._)");
  return IsMatch(line, pattern);
}

// What a function does, and tests, unless they say something about the environment.
bool IsStatementOrTest(std::string_view line) {
  static const RE2 pattern(
      R"(^(?:return|if|elif|else|for|while|except|catch|try|finally|with|case|switch|throw|raise|yield|await|)"
      R"(break|continue|del|defer|go func|)"
      R"(print|guard|match|when|unless|rescue|and|or|not)\b|^(?:async )?(?:def test_|func Test)|^class Test|^\}|)"
      R"(^-  +\S|^(?:commit|Author:|Date:|index) )");
  static const RE2 telling_pattern(R"((?i)environ|getenv|env\.|shape|version|dtype|scalar_type|^with ["\w-]+ *[:=])");
  return IsMatch(line, pattern) && !IsMatch(line, telling_pattern);
}

bool IsRegistration(std::string_view line) {
  static const RE2 pattern(
      R"((?i)\.(?:def|impl)\(\s*["']|\bregister\w*\s*[(<]|\b[a-z]+_?REGISTER\w*\(|\bTORCH_LIBRARY|_MODULE\(|)"
      R"(TORCH_EXTENSION_NAME|)"
      R"(@[\w.]+\.(?:route|get|post|put|delete|command|task|register|tool|fixture)\b|)"
      R"(\.(?:include_\w+|mount|register)\(\w|\badd_(?:subcommand|command|route|executable|library|module|test|)"
      R"(parser|url_rule)\(|)"
      R"(\bentry_points\b|\bconsole_scripts\b)");
  // A statement that calls a method whose name says that something is added: `registry.AddHandler(…)`.
  static const RE2 adding_pattern(
      R"((?i)^[\w.:$]+(?:->|\.|::)(?:add|bind|define|handle|include|install|map|must_?register|mount|plug|)"
      R"(provide|register|route|singleton|)"
      R"(get|post|put|patch|delete|command|tool|nvim_create)(?:[A-Z_]\w*)?(?:<[^()]*>\(|\(\s*[^)\s])|)"
      R"(\(\w+\.class[,)])");
  static const RE2 chained_pattern(R"(^\.(?:route|service|layer|plugin|command|subcommand|tool|on|use|provide)\()");
  // A call statement whose first argument is a quoted name: `router.HandleFunc("/zones", zones)`.
  static const RE2 named_pattern(R"(^[a-zA-Z$][\w.:$>-]+(?:<[\w:, ]+>)?\(\s*["'][\w./:{}<>*@-]+["']\s*[,)])");
  static const RE2 block_pattern(
      R"(^[\w.:]+(?:routes?|router|registry|plugins?|services|container)\b.*\b(?:do|draw|configure)\b|)"
      R"(^\w+::(?:submit|register\w*)! ?\{|^\w+<[A-Z]\w*> \{|)"
      R"(^(?:resources?|plug|namespace|scope) :?[A-Z]\w*[\w.:]*,|^resources? :\w+)");
  if (IsTestOrMessage(line)) return false;
  return IsMatch(line, pattern) || IsMatch(line, adding_pattern) || IsMatch(line, chained_pattern) ||
         IsMatch(line, named_pattern) || IsMatch(line, block_pattern);
}

bool IsExport(std::string_view line) {
  static const RE2 pattern(
      R"(__all__|^export (?:default|\{|\*|type \{)|^pub(?:\([\w ]+\))? (?:use|mod) |\bmodule\.exports\b|^exports\.\w+ =|^export\(|)"
      R"(^export \w+(?:, \w+)*;?$|^EXPORT_\w+\(|dllexport|visibility\("default"\)|^module [A-Z][\w.]* *\(|)"
      R"(^"\.(?:/[^"]*)?": *[{"])");
  return IsMatch(line, pattern);
}

bool IsVersion(std::string_view line) {
  static const RE2 pattern(
      R"((?i)(?:==|>=|~=|<=|~>|@\^?|\^)\s*v?\d+\.\d+|\b(?:version|release|rev|tag|channel)\w*\b.{0,20}\d+\.\d+|)"
      R"(\b(?:cuda|python|torch|node|gcc|clang|cmake|rustc?|go|java|numpy|driver)[ -]?v?\d+\.\d+|^\w+ \(.*\) \d+\.\d+|)"
      R"(^"?[\w@/.-]+(?:\[[\w,-]+\])?"? ?(?:[<>~^!]=?|===?|: ?"?[~^<>=]+) ?v?\d+(?:\.\d+)*|)"
      R"(^(?:FROM|image:|uses:|- uses:) \S+[:@]v?\d|^\w+ = "\w+-\d{4}-\d\d-\d\d"$|"workspace:)");
  // A name, then a version of three or more parts that is no address.
  static const RE2 dotted_pattern(R"((?i)[a-z+)][\w"'/)]*[ :@="'(-]+v?\d+\.\d+\.\d+(?:[-+._]\w+)*(?:$|[^.\w/]))");
  static const RE2 address_pattern(R"(\b(?:\d{1,3}\.){3}\d{1,3}\b)");
  static const RE2 replace_pattern(R"(^(?:replace|exclude) \S+ => \S+)");
  return IsMatch(line, pattern) || IsMatch(line, replace_pattern) ||
         (IsMatch(line, dotted_pattern) && !IsMatch(line, address_pattern));
}

bool IsShape(std::string_view line) {
  static const RE2 pattern(
      R"([\[(](?:batch\w*|[BNT]|bs)\s*,|\bshapes?\b.*[\[(]|torch\.Size\(|\.(?:dim|ndim)(?:\(\))? == \d|)"
      R"(\b(?:scalar_type|dtype)(?:\(\))? *==|\bis_contiguous\()");
  return IsMatch(line, pattern);
}

bool IsEnvironment(std::string_view line) {
  static const RE2 pattern(
      R"(\bprocess\.env\b|\bos\.environ\b|\b(?:os\.)?getenv\(|\bsetenv\(|\benv::var|\bENV\[|\bGetenv\(|)"
      R"(\bGetEnvironmentVariable\(|\b(?:option_)?env!\(|^unset [A-Z]|)"
      R"(^(?:export )?[A-Z][A-Z0-9_]{2,}=\S|^export \w+=|^PATH=|^(?:ENV|ARG) [A-Z]\w+|^Environment=|^set -g?x \w+|)"
      R"(^(?:- )?[A-Z][A-Z0-9]*_[A-Z0-9_]+: \S)");
  return IsMatch(line, pattern);
}

// Databases, messages between programs, validation, annotations.
bool IsSchema(std::string_view line) {
  static const RE2 pattern(
      R"((?i)^(?:create|alter) (?:or replace )?(?:unique )?(?:\w+ )?(?:table|index|type|view|function|trigger|)"
      R"(extension|policy|schema|procedure|sequence|domain|role|database)\b|)"
      R"(^add (?:column|constraint)\b|^(?:primary key|foreign key|constraint \w+|unique \()|\bnot null\b|)"
      R"(\breferences \w+ ?\(|)"
      R"(^"?\w+"? (?:bigint|boolean|bytea|decimal|integer|int|jsonb?|numeric|text|timestamp\w*|uuid|varchar)\b.*,?$|)"
      R"(^(?:repeated |optional |required )?[\w.<>, ]+ \w+ = \d+(?: \[.*\])?;$|^rpc \w+ ?\(|^option \w+ = )");
  static const RE2 field_pattern(
      R"(\b(?:mapped_)?[Cc]olumn\(|\b(?:Field|field)\(|`json:"|`(?:db|yaml|toml|form|xml):"|^\w+\??: (?:z|t|v|)"
      R"(Joi|yup)\.\w+|)"
      R"(^directive @|^\w+(?:\(.*\))?: \[?[A-Z]\w+!?\]?!|@(?:id|unique|default|relation)\b|)"
      R"(^"(?:\$ref|pattern|enum|required|additionalProperties|format|minimum|maximum|minItems|const|\$id|items)["]: |)"
      R"(^[\w$]+ ?= ?"[\w]+:[a-z]\w*(?:[,(]|")|^x-[\w-]+: |^\{"name": "[\w.-]+", "type": |)"
      R"(^\w+ = [\w.]+\.\w*(?:Field|Key|Column|Relation\w*)\()");
  static const RE2 annotation_pattern(
      R"(^#!?\[\w[\w:]*(?:\(| =)|^@[A-Z]\w*\(|^\[[A-Z]\w*\(.*\)\]$|^@\w+[\w.]*\(["\w].*\)$)");
  return IsMatch(line, pattern) || IsMatch(line, field_pattern) || IsMatch(line, annotation_pattern);
}

// A program's name and at least one option.
bool IsShellCommand(std::string_view line) {
  static const RE2 pattern(R"(^(?:[$#>] |[-*] `|`)?(?:[A-Z_]+=\S* )*(?:sudo |exec |)"
                           R"(RUN )?\.{0,2}[a-z/][\w./+-]* (?:[^ ;{}].* )?--?[A-Za-z][\w-]*(?:[ =`].*)?$)");
  static const RE2 prose_pattern(R"(^[a-z]+ (?:[a-z]+ ){3,}|[;{]$| => |^(?:return|if|for|while|const|let|var) )");
  // What needs no option to be known as a command: a prompt, or a program with one of its own commands.
  static const RE2 known_pattern(
      R"(^\$ [\w./{~]|^(?:[$#>] |[-*] `|`|RUN |run: |- run: )?(?:sudo )?(?:pip3? (?:un)?install|(?:npm|pnpm|yarn) (?:add|ci|exec|i|install|run|)"
      R"(test)|npx \S|git (?:add|apply|checkout|clone|commit|fetch|init|merge|pull|push|rebase|submodule|switch|tag)|)"
      R"(docker (?:build|compose|exec|pull|push|run)|cargo (?:add|build|check|install|run|test)|)"
      R"(go (?:build|get|install|mod|run|test)|(?:aws|gcloud|kubectl|helm|terraform) [a-z]|apt(?:-get)? install|)"
      R"(conda (?:activate|create|install)|uv (?:add|pip|run|sync)|python3? \S+\.py|pytest \S+\.py|)"
      R"(make [\w-]+$|ninja [\w-]+$|ctest$|bazel (?:build|run|test)|mvn \w|\./gradlew \w))");
  return (IsMatch(line, pattern) || IsMatch(line, known_pattern)) && !IsMatch(line, prose_pattern);
}

bool IsSignature(std::string_view line) {
  static const RE2 pattern(
      R"(^(?:\[\[\w+\]\] |export |default |declare |pub(?:\(\w+\))? |public |private |protected |internal |open |)"
      R"(abstract |final |sealed |)"
      R"(static |async |unsafe |inline |constexpr |extern |virtual |override |suspend |data |partial |readonly |)"
      R"(mutating |\w+-only )*)"
      R"((?:def|fn|func|fun|function\*?|class|struct|enum|interface|trait|protocol|type|impl(?:<.*>)?|union|)"
      R"(namespace|record|)"
      R"(extension|actor|typealias|module|mixin|macro_rules!|macro|defp|defmodule|typedef|concept|)"
      R"(#define) [*&(]?[\w'(])");
  static const RE2 typed_pattern(
      R"(^template\s*<|^\w+ :: \S|^(?:[\w:<>*&\[\],.?]+ )+[*&]*[\w:~]+\([^;{}]*\)(?: const| noexcept| override|)"
      R"( throws [\w, .]+)*\s*[;{]$|)"
      R"(^(?:__\w+__|\[\[\w+\]\]) .*\w\()");
  // `public async Task<int> Sum(` of C# and Java, messages and services of Protocol Buffers, types of GraphQL.
  static const RE2 modified_pattern(
      R"(^(?:(?:public|private|protected|internal|static|async|virtual|override|abstract|final|sealed|extern|unsafe) )+)"
      R"((?:[\w<>\[\],.?]+ )*\w+(?:<[\w, ]+>)?\(|)"
      R"(^(?:message|service|oneof|extend|extend type|input|const enum|export const enum) [A-Z]\w*\b.*[{@])");
  static const RE2 arrow_pattern(R"(^export const \w+ = (?:async )?(?:\(.*\)|\w+)(?:: .*)? =>)");
  static const RE2 statement_pattern(
      R"(^(?:return|else|throw|new|delete|await|yield|case|goto|print|type [a-z]+ [a-z]+ )\b|^(?:class|type|)"
      R"(module|record|function|enum|union) (?:is|of|and|in|to|for|that|name|has|with|was|are|can)\b)");
  return (IsMatch(line, pattern) || IsMatch(line, typed_pattern) || IsMatch(line, modified_pattern) ||
          IsMatch(line, arrow_pattern)) &&
         !IsMatch(line, statement_pattern);
}

// `names = [`, `total = 0`: the value follows or is only where counting starts.
bool StatesNoValue(std::string_view line) {
  static const RE2 pattern(
      R"re([=:] *(?:[\[{(]|\[\]|\{\}|\(\)|""|''|[|>]-?|None|null|nil)[,;]?$|^[a-z_]+ *:?= *0;?$)re");
  return IsMatch(line, pattern);
}

bool IsConstant(std::string_view line) {
  // Modifiers, a name, perhaps its type, and a literal, or a call with one as its first argument.
  static const RE2 pattern(
      R"((?i)^(?:(?:export|pub|public|private|protected|internal|static|inline|const|constexpr|constinit|final|)"
      R"(readonly|let|var|val|auto|)"
      R"(local|localparam|parameter|def|immutable|comptime)\b ?)+[\w:;<>&*\[\], ?.]+ ?:?= ?(?:\*?[bfru]{0,2}["'`\[{(]|-?[\d.]|)"
      R"(true\b|false\b|nil\b|)"
      R"((?:new )?[\w.:]+(?:<.*>)?\(["'`\d)]))");
  static const RE2 name_pattern(
      R"(^(?:_?[A-Z][A-Z0-9_]{2,}|_?k[A-Z]\w+|[A-Z][a-z]+[A-Z]\w*)(?:: ?[\w.\[\]]+)? ?= ?\S|^@\w+ [\d"'~:]|)"
      R"(^\w+ = (?:errors\.New|re\.compile|Symbol)\()");
  static const RE2 list_pattern(R"(^(?:pub |export )?enum\b.*=|^#define \w+\s+\S)");
  return (IsMatch(line, pattern) || IsMatch(line, name_pattern) || IsMatch(line, list_pattern)) && !StatesNoValue(line);
}

bool IsImport(std::string_view line) {
  static const RE2 pattern(
      R"(^from [\w.]+ import |^import (?:[\w.]+(?: as \w+)?(?:, [\w.]+)*;?$|.* from ["'])|^#include |)"
      R"(^(?:pub )?use [\w:]+|^using [\w.:]+|^@?(?:require|load)\(?["' ])");
  return IsMatch(line, pattern);
}

bool IsConfiguration(std::string_view line) {
  static const RE2 pattern(R"(^[A-Za-z_][\w.-]*\s*=\s*(?:["'\[{]|-?\d|true|false)[^;]*;?$|^"[\w./@-]+":\s*\S|)"
                           R"(^(?:- )?[a-z_][\w.-]*:\s+\S+(?: \S+){0,4}$|)"
                           R"(^\[\[?[\w."-]+\]\]?$|^[A-Za-z_][\w.-]*\s*=\s*[\w./:-]+$|^[A-Za-z][\w.-]*=[^=\s>][^;(]*$|)"
                           R"(^[A-Z][A-Z0-9_]+ *[:+?]?= *\S|^[A-Z][A-Z0-9_]{2,}: \S+$)");
  // A build's or server's directive: `set(CMAKE_CXX_STANDARD 20)`, `client_max_body_size 64m;`.
  static const RE2 directive_pattern(
      R"(^(?:set|option|find_package|project|include|enable_\w+|set_\w+|target_\w+|add_\w+)\([A-Za-z]|)"
      R"(^[a-z]+_[a-z_]+ [\w./$:-]+(?: \S+){0,3};$|)"
      R"(^[a-z]\w*_(?:dep|library|binary|test|register_toolchains)\()");
  static const RE2 block_pattern(R"(^\w+ "[\w./-]+"(?: "[\w./-]+")? \{|^<(?:key|\w*[Vv]ersion|[A-Z]\w+)>[^<>]+</|)"
                                 R"(^<[\w:-]+ (?:[\w:]+="[^"]*" ?)+/>$|^(?:SET|PRAGMA) \w+ ?=)");
  static const RE2 prose_pattern(R"(^(?:- )?[A-Z]?[a-z]+: [A-Za-z]+ [a-z]+ )");
  // Arguments of a call, declarations of a style sheet or type.
  static const RE2 argument_pattern(R"(^\w+=.*,$|^[a-z_][\w.-]*:.*[,;]$)");
  return (IsMatch(line, pattern) || IsMatch(line, directive_pattern) || IsMatch(line, block_pattern)) &&
         !IsMatch(line, prose_pattern) && !IsMatch(line, argument_pattern) && !StatesNoValue(line);
}

// Code or data in any language: punctuation that prose doesn't have, and a word.
bool IsOtherStatement(std::string_view line) {
  static const RE2 pattern(
      R"re([A-Za-z]{3}.*(?:[={}\[\]<;@$]|\w\(|::|->|")|^[#@<%$.][A-Za-z]|[={<(].*[A-Za-z]{3}|^(?:\w+ )?[A-Za-z]\w*_\w+$)re");
  static const RE2 prose_pattern(
      R"re((?i)(?:[a-z']{2,}[,.]? ){4}|^(?:[-*>|]|//|/\*|#+ |\d+[.)]|\[?\d|<!--|[)}\]]|[+~.]{2}|\.{3})|^</|\.{3}$|[?!.]$|[0-9a-f]{8}-[0-9a-f]{4}-|[0-9a-f]{16})re");
  return IsMatch(line, pattern) && !IsMatch(line, prose_pattern) && !StatesNoValue(line);
}

}  // namespace

LineClass ClassOfLine(std::string_view line) {
  line = Trim(line);
  constexpr std::size_t kShortest = 5;
  constexpr std::size_t kLongest = 400;
  if (line.size() < kShortest || line.size() > kLongest) return LineClass::kOther;
  if (IsStatementOrTest(line)) return LineClass::kOther;
  // The first class that a line has; classes whose forms are the most specific come first.
  struct Test {
    bool (*is)(std::string_view line);
    LineClass kind;
  };
  constexpr std::array<Test, 12> kTests = {{{IsRegistration, LineClass::kRegistration},
                                            {IsExport, LineClass::kExport},
                                            {IsVersion, LineClass::kVersion},
                                            {IsShape, LineClass::kShape},
                                            {IsEnvironment, LineClass::kEnvironment},
                                            {IsSignature, LineClass::kSignature},
                                            {IsSchema, LineClass::kSchema},
                                            {IsConstant, LineClass::kConstant},
                                            {IsShellCommand, LineClass::kCommand},
                                            {IsImport, LineClass::kImport},
                                            {IsConfiguration, LineClass::kConfiguration},
                                            {IsOtherStatement, LineClass::kStatement}}};
  const auto* const found = std::find_if(kTests.begin(), kTests.end(), [&](const Test& test) { return test.is(line); });
  return found == kTests.end() ? LineClass::kOther : found->kind;
}

std::string_view WithoutLineNumber(std::string_view line) {
  static const RE2 pattern(R"(^(?:[\w@./-]*[./][\w@./-]*:\d{1,7}:| *\d{1,7}(?:→|\t|:)))");
  re2::StringPiece rest(line.data(), line.size());
  return RE2::Consume(&rest, pattern) ? std::string_view(rest.data(), rest.size()) : line;
}

std::vector<std::string> WordsOfLine(std::string_view line) {
  constexpr std::size_t kMost = 40;
  constexpr std::size_t kLongestWord = 40;
  const auto is_upper = [](char c) { return c >= 'A' && c <= 'Z'; };
  const auto is_lower = [](char c) { return (c >= 'a' && c <= 'z') || static_cast<unsigned char>(c) >= 0x80; };
  std::vector<std::string> words;
  std::string word;
  const auto add = [&] {
    if (word.size() >= 2 && words.size() < kMost) words.push_back(word);
    word.clear();
  };
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    const bool starts = is_upper(c) && i > 0 && is_lower(line[i - 1]);
    if ((!is_upper(c) && !is_lower(c)) || starts || word.size() >= kLongestWord) add();
    if (is_upper(c)) word += static_cast<char>(c - 'A' + 'a');
    if (is_lower(c)) word += c;
  }
  add();
  return words;
}

std::string LineSkeleton(std::string_view line) {
  constexpr std::size_t kLongest = 400;
  std::string skeleton;
  line = Trim(line).substr(0, kLongest);
  for (std::size_t i = 0; i < line.size();) {
    const char c = line[i];
    const auto is_word = [](char w) {
      return (w >= 'a' && w <= 'z') || (w >= 'A' && w <= 'Z') || (w >= '0' && w <= '9') || w == '_' ||
             static_cast<unsigned char>(w) >= 0x80;
    };
    if (is_word(c)) {
      while (i < line.size() && is_word(line[i])) ++i;
      skeleton += 'a';
    } else if (c == '"' || c == '\'') {
      const std::size_t end = line.find(c, i + 1);
      i = end == std::string_view::npos ? line.size() : end + 1;
      skeleton += '"';
    } else {
      if (c != ' ' && c != '\t') skeleton += c;
      ++i;
    }
  }
  return skeleton;
}

}  // namespace upskill
