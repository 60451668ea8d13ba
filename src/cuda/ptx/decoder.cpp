// SPDX-License-Identifier: Apache-2.0
#include "cuda/ptx/decoder.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>

#include "cuda/ptx/parser.h"

namespace upskill::ptx {

const std::map<std::string_view, Decoder::Method>& Decoder::Methods() {  // NOLINT(readability-function-size): a table
  using D = Decoder;
  static const std::map<std::string_view, Method> methods = {
      {"add", &D::DecodeBinary},
      {"sub", &D::DecodeBinary},
      {"addc", &D::DecodeBinary},
      {"subc", &D::DecodeBinary},
      {"mul", &D::DecodeMul},
      {"mul24", &D::DecodeMul},
      {"mad", &D::DecodeMad},
      {"mad24", &D::DecodeMad},
      {"madc", &D::DecodeMad},
      {"fma", &D::DecodeTernary},
      {"sad", &D::DecodeTernary},
      {"div", &D::DecodeBinary},
      {"rem", &D::DecodeBinary},
      {"abs", &D::DecodeUnary},
      {"neg", &D::DecodeUnary},
      {"min", &D::DecodeBinary},
      {"max", &D::DecodeBinary},
      {"and", &D::DecodeBinary},
      {"or", &D::DecodeBinary},
      {"xor", &D::DecodeBinary},
      {"not", &D::DecodeUnary},
      {"cnot", &D::DecodeUnary},
      {"shl", &D::DecodeShift},
      {"shr", &D::DecodeShift},
      {"shf", &D::DecodeShf},
      {"lop3", &D::DecodeLop3},
      {"prmt", &D::DecodePrmt},
      {"bfe", &D::DecodeBitField},
      {"bfi", &D::DecodeBitField},
      {"bfind", &D::DecodeBitField},
      {"brev", &D::DecodeUnary},
      {"clz", &D::DecodeBitField},
      {"popc", &D::DecodeBitField},
      {"fns", &D::DecodeBitField},
      {"szext", &D::DecodeBitField},
      {"bmsk", &D::DecodeBitField},
      {"dp4a", &D::DecodeDot},
      {"dp2a", &D::DecodeDot},
      {"rcp", &D::DecodeUnary},
      {"sqrt", &D::DecodeUnary},
      {"rsqrt", &D::DecodeUnary},
      {"ex2", &D::DecodeUnary},
      {"lg2", &D::DecodeUnary},
      {"sin", &D::DecodeUnary},
      {"cos", &D::DecodeUnary},
      {"tanh", &D::DecodeUnary},
      {"copysign", &D::DecodeBinary},
      {"testp", &D::DecodeTestp},
      {"setp", &D::DecodeSetp},
      {"set", &D::DecodeSet},
      {"selp", &D::DecodeSelect},
      {"slct", &D::DecodeSelect},
      {"mov", &D::DecodeMov},
      {"cvt", &D::DecodeCvt},
      {"ld", &D::DecodeLoad},
      {"ldu", &D::DecodeLoad},
      {"st", &D::DecodeStore},
      {"atom", &D::DecodeAtomic},
      {"red", &D::DecodeAtomic},
      {"cvta", &D::DecodeCvta},
      {"isspacep", &D::DecodeIsSpace},
      {"cp", &D::DecodeCp},
      {"mbarrier", &D::DecodeMbarrier},
      {"prefetch", &D::DecodePrefetch},
      {"prefetchu", &D::DecodePrefetch},
      {"applypriority", &D::DecodePrefetch},
      {"discard", &D::DecodePrefetch},
      {"mapa", &D::DecodeMapa},
      {"getctarank", &D::DecodeMapa},
      {"bra", &D::DecodeBranch},
      {"brx", &D::DecodeBranch},
      {"call", &D::DecodeCall},
      {"ret", &D::DecodeReturn},
      {"exit", &D::DecodeReturn},
      {"trap", &D::DecodeReturn},
      {"brkpt", &D::DecodeNothing},
      {"bar", &D::DecodeBarrier},
      {"barrier", &D::DecodeBarrier},
      {"shfl", &D::DecodeShuffle},
      {"vote", &D::DecodeVote},
      {"match", &D::DecodeMatch},
      {"redux", &D::DecodeRedux},
      {"activemask", &D::DecodeActiveMask},
      {"elect", &D::DecodeElect},
      {"membar", &D::DecodeFence},
      {"fence", &D::DecodeFence},
      {"nanosleep", &D::DecodeNothing},
      {"pmevent", &D::DecodeNothing},
      {"griddepcontrol", &D::DecodeNothing},
      {"setmaxnreg", &D::DecodeNothing},
      {"ldmatrix", &D::DecodeLdmatrix},
      {"stmatrix", &D::DecodeLdmatrix},
      {"mma", &D::DecodeMma},
      {"wmma", &D::DecodeWmma},
      {"wgmma", &D::DecodeWgmma},
  };
  return methods;
}

void Decoder::StartFunction(std::uint32_t function) {
  function_ = function;
  temporaries_.clear();
  temporaries_used_.clear();
}

// A function may end without ret: then its end is one.
void Decoder::EndFunction() {
  Inst inst;
  inst.action = program_.functions[function_].is_kernel ? Action::kExit : Action::kReturn;
  inst.inst_class = InstClass::kControl;
  inst.name = parser_.NameIndex("ret");
  inst.location = parser_.location_;
  program_.code.push_back(inst);
}

Status Decoder::Decode(const Statement& statement) {
  temporaries_used_.clear();
  const auto method = Methods().find(statement.parts.front());
  if (method == Methods().end()) return EmitUnsupported(statement);
  return (this->*method->second)(statement);
}

Error Decoder::Wrong(const Statement& statement, const std::string& message) const {
  return parser_.ErrorAt(statement.line, fmt::format("{}: {}", statement.opcode.substr(0, 80), message));
}

Status Decoder::NeedOperands(const Statement& statement, std::size_t least, std::size_t most) const {
  const std::size_t count = statement.operands.size();
  if (count >= least && count <= most) return {};
  return Wrong(statement, fmt::format("{} operands; expected {}", count, least));
}

Inst Decoder::NewInst(const Statement& statement, Action action, InstClass inst_class) const {
  Inst inst;
  inst.action = action;
  inst.inst_class = inst_class;
  inst.guard = statement.guard;
  inst.guard_negated = statement.guard_negated;
  inst.ptx_line = statement.line;
  inst.location = parser_.location_;
  return inst;
}

Status Decoder::Emit(const Statement& statement, Inst inst, const std::vector<std::uint32_t>& results,
                     const std::vector<std::uint32_t>& sources) {
  inst.name = parser_.NameIndex(statement.opcode);
  inst.tally = static_cast<std::uint8_t>(static_cast<std::size_t>(PrecisionOf(statement.parts)) * kInstClasses +
                                         static_cast<std::size_t>(inst.inst_class));
  inst.results = static_cast<std::uint8_t>(results.size());
  inst.sources = static_cast<std::uint8_t>(sources.size());
  if (results.size() + sources.size() > 250) return Wrong(statement, "too many registers");
  inst.first_operand = static_cast<std::uint32_t>(program_.operands.size());
  std::vector<std::uint32_t> all = results;
  all.insert(all.end(), sources.begin(), sources.end());
  for (std::size_t i = 0; i < all.size() && i < inst.op.size(); ++i) inst.op[i] = all[i];
  program_.operands.insert(program_.operands.end(), all.begin(), all.end());
  program_.code.push_back(inst);
  return {};
}

Status Decoder::EmitUnsupported(const Statement& statement) {
  if (unsupported_.size() < 1000 && unsupported_.emplace(statement.opcode).second) {
    program_.unsupported.emplace_back(statement.opcode);
  }
  return Emit(statement, NewInst(statement, Action::kUnsupported, InstClass::kSpecial), {}, {});
}

std::uint32_t Decoder::Constant(std::uint64_t bits, unsigned bytes) {
  const auto found = constants_.find({bits, bytes});
  if (found != constants_.end()) return found->second;
  const std::size_t at = (program_.constants.size() + 63) / 64 * 64;
  const std::size_t size = bytes == 1 ? 64 : std::size_t{32} * bytes;  // 1: a predicate, as a mask
  program_.constants.resize(at + size);
  if (bytes == 1) {
    const std::uint32_t mask = bits != 0 ? 0xFFFFFFFFU : 0U;
    std::memcpy(program_.constants.data() + at, &mask, sizeof mask);
  } else {
    for (std::size_t lane = 0; lane < 32; ++lane) {
      std::memcpy(program_.constants.data() + at + lane * bytes, &bits, std::min<std::size_t>(bytes, 8));
    }
  }
  const std::uint32_t operand = static_cast<std::uint32_t>(at) | kConstantBit;
  constants_[{bits, bytes}] = operand;
  return operand;
}

std::uint32_t Decoder::RelocatedConstant(const Relocation& relocation) {
  const std::size_t at = (program_.constants.size() + 63) / 64 * 64;
  program_.constants.resize(at + std::size_t{32} * relocation.bytes);
  program_.relocations.push_back(relocation);
  program_.relocations.back().offset = static_cast<std::uint32_t>(at);
  return static_cast<std::uint32_t>(at) | kConstantBit;
}

std::uint32_t Decoder::Temporary(Type type) {
  const unsigned bytes = SlotBytes(type);
  std::vector<std::uint32_t>& slots = temporaries_[bytes];
  const std::size_t index = temporaries_used_[bytes]++;
  if (index == slots.size()) {
    slots.push_back(program_.functions[function_].frame_bytes);
    program_.functions[function_].frame_bytes += bytes;
  }
  return slots[index];
}

Result<std::uint32_t> Decoder::SymbolSource(const Statement& statement, const Operand& operand, Type type) {
  Relocation relocation;
  relocation.index = operand.symbol.index;
  relocation.addend = operand.offset;
  relocation.bytes = static_cast<std::uint8_t>(SlotSize(type));
  if (relocation.bytes < 4) return Wrong(statement, "an address needs at least 32 bits");
  switch (operand.symbol.kind) {
    case Symbol::Kind::kGlobal:
      relocation.kind = Relocation::Kind::kVariable;
      break;
    case Symbol::Kind::kShared:
      relocation.kind = Relocation::Kind::kShared;
      break;
    case Symbol::Kind::kDynamicShared:
      relocation.kind = Relocation::Kind::kDynamicShared;
      break;
    case Symbol::Kind::kFunction:
      relocation.kind = Relocation::Kind::kFunction;
      break;
    case Symbol::Kind::kKernelParameter:
      relocation.kind = Relocation::Kind::kArguments;
      relocation.addend += operand.symbol.index;
      break;
    case Symbol::Kind::kLocal: {
      Inst inst = NewInst(statement, Action::kLocalAddress, InstClass::kMove);
      inst.guard = kNoSlot;
      inst.imm = operand.symbol.index + operand.offset;
      inst.slot_size = static_cast<std::uint8_t>(SlotSize(type));
      const std::uint32_t slot = Temporary(relocation.bytes == 8 ? Type::kB64 : Type::kB32);
      RETURN_IF_ERROR(Emit(statement, inst, {slot}, {}));
      return slot;
    }
    default:
      return Wrong(statement, fmt::format("\"{}\" has no address", operand.name.substr(0, 60)));
  }
  return RelocatedConstant(relocation);
}

Result<std::uint32_t> Decoder::Source(const Statement& statement, const Operand& operand, Type type) {
  const unsigned size = type == Type::kPred ? 1 : SlotSize(type);
  switch (operand.kind) {
    case Operand::Kind::kRegister: {
      const bool fits = type == Type::kPred ? operand.type == Type::kPred
                                            : operand.type != Type::kPred && SlotSize(operand.type) == size;
      if (!fits) {
        return Wrong(statement, fmt::format("the register \"{}\" has the wrong size", operand.name.substr(0, 60)));
      }
      if (!operand.negated) return operand.slot;
      if (type != Type::kPred) return Wrong(statement, "only predicates can be negated");
      Inst inst = NewInst(statement, Action::kAlu, InstClass::kInteger);
      inst.guard = kNoSlot;
      inst.type = Type::kPred;
      inst.alu = FindAlu(AluOp::kNot, Compare::kEq, inst);
      const std::uint32_t slot = Temporary(Type::kPred);
      RETURN_IF_ERROR(Emit(statement, inst, {slot}, {operand.slot}));
      return slot;
    }
    case Operand::Kind::kInteger:
      if (type == Type::kF32 || type == Type::kF64) return Wrong(statement, "an integer where a float is needed");
      return Constant(size >= 8 ? operand.bits : operand.bits & ((std::uint64_t{1} << (8 * size)) - 1), size);
    case Operand::Kind::kSingle: {
      const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(operand.bits));
      if (type == Type::kF64) return Constant(std::bit_cast<std::uint64_t>(static_cast<double>(value)), 8);
      return Constant(operand.bits, size);
    }
    case Operand::Kind::kFloat: {
      const auto value = static_cast<float>(std::bit_cast<double>(operand.bits));
      return size == 8 ? Constant(operand.bits, 8) : Constant(std::bit_cast<std::uint32_t>(value), size);
    }
    case Operand::Kind::kSpecial: {
      Inst inst = NewInst(statement, Action::kSpecialRegister, InstClass::kMove);
      inst.guard = kNoSlot;
      inst.sub = static_cast<std::uint8_t>(operand.special);
      inst.slot_size = static_cast<std::uint8_t>(SlotSize(type));
      inst.type = type;
      const std::uint32_t slot = Temporary(type);
      RETURN_IF_ERROR(Emit(statement, inst, {slot}, {}));
      return slot;
    }
    case Operand::Kind::kSymbol:
      return SymbolSource(statement, operand, type);
    default:
      return Wrong(statement, fmt::format("\"{}\" isn't declared", operand.name.substr(0, 60)));
  }
}

