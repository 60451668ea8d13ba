// SPDX-License-Identifier: Apache-2.0
#include "cuda/device/device_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <span>

#include "cuda/device/cuda_errors.h"
#include "cuda/device/fat_binary.h"
#include "util/text.h"

namespace upskill {
namespace {

constexpr std::size_t kMaxModules = 200;
constexpr std::size_t kMaxKernels = 10'000;
constexpr std::size_t kMaxAllocations = 100'000;

std::span<const std::uint8_t> Bytes(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

// Whether a request leaves memory unchanged. Launches count as such: RepeatedLaunches follows their changes itself.
bool KeepsMemory(std::uint32_t operation) {
  switch (operation) {
    case kUpskillFindKernel:
    case kUpskillFindSymbol:
    case kUpskillRead:
    case kUpskillLaunch:
    case kUpskillSynchronize:
    case kUpskillMakeStream:
    case kUpskillRecordEvent:
    case kUpskillWaitEvent:
    case kUpskillFindAllocation:
    case kUpskillCallFailed:
    case kUpskillErrorsRead:
    case kUpskillEarlyAccess:
      return true;
    default:
      return false;
  }
}

void AddTo(std::vector<DeviceFinding>& findings, DeviceFinding added) {
  constexpr std::size_t kMost = 100;
  const auto same = std::find_if(findings.begin(), findings.end(),
                                 [&](const DeviceFinding& each) { return SameFinding(each, added); });
  if (same != findings.end()) {
    ++same->count;
  } else if (findings.size() < kMost) {
    findings.push_back(std::move(added));
  }
}

}  // namespace

DeviceSession::DeviceSession(DeviceTask task) : task_(std::move(task)) { report_.key = task_.key; }

DeviceReply DeviceSession::Answer(const UpskillRequest& request, std::string_view bytes) {
  const std::uint64_t* const a = request.a;
  if (!KeepsMemory(request.operation)) repeated_.MemoryChanged();
  switch (request.operation) {
    case kUpskillLoadModule:
      return LoadModule(bytes);
    case kUpskillFindKernel:
      return FindKernel(a[0], bytes);
    case kUpskillFindSymbol:
      return FindSymbol(a[0], bytes);
    case kUpskillAllocate:
      return Allocate(a[0], a[1], a[2]);
    case kUpskillFree:
      return Free(a[0]);
    case kUpskillWrite:
      return Write(a[0], bytes, a[1]);
    case kUpskillRead:
      return Read(a[0], a[1], a[2]);
    case kUpskillCopy:
      return Copy(request);
    case kUpskillFill:
      return Fill(request);
    case kUpskillLaunch:
      return Launch(request, bytes);
    case kUpskillFindAllocation:
      return FindAllocation(a[0]);
    case kUpskillNextTrial:
      return NextTrial();
    case kUpskillEndTrial:
      return EndTrial();
    case kUpskillCallFailed:
      return CallFailed(a[0], bytes);
    case kUpskillEarlyAccess:
      return EarlyAccess(a[0], bytes);
    case kUpskillErrorsRead:
      unread_.clear();
      return {};
    default:
      return Streams(request);
  }
}

DeviceReply DeviceSession::OutOfMemory() {
  if (report_.limit.empty()) report_.limit = "not enough memory for the check: give the program a smaller problem";
  DeviceReply reply;
  reply.error = kCudaOutOfMemory;
  return reply;
}

DeviceReport DeviceSession::Finish() {
  log_.MoveTo(report_);
  report_.streams = streams_.made();
  report_.findings.insert(report_.findings.end(), host_findings_.begin(), host_findings_.end());
  report_.findings.insert(report_.findings.end(), unread_.begin(), unread_.end());
  return std::move(report_);
}

DeviceReply DeviceSession::Failed(std::uint32_t error) {
  if (trial_) trial_->error = error;
  DeviceReply reply;
  reply.error = error;
  return reply;
}

bool DeviceSession::CheckRange(std::uint64_t address, std::uint64_t bytes, std::string_view call) {
  const ptx::Allocation* const found = memory_.Find(address);
  if (found != nullptr && bytes <= found->End() - address) return true;
  DeviceFinding finding;
  finding.kind = "call-error";
  finding.message = fmt::format("{} {} bytes, which aren't all in one allocation", call, bytes);
  finding.detail = fmt::format("the first byte is {}", memory_.Describe(address));
  AddTo(host_findings_, std::move(finding));
  return false;
}

void DeviceSession::NoteDecision(std::string_view bytes) {
  if (!trial_) return;
  const std::uint64_t hash = std::hash<std::string_view>()(bytes);
  trial_->decisions = (trial_->decisions ^ hash) * 0x9E3779B97F4A7C15ULL + 1;
}

void DeviceSession::NoteDecision(std::initializer_list<std::uint64_t> numbers) {
  if (!trial_) return;
  for (std::uint64_t number : numbers) {
    // Addresses differ from trial to trial. Which allocations they are in doesn't.
    if (const ptx::Allocation* const allocation = memory_.Find(number); allocation != nullptr) {
      const auto known = trial_->named.try_emplace(allocation->address, trial_->named.size()).first;
      NoteDecision({reinterpret_cast<const char*>(&known->second), sizeof(known->second)});
      number -= allocation->address;
    }
    NoteDecision({reinterpret_cast<const char*>(&number), sizeof(number)});
  }
}

DeviceReply DeviceSession::LoadModule(std::string_view bytes) {
  if (modules_.size() == kMaxModules) return Failed(kCudaOutOfMemory);
  const auto refused = [&](const Error& error, std::uint32_t number) {
    if (report_.unsupported.empty()) report_.unsupported = error.message;
    return Failed(number);
  };
  const Result<std::string_view> text = NewestPtx(bytes);
  if (!text) return refused(text.error(), kCudaInvalidImage);
  Result<std::shared_ptr<const ptx::Module>> parsed = ptx::ParseModule(*text);
  if (!parsed) return refused(parsed.error(), kCudaInvalidPtx);
  Result<ptx::LoadedModule> loaded = ptx::LoadedModule::Load(std::move(*parsed), memory_);
  if (!loaded) return Failed(kCudaOutOfMemory);
  modules_.push_back(std::move(*loaded));
  DeviceReply reply;
  reply.r[0] = modules_.size() - 1;
  return reply;
}

DeviceReply DeviceSession::FindKernel(std::uint64_t module, std::string_view name) {
  if (module >= modules_.size() || kernels_.size() == kMaxKernels) return Failed(kCudaInvalidFunction);
  const ptx::Module& loaded = modules_[module].module();
  const ptx::KernelInfo* const kernel = loaded.FindKernel(name);
  if (kernel == nullptr) return Failed(kCudaInvalidFunction);
  kernels_.push_back({module, kernel->name});
  DeviceReply reply;
  reply.r[0] = kernels_.size() - 1;
  reply.r[1] = kernel->static_shared_bytes;
  reply.r[2] = kernel->max_threads;
  for (const ptx::Variable& variable : loaded.Variables()) {
    if (variable.space == ptx::Space::kConst) reply.r[3] += variable.bytes;
  }
  for (const ptx::Parameter& parameter : kernel->parameters) {
    const auto size = static_cast<std::uint32_t>(parameter.bytes);
    reply.bytes.append(reinterpret_cast<const char*>(&size), sizeof(size));
  }
  return reply;
}

DeviceReply DeviceSession::FindSymbol(std::uint64_t module, std::string_view name) {
  if (module >= modules_.size()) return Failed(kCudaInvalidSymbol);
  const ptx::LoadedModule& loaded = modules_[module];
  const ptx::Variable* const variable = loaded.module().FindVariable(name);
  DeviceReply reply;
  reply.r[0] = loaded.AddressOf(name);
  if (variable == nullptr || reply.r[0] == 0) return Failed(kCudaInvalidSymbol);
  reply.r[1] = variable->bytes;
  if (variable->managed) managed_.insert(reply.r[0]);
  return reply;
}

Result<std::uint64_t> DeviceSession::FindRoom(std::uint64_t bytes, bool managed, std::uint64_t at) {
  if (at != 0) {
    RETURN_IF_ERROR(memory_.AllocateAt(at, bytes, "registered memory"));
    return at;
  }
  // Managed memory is at the beginning of a page, so that the program can have memory at the same address.
  return managed ? memory_.Allocate(bytes, "managed memory", ptx::kPageBytes) : memory_.Allocate(bytes, "cudaMalloc");
}

DeviceReply DeviceSession::Allocate(std::uint64_t bytes, std::uint64_t kind, std::uint64_t at) {
  if (memory_.AllocationCount() >= kMaxAllocations) return Failed(kCudaOutOfMemory);
  const bool managed = kind == kUpskillManagedMemory;
  if (bytes > memory_.LimitBytes()) return Failed(kCudaOutOfMemory);
  const Result<std::uint64_t> address = FindRoom(bytes, managed, at);
  if (!address) return Failed(kCudaOutOfMemory);
  if (managed) {
    (void)memory_.Fill(*address, 0, bytes);
    managed_.insert(*address);
  }
  DeviceReply reply;
  reply.r[0] = *address;
  return reply;
}

DeviceReply DeviceSession::Free(std::uint64_t address) {
  if (!memory_.Free(address)) {
    DeviceFinding finding;
    finding.kind = "call-error";
    const std::string place = memory_.Describe(address);
    const bool twice = place.ends_with("which was freed");
    finding.message = twice                              ? "Memory is freed twice"
                      : memory_.Find(address) != nullptr ? "Memory is freed by an address that isn't its start"
                                                         : "An address that CUDA didn't allocate is freed";
    if (twice || memory_.Find(address) != nullptr) finding.detail = place;
    AddTo(host_findings_, std::move(finding));
    return Failed(kCudaInvalidValue);
  }
  managed_.erase(address);
  return {};
}

DeviceReply DeviceSession::Write(std::uint64_t address, std::string_view bytes, std::uint64_t stream) {
  if (!CheckRange(address, bytes.size(), "A copy to the device writes")) return Failed(kCudaInvalidValue);
  streams_.Work(stream);
  NoteDecision({address, bytes.size()});
  NoteDecision(bytes);
  return memory_.Write(address, Bytes(bytes)) ? DeviceReply() : Failed(kCudaInvalidValue);
}

DeviceReply DeviceSession::Read(std::uint64_t address, std::uint64_t bytes, std::uint64_t stream) {
  if (!CheckRange(address, bytes, "A copy from the device reads")) return Failed(kCudaInvalidValue);
  const ptx::Allocation* const found = memory_.Find(address);
  streams_.Work(stream);
  // What the program itself has written there, it knows.
  const auto begins = found->writer.begin() + static_cast<std::ptrdiff_t>(address - found->address);
  const auto known = std::count(begins, begins + static_cast<std::ptrdiff_t>(bytes), ptx::Writer::kHost);
  if (trial_) trial_->bytes_to_host += bytes - static_cast<std::uint64_t>(known);
  DeviceReply reply;
  const auto* const begin = reinterpret_cast<const char*>(found->data.data()) + (address - found->address);
  reply.bytes.assign(begin, bytes);
  return reply;
}

DeviceReply DeviceSession::Copy(const UpskillRequest& request) {
  const auto [to, from, bytes] = std::array{request.a[0], request.a[1], request.a[2]};
  if (!CheckRange(from, bytes, "A copy reads") || !CheckRange(to, bytes, "A copy writes"))
    return Failed(kCudaInvalidValue);
  streams_.Work(request.a[3]);
  NoteDecision({to, from, bytes});
  return memory_.Copy(to, from, bytes) ? DeviceReply() : Failed(kCudaInvalidValue);
}

// The device does this by itself, so its bytes count as written by it.
DeviceReply DeviceSession::Fill(const UpskillRequest& request) {
  const std::uint64_t address = request.a[0];
  const std::uint64_t bytes = request.a[1];
  if (!CheckRange(address, bytes, "A fill (cudaMemset) writes")) return Failed(kCudaInvalidValue);
  ptx::Allocation* const found = memory_.Find(address);
  streams_.Work(request.a[4]);
  NoteDecision({address, bytes, request.a[2]});
  const auto begin = static_cast<std::ptrdiff_t>(address - found->address);
  const auto size = static_cast<std::ptrdiff_t>(bytes);
  std::fill_n(found->data.begin() + begin, size, static_cast<std::uint8_t>(request.a[2]));
  std::fill_n(found->writer.begin() + begin, size, ptx::Writer::kDevice);
  return {};
}

// A finding unless the program looks at the error later: a launch with <<<>>> returns none, and a program may ignore
// the one that a call returns.
DeviceReply DeviceSession::CallFailed(std::uint64_t kernel, std::string_view text) {
  const bool launch = kernel != kUpskillNoKernel;
  if (launch && kernel >= kernels_.size()) return Failed(kCudaInvalidFunction);
  if (!report_.limit.empty()) return {};  // which says why
  DeviceFinding finding;
  finding.kind = launch ? "launch-error" : "call-error";
  finding.message = fmt::format("{}, and the program never looks at the error", ExcerptLine(text, 400));
  if (launch) finding.kernel = kernels_[kernel].name;
  AddTo(unread_, std::move(finding));
  return {};
}

// A finding only if a kernel has changed the page: what else is in managed memory may be used meanwhile.
DeviceReply DeviceSession::EarlyAccess(std::uint64_t address, std::string_view known) {
  const Result<std::vector<std::uint8_t>> now = memory_.Read(address, known.size());
  if (!now) return Failed(kCudaInvalidValue);
  if (std::equal(now->begin(), now->end(), Bytes(known).begin())) return {};
  DeviceFinding finding;
  finding.kind = "missing-wait";
  finding.message = "A kernel wrote this managed memory, and the host uses it before it waits for the kernel";
  finding.detail = "it sees old values here; call cudaDeviceSynchronize or wait for the stream first";
  finding.kernel = last_kernel_;
  AddTo(host_findings_, std::move(finding));
  return {};
}

DeviceReply DeviceSession::FindAllocation(std::uint64_t address) const {
  DeviceReply reply;
  const ptx::Allocation* const found = memory_.Find(address);
  if (found == nullptr) {
    reply.error = kCudaInvalidValue;
    return reply;
  }
  reply.r[0] = found->address;
  reply.r[1] = found->data.size();
  reply.r[2] = managed_.contains(found->address) ? kUpskillManagedMemory : kUpskillDeviceMemory;
  return reply;
}

DeviceReply DeviceSession::Streams(const UpskillRequest& request) {
  DeviceReply reply;
  switch (request.operation) {
    case kUpskillSynchronize:
      if (request.a[2] != 0) {
        const bool done =
            request.a[0] == kUpskillOneEvent ? streams_.AskEvent(request.a[1]) : streams_.AskStream(request.a[1]);
        reply.r[0] = done ? 0 : 1;
        return reply;
      }
      if (request.a[0] == kUpskillWholeDevice) streams_.SynchronizeDevice();
      if (request.a[0] == kUpskillOneStream) streams_.SynchronizeStream(request.a[1]);
      if (request.a[0] == kUpskillOneEvent) streams_.SynchronizeEvent(request.a[1]);
      return reply;
    case kUpskillMakeStream:
      reply.r[0] = streams_.Make(request.a[0] != 0);
      return reply;
    case kUpskillRecordEvent:
      streams_.Record(request.a[0], request.a[1]);
      reply.r[0] = TimeForProgram();
      return reply;
    case kUpskillWaitEvent:
      streams_.WaitForEvent(request.a[0], request.a[1]);
      return reply;
    default:
      return Failed(kCudaNotSupported);
  }
}

}  // namespace upskill
