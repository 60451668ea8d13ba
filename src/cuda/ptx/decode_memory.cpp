// SPDX-License-Identifier: Apache-2.0
// Loads, stores, atomics, asynchronous copies and mbarriers.
#include <map>

#include "cuda/ptx/decoder.h"
#include "cuda/ptx/forms.h"

namespace upskill::ptx {
namespace {

Ordering OrderingOf(const Statement& statement) {
  if (statement.Has("acq_rel")) return Ordering::kAcqRel;
  if (statement.Has("acquire")) return Ordering::kAcquire;
  if (statement.Has("release")) return Ordering::kRelease;
  if (statement.Has("relaxed") || statement.Has("mmio")) return Ordering::kRelaxed;
  return statement.Has("volatile") ? Ordering::kVolatile : Ordering::kWeak;
}

std::uint8_t VectorOf(const Statement& statement) {
  if (statement.Has("v8")) return 8;
  if (statement.Has("v4")) return 4;
  return statement.Has("v2") ? 2 : 1;
}

}  // namespace

Space SpaceOf(const Statement& statement) {
  for (const std::string_view part : statement.parts) {
    if (part == "global") return Space::kGlobal;
    if (part == "shared" || part == "shared::cta" || part == "shared::cluster") return Space::kShared;
    if (part == "local") return Space::kLocal;
    if (part == "const") return Space::kConst;
    if (part == "param" || part == "param::entry" || part == "param::func") return Space::kParam;
  }
  return Space::kGeneric;
}

Status Decoder::DecodeLoad(const Statement& statement) {
  RETURN_IF_ERROR(NeedOperands(statement, 2, 3));
  Inst inst = NewInst(statement, Action::kLoad, InstClass::kMemory);
  inst.type = TypeAt(statement, 0);
  inst.space = SpaceOf(statement);
  inst.vector = VectorOf(statement);
  inst.ordering = OrderingOf(statement);
  inst.block_scope = statement.Has("cta");
  inst.copies = true;
  const std::vector<Operand> destinations = Elements(statement.operands[0]);
  if (inst.type == Type::kNone || inst.type == Type::kPred || SizeOf(inst.type) > 16) return EmitUnsupported(statement);
  if (destinations.size() != inst.vector) return Wrong(statement, "the vector has the wrong length");
  const Operand& address = statement.operands[1];
  if (inst.space == Space::kParam && address.kind == Operand::Kind::kAddress &&
      address.elements.front().symbol.kind == Symbol::Kind::kKernelParameter) {
    return DecodeArgument(statement, inst.type, destinations);
  }
  std::vector<std::uint32_t> results;
  for (const Operand& destination : destinations) {
    ASSIGN_OR_RETURN(const auto slot, WideDestination(statement, destination, inst.type));
    if (!results.empty() && inst.slot_size != slot.second) return Wrong(statement, "registers of different sizes");
    inst.slot_size = static_cast<std::uint8_t>(slot.second);
    results.push_back(slot.first);
  }
  std::vector<std::uint32_t> sources;
  RETURN_IF_ERROR(Address(statement, address, inst, sources));
  if (inst.space == Space::kParam) inst.space = Space::kGeneric;
  return Emit(statement, inst, results, sources);
}

// A kernel's parameter is the same for all threads.
Status Decoder::DecodeArgument(const Statement& statement, Type type, const std::vector<Operand>& destinations) {
  const Operand& address = statement.operands[1];
  for (std::size_t i = 0; i < destinations.size(); ++i) {
    Inst inst = NewInst(statement, Action::kLoadArgument, InstClass::kMemory);
    inst.type = type;
    inst.copies = true;
    inst.imm = static_cast<std::int64_t>(address.elements.front().symbol.index) + address.offset +
               static_cast<std::int64_t>(i * SizeOf(type));
    if (inst.imm < 0 || inst.imm > 65'536) return Wrong(statement, "an address outside the parameters");
    ASSIGN_OR_RETURN(const auto slot, WideDestination(statement, destinations[i], type));
    inst.slot_size = static_cast<std::uint8_t>(slot.second);
    RETURN_IF_ERROR(Emit(statement, inst, {slot.first}, {}));
  }
  return {};
}

Status Decoder::DecodeStore(const Statement& statement) {
  RETURN_IF_ERROR(NeedOperands(statement, 2, 3));
  if (statement.Has("async")) return EmitUnsupported(statement);
  Inst inst = NewInst(statement, Action::kStore, InstClass::kMemory);
  inst.type = TypeAt(statement, 0);
  inst.space = SpaceOf(statement);
  inst.vector = VectorOf(statement);
  inst.ordering = OrderingOf(statement);
  inst.block_scope = statement.Has("cta");
  const std::vector<Operand> values = Elements(statement.operands[1]);
  if (inst.type == Type::kNone || inst.type == Type::kPred || SizeOf(inst.type) > 16) return EmitUnsupported(statement);
  if (values.size() != inst.vector) return Wrong(statement, "the vector has the wrong length");
  std::vector<std::uint32_t> sources;
  for (const Operand& value : values) {
    const bool bits = value.kind == Operand::Kind::kSingle && SizeOf(inst.type) == 4;
    ASSIGN_OR_RETURN(const auto slot, WideSource(statement, value, bits ? Type::kF32 : inst.type));
    if (!sources.empty() && inst.slot_size != slot.second) return Wrong(statement, "registers of different sizes");
    inst.slot_size = static_cast<std::uint8_t>(slot.second);
    sources.push_back(slot.first);
  }
  RETURN_IF_ERROR(Address(statement, statement.operands[0], inst, sources));
  if (inst.space == Space::kParam) inst.space = Space::kGeneric;
  return Emit(statement, inst, {}, sources);
}

Status Decoder::DecodeAtomic(const Statement& statement) {
  static const std::map<std::string_view, AtomicOp> ops = {
      {"add", AtomicOp::kAdd},   {"min", AtomicOp::kMin}, {"max", AtomicOp::kMax}, {"inc", AtomicOp::kInc},
      {"dec", AtomicOp::kDec},   {"and", AtomicOp::kAnd}, {"or", AtomicOp::kOr},   {"xor", AtomicOp::kXor},
      {"exch", AtomicOp::kExch}, {"cas", AtomicOp::kCas}};
  const bool has_result = statement.parts[0] == "atom";
  Inst inst = NewInst(statement, Action::kAtomic, InstClass::kMemory);
  inst.type = TypeAt(statement, 0);
  inst.space = SpaceOf(statement);
  inst.ordering = OrderingOf(statement);
  inst.block_scope = statement.Has("cta");
  bool known = false;
  for (const std::string_view part : statement.parts) {
    if (const auto op = ops.find(part); op != ops.end()) {
      inst.atomic = op->second;
      known = true;
    }
  }
  if (!known || inst.type == Type::kNone || SizeOf(inst.type) < 2 || SizeOf(inst.type) > 8 ||
      VectorOf(statement) != 1) {
    return EmitUnsupported(statement);
  }
  const std::size_t first = has_result ? 1 : 0;
  const bool cas = inst.atomic == AtomicOp::kCas;
  RETURN_IF_ERROR(NeedOperands(statement, first + (cas ? 3 : 2), first + (cas ? 4 : 3)));
  inst.slot_size = static_cast<std::uint8_t>(SlotSize(inst.type));
  std::vector<std::uint32_t> results;
  if (has_result) {
    ASSIGN_OR_RETURN(const std::uint32_t result, Destination(statement, statement.operands[0], inst.type));
    results.push_back(result);
  }
  std::vector<std::uint32_t> sources;
  for (std::size_t i = 0; i < (cas ? 2U : 1U); ++i) {
    ASSIGN_OR_RETURN(const std::uint32_t slot, Source(statement, statement.operands[first + 1 + i], inst.type));
    sources.push_back(slot);
  }
  RETURN_IF_ERROR(Address(statement, statement.operands[first], inst, sources));
  return Emit(statement, inst, results, sources);
}

Status Decoder::DecodePrefetch(const Statement& statement) {
  return Emit(statement, NewInst(statement, Action::kNop, InstClass::kMemory), {}, {});
}

// cp.async.{ca,cg}.shared.global [to], [from], bytes{, from_bytes}
Status Decoder::DecodeCp(const Statement& statement) {
  if (statement.Part(1) != "async" || statement.Has("reduce")) return EmitUnsupported(statement);
  if (statement.Has("bulk")) return DecodeBulk(statement);
  if (statement.Has("commit_group")) {
    return Emit(statement, NewInst(statement, Action::kAsyncCommit, InstClass::kSynchronisation), {}, {});
  }
  if (statement.Has("wait_all") || statement.Has("wait_group")) {
    Inst inst = NewInst(statement, Action::kAsyncWait, InstClass::kSynchronisation);
    inst.imm = -1;  // all, also those that aren't committed
    if (statement.Has("wait_group")) {
      RETURN_IF_ERROR(NeedOperands(statement, 1, 1));
      inst.imm = static_cast<std::int64_t>(statement.operands[0].bits & 0xFFFFU);
    }
    return Emit(statement, inst, {}, {});
  }
  std::vector<std::uint32_t> sources;
  if (statement.Has("mbarrier")) {
    RETURN_IF_ERROR(NeedOperands(statement, 1, 1));
    Inst inst = NewInst(statement, Action::kAsyncArrive, InstClass::kSynchronisation);
    inst.space = SpaceOf(statement);
    inst.sub = statement.Has("noinc") ? 1 : 0;
    inst.type = Type::kB64;
    RETURN_IF_ERROR(Address(statement, statement.operands[0], inst, sources));
    return Emit(statement, inst, {}, sources);
  }
  RETURN_IF_ERROR(NeedOperands(statement, 3, 5));
  Inst inst = NewInst(statement, Action::kAsyncCopy, InstClass::kMemory);
  const Operand& size = statement.operands[2];
  if (size.kind != Operand::Kind::kInteger || (size.bits != 4 && size.bits != 8 && size.bits != 16)) {
    return Wrong(statement, "the size is 4, 8 or 16");
  }
  inst.vector = static_cast<std::uint8_t>(size.bits);
  Inst from = inst;
  from.space = Space::kGlobal;
  RETURN_IF_ERROR(Address(statement, statement.operands[1], from, sources));
  inst.space = Space::kShared;
  inst.target = static_cast<std::uint32_t>(from.imm);  // the source's offset
  inst.sub = from.address_mode == AddressMode::kRegister32 ? 1 : 0;
  RETURN_IF_ERROR(Address(statement, statement.operands[0], inst, sources));
  if (sources.size() != 2) return EmitUnsupported(statement);
  if (statement.operands.size() > 3) {
    const Operand& copied = statement.operands[3];
    const bool predicate = copied.kind == Operand::Kind::kRegister && copied.type == Type::kPred;
    if (predicate || (copied.kind == Operand::Kind::kRegister && SlotSize(copied.type) == 8)) {
      // ignore-src, or a cache policy: the first isn't implemented, the second doesn't matter.
      if (predicate) return EmitUnsupported(statement);
    } else {
      ASSIGN_OR_RETURN(const std::uint32_t slot, Source(statement, copied, Type::kU32));
      sources.push_back(slot);
    }
  }
  return Emit(statement, inst, {}, sources);
}

Status Decoder::DecodeMbarrier(const Statement& statement) {
  const std::string_view what = statement.Part(1);
  Inst inst = NewInst(statement, Action::kMbarrierArrive, InstClass::kSynchronisation);
  inst.type = Type::kB64;
  inst.space = SpaceOf(statement);
  std::vector<std::uint32_t> results;
  std::vector<std::uint32_t> sources;
  std::size_t at = 0;
  const bool tests = what == "test_wait" || what == "try_wait";
  if (tests || what == "arrive" || what == "arrive_drop") {
    const bool has_result = !statement.operands.empty() && statement.operands[0].kind != Operand::Kind::kAddress;
    RETURN_IF_ERROR(NeedOperands(statement, has_result ? 2 : 1, 5));
    if (has_result) {
      ASSIGN_OR_RETURN(const std::uint32_t result,
                       Destination(statement, statement.operands[0], tests ? Type::kPred : Type::kB64));
      results.push_back(result);
      at = 1;
    } else {
      results.push_back(Temporary(tests ? Type::kPred : Type::kB64));
    }
    if (tests) inst.action = Action::kMbarrierTest;
    inst.sub = tests ? (statement.Has("parity") ? kTestParity : kTestState)
                     : (what == "arrive_drop"        ? kArriveDrop
                        : statement.Has("expect_tx") ? kArriveExpect
                                                     : kArrive);
  } else if (what == "init") {
    inst.action = Action::kMbarrierInit;
  } else if (what == "inval") {
    inst.action = Action::kMbarrierInval;
  } else if (what == "expect_tx") {
    inst.action = Action::kMbarrierExpect;
  } else {
    return EmitUnsupported(statement);
  }
  RETURN_IF_ERROR(NeedOperands(statement, at + 1, at + 3));
  // The second operand after the address of a wait is a hint of time.
  if (statement.operands.size() > at + 1) {
    const bool is_state = inst.action == Action::kMbarrierTest && inst.sub == kTestState;
    ASSIGN_OR_RETURN(const std::uint32_t value,
                     Source(statement, statement.operands[at + 1], is_state ? Type::kB64 : Type::kU32));
    sources.push_back(value);
  } else {
    sources.push_back(Constant(1, 4));
  }
  RETURN_IF_ERROR(Address(statement, statement.operands[at], inst, sources));
  if (inst.space == Space::kGeneric && statement.Has("shared::cluster")) inst.space = Space::kShared;
  if (sources.size() != 2) return EmitUnsupported(statement);
  return Emit(statement, inst, results, sources);
}

}  // namespace upskill::ptx
