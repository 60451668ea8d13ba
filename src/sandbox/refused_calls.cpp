// SPDX-License-Identifier: Apache-2.0
#include "sandbox/refused_calls.h"

#include <linux/filter.h>
#include <linux/sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <array>
#include <cstdint>
#include <vector>

#include "util/seccomp_filter.h"

namespace upskill {
namespace {

// Numbers above 423 are the same on all architectures.
constexpr int kOpenTree = 428;
constexpr int kMoveMount = 429;
constexpr int kFsopen = 430;
constexpr int kFspick = 433;
constexpr int kClone3 = 435;
constexpr int kMountSetattr = 442;

constexpr std::array kRefusedInSandbox = {
    // Other processes.
    __NR_ptrace, __NR_process_vm_readv, __NR_process_vm_writev, __NR_kcmp, __NR_perf_event_open,
    // Mounts, name spaces, other roots.
    __NR_mount, __NR_umount2, __NR_pivot_root, __NR_chroot, __NR_setns, __NR_unshare, kOpenTree, kMoveMount, kFsopen,
    kFspick, kMountSetattr, __NR_open_by_handle_at, __NR_name_to_handle_at,
    // The kernel.
    __NR_bpf, __NR_init_module, __NR_finit_module, __NR_delete_module, __NR_kexec_load, __NR_reboot, __NR_swapon,
    __NR_swapoff, __NR_acct, __NR_quotactl, __NR_syslog, __NR_settimeofday, __NR_clock_settime, __NR_adjtimex,
    __NR_clock_adjtime, __NR_sethostname, __NR_setdomainname,
    // Large interfaces with a history of faults, which builds and tests don't need.
    __NR_add_key, __NR_request_key, __NR_keyctl, __NR_userfaultfd, __NR_io_uring_setup, __NR_io_uring_enter,
    __NR_io_uring_register,
    // Shared memory that belongs to no process, so that it can't be counted.
    __NR_shmget};

constexpr std::uint32_t kNewNameSpaces =
    CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET;
constexpr std::array<std::uint32_t, 4> kSockets = {AF_UNIX, AF_INET, AF_INET6, AF_NETLINK};

constexpr std::array<int, 2> kAbsentInSandbox = {
    // Its flags are in memory, where a filter can't look; the C library falls back to clone.
    kClone3,
    // Files in memory that belong to no process and no folder, so that they can't be counted; those who use them fall
    // back to files in /tmp.
    __NR_memfd_create};

constexpr std::array<RefusedArgument, 3> kRefusedArguments = {{
    {__NR_clone, 0, kNewNameSpaces, {}},
    {__NR_socket, 0, 0, kSockets},
    {__NR_socketpair, 0, 0, kSockets},
}};

}  // namespace

std::string FilterOfSandbox() {
  const std::vector<sock_filter> filter =
      RefuseSystemCalls({.calls = kRefusedInSandbox, .arguments = kRefusedArguments, .absent = kAbsentInSandbox});
  return {reinterpret_cast<const char*>(filter.data()), filter.size() * sizeof(sock_filter)};
}

}  // namespace upskill
