// SPDX-License-Identifier: Apache-2.0
// mov and cvt, and what makes addresses of one space those of another.
#include "cuda/ptx/decoder.h"
#include "cuda/ptx/forms.h"

namespace upskill::ptx {
Status Decoder::DecodeMov(const Statement& statement) {
  RETURN_IF_ERROR(NeedOperands(statement, 2, 2));
  const Type type = TypeAt(statement, 0);
  if (type == Type::kNone) return EmitUnsupported(statement);
  if (statement.operands[0].kind == Operand::Kind::kVector || statement.operands[1].kind == Operand::Kind::kVector) {
    return DecodeMovVector(statement, type);
  }
  Inst inst = NewInst(statement, Action::kAlu, InstClass::kMove);
  inst.type = type;
  inst.copies = true;
  ASSIGN_OR_RETURN(const std::uint32_t result, Destination(statement, statement.operands[0], type));
  const Operand& from = statement.operands[1];
  if (from.kind == Operand::Kind::kSpecial) {
    inst.action = Action::kSpecialRegister;
    inst.sub = static_cast<std::uint8_t>(from.special);
    inst.slot_size = static_cast<std::uint8_t>(SlotSize(type));
    return Emit(statement, inst, {result}, {});
  }
  ASSIGN_OR_RETURN(const std::uint32_t source, Source(statement, from, type));
  return EmitAlu(statement, AluOp::kMov, Compare::kEq, inst, {result}, {source});
}

// mov.b64 {%r1, %r2}, %rd1 and back.
Status Decoder::DecodeMovVector(const Statement& statement, Type type) {
  const bool unpacks = statement.operands[0].kind == Operand::Kind::kVector;
  const Operand& vector = statement.operands[unpacks ? 0 : 1];
  const Operand& whole = statement.operands[unpacks ? 1 : 0];
  const std::size_t parts = vector.elements.size();
  if ((parts != 2 && parts != 4) || type == Type::kPred)
    return Wrong(statement, "a vector of 2 or 4 elements is needed");
  const std::size_t size = SizeOf(type) / parts;
  if (size < 1 || SizeOf(type) < 2) return Wrong(statement, "too many elements");
  const Type part_type = size == 8 ? Type::kB64 : size == 4 ? Type::kB32 : size == 2 ? Type::kB16 : Type::kB8;
  Inst inst = NewInst(statement, Action::kAlu, InstClass::kMove);
  inst.type = type;
  inst.copies = true;
  std::vector<std::uint32_t> elements;
  const unsigned element_size = SlotSize(part_type);
  for (const Operand& element : vector.elements) {
    if (unpacks) {
      ASSIGN_OR_RETURN(const std::uint32_t slot, Destination(statement, element, part_type));
      elements.push_back(slot);
    } else {
      ASSIGN_OR_RETURN(const std::uint32_t slot, Source(statement, element, part_type));
      elements.push_back(slot);
    }
  }
  if (unpacks) {
    ASSIGN_OR_RETURN(const std::uint32_t source, Source(statement, whole, type));
    inst.slot_size = static_cast<std::uint8_t>(element_size);
    inst.source_slot_size = static_cast<std::uint8_t>(SlotSize(type));
    return EmitAlu(statement, AluOp::kUnpack, Compare::kEq, inst, elements, {source});
  }
  ASSIGN_OR_RETURN(const std::uint32_t result, Destination(statement, whole, type));
  inst.slot_size = static_cast<std::uint8_t>(SlotSize(type));
  inst.source_slot_size = static_cast<std::uint8_t>(element_size);
  return EmitAlu(statement, AluOp::kPack, Compare::kEq, inst, {result}, elements);
}

// cvt{.rounding}{.ftz}{.sat}{.relu}{.satfinite}.dtype.stype d, a{, b}
Status Decoder::DecodeCvt(const Statement& statement) {
  RETURN_IF_ERROR(NeedOperands(statement, 2, 4));
  Inst inst = NewInst(statement, Action::kAlu, InstClass::kConversion);
  inst.type = TypeAt(statement, 1);
  inst.source_type = TypeAt(statement, 0);
  ReadModifiers(statement, inst);
  const auto packed = [](Type type) {
    return type == Type::kF16x2 || type == Type::kBf16x2 || type == Type::kE4m3x2 || type == Type::kE5m2x2;
  };
  const bool known = inst.type != Type::kNone && inst.type != Type::kPred && inst.source_type != Type::kPred &&
                     statement.operands.size() <= 3 && !statement.Has("pack") && !statement.Has("rs");
  if (!known) return EmitUnsupported(statement);
  const bool pair = packed(inst.type);
  if (!pair && statement.operands.size() != 2) return EmitUnsupported(statement);
  ASSIGN_OR_RETURN(const auto result, WideDestination(statement, statement.operands[0], inst.type));
  ASSIGN_OR_RETURN(const auto source, WideSource(statement, statement.operands[1], inst.source_type));
  inst.slot_size = static_cast<std::uint8_t>(result.second);
  inst.source_slot_size = static_cast<std::uint8_t>(source.second);
  if (result.second > 8 || source.second > 8) return Wrong(statement, "not a type that can be converted");
  if (!pair) {
    const bool plain = !packed(inst.source_type) && inst.source_type != Type::kTf32 && SizeOf(inst.type) <= 8 &&
                       (inst.type != Type::kE4m3 && inst.type != Type::kE5m2);
    return plain ? EmitAlu(statement, AluOp::kCvt, Compare::kEq, inst, {result.first}, {source.first})
                 : EmitUnsupported(statement);
  }
  if (statement.operands.size() == 2) {
    const bool from_pair =
        inst.source_type == Type::kF16x2 || inst.source_type == Type::kE4m3x2 || inst.source_type == Type::kE5m2x2;
    return from_pair ? EmitAlu(statement, AluOp::kCvtPack, Compare::kEq, inst, {result.first}, {source.first})
                     : EmitUnsupported(statement);
  }
  if (inst.source_type != Type::kF32) return EmitUnsupported(statement);
  ASSIGN_OR_RETURN(const std::uint32_t low, Source(statement, statement.operands[2], Type::kF32));
  if (source.second != 4) return Wrong(statement, "the sources must be f32");
  return EmitAlu(statement, AluOp::kCvtPack, Compare::kEq, inst, {result.first}, {source.first, low});
}

// cvta.space d, a: to generic; cvta.to.space: back.
Status Decoder::DecodeCvta(const Statement& statement) {
  RETURN_IF_ERROR(NeedOperands(statement, 2, 2));
  Inst inst = NewInst(statement, Action::kConvertAddress, InstClass::kMove);
  inst.type = TypeAt(statement, 0);
  inst.space = SpaceOf(statement);
  inst.copies = true;
  inst.sub = statement.Has("to") ? 1 : 0;
  if (SizeOf(inst.type) != 8) return EmitUnsupported(statement);
  ASSIGN_OR_RETURN(const std::uint32_t result, Destination(statement, statement.operands[0], inst.type));
  ASSIGN_OR_RETURN(const std::uint32_t source, Source(statement, statement.operands[1], inst.type));
  if (inst.space != Space::kShared && inst.space != Space::kLocal) {
    inst.action = Action::kAlu;
    return EmitAlu(statement, AluOp::kMov, Compare::kEq, inst, {result}, {source});
  }
  return Emit(statement, inst, {result}, {source});
}

Status Decoder::DecodeIsSpace(const Statement& statement) {
  RETURN_IF_ERROR(NeedOperands(statement, 2, 2));
  Inst inst = NewInst(statement, Action::kIsSpace, InstClass::kInteger);
  inst.space = SpaceOf(statement);
  inst.sub = statement.Has("shared::cluster") ? 1 : 0;
  ASSIGN_OR_RETURN(const std::uint32_t result, Destination(statement, statement.operands[0], Type::kPred));
  ASSIGN_OR_RETURN(const std::uint32_t source, Source(statement, statement.operands[1], Type::kU64));
  return Emit(statement, inst, {result}, {source});
}

// mapa{.shared::cluster}.type d, a, rank; getctarank{.shared::cluster}.type d, a: the rank is always a u32.
Status Decoder::DecodeMapa(const Statement& statement) {
  const bool maps = statement.parts[0] == "mapa";
  RETURN_IF_ERROR(NeedOperands(statement, maps ? 3 : 2, maps ? 3 : 2));
  Inst inst = NewInst(statement, Action::kMapToRank, InstClass::kInteger);
  inst.type = TypeAt(statement, 0);
  inst.space = SpaceOf(statement);
  inst.sub = maps ? kMapAddress : kRankOfAddress;
  if (inst.type != Type::kU32 && inst.type != Type::kU64) return EmitUnsupported(statement);
  inst.slot_size = static_cast<std::uint8_t>(SizeOf(inst.type));
  ASSIGN_OR_RETURN(const std::uint32_t result,
                   Destination(statement, statement.operands[0], maps ? inst.type : Type::kU32));
  ASSIGN_OR_RETURN(const std::uint32_t address, Source(statement, statement.operands[1], inst.type));
  std::vector<std::uint32_t> sources{address};
  if (maps) {
    ASSIGN_OR_RETURN(const std::uint32_t rank, Source(statement, statement.operands[2], Type::kU32));
    sources.push_back(rank);
  }
  return Emit(statement, inst, {result}, sources);
}

}  // namespace upskill::ptx
