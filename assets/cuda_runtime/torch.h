// SPDX-License-Identifier: Apache-2.0
// Stands in for PyTorch's headers in the sources of an answer that calls load_inline: contiguous tensors on the device,
// and what passes them from Python to C++. What is missing here doesn't compile, which is said to be no fault of the
// answer.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <ostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace at {

// A floating-point number of 16 bits: all computations are done in float.
template <class Stored>
struct Narrow {
  Stored stored;
  Narrow() = default;
  __host__ __device__ Narrow(float value) : stored(value) {}
  __host__ __device__ Narrow(Stored value) : stored(value) {}
  __host__ __device__ operator float() const { return static_cast<float>(stored); }
  __host__ __device__ Narrow& operator+=(float other) { return *this = Narrow(*this + other); }
  __host__ __device__ Narrow& operator-=(float other) { return *this = Narrow(*this - other); }
  __host__ __device__ Narrow& operator*=(float other) { return *this = Narrow(*this * other); }
  __host__ __device__ Narrow& operator/=(float other) { return *this = Narrow(*this / other); }
};
using std::nullopt;
using std::optional;
using Half = Narrow<__half>;
using BFloat16 = Narrow<__nv_bfloat16>;

#define UPSKILL_SCALAR_TYPES(DO) \
  DO(Byte, std::uint8_t)         \
  DO(Char, std::int8_t)          \
  DO(Short, std::int16_t)        \
  DO(Int, int)                   \
  DO(Long, std::int64_t)         \
  DO(Half, ::at::Half) DO(Float, float) DO(Double, double) DO(Bool, bool) DO(BFloat16, ::at::BFloat16)

#define UPSKILL_NAME(NAME, TYPE) NAME,
enum class ScalarType { UPSKILL_SCALAR_TYPES(UPSKILL_NAME) };
#undef UPSKILL_NAME

template <ScalarType kType>
struct TypeOfScalar;
template <class T>
struct ScalarOfType;
#define UPSKILL_TYPE(NAME, TYPE)                   \
  constexpr ScalarType k##NAME = ScalarType::NAME; \
  template <>                                      \
  struct TypeOfScalar<k##NAME> {                   \
    using type = TYPE;                             \
  };                                               \
  template <>                                      \
  struct ScalarOfType<TYPE> {                      \
    static constexpr ScalarType value = k##NAME;   \
  };
UPSKILL_SCALAR_TYPES(UPSKILL_TYPE)
#undef UPSKILL_TYPE
constexpr ScalarType kUInt8 = kByte, kInt8 = kChar, kInt16 = kShort, kInt32 = kInt, kInt64 = kLong, kFloat16 = kHalf,
                     kFloat32 = kFloat, kFloat64 = kDouble;

#define UPSKILL_INFO(NAME, TYPE) {#NAME, sizeof(TYPE)},
struct ScalarInfo {
  const char* name;
  std::size_t bytes;
};
constexpr ScalarInfo kScalarInfos[] = {UPSKILL_SCALAR_TYPES(UPSKILL_INFO)};
#undef UPSKILL_INFO
inline const char* toString(ScalarType type) { return kScalarInfos[static_cast<int>(type)].name; }
inline std::size_t elementSize(ScalarType type) { return kScalarInfos[static_cast<int>(type)].bytes; }
inline std::ostream& operator<<(std::ostream& to, ScalarType type) { return to << toString(type); }

struct IntArrayRef : std::vector<std::int64_t> {
  using std::vector<std::int64_t>::vector;
  IntArrayRef(const std::vector<std::int64_t>& sizes) : std::vector<std::int64_t>(sizes) {}
  std::vector<std::int64_t> vec() const { return *this; }
};
inline std::ostream& operator<<(std::ostream& to, const IntArrayRef& sizes) {
  for (std::size_t i = 0; i < sizes.size(); ++i) to << (i == 0 ? "[" : ", ") << sizes[i];
  return to << "]";
}

template <class... Parts>
[[noreturn]] void Refuse(const char* otherwise, const Parts&... parts) {
  std::ostringstream text;
  static_cast<void>((text << ... << parts));
  throw std::runtime_error(text.str().empty() ? otherwise : text.str());
}

enum class DeviceType { CUDA };
constexpr DeviceType kCUDA = DeviceType::CUDA;
struct Device {
  Device(DeviceType = kCUDA, int = 0) {}
  bool is_cuda() const { return true; }
  bool is_cpu() const { return false; }
  DeviceType type() const { return kCUDA; }
  int index() const { return 0; }
  bool operator==(const Device&) const { return true; }
  bool operator!=(const Device&) const { return false; }
};
inline std::ostream& operator<<(std::ostream& to, const Device&) { return to << "cuda:0"; }

struct TensorOptions {
  TensorOptions() = default;
  TensorOptions(ScalarType of_elements) : type(of_elements) {}
  TensorOptions(DeviceType) : on_device(true) {}
  TensorOptions(Device) : on_device(true) {}
  TensorOptions dtype(ScalarType other) const {
    TensorOptions options = *this;
    options.type = other;
    return options;
  }
  TensorOptions device(Device, int = 0) const {
    TensorOptions options = *this;
    options.on_device = true;
    return options;
  }
  TensorOptions requires_grad(bool) const { return *this; }

