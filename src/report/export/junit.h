// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "eval/verdict/judged_run.h"

namespace upskill {

// JUnit XML (tests/schema/junit.xsd): a testsuite for each student of each run, a testcase for each case with the skill
// (and, where the plan has no such arm, with its first arm). A case fails when one of its rounds failed a check, is an
// error if any round has no answer, and is skipped when nothing failed but a check could not run, or when the run left
// it out.
std::string JUnitXml(std::span<const JudgedRun> runs);

}  // namespace upskill
