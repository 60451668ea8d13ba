// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/report_input.h"

namespace upskill {

// A text as a field of an RFC 4180 file, quoted where needed. Text that a spreadsheet would take for a formula (it
// begins with = + - @, a tab or a carriage return) gets a leading apostrophe; so does text that begins with apostrophes
// before such a character, so that CsvOriginal gives every text back.
std::string CsvField(std::string_view text);
// The text that CsvField was given, from the field without its quotes.
std::string CsvOriginal(std::string_view field);

// Every sample of the runs in one row: run, student, case, arm, round (from 1), status, passed, stop, tokens, seconds,
// cost, checks, answer or error. CRLF line ends and a head line.
std::string SamplesCsv(const std::vector<ReportInput>& runs);

}  // namespace upskill
