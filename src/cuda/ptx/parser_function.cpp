// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <bit>
#include <cstdlib>
#include <limits>

#include "cuda/ptx/decoder.h"
#include "cuda/ptx/parser.h"

namespace upskill::ptx {
namespace {

constexpr std::size_t kMostOperands = 300;  // of one instruction: wgmma has 128 registers of results

bool IsHexDigit(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

std::vector<std::string_view> SplitAtDots(std::string_view opcode) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t dot = opcode.find('.');
    parts.push_back(opcode.substr(0, dot));
    if (dot == std::string_view::npos) return parts;
    opcode.remove_prefix(dot + 1);
  }
}

}  // namespace

Status Parser::ParseBody() {
  RETURN_IF_ERROR(Expect("{"));
  label_uses_.clear();
  targets_uses_.clear();
  location_ = 0;
  location_index_.clear();
  registers_ = 0;
  decoder_->StartFunction(function_);
  program_->functions[function_].has_body = true;
  program_->functions[function_].entry = static_cast<std::uint32_t>(program_->code.size());
  while (scope_stack_.size() > 1) RETURN_IF_ERROR(ParseStatement());
  decoder_->EndFunction();
  RETURN_IF_ERROR(ResolveLabels());
  program_->functions[function_].end = static_cast<std::uint32_t>(program_->code.size());
  scope_stack_ = {0};
  function_ = kNoSlot;
  scopes_.resize(1);
  return {};
}

Status Parser::ParseStatement() {
  const Token token = lexer_.Next();
  if (token.kind == Token::Kind::kEnd) return ErrorAt(token.line, "the function isn't closed");
  if (token.Is(";")) return {};
  if (token.Is("{")) {
    if (scope_stack_.size() > static_cast<std::size_t>(limits_.nesting)) {
      return ErrorAt(token.line, fmt::format("more than {} nested blocks", limits_.nesting));
    }
    if (scopes_.size() > limits_.scopes) {
      return ErrorAt(token.line, fmt::format("more than {} blocks in a function", limits_.scopes));
    }
    scopes_.push_back(Scope{scope_stack_.back(), {}, {}});
    scope_stack_.push_back(scopes_.size() - 1);
    return {};
  }
  if (token.Is("}")) {
    scope_stack_.pop_back();
    return {};
  }
  if (token.Is("@")) {
    const bool negated = Accept("!");
    const Token name = lexer_.Next();
    const Symbol guard = Find(name.text);
    if (guard.kind != Symbol::Kind::kRegister || guard.type != Type::kPred) {
      return ErrorAt(name.line, fmt::format("\"{}\" isn't a predicate", name.text.substr(0, 60)));
    }
    return ParseInstruction(lexer_.Next(), guard.index, negated);
  }
  if (token.kind != Token::Kind::kWord) {
    return ErrorAt(token.line, fmt::format("expected an instruction, found \"{}\"", token.text.substr(0, 60)));
  }
  return ParseWordStatement(token);
}

Status Parser::ParseWordStatement(const Token& word) {
  if (lexer_.Peek().Is(":")) return ParseLabel(word);
  if (word.text.front() != '.') return ParseInstruction(word, kNoSlot, false);
  if (word.Is(".reg")) return ParseRegisters();
  if (word.Is(".loc")) return ParseLocation();
  if (word.Is(".local") || word.Is(".shared") || word.Is(".param") || word.Is(".const") || word.Is(".global")) {
    return ParseVariable(word.text.substr(1), false);
  }
  if (word.Is(".extern")) {
    const Token space = lexer_.Next();
    return ParseVariable(space.text.empty() ? space.text : space.text.substr(1), true);
  }
  if (word.Is(".pragma") || word.Is(".maxnreg")) {
    while (lexer_.Peek().kind != Token::Kind::kEnd && !Accept(";")) lexer_.Next();
    return {};
  }
  if (word.Is(".section")) return SkipSection();
  return ErrorAt(word.line, fmt::format("the directive \"{}\" isn't supported here", word.text.substr(0, 60)));
}

