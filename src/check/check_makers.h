// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>

#include "check/check.h"
#include "skill/check_types.h"
#include "skill/suite.h"
#include "util/result.h"

namespace upskill {

// Makes a check of one type from what a suite states. Errors: those of MakeCheck.
using CheckMaker = Result<std::unique_ptr<Check>> (*)(const CheckSpec& spec, CaseParts& parts);

struct CheckMakerRow {
  CheckKind kind;
  CheckMaker make;
};

// Why checks of a type without a maker are skipped.
inline constexpr const char* kWingMissing = "this upskill was built without CUDA checks (UPSKILL_CUDA=OFF)";

// The registry: for each type of kCheckTypes, what makes its checks. nullptr if nothing in this program does: the type
// belongs to a wing that it was built without.
CheckMaker FindCheckMaker(CheckKind kind);

// Adds the makers of a wing. Call it before other threads make checks; again, it changes nothing.
void AddCheckMakers(std::span<const CheckMakerRow> makers);

}  // namespace upskill
