// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace upskill {

// `text` inside an XML element or attribute: markup escaped; characters that XML 1.0 forbids, other
// control characters and bidirectional overrides replaced by U+FFFD.
std::string XmlText(std::string_view text);

struct JUnitCase {
  enum class Outcome { kPassed, kFailed, kError, kSkipped };
  std::string name;
  std::string classname;
  double seconds = 0.0;
  Outcome outcome = Outcome::kPassed;
  std::string message;  // unless it passed
  std::string type;     // what kind of failure or error
  std::string body;     // of a failure, also of one that is skipped because the gate holds
};

struct JUnitSuite {
  std::string name;
  std::string timestamp;  // xs:dateTime; may be empty
  std::vector<std::pair<std::string, std::string>> properties;
  std::vector<JUnitCase> cases;
};

// A document of JUnit XML (tests/schema/junit.xsd). Strings are escaped.
std::string JUnitDocument(const std::vector<JUnitSuite>& suites);

}  // namespace upskill
