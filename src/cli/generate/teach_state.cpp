// SPDX-License-Identifier: Apache-2.0
#include "cli/generate/teach_state.h"

#include <fmt/format.h>

#include <system_error>
#include <utility>

#include "cli/eval/job_run.h"
#include "util/files.h"
#include "util/hash.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSolveRun = "solve_run";
constexpr const char* kGeneration = "generation";
constexpr const char* kWritten = "written";
constexpr const char* kMeasured = "measured";  // by the hash of the settings: {"run", "complete"}

std::string KeyOf(const Json& settings) { return Sha256Hex(CanonicalJson(settings)).substr(0, 12); }

}  // namespace

Result<TeachState> TeachState::Open(Folder folder, const fs::path& runs_dir, const Json& inputs) {
  TeachState state(std::move(folder), runs_dir, "teach-" + KeyOf(inputs) + ".json");
  const fs::path file = state.folder_.path() / state.name_;
  const Result<std::string> text = ReadFile(file);
  if (!text) return state;
  const Result<Json> stored = ParseJson(*text, file.string());
  if (stored && stored->is_object()) state.state_ = *stored;
  return state;
}

// A name that the file has must not lead out of the runs folder.
std::string TeachState::NameAt(const Json& object, const char* key, const char* below, const char* file) const {
  const std::string name = StringAt(object, key);
  if (name.empty() || name.find('/') != std::string::npos || !ContainedPath("", name)) return "";
  std::error_code code;
  return fs::exists(runs_dir_ / below / name / file, code) ? name : "";
}

std::string TeachState::solve_run() const { return NameAt(state_, kSolveRun, "", "plan.json"); }

std::string TeachState::generation() const { return NameAt(state_, kGeneration, "generations", "generation.json"); }

std::string TeachState::measure_run(const Json& settings) const {
  return NameAt(Member(Member(state_, kMeasured), KeyOf(settings).c_str()), "run", "", "plan.json");
}

bool TeachState::is_written() const { return JsonGet(state_, kWritten, false); }

bool TeachState::is_measured(const Json& settings) const {
  return !measure_run(settings).empty() &&
         JsonGet(Member(Member(state_, kMeasured), KeyOf(settings).c_str()), "complete", false);
}

Status TeachState::NoteSolveRun(const std::string& run) {
  state_[kSolveRun] = run;
  return Store();
}

Status TeachState::NoteGeneration(const std::string& id) {
  state_[kGeneration] = id;
  return Store();
}

Status TeachState::NoteWritten() {
  state_[kWritten] = true;
  return Store();
}

Status TeachState::NoteMeasureRun(const Json& settings, const std::string& run) {
  if (!Member(state_, kMeasured).is_object()) state_[kMeasured] = Json::object();
  state_[kMeasured][KeyOf(settings)] = {{"run", run}};
  return Store();
}

Status TeachState::NoteMeasured(const Json& settings) {
  state_[kMeasured][KeyOf(settings)]["complete"] = true;
  return Store();
}

double TeachState::SpentOn(const std::string& run) const {
  const Result<Spending> spent = run.empty() ? Spending() : SpentInRun(runs_dir_ / run);
  return spent ? spent->usd : 0.0;
}

Status TeachState::Store() const { return folder_.WriteFile(name_, DumpJsonIndented(state_) + "\n"); }

}  // namespace upskill
