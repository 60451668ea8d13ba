// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "kernel/kernel_project.h"
#include "kernel/rules.h"
#include "support/kernel_project.h"

namespace upskill {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// With lines after `import torch` of the package's __init__.py.
std::vector<std::string> ProblemsWith(const std::string& lines) {
  const KernelFiles files = WithReplaced(ValidKernelProject(), "torch-ext/fused_rmsnorm/__init__.py", "import torch\n",
                                         "import torch\n" + lines);
  std::vector<std::string> texts;
  for (const KernelProblem& problem : JudgeKernelProject(files, {}).problems) texts.push_back(ProblemText(problem));
  return texts;
}

TEST(PythonRules, BracketsHaveTheirPartners) {
  EXPECT_THAT(ProblemsWith("x = f(\n    [1, 2)\n"), ElementsAre(HasSubstr("line 4, column 10: `)` closes nothing")));
  EXPECT_THAT(ProblemsWith("x = {1: (2)\n"), ElementsAre(HasSubstr("line 3, column 5: `{` is never closed")));
  EXPECT_THAT(ProblemsWith("x = [')', \"\"\"(\n\"\"\"]  # }\n"), IsEmpty());
}

TEST(PythonRules, OperatorsCanBeAskedForByName) {
  const std::string import = "from ._ops import ops as o\n";
  EXPECT_THAT(ProblemsWith(import + "f = getattr(o, \"chunk\")\n"),
              ElementsAre(HasSubstr("no operator `chunk` is registered")));
  EXPECT_THAT(ProblemsWith(import + "f = getattr(o, \"chunk\", None)\ng = getattr(o, 'rmsnorm')\n"), IsEmpty());
}

TEST(PythonRules, AllListsWhatTheModuleHas) {
  EXPECT_THAT(ProblemsWith("\n__all__ = [\n    \"rmsnorm\",  # \"x\"\n    \"layers\",\n    'norm',\n]\n"),
              ElementsAre(HasSubstr("line 7, column 6: __all__ lists `norm`, which this module doesn't have")));
  EXPECT_THAT(ProblemsWith("\n__all__ = [\"rmsnorm\", \"layers\", \"RMSNorm\"]\n"), IsEmpty());
}

}  // namespace
}  // namespace upskill
