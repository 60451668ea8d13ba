// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "eval/journal/sample.h"
#include "eval/journal/sample_figures.h"

namespace upskill {

class RunData;

// The final sample of a cell: its first answer, or else its last error that wasn't to be followed by another attempt
// (Sample::will_retry). Without one, `answered` and `passed` are false. Its texts are at RunData::Load.
struct FinalSample {
  const SampleFigures* figures = nullptr;  // null: the cell has no sample yet
  bool answered = false;
  bool passed = false;
};

// A whole sample. Shared, because some are read from the journal for whoever looks at them, while others belong to the
// RunData, which must outlive the pointer then.
using SamplePtr = std::shared_ptr<const Sample>;

// Final samples of a run. Each is loaded when it is looked at, and kept only as long as its pointer.
class SampleList {
 public:
  // A cell of the plan, by its place in the RunData.
  struct Cell {
    std::uint32_t student = 0;
    std::uint32_t round = 0;
    std::uint32_t entry = 0;
  };

  SampleList(const RunData& data, std::vector<Cell> cells) : data_(&data), cells_(std::move(cells)) {}

  class const_iterator {  // NOLINT(readability-identifier-naming): as containers have it
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = SamplePtr;
    using difference_type = std::ptrdiff_t;
    using pointer = const SamplePtr*;
    using reference = SamplePtr;

    const_iterator(const SampleList* list, std::size_t index) : list_(list), index_(index) {}
    SamplePtr operator*() const { return list_->Get(index_); }
    const_iterator& operator++() {
      ++index_;
      return *this;
    }
    const_iterator operator++(int) {
      const const_iterator before = *this;
      ++index_;
      return before;
    }
    bool operator==(const const_iterator& other) const { return index_ == other.index_; }

   private:
    const SampleList* list_;
    std::size_t index_;
  };
  using iterator = const_iterator;  // NOLINT(readability-identifier-naming)
  using value_type = SamplePtr;     // NOLINT(readability-identifier-naming)

  std::size_t size() const { return cells_.size(); }
  bool empty() const { return cells_.empty(); }
  SamplePtr operator[](std::size_t index) const { return Get(index); }
  // Without loading it.
  FinalSample final(std::size_t index) const;
  SamplePtr first_error() const;  // null: there is none
  const_iterator begin() const { return {this, 0}; }
  const_iterator end() const { return {this, cells_.size()}; }

 private:
  SamplePtr Get(std::size_t index) const;

  const RunData* data_;
  std::vector<Cell> cells_;
};

}  // namespace upskill
