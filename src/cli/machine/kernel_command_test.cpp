// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cli/machine/kernel_text.h"
#include "cuda/device/kernel_runner.h"
#include "support/command_line.h"
#include "util/json.h"

namespace upskill {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kProgram =
    "#include <cstdio>\n#include \"size.h\"\n"
    R"(__global__ void reverse(const int* in, int* out) {
  __shared__ int tile[SIZE];
  tile[threadIdx.x] = in[threadIdx.x];
  BARRIER;
  out[threadIdx.x] = tile[SIZE - 1 - threadIdx.x];
}
int main(int argc, char** argv) {
  int h[SIZE], *a, *b;
  for (int i = 0; i < SIZE; ++i) h[i] = i;
  cudaMalloc(&a, sizeof h);
  cudaMalloc(&b, sizeof h);
  cudaMemcpy(a, h, sizeof h, cudaMemcpyHostToDevice);
  reverse<<<1, SIZE>>>(a, b);
  cudaMemcpy(h, b, sizeof h, cudaMemcpyDeviceToHost);
  printf("%s %d %s\n", argc > 1 ? argv[1] : "first", h[0], cudaGetErrorString(cudaGetLastError()));
  return argc > 2 ? 5 : 0;
}
)";

class KernelCommand : public CommandLineTest {
 protected:
  std::string Program(const std::string& barrier) {
    folder.Write("size.h", "#define SIZE 64\n#define BARRIER " + barrier + "\n");
    return folder.Write("reverse.cu", kProgram).string();
  }

  static bool CanRun() {
#ifdef UPSKILL_SANITIZED
    return false;  // a sanitizer's memory doesn't fit into the sandbox: the target kernel_command runs these tests
#else
    return MakeKernelInterpreter(DefaultSandbox())->WhyNot().empty();
#endif
  }
};

TEST_F(KernelCommand, RunsAProgram) {
  if (!CanRun()) GTEST_SKIP() << "no nvcc or no sandbox, or a build with sanitizers";
  const std::string file = Program("__syncthreads()");
  EXPECT_EQ(Run({"kernel", "run", file}), 0) << error;
  EXPECT_EQ(out, "first 63 no error\n");
  EXPECT_EQ(Run({"kernel", "run", file, "--", "word", "more"}), 1);
  EXPECT_EQ(out, "word 63 no error\n");
  EXPECT_THAT(error, HasSubstr("the program's exit code is 5"));
}

TEST_F(KernelCommand, ARunSaysNothingOfRaces) {
  if (!CanRun()) GTEST_SKIP() << "no nvcc or no sandbox, or a build with sanitizers";
  const std::string file = Program("(void)0");
  EXPECT_EQ(Run({"kernel", "run", file, "--", "word", "more"}), 1);
  EXPECT_THAT(error, Not(HasSubstr("found")));
  EXPECT_EQ(Run({"kernel", "run", "--json", file}), 0) << error;
  const Result<Json> json = ParseJson(out, "out");
  ASSERT_TRUE(json.ok()) << out;
  EXPECT_FALSE(json->contains("findings") || (*json)["kernels"][0].contains("costs")) << out;
}

TEST_F(KernelCommand, ARunWithAnInvalidAccessFails) {
  if (!CanRun()) GTEST_SKIP() << "no nvcc or no sandbox, or a build with sanitizers";
  const std::string file = folder
                               .Write("write.cu", R"(__global__ void set(int* p) { p[64] = 1; }
int main() {
  int* p = nullptr;
  cudaMalloc(&p, 4 * 64);
  set<<<1, 1>>>(p);
  cudaDeviceSynchronize();
}
)")
                               .string();
  EXPECT_EQ(Run({"kernel", "run", file}), 1);
  EXPECT_THAT(error, HasSubstr("write.cu:1"));
}

TEST_F(KernelCommand, PassesFlagsToTheCompiler) {
  if (!CanRun()) GTEST_SKIP() << "no nvcc or no sandbox, or a build with sanitizers";
  const std::string file = folder.Write("flag.cu", "int main() { return NUMBER; }\n").string();
  EXPECT_EQ(Run({"kernel", "run", file}), 2);
  EXPECT_EQ(Run({"kernel", "run", "--nvcc-flags", "-G  -DNUMBER=0", file}), 0) << error;
}

