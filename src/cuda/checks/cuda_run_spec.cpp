// SPDX-License-Identifier: Apache-2.0
#include "cuda/checks/cuda_run_spec.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <string_view>

#include "check/text_checks.h"
#include "util/json.h"
#include "util/list.h"
#include "util/text.h"

namespace upskill {
namespace {

constexpr std::size_t kMaxArguments = 32;
constexpr std::size_t kMaxSizes = 32;
constexpr std::size_t kMaxCode = std::size_t{256} << 10U;
constexpr double kMaxElements = 16.0 * 1024 * 1024;
constexpr std::array<std::string_view, 7> kPrecisions = {"f64", "f32", "f16", "bf16", "tf32", "fp8", "int8"};
constexpr std::array<std::string_view, 13> kFindingNames = {
    "out-of-bounds", "misaligned",        "read-only-write", "uninitialised",       "race",
    "async-read",    "divergent-barrier", "deadlock",        "bad-synchronisation", "trap",
    "unsupported",   "launch-error",      "call-error"};

Error Wrong(std::string_view key, std::string_view must) {
  return InputError(fmt::format("\"{}\" of cuda_run must {}", key, must));
}

Result<std::string> ReadCode(const CheckSpec& spec, const char* key) {
  const Json* const code = FindMember(spec.options, key);
  if (code == nullptr) return std::string();
  if (!code->is_string() || code->get_ref<const std::string&>().size() > kMaxCode)
    return Wrong(key, "be code in a string, at most 256 KiB long");
  return code->get<std::string>();
}

// A number or an expression of sizes, as text.
std::string ExpressionText(const Json& json) {
  if (json.is_string()) return json.get<std::string>();
  return json.is_number() ? DumpJson(json) : "";
}

Result<FillRule> ReadFill(const Json& json) {
  FillRule fill;
  const std::string kind = json.is_object() ? StringAt(json, "kind") : json.is_string() ? json.get<std::string>() : "";
  if (kind == "normal") {
    fill.kind = FillRule::Kind::kNormal;
    fill.low = 0.0;
  } else if (kind == "uniform" || kind == "integers") {
    fill.kind = kind == "uniform" ? FillRule::Kind::kUniform : FillRule::Kind::kIntegers;
  } else if (kind == "zeros" || kind == "ones") {
    fill.kind = FillRule::Kind::kConstant;
    fill.low = kind == "ones" ? 1.0 : 0.0;
    return fill;
  } else {
    return Wrong("fill",
                 "be \"normal\", \"uniform\", \"integers\", \"zeros\" or \"ones\", or an object with such a \"kind\"");
  }
  // Of a normal distribution: the mean and the deviation.
  fill.low = JsonGet<double>(json, kind == "normal" ? "mean" : "low", fill.low);
  fill.high = JsonGet<double>(json, kind == "normal" ? "deviation" : "high",
                              fill.kind == FillRule::Kind::kIntegers ? 100.0 : 1.0);
  if (fill.kind == FillRule::Kind::kIntegers) fill.low = JsonGet<double>(json, "low", 0.0);
  if (Member(json, "high").is_string()) fill.high_expression = StringAt(json, "high");
  fill.infinite_every = JsonGet<double>(json, "infinite_every", 0.0);
  return fill;
}

Status ReadBuffer(const Json& json, RunArgument& argument) {
  const std::string role = JsonGet<std::string>(json, "role", "in");
  if (role != "in" && role != "out" && role != "inout") return Wrong("role", "be \"in\", \"out\" or \"inout\"");
  argument.role = role == "in" ? ArgumentRole::kIn : (role == "out" ? ArgumentRole::kOut : ArgumentRole::kInOut);
  // An empty list is the shape of one element, as of a loss.
  const Json& shape = Member(json, "shape");
  for (const Json& dimension : shape) argument.shape.push_back(ExpressionText(dimension));
  if (!shape.is_array() || IsOneOf(std::string(), argument.shape))
    return Wrong("shape", "be a list of numbers and names of sizes: [\"rows\", \"cols\"]");
  if (const Json* const fill = FindMember(json, "fill"); fill != nullptr) {
    ASSIGN_OR_RETURN(argument.fill, ReadFill(*fill));
  } else if (!InfoOf(argument.type).is_real) {
    argument.fill = {FillRule::Kind::kIntegers, 0.0, 100.0, "", 0.0};
  } else {
    argument.fill.low = 0.0;
  }
  const Json& tolerance = Member(json, "tolerance");
  if (tolerance.is_number()) argument.tolerance = tolerance.get<double>();
  return {};
}

Result<RunArgument> ReadArgument(const Json& json) {
  RunArgument argument;
  argument.name = StringAt(json, "name");
  if (argument.name.empty()) return Wrong("arguments", "be objects with a \"name\"");
  const std::string type = StringAt(json, "type");
  if (type == "stream") {
    argument.is_stream = true;
    argument.role = ArgumentRole::kScalar;
    return argument;
  }
  const ElementTypeInfo* const info = FindElementType(type);
  if (info == nullptr)
    return Wrong("type", "be f64, f32, f16, bf16, i8, u8, i16, i32, u32, i64, u64 or stream, not " + Quoted(type));
  argument.type = info->type;
  if (const Json* const value = FindMember(json, "value"); value != nullptr) {
    argument.role = ArgumentRole::kScalar;
    argument.value = ExpressionText(*value);
    if (argument.value.empty()) return Wrong("value", "be a number or an expression of sizes");
    return argument;
  }
  RETURN_IF_ERROR(ReadBuffer(json, argument));
  return argument;
}

Status ReadSizes(const CheckSpec& spec, CudaRunSpec& run) {
  for (const Json& each : Member(spec.options, "sizes")) {
    Sizes sizes;
    if (!each.is_object()) return Wrong("sizes", "be a list of objects {name: number}");
    for (const auto& [name, value] : each.items()) {
      if (!value.is_number()) return Wrong("sizes", "be a list of objects {name: number}");
      sizes[name] = value.get<double>();
    }
    run.sizes.push_back(std::move(sizes));
  }
  if (run.sizes.empty()) run.sizes.emplace_back();
  if (run.sizes.size() > kMaxSizes) return Wrong("sizes", fmt::format("have at most {} entries", kMaxSizes));
  return {};
}

template <typename T>
Status ReadNumber(const CheckSpec& spec, const char* key, double low, double high, T& number) {
  const Json* const value = FindMember(spec.options, key);
  if (value == nullptr) return {};
  if (!value->is_number() || value->get<double>() < low || value->get<double>() > high)
    return Wrong(key, fmt::format("be a number from {:g} to {:g}", low, high));
  number = static_cast<T>(value->get<double>());
  return {};
}

template <typename T>
Status ReadNumber(const CheckSpec& spec, const char* key, double low, double high, std::optional<T>& number) {
  if (FindMember(spec.options, key) == nullptr) return {};
  T value{};
  RETURN_IF_ERROR(ReadNumber(spec, key, low, high, value));
  number = value;
  return {};
}

Status ReadConditions(const CheckSpec& spec, CudaRunSpec& run) {
  RETURN_IF_ERROR(ReadNumber(spec, "seeds", 1, 16, run.seeds));
  RETURN_IF_ERROR(ReadNumber(spec, "repetitions", 1, 8, run.repetitions));
  RETURN_IF_ERROR(ReadNumber(spec, "tolerance", 0, 1, run.tolerance));
  RETURN_IF_ERROR(ReadNumber(spec, "max_bytes_to_host", 0, 1e12, run.max_bytes_to_host));
  RETURN_IF_ERROR(ReadNumber(spec, "bank_conflicts", 0, 1e15, run.bank_conflicts));
  RETURN_IF_ERROR(ReadNumber(spec, "min_coalescing", 0, 1, run.min_coalescing));
  RETURN_IF_ERROR(ReadNumber(spec, "max_divergence", 0, 1, run.max_divergence));
  double seconds = static_cast<double>(run.time.count()) / 1000.0;
  RETURN_IF_ERROR(ReadNumber(spec, "timeout_seconds", 1, 3600, seconds));
  run.time = std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000.0));
  if (const Json* const value = FindMember(spec.options, "deterministic"); value != nullptr) {
    if (!value->is_boolean()) return Wrong("deterministic", "be true or false");
    run.deterministic = value->get<bool>();
  }
  if (const Json* const value = FindMember(spec.options, "precision"); value != nullptr) {
    run.precision = value->is_string() ? value->get<std::string>() : "";
    if (!IsOneOf(run.precision, kPrecisions)) return Wrong("precision", "be f64, f32, f16, bf16, tf32, fp8 or int8");
  }
  for (const Json& kind : Member(spec.options, "allow")) {
    run.allow.push_back(kind.is_string() ? kind.get<std::string>() : "");
    if (!IsOneOf(run.allow.back(), kFindingNames))
      return Wrong("allow", fmt::format("be a list of kinds of findings: {}", fmt::join(kFindingNames, ", ")));
  }
  return {};
}

