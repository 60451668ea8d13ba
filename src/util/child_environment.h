// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace upskill {

// The variables of this process that a child process gets, as NAME=VALUE: those that tell it about the user and the
// system (HOME, PATH, LANG, TMPDIR, XDG_* …), and those that `more` names; there, a `*` at the end matches the rest of
// a name. All others may hold keys.
std::vector<std::string> ChildEnvironment(std::initializer_list<std::string_view> more = {});

// Sets `name` in such a list. The value of a variable whose name is that of a key or password is a known secret from
// now on (util/known_secrets.h), because the child process may print it.
std::vector<std::string> WithVariable(std::vector<std::string> environment, std::string_view name,
                                      std::string_view value);

}  // namespace upskill
