// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace upskill {

// Adds cuda_compile, cuda_bindings and cuda_run to the registry of checks (AddCheckMakers).
void AddCudaChecks();

}  // namespace upskill
