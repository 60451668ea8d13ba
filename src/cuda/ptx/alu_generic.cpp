// SPDX-License-Identifier: Apache-2.0
#define UPSKILL_PTX_VARIANT generic
#include "cuda/ptx/alu_fast.h"
#include "cuda/ptx/lane_addresses_fast.h"
