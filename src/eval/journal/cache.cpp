// SPDX-License-Identifier: Apache-2.0
#include "eval/journal/cache.h"

#include <map>
#include <ranges>
#include <set>
#include <string_view>
#include <utility>

#include "eval/journal/journal.h"
#include "eval/journal/sample_line.h"
#include "util/files.h"
#include "util/json.h"

namespace upskill {
namespace {

// The cell key of a journal line, without parsing it: keys are 64 hex digits, written near its start. Empty if there
// is none. A wrong guess does no harm, since a wanted line is parsed and its key compared.
std::string_view KeyOfLine(std::string_view line) {
  constexpr std::string_view kMark = "\"key\":\"";
  constexpr std::size_t kKeyLength = 64;
  const std::size_t at = line.substr(0, 64).find(kMark);
  if (at == std::string_view::npos || line.size() < at + kMark.size() + kKeyLength) return {};
  return line.substr(at + kMark.size(), kKeyLength);
}

// Whether other runs may take answers from this one. An unreadable plan doesn't forbid it. Of thousands of plans, only
// those with the field are parsed.
bool OffersCache(const std::filesystem::path& run) {
  const Result<std::string> text = ReadFile(run / "plan.json");
  if (!text || text->find("\"offers_cache\"") == std::string::npos) return true;
  const Result<Json> plan = ParseJson(*text, "plan.json");
  return !plan || JsonGet(*plan, "offers_cache", true);
}

}  // namespace

std::unordered_map<std::string, Sample> FindCachedSamples(const std::filesystem::path& runs_dir,
                                                          const std::unordered_map<std::string, std::size_t>& wanted) {
  std::unordered_map<std::string, Sample> found;
  std::map<std::size_t, std::set<std::string>> served;  // by student: the models of its newest run
  const std::vector<std::filesystem::path> runs = FindRuns(runs_dir);
  for (const std::filesystem::path& run : std::ranges::reverse_view(runs)) {
    const std::string name = run.filename().string();
    if (!OffersCache(run)) continue;
    std::map<std::size_t, std::set<std::string>> first_served;
    std::unordered_map<std::string, std::vector<ErrorCause>> failed;  // attempts in this run before the answer, by key
    const auto consider = [&](const JournalLine& of_run) {
      const std::string_view line = of_run.text;
      const std::string key(KeyOfLine(line));
      const auto cell = wanted.find(key);
      if (cell == wanted.end() || found.contains(key)) return;
      Result<Sample> sample = SampleFromLine(line);
      if (!sample || sample->key != key) return;
      if (sample->keeps_answer) sample = ToCheckAgain(*std::move(sample));
      if (!sample->ok()) {
        failed[key].push_back(sample->error->cause);
        return;
      }
      if (const auto before = failed.find(key); before != failed.end())
        sample->failed_before.insert(sample->failed_before.end(), before->second.begin(), before->second.end());
      const std::string& model = sample->response.served_model;
      if (const auto known = served.find(cell->second); known == served.end()) {
        first_served[cell->second].insert(model);
      } else if (!known->second.contains(model)) {
        return;
      }
      if (sample->cached_from.empty()) sample->cached_from = name;
      found.emplace(key, std::move(sample).value());
    };
    // If a run can't be read, its answers are simply requested again.
    const Result<std::size_t> read = VisitJournalLines(run, consider);
    served.merge(first_served);
    if (read && found.size() == wanted.size()) break;
  }
  return found;
}

std::vector<Sample> CachedSamplesOf(const std::vector<Cell>& cells,
                                    const std::vector<std::filesystem::path>& runs_dirs) {
  std::unordered_map<std::string, std::size_t> wanted;
  for (const Cell& cell : cells) wanted.emplace(cell.key, cell.student);
  std::unordered_map<std::string, Sample> found;
  for (const std::filesystem::path& runs_dir : runs_dirs) found.merge(FindCachedSamples(runs_dir, wanted));
  std::vector<Sample> samples;
  samples.reserve(found.size());
  for (auto& [key, sample] : found) samples.push_back(std::move(sample));
  return samples;
}

}  // namespace upskill
