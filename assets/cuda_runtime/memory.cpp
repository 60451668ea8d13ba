// SPDX-License-Identifier: Apache-2.0
// Memory of the device, and memory that host and device use both.
#include <sys/mman.h>

#include "runtime.h"

using namespace upskill_runtime;

namespace upskill_runtime {
namespace {

// Pages that the host can't use before something has been done about it.
enum : char { kUsable, kToFetch, kTooEarly };

// Memory that the host and the device have at the same address: `known` is what both had last. `stale` has an entry for
// each page; it is null for memory that isn't mapped here, but the program's own. `pinned` memory is used by copies, too,
// so that a use of it isn't watched.
struct Managed {
  char* memory;
  char* known;
  char* stale;
  size_t bytes;
  Managed* next;
  bool pinned;
};
Managed* managed = nullptr;
bool fetch_when_read = false;
bool launched = false;  // a kernel, since all of it was fetched

// Of the list and of what it knows. A fault of the thread that holds it may come for it again.
pthread_mutex_t managed_lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
struct Lock {
  Lock() { pthread_mutex_lock(&managed_lock); }
  ~Lock() { pthread_mutex_unlock(&managed_lock); }
};

// The last ranges of managed memory that were freed.
struct Range {
  const char* begin;
  const char* end;
};
constexpr unsigned kMostFreed = 64;
Range freed[kMostFreed];
unsigned freed_count = 0;

constexpr size_t kBlock = 4096;
constexpr uint64_t kDeviceAlignment = 256;

bool AddManaged(void* memory, size_t bytes, bool mapped, bool pinned) {
  const Lock lock;
  Managed* const added = static_cast<Managed*>(malloc(sizeof(Managed)));
  if (added == nullptr) return false;
  *added = {static_cast<char*>(memory), static_cast<char*>(calloc(1, bytes)),
            mapped ? static_cast<char*>(calloc(1, (bytes + kBlock - 1) / kBlock)) : nullptr, bytes, managed, pinned};
  if (added->known == nullptr || (mapped && added->stale == nullptr)) return false;
  managed = added;
  return true;
}

}  // namespace

void* MapManaged(uint64_t address, size_t bytes, bool pinned) {
  const size_t whole = (bytes + kBlock - 1) / kBlock * kBlock;
  void* const wanted = reinterpret_cast<void*>(address);
  void* const mapped =
      mmap(wanted, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  return mapped == wanted && AddManaged(mapped, bytes, true, pinned) ? mapped : nullptr;
}

bool UnmapManaged(void* memory, bool registered) {
  const Lock lock;
  for (Managed** at = &managed; *at != nullptr; at = &(*at)->next) {
    Managed* const found = *at;
    if (found->memory != memory || (found->stale == nullptr) != registered) continue;
    *at = found->next;
    if (!registered) freed[freed_count++ % kMostFreed] = {found->memory, found->memory + found->bytes};
    if (!registered) munmap(found->memory, (found->bytes + kBlock - 1) / kBlock * kBlock);
    free(found->known);
    free(found->stale);
    free(found);
    return true;
  }
  return false;
}

bool WasFreed(const void* address) {
  const char* const at = static_cast<const char*>(address);
  for (const Range& range : freed) {
    if (at >= range.begin && at < range.end) return true;
  }
  return false;
}

// Only what the host has changed: a kernel may have written what is between, which stays.
void SendManaged() {
  const Lock lock;
  for (Managed* each = managed; each != nullptr; each = each->next) {
    for (size_t at = 0; at < each->bytes; at += kBlock) {
      if (each->stale != nullptr && each->stale[at / kBlock] != kUsable) continue;
      const char* const memory = each->memory + at;
      char* const known = each->known + at;
      size_t first = 0;
      size_t last = each->bytes - at < kBlock ? each->bytes - at : kBlock;
      if (memcmp(memory, known, last) == 0) continue;
      while (memory[first] == known[first]) ++first;
      while (memory[last - 1] == known[last - 1]) --last;
      const uint64_t address = reinterpret_cast<uint64_t>(memory) + first;
      char sent[kBlock];
      memcpy(sent, memory + first, last - first);
      if (launched) Ask(Request(kUpskillRead, address, last - first), nullptr, sent, last - first);
      for (size_t i = first; i < last; ++i) {
        if (memory[i] != known[i]) sent[i - first] = known[i] = memory[i];
      }
      UpskillRequest request = Request(kUpskillWrite, address);
      request.bytes = last - first;
      Ask(request, sent, nullptr, 0);
    }
  }
}

void WatchManaged() {
  const Lock lock;
  launched = true;
  for (Managed* each = managed; each != nullptr; each = each->next) {
    if (each->stale == nullptr || each->pinned) continue;
    const size_t pages = (each->bytes + kBlock - 1) / kBlock;
    for (size_t page = 0; page < pages; ++page) {
      if (each->stale[page] == kUsable) each->stale[page] = kTooEarly;
    }
    mprotect(each->memory, pages * kBlock, PROT_NONE);
  }
}

void FetchManagedWhenRead() { fetch_when_read = true; }

bool FetchManagedPage(const void* address) {
  const Lock lock;
  for (Managed* each = managed; each != nullptr; each = each->next) {
    const char* const wanted = static_cast<const char*>(address);
    if (each->stale == nullptr || wanted < each->memory || wanted >= each->memory + each->bytes) continue;
    const size_t at = static_cast<size_t>(wanted - each->memory) / kBlock * kBlock;
    if (each->stale[at / kBlock] == kUsable) return false;
    const size_t size = each->bytes - at < kBlock ? each->bytes - at : kBlock;
    const bool early = each->stale[at / kBlock] == kTooEarly;
    each->stale[at / kBlock] = kUsable;
    mprotect(each->memory + at, kBlock, PROT_READ | PROT_WRITE);
    if (early) {
      UpskillRequest request = Request(kUpskillEarlyAccess, reinterpret_cast<uint64_t>(each->memory) + at);
      request.bytes = size;
      Ask(request, each->known + at, nullptr, 0);
      return true;
    }
    Ask(Request(kUpskillRead, reinterpret_cast<uint64_t>(each->memory) + at, size), nullptr, each->known + at, size);
    memcpy(each->memory + at, each->known + at, size);
    return true;
  }
  return false;
}

namespace {

// Only what the device has changed: other threads of the host may be writing, and it may have registered what it can't
// write.
void TakeChanges(const Managed& from) {
  static char now[size_t{1} << 18];
  for (size_t at = 0; at < from.bytes; at += sizeof(now)) {
    const size_t size = from.bytes - at < sizeof(now) ? from.bytes - at : sizeof(now);
    char* const memory = from.memory + at;
    char* const known = from.known + at;
    Ask(Request(kUpskillRead, reinterpret_cast<uint64_t>(memory), size), nullptr, now, size);
    if (memcmp(now, known, size) == 0) continue;
    for (size_t i = 0; i < size; ++i) {
      if (now[i] != known[i]) memory[i] = known[i] = now[i];
    }
  }
}

}  // namespace

void FetchManaged(const void* only) {
  const Lock lock;
  if (only == nullptr) launched = false;
  for (Managed* each = managed; each != nullptr; each = each->next) {
    if (only != nullptr && each->memory != only) continue;
    if (fetch_when_read && each->stale != nullptr) {
      const size_t pages = (each->bytes + kBlock - 1) / kBlock;
      memset(each->stale, kToFetch, pages);
      mprotect(each->memory, pages * kBlock, PROT_NONE);
      continue;
    }
    if (each->stale != nullptr) {
      memset(each->stale, kUsable, (each->bytes + kBlock - 1) / kBlock);
      mprotect(each->memory, (each->bytes + kBlock - 1) / kBlock * kBlock, PROT_READ | PROT_WRITE);
    }
    TakeChanges(*each);
  }
}

namespace {

// `on_stream`: the allocation is work of a stream, which is allowed during a capture.
cudaError_t Allocate(void** memory, size_t bytes, uint64_t kind, bool on_stream = false, bool pinned = false) {
  if (memory == nullptr) return Note(cudaErrorInvalidValue);
  *memory = nullptr;
  if (Failed() != cudaSuccess) return Note(Failed());
  const cudaError_t refused = on_stream ? cudaSuccess : CheckCallWithoutStream(true);
  if (refused != cudaSuccess || bytes == 0) return refused;
  const UpskillReply reply = Ask(Request(kUpskillAllocate, bytes, kind), nullptr, nullptr, 0);
  if (reply.error != 0) return Note(static_cast<cudaError_t>(reply.error));
  if (kind == kUpskillManagedMemory) {
    *memory = MapManaged(reply.r[0], bytes, pinned);
    return *memory == nullptr ? Note(cudaErrorMemoryAllocation) : cudaSuccess;
  }
  *memory = reinterpret_cast<void*>(reply.r[0]);
  return cudaSuccess;
}

cudaError_t AllocatePinned(void** memory, size_t bytes) {
  return Allocate(memory, bytes, kUpskillManagedMemory, false, true);
}

// Memory of the host that the device is to have at the same address. The device's begins where its allocations may.
uint64_t StartOfRegistered(const void* memory) {
  return reinterpret_cast<uint64_t>(memory) / kDeviceAlignment * kDeviceAlignment;
}

cudaError_t Register(void* memory, size_t bytes) {
  if (memory == nullptr || bytes == 0) return Note(cudaErrorInvalidValue);
  if (Failed() != cudaSuccess) return Note(Failed());
  const uint64_t start = StartOfRegistered(memory);
  const uint64_t whole = reinterpret_cast<uint64_t>(memory) - start + bytes;
  const UpskillReply found = Ask(Request(kUpskillFindAllocation, start), nullptr, nullptr, 0);
  if (found.error == 0) return Note(cudaErrorHostMemoryAlreadyRegistered);
  const UpskillReply reply = Ask(Request(kUpskillAllocate, whole, kUpskillManagedMemory, start), nullptr, nullptr, 0);
  if (reply.error != 0) return Note(static_cast<cudaError_t>(reply.error));
  if (AddManaged(memory, bytes, false, false)) return cudaSuccess;
  Ask(Request(kUpskillFree, start), nullptr, nullptr, 0);
  return Note(cudaErrorMemoryAllocation);
}

cudaError_t Unregister(void* memory) {
  SendManaged();
  FetchManaged();
  if (!UnmapManaged(memory, true)) return Note(cudaErrorHostMemoryNotRegistered);
  return AskFor(Request(kUpskillFree, StartOfRegistered(memory)));
}

struct Place {
  bool on_device;
  bool managed;
};

// Before registered memory, where the device's has begun already.
bool IsBeforeRegistered(const void* memory) {
  const Lock lock;
  for (const Managed* each = managed; each != nullptr; each = each->next) {
    if (each->stale == nullptr && memory < each->memory &&
        reinterpret_cast<uint64_t>(memory) >= StartOfRegistered(each->memory))
      return true;
  }
  return false;
}

Place PlaceOf(const void* memory) {
  if (IsBeforeRegistered(memory)) return {false, false};
  const UpskillReply reply =
      Ask(Request(kUpskillFindAllocation, reinterpret_cast<uint64_t>(memory)), nullptr, nullptr, 0);
  return {reply.error == 0, reply.error == 0 && reply.r[2] == kUpskillManagedMemory};
}

bool IsPinned(const void* memory) {
  const Lock lock;
  for (const Managed* each = managed; each != nullptr; each = each->next) {
    if (each->memory == memory && each->pinned) return true;
  }
  return false;
}

cudaError_t Free(void* memory, bool pinned = false) {
  if (memory == nullptr) return cudaSuccess;
  if (IsPinned(memory) != pinned && PlaceOf(memory).on_device) {
    return NoteUnread(kUpskillNoKernel, pinned ? "cudaFreeHost of the device's memory" : "cudaFree of pinned memory",
                      cudaErrorInvalidValue);
  }
  UnmapManaged(memory, false);
  return AskFor(Request(kUpskillFree, reinterpret_cast<uint64_t>(memory)));
}

// What is wrong with the pointers of a copy of this kind, or nullptr.
const char* ProblemOfKind(const Place& target, const Place& source, cudaMemcpyKind kind) {
  const bool to_host = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyHostToHost;
  const bool from_host = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyHostToHost;
  if (kind == cudaMemcpyDefault) return nullptr;
  if ((!to_host && !target.on_device) || (!from_host && !source.on_device))
    return "A copy whose kind says device memory, but whose pointer is to the host's,";
  if ((to_host && target.on_device && !target.managed) || (from_host && source.on_device && !source.managed))
    return "A copy whose kind says host memory, but whose pointer is to the device's,";
  return nullptr;
}

}  // namespace

cudaError_t Transfer(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream, bool wait) {
  if (const cudaError_t error = CheckUse(stream)) return error;
  if (bytes == 0) return cudaSuccess;
  const Place target = PlaceOf(to);
  const Place source = PlaceOf(from);
  if (const char* const wrong = ProblemOfKind(target, source, kind))
    return NoteUnread(kUpskillNoKernel, wrong, cudaErrorInvalidValue);
  if (Capturing(stream)) {
    return Capture(stream,
                   Request(kUpskillCopy, reinterpret_cast<uint64_t>(to), reinterpret_cast<uint64_t>(from), bytes,
                           static_cast<uint64_t>(kind)),
                   nullptr);
  }
  const uint64_t number = StreamNumber(stream);
  const uint64_t to_address = reinterpret_cast<uint64_t>(to);
  const uint64_t from_address = reinterpret_cast<uint64_t>(from);
  SendManaged();
  cudaError_t error = cudaSuccess;
  if (target.on_device && source.on_device) {
    error = AskFor(Request(kUpskillCopy, to_address, from_address, bytes, number));
  } else if (target.on_device) {
    for (uint64_t at = 0; at < bytes && error == cudaSuccess; at += kUpskillMaxMessage) {
      UpskillRequest request = Request(kUpskillWrite, to_address + at, number);
      request.bytes = bytes - at < kUpskillMaxMessage ? bytes - at : kUpskillMaxMessage;
      error = static_cast<cudaError_t>(Ask(request, static_cast<const char*>(from) + at, nullptr, 0).error);
    }
  } else if (source.on_device) {
    for (uint64_t at = 0; at < bytes && error == cudaSuccess; at += kUpskillMaxMessage) {
      const uint64_t size = bytes - at < kUpskillMaxMessage ? bytes - at : kUpskillMaxMessage;
      const UpskillRequest request = Request(kUpskillRead, from_address + at, size, number);
      error = static_cast<cudaError_t>(Ask(request, nullptr, static_cast<char*>(to) + at, size).error);
    }
  } else {
    memmove(to, from, bytes);
  }
  if (error == cudaSuccess && wait) error = AskFor(Request(kUpskillSynchronize, kUpskillOneStream, number));
  if (wait || target.managed) FetchManaged();
  return Note(error);
}

namespace {

cudaError_t TransferRows(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height,
                         cudaMemcpyKind kind, cudaStream_t stream, bool wait) {
  if (width > to_pitch || width > from_pitch) return Note(cudaErrorInvalidPitchValue);
  for (size_t row = 0; row < height; ++row) {
    const cudaError_t error = Transfer(static_cast<char*>(to) + row * to_pitch,
                                       static_cast<const char*>(from) + row * from_pitch, width, kind, stream, wait);
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}

cudaError_t Fill(void* memory, uint64_t value, uint64_t width, size_t bytes, cudaStream_t stream) {
  if (const cudaError_t refused = CheckUse(stream)) return refused;
  if (bytes == 0) return cudaSuccess;
  const UpskillRequest request =
      Request(kUpskillFill, reinterpret_cast<uint64_t>(memory), bytes, value, width, StreamNumber(stream));
  if (Capturing(stream)) return Capture(stream, request, nullptr);
  SendManaged();
  const cudaError_t error = AskFor(request);
  if (PlaceOf(memory).managed) FetchManaged();
  return error;
}

cudaError_t TransferSymbol(const void* symbol, void* host, size_t bytes, size_t offset, cudaMemcpyKind kind,
                           cudaStream_t stream, bool to_symbol, bool wait) {
  uint64_t address = 0;
  size_t size = 0;
  const cudaError_t error = FindSymbol(symbol, &address, &size);
  if (error != cudaSuccess) return Note(error);
  if (offset > size || bytes > size - offset)
    return NoteUnread(kUpskillNoKernel, "A copy beyond the end of a variable", cudaErrorInvalidValue);
  void* const device = reinterpret_cast<void*>(address + offset);
  return to_symbol ? Transfer(device, host, bytes, kind, stream, wait)
                   : Transfer(host, device, bytes, kind, stream, wait);
}

}  // namespace
}  // namespace upskill_runtime

extern "C" {

cudaError_t cudaMalloc(void** memory, size_t bytes) { return Allocate(memory, bytes, kUpskillDeviceMemory); }
cudaError_t cudaMallocAsync(void** memory, size_t bytes, cudaStream_t) {
  return Allocate(memory, bytes, kUpskillDeviceMemory, true);
}
cudaError_t cudaMallocManaged(void** memory, size_t bytes, unsigned) {
  return Allocate(memory, bytes, kUpskillManagedMemory);
}
cudaError_t cudaMallocHost(void** memory, size_t bytes) { return AllocatePinned(memory, bytes); }
cudaError_t cudaHostAlloc(void** memory, size_t bytes, unsigned) { return AllocatePinned(memory, bytes); }
cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned) {
  if (!PlaceOf(host).managed) return Note(cudaErrorInvalidValue);
  *device = host;
  return cudaSuccess;
}
cudaError_t cudaHostRegister(void* memory, size_t bytes, unsigned) { return Register(memory, bytes); }
cudaError_t cudaHostUnregister(void* memory) { return Unregister(memory); }
cudaError_t cudaMallocPitch(void** memory, size_t* pitch, size_t width, size_t height) {
  *pitch = (width + 511) / 512 * 512;
  return Allocate(memory, *pitch * height, kUpskillDeviceMemory);
}
cudaError_t cudaFree(void* memory) { return Free(memory); }
cudaError_t cudaFreeHost(void* memory) { return Free(memory, true); }
// Not done in a captured stream: later launches of the graph may still use the memory.
cudaError_t cudaFreeAsync(void* memory, cudaStream_t stream) { return Capturing(stream) ? cudaSuccess : Free(memory); }

cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  return Transfer(to, from, bytes, kind, nullptr, true);
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  return Transfer(to, from, bytes, kind, stream, false);
}
cudaError_t cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height,
                         cudaMemcpyKind kind) {
  return TransferRows(to, to_pitch, from, from_pitch, width, height, kind, nullptr, true);
}
cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                              size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
  return TransferRows(to, to_pitch, from, from_pitch, width, height, kind, stream, false);
}
cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* from, size_t bytes, size_t offset, cudaMemcpyKind kind) {
  return TransferSymbol(symbol, const_cast<void*>(from), bytes, offset, kind, nullptr, true, true);
}
cudaError_t cudaMemcpyToSymbolAsync(const void* symbol, const void* from, size_t bytes, size_t offset,
                                    cudaMemcpyKind kind, cudaStream_t stream) {
  return TransferSymbol(symbol, const_cast<void*>(from), bytes, offset, kind, stream, true, false);
}
cudaError_t cudaMemcpyFromSymbol(void* to, const void* symbol, size_t bytes, size_t offset, cudaMemcpyKind kind) {
  return TransferSymbol(symbol, to, bytes, offset, kind, nullptr, false, true);
}
cudaError_t cudaMemcpyFromSymbolAsync(void* to, const void* symbol, size_t bytes, size_t offset, cudaMemcpyKind kind,
                                      cudaStream_t stream) {
  return TransferSymbol(symbol, to, bytes, offset, kind, stream, false, false);
}
cudaError_t cudaMemset(void* memory, int value, size_t bytes) {
  return Fill(memory, static_cast<uint64_t>(value & 0xff), 1, bytes, nullptr);
}
cudaError_t cudaMemsetAsync(void* memory, int value, size_t bytes, cudaStream_t stream) {
  return Fill(memory, static_cast<uint64_t>(value & 0xff), 1, bytes, stream);
}
cudaError_t cudaMemset2D(void* memory, size_t pitch, int value, size_t width, size_t height) {
  for (size_t row = 0; row < height; ++row) {
    const cudaError_t error = cudaMemset(static_cast<char*>(memory) + row * pitch, value, width);
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}
cudaError_t cudaGetSymbolAddress(void** memory, const void* symbol) {
  uint64_t address = 0;
  size_t size = 0;
  const cudaError_t error = FindSymbol(symbol, &address, &size);
  *memory = reinterpret_cast<void*>(address);
  return Note(error);
}
cudaError_t cudaGetSymbolSize(size_t* bytes, const void* symbol) {
  uint64_t address = 0;
  return Note(FindSymbol(symbol, &address, bytes));
}
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* memory) {
  memset(attributes, 0, sizeof(*attributes));
  const Place place = PlaceOf(memory);
  attributes->type =
      place.managed ? cudaMemoryTypeManaged : (place.on_device ? cudaMemoryTypeDevice : cudaMemoryTypeUnregistered);
  if (place.on_device) attributes->devicePointer = const_cast<void*>(memory);
  if (place.managed || !place.on_device) attributes->hostPointer = const_cast<void*>(memory);
  return cudaSuccess;
}
#if CUDART_VERSION >= 13000
cudaError_t cudaMemPrefetchAsync(const void*, size_t, cudaMemLocation, unsigned, cudaStream_t) { return cudaSuccess; }
cudaError_t cudaMemAdvise(const void*, size_t, cudaMemoryAdvise, cudaMemLocation) { return cudaSuccess; }
#else
cudaError_t cudaMemPrefetchAsync(const void*, size_t, int, cudaStream_t) { return cudaSuccess; }
cudaError_t cudaMemAdvise(const void*, size_t, cudaMemoryAdvise, int) { return cudaSuccess; }
#endif

}  // extern "C"
