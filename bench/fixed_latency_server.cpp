// SPDX-License-Identifier: Apache-2.0
// fixed_latency_server [PORT [LATENCY_MS]]: answers every HTTP request on 127.0.0.1 with the same chat completion after
// a fixed time, over any number of keep-alive connections. Prints its port. It replaces a provider in measurements of
// our own overhead, so it does as little as possible.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace {

using Time = std::chrono::steady_clock::time_point;

constexpr std::string_view kBody =
    R"({"id":"chatcmpl-1","object":"chat.completion","created":1,"model":"fixed","choices":[{"index":0,)"
    R"("finish_reason":"stop","message":{"role":"assistant","content":"ok"}}],)"
    R"("usage":{"prompt_tokens":10,"completion_tokens":1,"total_tokens":11}})";

// The unread rest of the current request.
struct Connection {
  std::uint64_t generation = 0;  // distinguishes it from an earlier connection with the same descriptor
  std::string head;
  std::size_t body_left = 0;
};

// Answers are due in the order of their requests, because all take the same time: a queue suffices as timer.
struct Due {
  Time when;
  int fd = -1;
  std::uint64_t generation = 0;
};

std::size_t ContentLength(std::string_view head) {
  constexpr std::string_view kName = "\r\ncontent-length:";
  for (std::size_t at = 0; at + kName.size() < head.size(); ++at) {
    std::size_t i = 0;
    while (i < kName.size() && (head[at + i] | (kName[i] >= 'a' ? 0x20 : 0)) == kName[i]) ++i;
    if (i < kName.size()) continue;
    std::size_t start = at + kName.size();
    while (start < head.size() && head[start] == ' ') ++start;
    std::size_t length = 0;
    std::from_chars(head.data() + start, head.data() + head.size(), length);
    return length;
  }
  return 0;
}

class Server {
 public:
  Server(int port, std::chrono::milliseconds latency) : latency_(latency) {
    listener_ = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    const int on = 1;
    setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    if (bind(listener_, reinterpret_cast<sockaddr*>(&address), length) != 0 || listen(listener_, 4096) != 0 ||
        getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &length) != 0) {
      std::perror("fixed_latency_server");
      std::exit(2);
    }
    std::printf("%d\n", ntohs(address.sin_port));
    std::fflush(stdout);
    epoll_ = epoll_create1(0);
    timer_ = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
    Watch(listener_);
    Watch(timer_);
    answer_ = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(kBody.size()) +
              "\r\n\r\n";
    answer_ += kBody;
  }

  [[noreturn]] void Run() {
    std::array<epoll_event, 512> events{};
    for (;;) {
      const int count = epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), -1);
      for (int i = 0; i < count; ++i) {
        const int fd = events.at(static_cast<std::size_t>(i)).data.fd;
        if (fd == listener_) {
          Accept();
        } else if (fd != timer_) {
          Read(fd);
        }
      }
      AnswerDue();
    }
  }

 private:
  void Watch(int fd) const {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = fd;
    epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event);
  }

  void Accept() {
    for (;;) {
      const int fd = accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK);
      if (fd < 0) return;
      const int on = 1;
      setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
      if (connections_.size() <= static_cast<std::size_t>(fd)) connections_.resize(static_cast<std::size_t>(fd) + 1);
      connections_[static_cast<std::size_t>(fd)] = {++generations_, {}, 0};
      Watch(fd);
    }
  }

  void Read(int fd) {
    Connection& connection = connections_[static_cast<std::size_t>(fd)];
    // Clearing the buffer would cost more than reading.
    std::array<char, 65536> buffer;  // NOLINT(cppcoreguidelines-pro-type-member-init)
    const ssize_t count = recv(fd, buffer.data(), buffer.size(), 0);
    if (count < 0 && errno == EAGAIN) return;
    if (count <= 0) {
      connection.generation = 0;
      close(fd);
      return;
    }
    std::string_view bytes(buffer.data(), static_cast<std::size_t>(count));
    while (!bytes.empty()) {
      if (connection.body_left > 0) {
        const std::size_t taken = std::min(connection.body_left, bytes.size());
        bytes.remove_prefix(taken);
        connection.body_left -= taken;
        if (connection.body_left == 0) Schedule(fd);
        continue;
      }
      const std::size_t before = connection.head.size();
      connection.head.append(bytes);
      const std::size_t end = connection.head.find("\r\n\r\n");
      if (end == std::string::npos) return;
      bytes.remove_prefix(end + 4 - before);
      connection.body_left = ContentLength(std::string_view(connection.head).substr(0, end + 2));
      connection.head.clear();
      if (connection.body_left == 0) Schedule(fd);
    }
  }

  void Schedule(int fd) {
    due_.push_back(
        {std::chrono::steady_clock::now() + latency_, fd, connections_[static_cast<std::size_t>(fd)].generation});
    if (due_.size() == 1) SetTimer();
  }

  void SetTimer() const {
    const auto left =
        std::max(due_.front().when - std::chrono::steady_clock::now(), std::chrono::steady_clock::duration(1));
    const auto ns = std::chrono::duration_cast<std::chrono::nanoseconds>(left).count();
    itimerspec spec{};
    spec.it_value.tv_sec = ns / 1'000'000'000;
    spec.it_value.tv_nsec = ns % 1'000'000'000;
    timerfd_settime(timer_, 0, &spec, nullptr);
  }

  void AnswerDue() {
    if (due_.empty()) return;
    std::uint64_t fired = 0;
    if (read(timer_, &fired, sizeof fired) < 0 && due_.front().when > std::chrono::steady_clock::now()) return;
    const Time now = std::chrono::steady_clock::now();
    while (!due_.empty() && due_.front().when <= now) {
      const Due due = due_.front();
      due_.pop_front();
      if (connections_[static_cast<std::size_t>(due.fd)].generation != due.generation) continue;
      // Much smaller than a socket's buffer, and the client is waiting for it: it is sent in one piece or not at all.
      [[maybe_unused]] const auto sent = send(due.fd, answer_.data(), answer_.size(), MSG_NOSIGNAL);
    }
    if (!due_.empty()) SetTimer();
  }

  std::chrono::milliseconds latency_;
  int listener_ = -1;
  int epoll_ = -1;
  int timer_ = -1;
  std::string answer_;
  std::vector<Connection> connections_;  // by descriptor
  std::deque<Due> due_;
  std::uint64_t generations_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
  }
  const int port = argc > 1 ? std::atoi(argv[1]) : 0;
  const int latency_ms = argc > 2 ? std::atoi(argv[2]) : 200;
  Server(port, std::chrono::milliseconds(latency_ms)).Run();
}
