// SPDX-License-Identifier: Apache-2.0
// Stands in for the part of PyTorch that bindings of kernels use, for kernel-builder's registration.h and for CUDA's
// headers: operators are registered, their schemas compared with the types of their functions, and called by a test.
#pragma once

#include <stdint.h>

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

typedef struct CUstream_st* cudaStream_t;
struct __half {};
struct __nv_bfloat16 {};
typedef __half half;
typedef __nv_bfloat16 nv_bfloat16;

namespace c10 {
struct Half : __half {};
struct BFloat16 : __nv_bfloat16 {};
enum class ScalarType { Byte, Char, Int, Long, Half, Float, Double, BFloat16 };
enum class DispatchKey { CPU, CUDA };
enum class DeviceType { CPU, CUDA };
struct Device {
  DeviceType kind;
  bool is_cuda() const { return kind == DeviceType::CUDA; }
  bool is_cpu() const { return !is_cuda(); }
  DeviceType type() const { return kind; }
  int index() const { return 0; }
  bool operator==(const Device& other) const { return kind == other.kind; }
  bool operator!=(const Device& other) const { return kind != other.kind; }
};
using Sizes = std::vector<int64_t>;

class Tensor {
 public:
  Tensor() = default;
  // Each tensor made in this way has data of its own, which nothing reads.
  Tensor(ScalarType type, Sizes sizes) : data_(NewData()), type_(type), sizes_(sizes) {}
  void* data_ptr() const { return data_; }
  template <class T>
  T* data_ptr() const {
    return static_cast<T*>(data_);
  }
  template <class T>
  T* mutable_data_ptr() const {
    return static_cast<T*>(data_);
  }
  template <class T>
  const T* const_data_ptr() const {
    return static_cast<const T*>(data_);
  }
  void* mutable_data_ptr() const { return data_; }
  const void* const_data_ptr() const { return data_; }
  int64_t dim() const { return int64_t(sizes_.size()); }
  int64_t ndimension() const { return dim(); }
  int64_t size(int64_t i) const { return sizes_.at(size_t(i < 0 ? i + dim() : i)); }
  const Sizes& sizes() const { return sizes_; }
  int64_t stride(int64_t i) const {
    int64_t step = contiguous_ ? 1 : 2;
    for (int64_t k = (i < 0 ? i + dim() : i) + 1; k < dim(); ++k) step *= size(k);
    return step;
  }
  int64_t numel() const {
    int64_t count = 1;
    for (const int64_t size : sizes_) count *= size;
    return count;
  }
  ScalarType scalar_type() const { return type_; }
  ScalarType dtype() const { return type_; }
  Device device() const { return {cuda_ ? DeviceType::CUDA : DeviceType::CPU}; }
  bool is_cuda() const { return cuda_; }
  bool is_cpu() const { return !cuda_; }
  bool is_contiguous() const { return contiguous_; }
  bool defined() const { return true; }
  int get_device() const { return 0; }
  Tensor OnCpu() const {
    Tensor other = *this;
    other.cuda_ = false;
    return other;
  }
  Tensor Strided() const {
    Tensor other = *this;
    other.contiguous_ = false;
    return other;
  }

 private:
  static void* NewData() {
    static char memory[64];
    static int used = 0;
    return memory + used++;
  }

  void* data_ = nullptr;
  ScalarType type_ = ScalarType::Float;
  Sizes sizes_;
  bool cuda_ = true, contiguous_ = true;
};

inline Device device_of(const Tensor& tensor) { return tensor.device(); }
[[noreturn]] inline void Refuse(const char* condition) { throw std::runtime_error(condition); }
}  // namespace c10

