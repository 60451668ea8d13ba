// SPDX-License-Identifier: Apache-2.0
// Tensor maps and the copies that they describe.
#include "cuda/ptx/tensor_map.h"

#include <gtest/gtest.h>

#include "cuda/ptx/ptx_test.h"

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

// A tensor of f32 of any rank, its rows without gaps, each in dimension i of `sizes[i]`.
struct Tensor {
  std::vector<std::uint32_t> sizes;
  std::vector<std::uint16_t> box;
  std::vector<std::uint8_t> steps;

  std::vector<std::uint8_t> Map(std::uint64_t address) const {
    std::vector<std::uint8_t> bytes(kTensorMapBytes);
    const auto put = [&](std::size_t at, auto value) { std::memcpy(bytes.data() + at, &value, sizeof value); };
    put(0, std::uint64_t{0x50414D534E455455});
    put(8, address);
    bytes[36] = static_cast<std::uint8_t>(sizes.size());
    bytes[37] = 7;
    std::uint64_t stride = 4;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      put(16 + 4 * i, sizes[i] - 1);
      if (i > 0) put(40 + 8 * (i - 1), stride);
      put(72 + 2 * i, box[i]);
      bytes[82 + i] = steps[i];
      stride *= sizes[i];
    }
    return bytes;
  }
  std::size_t Count() const {
    std::size_t count = 1;
    for (const std::uint32_t size : sizes) count *= size;
    return count;
  }
  // The elements of the box at `at` by their numbers in the tensor, in order; -1 outside of it.
  std::vector<std::int64_t> Box(const std::vector<std::int32_t>& at) const {
    std::vector<std::int64_t> elements{0};
    std::vector<bool> inside{true};
    std::int64_t stride = static_cast<std::int64_t>(Count());
    for (std::size_t i = sizes.size(); i-- > 0;) {
      stride /= sizes[i];
      std::vector<std::int64_t> finer;
      std::vector<bool> finer_inside;
      for (std::size_t e = 0; e < elements.size(); ++e) {
        for (std::int32_t k = 0; k < box[i]; k += i == 0 ? 1 : steps[i]) {
          const std::int32_t index = at[i] + k;
          finer.push_back(elements[e] + index * stride);
          finer_inside.push_back(inside[e] && index >= 0 && index < static_cast<std::int64_t>(sizes[i]));
        }
      }
      elements = std::move(finer);
      inside = std::move(finer_inside);
    }
    for (std::size_t e = 0; e < elements.size(); ++e) {
      if (!inside[e]) elements[e] = -1;
    }
    return elements;
  }
};

// One thread loads a box, writes it to `out` element by element, and stores it at the same coordinates of another
// tensor.
std::string RankKernel(std::size_t rank, std::size_t elements) {
  std::string parameters = ".param .u64 pin, .param .u64 pcopy, .param .u64 pout";
  std::string loads;
  std::string coordinates;
  for (std::size_t i = 0; i < rank; ++i) {
    const std::string number = std::to_string(i + 1);
    parameters += ", .param .u64 p" + number;
    loads += "ld.param.u32 %r" + number + ", [p" + number + "];\n";
    coordinates += (i == 0 ? "%r" : ", %r") + number;
  }
  const std::string dimensions = std::to_string(rank) + "d";
  const std::string bytes = std::to_string(elements * 4);
  return KernelText(parameters, R"(
  .shared .align 1024 .b8 tile[)" + bytes +
                                    R"(]; .shared .align 8 .b64 barrier;
  .reg .pred %p<3>; .reg .b32 %r<20>; .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [pin]; ld.param.u64 %rd2, [pcopy]; ld.param.u64 %rd3, [pout];
  )" + loads + R"(
  mbarrier.init.shared.b64 [barrier], 1;
  mbarrier.arrive.expect_tx.shared.b64 _, [barrier], )" +
                                    bytes + R"(;
  cp.async.bulk.tensor.)" + dimensions +
                                    R"(.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%rd1, {)" +
                                    coordinates + R"(}], [barrier];
WAIT:
  mbarrier.try_wait.parity.shared.b64 %p1, [barrier], 0;
  @!%p1 bra WAIT;
  mov.u32 %r10, 0; mov.u32 %r11, tile;
EACH:
  add.s32 %r12, %r11, %r10;
  ld.shared.u32 %r13, [%r12];
  cvt.u64.u32 %rd4, %r10; add.s64 %rd5, %rd3, %rd4;
  st.global.u32 [%rd5], %r13;
  add.s32 %r10, %r10, 4;
  setp.lt.u32 %p2, %r10, )" + bytes +
                                    R"(;
  @%p2 bra EACH;
  cp.async.bulk.tensor.)" + dimensions +
                                    R"(.global.shared::cta.bulk_group [%rd2, {)" + coordinates + R"(}], [tile];
  cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;
  ret;)");
}

TEST(TensorCopy, BoxesHaveOneToFiveDimensions) {
  struct Copy {
    Tensor tensor;
    std::vector<std::int32_t> at;
  };
  const std::vector<Copy> copies = {
      {{{100}, {8}, {1}}, {95}},
      {{{40}, {16}, {1}}, {-3}},
      {{{16, 6}, {4, 3}, {1, 1}}, {14, -1}},
      {{{8, 6, 5}, {4, 2, 3}, {1, 1, 1}}, {2, 5, 3}},
      {{{8, 9, 4}, {4, 5, 2}, {1, 2, 1}}, {0, 1, -1}},
      {{{8, 4, 4, 3}, {4, 2, 3, 2}, {1, 1, 2, 1}}, {-2, 3, 1, 2}},
      {{{4, 3, 3, 2, 4}, {4, 2, 2, 2, 3}, {1, 1, 1, 1, 2}}, {0, 2, -1, 1, 1}},
      {{{4, 3, 3, 2, 4}, {4, 3, 3, 2, 4}, {1, 1, 1, 1, 1}}, {0, 0, 0, 0, 0}},
  };
  for (const Copy& copy : copies) {
    const std::vector<std::int64_t> box = copy.tensor.Box(copy.at);
    std::vector<std::uint32_t> in(copy.tensor.Count());
    for (std::uint32_t i = 0; i < in.size(); ++i) in[i] = i + 1;
    Device device(RankKernel(copy.at.size(), box.size()));
    const std::uint64_t from = device.Upload(in);
    const std::uint64_t to = device.Upload(std::vector<std::uint32_t>(in.size(), 7));
    const std::uint64_t out = device.Reserve(box.size() * 4);
    std::vector<std::uint64_t> arguments = {device.Upload(copy.tensor.Map(from)), device.Upload(copy.tensor.Map(to)),
                                            out};
    for (const std::int32_t coordinate : copy.at) arguments.push_back(static_cast<std::uint32_t>(coordinate));
    const LaunchOutcome outcome = device.Run(1, 1, arguments);
    EXPECT_EQ(outcome.ending, Ending::kCompleted) << outcome.reason;
    EXPECT_TRUE(outcome.findings.empty()) << outcome.findings[0].message << outcome.findings[0].detail;
    std::vector<std::uint32_t> loaded;
    std::vector<std::uint32_t> stored(in.size(), 7);
    for (const std::int64_t element : box) {
      loaded.push_back(element < 0 ? 0 : in[static_cast<std::size_t>(element)]);
      if (element >= 0) stored[static_cast<std::size_t>(element)] = in[static_cast<std::size_t>(element)];
    }
    EXPECT_EQ(device.Download<std::uint32_t>(out, box.size()), loaded) << copy.at.size();
    EXPECT_EQ(device.Download<std::uint32_t>(to, in.size()), stored) << copy.at.size();
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
