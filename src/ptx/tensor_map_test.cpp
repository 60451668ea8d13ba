// SPDX-License-Identifier: Apache-2.0
// Tensor maps and the copies that they describe.
#include "ptx/tensor_map.h"

#include <gtest/gtest.h>

#include "ptx/ptx_test.h"

namespace upskill::ptx {
namespace {

// As assets/cuda_runtime/tensor_map.cpp encodes it: f32, without gaps between rows.
std::vector<std::uint8_t> EncodedMap(std::uint64_t address, std::uint32_t columns, std::uint32_t rows,
                                     std::uint16_t box_columns, std::uint16_t box_rows, std::uint8_t row_step,
                                     std::uint8_t swizzle) {
  std::vector<std::uint8_t> bytes(kTensorMapBytes);
  const auto put = [&](std::size_t at, auto value) { std::memcpy(bytes.data() + at, &value, sizeof value); };
  put(0, std::uint64_t{0x50414D534E455455});
  put(8, address);
  put(16, columns - 1);
  put(20, rows - 1);
  bytes[36] = 2;
  bytes[37] = 7;
  bytes[38] = swizzle;
  put(40, std::uint64_t{columns} * 4);
  put(72, box_columns);
  put(74, box_rows);
  bytes[82] = 1;
  bytes[83] = row_step;
  return bytes;
}

TEST(TensorMap, PartsInsideOfTheTensor) {
  const std::optional<TensorMap> map = ReadTensorMap(EncodedMap(4096, 100, 10, 8, 4, 1, 0));
  ASSERT_TRUE(map);
  EXPECT_EQ(map->BoxBytes(), 128U);
  const std::vector<TensorPart> corner = PartsOfBox(*map, {96, -2, 0, 0, 0});
  ASSERT_EQ(corner.size(), 2U);  // two rows are above the tensor, and four columns to its right
  EXPECT_EQ(corner[0].address, 4096U + 96 * 4);
  EXPECT_EQ(corner[0].in_box, 64U);
  EXPECT_EQ(corner[1].address, 4096U + 400 + 96 * 4);
  EXPECT_EQ(corner[1].bytes, 16U);
  EXPECT_TRUE(PartsOfBox(*map, {100, 0, 0, 0, 0}).empty());
  EXPECT_TRUE(PartsOfBox(*map, {-2147483647, 2147483647, 0, 0, 0}).empty());
  const std::vector<TensorPart> left = PartsOfBox(*map, {-3, 9, 0, 0, 0});
  ASSERT_EQ(left.size(), 1U);
  EXPECT_EQ(left[0].in_box, 12U);
  EXPECT_EQ(left[0].bytes, 20U);
}

TEST(TensorMap, StepsTakeEachNthRow) {
  const std::optional<TensorMap> map = ReadTensorMap(EncodedMap(0, 16, 64, 4, 5, 2, 0));
  ASSERT_TRUE(map);
  EXPECT_EQ(map->BoxBytes(), 48U);  // rows 0, 2 and 4
  EXPECT_EQ(PartsOfBox(*map, {0, 1, 0, 0, 0})[2].address, 5U * 64);
}

TEST(TensorMap, SwizzlesUnitsOf16Bytes) {
  const auto swizzled = [](std::uint8_t mode, std::uint64_t address) {
    return ReadTensorMap(EncodedMap(0, 64, 64, 32, 8, 1, mode))->Swizzled(address);
  };
  EXPECT_EQ(swizzled(0, 0x3F4), 0x3F4U);
  EXPECT_EQ(swizzled(1, 0x094), 0x084U);
  EXPECT_EQ(swizzled(2, 0x1A0), 0x190U);
  EXPECT_EQ(swizzled(3, 0x3F4), 0x384U);
}

TEST(TensorMap, OtherBytesAreNone) {
  EXPECT_FALSE(ReadTensorMap(std::vector<std::uint8_t>(kTensorMapBytes)));
  EXPECT_FALSE(ReadTensorMap({}));
  EXPECT_FALSE(ReadTensorMap(EncodedMap(0, 16, 16, 0, 4, 1, 0)));
  EXPECT_FALSE(ReadTensorMap(EncodedMap(0, 16, 16, 256, 0xFFFF, 1, 0)));
  EXPECT_FALSE(ReadTensorMap(EncodedMap(0, 16, 16, 4, 4, 1, 4)));
}

// One thread loads a box at (x, y), waits, and stores it at (x + 4, y) of the same tensor.
std::string TensorKernel(const std::string& wait) {
  return KernelText(".param .u64 pmap, .param .u64 px, .param .u64 py", R"(
  .shared .align 1024 .b8 tile[128]; .shared .align 8 .b64 barrier;
  .reg .pred %p; .reg .b32 %r<9>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [pmap]; ld.param.u32 %r1, [px]; ld.param.u32 %r2, [py];
  mbarrier.init.shared.b64 [barrier], 1;
  mbarrier.arrive.expect_tx.shared.b64 _, [barrier], 128;
  cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%rd1, {%r1, %r2}], [barrier];
  )" + wait + R"(
  add.s32 %r1, %r1, 4;
  cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rd1, {%r1, %r2}], [tile];
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group 0;
  ret;)");
}
constexpr const char* kAwaitTile = "WAIT:\n mbarrier.try_wait.parity.shared.b64 %p, [barrier], 0;\n@!%p bra WAIT;";