Status Parser::ParseLabel(const Token& label) {
  lexer_.Next();  // the colon
  if (Accept(".callprototype")) return ParsePrototype(label.text);
  if (Accept(".branchtargets") || Accept(".calltargets")) {
    const auto index = static_cast<std::uint32_t>(program_->branch_targets.size());
    program_->branch_targets.emplace_back();
    TargetsUse use{index, {}, scope_stack_.back(), label.line};
    do {
      use.labels.push_back(lexer_.Next().text);
      if (use.labels.size() > limits_.instructions) return ErrorAt(label.line, "too many targets");
    } while (Accept(","));
    targets_uses_.push_back(std::move(use));
    CurrentScope().symbols[label.text] = Symbol{Symbol::Kind::kTargets, Type::kNone, index, 0, 0};
    return Expect(";");
  }
  decoder_->StartBlock();
  const auto [at, added] = CurrentScope().labels.emplace(label.text, static_cast<std::uint32_t>(program_->code.size()));
  if (!added) return ErrorAt(label.line, fmt::format("the label \"{}\" is defined twice", label.text.substr(0, 60)));
  return {};
}

// A prototype only says what a call passes, and the call itself says that too.
Status Parser::ParsePrototype(std::string_view name) {
  CurrentScope().symbols[name] = Symbol{Symbol::Kind::kPrototype, Type::kNone, 0, 0, 0};
  while (lexer_.Peek().kind != Token::Kind::kEnd && !Accept(";")) lexer_.Next();
  return {};
}

// .loc FILE LINE COLUMN [, function_name NAME [+ OFFSET], inlined_at FILE LINE COLUMN]
Status Parser::ParseLocation() {
  std::array<std::uint32_t, 3> place{};
  std::array<std::uint32_t, 3> outer{};
  const auto parse = [this](std::array<std::uint32_t, 3>& into) -> Status {
    for (std::uint32_t& number : into) {
      ASSIGN_OR_RETURN(const std::uint64_t value, ExpectNumber());
      number = static_cast<std::uint32_t>(value & std::numeric_limits<std::uint32_t>::max());
    }
    return {};
  };
  RETURN_IF_ERROR(parse(place));
  std::uint32_t inlined_at = 0;
  while (Accept(",")) {
    const Token what = lexer_.Next();
    if (what.Is("function_name")) {
      lexer_.Next();
      if (Accept("+")) RETURN_IF_ERROR(ExpectNumber());
    } else if (what.Is("inlined_at")) {
      RETURN_IF_ERROR(parse(outer));
      const auto found = location_index_.find(outer);
      if (found != location_index_.end()) {
        inlined_at = found->second;
      } else {
        inlined_at = static_cast<std::uint32_t>(program_->locations.size());
        program_->locations.push_back(Location{outer[0], outer[1], outer[2], 0});
      }
    }
  }
  if (place[1] == 0) return {};  // code of no line: it belongs to the line before
  const auto index = static_cast<std::uint32_t>(program_->locations.size());
  if (index > 4 * limits_.instructions) return ErrorHere("too many .loc directives");
  program_->locations.push_back(Location{place[0], place[1], place[2], inlined_at});
  location_index_[place] = index;
  location_ = index;
  return {};
}

Status Parser::ParseInstruction(const Token& opcode, std::uint32_t guard, bool guard_negated) {
  if (opcode.kind != Token::Kind::kWord) {
    return ErrorAt(opcode.line, fmt::format("expected an instruction, found \"{}\"", opcode.text.substr(0, 60)));
  }
  if (program_->code.size() >= limits_.instructions) {
    return ErrorAt(opcode.line, fmt::format("more than {} instructions", limits_.instructions));
  }
  if (program_->constants.size() > limits_.constant_bytes) {
    return ErrorAt(opcode.line,
                   fmt::format("the numbers in the instructions take more than {} bytes", limits_.constant_bytes));
  }
  Statement statement;
  statement.opcode = opcode.text;
  statement.parts = SplitAtDots(opcode.text);
  statement.guard = guard;
  statement.guard_negated = guard_negated;
  statement.line = opcode.line;
  if (!Accept(";")) {
    ASSIGN_OR_RETURN(statement.operands, ParseOperandList(";"));
  }
  return decoder_->Decode(statement);
}

