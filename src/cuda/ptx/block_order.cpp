// SPDX-License-Identifier: Apache-2.0
#include "cuda/ptx/block_order.h"

#include <algorithm>
#include <limits>

namespace upskill::ptx {
namespace {

constexpr std::size_t kMostBlocks = 4000;  // beyond it, the order of the text is good enough

struct BasicBlock {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  std::vector<std::uint32_t> successors;
};

bool EndsBlock(const Inst& inst) {
  return inst.action == Action::kBranch || inst.action == Action::kBranchIndexed || inst.action == Action::kReturn ||
         inst.action == Action::kExit || inst.action == Action::kTrap;
}

std::vector<BasicBlock> SplitIntoBlocks(const Program& program, const Function& function) {
  std::vector<std::uint32_t> leaders{function.entry};
  for (std::uint32_t pc = function.entry; pc < function.end; ++pc) {
    const Inst& inst = program.code[pc];
    if (!EndsBlock(inst)) continue;
    if (pc + 1 < function.end) leaders.push_back(pc + 1);
    if (inst.action == Action::kBranch && inst.target < function.end) leaders.push_back(inst.target);
    if (inst.action == Action::kBranchIndexed) {
      const auto& targets = program.branch_targets[inst.target];
      leaders.insert(leaders.end(), targets.begin(), targets.end());
    }
  }
  std::sort(leaders.begin(), leaders.end());
  leaders.erase(std::unique(leaders.begin(), leaders.end()), leaders.end());
  std::vector<BasicBlock> blocks;
  blocks.reserve(leaders.size());
  for (std::size_t i = 0; i < leaders.size(); ++i) {
    blocks.push_back(BasicBlock{leaders[i], i + 1 < leaders.size() ? leaders[i + 1] : function.end, {}});
  }
  const auto index_of = [&](std::uint32_t pc) {
    return static_cast<std::uint32_t>(std::lower_bound(leaders.begin(), leaders.end(), pc) - leaders.begin());
  };
  for (std::uint32_t i = 0; i < blocks.size(); ++i) {
    BasicBlock& block = blocks[i];
    if (block.end == block.begin) continue;
    const Inst& last = program.code[block.end - 1];
    if (last.action == Action::kBranch && last.target < function.end) block.successors.push_back(index_of(last.target));
    if (last.action == Action::kBranchIndexed) {
      for (const std::uint32_t target : program.branch_targets[last.target]) {
        block.successors.push_back(index_of(target));
      }
    }
    const bool falls_through = !EndsBlock(last) || last.guard != kNoSlot;
    if (falls_through && i + 1 < blocks.size()) block.successors.push_back(i + 1);
  }
  return blocks;
}

class WeakTopologicalOrder {
 public:
  explicit WeakTopologicalOrder(const std::vector<BasicBlock>& blocks) : blocks_(blocks), number_(blocks.size(), 0) {}

  // Indices of blocks; those that can't be reached come last.
  std::vector<std::uint32_t> Compute() {
    std::vector<std::uint32_t> reversed;
    Visit(0, reversed);
    std::vector<std::uint32_t> order(reversed.rbegin(), reversed.rend());
    for (std::uint32_t i = 0; i < blocks_.size(); ++i) {
      if (number_[i] == 0) order.push_back(i);
    }
    return order;
  }

 private:
  static constexpr std::uint32_t kDone = std::numeric_limits<std::uint32_t>::max();

  std::uint32_t Visit(std::uint32_t block, std::vector<std::uint32_t>& reversed) {  // NOLINT(misc-no-recursion)
    stack_.push_back(block);
    number_[block] = ++last_number_;
    std::uint32_t head = number_[block];
    bool is_loop = false;
    for (const std::uint32_t successor : blocks_[block].successors) {
      const std::uint32_t least = number_[successor] == 0 ? Visit(successor, reversed) : number_[successor];
      if (least <= head) {
        head = least;
        is_loop = true;
      }
    }
    if (head != number_[block]) return head;
    number_[block] = kDone;
    std::uint32_t element = stack_.back();
    stack_.pop_back();
    if (!is_loop) {
      reversed.push_back(block);
      return head;
    }
    while (element != block) {
      number_[element] = 0;
      element = stack_.back();
      stack_.pop_back();
    }
    std::vector<std::uint32_t> inside;
    for (const std::uint32_t successor : blocks_[block].successors) {
      if (number_[successor] == 0) Visit(successor, inside);
    }
    reversed.insert(reversed.end(), inside.begin(), inside.end());
    reversed.push_back(block);
    return head;
  }

  const std::vector<BasicBlock>& blocks_;
  std::vector<std::uint32_t> number_;
  std::vector<std::uint32_t> stack_;
  std::uint32_t last_number_ = 0;
};

}  // namespace

void OrderBlocks(Program& program, const Function& function) {
  const std::vector<BasicBlock> blocks = SplitIntoBlocks(program, function);
  std::vector<std::uint32_t> order;
  if (blocks.size() <= kMostBlocks) {
    order = WeakTopologicalOrder(blocks).Compute();
  } else {
    order.reserve(blocks.size());
    for (std::uint32_t i = 0; i < blocks.size(); ++i) order.push_back(i);
  }
  std::uint32_t next = 0;
  for (const std::uint32_t block : order) {
    for (std::uint32_t pc = blocks[block].begin; pc < blocks[block].end; ++pc) program.priority[pc] = next++;
  }
}

}  // namespace upskill::ptx
