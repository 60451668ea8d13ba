// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

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

// The registry: for each type of kCheckTypes, what makes its checks. nullptr if nothing does.
CheckMaker FindCheckMaker(CheckKind kind);

}  // namespace upskill
