// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace upskill {

// Finds out which of many strings occur in a text, ignoring case (FoldCase). The time depends on the size of the text
// and hardly on the number of strings: above a few, they form one automaton (Aho and Corasick, 1975), of about 40 bytes
// per byte of the strings. Thread-safe once finished.
class LiteralSearch {
 public:
  // The number of the string: 0, 1, 2, … `literal` is valid UTF-8 and not empty.
  std::size_t Add(std::string_view literal);
  std::size_t size() const { return literals_.size(); }
  std::size_t bytes() const { return bytes_; }

  // Call once, after the last Add.
  void Finish();

  // For each string, whether it occurs in `text`, which is valid UTF-8.
  std::vector<bool> FindIn(std::string_view text) const;

 private:
  using Node = std::uint32_t;
  static constexpr Node kRoot = 0;
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;

  struct Edge {
    Node from = 0;
    Node to = 0;
    unsigned char byte = 0;
  };

  std::optional<Node> Next(Node node, unsigned char byte) const;
  Node Step(Node node, unsigned char byte) const;
  std::size_t SlotOf(Node node, unsigned char byte) const;
  Node AddNode(Node from, unsigned char byte);
  void AddWord(std::string_view word, std::uint32_t number);
  void LinkNodes();

  std::vector<std::string> literals_;  // folded; empty once they are in the automaton
  std::size_t bytes_ = 0;

  // The automaton: a tree of all prefixes of the strings.
  std::vector<Edge> edges_;             // by node - 1: the edge that leads to it
  std::vector<std::uint32_t> slots_;    // hash table of edges_, open addressing; kNone: free
  std::array<Node, 256> first_{};       // the root's edges; kRoot: none
  std::vector<Node> fallback_;          // by node: the longest proper suffix that is a node as well
  std::vector<Node> shorter_;           // by node: the longest proper suffix that is a whole string; kRoot: none
  std::vector<std::uint32_t> word_of_;  // by node: the string that ends there, or kNone
  std::vector<std::uint32_t> same_as_;  // by string: an earlier one that is equal, or itself
};

}  // namespace upskill