  ScalarType type = kFloat;
  bool on_device = false;
};
inline TensorOptions dtype(ScalarType type) { return type; }
inline TensorOptions device(Device device) { return device; }

// Gives each of the elements these bits; the source for nvcc of the first extension has it.
void FillOnDevice(void* data, std::size_t count, std::size_t width, std::uint64_t bits);

inline void CheckCuda(cudaError_t error) {
  if (error != cudaSuccess) Refuse("", "CUDA error: ", cudaGetErrorString(error));
}

class Tensor {
 public:
  Tensor() = default;
  // `storage` may be of the caller or of the tensors that share it.
  // One that isn't said to be on the device is as if on the CPU: it has data, which nobody gets.
  Tensor(std::shared_ptr<void> storage, IntArrayRef sizes, ScalarType type, bool on_device = true)
      : storage_(std::move(storage)), sizes_(std::move(sizes)), type_(type), on_device_(on_device) {}

  bool defined() const { return storage_ != nullptr; }
  const IntArrayRef& sizes() const { return sizes_; }
  std::int64_t dim() const { return static_cast<std::int64_t>(sizes_.size()); }
  std::int64_t size(std::int64_t i) const { return sizes_[Index(i)]; }
  std::int64_t numel() const {
    std::int64_t count = 1;
    for (const std::int64_t size : sizes_) count *= size;
    return count;
  }
  std::int64_t stride(std::int64_t i) const {
    std::int64_t step = 1;
    for (std::size_t k = Index(i) + 1; k < sizes_.size(); ++k) step *= sizes_[k];
    return step;
  }
  IntArrayRef strides() const {
    IntArrayRef steps;
    for (std::int64_t i = 0; i < dim(); ++i) steps.push_back(stride(i));
    return steps;
  }
  ScalarType scalar_type() const { return type_; }
  ScalarType dtype() const { return type_; }
  ScalarType type() const { return type_; }
  std::size_t element_size() const { return elementSize(type_); }
  std::size_t nbytes() const { return static_cast<std::size_t>(numel()) * element_size(); }
  Device device() const { return {}; }
  int get_device() const { return 0; }
  bool is_cuda() const { return on_device_; }
  bool is_cpu() const { return !on_device_; }
  Tensor to(Device) const { return Tensor(storage_, sizes_, type_); }
  Tensor cuda() const { return to(kCUDA); }
  bool is_contiguous() const { return true; }
  Tensor contiguous() const { return *this; }
  Tensor detach() const { return *this; }
  TensorOptions options() const { return on_device_ ? TensorOptions(type_).device(kCUDA) : TensorOptions(type_); }

  void* data_ptr() const {
    if (!on_device_) Refuse("a tensor that was made without a device is on the CPU, where kernels can't use it");
    return storage_.get();
  }
  template <class T>
  T* data_ptr() const {
    constexpr ScalarType wanted = ScalarOfType<std::remove_const_t<T>>::value;
    if (type_ != wanted) Refuse("", "expected scalar type ", wanted, " but found ", type_);
    return static_cast<T*>(data_ptr());
  }
  template <class T>
  T* mutable_data_ptr() const {
    return data_ptr<T>();
  }
  template <class T>
  const T* const_data_ptr() const {
    return data_ptr<T>();
  }

  Tensor view(IntArrayRef sizes) const {
    std::int64_t known = 1;
    for (const std::int64_t size : sizes) known *= size < 0 ? 1 : size;
    for (std::int64_t& size : sizes) {
      if (size < 0) size = known == 0 ? 0 : numel() / known;
    }
    const Tensor other(storage_, sizes, type_, on_device_);
    if (other.numel() != numel()) Refuse("", "shape ", sizes, " is invalid for input of size ", numel());
    return other;
  }
  Tensor reshape(const IntArrayRef& sizes) const { return view(sizes); }
  Tensor clone() const;
  const Tensor& fill_(double value) const;

 private:
  std::size_t Index(std::int64_t i) const {
    const std::int64_t at = i < 0 ? i + dim() : i;
    if (at < 0 || at >= dim()) Refuse("", "Dimension out of range (", i, " of ", dim(), ")");
    return static_cast<std::size_t>(at);
  }

  std::shared_ptr<void> storage_;
  IntArrayRef sizes_;
  ScalarType type_ = kFloat;
  bool on_device_ = true;
};

#define UPSKILL_CASE(SCALAR, ...)                             \
  case SCALAR: {                                              \
    using scalar_t = typename at::TypeOfScalar<SCALAR>::type; \
    return __VA_ARGS__();                                     \
  }
#define UPSKILL_DISPATCH(TYPE, NAME, ...)                                             \
  [&] {                                                                               \
    const auto type_of_dispatch = TYPE;                                               \
    switch (type_of_dispatch) {                                                       \
      __VA_ARGS__                                                                     \
      default:                                                                        \
        at::Refuse("", '"', NAME, "\" not implemented for '", type_of_dispatch, "'"); \
    }                                                                                 \
  }()
