// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "cuda/ptx/lexer.h"
#include "cuda/ptx/operand.h"
#include "cuda/ptx/program.h"
#include "util/result.h"

namespace upskill::ptx {

class Decoder;

// A `{ … }`: names and labels declared in it. Labels may be used before they are declared, and from scopes inside.
struct Scope {
  std::size_t parent = 0;
  std::unordered_map<std::string_view, Symbol> symbols;
  std::unordered_map<std::string_view, std::uint32_t> labels;  // to indices of instructions
};

struct LabelUse {
  std::uint32_t inst = 0;
  std::string_view label;
  std::size_t scope = 0;
  std::uint32_t line = 0;
};

// A branch target list (.branchtargets) whose labels aren't known yet.
struct TargetsUse {
  std::uint32_t targets = 0;  // index in Program::branch_targets
  std::vector<std::string_view> labels;
  std::size_t scope = 0;
  std::uint32_t line = 0;
};

// Reads a module's text into a Program. The text must outlive the parser.
class Parser {
 public:
  Parser(std::string_view text, const ParseLimits& limits);
  ~Parser();
  Parser(const Parser&) = delete;
  Parser& operator=(const Parser&) = delete;
  Result<std::unique_ptr<Program>> Parse();

 private:
  friend class Decoder;

  // parser.cpp: the module
  Status ParseModuleItem();
  Status ParseDirective(const Token& directive);
  Status ParseFile();
  Status SkipSection();
  Status ParseTarget();
  Status ParseFunction(bool is_kernel);
  Status ParseKernelDirectives(KernelInfo* kernel);  // nullptr: of a function
  Result<std::vector<std::uint32_t>> ParseNumbers();
  Status ParseParameters(bool results);
  Result<std::uint32_t> DeclareFunction(std::string_view name, bool is_kernel);
  void FinishModule();

  // parser_variables.cpp
  struct VariableSpec {
    std::uint64_t alignment = 0;
    Type type = Type::kNone;
    std::uint64_t vector = 1;
    bool ptr = false;
    bool managed = false;
  };
  Result<VariableSpec> ParseVariableSpec();
  struct VariableName {
    std::string_view name;
    std::uint64_t elements = 1;
    bool open = false;  // an array without a size
  };
  Result<VariableName> ParseVariableName();
  Status ParseVariable(std::string_view space, bool is_extern);
  Status ParseInitialiser(GlobalVariable& variable, const VariableSpec& spec, std::uint64_t bytes);
  Status ParseInitialValue(GlobalVariable& variable, const VariableSpec& spec, std::uint64_t bytes);
  Status DeclareVariable(std::string_view space, const VariableSpec& spec, const VariableName& name, bool is_extern);
  Result<std::uint32_t> ReserveLocal(std::uint64_t bytes, std::uint64_t alignment);
  Status ParseRegisters();
  Status DeclareRegisters(Type type);

  // parser_function.cpp
  Status ParseBody();
  Status ParseStatement();
  Status ParseWordStatement(const Token& word);
  Status ParseLabel(const Token& label);
  Status ParseInstruction(const Token& opcode, std::uint32_t guard, bool guard_negated);
  Status ParseLocation();
  Status ParsePrototype(std::string_view name);
  Status ResolveLabels();
  Result<std::uint32_t> FindLabel(std::string_view name, std::size_t scope, std::uint32_t line) const;
  Result<Operand> ParseOperand();
  Result<Operand> ParseOperandAtom();
  Result<Operand> ParseNumberOperand(bool negative);
  Result<Operand> ParseAddress();
  Result<std::vector<Operand>> ParseOperandList(std::string_view close);
  Operand OperandOfName(std::string_view name);

  // shared
  Error ErrorAt(std::uint32_t line, const std::string& message) const;
  Error ErrorHere(const std::string& message) const { return ErrorAt(lexer_.Peek().line, message); }
  Status Expect(std::string_view punctuation);
  bool Accept(std::string_view text);
  Result<std::uint64_t> ExpectNumber();
  Symbol Find(std::string_view name) const;
  Scope& CurrentScope() { return scopes_[scope_stack_.back()]; }
  Status CheckVariableBytes(std::uint64_t bytes);
  std::uint32_t NameIndex(std::string_view name);

  Lexer lexer_;
  ParseLimits limits_;
  std::unique_ptr<Program> program_;
  std::unique_ptr<Decoder> decoder_;
  std::uint64_t variable_bytes_ = 0;
  std::size_t initial_addresses_ = 0;
  std::unordered_map<std::string, std::uint32_t> name_index_;

  // The function being read. Scope 0 is the module's.
  std::vector<Scope> scopes_;
  std::vector<std::size_t> scope_stack_;
  std::uint32_t function_ = kNoSlot;
  std::vector<LabelUse> label_uses_;
  std::vector<TargetsUse> targets_uses_;
  std::uint32_t location_ = 0;
  std::map<std::array<std::uint32_t, 3>, std::uint32_t> location_index_;  // the last .loc of file, line and column
  std::uint32_t registers_ = 0;
};

Result<std::uint64_t> ParseUnsigned(std::string_view text);  // decimal, 0x, octal, 0b, with or without U

}  // namespace upskill::ptx
