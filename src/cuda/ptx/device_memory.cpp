// SPDX-License-Identifier: Apache-2.0
#include "cuda/ptx/device_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace upskill::ptx {
namespace {

constexpr std::uint64_t kGapBytes = kPageBytes;  // between allocations
constexpr std::size_t kMostFreed = 1000;

// Above the windows of shared and local memory, below the addresses of functions.
constexpr std::uint64_t kLeastHostAddress = 0x30000000000ULL;
constexpr std::uint64_t kMostHostAddress = 0x800000000000ULL;

}  // namespace

Result<std::uint64_t> DeviceMemory::Allocate(std::uint64_t bytes, std::string label, std::uint64_t alignment) {
  if (bytes > limit_ || used_ > limit_ - bytes) {
    return InputError(fmt::format("out of device memory: {} bytes requested, {} of {} in use", bytes, used_, limit_));
  }
  const std::uint64_t address = (next_address_ + alignment - 1) / alignment * alignment;
  next_address_ =
      address + (bytes + kAllocationAlignment - 1) / kAllocationAlignment * kAllocationAlignment + kGapBytes;
  Add(address, bytes, std::move(label));
  return address;
}

Status DeviceMemory::AllocateAt(std::uint64_t address, std::uint64_t bytes, std::string label) {
  if (bytes > limit_ || used_ > limit_ - bytes)
    return InputError(fmt::format("out of device memory: {} bytes requested, {} of {} in use", bytes, used_, limit_));
  if (address % kAllocationAlignment != 0 || address < kLeastHostAddress || address >= kMostHostAddress - bytes)
    return InputError(fmt::format("{:#x} isn't an address of host memory", address));
  const auto after = allocations_.upper_bound(address);
  if ((after != allocations_.end() && after->first < address + bytes) || Find(address) != nullptr)
    return InputError(fmt::format("{:#x} is in use: {}", address, Describe(address)));
  Add(address, bytes, std::move(label));
  return {};
}

void DeviceMemory::Add(std::uint64_t address, std::uint64_t bytes, std::string label) {
  auto allocation = std::make_unique<Allocation>();
  allocation->address = address;
  allocation->label = std::move(label);
  allocation->data = LazyArray<std::uint8_t>(bytes);
  allocation->writer = LazyArray<Writer>(bytes);  // Writer::kNobody
  used_ += bytes;
  allocations_[address] = std::move(allocation);
  freed_.erase(address);
}

Status DeviceMemory::Free(std::uint64_t address) {
  const auto found = allocations_.find(address);
  if (found == allocations_.end()) {
    return InputError(fmt::format("{:#x} isn't the start of an allocation: {}", address, Describe(address)));
  }
  used_ -= found->second->data.size();
  if (!found->second->internal) {
    if (freed_.size() == kMostFreed) freed_.erase(freed_.begin());
    freed_[address] = {found->second->data.size(), found->second->label};
  }
  allocations_.erase(found);
  return {};
}

const Allocation* DeviceMemory::Find(std::uint64_t address) const {
  const auto after = allocations_.upper_bound(address);
  if (after == allocations_.begin()) return nullptr;
  const Allocation* allocation = std::prev(after)->second.get();
  return address < allocation->End() ? allocation : nullptr;
}

Allocation* DeviceMemory::Find(std::uint64_t address) {
  return const_cast<Allocation*>(std::as_const(*this).Find(address));  // NOLINT: the object isn't const
}

void DeviceMemory::SetReadOnly(std::uint64_t address, bool read_only) {
  if (Allocation* allocation = Find(address)) allocation->read_only = read_only;
}

void DeviceMemory::SetInternal(std::uint64_t address) {
  if (Allocation* allocation = Find(address)) allocation->internal = true;
}

std::string DeviceMemory::Describe(std::uint64_t address) const {
  const auto quoted = [](const std::string& label) {
    return label.empty() ? std::string() : fmt::format(" \"{}\"", label);
  };
  const auto text = [&](const Allocation& allocation) {
    return fmt::format("the {}-byte allocation{} at {:#x}", allocation.data.size(), quoted(allocation.label),
                       allocation.address);
  };
  if (const auto next = freed_.upper_bound(address); next != freed_.begin() && Find(address) == nullptr) {
    const auto& [start, freed] = *std::prev(next);
    if (address - start < std::max<std::uint64_t>(freed.bytes, 1)) {
      return fmt::format("{} bytes inside the {}-byte allocation{} at {:#x}, which was freed", address - start,
                         freed.bytes, quoted(freed.label), start);
    }
  }
  auto after = allocations_.upper_bound(address);
  const Allocation* before = nullptr;
  for (auto at = after; at != allocations_.begin() && before == nullptr;) {
    --at;
    if (!at->second->internal) before = at->second.get();
  }
  while (after != allocations_.end() && after->second->internal) ++after;
  if (before != nullptr && address < before->End()) {
    return fmt::format("{} bytes inside {}", address - before->address, text(*before));
  }
  const bool has_after = after != allocations_.end();
  if (before != nullptr && (!has_after || address - before->End() <= after->second->address - address)) {
    return fmt::format("{} bytes after {}", address - before->End(), text(*before));
  }
  if (has_after) return fmt::format("{} bytes before {}", after->second->address - address, text(*after->second));
  return "there are no allocations";
}

