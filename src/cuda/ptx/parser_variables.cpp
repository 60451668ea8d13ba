// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "cuda/ptx/parser.h"

namespace upskill::ptx {

constexpr std::uint64_t kMostAlignment = 65'536;

Status Parser::CheckVariableBytes(std::uint64_t bytes) {
  if (bytes > limits_.variable_bytes || variable_bytes_ + bytes > limits_.variable_bytes) {
    return ErrorHere(fmt::format("the variables have more than {} bytes", limits_.variable_bytes));
  }
  variable_bytes_ += bytes;
  return {};
}

// After the state space: .align N, .v2, .ptr …, and the type.
Result<Parser::VariableSpec> Parser::ParseVariableSpec() {
  VariableSpec spec;
  while (spec.type == Type::kNone || lexer_.Peek().Is(".ptr")) {
    const Token token = lexer_.Next();
    if (token.Is(".align")) {
      ASSIGN_OR_RETURN(spec.alignment, ExpectNumber());
      if (!std::has_single_bit(spec.alignment) || spec.alignment > kMostAlignment) {
        return ErrorAt(token.line, "an alignment is a power of two up to 65536");
      }
    } else if (token.Is(".v2") || token.Is(".v4")) {
      spec.vector = token.Is(".v2") ? 2 : 4;
    } else if (token.Is(".attribute")) {
      while (lexer_.Peek().kind != Token::Kind::kEnd && !Accept(")")) {
        spec.managed = lexer_.Next().Is(".managed") || spec.managed;
      }
    } else if (token.Is(".ptr")) {
      // Where a pointer points is of no interest here, nor is the alignment of what it points to.
      while (lexer_.Peek().Is(".global") || lexer_.Peek().Is(".shared") || lexer_.Peek().Is(".const") ||
             lexer_.Peek().Is(".local") || lexer_.Peek().Is(".align")) {
        if (lexer_.Next().Is(".align")) RETURN_IF_ERROR(ExpectNumber());
      }
    } else {
      const bool is_type = token.kind == Token::Kind::kWord && token.text.starts_with('.');
      spec.type = is_type ? TypeFromName(token.text.substr(1)) : Type::kNone;
      if (spec.type == Type::kNone) {
        return ErrorAt(token.line, fmt::format("expected a type, found \"{}\"", token.text.substr(0, 60)));
      }
    }
  }
  return spec;
}

Result<Parser::VariableName> Parser::ParseVariableName() {
  const Token token = lexer_.Next();
  if (token.kind != Token::Kind::kWord) {
    return ErrorAt(token.line, fmt::format("expected a name, found \"{}\"", token.text.substr(0, 60)));
  }
  VariableName name{token.text, 1, false};
  while (Accept("[")) {
    if (Accept("]")) {
      name.open = true;
      continue;
    }
    ASSIGN_OR_RETURN(const std::uint64_t elements, ExpectNumber());
    if (elements > (std::uint64_t{1} << 32U)) return ErrorAt(token.line, "the array is too large");
    name.elements *= elements;
    if (name.elements > (std::uint64_t{1} << 40U)) return ErrorAt(token.line, "the array is too large");
    RETURN_IF_ERROR(Expect("]"));
  }
  return name;
}

Result<std::uint32_t> Parser::ReserveLocal(std::uint64_t bytes, std::uint64_t alignment) {
  Function& function = program_->functions[function_];
  const std::uint64_t offset = (function.local_bytes + alignment - 1) / alignment * alignment;
  if (offset + bytes > (std::uint64_t{512} << 10U)) {
    return ErrorHere("the local variables of a function have more than 524,288 bytes");
  }
  function.local_bytes = static_cast<std::uint32_t>(offset + bytes);
  return static_cast<std::uint32_t>(offset);
}

Status Parser::DeclareVariable(std::string_view space, const VariableSpec& spec, const VariableName& name,
                               bool is_extern) {
  const std::uint64_t bytes = name.open ? 0 : name.elements * SizeOf(spec.type) * spec.vector;
  const std::uint64_t alignment = std::max<std::uint64_t>({spec.alignment, SizeOf(spec.type) * spec.vector, 1});
  Symbol symbol{Symbol::Kind::kNone, spec.type, 0, 0, bytes};
  if (space == "shared") {
    if (name.open || is_extern) {
      symbol.kind = Symbol::Kind::kDynamicShared;
      program_->dynamic_shared_alignment = std::max(program_->dynamic_shared_alignment, alignment);
    } else {
      symbol.kind = Symbol::Kind::kShared;
      symbol.index = static_cast<std::uint32_t>(program_->shared.size());
      const bool own = function_ != kNoSlot && program_->functions[function_].is_kernel;
      program_->shared.push_back(SharedVariable{std::string(name.name), bytes, alignment, own ? function_ : kNoSlot});
    }
  } else if (space == "local" || space == "param") {
    symbol.kind = Symbol::Kind::kLocal;
    ASSIGN_OR_RETURN(symbol.index, ReserveLocal(bytes, alignment));
  } else {
    symbol.kind = Symbol::Kind::kGlobal;
    symbol.index = static_cast<std::uint32_t>(program_->globals.size());
    GlobalVariable variable;
    variable.info = Variable{std::string(name.name), space == "const" ? Space::kConst : Space::kGlobal, bytes,
                             alignment, spec.managed};
    program_->globals.push_back(std::move(variable));
  }
  if (program_->shared.size() + program_->globals.size() > limits_.variables) {
    return ErrorHere(fmt::format("more than {} variables", limits_.variables));
  }
  if (symbol.kind != Symbol::Kind::kLocal) RETURN_IF_ERROR(CheckVariableBytes(bytes));
  CurrentScope().symbols[name.name] = symbol;
  return {};
}

// A declaration after its state space; also of call parameters (.param .b32 param0;).
Status Parser::ParseVariable(std::string_view space, bool is_extern) {
  ASSIGN_OR_RETURN(const VariableSpec spec, ParseVariableSpec());
  if (spec.type == Type::kPred) return ErrorHere("a variable can't be a predicate");
  do {
    ASSIGN_OR_RETURN(VariableName name, ParseVariableName());
    const bool initialised = lexer_.Peek().Is("=");
    if (name.open && initialised) name.open = false;
    RETURN_IF_ERROR(DeclareVariable(space, spec, name, is_extern));
    if (!initialised) continue;
    lexer_.Next();
    if (space != "global" && space != "const")
      return ErrorHere("only .global and .const variables have initial values");
    GlobalVariable& variable = program_->globals.back();
    RETURN_IF_ERROR(ParseInitialiser(variable, spec, variable.info.bytes));
  } while (Accept(","));
  return Expect(";");
}

Status Parser::ParseInitialiser(GlobalVariable& variable, const VariableSpec& spec, std::uint64_t bytes) {
  int depth = 0;
  do {
    while (Accept("{")) {
      if (++depth > 8) return ErrorHere("the initial values are nested too deeply");
    }
    if (!lexer_.Peek().Is("}")) RETURN_IF_ERROR(ParseInitialValue(variable, spec, bytes));
    while (depth > 0 && Accept("}")) --depth;
  } while (depth > 0 && Accept(","));
  if (depth > 0) return Expect("}");
  return {};
}

Status Parser::ParseInitialValue(GlobalVariable& variable, const VariableSpec& spec, std::uint64_t bytes) {
  const unsigned size = SizeOf(spec.type);
  const std::size_t at = variable.initial.size();
  if (at + size > bytes) return ErrorHere("more initial values than the variable holds");
  std::uint64_t bits = 0;
  if (lexer_.Peek().kind == Token::Kind::kWord) {
    const bool generic = lexer_.Peek().Is("generic");
    if (generic) {
      lexer_.Next();
      RETURN_IF_ERROR(Expect("("));
    }
    const Token name = lexer_.Next();
    const Symbol symbol = Find(name.text);
    Relocation relocation;
    relocation.index = symbol.index;
    relocation.offset = static_cast<std::uint32_t>(at);
    relocation.bytes = static_cast<std::uint8_t>(size);
    if (symbol.kind == Symbol::Kind::kGlobal) {
      relocation.kind = Relocation::Kind::kVariable;
    } else if (symbol.kind == Symbol::Kind::kFunction) {
      relocation.kind = Relocation::Kind::kFunction;
    } else {
      return ErrorAt(name.line, fmt::format("\"{}\" can't be an initial value", name.text.substr(0, 60)));
    }
    if (generic) RETURN_IF_ERROR(Expect(")"));
    if (Accept("+")) {
      ASSIGN_OR_RETURN(const std::uint64_t addend, ExpectNumber());
      relocation.addend = static_cast<std::int64_t>(addend);
    }
    if (size != 8 && size != 4) return ErrorAt(name.line, "an address needs 8 bytes");
    if (++initial_addresses_ > limits_.addresses) {
      return ErrorAt(name.line, fmt::format("more than {} addresses as initial values", limits_.addresses));
    }
    variable.relocations.push_back(relocation);
  } else {
    const bool negative = Accept("-");
    ASSIGN_OR_RETURN(const Operand value, ParseNumberOperand(negative));
    bits = value.bits;
    if (spec.type == Type::kF32 && value.kind == Operand::Kind::kFloat) {
      bits = std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(value.bits)));
    }
  }
  variable.initial.resize(at + size);
  std::memcpy(variable.initial.data() + at, &bits, std::min<std::size_t>(size, sizeof bits));
  return {};
}

