// SPDX-License-Identifier: Apache-2.0
#include "trace/read/tool_use.h"

#include <algorithm>
#include <array>

#include "trace/read/record_parser.h"
#include "util/list.h"
#include "util/text.h"

namespace upskill {
namespace {

// "mcp__fs__write_file" and "fs__write_file" → "write_file", lower case.
std::string PlainToolName(std::string_view tool) {
  const std::size_t server = tool.rfind("__");
  if (server != std::string_view::npos && server + 2 < tool.size()) tool.remove_prefix(server + 2);
  return ToLowerAscii(tool);
}

std::string FirstString(const Json& object, std::initializer_list<const char*> keys) {
  for (const char* key : keys) {
    std::string value = StringAt(object, key);
    if (!value.empty()) return value;
  }
  return "";
}

// The name in ".../skills/NAME/..." or ".../NAME/SKILL.md"; empty if the text has neither.
std::string SkillInPath(std::string_view text) {
  const auto is_name = [](char c) { return IsAsciiAlphanumeric(c) || c == '-' || c == '_' || c == '.'; };
  std::size_t end = text.find("/SKILL.md");
  if (end == std::string_view::npos) end = text.find("/skill.md");
  if (end == std::string_view::npos) {
    const std::size_t folder = text.find("/skills/");
    if (folder == std::string_view::npos) return "";
    const std::size_t slash = text.find('/', folder + 8);
    if (slash == std::string_view::npos) return "";
    end = slash;
  }
  std::size_t begin = end;
  while (begin > 0 && is_name(text[begin - 1])) --begin;
  return std::string(text.substr(begin, end - begin));
}

bool IsReadCommand(std::string_view command) {
  for (const std::string_view program : {"cat ", "sed -n", "head ", "tail ", "nl ", "less ", "bat ", "open "}) {
    const std::size_t found = command.find(program);
    if (found != std::string_view::npos &&
        (found == 0 || std::string_view(" ;&|(\n'\"").find(command[found - 1]) != std::string_view::npos)) {
      return true;
    }
  }
  return false;
}

std::vector<FileEdit> EditsOfPatch(std::string_view patch) {
  std::vector<FileEdit> edits;
  struct Mark {
    std::string_view text;
    FileEdit::Kind kind;
  };
  constexpr std::array<Mark, 3> kMarks = {{{"*** Add File: ", FileEdit::Kind::kWrite},
                                           {"*** Update File: ", FileEdit::Kind::kPatch},
                                           {"*** Delete File: ", FileEdit::Kind::kDelete}}};
  for (const std::string_view line : SplitLines(patch)) {
    bool opens = false;
    for (const Mark& mark : kMarks) {
      if (line.substr(0, mark.text.size()) != mark.text) continue;
      edits.push_back({mark.kind, std::string(Trim(line.substr(mark.text.size()))), "", ""});
      opens = true;
    }
    if (opens || edits.empty()) continue;
    if (line.substr(0, 4) == "*** ") continue;
    FileEdit& edit = edits.back();
    // In an added file, every line starts with a plus.
    const bool added = edit.kind == FileEdit::Kind::kWrite;
    if (added && !line.empty() && line.front() != '+') continue;
    edit.after += added && !line.empty() ? line.substr(1) : line;
    edit.after += '\n';
  }
  return edits;
}

// Files written by `cat > FILE <<'EOF' … EOF` and `tee FILE <<EOF`.
std::vector<FileEdit> EditsOfShell(std::string_view command) {
  std::vector<FileEdit> edits;
  const std::vector<std::string_view> lines = SplitLines(command);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::size_t mark = lines[i].find("<<");
    if (mark == std::string_view::npos || lines[i].substr(mark, 3) == "<<<") continue;
    std::string_view word = lines[i].substr(mark + 2);
    if (!word.empty() && word.front() == '-') word.remove_prefix(1);
    word = Trim(word);
    const bool quoted = !word.empty() && (word.front() == '\'' || word.front() == '"');
    const std::string_view ends = quoted ? word.substr(0, 1) : std::string_view(" \t>|;&");
    if (quoted) word.remove_prefix(1);
    const std::string_view delimiter = word.substr(0, word.find_first_of(ends));
    std::string_view target = lines[i];
    const std::size_t arrow = target.find('>');
    if (arrow != std::string_view::npos) {
      target = Trim(target.substr(target.find_first_not_of('>', arrow) == std::string_view::npos
                                      ? target.size()
                                      : target.find_first_not_of('>', arrow)));
    } else if (const std::size_t tee = target.find("tee "); tee != std::string_view::npos) {
      target = Trim(target.substr(tee + 4));
    } else {
      continue;
    }
    target = target.substr(0, target.find_first_of(" \t<|;&"));
    if (target.size() > 1 && (target.front() == '\'' || target.front() == '"'))
      target = target.substr(1, target.size() - 2);
    if (delimiter.empty() || target.empty() || target.front() == '&' || target == "/dev/null") continue;
    FileEdit edit{FileEdit::Kind::kWrite, std::string(target), "", ""};
    for (++i; i < lines.size() && Trim(lines[i]) != delimiter; ++i) {
      edit.after += lines[i];
      edit.after += '\n';
    }
    edits.push_back(std::move(edit));
  }
  return edits;
}

constexpr std::array<std::string_view, 12> kWriteTools = {"write",
                                                          "write_file",
                                                          "create",
                                                          "create_file",
                                                          "notebookedit",
                                                          "str_replace_editor",
                                                          "str_replace_based_edit_tool",
                                                          "edit",
                                                          "multiedit",
                                                          "replace",
                                                          "update",
                                                          "edit_file"};

std::vector<FileEdit> EditsOfArguments(const Json& arguments, const std::string& path) {
  std::vector<FileEdit> edits;
  const std::string action = StringAt(arguments, "command");
  if (action == "view" || action == "undo_edit") return edits;
  for (const char* key : {"content", "file_text", "new_source", "contents"}) {
    if (Member(arguments, key).is_string()) {
      edits.push_back({FileEdit::Kind::kWrite, path, "", StringAt(arguments, key)});
      return edits;
    }
  }
  const auto add = [&](const Json& edit) {
    std::string before = FirstString(edit, {"old_string", "oldString", "old_str", "oldText", "old_text", "search"});
    std::string after = FirstString(edit, {"new_string", "newString", "new_str", "newText", "new_text", "replace"});
    if (!before.empty() || !after.empty()) {
      const Json& all = Member(edit, edit.contains("replaceAll") ? "replaceAll" : "replace_all");
      const bool everywhere = all.is_boolean() && all.get<bool>();
      edits.push_back({FileEdit::Kind::kReplace, path, std::move(before), std::move(after), everywhere});
    }
  };
  add(arguments);
  const Json& list = Member(arguments, "edits");
  if (list.is_array()) std::for_each(list.begin(), list.end(), add);
  return edits;
}

}  // namespace

