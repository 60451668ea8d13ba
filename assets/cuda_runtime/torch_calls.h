// SPDX-License-Identifier: Apache-2.0
// How Python calls the functions of an extension: they are registered by name, and take and return values that Python
// has.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "torch.h"

namespace upskill_torch {

// What Python passes, or gets back.
struct Value {
  std::variant<std::monostate, at::Tensor, bool, std::int64_t, double, std::vector<Value>> held;
};

template <class T>
Value ToPython(const T& result) {
  return {result};
}
template <class T>
Value ToPython(const std::vector<T>& results) {
  std::vector<Value> values;
  for (const T& each : results) values.push_back(ToPython(each));
  return {values};
}
template <class... T>
Value ToPython(const std::tuple<T...>& results) {
  return std::apply([](const auto&... each) { return Value{std::vector<Value>{ToPython(each)...}}; }, results);
}

template <class T>
struct Converter {
  static T From(const Value& value) {
    if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, at::Tensor>) {
      if (const T* const held = std::get_if<T>(&value.held)) return *held;
    } else {
      static_assert(std::is_arithmetic_v<T>, "the stand-in for PyTorch lacks arguments of this type");
      if (const bool* const held = std::get_if<bool>(&value.held)) return static_cast<T>(*held);
      if (const std::int64_t* const held = std::get_if<std::int64_t>(&value.held)) return static_cast<T>(*held);
      if constexpr (std::is_floating_point_v<T>) {
        if (const double* const held = std::get_if<double>(&value.held)) return static_cast<T>(*held);
      }
    }
    at::Refuse("incompatible function arguments");
  }
};
template <class T>
struct Converter<std::optional<T>> {
  static std::optional<T> From(const Value& value) {
    if (std::holds_alternative<std::monostate>(value.held)) return std::nullopt;
    return Converter<T>::From(value);
  }
};
template <class T>
struct Converter<std::vector<T>> {
  static std::vector<T> From(const Value& value) {
    const auto* const items = std::get_if<std::vector<Value>>(&value.held);
    if (items == nullptr) at::Refuse("incompatible function arguments");
    std::vector<T> all;
    for (const Value& item : *items) all.push_back(Converter<T>::From(item));
    return all;
  }
};
template <>
struct Converter<at::IntArrayRef> {
  static at::IntArrayRef From(const Value& value) { return Converter<std::vector<std::int64_t>>::From(value); }
};

using Function = std::function<Value(const std::vector<Value>&)>;

// By the number of the extension (UPSKILL_EXTENSION in its sources), and the name.
inline std::map<std::pair<int, std::string>, Function>& Functions() {
  static std::map<std::pair<int, std::string>, Function> functions;
  return functions;
}

template <class R, class... A, std::size_t... kIndex>
Value Invoke(const std::function<R(A...)>& function, const std::vector<Value>& given, std::index_sequence<kIndex...>) {
  std::tuple<std::decay_t<A>...> arguments{Converter<std::decay_t<A>>::From(given[kIndex])...};
  if constexpr (std::is_void_v<R>) {
    std::apply(function, arguments);
    return {};
  } else {
    return ToPython(std::apply(function, arguments));
  }
}

template <class R, class... A>
Function Wrap(std::function<R(A...)> function) {
  return [function](const std::vector<Value>& given) {
    if (given.size() != sizeof...(A)) at::Refuse("", "it has ", sizeof...(A), " arguments, not ", given.size());
    return Invoke(function, given, std::index_sequence_for<A...>());
  };
}

inline Value Call(int extension, const std::string& name, const std::vector<Value>& arguments) {
  const auto found = Functions().find({extension, name});
  if (found == Functions().end()) at::Refuse("", "the extension has no function ", name);
  try {
    return found->second(arguments);
  } catch (const std::exception& error) {
    at::Refuse("", name, ": ", error.what());
  }
}

inline at::Tensor AsTensor(const Value& value) { return Converter<at::Tensor>::From(value); }
inline Value Item(const Value& value, std::size_t number) {
  const auto* const items = std::get_if<std::vector<Value>>(&value.held);
  if (items == nullptr) at::Refuse("the stand-in for PyTorch lacks tensors that are indexed in Python");
  return items->at(number);
}

// An input, in memory of the check.
inline at::Tensor Given(void* data, at::IntArrayRef sizes, at::ScalarType type) {
  return at::Tensor(std::shared_ptr<void>(data, [](void*) {}), std::move(sizes), type);
}

// Copies a result to where the check expects it.
inline void Return(const Value& value, void* to, const at::IntArrayRef& sizes, at::ScalarType type) {
  const auto* const tensor = std::get_if<at::Tensor>(&value.held);
  if (tensor == nullptr || !tensor->defined()) at::Refuse("forward doesn't return a tensor");
  if (tensor->sizes() != sizes || tensor->scalar_type() != type)
    at::Refuse("", "forward returns a tensor of ", tensor->scalar_type(), " ", tensor->sizes(), ", not ", type, " ",
               sizes);
  at::CheckCuda(cudaMemcpyAsync(to, tensor->data_ptr(), tensor->nbytes(), cudaMemcpyDeviceToDevice, nullptr));
}

}  // namespace upskill_torch

namespace pybind11 {
struct arg {
  explicit arg(const char*) {}
  template <class T>
  arg& operator=(const T&) {
    return *this;
  }
};
struct module_ {
  template <class F, class... More>
  module_& def(const char* name, F function, const More&...) {
    upskill_torch::Functions()[{extension, name}] = upskill_torch::Wrap(std::function(function));
    return *this;
  }
  std::string& doc() { return text; }
  int extension;
  std::string text;
};
using module = module_;
}  // namespace pybind11
namespace py = pybind11;

#define PYBIND11_MODULE(NAME, VARIABLE)                        \
  static void upskill_bind(pybind11::module_& VARIABLE);       \
  static const bool upskill_is_bound = [] {                    \
    pybind11::module_ module_of_answer{UPSKILL_EXTENSION, {}}; \
    upskill_bind(module_of_answer);                            \
    return true;                                               \
  }();                                                         \
  static void upskill_bind([[maybe_unused]] pybind11::module_& VARIABLE)
