// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "cli/env/env.h"
#include "util/result.h"
#include "util/stop_flag.h"

namespace upskill {

// Occupies those of the descriptors 0 to 2 that are closed, so that no file gets such a number and then receives what
// is printed. Using them still fails, as on a closed descriptor. To be called before anything opens a file.
void OccupyStandardDescriptors();

// Standard output or error. Waits for a slow reader, also where the descriptor doesn't block. After the first error
// nothing more is written. Not thread-safe.
class OutputStream {
 public:
  // `stop` outlives the stream: at 2 it doesn't wait any longer.
  OutputStream(int fd, const StopFlag& stop) : fd_(fd), stop_(&stop) {}

  void Write(std::string_view text);

  // Closes the descriptor. The error that made output incomplete; none if the reader of a pipe has gone.
  Status Finish();

 private:
  bool WaitForRoom() const;  // false: not to be waited for

  int fd_;
  const StopFlag* stop_;
  int error_ = 0;  // an errno; 0: none
};

// Says on standard error that standard output is incomplete, and returns the exit code: what would be a success is
// none.
ExitCode FinishOutput(OutputStream& out, ExitCode code, const Env& env);

}  // namespace upskill
