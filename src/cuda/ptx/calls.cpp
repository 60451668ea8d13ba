// SPDX-License-Identifier: Apache-2.0
// Calls, their frames and parameters; printf and assert.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>
#include <new>

#include "cuda/ptx/forms.h"
#include "cuda/ptx/machine.h"

namespace upskill::ptx {
namespace {

constexpr std::uint32_t kMostDepth = 4000;
constexpr std::uint32_t kMostLocal = 512U << 10U;
constexpr std::size_t kMostString = 4096;
constexpr std::size_t kMostSpareFrames = 32;

}  // namespace

// Returns nullptr if the memory budget is spent.
Frame* Machine::NewFrame(Warp& warp, std::uint32_t function) {
  const std::uint64_t bytes = (std::uint64_t{program_.functions[function].frame_bytes} + 127) / 64 * 64;
  const std::uint64_t taints = options_.check_uninitialised ? bytes / 64 : 0;
  const std::uint64_t total = bytes + taints * sizeof(Taint);
  if (host_bytes_ + total > options_.memory_budget) {
    Stop(Ending::kBudget, fmt::format("more than {} bytes of memory", options_.memory_budget));
    return nullptr;
  }
  host_bytes_ += total;
  warp.block->bytes += total;
  std::unique_ptr<Frame> frame;
  if (!spare_frames_.empty() && spare_frames_.back()->bytes == total) {
    frame = std::move(spare_frames_.back());
    spare_frames_.pop_back();
    *frame = Frame{.registers = std::move(frame->registers), .taints = std::move(frame->taints)};
  } else {
    frame = std::make_unique<Frame>();
    frame->registers.reset(static_cast<char*>(::operator new[](bytes, std::align_val_t{64})));
  }
  frame->function = function;
  frame->bytes = total;
  std::memset(frame->registers.get(), 0, bytes);
  frame->taints.assign(taints, Taint{0xFFFFFFFFU, 0xFFFFFFFFU, kNowhere});
  if (taints > 0) frame->taints[0] = Taint{};
  warp.frames.push_back(std::move(frame));
  return warp.frames.back().get();
}

// Of lanes that have made the same call and haven't returned: others that make it, too, meet them there. Registers are
// each lane's own.
Frame* Machine::JoinFrame(std::uint32_t call, std::uint32_t function, std::uint32_t mask, std::uint32_t return_pc) {
  if (warp_->fragments.size() < 2) return nullptr;
  for (const std::unique_ptr<Frame>& frame : warp_->frames) {
    if (frame->caller != frame_ || frame->call != call || frame->function != function ||
        frame->return_pc != return_pc || (frame->lanes & mask) != 0) {
      continue;
    }
    frame->lanes |= mask;
    for (std::size_t i = 1; i < frame->taints.size(); ++i) {
      frame->taints[i].lanes |= mask;
      frame->taints[i].computed |= mask;
    }
    return frame.get();
  }
  return nullptr;
}

void Machine::LeaveFrame(Frame* frame, std::uint32_t mask) {
  frame->lanes &= ~mask;
  if (frame->lanes != 0) return;
  auto& frames = warp_->frames;
  const auto found =
      std::find_if(frames.begin(), frames.end(), [&](const auto& candidate) { return candidate.get() == frame; });
  host_bytes_ -= frame->bytes;
  block_->bytes -= frame->bytes;
  if (spare_frames_.size() < kMostSpareFrames) spare_frames_.push_back(std::move(*found));
  frames.erase(found);
}

// Makes each lane's local memory reach to `bytes`.
void Machine::NeedLocal(std::uint32_t bytes) {
  Warp& warp = *warp_;
  if (bytes <= warp.local_stride) return;
  std::uint32_t stride = (bytes + 63) / 64 * 64;
  if (warp.local_stride > 0) stride = std::max(stride, std::min(2 * warp.local_stride, kMostLocal));
  std::vector<std::uint8_t> local(std::size_t{32} * stride);
  std::vector<Writer> writer(std::size_t{32} * stride, Writer::kNobody);
  for (std::size_t lane = 0; lane < 32 && warp.local_stride > 0; ++lane) {
    std::copy_n(warp.local.begin() + static_cast<std::ptrdiff_t>(lane * warp.local_stride), warp.local_stride,
                local.begin() + static_cast<std::ptrdiff_t>(lane * stride));
    std::copy_n(warp.local_writer.begin() + static_cast<std::ptrdiff_t>(lane * warp.local_stride), warp.local_stride,
                writer.begin() + static_cast<std::ptrdiff_t>(lane * stride));
  }
  const std::uint64_t more = std::uint64_t{64} * (stride - warp.local_stride);
  host_bytes_ += more;
  block_->bytes += more;
  if (host_bytes_ > options_.memory_budget) {
    Stop(Ending::kBudget, fmt::format("more than {} bytes of memory", options_.memory_budget));
  }
  warp.local = std::move(local);
  warp.local_writer = std::move(writer);
  warp.local_stride = stride;
}

void Machine::CopyLocal(std::uint32_t lane, std::uint32_t to, std::uint32_t from, std::uint32_t bytes) {
  Warp& warp = *warp_;
  if (to + bytes > warp.local_stride || from + bytes > warp.local_stride) return;
  const std::size_t base = std::size_t{lane} * warp.local_stride;
  std::memmove(warp.local.data() + base + to, warp.local.data() + base + from, bytes);
  std::memmove(warp.local_writer.data() + base + to, warp.local_writer.data() + base + from, bytes);
}

std::uint64_t Machine::LocalValue(std::uint32_t lane, std::uint32_t offset, std::uint32_t bytes) const {
  std::uint64_t value = 0;
  if (offset + bytes > warp_->local_stride || bytes > 8) return 0;
  std::memcpy(&value, warp_->local.data() + std::size_t{lane} * warp_->local_stride + offset, bytes);
  return value;
}

Step Machine::Enter(const CallSite& site, std::uint32_t call, std::uint32_t function, std::uint32_t mask,
                    std::uint32_t return_pc) {
  const Function& callee = program_.functions[function];
  const Function& caller = program_.functions[frame_->function];
  const Inst& inst = program_.code[return_pc - 1];
  const auto first = static_cast<std::uint32_t>(std::countr_zero(mask));
  if (!callee.has_body || callee.is_kernel) {
    outcome_.unsupported = "call " + callee.name;
    Report(FindingKind::kUnsupported, inst, first, "Unsupported call of " + callee.name);
    Stop(Ending::kUnsupported, "the function " + callee.name + " isn't supported");
    return Step::kEnd;
  }
  const std::uint32_t local_base = frame_->local_base + (caller.local_bytes + 15) / 16 * 16;
  if (frame_->depth >= kMostDepth || local_base + callee.local_bytes > kMostLocal) {
    Report(FindingKind::kOutOfBounds, inst, first, "Stack overflow");
    Stop(Ending::kTrapped, "stack overflow");
    return Step::kEnd;
  }
  Frame* frame = JoinFrame(call, function, mask, return_pc);
  if (frame == nullptr) frame = NewFrame(*warp_, function);
  if (frame == nullptr) return Step::kEnd;
  frame->caller = frame_;
  frame->call = call;
  frame->return_pc = return_pc;
  frame->local_base = local_base;
  frame->depth = frame_->depth + 1;
  frame->lanes |= mask;
  NeedLocal(local_base + callee.local_bytes);
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    if (((mask >> lane) & 1U) == 0) continue;
    // What an earlier call left in the frame is nothing that this one wrote.
    const std::size_t at = std::size_t{lane} * warp_->local_stride + local_base;
    std::fill_n(warp_->local_writer.begin() + static_cast<std::ptrdiff_t>(at), callee.local_bytes, Writer::kNobody);
    for (std::size_t i = 0; i < callee.parameters.size() && i < site.arguments.size(); ++i) {
      CopyLocal(lane, local_base + callee.parameters[i].offset, frame_->local_base + site.arguments[i].offset,
                std::min(callee.parameters[i].bytes, site.arguments[i].bytes));
    }
  }
  if (mask != warp_->fragments[fragment_].mask) {
    SplitOff(mask, callee.entry);
    warp_->fragments.back().frame = frame;
    return Step::kNext;
  }
  warp_->fragments[fragment_].pc = callee.entry;
  warp_->fragments[fragment_].frame = frame;
  return Step::kJumped;
}

