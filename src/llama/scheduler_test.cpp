// SPDX-License-Identifier: Apache-2.0
#include "llama/scheduler.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace upskill {
namespace {

using ::testing::AnyOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Action = Scheduler::Action;
using Scope = Model::CancelScope;

// A scheduler with requests that note how they ended, by name.
class Desk {
 public:
  explicit Desk(int slots, std::chrono::milliseconds patience = Scheduler::kPatience) : scheduler(slots, patience) {}
  // Ends what a test left behind.
  ~Desk() {
    scheduler.Cancel(Scope::kRunning);
    for (std::size_t slot = 0; slot < kMostSlots && slot < slots_seen; ++slot) {
      if (!scheduler.IsFree(slot)) scheduler.Finish(slot, CancelledError());
    }
  }

  void Submit(const std::string& name, bool more_follows = false) {
    ChatRequest request;
    request.id = name;
    request.more_follows = more_follows;
    scheduler.Submit(std::move(request), [this, name](const Result<ChatResponse>& answer) {
      ended[name].push_back(answer ? "answered" : ErrorKindName(answer.error().kind));
    });
  }

  // Does what the scheduler says, admitting everything, until it waits or a batch is due: the names of the requests in
  // that batch by slot, "-" for free slots; nothing when it waits.
  std::vector<std::string> Batch() {
    while (true) {
      const std::optional<Scheduler::Move> move = scheduler.TryNext();
      if (!move) return {};
      if (move->action == Action::kEvaluate) return names;
      EXPECT_EQ(move->action, Action::kBegin);
      if (move->action != Action::kBegin) return {"?"};
      Place(*move);
      scheduler.Admit(move->slot);
    }
  }

  void Place(const Scheduler::Move& move) {
    slots_seen = std::max(slots_seen, move.slot + 1);
    if (names.size() <= move.slot) names.resize(move.slot + 1, "-");
    names[move.slot] = move.request.id;
  }

  void Answer(std::size_t slot) {
    names[slot] = "-";
    scheduler.Finish(slot, ChatResponse{});
  }

  std::optional<Action> NextAction() {
    const std::optional<Scheduler::Move> move = scheduler.TryNext();
    return move ? std::optional(move->action) : std::nullopt;
  }

  static constexpr std::size_t kMostSlots = 64;

