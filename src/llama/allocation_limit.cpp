// SPDX-License-Identifier: Apache-2.0
#include "llama/allocation_limit.h"

#include <fmt/format.h>
#include <malloc.h>

#include <cstdlib>
#include <ctime>
#include <new>

#include "util/invariant.h"
#include "util/text.h"

namespace upskill {
namespace {

// How often the clock is read: this costs more than an allocation.
constexpr std::size_t kAllocationsPerLook = 4096;
constexpr std::size_t kBytesPerLook = std::size_t{4} << 20U;

// For the handlers of the exception.
constexpr std::chrono::milliseconds kMoreTime{100};
constexpr std::int64_t kMoreBytes = std::int64_t{4} << 20U;
constexpr std::ptrdiff_t kMoreStack = std::ptrdiff_t{64} << 10U;

constinit thread_local AllocationLimit* limit_of_thread = nullptr;

std::chrono::nanoseconds ComputingTime() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

const char* StackPosition() { return static_cast<const char*>(__builtin_frame_address(0)); }

}  // namespace

AllocationLimit::AllocationLimit(const Limits& limits)
    : limits_(limits),
      stack_(StackPosition()),
      max_bytes_(static_cast<std::int64_t>(limits.bytes)),
      deadline_(ComputingTime() + limits.time),
      allocations_to_go_(kAllocationsPerLook),
      bytes_to_go_(kBytesPerLook) {
  CHECK(limit_of_thread == nullptr);
  limit_of_thread = this;
}

AllocationLimit::~AllocationLimit() { limit_of_thread = nullptr; }

void AllocationLimit::Exceed(Kind kind) {
  if (exceeded_ == Kind::kNothing) exceeded_ = kind;
  throw std::bad_alloc();
}

void AllocationLimit::BeforeAllocation(std::size_t bytes) {
  if (static_cast<std::int64_t>(bytes) > max_bytes_ - used_) {
    max_bytes_ += kMoreBytes;
    Exceed(Kind::kMemory);
  }
  if (stack_ - StackPosition() > max_stack_) {
    max_stack_ += kMoreStack;
    Exceed(Kind::kStack);
  }
  if (--allocations_to_go_ > 0 && bytes < bytes_to_go_) {
    bytes_to_go_ -= bytes;
    return;
  }
  allocations_to_go_ = kAllocationsPerLook;
  bytes_to_go_ = kBytesPerLook;
  if (const std::chrono::nanoseconds now = ComputingTime(); now > deadline_) {
    deadline_ = now + kMoreTime;
    Exceed(Kind::kTime);
  }
}

std::optional<std::string> AllocationLimit::Exceeded() const {
  switch (exceeded_) {
    case Kind::kTime:
      return fmt::format("took more than {:g} s", static_cast<double>(limits_.time.count()) / 1000.0);
    case Kind::kMemory:
      return fmt::format("needed more than {}", BytesText(limits_.bytes));
    case Kind::kStack:
      return "calls itself too often";
    case Kind::kNothing:
      break;
  }
  return std::nullopt;
}

#if defined(UPSKILL_SANITIZED)

bool AllocationLimit::IsEnforced() { return false; }

}  // namespace upskill

#else

bool AllocationLimit::IsEnforced() { return true; }

}  // namespace upskill

// The replacements of the standard's functions for the whole program: the forms for arrays, without exceptions and with
// a size call these. Without a limit they do what the standard library's do.
void* operator new(std::size_t size) {
  upskill::AllocationLimit* const limit = upskill::limit_of_thread;
  if (limit != nullptr) limit->BeforeAllocation(size);
  void* memory = std::malloc(size == 0 ? 1 : size);
  while (memory == nullptr) {
    const std::new_handler handler = std::get_new_handler();
    if (handler == nullptr) throw std::bad_alloc();
    handler();
    memory = std::malloc(size == 0 ? 1 : size);
  }
  if (limit != nullptr) limit->AfterAllocation(::malloc_usable_size(memory));
  return memory;
}

void operator delete(void* memory) noexcept {
  if (upskill::limit_of_thread != nullptr && memory != nullptr) {
    upskill::limit_of_thread->AfterRelease(::malloc_usable_size(memory));
  }
  std::free(memory);
}

void operator delete(void* memory, std::size_t /*size*/) noexcept { ::operator delete(memory); }

#endif
