// SPDX-License-Identifier: Apache-2.0
// wmma: which lane holds which element isn't specified, so here lane after lane holds the next elements, row by row.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "cuda/ptx/forms.h"
#include "cuda/ptx/machine.h"
#include "cuda/ptx/number_formats.h"

namespace upskill::ptx {
namespace {

constexpr std::size_t kMostElements = 512;
using FragmentElements = std::array<double, kMostElements>;

// The elements of one slot of all lanes, which are `apart` from each other.
template <typename T, typename Decode>
void SpreadAs(const char* from, std::size_t width, double* to, std::size_t apart, Decode decode) {
  for (std::size_t lane = 0; lane < 32; ++lane) {
    T bits{};
    std::memcpy(&bits, from + lane * width, sizeof bits);
    to[lane * apart] = static_cast<double>(decode(bits));
  }
}

void Spread(const char* from, std::size_t width, double* to, std::size_t apart, Type type) {
  const auto same = [](auto value) { return value; };
  switch (type) {
    case Type::kF64:
      return SpreadAs<double>(from, width, to, apart, same);
    case Type::kF32:
      return SpreadAs<float>(from, width, to, apart, same);
    case Type::kTf32:
      return SpreadAs<std::uint32_t>(from, width, to, apart,
                                     [](std::uint32_t bits) { return std::bit_cast<float>(bits & 0xFFFFE000U); });
    case Type::kF16:
      return SpreadAs<std::uint16_t>(from, width, to, apart, HalfToFloat);
    case Type::kBf16:
      return SpreadAs<std::uint16_t>(from, width, to, apart, BfloatToFloat);
    case Type::kS32:
      return SpreadAs<std::int32_t>(from, width, to, apart, same);
    case Type::kS8:
      return SpreadAs<std::int8_t>(from, width, to, apart, same);
    default:
      return SpreadAs<std::uint8_t>(from, width, to, apart, same);
  }
}

template <typename T, typename Encode>
void CollectAs(char* to, std::size_t width, const double* from, std::size_t apart, std::uint32_t mask, Encode encode) {
  for (std::size_t lane = 0; lane < 32; ++lane) {
    const T bits = encode(from[lane * apart]);
    if (((mask >> lane) & 1U) != 0) std::memcpy(to + lane * width, &bits, sizeof bits);
  }
}

void Collect(char* to, std::size_t width, const double* from, std::size_t apart, std::uint32_t mask, Type type) {
  switch (type) {
    case Type::kF64:
      return CollectAs<double>(to, width, from, apart, mask, [](double value) { return value; });
    case Type::kF16:
      return CollectAs<std::uint16_t>(to, width, from, apart, mask, HalfFromDouble);
    case Type::kS32:
      return CollectAs<std::uint32_t>(to, width, from, apart, mask, [](double value) {
        return static_cast<std::uint32_t>(static_cast<std::int64_t>(value));
      });
    default:
      return CollectAs<float>(to, width, from, apart, mask, [](double value) { return static_cast<float>(value); });
  }
}

struct MultiplyAdd {
  double operator()(double a, double b, double c) const { return a * b + c; }
};
struct FusedMultiplyAdd {
  double operator()(double a, double b, double c) const { return std::fma(a, b, c); }
};

// sums += a * b, row by row, with eight columns at a time, which fit into the processor's registers.
template <typename Operation>
void AddProducts(double* sums, const double* a, const double* b, std::size_t m, std::size_t n, std::size_t k) {
  constexpr std::size_t kColumns = 8;  // n is a multiple of it
  for (std::size_t row = 0; row < m; ++row) {
    for (std::size_t first = 0; first < n; first += kColumns) {
      std::array<double, kColumns> part{};
      std::copy_n(sums + row * n + first, kColumns, part.begin());
      for (std::size_t i = 0; i < k; ++i) {
        const double factor = a[row * k + i];
        const double* const line = b + i * n + first;
        for (std::size_t column = 0; column < kColumns; ++column)
          part[column] = Operation{}(factor, line[column], part[column]);
      }
      std::copy_n(part.begin(), kColumns, sums + row * n + first);
    }
  }
}

// Slot `slot` of a lane that has `slots` of them, for a matrix of `count` elements: small ones are held several times.
std::size_t ElementIn(unsigned lane, std::size_t slot, std::size_t count) {
  const std::size_t distinct = count / 32;
  return lane * distinct + slot % distinct;
}

}  // namespace

// Elements are packed into registers of 4 bytes, or 8 for f64.
std::uint64_t Machine::FragmentBits(std::uint32_t operand, unsigned lane, unsigned index, unsigned size) const {
  std::uint64_t bits = 0;
  const std::size_t width = size == 8 ? 8 : 4;
  std::memcpy(&bits, Register<char>(operand) + lane * width + std::size_t{index} * size, size);
  return bits;
}

void Machine::SetFragmentBits(std::uint32_t operand, unsigned lane, unsigned index, unsigned size, std::uint64_t bits) {
  const std::size_t width = size == 8 ? 8 : 4;
  std::memcpy(Register<char>(operand) + lane * width + std::size_t{index} * size, &bits, size);
}

// Does a wmma.load or wmma.store as a whole, if only its place has to be checked. False: nothing was done, and it must
// be done element by element.
bool Machine::WmmaMoveTogether(const Inst& inst, std::uint32_t mask, std::uint32_t base, std::uint64_t stride,
                               unsigned size) {
  if (options_.check_races || options_.check_uninitialised || options_.count_memory || inst.space == Space::kLocal) {
    return false;
  }
  const bool stores = inst.action == Action::kWmmaStore;
  const unsigned rows = inst.flags & 0xFFU;
  const unsigned columns = (inst.flags >> 8U) & 0xFFU;
  const std::uint64_t lines = inst.sub == 1 ? columns : rows;
  const std::uint32_t length = (inst.sub == 1 ? rows : columns) * size;
  LaneAddresses lanes;
  AddressesTogether(inst, mask, base, lanes);
  if (!lanes.near || !lanes.same || lanes.first % size != 0 || stride > 0x100000U) return false;
  lanes.span = static_cast<std::uint32_t>((lines - 1) * stride * size) + length - 1;
  lanes.bits = 0;
  const std::optional<WarpAccess> access = ResolveTogether(inst, lanes, mask, 1);
  if (!access || access->space == Space::kLocal || (stores && access->read_only)) return false;
  for (std::uint64_t line = 0; line < lines; ++line) {
    const std::uint64_t at = line * stride * size;
    const auto fine = [&](std::uint8_t state) { return state < kGap && (stores || state != 0); };
    if (!std::all_of(access->state + at, access->state + at + length, fine)) return false;
    if (claimer_ && access->space == Space::kGlobal &&
        !claimer_->Claim(*last_allocation_, access->first + at - last_allocation_->address, length, stores)) {
      GiveUp();
      return true;
    }
  }
  const std::size_t per_register = size >= 4 ? 1 : 4 / size;
  const std::size_t count = std::size_t{rows} * columns;
  const std::size_t slots = stores ? count / 32 : inst.vector * per_register;
  const auto shift = static_cast<unsigned>(std::countr_zero(columns));  // they are a power of two
  const auto move = [&](auto value, std::size_t width) {
    for (std::size_t slot = 0; slot < slots; ++slot) {
      char* const registers = Register<char>(Operand(inst, slot / per_register)) + slot % per_register * size;
      for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
        const auto lane = static_cast<unsigned>(std::countr_zero(rest));
        const std::size_t element = ElementIn(lane, slot, count);
        const std::size_t row = element >> shift;
        const std::size_t column = element & (columns - 1);
        const std::size_t at = (inst.sub == 1 ? column * stride + row : row * stride + column) * size;
        char* const own = registers + lane * width;
        if (stores) {
          std::memcpy(access->data + at, own, sizeof value);
          std::memset(access->state + at, static_cast<int>(Writer::kDevice), sizeof value);
        } else {
          std::memcpy(own, access->data + at, sizeof value);
        }
      }
    }
  };
  if (size == 1) move(std::uint8_t{}, 4);
  if (size == 2) move(std::uint16_t{}, 4);
  if (size == 4) move(std::uint32_t{}, 4);
  if (size == 8) move(std::uint64_t{}, 8);
  return true;
}

