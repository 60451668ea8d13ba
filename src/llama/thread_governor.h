// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace upskill {

// Decides how many threads evaluate the next batch. llama.cpp's threads wait for each other by spinning, some 900
// times a batch: as long as each has a processor that is the fastest way, but with one other busy program on the
// machine two threads were measured at a tenth of their speed, and one thread at nearly its own. So when the threads
// did not get the processor time that spinning threads use, fewer are tried for a while. The number of threads does
// not change what is computed. Pure logic, not thread-safe.
class ThreadGovernor {
 public:
  explicit ThreadGovernor(int most) : most_(most), current_(most) {}

  int threads() const { return current_; }

  // Tells what the last batch took: seconds on the wall and of processor time (of the whole process).
  void Record(double wall_seconds, double processor_seconds);

 private:
  int most_;
  int current_;
  double rest_seconds_ = 0.0;  // until the full number is tried again
  double next_rest_seconds_ = 2.0;
};

}  // namespace upskill
