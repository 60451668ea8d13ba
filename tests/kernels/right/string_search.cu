// SPDX-License-Identifier: Apache-2.0
// Counts the places of a word in a text and finds the first one.
#include "program.cuh"

__constant__ char word[16];
__global__ void Search(const char* text, int length, int word_length, int* count, int* first) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  bool found = i + word_length <= length;
  for (int j = 0; found && j < word_length; ++j) found = text[i + j] == word[j];
  if (!found) return;
  atomicAdd(count, 1);
  atomicMin(first, i);
}
bool Test(int length, int word_length) {
  Random random(length);
  std::vector<char> text(length), w(word_length);
  for (char& c : text) c = static_cast<char>('a' + random.Below(2));
  for (char& c : w) c = static_cast<char>('a' + random.Below(2));
  std::vector<int> count(1), first(1, length);
  for (int i = 0; i + word_length <= length; ++i) {
    if (!std::equal(w.begin(), w.end(), text.begin() + i)) continue;
    ++count[0];
    first[0] = std::min(first[0], i);
  }
  CHECK(cudaMemcpyToSymbol(word, w.data(), word_length));
  Device<char> dtext(text);
  Device<int> dcount(std::vector<int>(1, 0)), dfirst(std::vector<int>(1, length));
  Search<<<(length + 127) / 128, 128>>>(dtext, length, word_length, dcount, dfirst);
  return Equal(dcount.Host(), count, 0) && Equal(dfirst.Host(), first, 0);
}
int main() {
  const bool ok = Test(1, 1) && Test(3, 5) && Test(1000, 6) && Test(5001, 3);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
