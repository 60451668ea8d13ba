// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cuda/ptx/alu.h"
#include "cuda/ptx/operand.h"
#include "cuda/ptx/program.h"
#include "util/result.h"

namespace upskill::ptx {

class Parser;

Space SpaceOf(const Statement& statement);  // that its modifiers name, else kGeneric

// Turns the statements of a Parser into the instructions of a Program. What isn't implemented becomes an instruction
// that says so when it is executed; what can't be PTX is an error.
class Decoder {
 public:
  Decoder(Parser& parser, Program& program) : parser_(parser), program_(program) {}

  void StartFunction(std::uint32_t function);
  void EndFunction();
  void StartBlock() {}
  Status Decode(const Statement& statement);

 private:
  using Method = Status (Decoder::*)(const Statement&);
  static const std::map<std::string_view, Method>& Methods();

  // decoder.cpp: operands and what all instructions share
  Error Wrong(const Statement& statement, const std::string& message) const;
  Inst NewInst(const Statement& statement, Action action, InstClass inst_class) const;
  Status Emit(const Statement& statement, Inst inst, const std::vector<std::uint32_t>& results,
              const std::vector<std::uint32_t>& sources);
  Status EmitUnsupported(const Statement& statement);
  Result<std::uint32_t> Source(const Statement& statement, const Operand& operand, Type type);
  Result<std::uint32_t> SymbolSource(const Statement& statement, const Operand& operand, Type type);
  Result<std::uint32_t> Destination(const Statement& statement, const Operand& operand, Type type);
  // A register of any width up to 8 bytes, or a constant of the type; its width.
  Result<std::pair<std::uint32_t, unsigned>> WideSource(const Statement& statement, const Operand& operand, Type type);
  Result<std::pair<std::uint32_t, unsigned>> WideDestination(const Statement& statement, const Operand& operand,
                                                             Type type);
  std::uint32_t Constant(std::uint64_t bits, unsigned bytes);
  std::uint32_t RelocatedConstant(const Relocation& relocation);
  std::uint32_t Temporary(Type type);
  Status Address(const Statement& statement, const Operand& operand, Inst& inst, std::vector<std::uint32_t>& sources);
  static InstClass ClassOf(Type type);
  void ReadModifiers(const Statement& statement, Inst& inst) const;
  Status NeedOperands(const Statement& statement, std::size_t least, std::size_t most) const;
  static Type TypeAt(const Statement& statement, std::size_t from_end);  // 0: the last type of the opcode

  // decode_alu.cpp
  Status DecodeSimple(const Statement& statement, AluOp op, std::size_t sources);
  Status EmitAlu(const Statement& statement, AluOp op, Compare compare, Inst inst,
                 const std::vector<std::uint32_t>& results, const std::vector<std::uint32_t>& sources);
  Status DecodeUnary(const Statement& statement);
  Status DecodeBinary(const Statement& statement);
  Status DecodeTernary(const Statement& statement);
  Status DecodeMul(const Statement& statement);
  Status DecodeMad(const Statement& statement);
  Status DecodeCarry(const Statement& statement, AluOp op, std::size_t sources);
  Status DecodeShift(const Statement& statement);
  Status DecodeShf(const Statement& statement);
  Status DecodeLop3(const Statement& statement);
  Status DecodePrmt(const Statement& statement);
  Status DecodeBitField(const Statement& statement);
  Status DecodeDot(const Statement& statement);
  Status DecodeSetp(const Statement& statement);
  Status DecodeSet(const Statement& statement);
  Status DecodeSelect(const Statement& statement);
  Status DecodeTestp(const Statement& statement);
  Status DecodeMov(const Statement& statement);
  Status DecodeMovVector(const Statement& statement, Type type);
  Status DecodeCvt(const Statement& statement);

  // decode_memory.cpp
  Status DecodeLoad(const Statement& statement);
  Status DecodeStore(const Statement& statement);
  Status DecodeArgument(const Statement& statement, Type type, const std::vector<Operand>& destinations);
  Status DecodeAtomic(const Statement& statement);
  Status DecodeCvta(const Statement& statement);
  Status DecodeIsSpace(const Statement& statement);
  Status DecodeCp(const Statement& statement);
  Status DecodeMbarrier(const Statement& statement);
  Status DecodePrefetch(const Statement& statement);
  Status DecodeMapa(const Statement& statement);

  // decode_control.cpp
  Status DecodeBranch(const Statement& statement);
  Status DecodeCall(const Statement& statement);
  Result<std::vector<LocalRange>> CallRanges(const Statement& statement, const Operand& list, bool results);
  Status DecodeReturn(const Statement& statement);
  Status DecodeBarrier(const Statement& statement);
  Status DecodeBarrierReduce(const Statement& statement, Inst inst);
  Status DecodeShuffle(const Statement& statement);
  Status DecodeVote(const Statement& statement);
  Status DecodeMatch(const Statement& statement);
  Status DecodeRedux(const Statement& statement);
  Status DecodeActiveMask(const Statement& statement);
  Status DecodeElect(const Statement& statement);
  Status DecodeFence(const Statement& statement);
  Status DecodeNothing(const Statement& statement);

  // decode_matrix.cpp
  Status DecodeLdmatrix(const Statement& statement);
  Status DecodeMma(const Statement& statement);
  Status DecodeWmma(const Statement& statement);
  Status DecodeWmmaMove(const Statement& statement);
  Status DecodeWmmaMultiply(const Statement& statement);
  Status DecodeWgmma(const Statement& statement);
  Status DecodeBulk(const Statement& statement);
  Status DecodeTensor(const Statement& statement);
  static std::vector<Operand> Elements(const Operand& operand);
  Result<std::uint32_t> AddressValue(const Statement& statement, const Operand& operand);
  Result<std::vector<std::uint32_t>> VectorSlots(const Statement& statement, const Operand& operand, Type type,
                                                 bool results);

  Parser& parser_;
  Program& program_;
  std::uint32_t function_ = kNoSlot;
  std::map<std::pair<std::uint64_t, unsigned>, std::uint32_t> constants_;
  std::map<unsigned, std::vector<std::uint32_t>> temporaries_;  // of each size of a slot
  std::map<unsigned, std::size_t> temporaries_used_;            // by the current statement
  std::set<std::string, std::less<>> unsupported_;
};

}  // namespace upskill::ptx