Result<std::uint32_t> Parser::FindLabel(std::string_view name, std::size_t scope, std::uint32_t line) const {
  while (true) {
    const auto found = scopes_[scope].labels.find(name);
    if (found != scopes_[scope].labels.end()) return found->second;
    if (scope == 0) return ErrorAt(line, fmt::format("there is no label \"{}\"", name.substr(0, 60)));
    scope = scopes_[scope].parent;
  }
}

Status Parser::ResolveLabels() {
  for (const LabelUse& use : label_uses_) {
    ASSIGN_OR_RETURN(program_->code[use.inst].target, FindLabel(use.label, use.scope, use.line));
  }
  for (const TargetsUse& use : targets_uses_) {
    for (const std::string_view label : use.labels) {
      // The targets of a call are functions; a call finds them by their address.
      if (scopes_[0].symbols.contains(label)) continue;
      ASSIGN_OR_RETURN(const std::uint32_t target, FindLabel(label, use.scope, use.line));
      program_->branch_targets[use.targets].push_back(target);
    }
  }
  return {};
}

Result<std::vector<Operand>> Parser::ParseOperandList(std::string_view close) {
  std::vector<Operand> operands;
  if (Accept(close)) return operands;
  while (true) {
    ASSIGN_OR_RETURN(Operand operand, ParseOperand());
    operands.push_back(std::move(operand));
    if (operands.size() > kMostOperands) return ErrorHere("too many operands");
    if (Accept(close)) return operands;
    RETURN_IF_ERROR(Expect(","));
  }
}

Result<Operand> Parser::ParseOperand() {
  ASSIGN_OR_RETURN(Operand operand, ParseOperandAtom());
  if (!Accept("|")) return operand;
  Operand pair;
  pair.kind = Operand::Kind::kPair;
  ASSIGN_OR_RETURN(Operand second, ParseOperandAtom());
  pair.elements = {std::move(operand), std::move(second)};
  return pair;
}

Result<Operand> Parser::ParseOperandAtom() {
  const Token token = lexer_.Peek();
  if (token.kind == Token::Kind::kNumber) return ParseNumberOperand(false);
  if (token.kind != Token::Kind::kWord && !token.Is("[") && !token.Is("{") && !token.Is("(") && !token.Is("!") &&
      !token.Is("-")) {
    return ErrorHere(fmt::format("expected an operand, found \"{}\"", token.text.substr(0, 60)));
  }
  lexer_.Next();
  if (token.Is("-")) return ParseNumberOperand(true);
  if (token.Is("[")) return ParseAddress();
  if (token.Is("!")) {
    Operand operand = OperandOfName(lexer_.Next().text);
    operand.negated = true;
    return operand;
  }
  if (token.Is("{") || token.Is("(")) {
    Operand vector;
    vector.kind = token.Is("{") ? Operand::Kind::kVector : Operand::Kind::kList;
    // Vectors and lists hold neither others nor addresses; this bounds the recursion.
    while (!Accept(token.Is("{") ? "}" : ")")) {
      if (lexer_.Peek().Is("{") || lexer_.Peek().Is("(") || lexer_.Peek().Is("[")) {
        return ErrorHere("nested lists of operands");
      }
      ASSIGN_OR_RETURN(Operand element, ParseOperandAtom());
      vector.elements.push_back(std::move(element));
      if (vector.elements.size() > kMostOperands) return ErrorHere("too many operands");
      if (!Accept(",") && !lexer_.Peek().Is(token.Is("{") ? "}" : ")")) return ErrorHere("expected \",\" in a list");
    }
    return vector;
  }
  Operand operand = OperandOfName(token.text);
  if (operand.kind == Operand::Kind::kSymbol && (lexer_.Peek().Is("+") || lexer_.Peek().Is("-"))) {
    const bool negative = lexer_.Next().Is("-") != Accept("-");
    ASSIGN_OR_RETURN(const std::uint64_t offset, ExpectNumber());
    operand.offset = negative ? -static_cast<std::int64_t>(offset) : static_cast<std::int64_t>(offset);
  }
  return operand;
}