Status ReadInitInputs(const CheckSpec& spec, CudaRunSpec& run) {
  const Json* const list = FindMember(spec.options, "init_inputs");
  if (list == nullptr) return {};
  if (!run.function.empty() || !run.launcher.empty() || !run.stdout_pattern.empty())
    return InputError("cuda_run with \"init_inputs\" has no \"function\", \"launcher\" or \"stdout\"");
  if (!list->is_array()) return Wrong("init_inputs", "be a list of numbers and expressions of sizes");
  run.init_inputs = *list;
  return {};
}

// Of the function that calls ModelNew.
Result<std::string> DeclarationFor(const std::vector<RunArgument>& arguments) {
  std::string types;
  for (const RunArgument& argument : arguments) {
    const bool is_scalar = argument.role == ArgumentRole::kScalar;
    if (argument.is_stream || argument.type == ElementType::kU32 || argument.type == ElementType::kU64)
      return Wrong("arguments", "have types of PyTorch's tensors where it has \"init_inputs\"");
    types += fmt::format("{}{} a{}", types.empty() ? "" : ", ",
                         !is_scalar ? "void*" : (InfoOf(argument.type).is_real ? "double" : "long long"),
                         &argument - arguments.data());
  }
  return fmt::format("void ModelNew({})", types);
}

