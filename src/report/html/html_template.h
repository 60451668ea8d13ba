// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace upskill {

// The parts of the HTML report (report.html, report.css, report_*.js), put into the program when it is built.
std::string_view HtmlPage();
std::string_view HtmlStyle();
std::string_view HtmlScript();

}  // namespace upskill
