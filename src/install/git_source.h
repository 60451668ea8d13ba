// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "util/result.h"

namespace upskill {

// A skill in a git repository. All parts have been checked: none is an option for git, holds a password, or leads out
// of the repository.
struct GitSource {
  std::string url;   // for git: https://…, ssh://…, file:///… or user@host:path
  std::string ref;   // a branch, tag or full commit; empty: the default branch
  std::string path;  // the skill's folder, or the end of its path; empty: the repository is, or has, a single skill
};

// Whether the text has the form of a git source rather than of a file's name, be it a valid one or not.
bool IsGitSource(std::string_view text);

// Reads one of
//   https://HOST/OWNER/REPO, with /tree/REF/PATH as on GitHub, /-/tree/REF/PATH (GitLab) or /src/branch/REF/PATH
//   ssh://USER@HOST/REPO, USER@HOST:REPO, file:///FOLDER
// each optionally with git+ before and #REF or #REF:PATH after it. A REF in /tree/ has no slash.
// Errors say what is wrong; those about a password don't repeat the text.
Result<GitSource> ParseGitSource(std::string_view text);

// The form that ParseGitSource reads back: git+URL, with #REF:PATH if there is any.
std::string GitSourceText(const GitSource& source);

// The last part of the repository's name, without .git; "repository" if that is no plain name.
std::string RepositoryName(const GitSource& source);

// `text` with the user and password left out of whatever looks like a URL: messages of git may contain those of its
// configuration.
std::string WithoutCredentials(std::string_view text);

}  // namespace upskill