std::string CommandOf(std::string_view tool, const Json& arguments) {
  const std::string name = PlainToolName(tool);
  if (name == "str_replace_editor" || name == "str_replace_based_edit_tool") return "";
  for (const char* key : {"command", "cmd", "script"}) {
    const Json& value = Member(arguments, key);
    if (value.is_string()) return value.get_ref<const std::string&>();
    if (!value.is_array() || value.empty()) continue;
    // ["bash", "-lc", "make test"]: the last part is the command.
    const bool shell =
        value.size() == 3 && value[1].is_string() && value[2].is_string() && (value[1] == "-lc" || value[1] == "-c");
    if (shell) return value[2].get<std::string>();
    std::string words;
    for (const Json& word : value) {
      if (!word.is_string()) continue;
      if (!words.empty()) words += ' ';
      words += word.get_ref<const std::string&>();
    }
    return words;
  }
  // What Terminus types into a terminal; single keys such as C-c or q aren't commands.
  const std::string keys = StringAt(arguments, "keystrokes");
  return keys.find_first_of(" \r\n") == std::string::npos ? "" : std::string(Trim(keys));
}

std::string PathOf(const Json& arguments) {
  return FirstString(arguments, {"file_path", "filePath", "absolute_path", "notebook_path", "path", "filename"});
}

std::optional<SkillMention> SkillOf(std::string_view tool, const Json& arguments, const std::string& command,
                                    const std::string& path) {
  const std::string name = PlainToolName(tool);
  if (name == "skill" || name == "activate_skill" || name == "load_skill" || name == "read_skill") {
    std::string skill = FirstString(arguments, {"skill", "name", "skill_name", "command", "raw"});
    if (!skill.empty()) return SkillMention{std::move(skill), "tool"};
    return std::nullopt;
  }
  const bool reads = name.find("read") != std::string::npos || name.find("view") != std::string::npos ||
                     name == "open" || name == "cat";
  std::string skill = reads ? SkillInPath(path) : "";
  if (skill.empty() && !command.empty() && IsReadCommand(command)) skill = SkillInPath(command);
  if (skill.empty()) return std::nullopt;
  return SkillMention{std::move(skill), "file read"};
}

bool MayWriteFile(const Event& call) {
  if (call.kind != EventKind::kToolCall) return false;
  const std::string name = PlainToolName(call.tool);
  if (IsOneOf(name, kWriteTools) || name == "apply_patch" || name == "patch") return true;
  return call.command.find("<<") != std::string::npos || call.command.find("apply_patch") != std::string::npos;
}

std::vector<FileEdit> EditsOfCall(const Event& call) {
  if (!MayWriteFile(call)) return {};
  const std::string name = PlainToolName(call.tool);
  if (!call.command.empty()) {
    if (call.command.find("*** Begin Patch") != std::string::npos) return EditsOfPatch(call.command);
    return EditsOfShell(call.command);
  }
  ParsedRecord parsed = ParseRecord(call.text);
  if (!parsed.value || !parsed.value->is_object()) {
    return call.text.find("*** Begin Patch") != std::string::npos ? EditsOfPatch(call.text) : std::vector<FileEdit>();
  }
  if (name == "apply_patch" || name == "patch") {
    return EditsOfPatch(FirstString(*parsed.value, {"input", "patch", "patchText", "raw"}));
  }
  return EditsOfArguments(*parsed.value, call.path);
}

bool LooksUpFacts(std::string_view tool) {
  const std::string name = PlainToolName(tool);
  for (const std::string_view part :
       {"web", "fetch", "search_docs", "query-docs", "get-library-docs", "documentation", "google", "browse"}) {
    if (name.find(part) != std::string::npos) return true;
  }
  return ToLowerAscii(tool).find("context7") != std::string::npos;
}

}  // namespace upskill