TEST_F(KernelCommand, NamesARaceWithItsPlaceAndWhatKernelsCost) {
  if (!CanRun()) GTEST_SKIP() << "no nvcc or no sandbox, or a build with sanitizers";
  EXPECT_EQ(Run({"kernel", "check", Program("__syncthreads()")}), 0) << out << error;
  EXPECT_THAT(out, AllOf(HasSubstr("nothing found in 3 schedules"), HasSubstr("H100, estimate"), HasSubstr("100 %")));
  const std::string racy = Program("(void)0");
  EXPECT_EQ(Run({"kernel", "check", "--schedules", "2", racy}), 1) << out << error;
  EXPECT_THAT(out, AllOf(HasSubstr("reverse.cu:"), Not(HasSubstr("nothing found"))));
  EXPECT_EQ(Run({"kernel", "check", "--json", racy}), 1) << error;
  const Result<Json> json = ParseJson(out, "out");
  ASSERT_TRUE(json.ok()) << out;
  std::vector<std::string> kinds;
  for (const Json& finding : (*json)["findings"]) kinds.push_back(finding["kind"].get<std::string>());
  EXPECT_THAT(kinds, Contains("race"));
  EXPECT_THAT((*json)["output"].get<std::string>(), HasSubstr(" no error\n"));
  EXPECT_GT((*json)["kernels"][0]["registers"], 0);
  EXPECT_TRUE((*json)["kernels"][0]["costs"].contains("h100_memory_us_estimate"));
}

TEST_F(KernelCommand, IncludesFilesOfFolders) {
  if (!CanRun()) GTEST_SKIP() << "no nvcc or no sandbox, or a build with sanitizers";
  folder.Write("lib/a/add.cu", "#include \"one.inl\"\n__global__ void add(int* x) { *x += kOne; }\n");
  folder.Write("lib/a/one.inl", "constexpr int kOne = 1;\n");
  const std::string file =
      folder
          .Write("main.cu",
                 "#include <cstdio>\n#include \"lib/a/add.cu\"\nint main() {\n  int *d, h = 0;\n"
                 "  cudaMalloc(&d, 4);\n  cudaMemset(d, 0, 4);\n  add<<<1, 1>>>(d);\n"
                 "  cudaMemcpy(&h, d, 4, cudaMemcpyDeviceToHost);\n  printf(\"sum %d\\n\", h);\n}\n")
          .string();
  EXPECT_EQ(Run({"kernel", "check", file}), 0) << out << error;
  EXPECT_THAT(out, HasSubstr("sum 1\n"));
}

TEST_F(KernelCommand, FindsManagedMemoryThatIsUsedTooEarly) {
  if (!CanRun()) GTEST_SKIP() << "no nvcc or no sandbox, or a build with sanitizers";
  const auto result_of = [&](const std::string& between) {
    const std::string file = folder
                                 .Write("managed.cu",
                                        R"(#include <cstdio>
__global__ void add(int* x) { x[threadIdx.x] += 1; }
__managed__ int variable[32];
int main() {
  int *x, *other, sum = 0;
  cudaMallocManaged(&x, 32 * sizeof *x);
  cudaMallocManaged(&other, sizeof *other);
  for (int i = 0; i < 32; ++i) x[i] = i;
  add<<<1, 32>>>(x);
  add<<<1, 32>>>(variable);
  *other = 7;
  )" + between + R"(
  cudaDeviceSynchronize();
  printf("%d\n", x[3] + *other + variable[0]);
  return sum;
})")
                                 .string();
    return Run({"kernel", "check", file});
  };
  EXPECT_EQ(result_of(""), 0) << out << error;
  EXPECT_EQ(result_of("sum = *other - 7;"), 0) << out << error;
  for (const char* use : {"sum = x[0];", "x[0] = 3;", "sum = variable[0];"}) {
    EXPECT_EQ(result_of(use), 1) << use;
    EXPECT_THAT(out, HasSubstr("before it waits for the kernel")) << use;
  }
}

