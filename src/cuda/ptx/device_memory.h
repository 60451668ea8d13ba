// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "util/result.h"

namespace upskill::ptx {

// Who wrote a byte last; kGiven: it was there from the beginning, or the runtime has copied it from such a byte.
enum class Writer : std::uint8_t { kNobody = 0, kHost = 1, kDevice = 2, kGiven = 5 };

constexpr std::uint64_t kAllocationAlignment = 256;
constexpr std::uint64_t kPageBytes = 4096;  // of memory that the host has at the same address

// Zeros that take memory of this machine only once they are written to, so that a program can have as much as a GPU
// has.
template <typename T>
class LazyArray {
  static_assert(sizeof(T) == 1);

 public:
  LazyArray() = default;
  // Shared memory isn't counted before it is used, as the limit of a process on its data is. Throws std::bad_alloc.
  explicit LazyArray(std::size_t size) : size_(size) {
    void* const zeros = size < kLeastMapped ? std::calloc(size + 1, 1)
                                            : ::mmap(nullptr, size, PROT_READ | PROT_WRITE,
                                                     MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (zeros == nullptr || reinterpret_cast<std::intptr_t>(zeros) == -1) throw std::bad_alloc();  // MAP_FAILED
    data_ = static_cast<T*>(zeros);
  }
  LazyArray(LazyArray&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  LazyArray& operator=(LazyArray&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  LazyArray(const LazyArray&) = delete;
  LazyArray& operator=(const LazyArray&) = delete;
  ~LazyArray() {
    if (size_ < kLeastMapped) {
      std::free(data_);
    } else {
      ::munmap(data_, size_);
    }
  }

  std::size_t size() const { return size_; }
  T* data() { return data_; }
  const T* data() const { return data_; }
  T* begin() { return data_; }
  const T* begin() const { return data_; }
  T* end() { return data_ + size_; }
  const T* end() const { return data_ + size_; }

 private:
  static constexpr std::size_t kLeastMapped = std::size_t{1} << 20U;

  T* data_ = nullptr;
  std::size_t size_ = 0;
};

// One allocation. `data` and `writer` have one entry per byte.
struct Allocation {
  std::uint64_t address = 0;
  std::string label;
  bool read_only = false;  // for kernels
  bool internal = false;   // no program has its address: it isn't named as what is near to another
  LazyArray<std::uint8_t> data;
  LazyArray<Writer> writer;

  std::uint64_t End() const { return address + data.size(); }
};

// The global memory of a simulated device: allocations at 64-bit addresses with gaps between them, so that an access
// beyond one never falls into another. Knows for each byte who wrote it last. Not thread-safe; a launch uses it alone.
class DeviceMemory {
 public:
  explicit DeviceMemory(std::uint64_t limit_bytes = std::uint64_t{16} << 30U) : limit_(limit_bytes) {}

  // The address is a multiple of `alignment`, itself a multiple of 256; nothing else is in the last page of an
  // allocation. Zero bytes are an allocation too. An error if the limit would be exceeded.
  Result<std::uint64_t> Allocate(std::uint64_t bytes, std::string label,
                                 std::uint64_t alignment = kAllocationAlignment);
  // Of memory that the host has already, at its address, which is a multiple of 256. An error if it is none that host
  // memory can have, or something else is there.
  Status AllocateAt(std::uint64_t address, std::uint64_t bytes, std::string label);
  Status Free(std::uint64_t address);  // an error unless `address` is the start of an allocation

  // Host accesses. A range that isn't inside one allocation is an error that names the nearest one.
  Status Write(std::uint64_t address, std::span<const std::uint8_t> bytes);
  Status Fill(std::uint64_t address, std::uint8_t value, std::uint64_t bytes);
  Result<std::vector<std::uint8_t>> Read(std::uint64_t address, std::uint64_t bytes) const;
  Status Read(std::uint64_t address, std::span<std::uint8_t> into) const;
  // Device to device, with the writers of the bytes. The ranges may overlap.
  Status Copy(std::uint64_t to, std::uint64_t from, std::uint64_t bytes);

  // For each byte of the range: who wrote it last.
  Result<std::vector<Writer>> Writers(std::uint64_t address, std::uint64_t bytes) const;
  // Bytes of the range that `writer` wrote last.
  Result<std::uint64_t> CountWrittenBy(Writer writer, std::uint64_t address, std::uint64_t bytes) const;

  Allocation* Find(std::uint64_t address);  // that contains the address; nullptr if none
  const Allocation* Find(std::uint64_t address) const;
  void SetReadOnly(std::uint64_t address, bool read_only);
  void SetInternal(std::uint64_t address);
  // "0x10 bytes after the 256-byte allocation "x" at 0x7000000000": for messages about a wild address.
  std::string Describe(std::uint64_t address) const;

  std::uint64_t UsedBytes() const { return used_; }
  std::uint64_t LimitBytes() const { return limit_; }
  std::size_t AllocationCount() const { return allocations_.size(); }
  // Allocations that were not freed, in order of address.
  std::vector<const Allocation*> Allocations() const;

 private:
  void Add(std::uint64_t address, std::uint64_t bytes, std::string label);
  Status CheckRange(std::uint64_t address, std::uint64_t bytes, const char* what) const;

  std::uint64_t limit_;
  std::uint64_t used_ = 0;
  std::uint64_t next_address_ = 0x7000000000ULL;
  std::map<std::uint64_t, std::unique_ptr<Allocation>> allocations_;  // by address
  // The last ones that were freed, by address.
  struct Freed {
    std::uint64_t bytes = 0;
    std::string label;
  };
  std::map<std::uint64_t, Freed> freed_;
};

}  // namespace upskill::ptx
