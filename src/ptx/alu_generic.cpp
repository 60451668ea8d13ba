// SPDX-License-Identifier: Apache-2.0
#define UPSKILL_PTX_VARIANT generic
#include "ptx/alu_fast.h"
#include "ptx/lane_addresses_fast.h"
