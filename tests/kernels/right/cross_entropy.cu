// SPDX-License-Identifier: Apache-2.0
// Loss and gradient of the logits, a block a row, in the order of log-sum-exp; ignored rows have target -1.
#include "program.cuh"

__global__ void CrossEntropy(const float* logits, const int* targets, float* loss, float* gradient, int classes) {
  __shared__ float shared[128];
  const int row = blockIdx.x, t = threadIdx.x, target = targets[row];
  logits += static_cast<size_t>(row) * classes;
  gradient += static_cast<size_t>(row) * classes;
  if (target < 0) {
    for (int i = t; i < classes; i += 128) gradient[i] = 0;
    if (t == 0) loss[row] = 0;
    return;  // the whole block does
  }
  float largest = -INFINITY;
  for (int i = t; i < classes; i += 128) largest = fmaxf(largest, logits[i]);
  shared[t] = largest;
  __syncthreads();
  for (int half = 64; half > 0; half /= 2) {
    if (t < half) shared[t] = fmaxf(shared[t], shared[t + half]);
    __syncthreads();
  }
  largest = shared[0];
  __syncthreads();
  float sum = 0;
  for (int i = t; i < classes; i += 128) sum += expf(logits[i] - largest);
  shared[t] = sum;
  __syncthreads();
  for (int half = 64; half > 0; half /= 2) {
    if (t < half) shared[t] += shared[t + half];
    __syncthreads();
  }
  sum = shared[0];
  for (int i = t; i < classes; i += 128) gradient[i] = expf(logits[i] - largest) / sum - (i == target ? 1 : 0);
  if (t == 0) loss[row] = logf(sum) + largest - logits[target];
}
bool Test(int rows, int classes) {
  Random random(classes);
  std::vector<float> logits = random.Values(rows * classes);
  for (float& v : logits) v *= 20;
  std::vector<int> targets(rows);
  std::vector<double> loss(rows), gradient(rows * classes);
  for (int r = 0; r < rows; ++r) {
    targets[r] = r % 4 == 3 ? -1 : random.Below(classes);
    if (targets[r] < 0) continue;
    double sum = 0;
    for (int c = 0; c < classes; ++c) sum += std::exp(double(logits[r * classes + c]));
    for (int c = 0; c < classes; ++c)
      gradient[r * classes + c] = std::exp(double(logits[r * classes + c])) / sum - (c == targets[r]);
    loss[r] = std::log(sum) - logits[r * classes + targets[r]];
  }
  Device<float> dlogits(logits), dloss(rows), dgradient(rows * classes);
  Device<int> dtargets(targets);
  CrossEntropy<<<rows, 128>>>(dlogits, dtargets, dloss, dgradient, classes);
  return Equal(dloss.Host(), loss, 1e-5) && Equal(dgradient.Host(), gradient, 1e-5);
}
int main() {
  const bool ok = Test(1, 2) && Test(5, 127) && Test(6, 1000);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