Step Machine::Call(const Inst& inst, std::uint32_t mask) {
  const CallSite& site = program_.calls[inst.target];
  const std::uint32_t return_pc = LocationPc(inst) + 1;
  if (inst.sub == kCallPrintf) return Printf(site, mask);
  if (inst.sub == kCallAssert) return AssertFail(site, mask);
  if (inst.sub == kCallDirect) return Enter(site, inst.target, site.function, mask, return_pc);
  const auto* address = Register<std::uint64_t>(inst.op[0]);
  // One of the functions that the lanes call; the other lanes stay at the call.
  const std::uint64_t first = address[std::countr_zero(mask)];
  std::uint32_t lanes = 0;
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    if (((mask >> lane) & 1U) != 0 && address[lane] == first) lanes |= 1U << lane;
  }
  const std::uint64_t index = (first - kFunctionAddress) / 16;
  if (first < kFunctionAddress || index >= program_.functions.size() || first % 16 != 0) {
    Report(FindingKind::kOutOfBounds, inst, static_cast<std::uint32_t>(std::countr_zero(mask)),
           "Invalid address of a function", fmt::format("{:#x} is not a function", first));
    Stop(Ending::kTrapped, "called something that is not a function");
    return Step::kEnd;
  }
  const auto function = static_cast<std::uint32_t>(index);
  if (lanes == mask) return Enter(site, inst.target, function, mask, return_pc);
  const Step step = Enter(site, inst.target, function, lanes, return_pc);
  return step == Step::kEnd ? step : Step::kStay;
}

