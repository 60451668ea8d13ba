// SPDX-License-Identifier: Apache-2.0
// wmma, wgmma and cp.async.bulk.
#include <array>
#include <charconv>
#include <optional>

#include "cuda/ptx/decoder.h"
#include "cuda/ptx/forms.h"

namespace upskill::ptx {
namespace {

using MatrixShape = std::array<unsigned, 3>;  // m, n, k

// "m16n16k16" among the parts of the opcode.
std::optional<MatrixShape> ShapeOf(const Statement& statement) {
  for (const std::string_view part : statement.parts) {
    MatrixShape shape{};
    const char* at = part.data();
    const char* const end = at + part.size();
    bool good = true;
    for (std::size_t i = 0; i < 3 && good; ++i) {
      good = at != end && *at == "mnk"[i];
      if (!good) break;
      const auto [next, error] = std::from_chars(at + 1, end, shape[i]);
      good = error == std::errc{} && shape[i] > 0 && shape[i] <= 256;
      at = next;
    }
    if (good && at == end) return shape;
  }
  return std::nullopt;
}

unsigned ElementBytes(Type type) { return type == Type::kTf32 ? 4 : SizeOf(type); }

// Whether `registers` of 32 lanes hold each of the elements, as often as the others.
bool Holds(std::size_t registers, unsigned element_bytes, std::size_t elements) {
  const std::size_t slots = registers * (element_bytes >= 4 ? 1 : 4 / element_bytes);
  return registers > 0 && registers <= 16 && elements >= 32 && elements <= 512 && elements % 32 == 0 &&
         slots % (elements / 32) == 0;
}

bool IsInput(Type type) {
  return type == Type::kF16 || type == Type::kBf16 || type == Type::kTf32 || type == Type::kF64 || type == Type::kS8 ||
         type == Type::kU8;
}

bool IsAccumulator(Type type) {
  return type == Type::kF16 || type == Type::kF32 || type == Type::kF64 || type == Type::kS32;
}

}  // namespace

Status Decoder::DecodeWmma(const Statement& statement) {
  for (const std::string_view part : statement.parts) {
    if (part == "s4" || part == "u4" || part == "b1" || part == "satfinite") return EmitUnsupported(statement);
  }
  return statement.Part(1) == "mma" ? DecodeWmmaMultiply(statement) : DecodeWmmaMove(statement);
}

// wmma.load.{a,b,c}.sync.aligned.layout.shape{.space}.type r, [p]{, stride}; wmma.store.d the other way round.
Status Decoder::DecodeWmmaMove(const Statement& statement) {
  RETURN_IF_ERROR(NeedOperands(statement, 2, 3));
  const bool loads = statement.Part(1) == "load";
  const std::string_view which = statement.Part(2);
  const std::optional<MatrixShape> shape = ShapeOf(statement);
  Inst inst = NewInst(statement, loads ? Action::kWmmaLoad : Action::kWmmaStore, InstClass::kMatrix);
  inst.type = TypeAt(statement, 0);
  inst.sub = statement.Has("col") ? 1 : 0;
  inst.copies = true;
  const bool known = shape && (which == "a" || which == "b" || which == "c" || which == "d") &&
                     (which == "a" || which == "b" ? IsInput(inst.type) : IsAccumulator(inst.type));
  if (!known) return EmitUnsupported(statement);
  const unsigned rows = which == "b" ? (*shape)[2] : (*shape)[0];
  const unsigned columns = which == "a" ? (*shape)[2] : (*shape)[1];
  if (rows > 32 || columns > 32) return EmitUnsupported(statement);
  inst.flags = rows | (columns << 8U);
  inst.space = statement.Has("shared") || statement.Has("shared::cta") ? Space::kShared
               : statement.Has("global")                               ? Space::kGlobal
                                                                       : Space::kGeneric;
  const Type slot = inst.type == Type::kF64 ? Type::kF64 : Type::kB32;
  ASSIGN_OR_RETURN(const std::vector<std::uint32_t> slots,
                   VectorSlots(statement, statement.operands[loads ? 0 : 1], slot, loads));
  if (!Holds(slots.size(), ElementBytes(inst.type), std::size_t{rows} * columns)) {
    return Wrong(statement, "the vector has the wrong length");
  }
  inst.vector = static_cast<std::uint8_t>(slots.size());
  std::vector<std::uint32_t> sources;
  if (!loads) sources = slots;
  RETURN_IF_ERROR(Address(statement, statement.operands[loads ? 1 : 0], inst, sources));
  if (inst.address_mode == AddressMode::kFrame) return EmitUnsupported(statement);
  if (statement.operands.size() > 2) {
    ASSIGN_OR_RETURN(const std::uint32_t stride, Source(statement, statement.operands[2], Type::kU32));
    sources.push_back(stride);
  } else {
    sources.push_back(Constant(inst.sub == 1 ? rows : columns, 4));
  }
  return Emit(statement, inst, loads ? slots : std::vector<std::uint32_t>{}, sources);
}

// wmma.mma.sync.aligned.alayout.blayout.shape.dtype.ctype d, a, b, c (of f16), or .dtype.atype.btype.ctype
Status Decoder::DecodeWmmaMultiply(const Statement& statement) {
  RETURN_IF_ERROR(NeedOperands(statement, 4, 4));
  const std::optional<MatrixShape> shape = ShapeOf(statement);
  Inst inst = NewInst(statement, Action::kWmmaMultiply, InstClass::kMatrix);
  const bool of_halves = TypeAt(statement, 2) == Type::kNone;
  const Type addend = TypeAt(statement, 0);
  const Type result = TypeAt(statement, of_halves ? 1 : 3);
  inst.type = of_halves ? Type::kF16 : TypeAt(statement, 2);
  inst.source_type = of_halves ? Type::kF16 : TypeAt(statement, 1);
  const bool known = shape && IsInput(inst.type) && ElementBytes(inst.type) == ElementBytes(inst.source_type) &&
                     IsAccumulator(addend) && IsAccumulator(result) && (*shape)[0] <= 32 && (*shape)[1] <= 32 &&
                     (*shape)[2] <= 16 && (result == addend || (inst.type == Type::kF16 && SizeOf(result) <= 4)) &&
                     (ElementBytes(inst.type) == 1) == (result == Type::kS32) &&
                     (inst.type == Type::kF64) == (result == Type::kF64);
  if (!known) return EmitUnsupported(statement);
  const auto [m, n, k] = *shape;
  inst.flags = m | (n << 8U) | (k << 16U);
  inst.slot_size = result == Type::kF64 ? 8 : 4;
  inst.sub = static_cast<std::uint8_t>((result == Type::kF16 ? kWmmaHalfResult : 0) |
                                       (addend == Type::kF16 ? kWmmaHalfAddend : 0));
  const Type input = inst.type == Type::kF64 ? Type::kF64 : Type::kB32;
  const auto outer = result == Type::kF64 ? Type::kF64 : Type::kB32;
  ASSIGN_OR_RETURN(const std::vector<std::uint32_t> d, VectorSlots(statement, statement.operands[0], outer, true));
  ASSIGN_OR_RETURN(std::vector<std::uint32_t> sources, VectorSlots(statement, statement.operands[1], input, false));
  ASSIGN_OR_RETURN(const std::vector<std::uint32_t> b, VectorSlots(statement, statement.operands[2], input, false));
  ASSIGN_OR_RETURN(const std::vector<std::uint32_t> c, VectorSlots(statement, statement.operands[3], outer, false));
  const unsigned bytes = ElementBytes(inst.type);
  const std::size_t outputs = std::size_t{m} * n;
  const auto exact = [&](std::size_t registers, Type type) {
    return Holds(registers, SizeOf(type), outputs) && registers * 32 * (SizeOf(type) == 2 ? 2 : 1) == outputs;
  };
  if (!Holds(sources.size(), bytes, std::size_t{m} * k) || !Holds(b.size(), bytes, std::size_t{k} * n) ||
      !exact(d.size(), result) || !exact(c.size(), addend)) {
    return Wrong(statement, "vectors of unexpected lengths");
  }
  inst.vector = static_cast<std::uint8_t>(sources.size());
  inst.source_slot_size = static_cast<std::uint8_t>(b.size());
  sources.insert(sources.end(), b.begin(), b.end());
  sources.insert(sources.end(), c.begin(), c.end());
  return Emit(statement, inst, d, sources);
}

// wgmma.mma_async.sync.aligned.m64nNk16.f32.type.type (or .f16.f16.f16) d, a, b, scale-d, scale-a, scale-b{,
// transpose-a}, transpose-b
Status Decoder::DecodeWgmma(const Statement& statement) {
  if (statement.Has("fence") || statement.Has("commit_group") || statement.Has("wait_group")) {
    return Emit(statement, NewInst(statement, Action::kNop, InstClass::kSynchronisation), {}, {});
  }
  const std::optional<MatrixShape> shape = ShapeOf(statement);
  Inst inst = NewInst(statement, Action::kWgmma, InstClass::kMatrix);
  inst.type = TypeAt(statement, 1);
  inst.space = Space::kShared;
  const Type sum = TypeAt(statement, 2);
  const bool known = statement.Has("mma_async") && !statement.Has("sp") && shape && (*shape)[0] == 64 &&
                     (*shape)[1] % 8 == 0 && (*shape)[2] == 16 &&
                     (sum == Type::kF32 || (sum == Type::kF16 && inst.type == Type::kF16)) &&
                     (inst.type == Type::kF16 || inst.type == Type::kBf16) && inst.type == TypeAt(statement, 0);
  if (!known) return EmitUnsupported(statement);
  RETURN_IF_ERROR(NeedOperands(statement, 7, 8));
  const bool registers = statement.operands[1].kind == Operand::Kind::kVector;
  const std::size_t count = registers ? 7 : 8;
  RETURN_IF_ERROR(NeedOperands(statement, count, count));
  for (std::size_t i = 4; i < count; ++i) {
    if (statement.operands[i].kind != Operand::Kind::kInteger) return Wrong(statement, "expected a number");
    // Matrices whose columns follow each other aren't implemented.
    if (i >= 6 && statement.operands[i].bits != 0) return EmitUnsupported(statement);
  }
  const auto negated = [&](std::size_t index) { return static_cast<std::int64_t>(statement.operands[index].bits) < 0; };
  const std::size_t in_register = sum == Type::kF16 ? 2 : 1;  // elements of d
  inst.sub = static_cast<std::uint8_t>((registers ? 1 : 0) | (negated(4) ? 2 : 0) | (negated(5) ? 4 : 0) |
                                       (in_register == 2 ? 8 : 0));
  inst.flags = (*shape)[1];
  ASSIGN_OR_RETURN(const std::vector<std::uint32_t> d,
                   VectorSlots(statement, statement.operands[0], in_register == 2 ? Type::kB32 : Type::kF32, true));
  ASSIGN_OR_RETURN(std::vector<std::uint32_t> sources,
                   VectorSlots(statement, statement.operands[1], registers ? Type::kB32 : Type::kB64, false));
  if (d.size() * in_register * 2 != inst.flags || sources.size() != (registers ? 4U : 1U)) {
    return Wrong(statement, "vectors of unexpected lengths");
  }
  ASSIGN_OR_RETURN(const std::uint32_t b, Source(statement, statement.operands[2], Type::kB64));
  ASSIGN_OR_RETURN(const std::uint32_t scale, Source(statement, statement.operands[3], Type::kPred));
  sources.push_back(b);
  sources.push_back(scale);
  return Emit(statement, inst, d, sources);
}

// The operands of a vector, or the operand itself.
std::vector<Operand> Decoder::Elements(const Operand& operand) {
  return operand.kind == Operand::Kind::kVector ? operand.elements : std::vector<Operand>{operand};
}

// The whole address in a register of 64 bits.
Result<std::uint32_t> Decoder::AddressValue(const Statement& statement, const Operand& operand) {
  Inst place;
  std::vector<std::uint32_t> sources;
  RETURN_IF_ERROR(Address(statement, operand, place, sources));
  if (sources.size() != 1) return Wrong(statement, "an address in local memory");
  std::uint32_t slot = sources[0];
  Inst inst = NewInst(statement, Action::kAlu, InstClass::kInteger);
  inst.type = Type::kU64;
  inst.slot_size = 8;
  if (place.address_mode == AddressMode::kRegister32) {
    inst.source_type = Type::kU32;
    const std::uint32_t wide = Temporary(Type::kB64);
    RETURN_IF_ERROR(EmitAlu(statement, AluOp::kCvt, Compare::kEq, inst, {wide}, {slot}));
    slot = wide;
  }
  if (place.imm == 0) return slot;
  inst.source_type = Type::kNone;
  const std::uint32_t sum = Temporary(Type::kB64);
  RETURN_IF_ERROR(EmitAlu(statement, AluOp::kAdd, Compare::kEq, inst, {sum},
                          {slot, Constant(static_cast<std::uint64_t>(place.imm), 8)}));
  return sum;
}

// cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [to], [from], size, [mbarrier]
// cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [to], [from], size, [mbarrier]
// cp.async.bulk.global.shared::cta.bulk_group [to], [from], size
Status Decoder::DecodeBulk(const Statement& statement) {
  if (statement.Has("commit_group") || statement.Has("wait_group") || statement.Has("prefetch")) {
    return Emit(statement, NewInst(statement, Action::kNop, InstClass::kSynchronisation), {}, {});
  }
  if (statement.Part(3) == "tensor") return DecodeTensor(statement);
  const std::string_view to = statement.Part(3);
  const std::string_view from = statement.Part(4);
  const bool from_global = from == "global";
  const bool to_shared = (to == "shared::cluster" || (to == "shared::cta" && from_global)) &&
                         (from_global || from == "shared::cta") && statement.Has("mbarrier::complete_tx::bytes");
  const bool to_global = to == "global" && from == "shared::cta" && statement.Has("bulk_group");
  const bool multicast = statement.Has("multicast::cluster");
  if ((!to_shared && !to_global) || statement.Has("cp_mask") || statement.Has("ignore_oob") ||
      (multicast && !(to_shared && from_global))) {
    return EmitUnsupported(statement);
  }
  const std::size_t least = multicast ? 5 : to_shared ? 4 : 3;
  RETURN_IF_ERROR(NeedOperands(statement, least, least + 1));
  Inst inst = NewInst(statement, Action::kBulkCopy, InstClass::kMemory);
  inst.sub = to_global ? kBulkToGlobal : from_global ? kBulkToShared : kBulkToCluster;
  inst.flags = multicast ? 1 : 0;
  inst.type = Type::kB8;
  std::vector<std::uint32_t> sources;
  for (const std::size_t i : {0U, 1U}) {
    ASSIGN_OR_RETURN(const std::uint32_t address, AddressValue(statement, statement.operands[i]));
    sources.push_back(address);
  }
  ASSIGN_OR_RETURN(const std::uint32_t bytes, Source(statement, statement.operands[2], Type::kU32));
  sources.push_back(bytes);
  if (to_shared) {
    ASSIGN_OR_RETURN(const std::uint32_t barrier, AddressValue(statement, statement.operands[3]));
    sources.push_back(barrier);
  }
  if (multicast) {
    ASSIGN_OR_RETURN(const std::uint32_t ranks, Source(statement, statement.operands[4], Type::kB16));
    sources.push_back(ranks);
  }
  return Emit(statement, inst, {}, sources);
}

// cp.async.bulk.tensor.2d.shared::cluster.global{.tile}.mbarrier::complete_tx::bytes [to], [map, {x, y}], [mbarrier]
// cp.async.bulk.tensor.2d.global.shared::cta{.tile}.bulk_group [map, {x, y}], [from]
Status Decoder::DecodeTensor(const Statement& statement) {
  const std::string_view dimensions = statement.Part(4);
  const std::string_view to = statement.Part(5);
  const bool loads = (to == "shared::cluster" || to == "shared::cta") && statement.Part(6) == "global" &&
                     statement.Has("mbarrier::complete_tx::bytes");
  const bool stores = to == "global" && statement.Part(6) == "shared::cta" && statement.Has("bulk_group");
  const bool multicast = loads && statement.Has("multicast::cluster");
  std::size_t known = (loads || stores ? 8U : 0U) + (multicast ? 1 : 0);
  if (statement.Has("tile")) ++known;
  if (statement.Has("L2::cache_hint")) ++known;
  const bool ranked = dimensions.size() == 2 && dimensions[0] >= '1' && dimensions[0] <= '5' && dimensions[1] == 'd';
  if (!ranked || statement.parts.size() != known) return EmitUnsupported(statement);
  const std::size_t least = stores ? 2 : multicast ? 4 : 3;
  RETURN_IF_ERROR(NeedOperands(statement, least, least + 1));
  Inst inst = NewInst(statement, Action::kTensorCopy, InstClass::kMemory);
  inst.sub = loads ? kBulkToShared : kBulkToGlobal;
  inst.flags = multicast ? 1 : 0;
  inst.vector = static_cast<std::uint8_t>(dimensions[0] - '0');
  inst.type = Type::kB8;
  const Operand& map = statement.operands[loads ? 1 : 0];
  const bool has_coordinates = map.kind == Operand::Kind::kAddress && map.elements.size() == 2 &&
                               Elements(map.elements[1]).size() == inst.vector;
  if (!has_coordinates) return Wrong(statement, "expected a tensor map and its coordinates");
  ASSIGN_OR_RETURN(const std::uint32_t shared, AddressValue(statement, statement.operands[loads ? 0 : 1]));
  ASSIGN_OR_RETURN(const std::uint32_t place, AddressValue(statement, map));
  std::vector<std::uint32_t> sources{shared, place, Constant(0, 8)};
  if (loads) {
    ASSIGN_OR_RETURN(sources[2], AddressValue(statement, statement.operands[2]));
  }
  for (const Operand& coordinate : Elements(map.elements[1])) {
    ASSIGN_OR_RETURN(const std::uint32_t slot, Source(statement, coordinate, Type::kB32));
    sources.push_back(slot);
  }
  if (multicast) {
    ASSIGN_OR_RETURN(const std::uint32_t ranks, Source(statement, statement.operands[3], Type::kB16));
    sources.push_back(ranks);
  }
  return Emit(statement, inst, {}, sources);
}

}  // namespace upskill::ptx
