// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "check/suite_check.h"
#include "skill/suite.h"

namespace upskill {

// What `upskill check` found as JUnit XML (tests/schema/junit.xsd): a testcase for each answer, in the class of its
// case; one for the weaknesses of a case that has any. An answer that wasn't checked is skipped, with the reason, and
// so is a case without answers; with `strict` both fail, and so does each warning of the suite.
std::string CheckJUnitXml(const Suite& suite, const SuiteReport& report, bool strict);

}  // namespace upskill
