// SPDX-License-Identifier: Apache-2.0
#include "program/model_proxy.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "net/http_error.h"
#include "program/proxy_connection.h"
#include "program/proxy_ledger.h"
#include "util/invariant.h"
#include "util/log.h"

namespace upskill {
namespace {

// Of one program: it may be talked into anything.
constexpr std::size_t kMostConnections = 64;
constexpr std::size_t kMostHeld = std::size_t{256}
                                  << 20U;  // bytes of its requests and answers, all connections together
constexpr int kMostRequests = 20'000;
// How long an answer may still arrive for a program that has closed its connection: some leave before the stream's end.
constexpr std::chrono::seconds kGrace{5};

}  // namespace

// The thread, and the state that only it uses: everything except the inbox.
class ModelProxy::Loop {
 public:
  Loop(ModelEndpoint endpoint, std::shared_ptr<HttpClient> client, const Clock& clock)
      : endpoint_(std::move(endpoint)), client_(std::move(client)), clock_(clock), wake_(::eventfd(0, EFD_CLOEXEC)) {
    CHECK(wake_.valid());
    thread_ = std::jthread([this](const std::stop_token& stop) { Run(stop); });
  }
  ~Loop() {
    thread_.request_stop();
    Wake();
    thread_.join();
  }
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  const ModelEndpoint& endpoint() const { return endpoint_; }

  void Post(std::function<void()> work) {
    {
      const std::lock_guard lock(mutex_);
      inbox_.push_back(std::move(work));
    }
    Wake();
  }

  void Open(Ticket ticket, const ProxyLimits& limits) {
    Cell& cell = cells_.try_emplace(ticket, endpoint_, limits).first->second;
    cell.base_url = endpoint_.base_urls[ticket % endpoint_.base_urls.size()];
  }

  void Listen(Ticket ticket, Fd listener) {
    if (const auto cell = cells_.find(ticket); cell != cells_.end()) cell->second.listener = std::move(listener);
  }

  void Close(Ticket ticket, bool at_once, std::promise<ProxyRecord> closed) {
    const auto found = cells_.find(ticket);
    CHECK(found != cells_.end());
    Cell& cell = found->second;
    cell.closed = std::move(closed);
    cell.listener.Close();
    for (auto& [id, connection] : cell.connections) Drop(*connection, at_once);
    cell.connections.clear();
    EndIfDone(ticket);
  }

 private:
  struct Cell {
    Cell(const ModelEndpoint& endpoint, ProxyLimits limits) : ledger(endpoint, std::move(limits)) {}
    ProxyLedger ledger;
    std::string base_url;
    Fd listener;
    std::map<std::uint64_t, std::unique_ptr<ProxyConnection>> connections;
    int under_way = 0;  // requests at the endpoint
    int requests = 0;   // that were passed on
    std::optional<std::promise<ProxyRecord>> closed;
  };

  void Wake() const {
    const std::uint64_t one = 1;
    if (::write(wake_.get(), &one, sizeof one) < 0) Log("proxy", "waking the thread failed");
  }

  void Run(const std::stop_token& stop) {
    while (!stop.stop_requested() || !cells_.empty()) {
      Wait();
      for (const std::function<void()>& work : TakeInbox()) work();
      // Only tickets that nobody has closed are left.
      if (stop.stop_requested()) CloseAll();
    }
  }

  void CloseAll() {
    std::vector<Ticket> open;
    for (const auto& [ticket, cell] : cells_) {
      if (!cell.closed) open.push_back(ticket);
    }
    for (const Ticket ticket : open) Close(ticket, true, std::promise<ProxyRecord>());
  }

  std::vector<std::function<void()>> TakeInbox() {
    const std::lock_guard lock(mutex_);
    return std::exchange(inbox_, {});
  }

