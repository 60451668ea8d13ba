// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sandbox/sandbox.h"

namespace upskill {

// What tools say against code in Markdown: blocks in JSON, TOML, YAML, Python and shell that can't be parsed, and the
// rules of kernel-builder if the blocks are such a project with a build.toml. One line for each: `TOOL rejects the
// block that begins with "…": why`. Languages whose interpreter the sandbox lacks are left out, and so are blocks with
// an ellipsis, which are parts of a file.
std::vector<std::string> FindRejectedCode(std::string_view markdown, const Sandbox& sandbox);

}  // namespace upskill
