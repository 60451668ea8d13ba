// SPDX-License-Identifier: Apache-2.0
#include "support/loopback_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <list>
#include <mutex>
#include <optional>
#include <set>
#include <stdexcept>
#include <thread>
#include <unordered_map>

namespace upskill::loopback {
namespace {

using Time = std::chrono::steady_clock::time_point;

class Fd {
 public:
  explicit Fd(int fd) : fd_(fd) {
    if (fd_ < 0) throw std::runtime_error("no file descriptor");
  }
  ~Fd() { close(fd_); }
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

int BindLoopback(int fd) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  if (bind(fd, reinterpret_cast<sockaddr*>(&address), length) != 0 ||
      getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length) != 0) {
    throw std::runtime_error("can't bind a port of 127.0.0.1");
  }
  return ntohs(address.sin_port);
}

std::string Lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

// Takes the request at the start of `bytes`; nothing if it is incomplete.
std::optional<Request> TakeRequest(std::string& bytes) {
  constexpr std::string_view kPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
  if (bytes.starts_with(kPreface)) {
    Request request;
    request.method = "PRI";
    request.path = "*";
    request.body = std::exchange(bytes, {});
    return request;
  }
  const std::size_t end = bytes.find("\r\n\r\n");
  if (end == std::string::npos) return std::nullopt;
  Request request;
  std::size_t line_start = 0;
  while (line_start < end) {
    const std::size_t line_end = bytes.find("\r\n", line_start);
    const std::string line = bytes.substr(line_start, line_end - line_start);
    if (line_start == 0) {
      const std::size_t first = line.find(' ');
      const std::size_t second = line.find(' ', first + 1);
      request.method = line.substr(0, first);
      request.path = line.substr(first + 1, second - first - 1);
    } else if (const std::size_t colon = line.find(':'); colon != std::string::npos) {
      const std::size_t value = line.find_first_not_of(' ', colon + 1);
      request.headers[Lower(line.substr(0, colon))] = value == std::string::npos ? "" : line.substr(value);
    }
    line_start = line_end + 2;
  }
  const auto length = request.headers.find("content-length");
  const std::size_t body = length == request.headers.end() ? 0 : std::strtoull(length->second.c_str(), nullptr, 10);
  if (bytes.size() < end + 4 + body) return std::nullopt;
  request.body = bytes.substr(end + 4, body);
  bytes.erase(0, end + 4 + body);
  return request;
}

}  // namespace

class Server::Loop {
 public:
  explicit Loop(Handler handler)
      : handler_(std::move(handler)),
        listener_(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)),
        epoll_(epoll_create1(EPOLL_CLOEXEC)),
        stop_(eventfd(0, EFD_CLOEXEC)),
        port_(BindLoopback(listener_.get())) {
    constexpr int kBacklog = 4096;
    if (listen(listener_.get(), kBacklog) != 0) throw std::runtime_error("can't listen");
    Watch(listener_.get(), EPOLLIN, EPOLL_CTL_ADD);
    Watch(stop_.get(), EPOLLIN, EPOLL_CTL_ADD);
    thread_ = std::jthread([this] { Run(); });
  }
  ~Loop() {
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = write(stop_.get(), &one, sizeof one);
    thread_.join();
  }
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  int port() const { return port_; }

  mutable std::mutex mutex;
  std::vector<Request> requests;  // guarded by mutex, as are the next two
  std::size_t connections = 0;
  std::size_t max_concurrent = 0;

 private:
  struct Connection {
    std::unique_ptr<Fd> fd;
    std::size_t number = 0;
    std::string in;
    std::deque<Action> script;
    std::size_t sent = 0;      // bytes of the first action
    std::optional<Time> wake;  // while it is waiting
    std::uint32_t watching = 0;
    bool answering = false;
    bool peer_done = false;
  };

  void Watch(int fd, std::uint32_t events, int operation) const {
    epoll_event event{};
    event.events = events;
    event.data.fd = fd;
    epoll_ctl(epoll_.get(), operation, fd, &event);
  }

  void Run();
  void Accept();
  void Read(int fd);
  void Work(int fd);
  bool SendSome(Connection& connection);
  bool NextRequest(Connection& connection);
  void End(int fd, bool reset);
  void SetWake(Connection& connection, std::optional<Time> wake);

  Handler handler_;
  Fd listener_;
  Fd epoll_;
  Fd stop_;
  int port_;
  std::unordered_map<int, Connection> open_;
  std::set<std::pair<Time, int>> wakes_;
  std::size_t answering_ = 0;
  std::jthread thread_;
};

void Server::Loop::Run() {
  for (;;) {
    int timeout_ms = -1;
    if (!wakes_.empty()) {
      const auto left =
          std::chrono::ceil<std::chrono::milliseconds>(wakes_.begin()->first - std::chrono::steady_clock::now());
      timeout_ms = static_cast<int>(std::max<std::int64_t>(0, left.count()));
    }
    std::array<epoll_event, 128> events{};
    const int count = epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), timeout_ms);
    for (int i = 0; i < count; ++i) {
      const int fd = events.at(static_cast<std::size_t>(i)).data.fd;
      if (fd == stop_.get()) return;
      if (fd == listener_.get()) {
        Accept();
      } else {
        Read(fd);
        Work(fd);
      }
    }
    const Time now = std::chrono::steady_clock::now();
    while (!wakes_.empty() && wakes_.begin()->first <= now) {
      const int fd = wakes_.begin()->second;
      Connection& connection = open_.at(fd);
      SetWake(connection, std::nullopt);
      connection.script.pop_front();
      Work(fd);
    }
  }
}

