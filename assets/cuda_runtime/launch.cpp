// SPDX-License-Identifier: Apache-2.0
// What nvcc's code for the host calls: registering device code, and launching it.
#include <stdio.h>

#include "runtime.h"

using namespace upskill_runtime;

namespace upskill_runtime {
namespace {

struct FatBinaryWrapper {
  int magic;
  int version;
  const void* data;
  void* files;
};

// The header of the fat binary that a wrapper points to.
struct FatBinaryHeader {
  uint32_t magic;
  uint16_t version;
  uint16_t header_bytes;
  uint64_t bytes;
};
constexpr uint32_t kFatBinaryMagic = 0xBA55ED50;

struct Module {
  const void* data;
  uint64_t number;
  bool loaded;
};

// By the address that stands for it on the host.
struct Entry {
  const void* host;
  const char* name;
  Module* module;
  bool is_kernel;
  bool found;
  Kernel kernel;
  uint64_t address;
  uint64_t bytes;
  void** managed;  // where the host has the address of a managed variable
  Entry* next;
};
Entry* entries = nullptr;

struct Configuration {
  dim3 grid;
  dim3 block;
  size_t shared;
  cudaStream_t stream;
};
constexpr int kMaxConfigurations = 64;
thread_local Configuration configurations[kMaxConfigurations];
thread_local int configuration_count = 0;
thread_local bool by_syntax = false;  // the next launch is one of <<<…>>>, which gives its error to nobody

cudaError_t Launched(const Kernel* kernel, cudaError_t error) {
  if (by_syntax && error != cudaSuccess && kernel != nullptr && Failed() == cudaSuccess)
    NoteUnread(kernel->number, "A launch", error);
  by_syntax = false;
  return error;
}

cudaError_t Load(Module* module) {
  if (module->loaded) return cudaSuccess;
  const FatBinaryHeader* const header = static_cast<const FatBinaryHeader*>(module->data);
  if (header->magic != kFatBinaryMagic) return cudaErrorInvalidKernelImage;
  UpskillRequest request = Request(kUpskillLoadModule);
  request.bytes = header->header_bytes + header->bytes;
  const UpskillReply reply = Ask(request, module->data, nullptr, 0);
  if (reply.error != 0) return static_cast<cudaError_t>(reply.error);
  module->number = reply.r[0];
  module->loaded = true;
  return cudaSuccess;
}

UpskillReply AskByName(uint32_t operation, const Entry* entry, void* received, uint64_t capacity) {
  UpskillRequest request = Request(operation, entry->module->number);
  request.bytes = strlen(entry->name);
  return Ask(request, entry->name, received, capacity);
}

void Add(const void* host, const char* name, void** module, bool is_kernel, void** managed) {
  Entry* const entry = static_cast<Entry*>(calloc(1, sizeof(Entry)));
  if (entry == nullptr) Fail("out of memory");
  entry->host = host;
  entry->name = name;
  entry->module = reinterpret_cast<Module*>(module);
  entry->is_kernel = is_kernel;
  entry->managed = managed;
  entry->next = entries;
  entries = entry;
}

Entry* Find(const void* host, bool is_kernel) {
  for (Entry* each = entries; each != nullptr; each = each->next) {
    if (each->host == host && each->is_kernel == is_kernel) return each;
  }
  return nullptr;
}

cudaError_t FindVariable(Entry* entry) {
  if (entry->found) return cudaSuccess;
  const cudaError_t error = Load(entry->module);
  if (error != cudaSuccess) return error;
  const UpskillReply reply = AskByName(kUpskillFindSymbol, entry, nullptr, 0);
  if (reply.error != 0) return static_cast<cudaError_t>(reply.error);
  entry->address = reply.r[0];
  entry->bytes = reply.r[1];
  entry->found = true;
  return cudaSuccess;
}

// Whether all blocks of a cooperative launch can run at the same time.
bool FitsAtOnce(const void* host, dim3 grid, dim3 block, size_t shared) {
  int blocks = 0;
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, host, static_cast<int>(block.x * block.y * block.z), shared);
  return static_cast<uint64_t>(grid.x) * grid.y * grid.z <= static_cast<uint64_t>(blocks) * 132;
}

}  // namespace

Kernel* FindKernel(const void* host) {
  Entry* const entry = Find(host, true);
  if (entry == nullptr) return nullptr;
  if (entry->found) return &entry->kernel;
  if (Note(Load(entry->module)) != cudaSuccess) return nullptr;
  Kernel* const kernel = &entry->kernel;
  const UpskillReply reply = AskByName(kUpskillFindKernel, entry, kernel->sizes, sizeof(kernel->sizes));
  if (reply.error != 0 || reply.bytes > sizeof(kernel->sizes)) {
    Note(reply.error != 0 ? static_cast<cudaError_t>(reply.error) : cudaErrorInvalidKernelImage);
    return nullptr;
  }
  kernel->number = reply.r[0];
  kernel->parameters = static_cast<uint32_t>(reply.bytes / sizeof(uint32_t));
  kernel->shared_bytes = reply.r[1];
  kernel->most_threads = reply.r[2];
  kernel->constant_bytes = reply.r[3];
  // Without cudaFuncSetAttribute, static and dynamic shared memory together have 48 KB.
  kernel->dynamic_limit = (48 << 10) - (kernel->shared_bytes < (48 << 10) ? kernel->shared_bytes : 48 << 10);
  entry->found = true;
  return kernel;
}