TEST_F(KernelCommand, BacksTheMemoryOfTheDeviceWhereItIsUsed) {
  if (!CanRun()) GTEST_SKIP() << "no nvcc or no sandbox, or a build with sanitizers";
  const std::string file = folder
                               .Write("large.cu",
                                      R"(__global__ void fill(char* p, int row, int cols) {
  const INDEX i = INDEX(row) * cols + static_cast<int>(threadIdx.x);
  if (threadIdx.x < 8) p[i] = 1;
}
int main() {
  char* p;
  if (cudaMalloc(&p, 3000000000) != cudaSuccess) return 5;
  fill<<<1, 32>>>(p, 74000, 40000);
  return cudaDeviceSynchronize();
})")
                               .string();
  EXPECT_EQ(Run({"kernel", "check", "--nvcc-flags", "-DINDEX=size_t", file}), 0) << out << error;
  EXPECT_EQ(Run({"kernel", "check", "--nvcc-flags", "-DINDEX=int", file}), 1) << out << error;
  EXPECT_THAT(out, HasSubstr("large.cu:3: Invalid __global__ write"));
}

TEST_F(KernelCommand, CopiesMoreThanAMessageHolds) {
  if (!CanRun()) GTEST_SKIP() << "no nvcc or no sandbox, or a build with sanitizers";
  const std::string file = folder
                               .Write("long.cu",
                                      R"(#include <cstdio>
#include <vector>
int main() {
  std::vector<int> in(40 << 20), out(in.size());
  for (size_t i = 0; i < in.size(); ++i) in[i] = int(i) * 7;
  int* p;
  cudaMalloc(&p, in.size() * 4);
  cudaMemcpy(p, in.data(), in.size() * 4, cudaMemcpyHostToDevice);
  const cudaError_t error = cudaMemcpy(out.data(), p, in.size() * 4, cudaMemcpyDeviceToHost);
  printf("%s\n", in == out ? cudaGetErrorString(error) : "differs");
})")
                               .string();
  EXPECT_EQ(Run({"kernel", "run", file}), 0) << error;
  EXPECT_EQ(out, "no error\n");
}

TEST_F(KernelCommand, SaysWhatKeepsAProgramFromRunning) {
  if (!CanRun()) GTEST_SKIP() << "no nvcc or no sandbox, or a build with sanitizers";
  EXPECT_EQ(Run({"kernel", "run", folder.Write("bad.cu", "int main() { return x; }\n").string()}), 2);
  EXPECT_THAT(error, HasSubstr("bad.cu: doesn't compile: bad.cu(1): error"));
  const std::string graph = folder.Write("graph.cu", "int main() { return cudaGraphCreate(0, 0); }\n").string();
  EXPECT_EQ(Run({"kernel", "run", graph}), 2);
  EXPECT_THAT(error, HasSubstr("it calls cudaGraphCreate, which can't be run without a GPU here"));
  EXPECT_EQ(Run({"kernel", "run", (folder.path() / "absent.cu").string()}), 2);
  EXPECT_THAT(error, HasSubstr("absent.cu"));
}

TEST_F(KernelCommand, RefusesFlagsThatItSetsItself) {
  const std::string file = folder.Write("flag.cu", "int main() { return 0; }\n").string();
  for (const char* flags : {"-o x", "-ox", "--output-file=x", "-G -arch=sm_80", "-gencode arch=compute_80,code=sm_80",
                            "-std=c++20", "--ptx", "-c"}) {
    EXPECT_EQ(Run({"kernel", "run", "--nvcc-flags", flags, file}), 2) << flags;
    EXPECT_THAT(error, HasSubstr("upskill sets this itself")) << flags;
  }
}

TEST_F(KernelCommand, NeedsASubcommandAndAFile) {
  EXPECT_EQ(Run({"kernel"}), 2);
  EXPECT_EQ(Run({"kernel", "check"}), 2);
  EXPECT_EQ(Run({"kernel", "check", "--schedules", "0", "a.cu"}), 2);
}

DeviceReport Report() {
  DeviceReport report;
  report.exit_code = 0;
  report.findings = {
      {"race", "Race reported", "\x1b[31m", "k", "a.cu:3", "", "st.shared.u32", "(1,0,0) in block (0,0,0)", 4}};
  report.kernels = {{"k",
                     2,
                     128,
                     0,
                     {{"thread_instructions", 100}, {"global_load_sectors", 2}, {"global_load_bytes", 32}},
                     {{"integer", 75}, {"memory", 25}},
                     {{"f32", 64}}}};
  return report;
}