// wmma.load and wmma.store: flags has the rows and columns; sub is 1 if columns follow each other in memory. The
// sources after the registers are the address and the stride, in elements.
void Machine::WmmaMove(const Inst& inst, std::uint32_t mask) {
  const bool stores = inst.action == Action::kWmmaStore;
  const std::uint32_t base = Operand(inst, inst.vector);
  const std::uint32_t stride_operand = Operand(inst, inst.vector + 1U);
  CheckUse(inst, base, mask);
  if (options_.check_races) races_.Tick();
  const unsigned rows = inst.flags & 0xFFU;
  const unsigned columns = (inst.flags >> 8U) & 0xFFU;
  const unsigned size = inst.type == Type::kTf32 ? 4 : SizeOf(inst.type);
  const unsigned per_register = size >= 4 ? 1 : 4 / size;
  const std::size_t count = std::size_t{rows} * columns;
  const std::size_t slots = stores ? count / 32 : std::size_t{inst.vector} * per_register;
  std::array<std::uint32_t, 32> undefined{};
  std::array<std::uint64_t, 32> lines{};
  const std::uint32_t some = static_cast<std::uint32_t>(std::countr_zero(mask));
  const std::uint64_t stride = Register<std::uint32_t>(stride_operand)[some];
  if (WmmaMoveTogether(inst, mask, base, stride, size)) return;
  const unsigned line_count = inst.sub == 1 ? columns : rows;
  Space space = Space::kGlobal;
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(rest));
    const std::uint64_t start = AddressOf(inst, lane, base);
    for (std::size_t slot = 0; slot < slots; ++slot) {
      const std::size_t element = ElementIn(lane, slot, count);
      const std::uint64_t row = element / columns;
      const std::uint64_t column = element % columns;
      const std::uint64_t at = inst.sub == 1 ? column * stride + row : row * stride + column;
      const auto index = static_cast<unsigned>(slot % per_register);
      const std::uint32_t operand = Operand(inst, slot / per_register);
      Target target;
      if (!Resolve(inst, lane, start + at * size, size, stores ? "write" : "read", target)) continue;
      space = target.space;
      const std::uint64_t line = inst.sub == 1 ? column : row;
      lines[line] = target.address - (inst.sub == 1 ? row : column) * size;
      if (stores && target.read_only) continue;
      std::uint64_t bits = stores ? FragmentBits(operand, lane, index, size) : 0;
      if (options_.check_races && target.space != Space::kLocal) {
        CheckRace(inst, lane, target, size, stores, false, stores && std::memcmp(target.data, &bits, size) == 0);
      }
      if (stores) {
        CheckUse(inst, operand, 1U << lane);
        std::memcpy(target.data, &bits, size);
        std::memset(target.state, static_cast<int>(Writer::kDevice), size);
        continue;
      }
      std::memcpy(&bits, target.data, size);
      if (KnownBytes(inst, lane, target, size) == 0) undefined[slot / per_register] |= 1U << lane;
      SetFragmentBits(operand, lane, index, size, bits);
    }
  }
  if (options_.check_uninitialised && !stores) {
    for (std::uint32_t i = 0; i < inst.vector; ++i) {
      frame_->taints[Operand(inst, i) / 64] = Taint{undefined[i], 0, LocationPc(inst)};
    }
  }
  if (!options_.count_memory || space == Space::kLocal) return;
  const std::uint32_t line_mask = line_count >= 32 ? 0xFFFFFFFFU : (1U << line_count) - 1;
  CountAccess(line_mask, lines, (inst.sub == 1 ? rows : columns) * size, space, stores);
}