// 12, 0xFF, 0f3F800000, 0d…, 1.5
Result<Operand> Parser::ParseNumberOperand(bool negative) {
  const Token token = lexer_.Next();
  if (token.kind != Token::Kind::kNumber) {
    return ErrorAt(token.line, fmt::format("expected a number, found \"{}\"", token.text.substr(0, 60)));
  }
  Operand operand;
  const std::string_view text = token.text;
  const bool prefixed = text.size() > 2 && text[0] == '0';
  if (prefixed && (text[1] == 'f' || text[1] == 'F' || text[1] == 'd' || text[1] == 'D')) {
    const bool single = text[1] == 'f' || text[1] == 'F';
    for (const char c : text.substr(2)) {
      if (!IsHexDigit(c)) return ErrorAt(token.line, fmt::format("\"{}\" isn't a number", text.substr(0, 60)));
    }
    operand.kind = single ? Operand::Kind::kSingle : Operand::Kind::kFloat;
    operand.bits = std::strtoull(std::string(text.substr(2)).c_str(), nullptr, 16);
    if (single) operand.bits &= 0xFFFFFFFFU;
    if (negative) operand.bits ^= single ? 0x80000000ULL : 0x8000000000000000ULL;
    return operand;
  }
  const bool hexadecimal = prefixed && (text[1] == 'x' || text[1] == 'X');
  if (!hexadecimal && text.find_first_of(".eE") != std::string_view::npos) {
    const double value = std::strtod(std::string(text).c_str(), nullptr);
    operand.kind = Operand::Kind::kFloat;
    operand.bits = std::bit_cast<std::uint64_t>(negative ? -value : value);
    return operand;
  }
  auto value = ParseUnsigned(text);
  if (!value) return ErrorAt(token.line, value.error().message);
  operand.kind = Operand::Kind::kInteger;
  operand.bits = negative ? 0 - value.value() : value.value();
  return operand;
}

// After the `[`.
Result<Operand> Parser::ParseAddress() {
  Operand address;
  address.kind = Operand::Kind::kAddress;
  if (lexer_.Peek().Is("[") || lexer_.Peek().Is("{")) return ErrorHere("nested addresses");
  ASSIGN_OR_RETURN(Operand base, ParseOperandAtom());
  address.offset = base.offset;
  base.offset = 0;
  if (lexer_.Peek().Is("+") || lexer_.Peek().Is("-")) {
    const bool negative = lexer_.Next().Is("-") != Accept("-");
    ASSIGN_OR_RETURN(const std::uint64_t offset, ExpectNumber());
    address.offset += negative ? -static_cast<std::int64_t>(offset) : static_cast<std::int64_t>(offset);
  }
  address.elements.push_back(std::move(base));
  while (Accept(",")) {
    if (lexer_.Peek().Is("[")) return ErrorHere("nested addresses");
    ASSIGN_OR_RETURN(Operand element, ParseOperandAtom());
    address.elements.push_back(std::move(element));
    if (address.elements.size() > 16) return ErrorHere("too many coordinates");
  }
  RETURN_IF_ERROR(Expect("]"));
  return address;
}

Operand Parser::OperandOfName(std::string_view name) {
  Operand operand;
  operand.name = name;
  if (name == "_") {
    operand.kind = Operand::Kind::kSink;
    return operand;
  }
  const Symbol symbol = Find(name);
  if (symbol.kind == Symbol::Kind::kRegister) {
    operand.kind = Operand::Kind::kRegister;
    operand.type = symbol.type;
    operand.slot = symbol.index;
    return operand;
  }
  if (symbol.kind != Symbol::Kind::kNone) {
    operand.kind = Operand::Kind::kSymbol;
    operand.symbol = symbol;
    return operand;
  }
  operand.special = SpecialRegisterFromName(name);
  operand.kind = operand.special == SpecialRegister::kNone ? Operand::Kind::kName : Operand::Kind::kSpecial;
  if (name == "WARP_SZ") {
    operand.kind = Operand::Kind::kInteger;
    operand.bits = 32;
  }
  return operand;
}

}  // namespace upskill::ptx
