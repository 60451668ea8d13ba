// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "eval/verdict/judged_run.h"
#include "util/result.h"

namespace upskill {

// A text as a field of an RFC 4180 file, quoted where needed. Text that a spreadsheet would take for a formula (it
// begins with = + - @, a tab or a carriage return) gets a leading apostrophe; so does text that begins with apostrophes
// before such a character, so that removing one apostrophe before such text gives back what was there.
std::string CsvField(std::string_view text);

// Every sample of the runs in one row: run, model, case, arm, round (from 1), status, passed, stop, tokens, seconds,
// cost, checks, answer or error. CRLF line ends and a head line.
std::string SamplesCsv(std::span<const JudgedRun> runs);
// The same through `write`, some rows at a time, because answers may not fit into memory. Errors: those of `write`.
Status WriteSamplesCsv(std::span<const JudgedRun> runs, const std::function<Status(std::string_view)>& write);

}  // namespace upskill
