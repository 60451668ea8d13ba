// SPDX-License-Identifier: Apache-2.0
#include "cli/eval/resume_line.h"

#include <fmt/format.h>

#include "cli/eval/option_row.h"
#include "util/text.h"

namespace upskill {

std::string ResumeLine(const EvalOptions& options, const Plan& plan) {
  EvalOptions given = options;
  given.models.clear();
  for (const Student& student : plan.students) given.models.push_back(student.spec);
  given.judge_model = plan.judge ? plan.judge->spec : "";
  std::string line = fmt::format("upskill {} {}", options.table_first ? "benchmark" : "eval", ShellWord(options.skill));
  const unsigned of_other = options.table_first ? kOnlyEval : kOnlyBenchmark;
  for (const EvalOption& row : EvalOptionRows()) {
    if ((row.traits & kInResumeLine) == 0 || (row.traits & of_other) != 0) continue;
    for (const std::string& word : row.at.words(given)) {
      line += " " + row.names.substr(0, row.names.find(','));
      if (!row.value.empty()) line += " " + ShellWord(word);
    }
  }
  return line + " --resume " + ShellWord(plan.run);
}

}  // namespace upskill
