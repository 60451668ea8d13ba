// SPDX-License-Identifier: Apache-2.0
#include "cuda/checks/cuda_run_trials.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numbers>
#include <utility>

#include "util/rng.h"

namespace upskill {
namespace {

double NextNormal(Rng& random) {
  const double size = std::sqrt(-2.0 * std::log(1.0 - random.Uniform()));
  return size * std::cos(2.0 * std::numbers::pi * random.Uniform());
}

// Makes the elements of a buffer, one by one.
class ElementMaker {
 public:
  static Result<ElementMaker> Make(const RunArgument& argument, const Sizes& sizes) {
    ElementMaker maker(argument);
    const FillRule& fill = argument.fill;
    maker.high_ = fill.high;
    if (!fill.high_expression.empty()) {
      ASSIGN_OR_RETURN(maker.high_, EvaluateSize(fill.high_expression, sizes));
    }
    // A size of this name multiplies the inputs, to try other magnitudes.
    const auto scale = sizes.find("scale");
    if (scale != sizes.end() && InfoOf(argument.type).is_real) maker.factor_ = scale->second;
    return maker;
  }

  void Append(std::size_t index, Rng& random, std::string& data) const {
    const FillRule& fill = argument_->fill;
    double value = fill.low;
    if (fill.kind == FillRule::Kind::kUniform) value = fill.low + (high_ - fill.low) * random.Uniform();
    if (fill.kind == FillRule::Kind::kNormal) value = fill.low + high_ * NextNormal(random);
    if (fill.kind == FillRule::Kind::kIntegers) value = std::floor(fill.low + (high_ - fill.low) * random.Uniform());
    value *= factor_;
    const auto every = static_cast<std::size_t>(fill.infinite_every);
    const bool infinite = every > 0 && index % every == every - 1 && InfoOf(argument_->type).is_real;
    AppendElement(argument_->type, infinite ? -std::numeric_limits<double>::infinity() : value, data);
  }

 private:
  explicit ElementMaker(const RunArgument& argument) : argument_(&argument) {}

  const RunArgument* argument_;
  double high_ = 0.0;
  double factor_ = 1.0;
};

Result<DeviceArgument> MakeArgument(const RunArgument& argument, const Sizes& sizes, Rng& random) {
  DeviceArgument made;
  made.role = argument.role;
  if (argument.is_stream) return made;
  const ElementTypeInfo& info = InfoOf(argument.type);
  if (argument.role == ArgumentRole::kScalar) {
    ASSIGN_OR_RETURN(const double value, EvaluateSize(argument.value, sizes));
    if (info.is_real) {
      std::memcpy(&made.bits, &value, sizeof(value));
    } else {
      made.bits = static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
    }
    return made;
  }
  ASSIGN_OR_RETURN(const std::size_t count, ElementCount(argument, sizes));
  made.bytes = count * info.bytes;
  if (argument.role != ArgumentRole::kOut) {
    ASSIGN_OR_RETURN(const ElementMaker maker, ElementMaker::Make(argument, sizes));
    for (std::size_t i = 0; i < count; ++i) maker.Append(i, random, made.data);
  }
  return made;
}

// Gives some elements other values, so that a result that is kept from an earlier call is wrong, even if the answer
// recognises inputs by some of their elements.
Status ChangeSome(const RunArgument& argument, const Sizes& sizes, Rng& random, std::string& data) {
  const std::size_t size = InfoOf(argument.type).bytes;
  const std::size_t count = data.size() / size;
  if (count == 0) return {};
  ASSIGN_OR_RETURN(const ElementMaker maker, ElementMaker::Make(argument, sizes));
  for (std::size_t changed = 0; changed < 1 + count / 64; ++changed) {
    const std::size_t at = random.Next() % count;
    std::string element;
    maker.Append(at, random, element);
    data.replace(at * size, size, element);
  }
  return {};
}

std::string Converted(std::string_view data, ElementType from, ElementType to) {
  if (from == to) return std::string(data);
  std::string converted;
  const std::size_t count = data.size() / InfoOf(from).bytes;
  for (std::size_t i = 0; i < count; ++i) AppendElement(to, ElementAt(from, data, i), converted);
  return converted;
}

void AppendNumber(std::uint64_t number, std::string& bytes) {
  bytes.append(reinterpret_cast<const char*>(&number), sizeof(number));
}

std::size_t ReferenceBytes(const RunArgument& argument, const DeviceArgument& made) {
  return made.bytes / InfoOf(argument.type).bytes * InfoOf(ReferenceType(argument.type)).bytes;
}

// With the reference's code, and the code that reads arguments, passes them and writes results.
constexpr const char* kReferenceProgram = R"(#include <unistd.h>
#include <algorithm>
#include <climits>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <numeric>
#include <vector>

{}

static std::FILE* input_of_reference;
static std::uint64_t Number() {{
  std::uint64_t number = 0;
  if (std::fread(&number, sizeof(number), 1, input_of_reference) != 1) std::exit(9);
  return number;
}}
[[maybe_unused]] static double Real() {{
  const std::uint64_t bits = Number();
  double real = 0;
  std::memcpy(&real, &bits, sizeof(real));
  return real;
}}
static std::vector<char> Buffer() {{
  std::vector<char> bytes(Number());
  if (std::fread(bytes.data(), 1, bytes.size(), input_of_reference) != bytes.size()) std::exit(9);
  return bytes;
}}
int main() {{
  // What the reference prints isn't taken for its results.
  std::FILE* const results = fdopen(dup(1), "wb");
  if (dup2(2, 1) != 1 || results == nullptr) return 9;
  input_of_reference = std::fopen("input.bin", "rb");
  if (input_of_reference == nullptr) return 9;
  for (std::uint64_t left = Number(); left > 0; --left) {{
{}    reference({});
{}  }}
  return std::fclose(results) == 0 ? 0 : 9;
}}
)";

}  // namespace

