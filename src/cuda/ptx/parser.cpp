// SPDX-License-Identifier: Apache-2.0
#include "cuda/ptx/parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>

#include "cuda/ptx/block_order.h"
#include "cuda/ptx/decoder.h"

namespace upskill::ptx {
namespace {

constexpr std::size_t kMostInstructions = 2'000'000;  // race_checker.h has 21 bits for the place of an access
constexpr std::size_t kLongestName = 200;             // of an instruction, as messages quote it

}  // namespace

Result<std::uint64_t> ParseUnsigned(std::string_view text) {
  const std::string_view whole = text;
  while (!text.empty() && (text.back() == 'U' || text.back() == 'u' || text.back() == 'L')) text.remove_suffix(1);
  int base = 10;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    base = 16;
    text.remove_prefix(2);
  } else if (text.starts_with("0b") || text.starts_with("0B")) {
    base = 2;
    text.remove_prefix(2);
  } else if (text.size() > 1 && text.front() == '0') {
    base = 8;
    text.remove_prefix(1);
  }
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc{} || end != text.data() + text.size()) {
    return InputError(fmt::format("\"{}\" isn't a number", whole));
  }
  return value;
}

Parser::Parser(std::string_view text, const ParseLimits& limits)
    : lexer_(text), limits_(limits), program_(std::make_unique<Program>()) {
  decoder_ = std::make_unique<Decoder>(*this, *program_);
  limits_.instructions = std::min(limits_.instructions, kMostInstructions);
  scopes_.emplace_back();
  scope_stack_.push_back(0);
}

Parser::~Parser() = default;

Error Parser::ErrorAt(std::uint32_t line, const std::string& message) const {
  return InputError(fmt::format("line {} of the PTX: {}", line, message));
}

Status Parser::Expect(std::string_view punctuation) {
  if (lexer_.Peek().Is(punctuation)) {
    lexer_.Next();
    return {};
  }
  const Token& token = lexer_.Peek();
  const std::string found =
      token.kind == Token::Kind::kEnd ? "the end of the text" : fmt::format("\"{}\"", token.text.substr(0, 60));
  return ErrorHere(fmt::format("expected \"{}\", found {}", punctuation, found));
}

bool Parser::Accept(std::string_view text) {
  if (!lexer_.Peek().Is(text)) return false;
  lexer_.Next();
  return true;
}

Result<std::uint64_t> Parser::ExpectNumber() {
  const Token token = lexer_.Peek();
  if (token.kind != Token::Kind::kNumber) {
    return ErrorHere(fmt::format("expected a number, found \"{}\"", token.text.substr(0, 60)));
  }
  lexer_.Next();
  auto value = ParseUnsigned(token.text);
  if (!value) return ErrorAt(token.line, value.error().message);
  return value;
}

Symbol Parser::Find(std::string_view name) const {
  for (std::size_t scope = scope_stack_.back();; scope = scopes_[scope].parent) {
    const auto& symbols = scopes_[scope].symbols;
    if (const auto found = symbols.find(name); found != symbols.end()) {
      if (found->second.kind != Symbol::Kind::kRegisterRange) return found->second;
    }
    std::size_t digits = name.size();
    while (digits > 0 && name[digits - 1] >= '0' && name[digits - 1] <= '9') --digits;
    if (digits > 0 && digits < name.size()) {
      const auto found = symbols.find(name.substr(0, digits));
      if (found != symbols.end() && found->second.kind == Symbol::Kind::kRegisterRange) {
        const auto number =
            ParseUnsigned(name.substr(digits).size() > 1 && name[digits] == '0' ? "x" : name.substr(digits));
        if (number && number.value() < found->second.count) {
          Symbol symbol = found->second;
          symbol.kind = Symbol::Kind::kRegister;
          symbol.index += static_cast<std::uint32_t>(number.value()) * SlotBytes(symbol.type);
          return symbol;
        }
      }
    }
    if (scope == 0) return {};
  }
}

std::uint32_t Parser::NameIndex(std::string_view name) {
  name = name.substr(0, kLongestName);
  const auto [at, added] = name_index_.emplace(std::string(name), static_cast<std::uint32_t>(program_->names.size()));
  if (added) program_->names.emplace_back(name);
  return at->second;
}

Result<std::unique_ptr<Program>> Parser::Parse() {
  while (lexer_.Peek().kind != Token::Kind::kEnd) RETURN_IF_ERROR(ParseModuleItem());
  if (program_->version.empty()) return InputError("this isn't PTX: it has no .version directive");
  FinishModule();
  return std::move(program_);
}

Status Parser::ParseModuleItem() {
  const Token token = lexer_.Next();
  if (token.Is(";")) return {};
  if (token.kind != Token::Kind::kWord || token.text.front() != '.') {
    return ErrorAt(token.line, fmt::format("expected a directive, found \"{}\"", token.text.substr(0, 60)));
  }
  return ParseDirective(token);
}

