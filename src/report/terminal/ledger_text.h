// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "eval/verdict/ledger.h"
#include "report/terminal/style.h"
#include "util/json.h"

namespace upskill {

// Why a run's verdict needs more evidence than that of a first look with one comparison, in one line; empty if it
// doesn't. `with_hint`: says how to ignore earlier looks.
std::string LookNote(const Plan& plan, bool with_hint = true);

// The same in figures: "alpha 0.5 % instead of 5 %; a first look gets 4 %".
std::string AlphaNote(const Plan& plan);

// `alpha` of `eval --json` (docs/output.md).
Json AlphaToJson(const Plan& plan);

// A row for each run and student that was looked at, oldest first (`runs --ledger`).
TerminalText LedgerTable(const Ledger& ledger, const Style& style);
Json LedgerToJson(const Ledger& ledger);

}  // namespace upskill
