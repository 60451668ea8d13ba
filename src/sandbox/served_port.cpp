// SPDX-License-Identifier: Apache-2.0
#include "sandbox/served_port.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/nsfs.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>

namespace upskill {
namespace {

constexpr const char* kListening = "listening in";
constexpr const char* kOfSandbox = "the network of a sandbox";

// A message of one byte, which the kernel passes on with the descriptor.
struct Envelope {
  char byte = 0;
  iovec part{&byte, 1};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr message{};

  Envelope() {
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
  }
};

// In a process of its own, which has nothing but system calls to make: returns 0, or the error's number.
int ListenAndSend(int users, int network, int port, int to) {
  if (::setns(users, CLONE_NEWUSER) != 0 || ::setns(network, CLONE_NEWNET) != 0) return errno;
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (listener < 0) return errno;
  // The loopback device may not be up yet.
  const int on = 1;
  ::setsockopt(listener, IPPROTO_IP, IP_FREEBIND, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return errno;
  if (::listen(listener, SOMAXCONN) != 0) return errno;
  Envelope envelope;
  cmsghdr* const header = CMSG_FIRSTHDR(&envelope.message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof listener);
  std::memcpy(CMSG_DATA(header), &listener, sizeof listener);
  return ::sendmsg(to, &envelope.message, MSG_NOSIGNAL) == 1 ? 0 : errno;
}

// The descriptor that has been sent; invalid: none.
Fd ReceivedFrom(int socket) {
  Envelope envelope;
  if (Uninterrupted([&] { return ::recvmsg(socket, &envelope.message, MSG_CMSG_CLOEXEC); }) != 1) return {};
  const cmsghdr* const header = CMSG_FIRSTHDR(&envelope.message);
  if (header == nullptr || header->cmsg_type != SCM_RIGHTS || header->cmsg_len != CMSG_LEN(sizeof(int))) return {};
  int received = -1;
  std::memcpy(&received, CMSG_DATA(header), sizeof received);
  return Fd(received);
}

}  // namespace

Result<Fd> ListenInNetworkOf(pid_t process, int port) {
  const Fd network(::open(fmt::format("/proc/{}/ns/net", process).c_str(), O_RDONLY | O_CLOEXEC));
  if (!network.valid()) return ErrnoError(kListening, kOfSandbox, errno);
  // Of the network's own name space of users, which need not be that of the process.
  const Fd users(::ioctl(network.get(), NS_GET_USERNS));
  if (!users.valid()) return ErrnoError(kListening, kOfSandbox, errno);
  std::array<int, 2> ends{-1, -1};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0)
    return ErrnoError(kListening, kOfSandbox, errno);
  const Fd here(ends[0]);
  Fd there(ends[1]);
  // Only a process with a single thread may enter another name space of users.
  const pid_t helper = ::fork();
  if (helper < 0) return ErrnoError(kListening, kOfSandbox, errno);
  if (helper == 0) ::_exit(ListenAndSend(users.get(), network.get(), port, there.get()));
  there.Close();
  int status = 0;
  const pid_t ended = Uninterrupted([&] { return ::waitpid(helper, &status, 0); });
  const int failure = ended == helper && WIFEXITED(status) ? WEXITSTATUS(status) : EIO;
  if (failure != 0) return ErrnoError(kListening, kOfSandbox, failure);
  Fd listener = ReceivedFrom(here.get());
  if (!listener.valid()) return ErrnoError(kListening, kOfSandbox, EIO);
  return listener;
}

}  // namespace upskill
