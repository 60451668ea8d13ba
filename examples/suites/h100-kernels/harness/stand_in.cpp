// SPDX-License-Identifier: Apache-2.0
// Runs the threads of a block as fibres, and looks at each access to memory that the compiler reports (__tsan_read4 …).
// Not compiled with -fsanitize=thread itself. Two accesses of different threads to one byte, one of them a write and
// not both atomic, are a race unless a __syncthreads (or, in one warp, a __syncwarp) lies between them. Accesses of
// different blocks are never ordered, except that a launch that uses __threadfence isn't examined in this respect.
#include <elf.h>
#include <link.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>
#include <unistd.h>

#include <vector>

#include "harness.h"

uint3 threadIdx, blockIdx;
dim3 blockDim, gridDim;

namespace {

enum class State { kReady, kBarrier, kWarp, kDone };

struct Copy {
  char* to;
  const char* from;
  size_t size, zeros;
};

constexpr unsigned kMaxThreads = 256;
constexpr size_t kStack = 96 * 1024;

struct Fibre {
  ucontext_t context;
  State state = State::kDone;
  unsigned mask = 0, warp_epoch = 0;
  bool orders_memory = false;
  uint3 index;
  std::vector<std::vector<Copy>> groups;  // of asynchronous copies; the last one is open
};

struct Last {  // of one byte: the last write, and the reads of the epoch read_epoch
  unsigned write_epoch, write_warp, read_epoch, read_warp;
  short writer, reader;
  bool atomic;
  char readers;  // 1: one thread, 2: of one warp, 3: of several warps
};

constexpr size_t kArena = 1 << 20, kGuard = 256;
struct Buffer {
  size_t begin, end;
  bool read_only;
};

alignas(256) char arena[kArena];
std::vector<Last> arena_last(kArena), shared_last;
std::vector<Buffer> buffers;
size_t arena_used = kGuard;
char* shared_begin = nullptr;
Fibre fibres[kMaxThreads];
alignas(64) char stacks[kMaxThreads][kStack];
std::vector<char> slots;
ucontext_t scheduler;
void (*body)(void*) = nullptr;
void* body_data = nullptr;
int running = -1;
unsigned thread_count = 0, epoch = 1, block_epoch = 1, launch_epoch = 1;
bool fenced = false;

int FindShared(dl_phdr_info* info, size_t, void*) {
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    if (info->dlpi_phdr[i].p_type != PT_TLS) continue;
    shared_begin = static_cast<char*>(info->dlpi_tls_data);
    shared_last.resize(info->dlpi_phdr[i].p_memsz);
  }
  return 1;  // the first is the program itself
}

void Fault(const char* what, const void* address, bool shared) {
  char text[200];
  snprintf(text, sizeof text, "%s (%s memory, byte %zu, thread %u,%u of block %u,%u)", what,
           shared ? "shared" : "global", size_t(static_cast<const char*>(address) - (shared ? shared_begin : arena)),
           threadIdx.x, threadIdx.y, blockIdx.x, blockIdx.y);
  Fail(text);
}

// The write comes before what the running thread does now.
bool Before(const Last& last, bool shared) {
  if (last.write_epoch < launch_epoch) return true;
  if (last.write_epoch < block_epoch) return shared || fenced;
  if (last.write_epoch < epoch || last.writer == running) return true;
  return last.writer / 32 == running / 32 && last.write_warp < fibres[running].warp_epoch;
}

void Look(Last& last, const void* address, bool shared, bool write, bool atomic) {
  const unsigned warp_epoch = fibres[running].warp_epoch;
  if (!write && shared && last.write_epoch < block_epoch) {
    Fault("race or missing store: reads shared memory that no thread of the block has written yet", address, shared);
  }
  if (!(atomic && last.atomic) && !Before(last, shared)) {
    const bool other_block = last.write_epoch < block_epoch;
    Fault(other_block ? "race between blocks: two blocks access what one of them writes"
                      : "race: another thread wrote this since the last barrier",
          address, shared);
  }
  if (write) {
    const bool alone = last.readers == 1 || (last.readers == 2 && last.reader / 32 == running / 32);
    const bool ordered = last.readers == 0 || last.read_epoch < launch_epoch ||
                         (last.read_epoch < block_epoch ? fenced || shared : last.read_epoch < epoch) ||
                         (last.readers == 1 && last.reader == running && last.read_epoch >= block_epoch) ||
                         (alone && last.reader / 32 == running / 32 && last.read_warp < warp_epoch);
    if (!ordered) Fault("race: another thread read this since the last barrier", address, shared);
    last.write_epoch = epoch;
    last.write_warp = warp_epoch;
    last.writer = short(running);
    last.atomic = atomic;
  } else if (last.read_epoch != epoch || last.readers == 0) {
    last.read_epoch = epoch;
    last.read_warp = warp_epoch;
    last.reader = short(running);
    last.readers = 1;
  } else {
    if (last.reader / 32 != running / 32)
      last.readers = 3;
    else if (last.reader != running && last.readers == 1)
      last.readers = 2;
    last.read_warp = warp_epoch > last.read_warp ? warp_epoch : last.read_warp;
  }
}

