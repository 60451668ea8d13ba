// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "check/data_text.h"
#include "teach/extract_parts.h"
#include "teach/extract_text.h"
#include "util/fences.h"
#include "util/json.h"
#include "util/result.h"
#include "util/text.h"

namespace upskill {
namespace {

std::string BaseName(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// The event's number in "a.jsonl#17"; 0 if there is none.
std::int64_t EventNumber(const std::string& place) {
  const std::size_t hash = place.rfind('#');
  return hash == std::string::npos ? 0 : ParseWholeNumber(place.substr(hash + 1), 0).value_or(0);
}

// Files that are no part of a project. Nobody has paths as long as those that are left out; each folder of a path is a
// level of the tree.
bool IsScratch(const std::string& path) {
  constexpr std::size_t kLongest = 400;
  return path.size() > kLongest || path.starts_with("/tmp/") || path.starts_with("/var/") || path.starts_with('~') ||
         path.find("/.claude/") != std::string::npos || path.find("/.codex/") != std::string::npos;
}

std::string JoinedText(const KnownFile& file) {
  std::string text;
  for (const KnownLine& line : file.lines) text += (line.after_gap ? "…\n" : "") + line.text + "\n";
  return text;
}

std::string FenceLanguage(const std::string& path) {
  static const std::map<std::string, std::string> languages = {
      {"toml", "toml"}, {"json", "json"}, {"yaml", "yaml"}, {"yml", "yaml"},  {"nix", "nix"},    {"py", "python"},
      {"cpp", "cpp"},   {"cc", "cpp"},    {"cu", "cpp"},    {"h", "cpp"},     {"rs", "rust"},    {"go", "go"},
      {"ts", "ts"},     {"tsx", "tsx"},   {"js", "js"},     {"ex", "elixir"}, {"exs", "elixir"}, {"rb", "ruby"}};
  const std::string name = BaseName(path);
  if (name == "Dockerfile") return "dockerfile";
  if (name == "CMakeLists.txt") return "cmake";
  const std::size_t dot = name.rfind('.');
  const auto found = languages.find(dot == std::string::npos ? name : ToLowerAscii(name.substr(dot + 1)));
  return found == languages.end() ? "" : found->second;
}

std::string Fenced(const std::string& text, const std::string& language) {
  const std::string fence = FenceFor(text);
  return fence + language + "\n" + text + (text.ends_with('\n') ? "" : "\n") + fence;
}

// "not valid TOML (line 3, column 1: …)": what a complete file of a known format fails with. Empty: it is valid, or its
// format has no rules that are known here.
std::string SyntaxProblem(const SourcedFile& file) {
  std::optional<DataFormat> format;
  if (file.path.ends_with(".toml")) format = DataFormat::kToml;
  if (file.path.ends_with(".json")) format = DataFormat::kJson;
  if (!format || !file.file.complete) return "";
  const std::string text = JoinedText(file.file);
  // Settings of several tools are JSON with comments.
  static const RE2 comment(R"((?m)^\s*(?://|/\*))");
  if (*format == DataFormat::kJson && RE2::PartialMatch(text, comment)) return "";
  const Result<Json> data = ParseData(*format, text);
  return data ? "" : fmt::format("not valid {} ({})", DataFormatName(*format), data.error().message);
}

// "`build.toml`:", and what the recording leaves out or `problem` says.
std::string ConfigurationTitle(const SourcedFile& file, const std::string& problem) {
  if (!problem.empty()) return fmt::format("Parts of `{}`; as it was recorded, it is {}:", file.path, problem);
  if (file.file.complete) return fmt::format("`{}`:", file.path);
  const bool gaps =
      std::any_of(file.file.lines.begin(), file.file.lines.end(), [](const KnownLine& line) { return line.after_gap; });
  return gaps ? fmt::format("Parts of `{}` (`…` marks lines that the recording leaves out):", file.path)
              : fmt::format("`{}`, as far as it was recorded:", file.path);
}

// A table of a TOML or INI file, with the comments before it.
struct Table {
  std::string name;  // without brackets; empty: the lines before the first table
  std::string shape;
  std::vector<KnownLine> lines;
};

std::vector<Table> TablesOf(const KnownFile& file) {
  std::vector<Table> tables(1);
  std::vector<KnownLine> comments;
  const auto flush = [&](Table& table) {
    table.lines.insert(table.lines.end(), comments.begin(), comments.end());
    comments.clear();
  };
  for (const KnownLine& line : file.lines) {
    const std::string_view shown = Trim(line.text);
    if (line.text.starts_with('[') && shown.ends_with(']')) {
      tables.push_back({std::string(shown.substr(1, shown.size() - 2)), "", {}});
      flush(tables.back());
      tables.back().lines.push_back(line);
    } else if (shown.empty() || shown.starts_with('#')) {
      comments.push_back(line);
    } else {
      flush(tables.back());
      tables.back().lines.push_back(line);
    }
  }
  flush(tables.back());
  for (Table& table : tables) {
    const std::size_t dot = table.name.rfind('.');
    if (dot == std::string::npos) continue;  // only siblings are alike
    std::set<std::string> keys;
    for (const KnownLine& line : table.lines) {
      const std::size_t equals = line.text.find('=');
      if (equals != std::string::npos && !line.text.starts_with(' '))
        keys.insert(std::string(Trim(line.text.substr(0, equals))));
    }
    table.shape = fmt::format("{}: {}", table.name.substr(0, dot), fmt::join(keys, ","));
  }
  return tables;
}

// Whether all lines of a table are recorded.
bool IsKnownWhole(const std::vector<Table>& tables, std::size_t i, bool file_is_complete) {
  const auto follows_gap = [](const KnownLine& line) { return line.after_gap; };
  const std::vector<KnownLine>& lines = tables[i].lines;
  if (lines.empty() || std::any_of(lines.begin() + 1, lines.end(), follows_gap)) return false;
  if (i + 1 == tables.size()) return file_is_complete;
  return tables[i + 1].lines.empty() || !tables[i + 1].lines.front().after_gap;
}

// The file without tables that have the same keys as an earlier sibling; `left_out`: their names.
KnownFile Condensed(const KnownFile& file, std::vector<std::string>& left_out) {
  KnownFile condensed = file;
  condensed.lines.clear();
  std::set<std::string> shapes;
  const std::vector<Table> tables = TablesOf(file);
  for (std::size_t i = 0; i < tables.size(); ++i) {
    const Table& table = tables[i];
    const bool has_shape = !table.shape.empty() && IsKnownWhole(tables, i, file.complete);
    if (has_shape && !shapes.insert(table.shape).second) {
      left_out.push_back("[" + table.name + "]");
    } else {
      condensed.lines.insert(condensed.lines.end(), table.lines.begin(), table.lines.end());
    }
  }
  while (!condensed.lines.empty() && Trim(condensed.lines.back().text).empty()) condensed.lines.pop_back();
  return condensed;
}

// A statement that registers something: its lines, and the name that it registers; empty: of a macro around such
// statements, or its end.
struct Registration {
  std::string name;
  std::string text;
};

// The lines of the statement that begins at line `first`: up to its last parenthesis. Empty if the recording ends
// before that.
std::string StatementAt(const KnownFile& file, std::size_t first) {
  constexpr std::size_t kMaxLines = 8;
  std::string text;
  long open = 0;
  for (std::size_t i = first; i < std::min(file.lines.size(), first + kMaxLines); ++i) {
    const std::string& line = file.lines[i].text;
    if (i > first && file.lines[i].after_gap) break;
    text += line + "\n";
    open += std::count(line.begin(), line.end(), '(') - std::count(line.begin(), line.end(), ')');
    if (open <= 0) return text;
  }
  return "";
}

std::vector<Registration> RegistrationsOf(const KnownFile& file) {
  static const RE2 call(
      R"(^\s*@?(?:\w+(?:\.|->|::))*(?:def|impl|register\w*|route|add_command|add_typer|include_router|addCommand|bind|)"
      R"(provide|HandleFunc)\s*\(\s*["'`]([\w./:-]*))");
  static const RE2 macro(R"(^[A-Z][A-Z0-9_]*(?:LIBRARY|REGISTER|MODULE|EXTENSION|PLUGIN)[A-Z0-9_]*\()");
  std::vector<Registration> found;
  bool in_block = false;
  for (std::size_t i = 0; i < file.lines.size(); ++i) {
    const std::string& line = file.lines[i].text;
    if (in_block && line.starts_with('}')) {
      in_block = false;
      found.push_back({"", line + "\n"});
      continue;
    }
    Registration registration;
    const bool is_macro = RE2::PartialMatch(line, macro);
    if (!is_macro && !RE2::PartialMatch(line, call, &registration.name)) continue;
    registration.text = StatementAt(file, i);
    if (registration.text.empty()) continue;
    in_block = in_block || (is_macro && Trim(registration.text).ends_with('{'));
    found.push_back(std::move(registration));
  }
  return found;
}

std::string WithoutCommonIndent(const std::string& text) {
  std::size_t indent = std::string::npos;
  for (const std::string_view line : SplitLines(text)) {
    if (!Trim(line).empty()) indent = std::min(indent, line.find_first_not_of(' '));
  }
  std::string cut;
  for (const std::string_view line : SplitLines(text))
    cut += std::string(line.substr(std::min(indent, line.size()))) + "\n";
  return cut;
}

// The name whose statements are the shortest among those with the most statements: one that is both declared and
// implemented tells more than a declaration alone.
std::string ShortestExample(const std::vector<Registration>& registrations) {
  std::map<std::string, std::pair<std::size_t, std::size_t>> sizes;  // statements and bytes of a name
  for (const Registration& registration : registrations) {
    if (registration.name.empty()) continue;
    ++sizes[registration.name].first;
    sizes[registration.name].second += registration.text.size();
  }
  std::string example;
  for (const auto& [name, size] : sizes) {
    if (example.empty() || size.first > sizes[example].first ||
        (size.first == sizes[example].first && size.second < sizes[example].second))
      example = name;
  }
  return example;
}

struct TreeFolder {
  std::set<std::string> files;
  std::map<std::string, TreeFolder> folders;
};

void AppendTree(const TreeFolder& folder, std::size_t depth, std::string& text) {
  constexpr std::size_t kMaxFiles = 8;
  const std::string indent(2 * depth, ' ');
  std::size_t shown = 0;
  for (const std::string& file : folder.files) {
    if (++shown > kMaxFiles) continue;
    text += indent + file + "\n";
  }
  if (shown > kMaxFiles) text += fmt::format("{}… {} more\n", indent, shown - kMaxFiles);
  for (const auto& [name, below] : folder.folders) {
    text += indent + name + "/\n";
    AppendTree(below, depth + 1, text);
  }
}

}  // namespace

bool IsConfigurationFile(const std::string& path) {
  static const RE2 config(
      R"((?i)(^|/)((?:[\w.-]*\.(?:toml|ini|cfg|nix|cmake|csproj|gradle(?:\.kts)?|tf))|)"
      R"(CMakeLists\.txt|Makefile|justfile|Dockerfile|)"
      R"((?:docker-)?compose[\w.-]*\.ya?ml|package\.json|tsconfig[\w.-]*\.json|[\w.-]+\.config\.(?:js|ts|mjs|cjs|json)|)"
      R"(\.?[\w-]+rc(?:\.json|\.ya?ml)?|go\.mod|Cargo\.toml|Gemfile|mix\.exs|pom\.xml|meson\.build|)"
      R"((?-i:BUILD|WORKSPACE)(?:\.bazel)?|)"
      R"(requirements[\w.-]*\.txt|setup\.py|\.github/workflows/[\w.-]+\.ya?ml|[\w.-]+\.ya?ml)$)");
  static const RE2 generated(R"((?i)(lock|\.min\.|node_modules/))");
  return RE2::PartialMatch(path, config) && !RE2::PartialMatch(path, generated);
}

std::string ProjectFolderOf(const Material& material) {
  std::map<std::string, std::size_t> folders;  // with the number of files below each
  std::size_t absolute = 0;
  for (const auto& [item, file] : DetailsOf<FileDetail>(material)) {
    if (file->deleted || !file->path.starts_with('/') || IsScratch(file->path)) continue;
    ++absolute;
    for (std::size_t at = file->path.find('/', 1); at != std::string::npos; at = file->path.find('/', at + 1))
      ++folders[file->path.substr(0, at + 1)];
  }
  std::string best;
  for (const auto& [folder, count] : folders) {
    if (10 * count >= 7 * absolute && folder.size() > best.size()) best = folder;
  }
  return best;
}

std::vector<SourcedFile> ProjectFiles(const Material& material) {
  std::map<std::string, SourcedFile> by_path;
  std::vector<SourcedFile> found;
  for (const auto& [item, detail] : DetailsOf<FileDetail>(material)) {
    if (detail->deleted || detail->path.empty() || IsScratch(detail->path)) continue;
    found.push_back({KnownFileFrom(*detail), detail->path, FirstPlace(*item), false});
  }
  const std::string project = ProjectFolderOf(material);
  for (SourcedFile& file : found) {
    if (file.path.starts_with('/')) {
      if (project.empty() || !file.path.starts_with(project)) continue;
      file.path.erase(0, project.size());
    }
    if (file.path.starts_with("./")) file.path.erase(0, 2);
    if (file.path.empty() || file.path.starts_with("../")) continue;
    file.config = IsConfigurationFile(file.path);
    const auto at = by_path.find(file.path);
    if (at == by_path.end() || EventNumber(at->second.place) < EventNumber(file.place)) by_path[file.path] = file;
  }
  std::vector<SourcedFile> files;
  files.reserve(by_path.size());
  for (auto& [path, file] : by_path) files.push_back(std::move(file));
  return files;
}

Section LayoutPart(const std::vector<SourcedFile>& files) {
  Section part{"Project layout", {}};
  if (files.size() < 2) return part;
  TreeFolder root;
  Rule rule;
  for (const SourcedFile& file : files) {
    TreeFolder* folder = &root;
    std::size_t begin = 0;
    for (std::size_t at = file.path.find('/'); at != std::string::npos; at = file.path.find('/', begin)) {
      folder = &folder->folders[file.path.substr(begin, at - begin)];
      begin = at + 1;
    }
    folder->files.insert(file.path.substr(begin));
    rule.cites.push_back(file.place);
  }
  std::string tree;
  AppendTree(root, 0, tree);
  rule.text = "Files that the session wrote:\n\n" + Fenced(tree, "");
  part.rules.push_back(std::move(rule));
  return part;
}

Section ConfigurationPart(const std::vector<SourcedFile>& files, bool condensed) {
  constexpr std::size_t kFewestLines = 3;  // of an incomplete file
  Section part{"Configuration", {}};
  struct Config {
    const SourcedFile* file = nullptr;
    std::string problem;
    bool usable = false;  // complete and valid
  };
  std::vector<Config> configs;
  for (const SourcedFile& file : files) {
    if (!file.config || file.file.lines.empty()) continue;
    std::string problem = SyntaxProblem(file);
    const bool usable = file.file.complete && problem.empty();
    if (usable || file.file.lines.size() >= kFewestLines) configs.push_back({&file, std::move(problem), usable});
  }
  // The smallest of the usable ones, then that of which most is known.
  std::stable_sort(configs.begin(), configs.end(), [](const Config& a, const Config& b) {
    if (a.usable != b.usable) return a.usable;
    const std::size_t lines = a.file->file.lines.size();
    return a.usable ? lines < b.file->file.lines.size() : lines > b.file->file.lines.size();
  });
  for (const Config& config : configs) {
    const SourcedFile& file = *config.file;
    std::vector<std::string> left_out;
    const KnownFile shown = condensed && config.problem.empty() ? Condensed(file.file, left_out) : file.file;
    std::string text =
        ConfigurationTitle(file, config.problem) + "\n\n" + Fenced(JoinedText(shown), FenceLanguage(file.path));
    if (!left_out.empty()) text += fmt::format("\n\nWith the same keys: `{}`.", fmt::join(left_out, "`, `"));
    part.rules.push_back({std::move(text), {file.place}});
  }
  return part;
}

Section RegistrationPart(const std::vector<SourcedFile>& files) {
  constexpr std::size_t kMaxNames = 12;
  Section part{"How functions are registered", {}};
  const SourcedFile* best = nullptr;
  std::vector<Registration> registrations;
  for (const SourcedFile& file : files) {
    if (file.config || file.path.find("test") != std::string::npos) continue;
    std::vector<Registration> found = RegistrationsOf(file.file);
    if (found.size() <= registrations.size()) continue;
    registrations = std::move(found);
    best = &file;
  }
  if (best == nullptr) return part;
  const std::string example = ShortestExample(registrations);
  std::vector<std::string> names;
  std::string code;
  for (const Registration& registration : registrations) {
    if (registration.name.empty() || registration.name == example) {
      code += registration.text;
    } else if (std::find(names.begin(), names.end(), registration.name) == names.end()) {
      names.push_back(registration.name);
    }
  }
  std::string text =
      fmt::format("In `{}`:\n\n{}", best->path, Fenced(WithoutCommonIndent(code), FenceLanguage(best->path)));
  if (!names.empty()) {
    const std::size_t more = names.size() - std::min(names.size(), kMaxNames);
    names.resize(names.size() - more);
    text += fmt::format("\n\nRegistered the same way: `{}`{}.", fmt::join(names, "`, `"),
                        more > 0 ? fmt::format(" and {} more", more) : "");
  }
  part.rules.push_back({std::move(text), {best->place}});
  return part;
}

}  // namespace upskill
