// SPDX-License-Identifier: Apache-2.0
#include "trace/redact/cue_set.h"

#include <re2/set.h>

#include <algorithm>
#include <numeric>
#include <string>

#include "util/invariant.h"

namespace upskill {
namespace {

RE2::Options CueOptions() {
  RE2::Options options;
  options.set_case_sensitive(false);
  options.set_encoding(RE2::Options::EncodingLatin1);
  return options;
}

}  // namespace

struct CueSet::Expressions {
  RE2::Set set{CueOptions(), RE2::UNANCHORED};
};

CueSet::CueSet(const std::vector<std::string_view>& cues) : count_(static_cast<int>(cues.size())) {
  const auto expressions = std::make_shared<Expressions>();
  for (const std::string_view cue : cues) {
    std::string error;
    CHECK(expressions->set.Add(re2::StringPiece(cue.data(), cue.size()), &error) >= 0);
  }
  CHECK(expressions->set.Compile());
  expressions_ = expressions;
}

std::vector<int> CueSet::In(std::string_view text) const {
  std::vector<int> found;
  RE2::Set::ErrorInfo error{};
  if (!expressions_->set.Match(re2::StringPiece(text.data(), text.size()), &found, &error) &&
      error.kind != RE2::Set::kNoError) {
    // The automaton ran out of memory: any cue may occur.
    found.resize(static_cast<std::size_t>(count_));
    std::iota(found.begin(), found.end(), 0);
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace upskill