Status Parser::ParseDirective(const Token& directive) {
  bool is_extern = false;
  Token token = directive;
  while (token.Is(".visible") || token.Is(".extern") || token.Is(".weak") || token.Is(".common")) {
    is_extern = is_extern || token.Is(".extern");
    token = lexer_.Next();
  }
  if (token.Is(".version")) {
    program_->version = std::string(lexer_.Next().text);
    return {};
  }
  if (token.Is(".target")) return ParseTarget();
  if (token.Is(".address_size")) {
    ASSIGN_OR_RETURN(const std::uint64_t size, ExpectNumber());
    if (size != 64) return ErrorAt(token.line, "only .address_size 64 is supported");
    return {};
  }
  if (token.Is(".entry")) return ParseFunction(true);
  if (token.Is(".func")) return ParseFunction(false);
  if (token.Is(".file")) return ParseFile();
  if (token.Is(".section")) return SkipSection();
  if (token.Is(".loc")) return ParseLocation();
  if (token.Is(".pragma") || token.Is(".alias")) {
    while (lexer_.Peek().kind != Token::Kind::kEnd && !Accept(";")) lexer_.Next();
    return {};
  }
  if (token.Is(".global") || token.Is(".const") || token.Is(".shared")) {
    return ParseVariable(token.text.substr(1), is_extern);
  }
  return ErrorAt(token.line, fmt::format("the directive \"{}\" isn't supported", token.text.substr(0, 60)));
}

Status Parser::ParseTarget() {
  program_->target = std::string(lexer_.Next().text);
  while (Accept(",")) program_->debug = lexer_.Next().Is("debug") || program_->debug;
  return {};
}

