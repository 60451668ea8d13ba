// SPDX-License-Identifier: Apache-2.0
// What a session does with kernels and trials.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <numeric>
#include <utility>

#include "cuda/device/cuda_errors.h"
#include "cuda/device/device_session.h"
#include "util/rng.h"

namespace upskill {
namespace {

using ptx::Ending;
using SteadyClock = std::chrono::steady_clock;

std::uint32_t ToDim(std::uint64_t number) {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(number, UINT32_MAX));
}

// What a buffer to be written holds before is nothing that anybody has written: all ones, which are NaN as numbers.
void FillBuffer(const DeviceArgument& argument, ptx::Allocation& buffer) {
  const bool empty = argument.role == ArgumentRole::kOut;
  std::fill(buffer.data.begin(), buffer.data.end(), std::uint8_t{0xFF});
  std::fill(buffer.writer.begin(), buffer.writer.end(), empty ? ptx::Writer::kNobody : ptx::Writer::kGiven);
  if (!empty) std::memcpy(buffer.data.data(), argument.data.data(), std::min(argument.data.size(), buffer.data.size()));
  buffer.read_only = argument.role == ArgumentRole::kIn;
}

// Everything that decides what a launch does, except the memory and the stream, as a key.
std::string KeyOfLaunch(UpskillRequest launch, const std::vector<std::uint8_t>& arguments) {
  launch.a[8] = 0;
  std::string bytes(reinterpret_cast<const char*>(launch.a), sizeof(launch.a));
  return bytes.append(arguments.begin(), arguments.end());
}

bool IsAssertion(const ptx::LaunchOutcome& outcome) { return outcome.reason.find("ssert") != std::string::npos; }

}  // namespace

// Each parameter at its offset; they are sent without gaps.
std::optional<std::vector<std::uint8_t>> DeviceSession::PackArguments(const ptx::KernelInfo& kernel,
                                                                      std::string_view sent) const {
  std::vector<std::uint8_t> packed(kernel.parameter_bytes);
  for (const ptx::Parameter& parameter : kernel.parameters) {
    if (sent.size() < parameter.bytes || parameter.offset + parameter.bytes > packed.size()) return std::nullopt;
    std::memcpy(packed.data() + parameter.offset, sent.data(), parameter.bytes);
    sent.remove_prefix(parameter.bytes);
  }
  return packed;
}

ptx::RunOptions DeviceSession::OptionsOfLaunch(const KnownKernel& kernel) const {
  ptx::RunOptions options;
  options.check_races = task_.checks;
  options.check_uninitialised = task_.checks;
  options.count_memory = task_.counts;
  options.threads = kernel.divided_in_vain ? 1 : task_.threads;
  options.schedule_seed = (trial_ ? task_.trials[next_trial_ - 1].seed : task_.seed) + launches_;
  options.instruction_budget = task_.instruction_budget - std::min(task_.instruction_budget, run_instructions_);
  options.time_budget = std::max(task_.time_budget - run_time_, std::chrono::milliseconds(0));
  return options;
}

// The streams differ from trial to trial.
void DeviceSession::NoteLaunch(const ptx::KernelInfo& kernel, const UpskillRequest& request,
                               std::string_view arguments) {
  const std::uint64_t* const a = request.a;
  NoteDecision(kernel.name);
  NoteDecision({a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[9], a[10]});
  for (const ptx::Parameter& parameter : kernel.parameters) {
    std::string_view bytes = arguments.substr(0, parameter.bytes);
    arguments.remove_prefix(parameter.bytes);
    for (; bytes.size() >= sizeof(std::uint64_t); bytes.remove_prefix(sizeof(std::uint64_t))) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes.data(), sizeof(word));
      NoteDecision({word});
    }
    NoteDecision(bytes);
  }
}