void Access(const void* address, size_t size, bool write, bool atomic = false) {
  if (running < 0) return;
  const char* const p = static_cast<const char*>(address);
  if (p >= shared_begin && p < shared_begin + shared_last.size()) {
    for (size_t i = 0; i < size && p + i < shared_begin + shared_last.size(); ++i) {
      Last& last = shared_last[size_t(p - shared_begin) + i];
      if (last.write_epoch < block_epoch) last.readers = 0;
      Look(last, p + i, true, write, atomic);
    }
    return;
  }
  if (p < arena - 65536 || p >= arena + kArena + 65536) return;  // the stack, constants, the program's own data
  const size_t at = size_t(p - arena);
  const Buffer* found = nullptr;
  for (const Buffer& buffer : buffers) {
    if (p >= arena && at >= buffer.begin && at + size <= buffer.end) found = &buffer;
  }
  if (p < arena || p >= arena + arena_used || found == nullptr) {
    if (p < arena || p >= arena + kArena) return;
    Fault(write ? "writes outside of its buffers" : "reads outside of its buffers", p, false);
  }
  if (write && found->read_only) Fault("writes to an input", p, false);
  for (size_t i = 0; i < size; ++i) Look(arena_last[at + i], p + i, false, write, atomic);
}

void Enter() {
  body(body_data);
  fibres[running].state = State::kDone;
}

void Pause() {
  const int self = running;
  swapcontext(&fibres[self].context, &scheduler);
}

// Wakes a warp's threads where all that live and are named by the mask of one of them have arrived.
bool WakeWarps() {
  bool woken = false;
  for (unsigned first = 0; first < thread_count; first += 32) {
    const unsigned end = first + 32 < thread_count ? first + 32 : thread_count;
    for (unsigned t = first; t < end; ++t) {
      if (fibres[t].state != State::kWarp) continue;
      const unsigned mask = fibres[t].mask;
      bool all = true;
      unsigned newest = 0;
      for (unsigned u = first; u < end; ++u) {
        if ((mask >> (u - first) & 1) == 0 || fibres[u].state == State::kDone) continue;
        all = all && fibres[u].state == State::kWarp && fibres[u].mask == mask;
        newest = fibres[u].warp_epoch > newest ? fibres[u].warp_epoch : newest;
      }
      if (!all) continue;
      for (unsigned u = first; u < end; ++u) {
        if ((mask >> (u - first) & 1) == 0 || fibres[u].state == State::kDone) continue;
        fibres[u].state = State::kReady;
        if (fibres[u].orders_memory) fibres[u].warp_epoch = newest + 1;
        woken = true;
      }
    }
  }
  return woken;
}

bool WakeBlock() {
  bool waiting = false;
  for (unsigned t = 0; t < thread_count; ++t) {
    if (fibres[t].state == State::kWarp) Fail("threads wait for each other: a warp operation not all lanes reach");
    waiting = waiting || fibres[t].state == State::kBarrier;
  }
  for (unsigned t = 0; t < thread_count; ++t) {
    if (fibres[t].state == State::kBarrier) fibres[t].state = State::kReady;
  }
  ++epoch;
  return waiting;
}

void RunBlock() {
  block_epoch = ++epoch;
  memset(shared_begin, 0xff, shared_last.size());
  for (unsigned t = 0; t < thread_count; ++t) {
    Fibre& fibre = fibres[t];
    fibre.index = {t % blockDim.x, t / blockDim.x % blockDim.y, t / blockDim.x / blockDim.y};
    fibre.warp_epoch = 0;
    fibre.groups.assign(1, {});
    fibre.state = State::kReady;
    getcontext(&fibre.context);
    fibre.context.uc_stack.ss_sp = stacks[t];
    fibre.context.uc_stack.ss_size = kStack;
    fibre.context.uc_link = &scheduler;
    makecontext(&fibre.context, Enter, 0);
  }
  do {
    do {
      for (unsigned t = 0; t < thread_count; ++t) {
        if (fibres[t].state != State::kReady) continue;
        running = int(t);
        threadIdx = fibres[t].index;
        swapcontext(&scheduler, &fibres[t].context);
        running = -1;
      }
    } while (WakeWarps());
  } while (WakeBlock());
}