// Everything that is stated can be made, for all sizes.
Status TryOut(const CudaRunSpec& run) {
  double bytes = 0.0;
  for (const Sizes& sizes : run.sizes) {
    if (run.init_inputs) RETURN_IF_ERROR(EvaluateInput(*run.init_inputs, sizes));
    for (const RunArgument& argument : run.arguments) {
      if (!argument.value.empty()) RETURN_IF_ERROR(EvaluateSize(argument.value, sizes));
      if (!argument.fill.high_expression.empty()) RETURN_IF_ERROR(EvaluateSize(argument.fill.high_expression, sizes));
      if (argument.role == ArgumentRole::kScalar) continue;
      ASSIGN_OR_RETURN(const std::size_t count, ElementCount(argument, sizes));
      bytes += static_cast<double>(count * InfoOf(argument.type).bytes);
    }
  }
  constexpr double kMaxBytes = 128.0 * 1024 * 1024;
  if (bytes * run.seeds * run.repetitions > kMaxBytes)
    return InputError("the buffers of cuda_run take more than 128 MiB in all calls together");
  return {};
}

}  // namespace

Result<CudaRunSpec> ReadCudaRunSpec(const CheckSpec& spec) {
  CudaRunSpec run;
  ASSIGN_OR_RETURN(run.function, ReadCode(spec, "function"));
  ASSIGN_OR_RETURN(run.launcher, ReadCode(spec, "launcher"));
  ASSIGN_OR_RETURN(run.reference, ReadCode(spec, "reference_code"));
  ASSIGN_OR_RETURN(run.model, ReadCode(spec, "reference_model"));
  ASSIGN_OR_RETURN(run.stdout_pattern, ReadCode(spec, "stdout"));
  RETURN_IF_ERROR(ReadConditions(spec, run));
  RETURN_IF_ERROR(ReadSizes(spec, run));
  RETURN_IF_ERROR(ReadInitInputs(spec, run));
  if (run.function.empty() && !run.init_inputs) {
    if (!Member(spec.options, "arguments").is_null() || !run.reference.empty() || !run.model.empty())
      return InputError("cuda_run has \"arguments\" or \"reference_code\", but no \"function\" that takes them");
    return run;
  }
  if (!run.init_inputs && DeclaredName(run.function).empty())
    return Wrong("function", "be a declaration in C++ such as \"void launch(const float* in, float* out, int n)\"");
  const Json& arguments = Member(spec.options, "arguments");
  if (!arguments.is_array() || arguments.empty() || arguments.size() > kMaxArguments)
    return Wrong("arguments", fmt::format("be a list of the function's arguments, at most {}", kMaxArguments));
  int written = 0;
  bool reads_and_writes = false;
  for (const Json& json : arguments) {
    ASSIGN_OR_RETURN(RunArgument argument, ReadArgument(json));
    if (argument.role == ArgumentRole::kOut || argument.role == ArgumentRole::kInOut) ++written;
    reads_and_writes = reads_and_writes || argument.role == ArgumentRole::kInOut;
    run.arguments.push_back(std::move(argument));
  }
  if (run.init_inputs) {
    ASSIGN_OR_RETURN(run.function, DeclarationFor(run.arguments));
  }
  if (written == 0) return Wrong("arguments", "have a buffer of the role \"out\" or \"inout\"");
  if (!run.model.empty() && (written > 1 || reads_and_writes))
    return Wrong("arguments", "have one buffer of the role \"out\" where it has \"reference_model\"");
  const bool has_model = !run.model.empty();
  if (run.reference.empty() != has_model || (has_model && !run.init_inputs))
    return InputError("cuda_run needs \"reference_code\", or with \"init_inputs\" \"reference_model\" in place of it");
  RETURN_IF_ERROR(TryOut(run));
  return run;
}