  Scheduler scheduler;
  std::vector<std::string> names;                         // by slot
  std::map<std::string, std::vector<std::string>> ended;  // by request
  std::size_t slots_seen = 0;
};

TEST(Scheduler, WaitsWhileThereIsNothingToDo) {
  Desk desk(2);
  EXPECT_THAT(desk.Batch(), IsEmpty());
  desk.Submit("a");
  EXPECT_THAT(desk.Batch(), ElementsAre("a"));
  EXPECT_EQ(desk.NextAction(), Action::kEvaluate);
  desk.Answer(0);
  EXPECT_EQ(desk.NextAction(), std::nullopt);
  EXPECT_THAT(desk.ended["a"], ElementsAre("answered"));
}

TEST(Scheduler, FillsTheBatchWithWhatIsPromised) {
  Desk desk(3);
  desk.Submit("a", true);
  EXPECT_THAT(desk.Batch(), IsEmpty()) << "b is promised";
  desk.Submit("b", true);
  EXPECT_THAT(desk.Batch(), IsEmpty()) << "c is promised";
  desk.Submit("c", true);
  EXPECT_THAT(desk.Batch(), ElementsAre("a", "b", "c")) << "full: what is promised beyond it has no place";
}

TEST(Scheduler, TheLastPromiseCounts) {
  Desk desk(4);
  desk.Submit("a", true);
  desk.Submit("b", false);
  EXPECT_THAT(desk.Batch(), ElementsAre("a", "b"));
  desk.Submit("c", true);
  EXPECT_THAT(desk.Batch(), IsEmpty()) << "running requests wait, too";
  desk.Submit("d", false);
  EXPECT_THAT(desk.Batch(), ElementsAre("a", "b", "c", "d"));
}

TEST(Scheduler, NextAbandonsAPromiseAfterAWhile) {
  Desk desk(3, std::chrono::milliseconds(1));
  desk.Submit("a", true);
  const Scheduler::Move move = desk.scheduler.Next();
  ASSERT_EQ(move.action, Action::kBegin);
  desk.Place(move);
  desk.scheduler.Admit(move.slot);
  EXPECT_EQ(desk.scheduler.Next().action, Action::kEvaluate);
}

TEST(Scheduler, FreedSlotsAreTakenInOrder) {
  Desk desk(3);
  for (const char* name : {"a", "b", "c", "d", "e"}) desk.Submit(name);
  EXPECT_THAT(desk.Batch(), ElementsAre("a", "b", "c"));
  desk.Answer(1);
  EXPECT_THAT(desk.Batch(), ElementsAre("a", "d", "c"));
  desk.Answer(2);
  desk.Answer(0);
  EXPECT_THAT(desk.Batch(), ElementsAre("e", "d", "-"));
}

TEST(Scheduler, AFreedSlotWaitsForThePromised) {
  Desk desk(2);
  desk.Submit("a", true);
  desk.Submit("b", true);
  EXPECT_THAT(desk.Batch(), ElementsAre("a", "b"));
  desk.Answer(0);
  EXPECT_THAT(desk.Batch(), IsEmpty());
  desk.Submit("c");
  EXPECT_THAT(desk.Batch(), ElementsAre("c", "b"));
}

TEST(Scheduler, ARequestThatFailsAtOnceGivesItsSlotBack) {
  Desk desk(2);
  desk.Submit("bad", true);
  desk.Submit("good");
  const std::optional<Scheduler::Move> move = desk.scheduler.TryNext();
  ASSERT_TRUE(move && move->action == Action::kBegin);
  desk.scheduler.Finish(move->slot, Error{ErrorKind::kPermanent, "too long"});
  EXPECT_THAT(desk.ended["bad"], ElementsAre("permanent"));
  EXPECT_THAT(desk.Batch(), ElementsAre("good"));
}

// Begins the next request and holds it back.
std::size_t HoldNext(Desk& desk) {
  const std::optional<Scheduler::Move> move = desk.scheduler.TryNext();
  EXPECT_TRUE(move && move->action == Action::kBegin);
  desk.slots_seen = std::max(desk.slots_seen, move->slot + 1);
  desk.scheduler.Hold(move->slot);
  return move->slot;
}

TEST(Scheduler, ARequestWithoutRoomIsTriedAgainWhenAnotherEnds) {
  Desk desk(3);
  desk.Submit("a");
  desk.Batch();
  desk.Submit("large");
  desk.Submit("small");
  const std::size_t held = HoldNext(desk);
  EXPECT_EQ(held, 1U);
  EXPECT_EQ(desk.NextAction(), Action::kEvaluate);
  EXPECT_EQ(desk.NextAction(), Action::kEvaluate) << "not tried at every step, and not overtaken";
  desk.Answer(0);
  EXPECT_EQ(desk.NextAction(), Action::kTryAgain);
  desk.scheduler.Admit(held);
  desk.names = {"-", "large"};
  EXPECT_THAT(desk.Batch(), ElementsAre("small", "large"));
}

TEST(Scheduler, AHeldRequestIsWaitedForEvenIfMoreIsPromised) {
  Desk desk(3);
  desk.Submit("a");
  desk.Batch();
  desk.Submit("large", true);
  HoldNext(desk);
  EXPECT_EQ(desk.NextAction(), Action::kEvaluate) << "the promised one has to wait behind it anyway";
}

TEST(Scheduler, CancelOfTheWaitingLeavesTheRunning) {
  Desk desk(2);
  for (const char* name : {"a", "b", "c", "d"}) desk.Submit(name, true);
  EXPECT_THAT(desk.Batch(), ElementsAre("a", "b"));
  desk.scheduler.Cancel(Scope::kWaiting);
  EXPECT_THAT(desk.ended["c"], ElementsAre("cancelled"));
  EXPECT_THAT(desk.ended["d"], ElementsAre("cancelled"));
  desk.Answer(0);
  EXPECT_THAT(desk.Batch(), ElementsAre("-", "b")) << "the promise of d is gone with it";
  EXPECT_FALSE(desk.scheduler.aborted());
  desk.Answer(1);
  EXPECT_THAT(desk.ended["a"], ElementsAre("answered"));
  EXPECT_THAT(desk.ended["b"], ElementsAre("answered"));
}

TEST(Scheduler, CancelWhileThePromisedIsWaitedFor) {
  Desk desk(4);
  desk.Submit("a", true);
  EXPECT_THAT(desk.Batch(), IsEmpty());
  desk.scheduler.Cancel(Scope::kWaiting);
  EXPECT_THAT(desk.Batch(), ElementsAre("a")) << "it was begun: it is finished";
  desk.Submit("b", true);
  desk.scheduler.Cancel(Scope::kWaiting);
  EXPECT_THAT(desk.ended["b"], ElementsAre("cancelled"));
  EXPECT_THAT(desk.Batch(), ElementsAre("a"));
}

TEST(Scheduler, CancelOfTheWaitingForgetsTheHeld) {
  Desk desk(2);
  desk.Submit("a");
  desk.Batch();
  desk.Submit("large");
  const std::size_t held = HoldNext(desk);
  desk.scheduler.Cancel(Scope::kWaiting);
  const std::optional<Scheduler::Move> move = desk.scheduler.TryNext();
  ASSERT_TRUE(move);
  EXPECT_EQ(move->action, Action::kForget);
  EXPECT_EQ(move->slot, held);
  EXPECT_THAT(desk.ended["large"], ElementsAre("cancelled"));
  EXPECT_EQ(desk.NextAction(), Action::kEvaluate);
  desk.Submit("b");
  EXPECT_THAT(desk.Batch(), ElementsAre("a", "b"));
}

TEST(Scheduler, CancelOfTheRunningEndsAllThatWasBegun) {
  Desk desk(3);
  desk.Submit("a");
  desk.Submit("b");
  desk.Batch();
  desk.Submit("large");
  HoldNext(desk);
  desk.Submit("waiting", true);
  desk.scheduler.Cancel(Scope::kRunning);
  EXPECT_TRUE(desk.scheduler.aborted());
  EXPECT_THAT(desk.ended["waiting"], ElementsAre("cancelled"));
  EXPECT_EQ(desk.NextAction(), Action::kEndAll);
  EXPECT_FALSE(desk.scheduler.aborted());
  for (std::size_t slot = 0; slot < 3; ++slot) {
    ASSERT_FALSE(desk.scheduler.IsFree(slot));
    desk.scheduler.Finish(slot, CancelledError());
  }
  EXPECT_EQ(desk.NextAction(), std::nullopt);
  for (const auto& [name, how] : desk.ended) EXPECT_THAT(how, ElementsAre("cancelled")) << name;
  EXPECT_EQ(desk.ended.size(), 4U);
}

TEST(Scheduler, CancelDoesNotReachLaterRequests) {
  Desk desk(2);
  for (const Scope scope : {Scope::kWaiting, Scope::kRunning}) {
    desk.scheduler.Cancel(scope);
    desk.Submit("later");
    if (scope == Scope::kRunning) {
      EXPECT_EQ(desk.NextAction(), Action::kEndAll) << "of nothing";
    }
    EXPECT_THAT(desk.Batch(), ElementsAre("later"));
    desk.Answer(0);
    EXPECT_THAT(desk.ended["later"], Each("answered"));
  }
}

TEST(Scheduler, StopComesBeforeEverythingElse) {
  Desk desk(2);
  desk.Submit("a", true);
  desk.Batch();
  desk.Submit("b", true);
  desk.scheduler.Stop();
  EXPECT_EQ(desk.NextAction(), Action::kStop);
  EXPECT_EQ(desk.scheduler.Next().action, Action::kStop);
}

TEST(Scheduler, NextWakesUpForEveryChange) {
  Desk desk(2);
  const auto do_later = [](auto what) { return std::jthread(what); };
  {
    const std::jthread sender = do_later([&] { desk.Submit("a", true); });
    const Scheduler::Move move = desk.scheduler.Next();
    ASSERT_EQ(move.action, Action::kBegin);
    desk.Place(move);
    desk.scheduler.Admit(move.slot);
  }
  {
    const std::jthread canceller = do_later([&] { desk.scheduler.Cancel(Scope::kWaiting); });
    EXPECT_EQ(desk.scheduler.Next().action, Action::kEvaluate) << "the promise is gone";
  }
  desk.Answer(0);
  const std::jthread stopper = do_later([&] { desk.scheduler.Stop(); });
  EXPECT_EQ(desk.scheduler.Next().action, Action::kStop);
}

// With a sender that follows the rules (a window, promises kept, now and then a Cancel), every request ends exactly
// once, and every batch is full unless nothing more was promised.
void RunToTheEnd(std::uint32_t seed, std::size_t slots) {
  std::mt19937 random(seed);
  const auto chance = [&](int percent) { return static_cast<int>(random() % 100) < percent; };
  Desk desk(static_cast<int>(slots));
  constexpr std::size_t kRequests = 60;
  std::size_t sent = 0;
  bool promised = false;
  const auto unanswered = [&] {
    std::size_t ended = 0;
    for (const auto& [name, how] : desk.ended) ended += how.size();
    return sent - ended;
  };
  const auto send = [&] {
    while (sent < kRequests && unanswered() < 2 * slots && (promised || chance(70))) {
      promised = sent + 1 < kRequests && chance(80);
      desk.Submit(std::to_string(sent++), promised);
    }
  };
  std::size_t idle = 0;
  while ((sent < kRequests || unanswered() > 0) && idle < 1'000) {
    send();
    if (chance(3)) {
      desk.scheduler.Cancel(chance(50) ? Scope::kWaiting : Scope::kRunning);
      promised = false;
    }
    const std::optional<Scheduler::Move> move = desk.scheduler.TryNext();
    idle = move ? 0 : idle + 1;
    if (!move) continue;
    if (move->action == Action::kBegin || move->action == Action::kTryAgain) {
      if (move->action == Action::kBegin) desk.Place(*move);
      if (desk.scheduler.AnyRunning() && chance(20)) {
        desk.scheduler.Hold(move->slot);
      } else {
        desk.scheduler.Admit(move->slot);
      }
    }
    if (move->action == Action::kEvaluate || move->action == Action::kEndAll) {
      for (std::size_t slot = 0; slot < desk.slots_seen; ++slot) {
        const bool ends = move->action == Action::kEndAll || chance(30);
        if (!desk.scheduler.IsFree(slot) && ends) desk.scheduler.Finish(slot, ChatResponse{});
      }
    }
  }
  EXPECT_LT(idle, 1'000U) << "seed " << seed << ": it hangs";
  EXPECT_EQ(desk.ended.size(), kRequests);
  for (const auto& [name, how] : desk.ended) EXPECT_THAT(how, ElementsAre(AnyOf("answered", "cancelled"))) << name;
}

TEST(Scheduler, EveryRequestEnds) {
  for (std::uint32_t seed = 0; seed < 200; ++seed) RunToTheEnd(seed, 1 + seed % 5);
}

}  // namespace
}  // namespace upskill