// d = a * b + c. Sums are exact to double precision and rounded once: products of all types but f64 are exact, so that
// they needn't be fused.
void Machine::WmmaMultiply(const Inst& inst, std::uint32_t mask) {
  const unsigned m = inst.flags & 0xFFU;
  const unsigned n = (inst.flags >> 8U) & 0xFFU;
  const unsigned k = (inst.flags >> 16U) & 0xFFU;
  const Type result = (inst.sub & kWmmaHalfResult) != 0 ? Type::kF16
                      : inst.slot_size == 8             ? Type::kF64
                      : SizeOf(inst.type) == 1          ? Type::kS32
                                                        : Type::kF32;
  const Type addend = (inst.sub & kWmmaHalfAddend) != 0 ? Type::kF16 : result == Type::kF16 ? Type::kF32 : result;
  const std::size_t a_first = inst.results;
  const std::size_t b_first = a_first + inst.vector;
  const std::size_t c_first = b_first + inst.source_slot_size;
  const auto gather = [&](std::size_t first, std::size_t count, Type type) {
    FragmentElements elements;  // NOLINT(cppcoreguidelines-pro-type-member-init): as many as it has
    const unsigned size = type == Type::kTf32 ? 4 : SizeOf(type);
    const std::size_t per_register = size >= 4 ? 1 : 4 / size;
    for (std::size_t slot = 0; slot < count / 32; ++slot) {
      const char* const from = Register<char>(Operand(inst, first + slot / per_register)) + slot % per_register * size;
      Spread(from, size == 8 ? 8 : 4, elements.data() + slot, count / 32, type);
    }
    return elements;
  };
  const FragmentElements a = gather(a_first, std::size_t{m} * k, inst.type);
  const FragmentElements b = gather(b_first, std::size_t{k} * n, inst.source_type);
  FragmentElements sums = gather(c_first, std::size_t{m} * n, addend);
  const auto add = result == Type::kF64 ? AddProducts<FusedMultiplyAdd> : AddProducts<MultiplyAdd>;
  add(sums.data(), a.data(), b.data(), m, n, k);
  const std::size_t size = SizeOf(result);
  const std::size_t per_register = size >= 4 ? 1 : 4 / size;
  const std::size_t slots = std::size_t{m} * n / 32;
  for (std::size_t slot = 0; slot < slots; ++slot) {
    char* const to = Register<char>(Operand(inst, slot / per_register)) + slot % per_register * size;
    Collect(to, size == 8 ? 8 : 4, sums.data() + slot, slots, mask, result);
  }
  if (options_.check_uninitialised) Propagate(inst, mask);
}

}  // namespace upskill::ptx