TEST(TensorCopy, LoadsAndStoresBoxes) {
  for (const std::uint8_t swizzle : {std::uint8_t{0}, std::uint8_t{1}}) {
    std::vector<std::uint32_t> in(std::size_t{16} * 8);
    for (std::uint32_t i = 0; i < in.size(); ++i) in[i] = i + 1;
    Device device(TensorKernel(kAwaitTile));
    const std::uint64_t tensor = device.Upload(in);
    const std::uint64_t map = device.Upload(EncodedMap(tensor, 16, 8, 8, 4, 1, swizzle));
    const LaunchOutcome outcome = device.Run(1, 1, {map, 0xFFFFFFFEU, 5});
    EXPECT_EQ(outcome.ending, Ending::kCompleted) << outcome.reason;
    EXPECT_TRUE(outcome.findings.empty()) << outcome.findings[0].message;
    std::vector<std::uint32_t> expected = in;
    for (std::size_t row = 5; row < 8; ++row) {
      for (std::size_t x = 0; x < 8; ++x) expected[row * 16 + 2 + x] = x < 2 ? 0 : in[row * 16 + x - 2];
    }
    EXPECT_EQ(device.Download<std::uint32_t>(tensor, in.size()), expected);
  }
}

TEST(TensorCopy, ReportsWhatIsntAwaitedOrIsntAMap) {
  Device hasty(TensorKernel(""));
  const std::uint64_t tensor = hasty.Upload(std::vector<std::uint32_t>(128, 3));
  const LaunchOutcome early = hasty.Run(1, 1, {hasty.Upload(EncodedMap(tensor, 16, 8, 8, 4, 1, 0)), 0, 0});
  ASSERT_FALSE(early.findings.empty());
  EXPECT_EQ(early.findings[0].kind, FindingKind::kAsyncRead);

  Device device(TensorKernel("ret;"));
  const LaunchOutcome other = device.Run(1, 1, {device.Upload(std::vector<std::uint8_t>(kTensorMapBytes)), 0, 0});
  ASSERT_FALSE(other.findings.empty());
  EXPECT_EQ(other.findings[0].message, "Invalid tensor map");
  // The map says more rows than the allocation has.
  const std::uint64_t small = device.Upload(std::vector<std::uint32_t>(16));
  const LaunchOutcome beyond = device.Run(1, 1, {device.Upload(EncodedMap(small, 16, 8, 8, 4, 1, 0)), 0, 0});
  ASSERT_FALSE(beyond.findings.empty());
  EXPECT_EQ(beyond.findings[0].kind, FindingKind::kOutOfBounds);
}

}  // namespace
}  // namespace upskill::ptx
