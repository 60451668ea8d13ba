// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include "util/files.h"
#include "util/result.h"

namespace upskill {

// A socket that listens on 127.0.0.1:`port` of the network name space of another process, which this user has made
// (bubblewrap's --unshare-net): whoever accepts its connections here serves the processes there, and they need no way
// out for that. It doesn't block, and closes when this process runs another program. Errors: the system's.
Result<Fd> ListenInNetworkOf(pid_t process, int port);

}  // namespace upskill