void Server::Loop::Accept() {
  for (;;) {
    const int fd = accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) return;
    const int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    Connection& connection = open_[fd];
    connection.fd = std::make_unique<Fd>(fd);
    connection.watching = EPOLLIN;
    Watch(fd, EPOLLIN, EPOLL_CTL_ADD);
    const std::lock_guard lock(mutex);
    connection.number = connections++;
  }
}

void Server::Loop::Read(int fd) {
  const auto found = open_.find(fd);
  if (found == open_.end() || found->second.peer_done) return;
  std::array<char, 65536> buffer{};
  for (;;) {
    const ssize_t count = recv(fd, buffer.data(), buffer.size(), 0);
    if (count > 0) {
      found->second.in.append(buffer.data(), static_cast<std::size_t>(count));
      continue;
    }
    if (count < 0 && errno == EAGAIN) return;
    End(fd, false);  // the client has disconnected: drop the rest of the script
    return;
  }
}

void Server::Loop::SetWake(Connection& connection, std::optional<Time> wake) {
  if (connection.wake) wakes_.erase({*connection.wake, connection.fd->get()});
  connection.wake = wake;
  if (wake) wakes_.emplace(*wake, connection.fd->get());
}

void Server::Loop::End(int fd, bool reset) {
  Connection& connection = open_.at(fd);
  if (connection.answering) --answering_;
  SetWake(connection, std::nullopt);
  if (reset) {
    const linger at_once{1, 0};
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  }
  open_.erase(fd);
}

// Passes the next complete request to the handler; false if there is none.
bool Server::Loop::NextRequest(Connection& connection) {
  if (connection.answering) {
    --answering_;
    connection.answering = false;
  }
  std::optional<Request> request = TakeRequest(connection.in);
  if (!request) return false;
  request->connection = connection.number;
  connection.answering = true;
  ++answering_;
  {
    const std::lock_guard lock(mutex);
    requests.push_back(*request);
    max_concurrent = std::max(max_concurrent, answering_);
  }
  const Script script = handler_(*request);
  connection.script.assign(script.begin(), script.end());
  return !connection.script.empty();
}

// Sends from the first action; false if the socket accepts no more.
bool Server::Loop::SendSome(Connection& connection) {
  Action& action = connection.script.front();
  while (action.times > 0) {
    const std::string_view rest = std::string_view(action.bytes).substr(connection.sent);
    const ssize_t count = send(connection.fd->get(), rest.data(), rest.size(), MSG_NOSIGNAL);
    if (count < 0) {
      if (errno == EAGAIN) return false;
      action.times = 0;  // the client has disconnected; reading will report it
      break;
    }
    connection.sent += static_cast<std::size_t>(count);
    if (connection.sent < action.bytes.size()) continue;
    connection.sent = 0;
    --action.times;
  }
  connection.sent = 0;
  connection.script.pop_front();
  return true;
}

void Server::Loop::Work(int fd) {
  const auto found = open_.find(fd);
  if (found == open_.end()) return;
  Connection& connection = found->second;
  std::uint32_t events = EPOLLIN;
  while (!connection.wake) {
    if (connection.script.empty() && !NextRequest(connection)) break;
    const Action& action = connection.script.front();
    switch (action.kind) {
      case Action::Kind::kClose:
        return End(fd, false);
      case Action::Kind::kReset:
        return End(fd, true);
      case Action::Kind::kWait:
        SetWake(connection, std::chrono::steady_clock::now() + action.time);
        continue;
      case Action::Kind::kHalfClose:
        shutdown(fd, SHUT_WR);
        connection.script.pop_front();
        continue;
      case Action::Kind::kSend:
        if (SendSome(connection)) continue;
        events |= EPOLLOUT;
        break;
    }
    break;
  }
  if (events != connection.watching) {
    connection.watching = events;
    Watch(fd, events, EPOLL_CTL_MOD);
  }
}

Server::Server(Handler handler) : loop_(std::make_unique<Loop>(std::move(handler))) {}
Server::~Server() = default;

int Server::port() const { return loop_->port(); }
std::string Server::url() const { return "http://127.0.0.1:" + std::to_string(port()); }

std::vector<Request> Server::requests() const {
  const std::lock_guard lock(loop_->mutex);
  return loop_->requests;
}
std::size_t Server::request_count() const {
  const std::lock_guard lock(loop_->mutex);
  return loop_->requests.size();
}
std::size_t Server::connections() const {
  const std::lock_guard lock(loop_->mutex);
  return loop_->connections;
}
std::size_t Server::max_concurrent() const {
  const std::lock_guard lock(loop_->mutex);
  return loop_->max_concurrent;
}

std::string DeadUrl() {
  static std::list<Fd> held;
  const Fd& fd = held.emplace_back(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  return "http://127.0.0.1:" + std::to_string(BindLoopback(fd.get()));
}

}  // namespace upskill::loopback
