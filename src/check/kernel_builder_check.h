// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "check/check.h"
#include "skill/suite.h"
#include "util/result.h"

namespace upskill {

// `kernel_builder`: the answer's files are a project that Hugging Face's kernel-builder would build, as far as their
// text shows (JudgeKernelProject). The project is the folder of `file`, else of the build.toml with the shortest path;
// an answer without one may have it as its only block of TOML. Options:
//   require       what is judged beside build.toml: "sources", "layout", "bindings". By default all of them if the
//   answer
//                 has other files of a project, else none.
//   capabilities  compute capabilities that the project must have code for, such as "9.0"
//   backends      backends that it must list
//   edition       the lowest edition of build.toml: 4 (the default) or 5
// The first five problems are named. Errors: options of the wrong type, or with unknown values.
Result<std::unique_ptr<Check>> MakeKernelBuilder(const CheckSpec& spec, CaseParts& parts);

}  // namespace upskill
