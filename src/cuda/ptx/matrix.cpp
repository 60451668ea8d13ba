// SPDX-License-Identifier: Apache-2.0
// Matrix instructions. All lanes of the warp take part; the layouts are those that the PTX ISA documents.
#include <bit>
#include <cmath>
#include <cstring>

#include "cuda/ptx/machine.h"
#include "cuda/ptx/number_formats.h"

namespace upskill::ptx {
namespace {

using Matrix = std::array<double, std::size_t{16} * 32>;

// Element `index` of the register with these bits.
double Element(std::uint64_t bits, Type type, unsigned index) {
  switch (type) {
    case Type::kF64:
      return std::bit_cast<double>(bits);
    case Type::kTf32:
      return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits) & 0xFFFFE000U));
    case Type::kF16:
      return static_cast<double>(HalfToFloat(static_cast<std::uint16_t>(bits >> (16 * index))));
    case Type::kBf16:
      return static_cast<double>(BfloatToFloat(static_cast<std::uint16_t>(bits >> (16 * index))));
    case Type::kS8:
      return static_cast<std::int8_t>(bits >> (8 * index));
    default:
      return static_cast<std::uint8_t>(bits >> (8 * index));
  }
}

unsigned ElementsOf(Type type) {
  if (type == Type::kF64 || type == Type::kTf32) return 1;
  return SizeOf(type) == 2 ? 2 : 4;
}

}  // namespace

// Lane 8 * i + j has the address of row j of matrix i. Lane t holds two neighbours of row t / 4 in register i; with
// .trans, of column t / 4.
void Machine::LoadMatrix(const Inst& inst, std::uint32_t mask) {
  const bool stores = inst.action == Action::kStoreMatrix;
  const std::uint32_t base = Operand(inst, inst.vector);
  CheckUse(inst, base, mask);
  if (options_.check_races) races_.Tick();
  std::array<std::uint64_t, 32> addresses{};
  std::uint32_t undefined = 0;
  for (std::uint32_t row = 0; row < std::uint32_t{8} * inst.vector; ++row) {
    if (((mask >> row) & 1U) == 0) continue;
    Target target;
    if (!Resolve(inst, row, AddressOf(inst, row, base), 16, stores ? "write" : "read", target)) continue;
    addresses[row] = target.address;
    if (options_.check_races && target.space == Space::kShared) {
      CheckRace(inst, row, target, 16, stores, false, false);
    }
    auto* registers = Register<std::uint16_t>(Operand(inst, row / 8));
    for (std::uint32_t column = 0; column < 8; ++column) {
      const std::uint32_t r = inst.sub == 1 ? column : row % 8;
      const std::uint32_t c = inst.sub == 1 ? row % 8 : column;
      const std::size_t at = std::size_t{r * 4 + c / 2} * 2 + c % 2;
      if (stores) {
        std::memcpy(target.data + std::size_t{column} * 2, registers + at, 2);
        std::memset(target.state + std::size_t{column} * 2, static_cast<int>(Writer::kDevice), 2);
        continue;
      }
      std::memcpy(registers + at, target.data + std::size_t{column} * 2, 2);
      Target part = target;
      part.state += std::size_t{column} * 2;
      if (KnownBytes(inst, row, part, 2) == 0) undefined |= 1U << (r * 4 + c / 2);
    }
  }
  if (options_.check_uninitialised && !stores) {
    for (std::uint32_t i = 0; i < inst.vector; ++i) {
      frame_->taints[Operand(inst, i) / 64] = Taint{undefined, 0, LocationPc(inst)};
    }
  }
  const std::uint32_t rows = inst.vector == 4 ? mask : mask & ((1U << (8U * inst.vector)) - 1);
  if (options_.count_memory) CountAccess(rows, addresses, 16, Space::kShared, stores);
}

// d = a * b + c. In lane 4 * g + t, register r of a holds row g (+ 8 for odd r) from column n * t + 4 * n * (r / 2) on,
// with n elements to a register; b likewise with column g. Sums are exact to double precision and rounded once.
void Machine::Mma(const Inst& inst, std::uint32_t mask) {
  const unsigned a_count = inst.flags & 0xFFU;
  const unsigned b_count = (inst.flags >> 8U) & 0xFFU;
  const unsigned n = ElementsOf(inst.type);
  const bool wide = inst.type == Type::kF64;
  const unsigned depth = 4 * n * b_count;
  Matrix a{};
  Matrix b{};
  const auto bits = [&](std::size_t operand, unsigned lane) {
    return wide ? Register<std::uint64_t>(Operand(inst, operand))[lane]
                : std::uint64_t{Register<std::uint32_t>(Operand(inst, operand))[lane]};
  };
  for (unsigned lane = 0; lane < 32; ++lane) {
    const unsigned g = lane / 4;
    const unsigned t = lane % 4;
    for (unsigned e = 0; e < n; ++e) {
      for (unsigned r = 0; r < a_count; ++r) {
        a[(g + 8 * (r % 2)) * 32 + n * t + e + 4 * n * (r / 2)] = Element(bits(inst.results + r, lane), inst.type, e);
      }
      for (unsigned r = 0; r < b_count; ++r) {
        b[(n * t + e + 4 * n * r) + 32 * g] = Element(bits(inst.results + a_count + r, lane), inst.source_type, e);
      }
    }
  }
  const auto product = [&](unsigned row, unsigned column, double sum) {
    for (unsigned k = 0; k < depth; ++k) {
      // Products of all types but f64 are exact, so that they needn't be fused.
      const double product_of_two = a[row * 32 + k] * b[column * 32 + k];
      sum = wide ? std::fma(a[row * 32 + k], b[column * 32 + k], sum) : sum + product_of_two;
    }
    return sum;
  };
  const bool integers = SizeOf(inst.type) == 1;
  const bool half = inst.rounding == Rounding::kRn;
  const std::size_t c = std::size_t{inst.results} + a_count + b_count;
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (((mask >> lane) & 1U) == 0) continue;
    for (unsigned i = 0; i < (half ? 4U : inst.results); ++i) {
      const unsigned row = lane / 4 + 8 * (i / 2);
      const unsigned column = 2 * (lane % 4) + i % 2;
      if (half) {
        const std::uint16_t old = Register<std::uint16_t>(Operand(inst, c + i / 2))[2 * lane + i % 2];
        const double sum = product(row, column, static_cast<double>(HalfToFloat(old)));
        Register<std::uint16_t>(Operand(inst, i / 2))[2 * lane + i % 2] = HalfFromDouble(sum);
      } else if (wide) {
        Register<double>(Operand(inst, i))[lane] = product(row, column, Register<double>(Operand(inst, c + i))[lane]);
      } else if (integers) {
        const auto sum = static_cast<std::int64_t>(product(row, column, 0));
        Register<std::uint32_t>(Operand(inst, i))[lane] =
            Register<std::uint32_t>(Operand(inst, c + i))[lane] + static_cast<std::uint32_t>(sum);
      } else {
        const auto old = static_cast<double>(Register<float>(Operand(inst, c + i))[lane]);
        Register<float>(Operand(inst, i))[lane] = static_cast<float>(product(row, column, old));
      }
    }
  }
  if (options_.check_uninitialised) Propagate(inst, mask);
}

}  // namespace upskill::ptx
