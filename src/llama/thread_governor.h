// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace upskill {

// Decides how many threads evaluate the next batch. llama.cpp's threads wait for each other by spinning, about 900
// times per batch: that is fastest as long as each has its own processor, but with one other busy program, two threads
// were measured at a tenth of their speed, and one thread at nearly its own. So if the threads did not get the
// processor time that spinning threads use, fewer are tried for a while. The number of threads doesn't change what is
// computed. Pure logic, not thread-safe.
class ThreadGovernor {
 public:
  explicit ThreadGovernor(int most) : most_(most), current_(most) {}

  int threads() const { return current_; }

  // Another number to try, at least 1.
  void SetMost(int most);

  // Reports the last batch: its wall-clock time and the processor time of the whole process, in seconds.
  void Record(double wall_seconds, double processor_seconds);

 private:
  int most_;
  int current_;
  double rest_seconds_ = 0.0;  // until the full number is tried again
  double next_rest_seconds_ = 2.0;
};

}  // namespace upskill
