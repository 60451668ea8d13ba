// SPDX-License-Identifier: Apache-2.0
#include "util/seccomp_filter.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <span>

namespace upskill {
namespace {

#if defined(__x86_64__)
constexpr std::uint32_t kAuditArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t kAuditArchitecture = AUDIT_ARCH_AARCH64;
#else
constexpr std::uint32_t kAuditArchitecture = 0;
#endif

constexpr sock_filter kRefuse = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
constexpr sock_filter kAbsent = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS);
constexpr sock_filter kPass = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);

sock_filter LoadFrom(std::size_t offset) {
  return BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset));
}

// Continues `on_true` or `on_false` instructions further on.
sock_filter Compare(std::uint16_t how, std::uint32_t value, std::size_t on_true, std::size_t on_false) {
  return BPF_JUMP(static_cast<std::uint16_t>(BPF_JMP | BPF_K | how), value, static_cast<std::uint8_t>(on_true),
                  static_cast<std::uint8_t>(on_false));
}

void Add(std::vector<sock_filter>& filter, const RefusedArgument& refused) {
  // The lower half comes first on the architectures above.
  std::vector<sock_filter> test = {
      LoadFrom(offsetof(seccomp_data, args) + static_cast<std::size_t>(refused.argument) * sizeof(std::uint64_t))};
  if (refused.mask != 0) {
    test.push_back(Compare(BPF_JSET, refused.mask, 0, 1));
    test.push_back(kRefuse);
  } else {
    for (std::size_t i = 0; i < refused.only.size(); ++i)
      test.push_back(Compare(BPF_JEQ, refused.only[i], refused.only.size() - i, 0));
    test.push_back(kRefuse);
  }
  test.push_back(LoadFrom(offsetof(seccomp_data, nr)));
  filter.push_back(Compare(BPF_JEQ, static_cast<std::uint32_t>(refused.call), 0, test.size()));
  filter.insert(filter.end(), test.begin(), test.end());
}

}  // namespace

std::vector<sock_filter> RefuseSystemCalls(const RefusedCalls& refused) {
  if (kAuditArchitecture == 0) return {};
  constexpr std::uint32_t kFirstNumberOfX32 = 0x40000000U;
  std::vector<sock_filter> filter = {
      LoadFrom(offsetof(seccomp_data, arch)), Compare(BPF_JEQ, kAuditArchitecture, 1, 0), kRefuse,
      LoadFrom(offsetof(seccomp_data, nr)),   Compare(BPF_JGE, kFirstNumberOfX32, 0, 1),  kRefuse};
  const auto refuse = [&filter](std::span<const int> calls, sock_filter how) {
    for (const int number : calls) {
      filter.push_back(Compare(BPF_JEQ, static_cast<std::uint32_t>(number), 0, 1));
      filter.push_back(how);
    }
  };
  refuse(refused.calls, kRefuse);
  refuse(refused.absent, kAbsent);
  for (const RefusedArgument& argument : refused.arguments) Add(filter, argument);
  filter.push_back(kPass);
  return filter;
}

}  // namespace upskill