std::string DeclaredName(const std::string& declaration) {
  const std::size_t open = declaration.find('(');
  const std::size_t close = declaration.rfind(')');
  // Only a semicolon may follow.
  if (open == std::string::npos || close == std::string::npos || declaration.find_first_of("{}#;") < close ||
      declaration.find_first_not_of(" ;\t\r\n", close + 1) != std::string::npos)
    return "";
  const auto is_name = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == ':'; };
  std::size_t end = open;
  while (end > 0 && declaration[end - 1] == ' ') --end;
  std::size_t begin = end;
  while (begin > 0 && is_name(declaration[begin - 1])) --begin;
  return begin == 0 ? "" : declaration.substr(begin, end - begin);
}

Result<double> EvaluateSize(const std::string& expression, const Sizes& sizes) {
  const auto wrong = [&](std::string_view why) {
    return InputError(fmt::format("cuda_run: {} in {}", why, Quoted(expression)));
  };
  double value = 0.0;
  char operation = '+';
  std::size_t at = 0;
  // A sign belongs to the number that a constant begins with.
  while (at < expression.size()) {
    const std::size_t from = expression.find_first_not_of(' ', at);
    if (from == std::string::npos) return wrong("something is missing");
    std::size_t end = expression.find_first_of("*+-/", from + 1);
    // 1e-5 is one number.
    if (end != std::string::npos && end > from && (expression[end - 1] == 'e' || expression[end - 1] == 'E') &&
        std::isdigit(static_cast<unsigned char>(expression[from])) != 0)
      end = expression.find_first_of("*+-/", end + 1);
    const std::string word(Trim(std::string_view(expression).substr(from, end - from)));
    double operand = 0.0;
    if (const auto size = sizes.find(word); size != sizes.end()) {
      operand = size->second;
    } else {
      char* stop = nullptr;
      operand = std::strtod(word.c_str(), &stop);
      if (word.empty() || *stop != '\0') return wrong(fmt::format("no size is called {}", Quoted(word)));
    }
    if (operation == '/' && operand == 0.0) return wrong("a division by zero");
    value = operation == '+'   ? value + operand
            : operation == '-' ? value - operand
            : operation == '*' ? value * operand
                               : std::ceil(value / operand);
    if (end == std::string::npos) return value;
    operation = expression[end];
    at = end + 1;
  }
  return wrong("something is missing");
}

Json SizeAsJson(double value) {
  const auto whole = static_cast<std::int64_t>(value);
  return static_cast<double>(whole) == value ? Json(whole) : Json(value);
}

Result<Json> EvaluateInput(const Json& input, const Sizes& sizes) {
  if (input.is_object()) return Wrong("init_inputs", "be a list of numbers and expressions of sizes");
  if (input.is_string()) {
    ASSIGN_OR_RETURN(const double value, EvaluateSize(input.get<std::string>(), sizes));
    return SizeAsJson(value);
  }
  if (!input.is_array()) return input;
  Json list = Json::array();
  for (const Json& each : input) {
    ASSIGN_OR_RETURN(Json evaluated, EvaluateInput(each, sizes));
    list.push_back(std::move(evaluated));
  }
  return list;
}

Result<std::size_t> ElementCount(const RunArgument& argument, const Sizes& sizes) {
  double count = 1.0;
  for (const std::string& dimension : argument.shape) {
    ASSIGN_OR_RETURN(const double size, EvaluateSize(dimension, sizes));
    if (!(size >= 0.0) || size > kMaxElements || size != std::floor(size))
      return InputError(fmt::format("cuda_run: the shape of {} has no dimension of {:g}", Quoted(argument.name), size));
    count *= size;
  }
  if (count > kMaxElements)
    return InputError(fmt::format("cuda_run: {} has more than 16,777,216 elements", Quoted(argument.name)));
  return static_cast<std::size_t>(count);
}

std::string SizesText(const Sizes& sizes) {
  std::string text;
  for (const auto& [name, value] : sizes) text += fmt::format("{}{}={:g}", text.empty() ? "" : ", ", name, value);
  return text;
}

}  // namespace upskill