ElementType ReferenceType(ElementType type) {
  return type == ElementType::kF16 || type == ElementType::kBf16 ? ElementType::kF32 : type;
}

int SeedsOf(const CudaRunSpec& spec, bool first_of_sizes) {
  // Only other inputs show whether the host decides by what it reads; repetitions have the same ones.
  return spec.deterministic && first_of_sizes ? std::max(spec.seeds, 2) : spec.seeds;
}

Result<std::vector<RunInputs>> MakeInputs(const CudaRunSpec& spec) {
  std::vector<RunInputs> all;
  for (const Sizes& sizes : spec.sizes) {
    for (int seed = 0, seeds = SeedsOf(spec, all.empty()); seed < seeds; ++seed) {
      RunInputs inputs;
      inputs.sizes = sizes;
      Rng random(SeedFromText(fmt::format("{} {} {}", spec.function, SizesText(sizes), seed)));
      for (const RunArgument& argument : spec.arguments) {
        ASSIGN_OR_RETURN(DeviceArgument made, MakeArgument(argument, sizes, random));
        inputs.arguments.push_back(std::move(made));
      }
      all.push_back(inputs);
      for (int repetition = 1; repetition < spec.repetitions; ++repetition) {
        for (std::size_t i = 0; i < spec.arguments.size() && !spec.deterministic; ++i) {
          RETURN_IF_ERROR(ChangeSome(spec.arguments[i], sizes, random, inputs.arguments[i].data));
        }
        all.push_back(inputs);
      }
    }
  }
  return all;
}

std::vector<DeviceTrial> MakeTrials(const CudaRunSpec& spec, const std::vector<RunInputs>& inputs) {
  const auto repetitions = static_cast<std::size_t>(spec.repetitions);
  std::vector<DeviceTrial> trials;
  for (const RunInputs& each : inputs) {
    const bool same_buffers = !spec.deterministic && trials.size() % repetitions % 2 == 1;
    trials.push_back({each.arguments, SeedFromText(fmt::format("trial {}", trials.size())), same_buffers});
  }
  return trials;
}

std::string ReferenceInput(const CudaRunSpec& spec, const std::vector<RunInputs>& inputs) {
  std::string bytes;
  AppendNumber(inputs.size(), bytes);
  for (const RunInputs& each : inputs) {
    for (std::size_t i = 0; i < spec.arguments.size(); ++i) {
      const RunArgument& argument = spec.arguments[i];
      const DeviceArgument& made = each.arguments[i];
      if (argument.role == ArgumentRole::kScalar) {
        AppendNumber(made.bits, bytes);
        continue;
      }
      AppendNumber(ReferenceBytes(argument, made), bytes);
      const std::string data = Converted(made.data, argument.type, ReferenceType(argument.type));
      bytes += argument.role == ArgumentRole::kOut ? std::string(ReferenceBytes(argument, made), '\0') : data;
    }
  }
  return bytes;
}