Status Parser::ParseRegisters() {
  Token token = lexer_.Next();
  if (token.Is(".align")) {
    RETURN_IF_ERROR(ExpectNumber());
    token = lexer_.Next();
  }
  const Type type = token.text.starts_with('.') ? TypeFromName(token.text.substr(1)) : Type::kNone;
  if (type == Type::kNone) {
    return ErrorAt(token.line, fmt::format("\"{}\" isn't a type of registers", token.text.substr(0, 60)));
  }
  do {
    RETURN_IF_ERROR(DeclareRegisters(type));
  } while (Accept(","));
  return Expect(";");
}

Status Parser::DeclareRegisters(Type type) {
  const Token name = lexer_.Next();
  if (name.kind != Token::Kind::kWord) return ErrorAt(name.line, "expected the name of a register");
  Symbol symbol{Symbol::Kind::kRegister, type, program_->functions[function_].frame_bytes, 1, 0};
  if (Accept("<")) {
    ASSIGN_OR_RETURN(const std::uint64_t count, ExpectNumber());
    RETURN_IF_ERROR(Expect(">"));
    if (count > limits_.registers) return ErrorAt(name.line, "too many registers");
    symbol.kind = Symbol::Kind::kRegisterRange;
    symbol.count = static_cast<std::uint32_t>(count);
  }
  registers_ += symbol.count;
  if (registers_ > limits_.registers) {
    return ErrorAt(name.line, fmt::format("the function has more than {} registers", limits_.registers));
  }
  program_->functions[function_].frame_bytes += symbol.count * SlotBytes(type);
  CurrentScope().symbols[name.text] = symbol;
  return {};
}

}  // namespace upskill::ptx
