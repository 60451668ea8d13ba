// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

// What Inst::sub says for each action.
namespace upskill::ptx {

constexpr std::uint8_t kArrive = 0;
constexpr std::uint8_t kArriveExpect = 1;
constexpr std::uint8_t kArriveDrop = 2;
constexpr std::uint8_t kTestParity = 0;
constexpr std::uint8_t kTestState = 1;

constexpr std::uint8_t kBarrierSync = 0;
constexpr std::uint8_t kBarrierArrive = 1;
constexpr std::uint8_t kBarrierPopc = 2;
constexpr std::uint8_t kBarrierAnd = 3;
constexpr std::uint8_t kBarrierOr = 4;

constexpr std::uint8_t kClusterArrive = 0;
constexpr std::uint8_t kClusterArriveRelaxed = 1;
constexpr std::uint8_t kClusterWait = 2;

constexpr std::uint8_t kMapAddress = 0;
constexpr std::uint8_t kRankOfAddress = 1;

constexpr std::uint8_t kBulkToGlobal = 0;
constexpr std::uint8_t kBulkToShared = 1;   // from global memory
constexpr std::uint8_t kBulkToCluster = 2;  // from the block's shared memory to that of a block of the cluster

constexpr std::uint8_t kShuffleUp = 0;
constexpr std::uint8_t kShuffleDown = 1;
constexpr std::uint8_t kShuffleXor = 2;
constexpr std::uint8_t kShuffleIndex = 3;

constexpr std::uint8_t kVoteAll = 0;
constexpr std::uint8_t kVoteAny = 1;
constexpr std::uint8_t kVoteUni = 2;
constexpr std::uint8_t kVoteBallot = 3;

constexpr std::uint8_t kWmmaHalfResult = 1;
constexpr std::uint8_t kWmmaHalfAddend = 2;

constexpr std::uint8_t kCallDirect = 0;
constexpr std::uint8_t kCallIndirect = 1;
constexpr std::uint8_t kCallPrintf = 2;
constexpr std::uint8_t kCallAssert = 3;

}  // namespace upskill::ptx