Status Parser::ParseFile() {
  ASSIGN_OR_RETURN(const std::uint64_t number, ExpectNumber());
  const Token name = lexer_.Next();
  if (name.kind != Token::Kind::kString) return ErrorAt(name.line, "expected the name of a file in quotes");
  if (program_->files.size() < 100'000) program_->files[static_cast<std::uint32_t>(number)] = std::string(name.text);
  while (Accept(",")) lexer_.Next();
  return {};
}

Status Parser::SkipSection() {
  const std::uint32_t line = lexer_.Peek().line;
  while (lexer_.Peek().kind != Token::Kind::kEnd && !lexer_.Peek().Is("{")) lexer_.Next();
  while (lexer_.Peek().kind != Token::Kind::kEnd && !lexer_.Peek().Is("}")) lexer_.Next();
  if (!Accept("}")) return ErrorAt(line, "the .section isn't closed");
  return {};
}

Result<std::uint32_t> Parser::DeclareFunction(std::string_view name, bool is_kernel) {
  const auto found = scopes_[0].symbols.find(name);
  if (found != scopes_[0].symbols.end()) {
    if (found->second.kind == Symbol::Kind::kFunction &&
        program_->functions[found->second.index].is_kernel == is_kernel) {
      return found->second.index;
    }
    return ErrorHere(fmt::format("\"{}\" is declared twice", name.substr(0, 60)));
  }
  const auto index = static_cast<std::uint32_t>(program_->functions.size());
  if (index >= limits_.variables) return ErrorHere("too many functions");
  Function function;
  function.name = std::string(name);
  function.is_kernel = is_kernel;
  program_->functions.push_back(std::move(function));
  scopes_[0].symbols.emplace(name, Symbol{Symbol::Kind::kFunction, Type::kB64, index, 0, 0});
  return index;
}

Status Parser::ParseFunction(bool is_kernel) {
  scopes_.resize(1);
  scopes_.push_back(Scope{0, {}, {}});
  scope_stack_ = {0, 1};
  // The results are declared before the name is known: they are kept in a function of no name until then.
  Function pending;
  program_->functions.push_back(pending);
  function_ = static_cast<std::uint32_t>(program_->functions.size() - 1);
  if (lexer_.Peek().Is("(")) RETURN_IF_ERROR(ParseParameters(true));
  pending = std::move(program_->functions.back());
  program_->functions.pop_back();
  const Token name = lexer_.Next();
  if (name.kind != Token::Kind::kWord) return ErrorAt(name.line, "expected the name of a function");
  ASSIGN_OR_RETURN(function_, DeclareFunction(name.text, is_kernel));
  if (program_->functions[function_].has_body) {
    return ErrorAt(name.line, fmt::format("\"{}\" is defined twice", name.text.substr(0, 60)));
  }
  Function& declared = program_->functions[function_];
  declared.results = pending.results;
  declared.local_bytes = pending.local_bytes;
  declared.parameters.clear();
  KernelInfo kernel;
  kernel.name = std::string(name.text);
  if (is_kernel) {
    declared.kernel = static_cast<std::uint32_t>(program_->kernels.size());
    program_->kernels.push_back(kernel);
  }
  if (lexer_.Peek().Is("(")) RETURN_IF_ERROR(ParseParameters(false));
  RETURN_IF_ERROR(ParseKernelDirectives(is_kernel ? &program_->kernels.back() : nullptr));
  if (Accept(";")) {
    if (is_kernel) {
      program_->functions[function_].kernel = kNoSlot;
      program_->kernels.pop_back();
    }
    scope_stack_ = {0};
    return {};
  }
  return ParseBody();
}

Result<std::vector<std::uint32_t>> Parser::ParseNumbers() {
  std::vector<std::uint32_t> numbers;
  do {
    ASSIGN_OR_RETURN(const std::uint64_t number, ExpectNumber());
    if (number > std::numeric_limits<std::uint32_t>::max()) return ErrorHere("the number is too large");
    numbers.push_back(static_cast<std::uint32_t>(number));
  } while (numbers.size() < 3 && Accept(","));
  numbers.resize(3, 1);
  return numbers;
}

Status Parser::ParseKernelDirectives(KernelInfo* kernel) {
  while (!lexer_.Peek().Is("{") && !lexer_.Peek().Is(";")) {
    const Token token = lexer_.Next();
    if (token.Is(".maxntid") || token.Is(".reqntid") || token.Is(".reqnctapercluster")) {
      ASSIGN_OR_RETURN(const std::vector<std::uint32_t> numbers, ParseNumbers());
      if (kernel == nullptr) continue;
      const Dim3 size{numbers[0], numbers[1], numbers[2]};
      if (token.Is(".reqnctapercluster")) {
        kernel->required_cluster = size;
      } else {
        kernel->max_threads = size.Count();
      }
    } else if (token.Is(".minnctapersm") || token.Is(".maxnreg") || token.Is(".maxnctapersm") ||
               token.Is(".maxclusterrank") || token.Is(".abi_preserve") || token.Is(".abi_preserve_control")) {
      RETURN_IF_ERROR(ParseNumbers());
    } else if (token.Is(".pragma")) {
      while (lexer_.Peek().kind != Token::Kind::kEnd && !Accept(";")) lexer_.Next();
    } else if (!token.Is(".noreturn") && !token.Is(".explicitcluster") && !token.Is(".blocksareclusters")) {
      return ErrorAt(token.line,
                     fmt::format("expected the body of a function, found \"{}\"", token.text.substr(0, 60)));
    }
  }
  return {};
}

Status Parser::ParseParameters(bool results) {
  RETURN_IF_ERROR(Expect("("));
  while (!Accept(")")) {
    RETURN_IF_ERROR(Expect(".param"));
    ASSIGN_OR_RETURN(const VariableSpec spec, ParseVariableSpec());
    ASSIGN_OR_RETURN(const VariableName name, ParseVariableName());
    const std::uint64_t bytes = name.elements * SizeOf(spec.type) * spec.vector;
    if (bytes > 65'536) return ErrorHere("a parameter larger than 65,536 bytes");
    const std::uint64_t alignment = std::max<std::uint64_t>(spec.alignment, SizeOf(spec.type));
    Function& function = program_->functions[function_];
    if (function.is_kernel) {
      KernelInfo& kernel = program_->kernels[function.kernel];
      const std::uint64_t offset = (kernel.parameter_bytes + alignment - 1) / alignment * alignment;
      kernel.parameters.push_back(Parameter{std::string(name.name), offset, bytes, alignment});
      kernel.parameter_bytes = offset + bytes;
      if (kernel.parameter_bytes > 65'536) return ErrorHere("the parameters have more than 65,536 bytes");
      CurrentScope().symbols[name.name] =
          Symbol{Symbol::Kind::kKernelParameter, spec.type, static_cast<std::uint32_t>(offset), 0, bytes};
    } else {
      ASSIGN_OR_RETURN(const std::uint32_t offset, ReserveLocal(bytes, alignment));
      (results ? function.results : function.parameters)
          .push_back(LocalRange{offset, static_cast<std::uint32_t>(bytes)});
      CurrentScope().symbols[name.name] = Symbol{Symbol::Kind::kLocal, spec.type, offset, 0, bytes};
    }
    if (!lexer_.Peek().Is(")")) RETURN_IF_ERROR(Expect(","));
  }
  return {};
}

void Parser::FinishModule() {
  Program& program = *program_;
  for (const GlobalVariable& variable : program.globals) program.variables.push_back(variable.info);
  program.priority.resize(program.code.size());
  for (const Function& function : program.functions) {
    if (function.has_body) OrderBlocks(program, function);
  }
  // Shared memory of a kernel: first what all functions see, then its own variables.
  const auto place = [](std::uint64_t end, const SharedVariable& variable) {
    return (end + variable.alignment - 1) / variable.alignment * variable.alignment + variable.bytes;
  };
  std::uint64_t common = 0;
  for (const SharedVariable& variable : program.shared) {
    if (variable.function == kNoSlot) common = place(common, variable);
  }
  for (const Function& function : program.functions) {
    if (function.kernel == kNoSlot) continue;
    program.kernels[function.kernel].local_bytes = function.local_bytes;
    program.kernels[function.kernel].static_shared_bytes = common;
  }
  for (const SharedVariable& variable : program.shared) {
    if (variable.function == kNoSlot) continue;
    const std::uint32_t kernel = program.functions[variable.function].kernel;
    if (kernel == kNoSlot) continue;
    std::uint64_t& end = program.kernels[kernel].static_shared_bytes;
    end = place(end, variable);
  }
}

}  // namespace upskill::ptx
