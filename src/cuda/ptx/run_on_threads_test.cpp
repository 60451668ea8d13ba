// SPDX-License-Identifier: Apache-2.0
// Launches whose blocks several threads run: they must come out as those of one thread do.
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <sstream>
#include <thread>

#include "cuda/ptx/ptx_test.h"

namespace upskill::ptx {
namespace {

// Each thread has its index in %r1, the block's in %r2, and the address of its own word of `out` in %rd2.
std::string IndexedKernel(const std::string& body) {
  return KernelText(".param .u64 pin, .param .u64 pout", R"(
  .shared .align 4 .b8 tile[256];
  .reg .pred %p<4>; .reg .b16 %h<3>; .reg .b32 %r<12>; .reg .f32 %f<4>; .reg .b64 %rd<9>;
  ld.param.u64 %rd7, [pin];
  ld.param.u64 %rd1, [pout];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %tid.x;
  mov.u32 %r4, %ntid.x;
  mad.lo.s32 %r1, %r2, %r4, %r3;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd7, %rd2;
  add.s64 %rd2, %rd1, %rd2;
  )" + body + "\n  ret;");
}

// A sum over the words of all blocks in a loop, and one over the block by shared memory.
const char* const kCleanBody = R"(
  mov.f32 %f1, 0f00000000;
  mov.u32 %r5, 0;
LOOP:
  mul.wide.u32 %rd4, %r5, 4;
  add.s64 %rd5, %rd7, %rd4;
  ld.global.f32 %f2, [%rd5];
  fma.rn.f32 %f1, %f2, %f1, %f2;
  add.s32 %r5, %r5, 1;
  setp.lt.u32 %p1, %r5, 200;
  @%p1 bra LOOP;
  mov.u32 %r6, tile;
  shl.b32 %r7, %r3, 2;
  add.s32 %r8, %r6, %r7;
  st.shared.f32 [%r8], %f1;
  bar.sync 0;
  xor.b32 %r9, %r7, 128;
  add.s32 %r9, %r6, %r9;
  ld.shared.f32 %f3, [%r9];
  ld.global.f32 %f2, [%rd3];
  add.f32 %f3, %f3, %f2;
  st.global.f32 [%rd2], %f3;)";

// All of an outcome that may not depend on threads.
std::string TextOf(const LaunchOutcome& outcome) {
  std::ostringstream text;
  text << static_cast<int>(outcome.ending) << '|' << outcome.reason << '|' << outcome.unsupported << '|'
       << outcome.findings_dropped << '|' << outcome.race_checks_incomplete << '|' << outcome.printed << '\n';
  const Counters& counters = outcome.counters;
  for (const std::uint64_t count :
       {counters.warp_instructions, counters.thread_instructions, counters.branches, counters.divergent_branches,
        counters.global_load_requests, counters.global_load_sectors, counters.global_load_bytes,
        counters.global_store_requests, counters.global_store_sectors, counters.global_store_bytes,
        counters.shared_requests, counters.shared_bank_conflicts, counters.local_requests, counters.barriers,
        counters.atomics}) {
    text << count << ' ';
  }
  for (const auto& [name, count] : counters.by_class) text << name << '=' << count << ' ';
  for (const Finding& finding : outcome.findings) {
    text << '\n'
         << FindingKindName(finding.kind) << '|' << finding.message << '|' << finding.detail << '|' << finding.ptx_line
         << '|' << finding.block.x << '|' << finding.thread.x << '|' << finding.address << '|' << finding.other_ptx_line
         << '|' << finding.other_block.x << '|' << finding.other_thread.x << '|' << finding.count;
  }
  return text.str();
}

struct Ran {
  LaunchOutcome outcome;
  std::vector<std::uint8_t> memory;
  std::vector<Writer> writers;
};

struct Case {
  std::string kernel;
  std::uint32_t blocks = 100;
  std::uint32_t threads = 64;  // of a block
  std::size_t out_words = 0;   // 0: one for each thread
};

RunOptions Threads(std::uint32_t threads) {
  RunOptions options;
  options.threads = threads;
  options.divide_after = 20'000;
  return options;
}

Ran RunCase(const Case& what, const RunOptions& options) {
  Device device(what.kernel);
  const std::size_t all = std::size_t{what.blocks} * what.threads;
  std::vector<float> in(all);
  for (std::size_t i = 0; i < all; ++i) in[i] = 0.001F * static_cast<float>(i % 1013);
  const std::uint64_t from = device.Upload(in);
  const std::size_t words = what.out_words == 0 ? all : what.out_words;
  const std::uint64_t to = device.Upload(std::vector<std::uint32_t>(words, 7));
  Ran ran;
  ran.outcome = device.Run(what.blocks, what.threads, {from, to}, options);
  ran.memory = device.memory().Read(to, words * 4).value();
  ran.writers = device.memory().Writers(to, words * 4).value();
  return ran;
}

// One thread and four. Returns the latter's.
Ran ExpectSame(const Case& what, const std::function<void(RunOptions&)>& change = {}) {
  RunOptions one = Threads(1);
  RunOptions four = Threads(4);
  if (change) {
    change(one);
    change(four);
  }
  const Ran expected = RunCase(what, one);
  Ran got = RunCase(what, four);
  EXPECT_EQ(expected.outcome.division, LaunchDivision::kNone);
  EXPECT_EQ(TextOf(got.outcome), TextOf(expected.outcome));
  EXPECT_EQ(got.memory, expected.memory);
  EXPECT_EQ(got.writers, expected.writers);
  return got;
}

TEST(RunOnThreads, CleanKernelsComeOutEqual) {
  for (const std::uint64_t seed : {0U, 1U, 7U}) {
    for (const bool checks : {true, false}) {
      const Ran ran = ExpectSame({IndexedKernel(kCleanBody)}, [&](RunOptions& options) {
        options.schedule_seed = seed;
        options.check_races = options.check_uninitialised = options.count_memory = checks;
      });
      EXPECT_EQ(ran.outcome.division, LaunchDivision::kDone);
      EXPECT_EQ(ran.outcome.ending, Ending::kCompleted);
      EXPECT_TRUE(ran.outcome.findings.empty());
      EXPECT_GT(ran.outcome.counters.barriers, 90U);
    }
  }
}

TEST(RunOnThreads, EveryNumberOfThreadsWillDo) {
  const Case what{IndexedKernel(kCleanBody)};
  const Ran expected = RunCase(what, Threads(1));
  for (const std::uint32_t threads : {2U, 3U, 48U, 100'000U}) {
    const Ran got = RunCase(what, Threads(threads));
    EXPECT_EQ(TextOf(got.outcome), TextOf(expected.outcome)) << threads;
    EXPECT_EQ(got.memory, expected.memory) << threads;
    EXPECT_EQ(got.outcome.division, LaunchDivision::kDone) << threads;
  }
}

// The blocks' parts of one launch, and what another launch left, don't race with the next one.
TEST(RunOnThreads, LaunchesFollowEachOther) {
  std::vector<std::vector<float>> results;
  for (const std::uint32_t threads : {1U, 4U}) {
    Device device(IndexedKernel(kCleanBody));
    const std::uint64_t first = device.Upload(std::vector<float>(6400, 0.25F));
    const std::uint64_t second = device.Upload(std::vector<float>(6400, 0));
    for (int i = 0; i < 3; ++i) {
      const LaunchOutcome outcome =
          device.Run(100, 64, i % 2 == 0 ? std::vector{first, second} : std::vector{second, first}, Threads(threads));
      EXPECT_TRUE(outcome.findings.empty());
      EXPECT_EQ(outcome.division, threads == 1 ? LaunchDivision::kNone : LaunchDivision::kDone);
    }
    results.push_back(device.Download<float>(second, 6400));
  }
  EXPECT_EQ(results[0], results[1]);
}

// Neighbours write the same word of `out`, after some work.
const char* const kRacyBody = R"(
  mov.u32 %r5, 0;
LOOP:
  add.s32 %r5, %r5, 1;
  setp.lt.u32 %p1, %r5, 30;
  @%p1 bra LOOP;
  shr.u32 %r6, %r1, 7;
  mul.wide.u32 %rd4, %r6, 4;
  add.s64 %rd5, %rd1, %rd4;
  st.global.u32 [%rd5], %r1;)";

TEST(RunOnThreads, RacesBetweenBlocksAreTheSame) {
  const Case what{IndexedKernel(kRacyBody), 200, 64, 100};
  RunOptions options = Threads(1);
  options.divide_after = 0;
  const Ran expected = RunCase(what, options);
  ASSERT_FALSE(expected.outcome.findings.empty());
  EXPECT_EQ(expected.outcome.findings[0].kind, FindingKind::kRace);
  options.threads = 4;
  for (int i = 0; i < 15; ++i) {
    const Ran got = RunCase(what, options);
    ASSERT_EQ(TextOf(got.outcome), TextOf(expected.outcome));
    ASSERT_EQ(got.memory, expected.memory);
    ASSERT_EQ(got.outcome.division, LaunchDivision::kUndone);
  }
}

// What one block writes, a later one reads; without checks of races, nothing but the claims can tell.
TEST(RunOnThreads, BlocksThatReadWhatOthersWriteRunInOrder) {
  const Case what{IndexedKernel(R"(
  mov.u32 %r5, 0;
LOOP:
  add.s32 %r5, %r5, 1;
  setp.lt.u32 %p1, %r5, 300;
  @%p1 bra LOOP;
  setp.eq.u32 %p2, %r2, 0;
  sub.s64 %rd4, %rd2, 256;
  @!%p2 ld.global.u32 %r6, [%rd4];
  @%p2 mov.u32 %r6, 5;
  add.s32 %r6, %r6, %r3;
  st.global.u32 [%rd2], %r6;)")};
  for (const bool checks : {false, true}) {
    for (int i = 0; i < 5; ++i) {
      const Ran got = ExpectSame(what, [&](RunOptions& options) { options.check_races = checks; });
      std::uint32_t last = 0;
      std::memcpy(&last, got.memory.data() + got.memory.size() - 4, 4);
      EXPECT_EQ(last, 5U + 100U * 63U);
      EXPECT_TRUE(!checks || got.outcome.division == LaunchDivision::kUndone);
    }
  }
}

// Words of which two blocks write a part each: rows of 63 bytes.
TEST(RunOnThreads, BlocksMayShareWords) {
  const std::string kernel = IndexedKernel(R"(
  mov.u32 %r5, 0;
LOOP:
  add.s32 %r5, %r5, 1;
  setp.lt.u32 %p1, %r5, 30;
  @%p1 bra LOOP;
  cvt.u64.u32 %rd4, %r1;
  add.s64 %rd5, %rd1, %rd4;
  add.s32 %r6, %r2, %r3;
  st.global.u8 [%rd5], %r6;)");
  for (int i = 0; i < 5; ++i) {
    const Ran got = ExpectSame({kernel, 400, 63, 6300});
    EXPECT_TRUE(got.outcome.findings.empty());
    for (std::uint32_t at = 0; at < 400 * 63; ++at) {
      ASSERT_EQ(got.memory[at], static_cast<std::uint8_t>(at / 63 + at % 63)) << at;
    }
  }
}

TEST(RunOnThreads, AFaultOfALateBlockIsFoundInOrder) {
  // The last ten blocks write beyond the buffer, and all others into it.
  const Case beyond{IndexedKernel(kCleanBody), 100, 64, 90 * 64};
  for (int i = 0; i < 5; ++i) {
    const Ran got = ExpectSame(beyond, [](RunOptions& options) { options.max_findings = 3; });
    ASSERT_FALSE(got.outcome.findings.empty());
    EXPECT_EQ(got.outcome.findings[0].kind, FindingKind::kOutOfBounds);
    EXPECT_EQ(got.outcome.findings[0].block.x, 90U);
    EXPECT_EQ(got.outcome.division, LaunchDivision::kUndone);
  }
  const std::string trap = std::string(kCleanBody) + "\n  setp.eq.u32 %p2, %r2, 77;\n @%p2 trap;";
  const Ran got = ExpectSame({IndexedKernel(trap)});
  EXPECT_EQ(got.outcome.ending, Ending::kTrapped);
  EXPECT_EQ(got.outcome.findings.at(0).block.x, 77U);
}

TEST(RunOnThreads, DeadlocksAreTheSame) {
  const std::string body = std::string(kCleanBody) + R"(
  setp.eq.u32 %p2, %r2, 60;
  @!%p2 bra DONE;
  bar.sync 1, 96;
DONE:)";
  const Ran got = ExpectSame({IndexedKernel(body)});
  EXPECT_EQ(got.outcome.ending, Ending::kDeadlock);
  EXPECT_EQ(got.outcome.findings.at(0).block.x, 60U);
}

TEST(RunOnThreads, BudgetsHoldForAllThreadsTogether) {
  const Case what{IndexedKernel(kCleanBody), 1000};
  const Ran got = ExpectSame(what, [](RunOptions& options) { options.instruction_budget = 40'000'000; });
  EXPECT_EQ(got.outcome.ending, Ending::kBudget);
  EXPECT_EQ(got.outcome.reason, "more than 40000000 thread instructions");
  EXPECT_EQ(got.outcome.division, LaunchDivision::kUndone);

  const Case endless{IndexedKernel(
      "setp.lt.u32 %p1, %r2, 8;\n@%p1 bra DONE;\nmov.u32 %r5, 0;\nLOOP:\n add.s32 %r5, %r5, 1;\n bra LOOP;\nDONE:")};
  RunOptions options = Threads(4);
  options.divide_after = 1000;
  options.time_budget = std::chrono::milliseconds(200);
  const LaunchOutcome late = RunCase(endless, options).outcome;
  EXPECT_EQ(late.ending, Ending::kBudget);
  EXPECT_EQ(late.reason, "more than 200 ms");

  options.time_budget = std::chrono::minutes(10);
  const auto id = std::this_thread::get_id();
  int asked = 0;
  options.stop = [&] {
    EXPECT_EQ(std::this_thread::get_id(), id);
    return ++asked > 1;
  };
  const LaunchOutcome stopped = RunCase(endless, options).outcome;
  EXPECT_EQ(stopped.ending, Ending::kBudget);
  EXPECT_EQ(stopped.reason, "stopped");
  EXPECT_EQ(stopped.division, LaunchDivision::kUndone);
}

TEST(RunOnThreads, WithoutMemoryForItOneThreadGoesOn) {
  const Case what{IndexedKernel(kCleanBody)};
  bool fitted = false;
  bool refused = false;
  for (const std::uint64_t budget : {600'000U, 1'000'000U, 2'000'000U, 4'000'000U, 100'000'000U}) {
    const Ran got = ExpectSame(what, [&](RunOptions& options) { options.memory_budget = budget; });
    (got.outcome.division == LaunchDivision::kDone ? fitted : refused) = true;
  }
  EXPECT_TRUE(fitted && refused);
}

TEST(RunOnThreads, WhatLetsBlocksTalkIsLeftToOneThread) {
  const std::vector<std::string> bodies = {
      "red.global.add.u32 [%rd1], 1;",
      "atom.add.u32 %r6, [%rd2], 1;",
      "st.volatile.global.u32 [%rd2], %r1;",
      "ld.acquire.gpu.global.u32 %r6, [%rd3];",
      "mov.u64 %rd6, %clock64;\n st.global.u32 [%rd2], 1;",
      "mov.u32 %r6, %globaltimer_lo;",
      "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;",
  };
  for (const std::string& body : bodies) {
    const Ran got = ExpectSame({IndexedKernel(kCleanBody + ("\n" + body))});
    EXPECT_EQ(got.outcome.ending, Ending::kCompleted) << body;
    EXPECT_EQ(got.outcome.division, LaunchDivision::kNone) << body;
  }
  const std::vector<std::string> own = {
      "atom.shared.add.u32 %r6, [tile], 1;",
      "membar.gl;",
      "st.volatile.shared.u32 [%r8], %r1; ld.volatile.shared.u32 %r6, [%r8];",
  };
  for (const std::string& body : own) {
    const Ran got = ExpectSame({IndexedKernel(kCleanBody + ("\n bar.sync 0;\n" + body))});
    EXPECT_EQ(got.outcome.ending, Ending::kCompleted) << body;
    EXPECT_EQ(got.outcome.division, LaunchDivision::kDone) << body;
  }
}

// The text of a called function counts, whether a direct or an indirect call reaches it.
TEST(RunOnThreads, FunctionsAreLookedAt) {
  const auto with = [](const std::string& in_function) {
    std::string kernel = IndexedKernel(std::string(kCleanBody) + R"(
  { .param .b64 p0; st.param.b64 [p0], %rd2;
  call note, (p0); })");
    kernel.insert(kernel.find(".visible"),
                  ".func note(.param .b64 a) { .reg .b64 %rd<2>; .reg .b32 %r<3>;\n ld.param.b64 %rd1, [a];\n" +
                      in_function + "\n ret; }\n");
    return ExpectSame({kernel}).outcome.division;
  };
  EXPECT_EQ(with("ld.u32 %r1, [%rd1]; st.u32 [%rd1], %r1;"), LaunchDivision::kDone);
  EXPECT_EQ(with("red.relaxed.gpu.add.u32 [%rd1], 0;"), LaunchDivision::kNone);
}

// Blocks of one warp that wait for asynchronous copies by an mbarrier: eight of them run side by side before.
TEST(RunOnThreads, BlocksEndBeforeTheRestIsDealt) {
  const Ran got = ExpectSame({IndexedKernel(R"(
  nanosleep.u32 20;
  mov.u32 %r6, tile;
  setp.eq.u32 %p1, %r3, 0;
  @%p1 mbarrier.init.shared.b64 [%r6], 64;
  bar.sync 0;
  mbarrier.arrive.shared.b64 %rd4, [%r6];
WAIT:
  mbarrier.test_wait.shared.b64 %p2, [%r6], %rd4;
  @!%p2 bra WAIT;
  ld.global.u32 %r7, [%rd3];
  st.global.u32 [%rd2], %r7;)"),
                              400});
  EXPECT_EQ(got.outcome.ending, Ending::kCompleted);
  EXPECT_TRUE(got.outcome.findings.empty()) << got.outcome.findings[0].message;
  EXPECT_EQ(got.outcome.division, LaunchDivision::kDone);
  EXPECT_FALSE(got.outcome.race_checks_incomplete);
}

}  // namespace
}  // namespace upskill::ptx
