// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <vector>

namespace upskill {

// Which work of a program's streams it has waited for, by the rules of CUDA. Work on the default stream waits for the
// streams that block it, and is always waited for in the end.
class StreamOrder {
 public:
  std::uint64_t Make(bool non_blocking);
  std::uint64_t made() const { return next_; }
  // Something was done on a stream; an unknown number is one of the streams that the program doesn't make.
  void Work(std::uint64_t stream);
  void SynchronizeDevice();
  void SynchronizeStream(std::uint64_t stream);
  void Record(std::uint64_t event, std::uint64_t stream);
  void SynchronizeEvent(std::uint64_t event);
  void WaitForEvent(std::uint64_t stream, std::uint64_t event);
  // Whether the work is done, for a program that asks and doesn't wait: asked again, it is.
  bool AskStream(std::uint64_t stream);
  bool AskEvent(std::uint64_t event);

  // Streams, besides the default one, with work that nothing has waited for.
  std::size_t Pending() const;

 private:
  struct Point {
    std::uint64_t stream = 0;
    std::uint64_t work = 0;
  };
  struct Stream {
    bool non_blocking = false;
    std::uint64_t work = 0;
    std::uint64_t done = 0;
    std::uint64_t asked = 0;  // the work that the program has asked for
    std::vector<Point> waits_for;
  };

  void Reach(const Point& point);
  bool Ask(const Point& point);

  std::map<std::uint64_t, Stream> streams_;
  std::map<std::uint64_t, Point> events_;
  std::uint64_t next_ = 0;
};

}  // namespace upskill
