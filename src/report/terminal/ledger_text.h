// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "eval/verdict/ledger.h"
#include "report/terminal/style.h"
#include "util/json.h"

namespace upskill {

// Why a run's verdict has less than all of alpha, in one line; empty if it is the first look at its tests and the only
// comparison. `with_hint`: says how to ignore earlier looks.
std::string AlphaNote(const Plan& plan, bool with_hint = true);

// `alpha` of `eval --json` (docs/output.md).
Json AlphaToJson(const Plan& plan);

// A row for each run and student that was looked at, oldest first (`runs --ledger`).
TerminalText LedgerTable(const Ledger& ledger, const Style& style);
Json LedgerToJson(const Ledger& ledger);

}  // namespace upskill