cudaError_t FindSymbol(const void* host, uint64_t* address, size_t* bytes) {
  Entry* const entry = Find(host, false);
  if (entry == nullptr) return cudaErrorInvalidSymbol;
  const cudaError_t error = FindVariable(entry);
  *address = entry->address;
  *bytes = entry->bytes;
  return error;
}

cudaError_t LaunchKernel(const Kernel* kernel, dim3 grid, dim3 block, void** arguments, size_t shared,
                         cudaStream_t stream, bool cooperative, uint64_t cluster) {
  if (const cudaError_t error = CheckUse(stream)) return error;
  if (kernel == nullptr) return Note(cudaErrorInvalidDeviceFunction);
  const uint64_t threads = static_cast<uint64_t>(block.x) * block.y * block.z;
  if (grid.x == 0 || grid.y == 0 || grid.z == 0 || threads == 0 || threads > 1024 || block.z > 64 || grid.y > 65535 ||
      grid.z > 65535 || grid.x > 2147483647U)
    return Note(cudaErrorInvalidConfiguration);
  if (kernel->most_threads != 0 && threads > kernel->most_threads) return Note(cudaErrorLaunchOutOfResources);
  if (shared > kernel->dynamic_limit || shared + kernel->shared_bytes > 232448) return Note(cudaErrorInvalidValue);
  static __thread unsigned char packed[32768];
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < kernel->parameters; ++i) {
    if (bytes + kernel->sizes[i] > sizeof(packed)) return Note(cudaErrorInvalidValue);
    memcpy(packed + bytes, arguments[i], kernel->sizes[i]);
    bytes += kernel->sizes[i];
  }
  UpskillRequest request = Request(kUpskillLaunch, kernel->number, grid.x, grid.y, grid.z, block.x);
  request.a[5] = block.y;
  request.a[6] = block.z;
  request.a[7] = shared;
  request.a[8] = StreamNumber(stream);
  request.a[9] = cooperative ? kUpskillCooperative : 0;
  request.a[10] = cluster;
  request.bytes = bytes;
  if (Capturing(stream)) return Capture(stream, request, packed);
  SendManaged();
  return SendLaunch(request, packed);
}

cudaError_t SendLaunch(const UpskillRequest& request, const void* packed) {
  constexpr uint64_t kPrinted = 1 << 20;
  char* const printed = static_cast<char*>(malloc(kPrinted));
  const UpskillReply reply = Ask(request, packed, printed, printed == nullptr ? 0 : kPrinted);
  WatchManaged();
  if (reply.bytes > 0 && printed != nullptr) {
    fwrite(printed, 1, reply.bytes < kPrinted ? reply.bytes : kPrinted, stdout);
    fflush(stdout);
  }
  free(printed);
  if (reply.r[0] != 0) SetFailed(static_cast<cudaError_t>(reply.r[0]));
  return Note(static_cast<cudaError_t>(reply.error));
}

}  // namespace upskill_runtime

extern "C" {

void** __cudaRegisterFatBinary(void* wrapper) {
  Module* const module = static_cast<Module*>(calloc(1, sizeof(Module)));
  if (module == nullptr) Fail("out of memory");
  module->data = static_cast<const FatBinaryWrapper*>(wrapper)->data;
  return reinterpret_cast<void**>(module);
}
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void**) {}

void __cudaRegisterFunction(void** module, const char* host, char*, const char* name, int, uint3*, uint3*, dim3*, dim3*,
                            int*) {
  Add(host, name, module, true, nullptr);
}
void __cudaRegisterVar(void** module, char* host, char*, const char* name, int, size_t, int, int) {
  Add(host, name, module, false, nullptr);
}
void __cudaRegisterManagedVar(void** module, void** host, char*, const char* name, int, size_t, int, int) {
  Add(host, name, module, false, host);
}

// Before the first use of a managed variable: its memory is made where the device has it.
char __cudaInitModule(void** handle) {
  for (Entry* each = entries; each != nullptr; each = each->next) {
    if (each->managed == nullptr || reinterpret_cast<void**>(each->module) != handle || *each->managed != nullptr)
      continue;
    if (Note(FindVariable(each)) != cudaSuccess) Fail("a managed variable could not be found");
    *each->managed = MapManaged(each->address, each->bytes);
    if (*each->managed == nullptr) Fail("a managed variable has no memory");
    each->host = *each->managed;
    FetchManaged(*each->managed);
  }
  return 1;
}

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, struct CUstream_st* stream) {
  if (configuration_count == kMaxConfigurations) return 1;
  configurations[configuration_count++] = {grid, block, shared, stream};
  return 0;
}
cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* shared, void* stream) {
  if (configuration_count == 0) return cudaErrorMissingConfiguration;
  by_syntax = true;
  const Configuration& last = configurations[--configuration_count];
  *grid = last.grid;
  *block = last.block;
  *shared = last.shared;
  memcpy(stream, &last.stream, sizeof(last.stream));
  return cudaSuccess;
}