DeviceReply DeviceSession::Launch(const UpskillRequest& request, std::string_view arguments) {
  const std::uint64_t* const a = request.a;
  if (a[0] >= kernels_.size()) return Failed(kCudaInvalidFunction);
  KnownKernel& known = kernels_[a[0]];
  const ptx::KernelInfo* const kernel = modules_[known.module].module().FindKernel(known.name);
  const auto packed = PackArguments(*kernel, arguments);
  if (!packed) return Failed(kCudaInvalidValue);
  ptx::LaunchConfig config;
  config.grid = {ToDim(a[1]), ToDim(a[2]), ToDim(a[3])};
  config.block = {ToDim(a[4]), ToDim(a[5]), ToDim(a[6])};
  config.dynamic_shared_bytes = a[7];
  config.cooperative = (a[9] & kUpskillCooperative) != 0;
  if (a[10] != 0)
    config.cluster = {ToDim(a[10] & 0xFFFF), ToDim((a[10] >> 16U) & 0xFFFF), ToDim((a[10] >> 32U) & 0xFFFF)};
  streams_.Work(a[8]);
  if (!report_.limit.empty()) return Failed(kCudaLaunchTimeout);
  // In trials, every launch is run, each in an order of its own.
  const ptx::LaunchOutcome* const repeated =
      task_.trials.empty() ? repeated_.Repeat(KeyOfLaunch(request, *packed), memory_) : nullptr;
  const Result<ptx::LaunchOutcome> outcome = repeated != nullptr ? *repeated : RunLaunch(known, config, *packed);
  if (!outcome) return Failed(kCudaInvalidConfiguration);
  ++launches_;
  last_kernel_ = known.name;
  if (trial_) ++trial_->launches;
  NoteLaunch(*kernel, request, arguments);
  launched_threads_ += config.grid.Count() * config.block.Count();
  log_.Add(known.name, config, kernel->static_shared_bytes + config.dynamic_shared_bytes, *outcome,
           repeated != nullptr);
  return EndOfLaunch(*outcome);
}

Result<ptx::LaunchOutcome> DeviceSession::RunLaunch(KnownKernel& kernel, const ptx::LaunchConfig& config,
                                                    std::span<const std::uint8_t> arguments) {
  const auto before = SteadyClock::now();
  Result<ptx::LaunchOutcome> outcome =
      ptx::Launch(modules_[kernel.module], memory_, kernel.name, config, arguments, OptionsOfLaunch(kernel));
  run_time_ += std::chrono::duration_cast<std::chrono::milliseconds>(SteadyClock::now() - before);
  if (!outcome) return outcome;
  kernel.divided_in_vain = kernel.divided_in_vain || outcome->division == ptx::LaunchDivision::kUndone;
  run_instructions_ += outcome->counters.thread_instructions;
  repeated_.Ran(*outcome, memory_);
  return outcome;
}

// In trials, time depends on nothing that kernels compute: otherwise, a kernel could tell the program its input by it.
std::uint64_t DeviceSession::TimeForProgram() const {
  return task_.trials.empty() ? log_.instructions() : 100 * launched_threads_;
}

// The program learns of an error when it waits for the kernel, as on a GPU.
DeviceReply DeviceSession::EndOfLaunch(const ptx::LaunchOutcome& outcome) {
  DeviceReply reply;
  reply.r[1] = TimeForProgram();
  reply.bytes = outcome.printed;
  if (trial_) trial_->bytes_to_host += outcome.printed.size();
  const auto note = [](std::string& place, const std::string& text) {
    if (place.empty()) place = text;
  };
  switch (outcome.ending) {
    case Ending::kCompleted:
      break;
    case Ending::kTrapped:
      reply.r[0] = IsAssertion(outcome) ? kCudaAssert : kCudaLaunchFailure;
      note(report_.failure, outcome.reason);
      break;
    case Ending::kBudget:
      reply.r[0] = kCudaLaunchTimeout;
      note(report_.limit, outcome.reason);
      break;
    case Ending::kDeadlock:
      reply.r[0] = kCudaLaunchTimeout;
      note(report_.failure, outcome.reason);
      break;
    case Ending::kUnsupported:
      reply.r[0] = kCudaNotSupported;
      note(report_.unsupported, fmt::format("{} can't be run here", outcome.unsupported));
      break;
  }
  if (trial_ && reply.r[0] != 0) trial_->error = static_cast<std::uint32_t>(reply.r[0]);
  return reply;
}

Result<std::uint64_t> DeviceSession::PlaceArgument(const DeviceArgument& argument, std::string label) {
  ASSIGN_OR_RETURN(const std::uint64_t address, memory_.Allocate(argument.bytes, std::move(label)));
  ptx::Allocation* const buffer = memory_.Find(address);
  if (buffer != nullptr) FillBuffer(argument, *buffer);  // null: of no bytes
  return address;
}

