// SPDX-License-Identifier: Apache-2.0
#include "report/export/run_files.h"

#include "report/export/benchmark_json.h"
#include "report/export/derived_file.h"
#include "report/export/python_files.h"

namespace upskill {
namespace {

constexpr std::size_t kMaxGradings = 100;  // answers, each with three files

}  // namespace

Status WriteRunFiles(const JudgedRun& run, const std::filesystem::path& run_folder) {
  ASSIGN_OR_RETURN(const Folder place, Folder::Make(run_folder));
  RETURN_IF_ERROR(WritePythonFiles(run, run_folder));
  const bool few = run.data.sample_count() <= kMaxGradings;
  const std::size_t students = run.plan().students.size();
  for (std::size_t i = 0; i < students; ++i) {
    std::filesystem::path name = "agentskills";
    if (students > 1) name /= StudentFolderName(i, run.plan().students[i].name);
    ASSIGN_OR_RETURN(const Folder folder, place.MakeBelow(name, Durability::kNotSynced));
    if (few) {
      RETURN_IF_ERROR(WriteBenchmarkFolder(run, i, folder));
    } else {
      RETURN_IF_ERROR(
          WriteDerivedFile(folder, "benchmark.json", DumpJsonIndented(BenchmarkToJson(run, i, false)) + "\n"));
    }
  }
  return {};
}

}  // namespace upskill
