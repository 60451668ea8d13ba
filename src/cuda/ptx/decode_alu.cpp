// SPDX-License-Identifier: Apache-2.0
// Instructions that only compute.
#include <map>

#include "cuda/ptx/decoder.h"

namespace upskill::ptx {
namespace {

const std::map<std::string_view, AluOp>& SimpleOps() {
  static const std::map<std::string_view, AluOp> ops = {
      {"add", AluOp::kAdd},     {"sub", AluOp::kSub},   {"div", AluOp::kDiv},           {"rem", AluOp::kRem},
      {"abs", AluOp::kAbs},     {"neg", AluOp::kNeg},   {"min", AluOp::kMin},           {"max", AluOp::kMax},
      {"and", AluOp::kAnd},     {"or", AluOp::kOr},     {"xor", AluOp::kXor},           {"not", AluOp::kNot},
      {"cnot", AluOp::kCnot},   {"fma", AluOp::kFma},   {"sad", AluOp::kSad},           {"brev", AluOp::kBrev},
      {"clz", AluOp::kClz},     {"popc", AluOp::kPopc}, {"rcp", AluOp::kRcp},           {"sqrt", AluOp::kSqrt},
      {"rsqrt", AluOp::kRsqrt}, {"ex2", AluOp::kEx2},   {"lg2", AluOp::kLg2},           {"sin", AluOp::kSin},
      {"cos", AluOp::kCos},     {"tanh", AluOp::kTanh}, {"copysign", AluOp::kCopysign}, {"bfind", AluOp::kBfind},
      {"bfe", AluOp::kBfe},     {"bfi", AluOp::kBfi},   {"fns", AluOp::kFns},           {"szext", AluOp::kSzext},
      {"bmsk", AluOp::kBmsk},   {"shl", AluOp::kShl},   {"shr", AluOp::kShr},           {"dp4a", AluOp::kDp4a},
      {"dp2a", AluOp::kDp2a},   {"selp", AluOp::kSelp}, {"slct", AluOp::kSlct},
  };
  return ops;
}

bool FindCompare(std::string_view name, bool is_float, Compare& compare) {
  static const std::map<std::string_view, Compare> compares = {
      {"eq", Compare::kEq},   {"ne", Compare::kNe},   {"lt", Compare::kLt},   {"le", Compare::kLe},
      {"gt", Compare::kGt},   {"ge", Compare::kGe},   {"lo", Compare::kLt},   {"ls", Compare::kLe},
      {"hi", Compare::kGt},   {"hs", Compare::kGe},   {"equ", Compare::kEqu}, {"neu", Compare::kNeu},
      {"ltu", Compare::kLtu}, {"leu", Compare::kLeu}, {"gtu", Compare::kGtu}, {"geu", Compare::kGeu},
      {"num", Compare::kNum}, {"nan", Compare::kNan},
  };
  const auto found = compares.find(name);
  if (found == compares.end() || (!is_float && found->second >= Compare::kEqu)) return false;
  compare = found->second;
  return true;
}

std::uint32_t FindCombination(const Statement& statement) {
  if (statement.Has("and")) return kCombineAnd;
  if (statement.Has("or")) return kCombineOr;
  return statement.Has("xor") ? kCombineXor : 0;
}

}  // namespace

Status Decoder::EmitAlu(const Statement& statement, AluOp op, Compare compare, Inst inst,
                        const std::vector<std::uint32_t>& results, const std::vector<std::uint32_t>& sources) {
  inst.results = static_cast<std::uint8_t>(results.size());
  inst.sources = static_cast<std::uint8_t>(sources.size());
  inst.alu = FindAlu(op, compare, inst);
  if (inst.alu == nullptr || results.size() + sources.size() > inst.op.size()) return EmitUnsupported(statement);
  return Emit(statement, inst, results, sources);
}

Status Decoder::DecodeSimple(const Statement& statement, AluOp op, std::size_t sources) {
  RETURN_IF_ERROR(NeedOperands(statement, sources + 1, sources + 1));
  Inst inst = NewInst(statement, Action::kAlu, InstClass::kInteger);
  inst.type = TypeAt(statement, 0);
  if (inst.type == Type::kNone) return EmitUnsupported(statement);
  inst.inst_class = ClassOf(inst.type);
  const bool only_32_bits = op == AluOp::kLop3 || op == AluOp::kPrmt || op == AluOp::kDp4a || op == AluOp::kDp2a;
  if (only_32_bits && SizeOf(inst.type) != 4) return Wrong(statement, "only types of 32 bits");
  ReadModifiers(statement, inst);
  if (statement.Has("NaN")) inst.flags |= kFlagNan;
  if (statement.Has("xorsign")) inst.flags |= kFlagXorsign;
  // The approximations of sqrt and div round like the exact forms here.
  if (statement.Has("approx") && op == AluOp::kRcp && inst.type == Type::kF64) inst.flags |= kFlagApprox;
  if (op == AluOp::kDiv && IsFloat(inst.type) && SizeOf(inst.type) < 4) return EmitUnsupported(statement);
  ASSIGN_OR_RETURN(const std::uint32_t result, Destination(statement, statement.operands[0], inst.type));
  std::vector<std::uint32_t> slots;
  for (std::size_t i = 1; i <= sources; ++i) {
    ASSIGN_OR_RETURN(const std::uint32_t slot, Source(statement, statement.operands[i], inst.type));
    slots.push_back(slot);
  }
  return EmitAlu(statement, op, Compare::kEq, inst, {result}, slots);
}

Status Decoder::DecodeUnary(const Statement& statement) {
  return DecodeSimple(statement, SimpleOps().at(statement.parts[0]), 1);
}

Status Decoder::DecodeBinary(const Statement& statement) {
  const std::string_view name = statement.parts[0];
  const bool carries = statement.Has("cc") || name == "addc" || name == "subc";
  if (carries) return DecodeCarry(statement, name.starts_with("add") ? AluOp::kAddCarry : AluOp::kSubCarry, 2);
  const bool three = (name == "min" || name == "max") && statement.operands.size() == 4;
  return DecodeSimple(statement, SimpleOps().at(name), three ? 3 : 2);
}

Status Decoder::DecodeTernary(const Statement& statement) {
  return DecodeSimple(statement, SimpleOps().at(statement.parts[0]), 3);
}

Status Decoder::DecodeCarry(const Statement& statement, AluOp op, std::size_t sources) {
  RETURN_IF_ERROR(NeedOperands(statement, sources + 1, sources + 1));
  Inst inst = NewInst(statement, Action::kAlu, InstClass::kInteger);
  inst.type = TypeAt(statement, 0);
  if (SizeOf(inst.type) < 4 || IsFloat(inst.type) || SizeOf(inst.type) > 8)
    return Wrong(statement, "not a type with a carry");
  if (statement.parts[0].ends_with('c')) inst.flags |= kFlagCarryIn;
  if (statement.Has("cc")) inst.flags |= kFlagCarryOut;
  ASSIGN_OR_RETURN(const std::uint32_t result, Destination(statement, statement.operands[0], inst.type));
  std::vector<std::uint32_t> slots;
  for (std::size_t i = 1; i <= sources; ++i) {
    ASSIGN_OR_RETURN(const std::uint32_t slot, Source(statement, statement.operands[i], inst.type));
    slots.push_back(slot);
  }
  return EmitAlu(statement, op, Compare::kEq, inst, {result}, slots);
}

Status Decoder::DecodeMul(const Statement& statement) {
  const bool is24 = statement.parts[0] == "mul24";
  if (statement.Has("hi")) return DecodeSimple(statement, is24 ? AluOp::kMul24Hi : AluOp::kMulHi, 2);
  if (!statement.Has("wide")) return DecodeSimple(statement, is24 ? AluOp::kMul24Lo : AluOp::kMulLo, 2);
  RETURN_IF_ERROR(NeedOperands(statement, 3, 3));
  Inst inst = NewInst(statement, Action::kAlu, InstClass::kInteger);
  inst.type = TypeAt(statement, 0);
  const Type wide = SizeOf(inst.type) == 2 ? Type::kB32 : Type::kB64;
  ASSIGN_OR_RETURN(const std::uint32_t result, Destination(statement, statement.operands[0], wide));
  ASSIGN_OR_RETURN(const std::uint32_t a, Source(statement, statement.operands[1], inst.type));
  ASSIGN_OR_RETURN(const std::uint32_t b, Source(statement, statement.operands[2], inst.type));
  return EmitAlu(statement, AluOp::kMulWide, Compare::kEq, inst, {result}, {a, b});
}

Status Decoder::DecodeMad(const Statement& statement) {
  const bool is24 = statement.parts[0] == "mad24";
  const bool high = statement.Has("hi");
  if (IsFloat(TypeAt(statement, 0))) return DecodeSimple(statement, AluOp::kFma, 3);
  if (statement.Has("cc") || statement.parts[0] == "madc") {
    return DecodeCarry(statement, high ? AluOp::kMadHiCarry : AluOp::kMadLoCarry, 3);
  }
  if (high) return DecodeSimple(statement, is24 ? AluOp::kMad24Hi : AluOp::kMadHi, 3);
  if (!statement.Has("wide")) return DecodeSimple(statement, is24 ? AluOp::kMad24Lo : AluOp::kMadLo, 3);
  RETURN_IF_ERROR(NeedOperands(statement, 4, 4));
  Inst inst = NewInst(statement, Action::kAlu, InstClass::kInteger);
  inst.type = TypeAt(statement, 0);
  const Type wide = SizeOf(inst.type) == 2 ? Type::kB32 : Type::kB64;
  ASSIGN_OR_RETURN(const std::uint32_t result, Destination(statement, statement.operands[0], wide));
  ASSIGN_OR_RETURN(const std::uint32_t a, Source(statement, statement.operands[1], inst.type));
  ASSIGN_OR_RETURN(const std::uint32_t b, Source(statement, statement.operands[2], inst.type));
  ASSIGN_OR_RETURN(const std::uint32_t c, Source(statement, statement.operands[3], wide));
  return EmitAlu(statement, AluOp::kMadWide, Compare::kEq, inst, {result}, {a, b, c});
}

Status Decoder::DecodeShift(const Statement& statement) {
  RETURN_IF_ERROR(NeedOperands(statement, 3, 3));
  Inst inst = NewInst(statement, Action::kAlu, InstClass::kInteger);
  inst.type = TypeAt(statement, 0);
  ASSIGN_OR_RETURN(const std::uint32_t result, Destination(statement, statement.operands[0], inst.type));
  ASSIGN_OR_RETURN(const std::uint32_t a, Source(statement, statement.operands[1], inst.type));
  ASSIGN_OR_RETURN(const std::uint32_t b, Source(statement, statement.operands[2], Type::kU32));
  return EmitAlu(statement, SimpleOps().at(statement.parts[0]), Compare::kEq, inst, {result}, {a, b});
}

Status Decoder::DecodeShf(const Statement& statement) {
  RETURN_IF_ERROR(NeedOperands(statement, 4, 4));
  Inst inst = NewInst(statement, Action::kAlu, InstClass::kInteger);
  inst.type = Type::kB32;
  if (statement.Has("wrap")) inst.flags = kFlagWrap;
  std::vector<std::uint32_t> slots;
  ASSIGN_OR_RETURN(const std::uint32_t result, Destination(statement, statement.operands[0], inst.type));
  for (std::size_t i = 1; i < 4; ++i) {
    ASSIGN_OR_RETURN(const std::uint32_t slot, Source(statement, statement.operands[i], Type::kB32));
    slots.push_back(slot);
  }
  return EmitAlu(statement, statement.Has("l") ? AluOp::kShfLeft : AluOp::kShfRight, Compare::kEq, inst, {result},
                 slots);
}

Status Decoder::DecodeLop3(const Statement& statement) {
  if (statement.operands.size() != 5 || statement.operands[4].kind != Operand::Kind::kInteger) {
    return EmitUnsupported(statement);
  }
  Statement three = statement;
  three.operands.resize(4);
  RETURN_IF_ERROR(DecodeSimple(three, AluOp::kLop3, 3));
  program_.code.back().imm = static_cast<std::int64_t>(statement.operands[4].bits & 0xFFU);
  return {};
}

Status Decoder::DecodePrmt(const Statement& statement) {
  static const std::map<std::string_view, std::uint8_t> modes = {{"f4e", 1}, {"b4e", 2}, {"rc8", 3},
                                                                 {"ecl", 4}, {"ecr", 5}, {"rc16", 6}};
  RETURN_IF_ERROR(DecodeSimple(statement, AluOp::kPrmt, 3));
  for (const std::string_view part : statement.parts) {
    if (const auto mode = modes.find(part); mode != modes.end()) program_.code.back().sub = mode->second;
  }
  return {};
}

// Operands that aren't all of the instruction's type.
Status Decoder::DecodeBitField(const Statement& statement) {
  const AluOp op = SimpleOps().at(statement.parts[0]);
  Inst inst = NewInst(statement, Action::kAlu, InstClass::kInteger);
  inst.type = TypeAt(statement, 0);
  if (SizeOf(inst.type) < 4 || SizeOf(inst.type) > 8) return Wrong(statement, "not a type of this instruction");
  if (statement.Has("shiftamt")) inst.flags = kFlagShiftAmount;
  if (statement.Has("wrap")) inst.flags = kFlagWrap;
  const bool counts = op == AluOp::kClz || op == AluOp::kPopc || op == AluOp::kBfind;
  const std::size_t values = op == AluOp::kBfi ? 2 : 1;  // sources of the instruction's type; the others are u32
  const std::size_t sources = counts ? 1 : op == AluOp::kBfi ? 4 : op == AluOp::kBfe || op == AluOp::kFns ? 3 : 2;
  RETURN_IF_ERROR(NeedOperands(statement, sources + 1, sources + 1));
  ASSIGN_OR_RETURN(const std::uint32_t result,
                   Destination(statement, statement.operands[0], counts ? Type::kU32 : inst.type));
  std::vector<std::uint32_t> slots;
  for (std::size_t i = 0; i < sources; ++i) {
    ASSIGN_OR_RETURN(const std::uint32_t slot,
                     Source(statement, statement.operands[i + 1], i < values ? inst.type : Type::kU32));
    slots.push_back(slot);
  }
  return EmitAlu(statement, op, Compare::kEq, inst, {result}, slots);
}

Status Decoder::DecodeDot(const Statement& statement) {
  RETURN_IF_ERROR(DecodeSimple(statement, SimpleOps().at(statement.parts[0]), 3));
  Inst& inst = program_.code.back();
  inst.type = TypeAt(statement, 1);
  inst.flags = (IsSigned(TypeAt(statement, 0)) ? kFlagSourceBSigned : 0U) | (statement.Has("hi") ? kFlagHigh : 0U);
  return {};
}

// setp.CmpOp{.BoolOp}.type p{|q}, a, b{, {!}c}
Status Decoder::DecodeSetp(const Statement& statement) {
  RETURN_IF_ERROR(NeedOperands(statement, 3, 4));
  Inst inst = NewInst(statement, Action::kAlu, InstClass::kInteger);
  inst.type = TypeAt(statement, 0);
  if (inst.type == Type::kNone || inst.type == Type::kPred) return Wrong(statement, "not a type that can be compared");
  inst.inst_class = ClassOf(inst.type);
  inst.ftz = statement.Has("ftz");
  Compare compare = Compare::kEq;
  if (!FindCompare(statement.Part(1), IsFloat(inst.type), compare)) return EmitUnsupported(statement);
  inst.sub = static_cast<std::uint8_t>(compare);
  inst.flags = statement.operands.size() == 4 ? FindCombination(statement) : 0;
  const Operand& target = statement.operands[0];
  std::vector<std::uint32_t> results;
  const bool pair = target.kind == Operand::Kind::kPair;
  ASSIGN_OR_RETURN(const std::uint32_t p, Destination(statement, pair ? target.elements[0] : target, Type::kPred));
  results.push_back(p);
  std::uint32_t q = Temporary(Type::kPred);
  if (pair) {
    ASSIGN_OR_RETURN(q, Destination(statement, target.elements[1], Type::kPred));
  }
  results.push_back(q);
  std::vector<std::uint32_t> slots;
  for (std::size_t i = 1; i < 3; ++i) {
    ASSIGN_OR_RETURN(const std::uint32_t slot, Source(statement, statement.operands[i], inst.type));
    slots.push_back(slot);
  }
  if (inst.flags != 0) {
    ASSIGN_OR_RETURN(const std::uint32_t third, Source(statement, statement.operands[3], Type::kPred));
    slots.push_back(third);
  }
  return EmitAlu(statement, AluOp::kSetp, compare, inst, results, slots);
}

Status Decoder::DecodeSet(const Statement& statement) {
  RETURN_IF_ERROR(NeedOperands(statement, 3, 4));
  Inst inst = NewInst(statement, Action::kAlu, InstClass::kInteger);
  inst.type = TypeAt(statement, 1);
  inst.source_type = TypeAt(statement, 0);
  if (inst.type == Type::kNone) return EmitUnsupported(statement);
  Compare compare = Compare::kEq;
  if (!FindCompare(statement.Part(1), IsFloat(inst.source_type), compare)) return EmitUnsupported(statement);
  inst.sub = static_cast<std::uint8_t>(compare);
  inst.ftz = statement.Has("ftz");
  inst.slot_size = static_cast<std::uint8_t>(SlotSize(inst.type));
  inst.flags = statement.operands.size() == 4 ? FindCombination(statement) : 0;
  ASSIGN_OR_RETURN(const std::uint32_t result, Destination(statement, statement.operands[0], inst.type));
  if (SlotSize(inst.type) > 4) return EmitUnsupported(statement);
  std::vector<std::uint32_t> slots;
  for (std::size_t i = 1; i < 3; ++i) {
    ASSIGN_OR_RETURN(const std::uint32_t slot, Source(statement, statement.operands[i], inst.source_type));
    slots.push_back(slot);
  }
  if (inst.flags != 0) {
    ASSIGN_OR_RETURN(const std::uint32_t third, Source(statement, statement.operands[3], Type::kPred));
    slots.push_back(third);
  }
  return EmitAlu(statement, AluOp::kSet, compare, inst, {result}, slots);
}

Status Decoder::DecodeSelect(const Statement& statement) {
  RETURN_IF_ERROR(NeedOperands(statement, 4, 4));
  const bool by_predicate = statement.parts[0] == "selp";
  Inst inst = NewInst(statement, Action::kAlu, InstClass::kMove);
  inst.type = TypeAt(statement, by_predicate ? 0 : 1);
  inst.source_type = TypeAt(statement, 0);
  inst.ftz = statement.Has("ftz");
  inst.copies = true;
  if (inst.type == Type::kNone || inst.type == Type::kPred) return EmitUnsupported(statement);
  if (!by_predicate && inst.source_type != Type::kF32 && inst.source_type != Type::kS32)
    return EmitUnsupported(statement);
  ASSIGN_OR_RETURN(const std::uint32_t result, Destination(statement, statement.operands[0], inst.type));
  ASSIGN_OR_RETURN(const std::uint32_t a, Source(statement, statement.operands[1], inst.type));
  ASSIGN_OR_RETURN(const std::uint32_t b, Source(statement, statement.operands[2], inst.type));
  ASSIGN_OR_RETURN(const std::uint32_t c,
                   Source(statement, statement.operands[3], by_predicate ? Type::kPred : inst.source_type));
  if (by_predicate) inst.sub = 1;
  return EmitAlu(statement, by_predicate ? AluOp::kSelp : AluOp::kSlct, Compare::kEq, inst, {result}, {a, b, c});
}

Status Decoder::DecodeTestp(const Statement& statement) {
  static const std::map<std::string_view, std::uint8_t> tests = {{"finite", 0},     {"infinite", 1}, {"number", 2},
                                                                 {"notanumber", 3}, {"normal", 4},   {"subnormal", 5}};
  RETURN_IF_ERROR(NeedOperands(statement, 2, 2));
  const auto test = tests.find(statement.Part(1));
  Inst inst = NewInst(statement, Action::kAlu, InstClass::kFloat32);
  inst.type = TypeAt(statement, 0);
  if (test == tests.end() || (inst.type != Type::kF32 && inst.type != Type::kF64)) return EmitUnsupported(statement);
  inst.sub = test->second;
  ASSIGN_OR_RETURN(const std::uint32_t result, Destination(statement, statement.operands[0], Type::kPred));
  ASSIGN_OR_RETURN(const std::uint32_t a, Source(statement, statement.operands[1], inst.type));
  return EmitAlu(statement, AluOp::kTestp, Compare::kEq, inst, {result}, {a});
}

}  // namespace upskill::ptx