// The lanes go back to their caller with their results.
Step Machine::Return(std::uint32_t mask) {
  Frame* frame = frame_;
  if (frame->caller == nullptr) return Exit(mask);
  const CallSite& site = program_.calls[frame->call];
  const Function& callee = program_.functions[frame->function];
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    if (((mask >> lane) & 1U) == 0) continue;
    for (std::size_t i = 0; i < callee.results.size() && i < site.results.size(); ++i) {
      CopyLocal(lane, frame->caller->local_base + site.results[i].offset, frame->local_base + callee.results[i].offset,
                std::min(callee.results[i].bytes, site.results[i].bytes));
    }
  }
  Frame* caller = frame->caller;
  const std::uint32_t return_pc = frame->return_pc;
  const bool all = mask == warp_->fragments[fragment_].mask;
  if (!all) SplitOff(mask, return_pc);
  Fragment& fragment = all ? warp_->fragments[fragment_] : warp_->fragments.back();
  fragment.frame = caller;
  fragment.pc = return_pc;
  LeaveFrame(frame, mask);
  return all ? Step::kStay : Step::kNext;
}

std::vector<std::uint8_t> Machine::BytesAt(std::uint64_t address, std::uint32_t bytes) {
  std::vector<std::uint8_t> data(bytes, 0);
  if (address >= kLocalWindow && address < kLocalWindow + kWindowBytes) return data;
  static_cast<void>(memory_.Read(address, std::span<std::uint8_t>(data)));
  return data;
}

std::string Machine::StringAt(std::uint64_t address) {
  std::string text;
  const Allocation* allocation = memory_.Find(address);
  if (allocation == nullptr) return "(invalid string)";
  for (std::uint64_t at = address; at < allocation->End() && text.size() < kMostString; ++at) {
    const auto c = static_cast<char>(allocation->data.data()[at - allocation->address]);
    if (c == 0) break;
    text.push_back(c);
  }
  return text;
}

// One conversion; its value is at `at` in the current lane's buffer, which is advanced.
std::string Machine::FormatOne(std::string spec, char conversion, std::uint64_t& at) {
  const bool is_wide = spec.find('l') != std::string::npos || spec.find('j') != std::string::npos ||
                       spec.find('z') != std::string::npos ||
                       std::string("feEgGaAps").find(conversion) != std::string::npos;
  std::erase_if(spec, [](char c) { return c == 'l' || c == 'h' || c == 'j' || c == 'z'; });
  const std::uint32_t bytes = is_wide ? 8 : 4;
  at = (at + bytes - 1) / bytes * bytes;
  std::uint64_t value = 0;
  const std::size_t offset = at & 0xFFFFFFFFU;
  const std::uint32_t lane = static_cast<std::uint32_t>(at >> 40U);
  value = LocalValue(lane, static_cast<std::uint32_t>(offset), bytes);
  at += bytes;
  std::array<char, 512> buffer{};
  const auto print = [&](auto argument) {
    const int length = std::snprintf(buffer.data(), buffer.size(), spec.c_str(), argument);  // NOLINT: checked spec
    return std::string(buffer.data(), static_cast<std::size_t>(std::clamp(length, 0, 511)));
  };
  switch (conversion) {
    case 'd':
    case 'i':
    case 'c': {
      if (conversion == 'c') return std::string(1, static_cast<char>(value));
      spec += "lld";
      return print(is_wide ? static_cast<long long>(value) : static_cast<long long>(static_cast<std::int32_t>(value)));
    }
    case 'u':
    case 'x':
    case 'X':
    case 'o':
      spec += std::string("ll") + conversion;
      return print(static_cast<unsigned long long>(value));
    case 's':
      if (spec.size() == 1) return StringAt(value);
      spec += 's';
      return print(StringAt(value).c_str());
    case 'p':
      return fmt::format("{:#x}", value);
    default:
      spec += conversion;
      return print(std::bit_cast<double>(value));
  }
}