#define TORCH_CHECK(condition, ...)            \
  do {                                         \
    if (!(condition)) c10::Refuse(#condition); \
  } while (false)
#define TORCH_CHECK_EQ(a, b) TORCH_CHECK((a) == (b))
#define C10_CUDA_KERNEL_LAUNCH_CHECK() ((void)0)
#define C10_CUDA_CHECK(call) ((void)(call))
#define AT_CUDA_CHECK(call) ((void)(call))

inline CUstream_st* const kCurrentStream = reinterpret_cast<CUstream_st*>(64);

namespace c10::cuda {
struct CUDAStream {
  operator cudaStream_t() const { return kCurrentStream; }
  cudaStream_t stream() const { return kCurrentStream; }
};
inline CUDAStream getCurrentCUDAStream(int = -1) { return {}; }
struct CUDAGuard {
  explicit CUDAGuard(Device) {}
  explicit CUDAGuard(int) {}
};
struct OptionalCUDAGuard {
  explicit OptionalCUDAGuard(Device) {}
};
}  // namespace c10::cuda

namespace at {
using c10::BFloat16, c10::Device, c10::device_of, c10::Half, c10::ScalarType, c10::Tensor, c10::DeviceType;
constexpr auto kFloat = ScalarType::Float, kHalf = ScalarType::Half, kBFloat16 = ScalarType::BFloat16;
constexpr auto kChar = ScalarType::Char, kInt = ScalarType::Int, kLong = ScalarType::Long;
constexpr auto kFloat32 = kFloat, kFloat16 = kHalf, kInt8 = kChar, kInt32 = kInt, kInt64 = kLong;
namespace cuda {
using namespace c10::cuda;
}
}  // namespace at

namespace torch {
using namespace at;
constexpr auto kCUDA = c10::DispatchKey::CUDA;
constexpr auto kCPU = c10::DispatchKey::CPU;

struct Argument {  // of a call
  Tensor tensor;
  double number = 0;
  Argument(const Tensor& t) : tensor(t) {}
  Argument(double n) : number(n) {}
};

template <class T>
struct Kind;  // other types of parameters than these don't compile, as in PyTorch
template <>
struct Kind<Tensor> {
  static constexpr const char* kName = "Tensor ";
  static Tensor& Get(Argument& argument) { return argument.tensor; }
};
template <>
struct Kind<double> {
  static constexpr const char* kName = "float ";
  static double Get(Argument& argument) { return argument.number; }
};
template <>
struct Kind<int64_t> {
  static constexpr const char* kName = "int ";
  static int64_t Get(Argument& argument) { return int64_t(argument.number); }
};
template <>
struct Kind<bool> {
  static constexpr const char* kName = "bool ";
  static bool Get(Argument& argument) { return argument.number != 0; }
};

struct Operator {
  std::string schema, types;
  void (*call)(void* function, std::vector<Argument>& arguments) = nullptr;
  void* function = nullptr;
};

struct Library {
  std::vector<Operator> operators;

  static std::string NameOf(const std::string& schema) { return schema.substr(0, schema.find('(')); }
  void def(const char* schema) { operators.push_back({schema, "", nullptr, nullptr}); }
  template <class... Parameters>
  void impl(const char* name, c10::DispatchKey key, void (*function)(Parameters...)) {
    if (key != kCUDA) return;
    for (Operator& op : operators) {
      if (NameOf(op.schema) != name) continue;
      op.types = (std::string() + ... + Kind<std::decay_t<Parameters>>::kName);
      op.function = reinterpret_cast<void*>(function);
      op.call = [](void* called, std::vector<Argument>& arguments) {
        if (arguments.size() != sizeof...(Parameters)) throw std::runtime_error("wrong number of arguments");
        Apply(reinterpret_cast<void (*)(Parameters...)>(called), arguments, std::index_sequence_for<Parameters...>());
      };
      return;
    }
    throw std::runtime_error(std::string("impl without def: ") + name);
  }

 private:
  template <class... Parameters, size_t... kPositions>
  static void Apply(void (*function)(Parameters...), std::vector<Argument>& arguments,
                    std::index_sequence<kPositions...>) {
    function(Kind<std::decay_t<Parameters>>::Get(arguments[kPositions])...);
  }
};

inline Library& Registered() {
  static Library library;
  return library;
}
inline int& Registrations() {
  static int count = 0;
  return count;
}
}  // namespace torch

#define TORCH_LIBRARY_EXPAND(name, variable)                                               \
  static void RegisterOperators(torch::Library& variable);                                 \
  static const bool operators_registered = (RegisterOperators(torch::Registered()), true); \
  static void RegisterOperators(torch::Library& variable)
#define REGISTER_EXTENSION(name) static const int extension_registered = ++torch::Registrations();
#define TORCH_EXTENSION_NAME _kernel_of_this_build