void Misaligned(int) {
  static const char text[] = "FAIL: a pointer is not aligned to the type that it is read or written as\n";
  (void)!write(2, text, sizeof text - 1);
  _exit(1);
}

void Crashed(int) {
  static const char text[] = "FAIL: an address that belongs to no buffer\n";
  (void)!write(2, text, sizeof text - 1);
  _exit(1);
}

}  // namespace

void RunGrid(dim3 grid, dim3 block, void (*kernel)(void*), void* data) {
  signal(SIGILL, Misaligned);
  signal(SIGSEGV, Crashed);
  if (shared_begin == nullptr) dl_iterate_phdr(FindShared, nullptr);
  thread_count = block.x * block.y * block.z;
  if (thread_count > kMaxThreads) abort();
  slots.assign(size_t(thread_count + 31) / 32 * 32 * 8, 0);
  body = kernel;
  body_data = data;
  blockDim = block;
  gridDim = grid;
  fenced = false;
  launch_epoch = ++epoch;
  for (unsigned z = 0; z < grid.z; ++z) {
    for (unsigned y = 0; y < grid.y; ++y) {
      for (unsigned x = 0; x < grid.x; ++x) {
        blockIdx = {x, y, z};
        RunBlock();
      }
    }
  }
}

void ResetMemory() {
  buffers.clear();
  arena_used = kGuard;
}

char* AddBuffer(size_t bytes, bool read_only) {
  char* const begin = arena + arena_used;
  buffers.push_back({arena_used, arena_used + bytes, read_only});
  arena_used = (arena_used + bytes + kGuard + 255) / 256 * 256;
  if (arena_used > kArena) abort();
  memset(begin, 0xff, bytes);
  return begin;
}

void StandInBarrier() {
  fibres[running].state = State::kBarrier;
  Pause();
}

void StandInWarpBarrier(unsigned mask, bool orders_memory) {
  if ((mask >> StandInLane() & 1) == 0) Fail("a lane calls a warp operation whose mask does not name it");
  fibres[running].state = State::kWarp;
  fibres[running].mask = mask;
  fibres[running].orders_memory = orders_memory;
  Pause();
}

void* StandInWarpSlot(unsigned lane) { return &slots[(size_t(running) / 32 * 32 + lane % 32) * 8]; }
unsigned StandInLane() { return unsigned(running) % 32; }
void StandInAtomic(const void* address, size_t size) { Access(address, size, true, true); }
void StandInFence() { fenced = true; }

void StandInCopyAsync(void* to, const void* from, size_t size, size_t zeros) {
  const bool size_ok = size == 4 || size == 8 || size == 16;
  if (!size_ok || zeros > size) Fail("__pipeline_memcpy_async copies 4, 8 or 16 bytes");
  if (uintptr_t(to) % size != 0 || uintptr_t(from) % size != 0) Fail("an asynchronous copy is not aligned to its size");
  Access(from, size - zeros, false);
  Access(to, size, true);
  memset(to, 0xff, size);
  fibres[running].groups.back().push_back({static_cast<char*>(to), static_cast<const char*>(from), size, zeros});
}

void StandInCommit() { fibres[running].groups.emplace_back(); }

void StandInWait(size_t groups) {
  std::vector<std::vector<Copy>>& queue = fibres[running].groups;
  while (queue.size() > groups + 1) {
    for (const Copy& copy : queue.front()) {
      Access(copy.from, copy.size - copy.zeros, false);
      Access(copy.to, copy.size, true);
      memcpy(copy.to, copy.from, copy.size - copy.zeros);
      memset(copy.to + copy.size - copy.zeros, 0, copy.zeros);
    }
    queue.erase(queue.begin());
  }
}

#define REPORTED(N)                                               \
  void __tsan_read##N(void* p) { Access(p, N, false); }           \
  void __tsan_write##N(void* p) { Access(p, N, true); }           \
  void __tsan_unaligned_read##N(void* p) { Access(p, N, false); } \
  void __tsan_unaligned_write##N(void* p) { Access(p, N, true); } \
  void __tsan_volatile_read##N(void* p) { Access(p, N, false); }  \
  void __tsan_volatile_write##N(void* p) { Access(p, N, true); }
extern "C" {
REPORTED(1) REPORTED(2) REPORTED(4) REPORTED(8) REPORTED(16) void __tsan_read_range(void* p, size_t size) {
  Access(p, size, false);
}
void __tsan_write_range(void* p, size_t size) { Access(p, size, true); }
void __tsan_vptr_update(void**, void*) {}
void __tsan_vptr_read(void**) {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_init() {}
}
