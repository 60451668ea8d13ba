// SPDX-License-Identifier: Apache-2.0
// A library to preload (LD_PRELOAD): counts the system calls that write to files, and makes one of them fail.
//
//   CHAOS_COUNT=FILE   writes the number of these calls to FILE at the end
//   CHAOS_AT=N         the call that fails, from 1
//   CHAOS_FAULT=…      how: enospc, eio, eintr; short: half of it is written; kill: the process is killed; tear: it is
//                      killed after half of it was written
//   CHAOS_LASTING=1    every later call fails too, as on a full disk (enospc, eio)
//   CHAOS_CLOCK=SEED   the wall clock jumps, by up to a day in either direction, at every few looks
//   CHAOS_NO_OPENAT2=1 the kernel doesn't have openat2
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

namespace {

enum class Fault { kNone, kNoSpace, kIo, kInterrupted, kShort, kKill, kTear };

long NumberOf(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? 0 : std::atol(text);
}

Fault FaultOf(const char* name) {
  if (name == nullptr) return Fault::kNone;
  const struct {
    const char* name;
    Fault fault;
  } faults[] = {{"enospc", Fault::kNoSpace}, {"eio", Fault::kIo},    {"eintr", Fault::kInterrupted},
                {"short", Fault::kShort},    {"kill", Fault::kKill}, {"tear", Fault::kTear}};
  for (const auto& known : faults) {
    if (std::strcmp(name, known.name) == 0) return known.fault;
  }
  return Fault::kNone;
}

struct Settings {
  long at = NumberOf("CHAOS_AT");
  Fault fault = FaultOf(std::getenv("CHAOS_FAULT"));
  bool lasting = NumberOf("CHAOS_LASTING") != 0;
  bool no_openat2 = NumberOf("CHAOS_NO_OPENAT2") != 0;
  long clock_seed = NumberOf("CHAOS_CLOCK");
};

const Settings& settings() {
  static const Settings settings;
  return settings;
}

std::atomic<long> calls = 0;

template <typename Function>
Function* Real(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

[[noreturn]] void Die() {
  ::kill(::getpid(), SIGKILL);
  while (true) ::pause();
}

// Whether files in this place matter: devices, pipes and sockets don't.
bool IsFile(int fd) {
  const int error = errno;
  struct stat info{};
  const bool file = ::fstat(fd, &info) == 0 && (S_ISREG(info.st_mode) || S_ISDIR(info.st_mode));
  errno = error;
  return file;
}

bool IsFilePath(const char* path) {
  return path != nullptr && std::strncmp(path, "/dev/", 5) != 0 && std::strncmp(path, "/proc/", 6) != 0;
}

// What is to happen at this call. kKill has happened.
Fault Next() {
  const long number = ++calls;
  const Settings& all = settings();
  if (all.at == 0 || number < all.at) return Fault::kNone;
  if (number > all.at && !(all.lasting && (all.fault == Fault::kNoSpace || all.fault == Fault::kIo)))
    return Fault::kNone;
  if (all.fault == Fault::kKill) Die();
  return all.fault;
}

// For calls that can't be done by half. True: errno is set. `interruptible`: the call may be interrupted by a signal.
bool Fails(bool interruptible) {
  switch (Next()) {
    case Fault::kNoSpace:
      errno = ENOSPC;
      return true;
    case Fault::kIo:
      errno = EIO;
      return true;
    case Fault::kInterrupted:
      errno = EINTR;
      return interruptible;
    case Fault::kTear:
      Die();
    case Fault::kNone:
    case Fault::kShort:
    case Fault::kKill:
      return false;
  }
  return false;
}

// How much of `size` bytes to write now; negative: none, and errno is set.
ssize_t Part(std::size_t size) {
  switch (Next()) {
    case Fault::kNoSpace:
      errno = ENOSPC;
      return -1;
    case Fault::kIo:
      errno = EIO;
      return -1;
    case Fault::kInterrupted:
      errno = EINTR;
      return -1;
    case Fault::kShort:
    case Fault::kTear:
      return static_cast<ssize_t>(size > 1 ? size / 2 : size);
    case Fault::kNone:
    case Fault::kKill:
      break;
  }
  return static_cast<ssize_t>(size);
}

// For calls that are never made to fail: the program may still be killed before one.
void Passes() {
  const Fault fault = Next();
  if (fault == Fault::kTear) Die();
}

bool Tears(std::size_t part, std::size_t size) { return settings().fault == Fault::kTear && part < size; }

bool Writes(int flags) { return (flags & O_CREAT) != 0 || (flags & O_ACCMODE) != O_RDONLY; }

struct AtEnd {
  ~AtEnd() {
    const char* path = std::getenv("CHAOS_COUNT");
    if (path == nullptr) return;
    char text[32];
    const int size = std::snprintf(text, sizeof(text), "%ld\n", calls.load());
    const auto fd = static_cast<int>(::syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, 0600));
    ::syscall(SYS_write, fd, text, size);
  }
} at_end;

// By up to a day, another one at every fourth look.
long ClockOffset() {
  static std::atomic<unsigned long> looks = 0;
  unsigned long x = (looks++ / 4 + 1) * 0x9E3779B97F4A7C15UL + static_cast<unsigned long>(settings().clock_seed);
  x = (x ^ (x >> 31U)) * 0xBF58476D1CE4E5B9UL;
  constexpr unsigned long kDay = 86'400;
  return static_cast<long>((x >> 20U) % (2 * kDay)) - static_cast<long>(kDay);
}

}  // namespace