Result<std::uint32_t> Decoder::Destination(const Statement& statement, const Operand& operand, Type type) {
  if (operand.kind == Operand::Kind::kSink) return Temporary(type);
  if (operand.kind != Operand::Kind::kRegister || operand.negated)
    return Wrong(statement, "the result must be a register");
  const bool fits = type == Type::kPred ? operand.type == Type::kPred
                                        : operand.type != Type::kPred && SlotSize(operand.type) == SlotSize(type);
  if (!fits) return Wrong(statement, fmt::format("the register \"{}\" has the wrong size", operand.name.substr(0, 60)));
  return operand.slot;
}

Result<std::pair<std::uint32_t, unsigned>> Decoder::WideSource(const Statement& statement, const Operand& operand,
                                                               Type type) {
  if (operand.kind == Operand::Kind::kRegister) {
    const bool fits = operand.type != Type::kPred && SlotSize(operand.type) >= SizeOf(type) && !operand.negated;
    if (!fits) return Wrong(statement, fmt::format("the register \"{}\" is too small", operand.name.substr(0, 60)));
    return std::pair{operand.slot, SlotSize(operand.type)};
  }
  ASSIGN_OR_RETURN(const std::uint32_t slot, Source(statement, operand, type));
  return std::pair{slot, SlotSize(type)};
}

