// SPDX-License-Identifier: Apache-2.0
#include "cuda/checks/cuda_checks.h"

#include <array>

#include "check/check_makers.h"
#include "check/task_reader.h"
#include "cuda/checks/cuda_bindings_check.h"
#include "cuda/checks/cuda_compile_check.h"
#include "cuda/checks/cuda_run_check.h"
#include "cuda/checks/torch_tasks.h"
#include "skill/check_types.h"

namespace upskill {

void AddCudaChecks() {
  static constexpr std::array kMakers = {
      CheckMakerRow{CheckKind::kCudaCompile, MakeCudaCompile},
      CheckMakerRow{CheckKind::kCudaBindings, MakeCudaBindings},
      CheckMakerRow{CheckKind::kCudaRun, MakeCudaRun},
  };
  AddCheckMakers(kMakers);
  SetTaskReader(ReadTorchTasks);
}

}  // namespace upskill
