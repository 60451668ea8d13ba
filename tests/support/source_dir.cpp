// SPDX-License-Identifier: Apache-2.0
#include "support/source_dir.h"

namespace upskill {

std::filesystem::path SourceDir() { return UPSKILL_SOURCE_DIR; }

}  // namespace upskill
