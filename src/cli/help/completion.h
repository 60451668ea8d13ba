// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/env/env.h"

namespace CLI {
class App;
}

namespace upskill {

// A word that may stand where the cursor is.
struct CompletionWord {
  std::string text;
  std::string description;  // may be empty
};

enum class CompletionPaths { kNone, kFiles, kFolders };

struct Completion {
  std::vector<CompletionWord> words;
  CompletionPaths paths = CompletionPaths::kNone;  // whether a path may stand there too
};

// What the last of the words could become. The words are those of a command line without the program's name, up to the
// cursor; the last one may be empty. Commands and options are those of `app`; names of skills, runs and models are
// looked up in the configured folders and in the catalogue. Nothing is asked over the network, and no program is run.
Completion Complete(const CLI::App& app, const std::vector<std::string>& words, const Env& env);

// A line for each word, "TEXT" or "TEXT<tab>DESCRIPTION", then ":files" or ":folders" if there may be a path. Names
// that a shell would take for something else aren't among them.
std::string CompletionLines(const Completion& completion);

// The first argument of what the scripts run: `upskill complete -- WORD...`. It is no command of the help.
inline constexpr std::string_view kCompleteCommand = "complete";

// Prints what the last of the words after "--" could become.
ExitCode RunComplete(const CLI::App& app, const std::vector<std::string>& arguments, Env& env);

}  // namespace upskill
