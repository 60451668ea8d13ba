// SPDX-License-Identifier: Apache-2.0
#include "check/literal_search.h"

#include <cstring>
#include <utility>

#include "skill/unicode_text.h"
#include "util/invariant.h"

namespace upskill {
namespace {

constexpr std::size_t kFewLiterals = 8;  // searched for one by one

// memmem of glibc takes linear time whatever the texts are; std::string_view::find doesn't.
bool Occurs(std::string_view text, std::string_view literal) {
  return ::memmem(text.data(), text.size(), literal.data(), literal.size()) != nullptr;
}

}  // namespace

std::size_t LiteralSearch::Add(std::string_view literal) {
  CHECK(!literal.empty() && word_of_.empty());
  literals_.push_back(FoldCase(literal));
  bytes_ += literals_.back().size();
  return literals_.size() - 1;
}

void LiteralSearch::Finish() {
  if (literals_.size() <= kFewLiterals) return;
  word_of_.push_back(kNone);
  same_as_.reserve(literals_.size());
  for (const std::string& literal : literals_) AddWord(literal, static_cast<std::uint32_t>(same_as_.size()));
  LinkNodes();
  literals_ = std::vector<std::string>(literals_.size());
}

std::size_t LiteralSearch::SlotOf(Node node, unsigned char byte) const {
  const std::uint64_t key = (std::uint64_t{node} << 8U) | byte;
  std::size_t at = static_cast<std::size_t>((key * 0x9E3779B97F4A7C15ULL) >> 32U) & (slots_.size() - 1);
  while (slots_[at] != kNone) {
    const Edge& edge = edges_[slots_[at]];
    if (edge.from == node && edge.byte == byte) break;
    at = (at + 1) & (slots_.size() - 1);
  }
  return at;
}

std::optional<LiteralSearch::Node> LiteralSearch::Next(Node node, unsigned char byte) const {
  if (node == kRoot) return first_.at(byte) == kRoot ? std::nullopt : std::optional(first_.at(byte));
  const std::uint32_t edge = slots_[SlotOf(node, byte)];
  return edge == kNone ? std::nullopt : std::optional(edges_[edge].to);
}

LiteralSearch::Node LiteralSearch::AddNode(Node from, unsigned char byte) {
  if (edges_.size() * 2 >= slots_.size()) {
    slots_.assign(slots_.empty() ? 1024 : slots_.size() * 2, kNone);
    for (std::size_t i = 0; i < edges_.size(); ++i)
      slots_[SlotOf(edges_[i].from, edges_[i].byte)] = static_cast<std::uint32_t>(i);
  }
  const auto to = static_cast<Node>(word_of_.size());
  slots_[SlotOf(from, byte)] = static_cast<std::uint32_t>(edges_.size());
  edges_.push_back({from, to, byte});
  word_of_.push_back(kNone);
  if (from == kRoot) first_.at(byte) = to;
  return to;
}

void LiteralSearch::AddWord(std::string_view word, std::uint32_t number) {
  Node node = kRoot;
  for (const char c : word) {
    const auto byte = static_cast<unsigned char>(c);
    const std::optional<Node> next = Next(node, byte);
    node = next ? *next : AddNode(node, byte);
  }
  if (word_of_[node] == kNone) word_of_[node] = number;
  same_as_.push_back(word_of_[node]);
}

LiteralSearch::Node LiteralSearch::Step(Node node, unsigned char byte) const {
  while (true) {
    if (const std::optional<Node> next = Next(node, byte)) return *next;
    if (node == kRoot) return kRoot;
    node = fallback_[node];
  }
}

// Shorter prefixes first: a node's links are made from those of shorter ones.
void LiteralSearch::LinkNodes() {
  const std::size_t count = word_of_.size();
  fallback_.assign(count, kRoot);
  shorter_.assign(count, kRoot);
  std::vector<std::size_t> depth(count, 0);
  std::vector<std::size_t> begin(2, 0);  // by depth: where its nodes begin in `order`
  for (const Edge& edge : edges_) {      // parents precede their children
    const std::size_t below = depth[edge.from] + 1;
    depth[edge.to] = below;
    if (begin.size() < below + 2) begin.resize(below + 2, 0);
    ++begin[below + 1];
  }
  for (std::size_t i = 1; i < begin.size(); ++i) begin[i] += begin[i - 1];
  std::vector<std::uint32_t> order(edges_.size());
  for (std::size_t i = 0; i < edges_.size(); ++i) order[begin[depth[edges_[i].to]]++] = static_cast<std::uint32_t>(i);
  for (const std::uint32_t index : order) {
    const Edge& edge = edges_[index];
    if (edge.from != kRoot) fallback_[edge.to] = Step(fallback_[edge.from], edge.byte);
    const Node suffix = fallback_[edge.to];
    shorter_[edge.to] = word_of_[suffix] != kNone ? suffix : shorter_[suffix];
  }
}

std::vector<bool> LiteralSearch::FindIn(std::string_view text) const {
  std::vector<bool> found(literals_.size());
  const std::string folded = FoldCase(text);
  if (word_of_.empty()) {
    for (std::size_t i = 0; i < literals_.size(); ++i) found[i] = Occurs(folded, literals_[i]);
    return found;
  }
  Node node = kRoot;
  for (const char c : folded) {
    node = Step(node, static_cast<unsigned char>(c));
    // What ends here: the node's string and its suffixes. Once one of them is known, so are the shorter ones.
    for (Node word = word_of_[node] != kNone ? node : shorter_[node]; word != kRoot && !found[word_of_[word]];
         word = shorter_[word])
      found[word_of_[word]] = true;
  }
  for (std::size_t i = 0; i < found.size(); ++i) found[i] = found[same_as_[i]];
  return found;
}

}  // namespace upskill
