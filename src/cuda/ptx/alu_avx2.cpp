// SPDX-License-Identifier: Apache-2.0
// Compiled with -mavx2 -mfma (CMakeLists.txt): used only on processors that have both.
#define UPSKILL_PTX_VARIANT avx2
#include "cuda/ptx/alu_fast.h"
#include "cuda/ptx/lane_addresses_fast.h"
