// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace upskill {

// A server may have changed the model behind a name since reused answers were given. The first new answer shows it.
class ServedModels {
 public:
  // An answer that is reused was given by this model.
  void Reuse(std::size_t student, const std::string& served) { reused_[student].insert(served); }

  // A new answer of the student was given by this model.
  void Take(std::size_t student, const std::string& name, const std::string& served);

  const std::vector<std::string>& caveats() const { return caveats_; }

 private:
  std::map<std::size_t, std::set<std::string>> reused_;  // by student, until its first new answer
  std::vector<std::string> caveats_;
};

}  // namespace upskill
