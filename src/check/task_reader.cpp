// SPDX-License-Identifier: Apache-2.0
#include "check/task_reader.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <system_error>

#include "check/check_makers.h"
#include "util/files.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMaxFileBytes = std::uint64_t{16} << 20U;  // a larger one isn't a task

TaskReader& Reader() {
  static TaskReader reader = nullptr;
  return reader;
}

}  // namespace

void SetTaskReader(TaskReader reader) { Reader() = reader; }

std::vector<fs::path> TaskFilesIn(const fs::path& path) {
  std::error_code code;
  if (!fs::is_directory(path, code)) return path.extension() == ".py" ? std::vector{path} : std::vector<fs::path>();
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(path, code)) {
    if (entry.path().extension() != ".py") continue;
    const Result<std::string> text = ReadFile(entry.path(), kMaxFileBytes);
    if (text && text->find("def get_init_inputs(") != std::string::npos) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

Result<Suite> LoadSuiteOrTasks(const fs::path& path, const fs::path& skill, const Sandbox& sandbox,
                               const StopFlag* stop) {
  if (TaskFilesIn(path).empty()) return LoadSuite(path, skill);
  if (Reader() == nullptr) return InputError(path.string() + ": " + kWingMissing);
  return Reader()(path, sandbox, stop);
}

}  // namespace upskill