Status TakeExpected(const CudaRunSpec& spec, std::string_view printed, std::vector<RunInputs>& inputs) {
  for (RunInputs& each : inputs) {
    each.expected.assign(spec.arguments.size(), "");
    for (std::size_t i = 0; i < spec.arguments.size(); ++i) {
      const RunArgument& argument = spec.arguments[i];
      if (argument.role != ArgumentRole::kOut && argument.role != ArgumentRole::kInOut) continue;
      const std::size_t size = ReferenceBytes(argument, each.arguments[i]);
      if (printed.size() < size) return InputError("the reference of cuda_run printed something else than its results");
      each.expected[i] = printed.substr(0, size);
      printed.remove_prefix(size);
    }
  }
  if (!printed.empty()) return InputError("the reference of cuda_run printed more than its results");
  return {};
}

std::string ReferenceProgram(const CudaRunSpec& spec) {
  std::string reads;
  std::string call;
  std::string writes;
  for (std::size_t i = 0; i < spec.arguments.size(); ++i) {
    const RunArgument& argument = spec.arguments[i];
    if (argument.is_stream) {
      reads += "    Number();\n";
      continue;
    }
    const ElementTypeInfo& info = InfoOf(ReferenceType(argument.type));
    std::string value = fmt::format("reinterpret_cast<{}*>(a{}.data())", info.reference_type, i);
    if (argument.role == ArgumentRole::kScalar) {
      reads += fmt::format("    const auto a{} = {}();\n", i, info.is_real ? "Real" : "Number");
      value = fmt::format("static_cast<{}>(a{})", info.reference_type, i);
    } else {
      reads += fmt::format("    auto a{} = Buffer();\n", i);
    }
    if (argument.role == ArgumentRole::kOut || argument.role == ArgumentRole::kInOut)
      writes += fmt::format("    std::fwrite(a{0}.data(), 1, a{0}.size(), results);\n", i);
    call += (call.empty() ? "" : ", ") + value;
  }
  return fmt::format(fmt::runtime(kReferenceProgram), spec.reference, reads, call, writes);
}

std::string DriverProgram(const CudaRunSpec& spec) {
  std::string call;
  for (std::size_t i = 0; i < spec.arguments.size(); ++i) {
    const RunArgument& argument = spec.arguments[i];
    const bool is_address = argument.is_stream || argument.role != ArgumentRole::kScalar;
    const char* const kind = is_address ? "Address" : (InfoOf(argument.type).is_real ? "Real" : "Number");
    call += fmt::format("{}{}{{values[{}]}}", i == 0 ? "" : ", ", kind, i);
  }
  const std::string semicolon = spec.function.ends_with(';') ? "" : ";";
  return fmt::format(R"(#include <cstdint>
#include <cstring>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

{}{}

extern "C" int upskill_next_trial(std::uint64_t* values, unsigned count);
extern "C" void upskill_end_trial();

namespace {{
struct Address {{
  std::uint64_t bits;
  template <class T>
  operator T*() const {{ return reinterpret_cast<T*>(bits); }}
}};
struct Number {{
  std::uint64_t bits;
  template <class T>
  operator T() const {{ return static_cast<T>(static_cast<std::int64_t>(bits)); }}
}};
struct Real {{
  std::uint64_t bits;
  template <class T>
  operator T() const {{
    double value;
    std::memcpy(&value, &bits, sizeof(value));
    return static_cast<T>(value);
  }}
}};
}}  // namespace

int main() {{
  std::uint64_t values[{}];
  while (upskill_next_trial(values, {}) == 1) {{
    {}({});
    upskill_end_trial();
  }}
  return 0;
}}
)",
                     spec.function, semicolon, spec.arguments.size(), spec.arguments.size(),
                     DeclaredName(spec.function), call);
}

}  // namespace upskill
