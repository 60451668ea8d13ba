// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trace/file_edit.h"
#include "trace/read/record.h"
#include "trace/trace.h"

namespace upskill {

// The shell command in a call's arguments, if any: a text, or a list like ["bash", "-lc", "make"].
std::string CommandOf(std::string_view tool, const Json& arguments);

// The file that a call reads or writes; empty if it names none.
std::string PathOf(const Json& arguments);

// The name of the skill that a call loads, and how; nothing if it loads none.
struct SkillMention {
  std::string name;
  std::string how;
};
std::optional<SkillMention> SkillOf(std::string_view tool, const Json& arguments, const std::string& command,
                                    const std::string& path);

// The edits of a tool call: Write, Edit, apply_patch and similar tools of all formats, and files that a shell command
// writes from a here-document.
std::vector<FileEdit> EditsOfCall(const Event& call);

// True for calls that can change files; cheap.
bool MayWriteFile(const Event& call);

// True for tools that look something up outside the files: web searches and fetches, documentation servers.
bool LooksUpFacts(std::string_view tool);

}  // namespace upskill
