// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "util/result.h"

namespace upskill::ptx {

// Who wrote a byte last; kGiven: it was there from the beginning, or the runtime has copied it from such a byte.
enum class Writer : std::uint8_t { kNobody = 0, kHost = 1, kDevice = 2, kGiven = 5 };

constexpr std::uint64_t kAllocationAlignment = 256;
constexpr std::uint64_t kPageBytes = 4096;  // of memory that the host has at the same address

// One allocation. `data` and `writer` have one entry per byte.
struct Allocation {
  std::uint64_t address = 0;
  std::string label;
  bool read_only = false;  // for kernels
  bool internal = false;   // no program has its address: it isn't named as what is near to another
  std::vector<std::uint8_t> data;
  std::vector<Writer> writer;

  std::uint64_t End() const { return address + data.size(); }
};

// The global memory of a simulated device: allocations at 64-bit addresses with gaps between them, so that an access
// beyond one never falls into another. Knows for each byte who wrote it last. Not thread-safe; a launch uses it alone.
class DeviceMemory {
 public:
  explicit DeviceMemory(std::uint64_t limit_bytes = std::uint64_t{2} << 30U) : limit_(limit_bytes) {}

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
