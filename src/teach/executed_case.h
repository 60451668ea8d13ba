// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sandbox/sandbox.h"
#include "util/json.h"
#include "util/result.h"

namespace upskill {

// What a teacher's tests can run on an answer on this machine.
struct TestRunners {
  std::vector<std::string> languages;  // of programs that test the answer: "python", "shell", "c++"
  bool cuda = false;                   // the check cuda_compile
  bool Any() const { return !languages.empty() || cuda; }
};
TestRunners FindTestRunners(const Sandbox& sandbox);

// The languages as in a sentence: "`python`, `shell` or `c++`".
std::string LanguagesText(const TestRunners& runners);

// The schemas of the optional keys of a teacher's case that say what is run: `given` (files that come with the request,
// [{path, text}]), `gap` (the text in one of them that the answer replaces) and `run`: {language, test} for a program
// that tests the answer's files, or {function, calls: [{arguments, result}]} for a Python function of the output_file.
Json RunSchemas(const TestRunners& runners);

// Adds them to `raw`, a case as suites have it, which has its output_file already: the context's files, `fill`, and a
// check `command` whose program must reach its last line, so that an answer can't pass by ending it. Errors: keys that
// contradict each other, calls that aren't JSON, a gap that no given file has.
Status AddRun(const Json& from, Json& raw);

}  // namespace upskill
