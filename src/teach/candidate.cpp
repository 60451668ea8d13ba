// SPDX-License-Identifier: Apache-2.0
#include "teach/candidate.h"

#include <algorithm>
#include <numeric>

#include "util/fences.h"
#include "util/hash.h"
#include "util/text.h"

namespace upskill {
namespace {

bool Dominates(const Candidate& a, const Candidate& b) {
  bool wins = a.tokens < b.tokens;
  if (a.tokens > b.tokens) return false;
  for (std::size_t i = 0; i < a.train.size(); ++i) {
    if (a.train[i] < b.train[i] - kSameRate) return false;
    wins = wins || a.train[i] > b.train[i] + kSameRate;
  }
  return wins;
}

}  // namespace

double Candidate::mean() const {
  if (train.empty()) return 0.0;
  return std::accumulate(train.begin(), train.end(), 0.0) / static_cast<double>(train.size());
}

std::vector<std::size_t> ParetoFront(const std::vector<Candidate>& candidates) {
  std::vector<std::size_t> front;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (!candidates[i].measured) continue;
    const bool beaten = std::any_of(candidates.begin(), candidates.end(), [&](const Candidate& other) {
      return other.measured && Dominates(other, candidates[i]);
    });
    if (!beaten) front.push_back(i);
  }
  return front;
}

Json LineageToJson(const std::vector<Candidate>& candidates, const std::vector<std::string>& students) {
  const std::vector<std::size_t> front = ParetoFront(candidates);
  Json list = Json::array();
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const Candidate& candidate = candidates[i];
    Json entry = {{"id", candidate.id},
                  {"parent", candidate.parent < 0 ? Json(nullptr) : Json(candidate.parent)},
                  {"kind", candidate.kind},
                  {"why", candidate.why},
                  {"status", candidate.status},
                  {"tokens", candidate.tokens},
                  {"sha256", Sha256Hex(candidate.skill.body)},
                  {"pareto", std::find(front.begin(), front.end(), i) != front.end()},
                  {"run", candidate.run.empty() ? Json(nullptr) : Json(candidate.run)},
                  {"train_pass_rates", Json::object()},
                  {"body", candidate.skill.body}};
    for (std::size_t s = 0; s < candidate.train.size() && s < students.size(); ++s)
      entry["train_pass_rates"][students[s]] = candidate.train[s];
    list.push_back(std::move(entry));
  }
  return {{"schema", 1}, {"candidates", list}};
}

std::vector<BodyPart> PartsOf(const std::string& body) {
  std::vector<BodyPart> parts;
  FenceScanner scanner;
  std::size_t at = 0;
  while (at < body.size()) {
    const std::size_t end = std::min(body.find('\n', at), body.size() - 1) + 1;
    const std::string_view line = std::string_view(body).substr(at, end - at);
    if (scanner.Take(line) == FenceScanner::Line::kText && (line.starts_with("# ") || line.starts_with("## "))) {
      if (!parts.empty()) parts.back().end = at;
      parts.push_back({std::string(Trim(line.substr(line.find(' ')))), at, body.size()});
    }
    at = end;
  }
  return parts;
}

}  // namespace upskill
