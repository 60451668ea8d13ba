// SPDX-License-Identifier: Apache-2.0
#include "install/session_listing.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <set>
#include <string_view>
#include <utility>

#include "util/text.h"

namespace upskill {
namespace {

constexpr std::size_t kBytesPerListedToken = 4;

void FillIn(std::string& text, std::string_view mark, std::string_view value) {
  if (const std::size_t at = text.find(mark); at != std::string::npos) text.replace(at, mark.size(), value);
}

// The first code points of a text.
std::string_view FirstOf(std::string_view text, std::size_t code_points) {
  std::size_t end = 0;
  while (end < text.size()) {
    const bool begins = (static_cast<unsigned char>(text[end]) & 0xC0U) != 0x80U;
    if (begins && code_points-- == 0) break;
    ++end;
  }
  return text.substr(0, end);
}

std::string LineOf(const AgentListing& listing, const SkillHead& skill, std::string_view description) {
  std::string line = listing.line;
  if (description.empty()) {
    // What the agents leave out then: what follows it, or what introduces it.
    FillIn(line, "{description} ", "");
    FillIn(line, ": {description}", "");
  }
  FillIn(line, "{file}", skill.file);
  FillIn(line, "{description}", description);
  FillIn(line, "{name}", skill.name);
  return line;
}

// With the line's end.
std::size_t CostOf(const AgentListing& listing, const std::string& line) {
  return listing.in_tokens ? (line.size() + kBytesPerListedToken) / kBytesPerListedToken : CountCodePoints(line) + 1;
}

// Lines of which some have no description, or a shorter one.
class Fitting {
 public:
  Fitting(const AgentListing& listing, const std::vector<SkillHead>& skills) : listing_(listing), skills_(skills) {
    for (const SkillHead& skill : skills_) {
      const std::size_t length = skill.is_hidden ? 0 : CountCodePoints(skill.description);
      lengths_.push_back(listing.longest == 0 ? length : std::min(length, listing.longest));
    }
  }

  std::size_t Cost() const {
    std::size_t cost = 0;
    for (std::size_t i = 0; i < skills_.size(); ++i) cost += CostOfOne(i, lengths_[i]);
    return cost;
  }

  // Keeps the descriptions of the skills that are used most, as far as there is room.
  void CutLeastUsed(std::size_t room) {
    const std::vector<std::size_t> full = std::exchange(lengths_, std::vector<std::size_t>(skills_.size(), 0));
    std::vector<std::size_t> order(skills_.size());
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return skills_[a].uses > skills_[b].uses; });
    std::size_t used = Cost();
    for (const std::size_t i : order) {
      const std::size_t more = CostOfOne(i, full[i]) - CostOfOne(i, 0);
      if (used + more > room) continue;
      used += more;
      lengths_[i] = full[i];
    }
  }

  // Gives all descriptions the same length, but the shorter ones.
  void CutEvenly(std::size_t room) {
    const std::vector<std::size_t> full = lengths_;
    const auto cut_to = [&](std::size_t length) {
      for (std::size_t i = 0; i < full.size(); ++i) lengths_[i] = std::min(full[i], length);
      return Cost() <= room;
    };
    std::size_t fits = 0;
    std::size_t too_long = *std::max_element(full.begin(), full.end());
    while (fits + 1 < too_long) {
      const std::size_t middle = fits + (too_long - fits) / 2;
      (cut_to(middle) ? fits : too_long) = middle;
    }
    cut_to(fits);
  }

  std::vector<ListedHead> Result() const {
    std::vector<ListedHead> listed;
    for (std::size_t i = 0; i < skills_.size(); ++i) {
      if (skills_[i].is_hidden) {
        listed.emplace_back();
      } else {
        listed.push_back({Line(i, lengths_[i]), CountCodePoints(skills_[i].description) - lengths_[i]});
      }
    }
    return listed;
  }

 private:
  std::string Line(std::size_t i, std::size_t length) const {
    return LineOf(listing_, skills_[i], FirstOf(skills_[i].description, length));
  }
  std::size_t CostOfOne(std::size_t i, std::size_t length) const {
    return skills_[i].is_hidden ? 0 : CostOf(listing_, Line(i, length));
  }

  const AgentListing& listing_;
  const std::vector<SkillHead>& skills_;
  std::vector<std::size_t> lengths_;  // of the descriptions, in code points
};

std::set<std::string> WordsOf(const std::string& text) {
  constexpr std::size_t kShortest = 3;
  std::set<std::string> words;
  std::string word;
  for (const char c : ToLowerAscii(text) + " ") {
    if (IsAsciiAlphanumeric(c) || static_cast<unsigned char>(c) >= 0x80U) {
      word += c;
      continue;
    }
    if (word.size() >= kShortest) words.insert(word);
    word.clear();
  }
  return words;
}

// Whether of the words that either has, most are in both.
bool AreNearlySame(const std::set<std::string>& a, const std::set<std::string>& b) {
  std::vector<std::string> both;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
  return !both.empty() && both.size() * 5 >= (a.size() + b.size() - both.size()) * 3;
}

}  // namespace

std::vector<ListedHead> HeadsInSession(const AgentListing& listing, std::optional<std::size_t> room,
                                       const std::vector<SkillHead>& skills) {
  Fitting fitting(listing, skills);
  // The last line has no end, which a count of tokens doesn't show.
  const std::size_t most = room.value_or(listing.room) + (listing.in_tokens ? 0 : 1);
  if (most > 1 && fitting.Cost() > most) {
    if (listing.cuts_least_used) {
      fitting.CutLeastUsed(most);
    } else {
      fitting.CutEvenly(most);
    }
  }
  return fitting.Result();
}

std::vector<std::vector<std::size_t>> ClashesOf(const std::vector<SkillHead>& skills) {
  std::vector<std::set<std::string>> words;
  words.reserve(skills.size());
  for (const SkillHead& skill : skills) words.push_back(WordsOf(skill.description));
  std::vector<std::vector<std::size_t>> clashes(skills.size());
  for (std::size_t i = 0; i < skills.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (skills[i].name != skills[j].name && !AreNearlySame(words[i], words[j])) continue;
      clashes[i].push_back(j);
      clashes[j].push_back(i);
    }
  }
  return clashes;
}

}  // namespace upskill