#define UPSKILL_FLOATING(...) UPSKILL_CASE(at::kFloat, __VA_ARGS__) UPSKILL_CASE(at::kDouble, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_TYPES(TYPE, NAME, ...) UPSKILL_DISPATCH(TYPE, NAME, UPSKILL_FLOATING(__VA_ARGS__))
#define AT_DISPATCH_FLOATING_TYPES_AND(MORE, TYPE, NAME, ...) \
  UPSKILL_DISPATCH(TYPE, NAME, UPSKILL_FLOATING(__VA_ARGS__) UPSKILL_CASE(MORE, __VA_ARGS__))
#define AT_DISPATCH_FLOATING_TYPES_AND_HALF(TYPE, NAME, ...) \
  AT_DISPATCH_FLOATING_TYPES_AND(at::kHalf, TYPE, NAME, __VA_ARGS__)
inline Tensor empty(IntArrayRef sizes, TensorOptions options = {}) {
  Tensor tensor(nullptr, std::move(sizes), options.type);
  void* data = nullptr;
  CheckCuda(cudaMalloc(&data, std::max<std::size_t>(tensor.nbytes(), 1)));
  return Tensor(std::shared_ptr<void>(data, [](void* freed) { cudaFree(freed); }), tensor.sizes(), options.type,
                options.on_device);
}
inline Tensor full(IntArrayRef sizes, double value, TensorOptions options = {}) {
  return empty(std::move(sizes), options).fill_(value);
}
inline Tensor zeros(IntArrayRef sizes, TensorOptions options = {}) { return full(std::move(sizes), 0, options); }
inline Tensor ones(IntArrayRef sizes, TensorOptions options = {}) { return full(std::move(sizes), 1, options); }
inline Tensor empty_like(const Tensor& like) { return empty(like.sizes(), like.options()); }
inline Tensor empty_like(const Tensor& like, TensorOptions options) { return empty(like.sizes(), options); }
inline Tensor zeros_like(const Tensor& like) { return empty_like(like).fill_(0); }
inline Tensor ones_like(const Tensor& like) { return empty_like(like).fill_(1); }

inline const Tensor& Tensor::fill_(double value) const {
  std::uint64_t bits = 0;
  const auto take = [&](auto element) { std::memcpy(&bits, &element, sizeof(element)); };
#define UPSKILL_TAKE(NAME, TYPE) \
  if (type_ == k##NAME) take(static_cast<TYPE>(value));
  UPSKILL_SCALAR_TYPES(UPSKILL_TAKE)
#undef UPSKILL_TAKE
  if (numel() > 0) FillOnDevice(storage_.get(), static_cast<std::size_t>(numel()), element_size(), bits);
  return *this;
}
inline Tensor Tensor::clone() const {
  const Tensor copy = empty_like(*this);
  CheckCuda(cudaMemcpyAsync(copy.data_ptr(), data_ptr(), nbytes(), cudaMemcpyDeviceToDevice, nullptr));
  return copy;
}

inline Device device_of(const Tensor&) { return {}; }

namespace cuda {
struct CUDAStream {
  cudaStream_t stream() const { return nullptr; }
  operator cudaStream_t() const { return nullptr; }
};
inline CUDAStream getCurrentCUDAStream(int = -1) { return {}; }
struct CUDAGuard {
  explicit CUDAGuard(Device) {}
  explicit CUDAGuard(int) {}
};
struct OptionalCUDAGuard : CUDAGuard {
  using CUDAGuard::CUDAGuard;
};
}  // namespace cuda

#if defined(__CUDACC__) && UPSKILL_EXTENSION == 0
template <class T>
__global__ void fill_tensor(T* data, std::size_t count, T value) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < count) data[i] = value;
}
void FillOnDevice(void* data, std::size_t count, std::size_t width, std::uint64_t bits) {
  const auto fill = [&](auto value) {
    fill_tensor<<<static_cast<unsigned>((count + 255) / 256), 256>>>(static_cast<decltype(value)*>(data), count, value);
  };
  if (width == 1) fill(static_cast<std::uint8_t>(bits));
  if (width == 2) fill(static_cast<std::uint16_t>(bits));
  if (width == 4) fill(static_cast<std::uint32_t>(bits));
  if (width == 8) fill(bits);
  CheckCuda(cudaGetLastError());
}
#endif

}  // namespace at
namespace torch = at;
namespace c10 = at;

#define TORCH_CHECK(CONDITION, ...)                                                    \
  do {                                                                                 \
    if (!(CONDITION)) at::Refuse("expected " #CONDITION " to be true", ##__VA_ARGS__); \
  } while (false)
#define AT_ASSERTM TORCH_CHECK
#define C10_CUDA_CHECK(CALL) at::CheckCuda(CALL)
#define AT_CUDA_CHECK(CALL) at::CheckCuda(CALL)
#define C10_CUDA_KERNEL_LAUNCH_CHECK() at::CheckCuda(cudaGetLastError())
