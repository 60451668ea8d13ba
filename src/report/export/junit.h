// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "check/suite_check.h"
#include "eval/verdict/judged_run.h"
#include "skill/suite.h"

namespace upskill {

// JUnit XML (tests/schema/junit.xsd): a testsuite for each student of each run, a testcase for each case with the skill
// (and, where the plan has no such arm, with its first arm). A case fails when one of its rounds failed a check, is an
// error if any round has no answer, and is skipped when nothing failed but a check could not run, or when the run left
// it out.
std::string JUnitXml(std::span<const JudgedRun> runs);

// What `upskill check` found as JUnit XML (tests/schema/junit.xsd): a testcase for each answer, in the class of its
// case; one for the weaknesses of a case that has any. An answer that wasn't checked is skipped, with the reason, and
// so is a case without answers; with `strict` both fail, and so does each warning of the suite.
std::string CheckJUnitXml(const Suite& suite, const SuiteReport& report, bool strict);

}  // namespace upskill