TEST(KernelText, FindingsAreEscapedAndCounted) {
  EXPECT_EQ(FindingsText(Report()).text(),
            "a.cu:3: Race reported by thread (1,0,0) in block (0,0,0): \\x1b[31m (4 times)\n"
            "    in k, st.shared.u32\n");
  EXPECT_EQ(FindingsCount(Report(), 3).text(), "1 finding\n");
}

TEST(KernelText, SaysThatNothingWasFoundOnlyIfAllWasLookedAt) {
  DeviceReport report = Report();
  report.findings.clear();
  EXPECT_EQ(FindingsCount(report, 1).text(), "nothing found in 1 schedule\n");
  report.streams = 2;
  EXPECT_THAT(FindingsCount(report, 1).text(), HasSubstr("isn't checked")) << "their order isn't looked at";
  DeviceReport ended = report;
  ended.limit = "it took too long";
  EXPECT_EQ(FindingsCount(ended, 1).text(), "");
  ended = report;
  ended.failure = "a trap";
  EXPECT_EQ(FindingsCount(ended, 1).text(), "");
  EXPECT_EQ(FindingsCount(DeviceReport(), 1).text(), "") << "no kernel ran";
}

TEST(KernelText, CostsAreATableAndClassesALine) {
  const std::string text = CostsText(Report(), {{"k", 32}}, Style()).text();
  EXPECT_THAT(text, AllOf(HasSubstr("50 %"), HasSubstr("k: integer 75 %, memory 25 %\n")));
  const Json json = KernelReportJson(Report(), {{"k", 32}});
  EXPECT_EQ(json["kernels"][0]["registers"], 32);
  EXPECT_FALSE(json.contains("key"));
}

TEST(KernelText, TellsHowManyLaunchesWereRun) {
  DeviceReport report = Report();
  EXPECT_THAT(CostsText(report, {}, Style()).text(), Not(HasSubstr("run")));
  report.kernels[0].launches = 500;
  report.kernels[0].repeated = 497;
  EXPECT_THAT(CostsText(report, {}, Style()).text(), HasSubstr("500 (3 run)"));
}

TEST(KernelText, NamesAreThoseOfTheSource) {
  DeviceReport report = Report();
  report.kernels[0].name = report.findings[0].kernel = "_Z5scaleIfEvPT_i";
  EXPECT_THAT(CostsText(report, {}, Style()).text(), HasSubstr("void scale<float>(float*, int): integer 75 %"));
  EXPECT_THAT(FindingsText(report).text(), HasSubstr("    in void scale<float>(float*, int), st.shared.u32\n"));
  const Json json = KernelReportJson(report, {});
  EXPECT_EQ(json["kernels"][0]["name"], "_Z5scaleIfEvPT_i");
  EXPECT_EQ(json["kernels"][0]["demangled"], "void scale<float>(float*, int)");
  // Each pair holds the one before it twice: what it stands for doubles with every reference.
  std::string growing = "_Z1fSt4pairIiiE";
  for (int i = 0; i < 30; ++i) growing += "S_IS0_S0_E";
  for (const std::string& name : {growing, std::string("_Zx"), std::string("_Z\x1b"), "_Z" + std::string(500, '1')}) {
    report.kernels[0].name = name;
    EXPECT_EQ(KernelReportJson(report, {})["kernels"][0]["demangled"], name);
  }
}

TEST(KernelText, NoTimeBelowThatOfALaunch) {
  DeviceReport report = Report();
  EXPECT_THAT(CostsText(report, {}, Style()).text(), HasSubstr("below a launch's own cost"));
  report.kernels[0].counters["global_load_sectors"] = 100'000'000;
  const std::string text = CostsText(report, {}, Style()).text();
  EXPECT_THAT(text, AllOf(HasSubstr(" µs (memory)"), Not(HasSubstr("own cost"))));
}

TEST(KernelText, OtherRunsAddWhatTheFirstDidntShow) {
  DeviceReport all = Report();
  DeviceReport other = Report();
  other.findings.push_back(other.findings[0]);
  other.findings[1].place = "a.cu:9";
  AddOtherFindings(other, all);
  EXPECT_EQ(all.findings.size(), 2U);
}

}  // namespace
}  // namespace upskill