Status DeviceMemory::CheckRange(std::uint64_t address, std::uint64_t bytes, const char* what) const {
  if (bytes == 0) return {};
  const Allocation* allocation = Find(address);
  if (allocation != nullptr && bytes <= allocation->End() - address) return {};
  return InputError(fmt::format("invalid {} of {} bytes at {:#x}: {}", what, bytes, address, Describe(address)));
}

Status DeviceMemory::Write(std::uint64_t address, std::span<const std::uint8_t> bytes) {
  RETURN_IF_ERROR(CheckRange(address, bytes.size(), "write"));
  if (bytes.empty()) return {};
  Allocation& allocation = *Find(address);
  const auto at = static_cast<std::ptrdiff_t>(address - allocation.address);
  std::copy(bytes.begin(), bytes.end(), allocation.data.begin() + at);
  std::fill_n(allocation.writer.begin() + at, bytes.size(), Writer::kHost);
  return {};
}

Status DeviceMemory::Fill(std::uint64_t address, std::uint8_t value, std::uint64_t bytes) {
  RETURN_IF_ERROR(CheckRange(address, bytes, "write"));
  if (bytes == 0) return {};
  Allocation& allocation = *Find(address);
  const auto at = static_cast<std::ptrdiff_t>(address - allocation.address);
  std::fill_n(allocation.data.begin() + at, bytes, value);
  std::fill_n(allocation.writer.begin() + at, bytes, Writer::kHost);
  return {};
}

Status DeviceMemory::Read(std::uint64_t address, std::span<std::uint8_t> into) const {
  RETURN_IF_ERROR(CheckRange(address, into.size(), "read"));
  if (into.empty()) return {};
  const Allocation& allocation = *Find(address);
  std::memcpy(into.data(), allocation.data.data() + (address - allocation.address), into.size());
  return {};
}

Result<std::vector<std::uint8_t>> DeviceMemory::Read(std::uint64_t address, std::uint64_t bytes) const {
  RETURN_IF_ERROR(CheckRange(address, bytes, "read"));
  std::vector<std::uint8_t> data(bytes);
  RETURN_IF_ERROR(Read(address, std::span<std::uint8_t>(data)));
  return data;
}

Status DeviceMemory::Copy(std::uint64_t to, std::uint64_t from, std::uint64_t bytes) {
  RETURN_IF_ERROR(CheckRange(from, bytes, "read"));
  RETURN_IF_ERROR(CheckRange(to, bytes, "write"));
  if (bytes == 0) return {};
  const Allocation& source = *Find(from);
  Allocation& target = *Find(to);
  std::memmove(target.data.data() + (to - target.address), source.data.data() + (from - source.address), bytes);
  std::memmove(target.writer.data() + (to - target.address), source.writer.data() + (from - source.address), bytes);
  return {};
}

Result<std::vector<Writer>> DeviceMemory::Writers(std::uint64_t address, std::uint64_t bytes) const {
  RETURN_IF_ERROR(CheckRange(address, bytes, "read"));
  if (bytes == 0) return std::vector<Writer>{};
  const Allocation& allocation = *Find(address);
  const auto first = allocation.writer.begin() + static_cast<std::ptrdiff_t>(address - allocation.address);
  return std::vector<Writer>(first, first + static_cast<std::ptrdiff_t>(bytes));
}

Result<std::uint64_t> DeviceMemory::CountWrittenBy(Writer writer, std::uint64_t address, std::uint64_t bytes) const {
  ASSIGN_OR_RETURN(const std::vector<Writer> writers, Writers(address, bytes));
  return static_cast<std::uint64_t>(std::count(writers.begin(), writers.end(), writer));
}

std::vector<const Allocation*> DeviceMemory::Allocations() const {
  std::vector<const Allocation*> all;
  all.reserve(allocations_.size());
  for (const auto& [address, allocation] : allocations_) all.push_back(allocation.get());
  return all;
}

}  // namespace upskill::ptx
