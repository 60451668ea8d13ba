// SPDX-License-Identifier: Apache-2.0
#include "kernel/op_registration.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

namespace upskill {
namespace {

constexpr std::array<std::string_view, 6> kTorchLibraries = {
    "TORCH_LIBRARY",        "TORCH_LIBRARY_FRAGMENT",    "TORCH_LIBRARY_IMPL",
    "TORCH_LIBRARY_EXPAND", "TORCH_LIBRARY_IMPL_EXPAND", "TORCH_LIBRARY_FRAGMENT_EXPAND"};
// Wrappers that leave the signature as it is.
constexpr std::array<std::string_view, 4> kPlainWrappers = {"TORCH_FN", "TORCH_BOX", "makeFromUnboxedFunction",
                                                            "CppFunction"};

constexpr std::size_t kMostArgumentTokens = 64;  // that are looked at

class RegistrationFinder {
 public:
  explicit RegistrationFinder(const CppText& code) : code_(code) {}

  OpRegistrations Find() && {
    FindVariables();
    for (std::size_t i = 0; i + 3 < code_.tokens.size(); ++i) {
      if (!code_.IsName(i) || !code_.Is(i + 1, ".") || !code_.Is(i + 3, "(")) continue;
      const auto variable = variables_.find(code_.tokens[i].text);
      if (variable == variables_.end() || code_.partner[i + 3] == i + 3) continue;
      if (code_.Is(i + 2, "def")) AddDefinition(i);
      if (code_.Is(i + 2, "impl")) AddImplementation(i, DeviceAt(i));
    }
    return std::move(found_);
  }

 private:
  // The variables' names, and the blocks of *_IMPL* macros with their devices.
  void FindVariables() {
    for (std::size_t i = 0; i < code_.tokens.size(); ++i) {
      if (!code_.IsName(i) || code_.tokens[i].in_define || !IsTorchLibrary(code_.tokens[i].text) ||
          !code_.Is(i + 1, "("))
        continue;
      const std::size_t close = code_.partner[i + 1];
      if (close <= i + 2 || !code_.IsName(close - 1)) continue;
      variables_.insert(code_.tokens[close - 1].text);
      const bool for_device = code_.tokens[i].text.find("_IMPL") != std::string_view::npos;
      if (for_device && close >= 4 && code_.IsName(close - 3) && code_.Is(close + 1, "{"))
        blocks_[close + 1] = code_.tokens[close - 3].text;
    }
  }

  std::string DeviceAt(std::size_t token) const {
    auto block = blocks_.upper_bound(token);
    if (block == blocks_.begin()) return "";
    --block;
    return code_.partner[block->first] > token ? std::string(block->second) : "";
  }

  // The ends of the arguments of the call whose bracket is at `open`: the token behind each.
  std::vector<std::size_t> ArgumentEnds(std::size_t open) const {
    constexpr std::size_t kMostArguments = 6;
    std::vector<std::size_t> ends;
    const std::size_t close = code_.partner[open];
    for (std::size_t i = open + 1; i < close && ends.size() < kMostArguments; ++i) {
      if (code_.partner[i] > i && code_.partner[i] < close) {
        i = code_.partner[i];
      } else if (code_.Is(i, ",")) {
        ends.push_back(i);
      }
    }
    ends.push_back(close);
    return ends;
  }

  // The string that the argument consists of, or that it passes to a function: torch::schema("…").
  std::string StringIn(std::size_t begin, std::size_t end) const {
    end = std::min(end, begin + kMostArgumentTokens);
    for (std::size_t i = begin; i < end; ++i) {
      if (code_.tokens[i].kind != CppToken::Kind::kString) continue;
      if (code_.tokens[begin].in_define && (i != begin || !IsOnlyStrings(i, end))) return "";
      return TakeStrings(code_, i);
    }
    return "";
  }

  bool IsOnlyStrings(std::size_t begin, std::size_t end) const {
    for (std::size_t i = begin; i < end; ++i) {
      if (code_.tokens[i].kind != CppToken::Kind::kString) return false;
    }
    return true;
  }

  OpFunction FunctionIn(std::size_t begin, std::size_t end) const {
    end = std::min(end, begin + kMostArgumentTokens);
    OpFunction function;
    for (std::size_t i = begin; i < end; ++i) {
      if (code_.Is(i, "[")) return {};  // a lambda
      if (!code_.IsName(i) || code_.Is(i + 1, "::")) continue;
      if (i + 1 >= end || code_.Is(i + 1, ")") || code_.Is(i + 1, ",")) {
        function.name = std::string(code_.tokens[i].text);
        return function;
      }
      if (code_.Is(i + 1, "<") || !code_.Is(i + 1, "(")) return {};  // a cast, or an instance of a template
      const bool plain =
          std::find(kPlainWrappers.begin(), kPlainWrappers.end(), code_.tokens[i].text) != kPlainWrappers.end();
      function.is_wrapped = function.is_wrapped || !plain;
    }
    return {};
  }

  void AddDefinition(std::size_t at) {
    const std::vector<std::size_t> ends = ArgumentEnds(at + 3);
    OpDefinition definition;
    definition.schema = StringIn(at + 4, ends.front());
    definition.token = at + 2;
    definition.branch = code_.tokens[at].branch;
    if (ends.size() > 1 && ends[1] > ends[0] + 1 && code_.tokens[ends[0] + 1].kind != CppToken::Kind::kString &&
        !code_.Is(ends[0] + 1, "{"))
      definition.function = FunctionIn(ends[0] + 1, ends[1]);
    found_.definitions.push_back(std::move(definition));
  }

  void AddImplementation(std::size_t at, std::string device) {
    const std::vector<std::size_t> ends = ArgumentEnds(at + 3);
    if (ends.size() < 2) return;
    OpImplementation one;
    one.name = StringIn(at + 4, ends.front());
    one.token = at + 2;
    one.branch = code_.tokens[at].branch;
    one.device = std::move(device);
    if (ends.size() > 2) one.device = DeviceIn(ends[0] + 1, ends[1]);
    one.function = FunctionIn(ends[ends.size() - 2] + 1, ends.back());
    found_.implementations.push_back(std::move(one));
  }

  // torch::kCUDA, c10::DispatchKey::CUDA, at::kCUDA → CUDA.
  std::string DeviceIn(std::size_t begin, std::size_t end) const {
    if (end <= begin || !code_.IsName(end - 1)) return "";
    std::string_view name = code_.tokens[end - 1].text;
    if (name.size() > 1 && name[0] == 'k' && name[1] >= 'A' && name[1] <= 'Z') name.remove_prefix(1);
    return std::string(name);
  }

  const CppText& code_;
  std::set<std::string_view> variables_;
  std::map<std::size_t, std::string_view> blocks_;
  OpRegistrations found_;
};

}  // namespace

bool IsTorchLibrary(std::string_view macro) {
  if (macro.starts_with("STABLE_")) macro.remove_prefix(7);
  return std::find(kTorchLibraries.begin(), kTorchLibraries.end(), macro) != kTorchLibraries.end();
}

OpRegistrations FindRegistrations(const CppText& code) { return RegistrationFinder(code).Find(); }

}  // namespace upskill