Result<std::pair<std::uint32_t, unsigned>> Decoder::WideDestination(const Statement& statement, const Operand& operand,
                                                                    Type type) {
  if (operand.kind == Operand::Kind::kSink) return std::pair{Temporary(type), SlotSize(type)};
  const bool fits = operand.kind == Operand::Kind::kRegister && operand.type != Type::kPred &&
                    SlotSize(operand.type) >= SizeOf(type) && !operand.negated;
  if (!fits) return Wrong(statement, fmt::format("\"{}\" can't hold the result", operand.name.substr(0, 60)));
  return std::pair{operand.slot, SlotSize(operand.type)};
}

// The base of the address becomes the last source, unless it is in the local frame.
Status Decoder::Address(const Statement& statement, const Operand& operand, Inst& inst,
                        std::vector<std::uint32_t>& sources) {
  if (operand.kind != Operand::Kind::kAddress) return Wrong(statement, "expected an address in brackets");
  const Operand& base = operand.elements.front();
  inst.imm = operand.offset;
  inst.address_mode = AddressMode::kRegister64;
  if (base.kind == Operand::Kind::kSymbol && base.symbol.kind == Symbol::Kind::kLocal) {
    inst.address_mode = AddressMode::kFrame;
    inst.imm += base.symbol.index;
    if (inst.space == Space::kGeneric || inst.space == Space::kParam) inst.space = Space::kLocal;
    return {};
  }
  if (base.kind == Operand::Kind::kSymbol && inst.space == Space::kGeneric) {
    const bool shared = base.symbol.kind == Symbol::Kind::kShared || base.symbol.kind == Symbol::Kind::kDynamicShared;
    inst.space = shared ? Space::kShared : Space::kGlobal;
  }
  const bool narrow = base.kind == Operand::Kind::kRegister && SlotSize(base.type) == 4 && base.type != Type::kPred;
  if (narrow) inst.address_mode = AddressMode::kRegister32;
  if (base.kind == Operand::Kind::kSingle || base.kind == Operand::Kind::kFloat) {
    return Wrong(statement, "a float as an address");
  }
  ASSIGN_OR_RETURN(const std::uint32_t slot, Source(statement, base, narrow ? Type::kB32 : Type::kB64));
  sources.push_back(slot);
  return {};
}

InstClass Decoder::ClassOf(Type type) {
  if (type == Type::kF32) return InstClass::kFloat32;
  if (type == Type::kF64) return InstClass::kFloat64;
  return IsFloat(type) ? InstClass::kHalf : InstClass::kInteger;
}

void Decoder::ReadModifiers(const Statement& statement, Inst& inst) const {
  for (std::size_t i = 1; i < statement.parts.size(); ++i) {
    const std::string_view part = statement.parts[i];
    if (part == "ftz") inst.ftz = true;
    if (part == "sat") inst.saturate = true;
    if (part == "relu") inst.flags |= kFlagRelu;
    if (part == "satfinite") inst.flags |= kFlagFinite;
    if (inst.rounding == Rounding::kNone) inst.rounding = RoundingFromName(part);
  }
}

Type Decoder::TypeAt(const Statement& statement, std::size_t from_end) {
  for (std::size_t i = statement.parts.size(); i-- > 1;) {
    const Type type = TypeFromName(statement.parts[i]);
    if (type == Type::kNone) continue;
    if (from_end == 0) return type;
    --from_end;
  }
  return Type::kNone;
}

}  // namespace upskill::ptx
