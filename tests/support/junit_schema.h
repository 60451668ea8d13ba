// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <string>

#include "support/source_dir.h"
#include "util/temp_folder.h"

namespace upskill {

// Checks the document against tests/schema/junit.xsd with xmllint; skips the test where there is none.
inline void ExpectValidJUnit(const std::string& xml) {
  const TempFolder folder;
  const std::string file = folder.Write("report.xml", xml).string();
  const std::string command = "xmllint --noout --nonet --schema " + (SourceDir() / "tests/schema/junit.xsd").string() +
                              " " + file + " 2>" + file + ".log";
  const int status = std::system(command.c_str());  // NOLINT: a test's own command
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 1;
  if (code == 127) GTEST_SKIP() << "no xmllint (Debian package libxml2-utils, scripts/setup --check)";
  EXPECT_EQ(code, 0) << xml;
}

}  // namespace upskill
