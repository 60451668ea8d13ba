// SPDX-License-Identifier: Apache-2.0
// wgmma.mma_async of f16 and bf16. Each of the four warps of a group computes its own 16 rows, so that the warps
// needn't meet; the results are there at once.
#include <bit>
#include <cmath>
#include <cstring>

#include "cuda/ptx/machine.h"
#include "cuda/ptx/number_formats.h"

namespace upskill::ptx {
namespace {

constexpr unsigned kDepth = 16;

double HalfValue(std::uint64_t bits, Type type) {
  const auto half = static_cast<std::uint16_t>(bits);
  return static_cast<double>(type == Type::kBf16 ? BfloatToFloat(half) : HalfToFloat(half));
}

// The address of two bytes of a matrix whose rows are along k: row `row`, element `k` of 16.
std::uint64_t InMatrix(std::uint64_t descriptor, unsigned row, unsigned k) {
  const std::uint64_t start = (descriptor & 0x3FFFU) << 4U;
  const std::uint64_t leading = ((descriptor >> 16U) & 0x3FFFU) << 4U;
  const std::uint64_t stride = ((descriptor >> 32U) & 0x3FFFU) << 4U;
  const std::uint64_t mode = descriptor >> 62U;
  const std::uint64_t groups = std::uint64_t{row / 8} * stride;
  // Without swizzling, blocks of 8 rows of 16 bytes follow each other as the two strides say.
  if (mode == 0)
    return start + groups + std::uint64_t{k / 8} * leading + std::uint64_t{row % 8} * 16 + std::uint64_t{k % 8} * 2;
  const std::uint64_t width = mode == 1 ? 128 : mode == 2 ? 64 : 32;
  const std::uint64_t address = start + groups + (row % 8) * width + std::uint64_t{k} * 2;
  return address ^ (((address >> 7U) & (width / 16 - 1)) << 4U);
}

}  // namespace

// Reads one element by descriptor; what is wrong with it is reported for the lane.
double Machine::MatrixElement(const Inst& inst, std::uint32_t lane, std::uint64_t descriptor, unsigned row,
                              unsigned k) {
  Target target;
  if (!Resolve(inst, lane, InMatrix(descriptor, row, k), 2, "read", target)) return 0;
  if (options_.check_races) CheckRace(inst, lane, target, 2, false, false, false);
  if (KnownBytes(inst, lane, target, 2) == 0 && options_.check_uninitialised) {
    ReportUninitialised(inst, lane, Taint{1U << lane, 0, LocationPc(inst)});
  }
  std::uint16_t bits = 0;
  std::memcpy(&bits, target.data, 2);
  return HalfValue(bits, inst.type);
}

// Sources: a's registers or its descriptor, b's descriptor, the predicate of scale-d. flags: the columns; sub: bits for
// a in registers (1), a negated (2), b negated (4), sums in f16 (8): two in a register.
void Machine::Wgmma(const Inst& inst, std::uint32_t mask) {
  const unsigned columns = inst.flags;
  const bool registers = (inst.sub & 1U) != 0;
  const bool halves = (inst.sub & 8U) != 0;
  const std::size_t first = inst.results;
  const auto some = static_cast<std::uint32_t>(std::countr_zero(mask));
  const std::uint32_t b_operand = Operand(inst, first + (registers ? 4 : 1));
  const std::uint32_t scale = *Register<std::uint32_t>(Operand(inst, first + (registers ? 5 : 2)));
  CheckUse(inst, b_operand, mask);
  if (options_.check_races) races_.Tick();
  std::array<double, std::size_t{16} * kDepth> a{};
  const double a_sign = (inst.sub & 2U) != 0 ? -1 : 1;
  const double b_sign = (inst.sub & 4U) != 0 ? -1 : 1;
  for (unsigned row = 0; row < 16; ++row) {
    for (unsigned k = 0; k < kDepth; ++k) {
      const unsigned lane = row % 8 * 4 + k % 8 / 2;
      if (registers) {
        const std::uint32_t bits =
            Register<std::uint32_t>(Operand(inst, first + row / 8 + std::size_t{2} * (k / 8)))[lane];
        a[std::size_t{row} * kDepth + k] = a_sign * HalfValue(bits >> (16 * (k % 2)), inst.type);
      } else {
        const std::uint64_t descriptor = Register<std::uint64_t>(Operand(inst, first))[some];
        a[std::size_t{row} * kDepth + k] =
            a_sign * MatrixElement(inst, lane, descriptor, warp_->index % 4 * 16 + row, k);
      }
    }
  }
  const std::uint64_t descriptor = Register<std::uint64_t>(b_operand)[some];
  std::array<double, std::size_t{256} * kDepth> b{};
  for (unsigned column = 0; column < columns; ++column) {
    for (unsigned k = 0; k < kDepth; ++k) {
      b[column * kDepth + k] = b_sign * MatrixElement(inst, column % 32, descriptor, column, k);
    }
  }
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (((mask >> lane) & 1U) == 0) continue;
    for (unsigned i = 0; i < inst.results * (halves ? 2U : 1U); ++i) {
      const unsigned row = lane / 4 + 8 * (i / 2 % 2);
      const unsigned column = 8 * (i / 4) + 2 * (lane % 4) + i % 2;
      std::uint32_t& d = Register<std::uint32_t>(Operand(inst, halves ? i / 2 : i))[lane];
      const unsigned shift = halves ? 16 * (i % 2) : 0;
      const double before = halves ? HalfValue(d >> shift, Type::kF16) : static_cast<double>(std::bit_cast<float>(d));
      double sum = ((scale >> lane) & 1U) != 0 ? before : 0;
      // The products are exact, so that they needn't be fused.
      for (unsigned k = 0; k < kDepth; ++k) sum += a[std::size_t{row} * kDepth + k] * b[column * kDepth + k];
      d = halves ? (d & ~(0xFFFFU << shift)) | (std::uint32_t{HalfFromDouble(sum)} << shift)
                 : std::bit_cast<std::uint32_t>(static_cast<float>(sum));
    }
  }
  if (!options_.check_uninitialised) return;
  for (unsigned i = 0; i < inst.results; ++i) {
    if ((scale & mask) == 0) frame_->taints[Operand(inst, i) / 64].lanes &= ~mask;
  }
  if (registers) {
    for (std::size_t i = 0; i < 4; ++i) CheckUse(inst, Operand(inst, first + i), mask);
  }
}

}  // namespace upskill::ptx
