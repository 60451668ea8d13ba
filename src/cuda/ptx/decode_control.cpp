// SPDX-License-Identifier: Apache-2.0
// Branches, calls, barriers and what the lanes of a warp do together.
#include <fmt/format.h>

#include "cuda/ptx/decoder.h"
#include "cuda/ptx/forms.h"
#include "cuda/ptx/parser.h"

namespace upskill::ptx {

Status Decoder::DecodeBranch(const Statement& statement) {
  Inst inst = NewInst(statement, Action::kBranch, InstClass::kControl);
  if (statement.parts[0] == "brx") {
    RETURN_IF_ERROR(NeedOperands(statement, 2, 2));
    const Operand& targets = statement.operands[1];
    if (targets.symbol.kind != Symbol::Kind::kTargets)
      return Wrong(statement, "expected the name of a list of targets");
    inst.action = Action::kBranchIndexed;
    inst.target = targets.symbol.index;
    ASSIGN_OR_RETURN(const std::uint32_t index, Source(statement, statement.operands[0], Type::kU32));
    return Emit(statement, inst, {}, {index});
  }
  RETURN_IF_ERROR(NeedOperands(statement, 1, 1));
  const Operand& label = statement.operands[0];
  if (label.name.empty()) return Wrong(statement, "expected a label");
  parser_.label_uses_.push_back(LabelUse{static_cast<std::uint32_t>(program_.code.size()), label.name,
                                         parser_.scope_stack_.back(), statement.line});
  return Emit(statement, inst, {}, {});
}

// The local ranges of the parameters in parentheses. Registers and constants are stored to new ranges first.
Result<std::vector<LocalRange>> Decoder::CallRanges(const Statement& statement, const Operand& list, bool results) {
  std::vector<LocalRange> ranges;
  for (const Operand& element : list.elements) {
    if (element.kind == Operand::Kind::kSymbol && element.symbol.kind == Symbol::Kind::kLocal) {
      ranges.push_back(LocalRange{element.symbol.index, static_cast<std::uint32_t>(element.symbol.bytes)});
      continue;
    }
    if (results || element.kind != Operand::Kind::kRegister || element.type == Type::kPred) {
      return Wrong(statement, "only .param variables can be passed");
    }
    ASSIGN_OR_RETURN(const std::uint32_t offset, parser_.ReserveLocal(SizeOf(element.type), SizeOf(element.type)));
    Inst inst = NewInst(statement, Action::kStore, InstClass::kMemory);
    inst.type = element.type;
    inst.slot_size = static_cast<std::uint8_t>(SlotSize(element.type));
    inst.space = Space::kLocal;
    inst.address_mode = AddressMode::kFrame;
    inst.imm = offset;
    RETURN_IF_ERROR(Emit(statement, inst, {}, {element.slot}));
    ranges.push_back(LocalRange{offset, SizeOf(element.type)});
  }
  return ranges;
}

// call{.uni} (result), function, (arguments){, prototype}
Status Decoder::DecodeCall(const Statement& statement) {
  CallSite call;
  std::size_t at = 0;
  const auto is_list = [&](std::size_t index) {
    return index < statement.operands.size() && statement.operands[index].kind == Operand::Kind::kList;
  };
  if (is_list(at)) {
    ASSIGN_OR_RETURN(call.results, CallRanges(statement, statement.operands[at++], true));
  }
  if (at >= statement.operands.size()) return Wrong(statement, "expected a function");
  const Operand& function = statement.operands[at++];
  if (is_list(at)) {
    ASSIGN_OR_RETURN(call.arguments, CallRanges(statement, statement.operands[at], false));
  }
  Inst inst = NewInst(statement, Action::kCall, InstClass::kControl);
  std::vector<std::uint32_t> sources;
  if (function.kind == Operand::Kind::kSymbol && function.symbol.kind == Symbol::Kind::kFunction) {
    call.function = function.symbol.index;
    inst.sub = kCallDirect;
    if (function.name == "vprintf") inst.sub = kCallPrintf;
    if (function.name == "__assertfail") inst.sub = kCallAssert;
  } else if (function.kind == Operand::Kind::kRegister) {
    inst.sub = kCallIndirect;
    ASSIGN_OR_RETURN(const std::uint32_t slot, Source(statement, function, Type::kB64));
    sources.push_back(slot);
  } else {
    return Wrong(statement, fmt::format("\"{}\" isn't declared", function.name.substr(0, 60)));
  }
  inst.target = static_cast<std::uint32_t>(program_.calls.size());
  program_.calls.push_back(std::move(call));
  return Emit(statement, inst, {}, sources);
}

Status Decoder::DecodeReturn(const Statement& statement) {
  const bool kernel = program_.functions[function_].is_kernel;
  Action action = Action::kReturn;
  if (statement.parts[0] == "exit" || (statement.parts[0] == "ret" && kernel)) action = Action::kExit;
  if (statement.parts[0] == "trap") action = Action::kTrap;
  return Emit(statement, NewInst(statement, action, InstClass::kControl), {}, {});
}

// bar.sync a{, b}; bar.arrive a, b; bar.red.op p, a{, b}, {!}c; bar.warp.sync mask; barrier.cluster…
Status Decoder::DecodeBarrier(const Statement& statement) {
  Inst inst = NewInst(statement, Action::kBarrier, InstClass::kSynchronisation);
  if (statement.Has("cluster")) {
    inst.action = Action::kClusterBarrier;
    inst.sub = statement.Has("wait") ? kClusterWait : statement.Has("relaxed") ? kClusterArriveRelaxed : kClusterArrive;
    return Emit(statement, inst, {}, {});
  }
  if (statement.Has("warp")) {
    RETURN_IF_ERROR(NeedOperands(statement, 1, 1));
    inst.action = Action::kWarpBarrier;
    ASSIGN_OR_RETURN(const std::uint32_t mask, Source(statement, statement.operands[0], Type::kU32));
    return Emit(statement, inst, {}, {mask});
  }
  if (statement.Has("red")) return DecodeBarrierReduce(statement, inst);
  inst.sub = statement.Has("arrive") ? kBarrierArrive : kBarrierSync;
  RETURN_IF_ERROR(NeedOperands(statement, 1, 2));
  std::vector<std::uint32_t> sources;
  for (const Operand& operand : statement.operands) {
    ASSIGN_OR_RETURN(const std::uint32_t slot, Source(statement, operand, Type::kU32));
    sources.push_back(slot);
  }
  if (sources.size() == 1) sources.push_back(Constant(0, 4));  // all threads of the block
  return Emit(statement, inst, {}, sources);
}

Status Decoder::DecodeBarrierReduce(const Statement& statement, Inst inst) {
  RETURN_IF_ERROR(NeedOperands(statement, 3, 4));
  const bool counts = statement.Has("popc");
  inst.sub = counts ? kBarrierPopc : statement.Has("and") ? kBarrierAnd : kBarrierOr;
  ASSIGN_OR_RETURN(const std::uint32_t result,
                   Destination(statement, statement.operands[0], counts ? Type::kU32 : Type::kPred));
  ASSIGN_OR_RETURN(const std::uint32_t id, Source(statement, statement.operands[1], Type::kU32));
  std::uint32_t threads = Constant(0, 4);
  if (statement.operands.size() == 4) {
    ASSIGN_OR_RETURN(threads, Source(statement, statement.operands[2], Type::kU32));
  }
  ASSIGN_OR_RETURN(const std::uint32_t value, Source(statement, statement.operands.back(), Type::kPred));
  return Emit(statement, inst, {result}, {id, threads, value});
}

// shfl.sync.mode.b32 d{|p}, a, b, c, mask
Status Decoder::DecodeShuffle(const Statement& statement) {
  RETURN_IF_ERROR(NeedOperands(statement, 4, 5));
  Inst inst = NewInst(statement, Action::kShuffle, InstClass::kSynchronisation);
  inst.copies = true;
  inst.sub = statement.Has("up")     ? kShuffleUp
             : statement.Has("down") ? kShuffleDown
             : statement.Has("bfly") ? kShuffleXor
                                     : kShuffleIndex;
  const Operand& target = statement.operands[0];
  const bool pair = target.kind == Operand::Kind::kPair;
  ASSIGN_OR_RETURN(const std::uint32_t result, Destination(statement, pair ? target.elements[0] : target, Type::kB32));
  std::uint32_t predicate = Temporary(Type::kPred);
  if (pair) {
    ASSIGN_OR_RETURN(predicate, Destination(statement, target.elements[1], Type::kPred));
  }
  std::vector<std::uint32_t> sources;
  for (std::size_t i = 1; i < statement.operands.size(); ++i) {
    ASSIGN_OR_RETURN(const std::uint32_t slot, Source(statement, statement.operands[i], Type::kB32));
    sources.push_back(slot);
  }
  if (sources.size() == 3) sources.push_back(Constant(0xFFFFFFFFU, 4));
  return Emit(statement, inst, {result, predicate}, sources);
}

Status Decoder::DecodeVote(const Statement& statement) {
  RETURN_IF_ERROR(NeedOperands(statement, 2, 3));
  Inst inst = NewInst(statement, Action::kVote, InstClass::kSynchronisation);
  const bool ballot = statement.Has("ballot");
  inst.sub = ballot ? kVoteBallot : statement.Has("all") ? kVoteAll : statement.Has("any") ? kVoteAny : kVoteUni;
  ASSIGN_OR_RETURN(const std::uint32_t result,
                   Destination(statement, statement.operands[0], ballot ? Type::kB32 : Type::kPred));
  ASSIGN_OR_RETURN(const std::uint32_t value, Source(statement, statement.operands[1], Type::kPred));
  std::uint32_t mask = Constant(0xFFFFFFFFU, 4);
  if (statement.operands.size() == 3) {
    ASSIGN_OR_RETURN(mask, Source(statement, statement.operands[2], Type::kB32));
  }
  return Emit(statement, inst, {result}, {value, mask});
}

// match.any.sync.type d, a, mask; match.all.sync.type d|p, a, mask
Status Decoder::DecodeMatch(const Statement& statement) {
  RETURN_IF_ERROR(NeedOperands(statement, 3, 3));
  Inst inst = NewInst(statement, Action::kMatch, InstClass::kSynchronisation);
  inst.type = TypeAt(statement, 0);
  inst.sub = statement.Has("all") ? 1 : 0;
  inst.source_slot_size = static_cast<std::uint8_t>(SlotSize(inst.type));
  if (inst.source_slot_size != 4 && inst.source_slot_size != 8)
    return Wrong(statement, "not a type of this instruction");
  const Operand& target = statement.operands[0];
  const bool pair = target.kind == Operand::Kind::kPair;
  ASSIGN_OR_RETURN(const std::uint32_t result, Destination(statement, pair ? target.elements[0] : target, Type::kB32));
  std::uint32_t predicate = Temporary(Type::kPred);
  if (pair) {
    ASSIGN_OR_RETURN(predicate, Destination(statement, target.elements[1], Type::kPred));
  }
  ASSIGN_OR_RETURN(const std::uint32_t value, Source(statement, statement.operands[1], inst.type));
  ASSIGN_OR_RETURN(const std::uint32_t mask, Source(statement, statement.operands[2], Type::kB32));
  return Emit(statement, inst, {result, predicate}, {value, mask});
}

Status Decoder::DecodeRedux(const Statement& statement) {
  RETURN_IF_ERROR(NeedOperands(statement, 3, 3));
  Inst inst = NewInst(statement, Action::kRedux, InstClass::kSynchronisation);
  inst.type = TypeAt(statement, 0);
  if (SizeOf(inst.type) != 4 || IsFloat(inst.type)) return EmitUnsupported(statement);
  inst.atomic = statement.Has("add")   ? AtomicOp::kAdd
                : statement.Has("min") ? AtomicOp::kMin
                : statement.Has("max") ? AtomicOp::kMax
                : statement.Has("and") ? AtomicOp::kAnd
                : statement.Has("or")  ? AtomicOp::kOr
                                       : AtomicOp::kXor;
  ASSIGN_OR_RETURN(const std::uint32_t result, Destination(statement, statement.operands[0], inst.type));
  ASSIGN_OR_RETURN(const std::uint32_t value, Source(statement, statement.operands[1], inst.type));
  ASSIGN_OR_RETURN(const std::uint32_t mask, Source(statement, statement.operands[2], Type::kB32));
  return Emit(statement, inst, {result}, {value, mask});
}

Status Decoder::DecodeActiveMask(const Statement& statement) {
  RETURN_IF_ERROR(NeedOperands(statement, 1, 1));
  ASSIGN_OR_RETURN(const std::uint32_t result, Destination(statement, statement.operands[0], Type::kB32));
  return Emit(statement, NewInst(statement, Action::kActiveMask, InstClass::kSpecial), {result}, {});
}

Status Decoder::DecodeElect(const Statement& statement) {
  RETURN_IF_ERROR(NeedOperands(statement, 2, 2));
  const Operand& target = statement.operands[0];
  if (target.kind != Operand::Kind::kPair) return Wrong(statement, "expected a register and a predicate");
  ASSIGN_OR_RETURN(const std::uint32_t result, Destination(statement, target.elements[0], Type::kB32));
  ASSIGN_OR_RETURN(const std::uint32_t predicate, Destination(statement, target.elements[1], Type::kPred));
  ASSIGN_OR_RETURN(const std::uint32_t mask, Source(statement, statement.operands[1], Type::kB32));
  return Emit(statement, NewInst(statement, Action::kElect, InstClass::kSynchronisation), {result, predicate}, {mask});
}

Status Decoder::DecodeFence(const Statement& statement) {
  Inst inst = NewInst(statement, Action::kFence, InstClass::kSynchronisation);
  inst.block_scope = statement.Has("cta");
  inst.sub = statement.Has("proxy") ? 1 : 0;
  return Emit(statement, inst, {}, {});
}

Status Decoder::DecodeNothing(const Statement& statement) {
  const bool sleeps = statement.parts[0] == "nanosleep";
  return Emit(statement, NewInst(statement, sleeps ? Action::kYield : Action::kNop, InstClass::kSpecial), {}, {});
}

}  // namespace upskill::ptx