// `arguments`: the lane in the upper bits, the offset of the buffer in its local memory in the lower ones.
// `count`: of the arguments that were formatted.
std::string Machine::Format(const std::string& format, std::uint64_t arguments, std::uint32_t& count) {
  std::string text;
  for (std::size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '%') {
      text.push_back(format[i]);
      continue;
    }
    std::string spec = "%";
    std::size_t end = i + 1;
    std::size_t digits = 0;
    while (end < format.size() && spec.size() < 20 &&
           std::string_view("-+ #0123456789.lhjz").find(format[end]) != std::string_view::npos) {
      // A width or precision of more than three digits is more than anybody reads: the rest of it is left out.
      digits = format[end] >= '0' && format[end] <= '9' ? digits + 1 : 0;
      if (digits <= 3) spec.push_back(format[end]);
      ++end;
    }
    if (end >= format.size()) break;
    i = end;
    if (format[end] == '%') {
      text.push_back('%');
    } else if (std::string_view("diucxXosfFeEgGaAp").find(format[end]) != std::string_view::npos) {
      text += FormatOne(spec, format[end], arguments);
      ++count;
    } else {
      text += spec + format[end];
    }
  }
  return text;
}

Step Machine::Printf(const CallSite& site, std::uint32_t mask) {
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    if (((mask >> lane) & 1U) == 0 || site.arguments.size() != 2) continue;
    const std::uint64_t format = LocalValue(lane, frame_->local_base + site.arguments[0].offset, 8);
    const std::uint64_t buffer = LocalValue(lane, frame_->local_base + site.arguments[1].offset, 8);
    const std::uint64_t offset = buffer - kLocalWindow;
    std::string text = StringAt(format);
    const bool has_buffer = buffer >= kLocalWindow && offset < warp_->local_stride;
    std::uint32_t count = 0;
    text = Format(text, has_buffer ? (std::uint64_t{lane} << 40U) | offset : (std::uint64_t{lane} << 40U) | 0xFFFFFF00U,
                  count);
    const std::size_t room = options_.max_printed_bytes - std::min(options_.max_printed_bytes, outcome_.printed.size());
    outcome_.printed += text.substr(0, room);
    if (!site.results.empty() && site.results[0].offset + frame_->local_base + 4 <= warp_->local_stride) {
      const std::size_t at = std::size_t{lane} * warp_->local_stride + frame_->local_base + site.results[0].offset;
      std::memcpy(warp_->local.data() + at, &count, 4);
      std::fill_n(warp_->local_writer.begin() + static_cast<std::ptrdiff_t>(at), 4, Writer::kDevice);
    }
  }
  return Step::kNext;
}

Step Machine::AssertFail(const CallSite& site, std::uint32_t mask) {
  if (workers_ != nullptr) {  // another worker may be writing what the texts are read from
    GiveUp();
    return Step::kEnd;
  }
  const auto lane = static_cast<std::uint32_t>(std::countr_zero(mask));
  const auto value = [&](std::size_t index, std::uint32_t bytes) {
    return index < site.arguments.size() ? LocalValue(lane, frame_->local_base + site.arguments[index].offset, bytes)
                                         : 0;
  };
  const std::string text = StringAt(value(0, 8));
  const std::string place = fmt::format("{}:{}: {}", StringAt(value(1, 8)), value(2, 4), StringAt(value(3, 8)));
  const Inst& inst = program_.code[warp_->fragments[fragment_].pc];
  Report(FindingKind::kTrap, inst, lane, fmt::format("Assertion `{}` failed", text), place);
  Stop(Ending::kTrapped, fmt::format("{}: assertion `{}` failed", place, text));
  return Step::kEnd;
}

}  // namespace upskill::ptx