cudaError_t __cudaGetKernel(void** kernel, const void* host) {
  *kernel = const_cast<void*>(host);
  return cudaSuccess;
}
cudaError_t __cudaLaunchKernel(void* kernel, dim3 grid, dim3 block, void** arguments, size_t shared,
                               cudaStream_t stream) {
  const Kernel* const found = FindKernel(kernel);
  return Launched(found, LaunchKernel(found, grid, block, arguments, shared, stream, false, 0));
}
cudaError_t __cudaLaunchKernel_ptsz(void* kernel, dim3 grid, dim3 block, void** arguments, size_t shared,
                                    cudaStream_t stream) {
  const Kernel* const found = FindKernel(kernel);
  return Launched(found, LaunchKernel(found, grid, block, arguments, shared,
                                      stream == nullptr ? cudaStreamPerThread : stream, false, 0));
}
cudaError_t cudaLaunchKernel(const void* host, dim3 grid, dim3 block, void** arguments, size_t shared,
                             cudaStream_t stream) {
  const Kernel* const found = FindKernel(host);
  return Launched(found, LaunchKernel(found, grid, block, arguments, shared, stream, false, 0));
}
cudaError_t cudaLaunchCooperativeKernel(const void* host, dim3 grid, dim3 block, void** arguments, size_t shared,
                                        cudaStream_t stream) {
  const Kernel* const kernel = FindKernel(host);
  if (!FitsAtOnce(host, grid, block, shared)) return Note(cudaErrorCooperativeLaunchTooLarge);
  return LaunchKernel(kernel, grid, block, arguments, shared, stream, true, 0);
}
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* host, void** arguments) {
  bool cooperative = false;
  uint64_t cluster = 0;
  for (unsigned i = 0; i < config->numAttrs; ++i) {
    const cudaLaunchAttribute& attribute = config->attrs[i];
    if (attribute.id == cudaLaunchAttributeCooperative) cooperative = attribute.val.cooperative != 0;
    if (attribute.id == cudaLaunchAttributeClusterDimension)
      cluster = attribute.val.clusterDim.x | static_cast<uint64_t>(attribute.val.clusterDim.y) << 16 |
                static_cast<uint64_t>(attribute.val.clusterDim.z) << 32;
  }
  if (cooperative && !FitsAtOnce(host, config->gridDim, config->blockDim, config->dynamicSmemBytes))
    return Note(cudaErrorCooperativeLaunchTooLarge);
  return LaunchKernel(FindKernel(host), config->gridDim, config->blockDim, arguments, config->dynamicSmemBytes,
                      config->stream, cooperative, cluster);
}

cudaError_t cudaFuncSetAttribute(const void* host, cudaFuncAttribute attribute, int value) {
  Kernel* const kernel = FindKernel(host);
  if (kernel == nullptr) return Note(cudaErrorInvalidDeviceFunction);
  if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize) return cudaSuccess;
  if (value < 0 || static_cast<uint64_t>(value) + kernel->shared_bytes > 232448) return Note(cudaErrorInvalidValue);
  kernel->dynamic_limit = static_cast<uint64_t>(value);
  return cudaSuccess;
}
cudaError_t cudaFuncSetCacheConfig(const void*, cudaFuncCache) { return cudaSuccess; }
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* host) {
  memset(attributes, 0, sizeof(*attributes));
  const Kernel* const kernel = FindKernel(host);
  if (kernel == nullptr) return Note(cudaErrorInvalidDeviceFunction);
  attributes->sharedSizeBytes = kernel->shared_bytes;
  attributes->constSizeBytes = kernel->constant_bytes;
  attributes->maxThreadsPerBlock = kernel->most_threads == 0 ? 1024 : static_cast<int>(kernel->most_threads);
  attributes->numRegs = 32;  // PTX doesn't say
  attributes->ptxVersion = 90;
  attributes->binaryVersion = 90;
  attributes->maxDynamicSharedSizeBytes = static_cast<int>(kernel->dynamic_limit);
  return cudaSuccess;
}

// By threads, blocks and shared memory: how many registers ptxas would give a thread isn't known here.
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* host, int threads,
                                                                   size_t shared, unsigned) {
  const Kernel* const kernel = FindKernel(host);
  if (kernel == nullptr) return Note(cudaErrorInvalidDeviceFunction);
  if (threads <= 0) return Note(cudaErrorInvalidValue);
  const uint64_t bytes = (kernel->shared_bytes + shared + 1024 + 127) / 128 * 128;
  const int by_shared = static_cast<int>(233472 / bytes);
  const int by_threads = threads > 1024 ? 0 : 64 / ((threads + 31) / 32);
  *blocks = by_shared < by_threads ? by_shared : by_threads;
  if (*blocks > 32) *blocks = 32;
  return cudaSuccess;
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* host, int threads, size_t shared) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, host, threads, shared, 0);
}

}  // extern "C"
