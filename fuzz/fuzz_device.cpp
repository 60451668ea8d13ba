// SPDX-License-Identifier: Apache-2.0
#include "fuzz/fuzz_device.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>

#include "cuda/device/device_report.h"
#include "cuda/device/device_session.h"
#include "cuda/device/fat_binary.h"
#include "cuda/device/fat_binary_test.h"
#include "cuda/device/kernel_log.h"
#include "fuzz/fuzz_checks.h"
#include "util/invariant.h"
#include "util/json.h"

namespace upskill {
namespace {

constexpr std::size_t kNumbers = std::size(UpskillRequest{}.a);

constexpr const char* kFuzzedKernel = R"(.version 9.0
.target sm_90
.address_size 64
.global .align 4 .u32 counter;
.visible .entry k(.param .u64 p)
{
.reg .b32 %r<3>;
.reg .b64 %d<3>;
ld.param.u64 %d1, [p];
mov.u32 %r1, %tid.x;
mul.wide.u32 %d2, %r1, 4;
add.s64 %d1, %d1, %d2;
st.global.u32 [%d1], %r1;
ret;
}
)";

DeviceTask FuzzedTask() {
  DeviceTask task;
  task.key = "key";
  task.instruction_budget = 20'000;
  task.time_budget = std::chrono::milliseconds(5'000);
  const DeviceTrial trial{{{ArgumentRole::kIn, "0123456789abcdef", 16, 0},
                           {ArgumentRole::kOut, "", 16, 0},
                           {ArgumentRole::kScalar, "", 0, 4}},
                          1};
  task.trials = {trial, trial};
  return task;
}

// Small numbers, addresses near the last one that the session gave, and powers of two.
std::uint64_t NumberOf(unsigned char code, std::uint64_t address) {
  constexpr unsigned kSmall = 100;
  constexpr unsigned kNear = 192;
  if (code < kSmall) return code;
  return code < kNear ? address + (code - kSmall) * 4U : std::uint64_t{1} << (code - kNear);
}

std::string RequestBytes(std::uint32_t operation, const std::string& numbers, const std::string& bytes) {
  std::string request(1, static_cast<char>(operation));
  request += numbers + std::string(kNumbers - numbers.size(), '\0');
  return request + static_cast<char>(bytes.size()) + bytes;
}

}  // namespace

// Each text lies in the input, after the one before, and its kernels are told apart.
void FuzzFatBinary(std::string_view input) {
  const Result<std::vector<PtxImage>> images = PtxInFatBinary(input);
  if (!Parsed(images)) return;
  const char* end = input.data();
  for (const PtxImage& image : *images) {
    CHECK(image.text.data() >= end && image.text.data() + image.text.size() <= input.data() + input.size());
    end = image.text.data() + image.text.size();
  }
  CHECK(NewestPtx(input).ok() == !images->empty());
}

void FuzzDeviceRequests(std::string_view input) {
  static const std::string module = FatBinaryOf(FatBinaryEntry(1, 90, kFuzzedKernel));
  constexpr std::uint64_t kMostAllocated = std::uint64_t{1} << 22U;
  constexpr std::uint64_t kMostOfDevice = std::uint64_t{1} << 31U;
  constexpr std::size_t kMostRequests = 64;
  DeviceSession session(FuzzedTask());
  std::uint64_t address = 0;
  for (std::size_t i = 0; i < kMostRequests && input.size() > kNumbers + 1; ++i) {
    UpskillRequest request{};
    request.operation = static_cast<unsigned char>(input[0]) % 20U;
    for (std::size_t n = 0; n < kNumbers; ++n)
      request.a[n] = NumberOf(static_cast<unsigned char>(input[1 + n]), address);
    const std::size_t size = static_cast<unsigned char>(input[1 + kNumbers]);
    input.remove_prefix(kNumbers + 2);
    std::string_view bytes = input.substr(0, size);
    input.remove_prefix(bytes.size());
    // So that the fuzzer itself keeps to its memory.
    if (request.operation == kUpskillAllocate && request.a[0] <= kMostOfDevice) request.a[0] %= kMostAllocated;
    if (request.operation == kUpskillLoadModule && bytes.empty()) bytes = module;
    const std::string message(bytes);
    request.bytes = message.size();
    const DeviceReply reply = session.Answer(request, message);
    CHECK(reply.bytes.size() <= std::max<std::size_t>(kMostAllocated, std::size_t{1} << 21U));
    if (request.operation == kUpskillAllocate && reply.error == 0) address = reply.r[0];
  }
  const DeviceReport report = session.Finish();
  CHECK(report.key == "key" && report.trials.size() <= 2);
  const Result<DeviceReport> again = ReportFromJson(ReportToJson(report));
  CHECK(again.ok() && DumpJson(ReportToJson(*again)) == DumpJson(ReportToJson(report)));
}

std::vector<std::string> DeviceRequestSeeds() {
  const std::string zero(1, '\0');
  const std::string near(1, static_cast<char>(100));
  const std::string launch = RequestBytes(kUpskillLoadModule, "", "") + RequestBytes(kUpskillFindKernel, zero, "k") +
                             RequestBytes(kUpskillAllocate, "@", "") +
                             RequestBytes(kUpskillWrite, near, "0123456789abcdef") +
                             RequestBytes(kUpskillLaunch, zero + "\1\1\1\4\1\1", std::string("\0\1\0\0\x70\0\0\0", 8)) +
                             RequestBytes(kUpskillRead, near + "\x10", "") + RequestBytes(kUpskillFree, near, "");
  const std::string trials = RequestBytes(kUpskillNextTrial, "", "") + RequestBytes(kUpskillMakeStream, "\1", "") +
                             RequestBytes(kUpskillRecordEvent, "\1\x10", "") +
                             RequestBytes(kUpskillSynchronize, "", "") + RequestBytes(kUpskillEndTrial, "", "");
  return {launch, trials};
}

void FuzzDeviceReport(std::string_view input) {
  const Result<Json> json = ParseJson(input, "the report on the kernels");
  if (!Parsed(json)) return;
  const Result<DeviceReport> report = ReportFromJson(*json);
  if (!Parsed(report)) return;
  for (const DeviceFinding& finding : report->findings) CHECK(FindingLine(finding).size() >= finding.message.size());
  const std::string written = DumpJson(ReportToJson(*report));
  const Result<DeviceReport> again = ReportFromJson(*ParseJson(written, "the report"));
  CHECK(again.ok() && DumpJson(ReportToJson(*again)) == written);
}

std::vector<std::string> DeviceReportSeeds() {
  DeviceReport report;
  report.key = "key";
  report.exit_code = 0;
  report.output = "x";
  report.trials = {{{{1, "abcd", 0, 4}}, {0}, 1, 2, 3, 4}};
  report.kernels = {{"k", 1, 32, 0, {{"global", 3}}, {{"fma", 4}}, {{"f32", 5}}}};
  report.findings = {{"race", "a race", "detail", "k", "k.cu:1", "k.cu:2", "st.global", "(0,0,0)", 2}};
  return {DumpJson(ReportToJson(report))};
}

}  // namespace upskill
