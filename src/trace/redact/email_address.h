// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "trace/redact/redact.h"

namespace upskill {

// E-mail addresses of people, not of services ("noreply@"); neither decorators, versions ("left-pad@1.3.0"), file names
// ("icon@2x.png") nor the users of URLs and of git remotes.
std::vector<SecretSpan> FindEmailAddresses(std::string_view text);

}  // namespace upskill
