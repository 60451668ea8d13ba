// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace upskill {

// Bounds foreign code that can't be asked to stop, but allocates all the time: the interpreter of chat templates. While
// an object exists, an allocation of its thread with operator new throws std::bad_alloc if the memory in use has grown
// by more than `bytes`, the thread has computed for longer than `time`, or its stack has grown by more than
// kStackBytes. Code that catches the exception gets a little more for its cleaning up, then it is thrown again. The
// worker process has limits, too, but its memory is all that the machine can spare, without any limit if models run on
// a GPU (ConfineWorker), and a template that hangs would have the watchdog end all conversations with it.
//
// One object per thread at a time; destroy it on the thread that made it. Sanitizers have their own operator new: there
// it limits nothing (IsEnforced).
class AllocationLimit {
 public:
  struct Limits {
    std::chrono::milliseconds time{5'000};
    std::size_t bytes = 256'000'000;
  };
  static constexpr std::ptrdiff_t kStackBytes = std::ptrdiff_t{3} << 20U;

  explicit AllocationLimit(const Limits& limits);
  ~AllocationLimit();
  AllocationLimit(const AllocationLimit&) = delete;
  AllocationLimit& operator=(const AllocationLimit&) = delete;

  static bool IsEnforced();

  // What has been exceeded, to follow "the template ": "took more than 5 s"; nothing if all was kept.
  std::optional<std::string> Exceeded() const;

  // By operator new and delete.
  void BeforeAllocation(std::size_t bytes);
  void AfterAllocation(std::size_t bytes) { used_ += static_cast<std::int64_t>(bytes); }
  void AfterRelease(std::size_t bytes) { used_ -= static_cast<std::int64_t>(bytes); }

 private:
  enum class Kind { kNothing, kTime, kMemory, kStack };
  void Exceed(Kind kind);

  const Limits limits_;
  const char* const stack_;
  std::int64_t max_bytes_;
  std::chrono::nanoseconds deadline_;  // on the clock of the thread's computing time
  std::ptrdiff_t max_stack_ = kStackBytes;
  std::int64_t used_ = 0;              // negative if memory from before has been released
  std::size_t allocations_to_go_ = 0;  // until the clock is read
  std::size_t bytes_to_go_ = 0;
  Kind exceeded_ = Kind::kNothing;
};

}  // namespace upskill
