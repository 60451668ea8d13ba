// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "skill/suite.h"
#include "util/result.h"

namespace upskill {

// An answer that a case must reject.
struct WrongAnswer {
  std::string name;
  std::string text;
  std::string fails;  // what the name or the detail of a failing check contains; empty: any
};

// The answers that show whether a case's checks tell right from wrong.
struct AnswersOfCase {
  std::vector<std::pair<std::string, std::string>> right;  // name and text; all must pass
  std::vector<WrongAnswer> wrong;
};

// The answers of each case, in the suite's order: its `reference` and its list `wrong` ({"name", "answer", "fails"}; in
// place of "answer", "replace" and "with" change one place of the reference), and those of the folder `answers`, which
// may be empty for none. There, CASE/reference.md is an answer as a model would write it; CASE/reference/ is the folder
// of the files that it would deliver. CASE/wrong-NAME.md and CASE/wrong-NAME/ are wrong ones; a folder has only the
// files that differ from CASE/reference/. The line "fails: TEXT" in CASE/wrong-NAME.txt, or as an HTML comment at the
// start of CASE/wrong-NAME.md, says how they fail. Errors: unreadable files, entries of other names, folders of no
// case, more than 1,000 files or 8 MiB in an answer, a `wrong` of another form.
Result<std::vector<AnswersOfCase>> LoadSuiteAnswers(const Suite& suite, const std::filesystem::path& answers);

// An error if the list `wrong` of a case can't be read, for commands that don't need these answers.
Status CheckWrongAnswers(const Suite& suite);

// An answer that delivers such files, by their relative paths, as a model without tools does.
std::string AnswerWithFiles(const std::map<std::string, std::string>& files);

}  // namespace upskill