  // Until something happens on a socket or in the inbox; then serves the sockets.
  void Wait() {
    std::vector<pollfd> polls = {{wake_.get(), POLLIN, 0}};
    std::vector<std::pair<Ticket, std::uint64_t>> owners = {{}};  // connection 0: the listener
    for (const auto& [ticket, cell] : cells_) {
      if (cell.listener.valid() && cell.connections.size() < kMostConnections) {
        polls.push_back({cell.listener.get(), POLLIN, 0});
        owners.emplace_back(ticket, 0);
      }
      for (const auto& [id, connection] : cell.connections) {
        const int events =
            POLLRDHUP | (connection->wants_to_read() ? POLLIN : 0) | (connection->wants_to_write() ? POLLOUT : 0);
        polls.push_back({connection->fd(), static_cast<short>(events), 0});
        owners.emplace_back(ticket, id);
      }
    }
    if (::poll(polls.data(), polls.size(), -1) <= 0) return;
    if (polls.front().revents != 0) {
      std::uint64_t count = 0;
      if (::read(wake_.get(), &count, sizeof count) < 0) Log("proxy", "reading the wake-up failed");
    }
    for (std::size_t i = 1; i < polls.size(); ++i) {
      if (polls[i].revents == 0) continue;
      const auto cell = cells_.find(owners[i].first);
      if (cell == cells_.end()) continue;
      if (owners[i].second == 0) {
        Accept(cell->second);
      } else {
        Serve(cell->first, owners[i].second, polls[i].revents);
      }
    }
  }