// In the buffers of the trial before, as far as the program has left them there, or in new ones.
Status DeviceSession::PlaceArguments(const DeviceTrial& trial) {
  const std::vector<std::uint64_t> kept = std::exchange(kept_values_, {});
  trial_->allocations = std::exchange(kept_allocations_, {});
  trial_->values.resize(trial.arguments.size());
  Rng random(trial.seed);
  // In any order, with other distances each time.
  std::vector<std::size_t> order(trial.arguments.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.Next() % i]);
  for (const std::size_t number : order) {
    const DeviceArgument& argument = trial.arguments[number];
    trial_->values[number] = argument.bits;
    if (argument.role == ArgumentRole::kScalar) continue;
    ptx::Allocation* const buffer = number < kept.size() ? memory_.Find(kept[number]) : nullptr;
    if (buffer != nullptr && buffer->address == kept[number] && buffer->data.size() == argument.bytes) {
      FillBuffer(argument, *buffer);
      trial_->values[number] = buffer->address;
      continue;
    }
    ASSIGN_OR_RETURN(const std::uint64_t between, memory_.Allocate(256 * (1 + random.Next() % 64), "between buffers"));
    trial_->allocations.push_back(between);
    ASSIGN_OR_RETURN(const std::uint64_t address, PlaceArgument(argument, fmt::format("argument {}", number + 1)));
    trial_->allocations.push_back(address);
    trial_->values[number] = address;
  }
  return {};
}

DeviceReply DeviceSession::NextTrial() {
  DeviceReply reply;
  if (next_trial_ == task_.trials.size() || trial_) return reply;
  const DeviceTrial& trial = task_.trials[next_trial_++];
  trial_.emplace();
  if (!PlaceArguments(trial)) return Failed(kCudaOutOfMemory);
  reply.r[0] = 1;
  reply.bytes.assign(reinterpret_cast<const char*>(trial_->values.data()),
                     trial_->values.size() * sizeof(std::uint64_t));
  return reply;
}

void DeviceSession::LookAt(const DeviceArgument& argument, std::size_t number, DeviceTrialReport& report) const {
  if (argument.role == ArgumentRole::kScalar) return;
  const ptx::Allocation* const buffer = memory_.Find(trial_->values[number]);
  if (buffer == nullptr) {
    if (argument.bytes > 0) report.changed_inputs.push_back(number);
    return;
  }
  const std::string_view data(reinterpret_cast<const char*>(buffer->data.data()), buffer->data.size());
  if (argument.role == ArgumentRole::kIn) {
    if (data != argument.data) report.changed_inputs.push_back(number);
    return;
  }
  const auto count = [&](ptx::Writer writer) {
    return static_cast<std::uint64_t>(std::count(buffer->writer.begin(), buffer->writer.end(), writer));
  };
  // What a buffer of both roles held before may stay.
  const std::uint64_t copied = argument.role == ArgumentRole::kOut ? count(ptx::Writer::kGiven) : 0;
  report.outputs.push_back({number, std::string(data), count(ptx::Writer::kNobody), count(ptx::Writer::kHost), copied});
}

DeviceReply DeviceSession::EndTrial() {
  if (!trial_) return Failed(kCudaInvalidValue);
  DeviceTrialReport report;
  report.launches = trial_->launches;
  report.pending_streams = streams_.Pending();
  report.bytes_to_host = trial_->bytes_to_host;
  report.error = trial_->error;
  report.decisions = trial_->decisions;
  const DeviceTrial& trial = task_.trials[next_trial_ - 1];
  for (std::size_t i = 0; i < trial.arguments.size(); ++i) LookAt(trial.arguments[i], i, report);
  if (next_trial_ < task_.trials.size() && task_.trials[next_trial_].same_buffers) {
    kept_values_ = std::move(trial_->values);
    kept_allocations_ = std::move(trial_->allocations);
  } else {
    for (const std::uint64_t address : trial_->allocations) (void)memory_.Free(address);
  }
  streams_.SynchronizeDevice();
  report_.trials.push_back(std::move(report));
  trial_.reset();
  return {};
}

}  // namespace upskill
