// SPDX-License-Identifier: Apache-2.0
// Matrix instructions of a warp.
#include "cuda/ptx/decoder.h"

namespace upskill::ptx {

Result<std::vector<std::uint32_t>> Decoder::VectorSlots(const Statement& statement, const Operand& operand, Type type,
                                                        bool results) {
  std::vector<std::uint32_t> slots;
  const std::vector<Operand> elements =
      operand.kind == Operand::Kind::kVector ? operand.elements : std::vector<Operand>{operand};
  for (const Operand& element : elements) {
    if (results) {
      ASSIGN_OR_RETURN(const std::uint32_t slot, Destination(statement, element, type));
      slots.push_back(slot);
    } else {
      ASSIGN_OR_RETURN(const std::uint32_t slot, Source(statement, element, type));
      slots.push_back(slot);
    }
  }
  return slots;
}

// ldmatrix.sync.aligned.m8n8.num{.trans}.shared.b16 registers, [address]; stmatrix the other way round.
Status Decoder::DecodeLdmatrix(const Statement& statement) {
  RETURN_IF_ERROR(NeedOperands(statement, 2, 2));
  const bool loads = statement.parts[0] == "ldmatrix";
  if (!statement.Has("m8n8") || TypeAt(statement, 0) != Type::kB16) return EmitUnsupported(statement);
  Inst inst = NewInst(statement, loads ? Action::kLoadMatrix : Action::kStoreMatrix, InstClass::kMatrix);
  inst.vector = statement.Has("x4") ? 4 : statement.Has("x2") ? 2 : 1;
  inst.sub = statement.Has("trans") ? 1 : 0;
  inst.space = Space::kShared;
  inst.type = Type::kB16;
  ASSIGN_OR_RETURN(const std::vector<std::uint32_t> slots,
                   VectorSlots(statement, statement.operands[loads ? 0 : 1], Type::kB32, loads));
  if (slots.size() != inst.vector) return Wrong(statement, "the vector has the wrong length");
  std::vector<std::uint32_t> sources;
  if (!loads) sources = slots;
  RETURN_IF_ERROR(Address(statement, statement.operands[loads ? 1 : 0], inst, sources));
  if (inst.address_mode == AddressMode::kFrame) return EmitUnsupported(statement);
  return Emit(statement, inst, loads ? slots : std::vector<std::uint32_t>{}, sources);
}

// mma.sync.aligned.shape.row.col.dtype.atype.btype.ctype d, a, b, c
Status Decoder::DecodeMma(const Statement& statement) {
  RETURN_IF_ERROR(NeedOperands(statement, 4, 4));
  Inst inst = NewInst(statement, Action::kMma, InstClass::kMatrix);
  const Type result = TypeAt(statement, 3);
  inst.type = TypeAt(statement, 2);
  inst.source_type = TypeAt(statement, 1);
  const unsigned size = inst.type == Type::kTf32 ? 4 : SizeOf(inst.type);
  const bool known = !statement.Has("sp") && !statement.Has("satfinite") && !statement.Has("popc") &&
                     result == TypeAt(statement, 0) && statement.Has("row") && statement.Has("col") &&
                     SizeOf(inst.type) == SizeOf(inst.source_type) &&
                     (statement.Has("m16n8k4") || statement.Has("m16n8k8") || statement.Has("m16n8k16") ||
                      statement.Has("m16n8k32") || (statement.Has("m8n8k4") && inst.type == Type::kF64)) &&
                     (inst.type == Type::kF64 || inst.type == Type::kF16 || inst.type == Type::kBf16 ||
                      inst.type == Type::kTf32 || inst.type == Type::kS8 || inst.type == Type::kU8);
  if (!known) return EmitUnsupported(statement);
  const bool half = result == Type::kF16;
  const Type input = size == 8 ? Type::kF64 : Type::kB32;
  const Type output = half ? Type::kB32 : result;
  if (size == 8 ? result != Type::kF64 : SizeOf(output) != 4) return EmitUnsupported(statement);
  ASSIGN_OR_RETURN(const std::vector<std::uint32_t> d, VectorSlots(statement, statement.operands[0], output, true));
  ASSIGN_OR_RETURN(std::vector<std::uint32_t> sources, VectorSlots(statement, statement.operands[1], input, false));
  ASSIGN_OR_RETURN(const std::vector<std::uint32_t> b, VectorSlots(statement, statement.operands[2], input, false));
  ASSIGN_OR_RETURN(const std::vector<std::uint32_t> c, VectorSlots(statement, statement.operands[3], output, false));
  const std::size_t a_count = sources.size();
  const std::size_t expected = size == 8 || half ? 2 : 4;
  const bool fits = d.size() == expected && c.size() == expected && a_count == (size == 8 ? b.size() : 2 * b.size()) &&
                    a_count >= 1 && a_count <= 4;
  if (!fits) return Wrong(statement, "vectors of unexpected lengths");
  inst.rounding = half ? Rounding::kRn : Rounding::kNone;  // marks results of halves
  inst.flags = static_cast<std::uint32_t>(a_count | (b.size() << 8U));
  sources.insert(sources.end(), b.begin(), b.end());
  sources.insert(sources.end(), c.begin(), c.end());
  return Emit(statement, inst, d, sources);
}

}  // namespace upskill::ptx