extern "C" {

ssize_t write(int fd, const void* data, size_t size) {
  static auto* const real = Real<ssize_t(int, const void*, size_t)>("write");
  if (!IsFile(fd)) return real(fd, data, size);
  const ssize_t part = Part(size);
  if (part < 0) return -1;
  const ssize_t written = real(fd, data, static_cast<size_t>(part));
  if (Tears(static_cast<size_t>(part), size)) Die();
  return written;
}

ssize_t writev(int fd, const struct iovec* parts, int count) {
  static auto* const real = Real<ssize_t(int, const struct iovec*, int)>("writev");
  if (IsFile(fd) && Fails(true)) return -1;
  return real(fd, parts, count);
}

ssize_t pwrite(int fd, const void* data, size_t size, off_t at) {
  static auto* const real = Real<ssize_t(int, const void*, size_t, off_t)>("pwrite");
  const ssize_t part = IsFile(fd) ? Part(size) : static_cast<ssize_t>(size);
  return part < 0 ? -1 : real(fd, data, static_cast<size_t>(part), at);
}

int open(const char* path, int flags, ...) {
  static auto* const real = Real<int(const char*, int, ...)>("open");
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = va_arg(arguments, mode_t);
  va_end(arguments);
  if (Writes(flags) && IsFilePath(path) && Fails(true)) return -1;
  return real(path, flags, mode);
}

int open64(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = va_arg(arguments, mode_t);
  va_end(arguments);
  return open(path, flags, mode);
}

int openat(int folder, const char* path, int flags, ...) {
  static auto* const real = Real<int(int, const char*, int, ...)>("openat");
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = va_arg(arguments, mode_t);
  va_end(arguments);
  if (Writes(flags) && IsFilePath(path) && Fails(true)) return -1;
  return real(folder, path, flags, mode);
}

int openat64(int folder, const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = va_arg(arguments, mode_t);
  va_end(arguments);
  return openat(folder, path, flags, mode);
}

int rename(const char* from, const char* to) noexcept {
  static auto* const real = Real<int(const char*, const char*)>("rename");
  return Fails(false) ? -1 : real(from, to);
}

int renameat(int from_folder, const char* from, int to_folder, const char* to) noexcept {
  static auto* const real = Real<int(int, const char*, int, const char*)>("renameat");
  return Fails(false) ? -1 : real(from_folder, from, to_folder, to);
}

int mkdir(const char* path, mode_t mode) noexcept {
  static auto* const real = Real<int(const char*, mode_t)>("mkdir");
  return Fails(false) ? -1 : real(path, mode);
}

int mkdirat(int folder, const char* path, mode_t mode) noexcept {
  static auto* const real = Real<int(int, const char*, mode_t)>("mkdirat");
  return Fails(false) ? -1 : real(folder, path, mode);
}

// What can't be deleted is left behind, which is no finding.
int unlink(const char* path) noexcept {
  static auto* const real = Real<int(const char*)>("unlink");
  if (IsFilePath(path)) Passes();
  return real(path);
}

int unlinkat(int folder, const char* path, int flags) noexcept {
  static auto* const real = Real<int(int, const char*, int)>("unlinkat");
  if (IsFilePath(path)) Passes();
  return real(folder, path, flags);
}

int fchmod(int fd, mode_t mode) noexcept {
  static auto* const real = Real<int(int, mode_t)>("fchmod");
  return IsFile(fd) && Fails(false) ? -1 : real(fd, mode);
}

int ftruncate(int fd, off_t size) noexcept {
  static auto* const real = Real<int(int, off_t)>("ftruncate");
  return Fails(true) ? -1 : real(fd, size);
}

int fsync(int fd) {
  static auto* const real = Real<int(int)>("fsync");
  return Fails(true) ? -1 : real(fd);
}

int fdatasync(int fd) {
  static auto* const real = Real<int(int)>("fdatasync");
  return Fails(true) ? -1 : real(fd);
}

// A file that was written to is closed in any case.
int close(int fd) {
  static auto* const real = Real<int(int)>("close");
  const int flags = ::fcntl(fd, F_GETFL);
  const bool written = flags >= 0 && (flags & O_ACCMODE) != O_RDONLY && IsFile(fd);
  const bool fails = written && Fails(false);
  const int error = errno;
  const int closed = real(fd);
  if (fails) errno = error;
  return fails ? -1 : closed;
}

int clock_gettime(clockid_t clock, struct timespec* time) noexcept {
  static auto* const real = Real<int(clockid_t, struct timespec*)>("clock_gettime");
  const int result = real(clock, time);
  if (result == 0 && clock == CLOCK_REALTIME && settings().clock_seed != 0) time->tv_sec += ClockOffset();
  return result;
}

long syscall(long number, ...) noexcept {
  static auto* const real = Real<long(long, ...)>("syscall");
  va_list arguments;
  va_start(arguments, number);
  const long a = va_arg(arguments, long);
  const long b = va_arg(arguments, long);
  const long c = va_arg(arguments, long);
  const long d = va_arg(arguments, long);
  const long e = va_arg(arguments, long);
  const long f = va_arg(arguments, long);
  va_end(arguments);
  if (number == SYS_openat2 && settings().no_openat2) {
    errno = ENOSYS;
    return -1;
  }
  if (number == SYS_openat2) {
    const auto* how = reinterpret_cast<const struct open_how*>(c);
    if (Writes(static_cast<int>(how->flags)) && IsFilePath(reinterpret_cast<const char*>(b)) && Fails(true)) return -1;
  }
  return real(number, a, b, c, d, e, f);
}

}  // extern "C"