  void Accept(Cell& cell) {
    Fd fd(::accept4(cell.listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (fd.valid()) cell.connections.emplace(++last_connection_, std::make_unique<ProxyConnection>(std::move(fd)));
  }

  void Serve(Ticket ticket, std::uint64_t id, int events) {
    Cell& cell = cells_.at(ticket);
    const auto found = cell.connections.find(id);
    if (found == cell.connections.end()) return;
    ProxyConnection& connection = *found->second;
    if ((events & POLLIN) != 0) {
      connection.Read();
      if (connection.open() && HeldBytes(cell) > kMostHeld) {
        connection.AnswerError(503, "too many requests at once", false);
      } else {
        TakeRequests(ticket, id, connection);
      }
    } else if ((events & (POLLRDHUP | POLLHUP | POLLERR)) != 0) {
      connection.Close();
    }
    if (connection.open()) connection.Write();
    Tidy(cell, id);
  }

  static std::size_t HeldBytes(const Cell& cell) {
    std::size_t bytes = 0;
    for (const auto& [id, connection] : cell.connections) bytes += connection->bytes();
    return bytes;
  }

  void Tidy(Cell& cell, std::uint64_t id) {
    const auto found = cell.connections.find(id);
    if (found == cell.connections.end() || found->second->open()) return;
    Drop(*found->second, false);
    cell.connections.erase(found);
  }

  // The program has left. What it was being answered counts if it is complete soon: the provider charges for it.
  void Drop(ProxyConnection& connection, bool at_once) {
    if (connection.exchange != nullptr && connection.exchange->transfer != 0) {
      const auto cancel = [client = client_.get(), transfer = connection.exchange->transfer] {
        client->Cancel(transfer);
      };
      if (at_once || !connection.exchange->answer) {
        cancel();
      } else {
        client_->After(kGrace, cancel);
      }
    }
    connection.exchange = nullptr;
    connection.Close();
  }

  void TakeRequests(Ticket ticket, std::uint64_t id, ProxyConnection& connection) {
    while (connection.open() && connection.wants_to_read()) {
      Result<std::optional<ProxyRequest>> request = connection.Next();
      if (!request) return connection.AnswerError(400, request.error().message, false);
      if (!request->has_value()) return;
      Start(ticket, id, connection, **request);
    }
  }

  void Start(Ticket ticket, std::uint64_t id, ProxyConnection& connection, const ProxyRequest& request) {
    Cell& cell = cells_.at(ticket);
    Result<EndpointRequest> rewritten = RequestForEndpoint(request, endpoint_, cell.base_url);
    if (!rewritten) return connection.AnswerError(404, rewritten.error().message, request.keep_alive);
    if (rewritten->kind == EndpointRequest::Kind::kHello)
      return connection.Answer(200, "application/json", "", request.keep_alive);
    if (++cell.requests > kMostRequests)
      return connection.AnswerError(429, "too many requests; no more are answered", false);
    const auto exchange = std::make_shared<ProxyExchange>();
    exchange->kind = rewritten->kind;
    exchange->streamed = rewritten->streamed;
    exchange->has_tools = rewritten->has_tools;
    exchange->keep_alive = request.keep_alive;
    exchange->request_bytes = rewritten->http.body.size();
    connection.exchange = exchange;
    if (exchange->kind != EndpointRequest::Kind::kAnswer) return Send(ticket, id, exchange, std::move(rewritten->http));
    exchange->answer.emplace(endpoint_.protocol, exchange->streamed);
    if (const Status admitted = cell.ledger.Admit(); !admitted)
      return connection.AnswerError(400, admitted.error().message, request.keep_alive);
    if (!cell.ledger.metered()) return Send(ticket, id, exchange, std::move(rewritten->http));
    ++cell.under_way;
    const auto shared = std::make_shared<EndpointRequest>(std::move(*rewritten));
    cell.ledger.Reserve(*shared, [this, ticket, id, exchange, shared](const Result<std::uint64_t>& approved) {
      Post([this, ticket, id, exchange, shared, approved] { OnApproved(ticket, id, exchange, *shared, approved); });
    });
  }

  // The budget has room for the request, or has none.
  void OnApproved(Ticket ticket, std::uint64_t id, const std::shared_ptr<ProxyExchange>& exchange,
                  EndpointRequest& request, const Result<std::uint64_t>& approved) {
    Cell& cell = cells_.at(ticket);
    --cell.under_way;
    ProxyConnection* const connection = ConnectionOf(cell, id);
    const bool wanted = connection != nullptr && connection->exchange == exchange;
    if (!approved) {
      cell.ledger.NoteRefusal(approved.error());
      if (wanted) connection->AnswerError(400, approved.error().message, exchange->keep_alive);
    } else if (!wanted) {
      cell.ledger.Settle(*approved, Error{ErrorKind::kCancelled, "the program doesn't wait for it any more"});
    } else {
      exchange->meter_ticket = *approved;
      return Send(ticket, id, exchange, std::move(request.http));
    }
    if (wanted) {
      connection->Write();
      Tidy(cell, id);
    }
    EndIfDone(ticket);
  }

  void Send(Ticket ticket, std::uint64_t id, const std::shared_ptr<ProxyExchange>& exchange, HttpRequest http) {
    ++cells_.at(ticket).under_way;
    if (exchange->streamed) {
      http.on_data = [this, ticket, id, exchange](std::string_view piece) {
        Post([this, ticket, id, exchange, text = std::string(piece)] { OnData(ticket, id, *exchange, text); });
        return true;
      };
    }
    exchange->transfer = client_->Start(std::move(http), [this, ticket, id, exchange](Result<HttpResponse> response) {
      const auto shared = std::make_shared<Result<HttpResponse>>(std::move(response));
      Post([this, ticket, id, exchange, shared] { OnEnd(ticket, id, *exchange, *shared); });
    });
  }

  ProxyConnection* ConnectionOf(Cell& cell, std::uint64_t id) {
    const auto found = cell.connections.find(id);
    return found == cell.connections.end() ? nullptr : found->second.get();
  }

  void OnData(Ticket ticket, std::uint64_t id, ProxyExchange& exchange, const std::string& piece) {
    Cell& cell = cells_.at(ticket);
    if (exchange.answer) exchange.answer->Feed(piece);
    ProxyConnection* const connection = ConnectionOf(cell, id);
    if (connection == nullptr) return;
    if (!std::exchange(exchange.head_sent, true)) connection->StartStream();
    connection->SendPiece(piece);
    connection->Write();
    // A program that doesn't read its answers.
    if (HeldBytes(cell) > kMostHeld) connection->Close();
    Tidy(cell, id);
  }

  void OnEnd(Ticket ticket, std::uint64_t id, ProxyExchange& exchange, const Result<HttpResponse>& response) {
    Cell& cell = cells_.at(ticket);
    --cell.under_way;
    bool whole = response.ok();
    if (exchange.answer) {
      Result<ChatResponse> answer = AnswerOf(exchange, response);
      whole = whole || answer.ok();
      cell.ledger.Record(exchange.has_tools, exchange.meter_ticket, std::move(answer), response);
    }
    if (ProxyConnection* const connection = ConnectionOf(cell, id)) {
      Finish(*connection, exchange, response, whole);
      if (connection->open()) connection->Write();
      // What has been sent meanwhile.
      if (connection->open()) TakeRequests(ticket, id, *connection);
      if (connection->open()) connection->Write();
      Tidy(cell, id);
    }
    EndIfDone(ticket);
  }

  Result<ChatResponse> AnswerOf(ProxyExchange& exchange, const Result<HttpResponse>& response) const {
    if (response && (response->status < 200 || response->status > 299))
      return ErrorOfResponse(*response, clock_.WallNow());
    if (response && !exchange.streamed) exchange.answer->Feed(response->body);
    Result<ChatResponse> answer = exchange.answer->Finish();
    // A stream may break off after its last event.
    if (!response && !answer) return response.error();
    return answer;
  }

  static void Finish(ProxyConnection& connection, const ProxyExchange& exchange, const Result<HttpResponse>& response,
                     bool whole) {
    if (exchange.head_sent && whole) return connection.EndStream(exchange.keep_alive);
    if (exchange.head_sent) return connection.Close();  // so that the program sees that the answer isn't whole
    if (!response) return connection.AnswerError(502, response.error().message, exchange.keep_alive);
    connection.Answer(response->status, HeaderOf(*response, "content-type").value_or("application/json"),
                      response->body, exchange.keep_alive);
  }

  void EndIfDone(Ticket ticket) {
    const auto cell = cells_.find(ticket);
    if (!cell->second.closed || cell->second.under_way > 0) return;
    std::promise<ProxyRecord> closed = std::move(*cell->second.closed);
    ProxyRecord record = cell->second.ledger.Take();
    cells_.erase(cell);
    closed.set_value(std::move(record));
  }

  const ModelEndpoint endpoint_;
  const std::shared_ptr<HttpClient> client_;
  const Clock& clock_;
  const Fd wake_;
  std::map<Ticket, Cell> cells_;
  std::uint64_t last_connection_ = 0;

  std::mutex mutex_;
  std::vector<std::function<void()>> inbox_;  // guarded by mutex_

  std::jthread thread_;  // last: uses everything above
};

ModelProxy::ModelProxy(ModelEndpoint endpoint, std::shared_ptr<HttpClient> client, const Clock& clock)
    : loop_(std::make_unique<Loop>(std::move(endpoint), std::move(client), clock)) {}
ModelProxy::~ModelProxy() = default;

const ModelEndpoint& ModelProxy::endpoint() const { return loop_->endpoint(); }

ModelProxy::Ticket ModelProxy::Open(ProxyLimits limits) {
  const Ticket ticket = next_ticket_.fetch_add(1);
  loop_->Post([loop = loop_.get(), ticket, limits = std::move(limits)] { loop->Open(ticket, limits); });
  return ticket;
}

void ModelProxy::Listen(Ticket ticket, Fd listener) {
  const auto shared = std::make_shared<Fd>(std::move(listener));
  loop_->Post([loop = loop_.get(), ticket, shared] { loop->Listen(ticket, std::move(*shared)); });
}

ProxyRecord ModelProxy::Close(Ticket ticket, bool at_once) {
  const auto closed = std::make_shared<std::promise<ProxyRecord>>();
  std::future<ProxyRecord> record = closed->get_future();
  loop_->Post([loop = loop_.get(), ticket, at_once, closed] { loop->Close(ticket, at_once, std::move(*closed)); });
  return record.get();
}

}  // namespace upskill
