// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <set>
#include <string>

#include "util/terminal_text.h"

namespace upskill {

// What `runs` says of the runs in jobs that can be gone on with; empty for none. `complete` has the names of the runs
// without unanswered cells. Nothing of a run's record but its engine is repeated: it may come from elsewhere.
TerminalText UnfinishedJobsText(const std::filesystem::path& runs_dir, const std::set<std::string>& complete);

}  // namespace upskill
