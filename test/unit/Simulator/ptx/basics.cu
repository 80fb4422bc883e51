// Elementwise, softmax, transpose, argmax: what the first kernels of the compiler do.
// Compiled with: nvcc -ptx -arch=sm_80 -lineinfo basics.cu
#include <cuda_fp16.h>

extern "C" __global__ void vector_add(const float *x, const float *y, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = x[i] + y[i];
}

extern "C" __global__ void softmax(const float *x, float *out, int columns) {
  __shared__ float scratch[32];
  const float *row = x + (size_t)blockIdx.x * columns;
  float best = -INFINITY;
  for (int c = threadIdx.x; c < columns; c += blockDim.x)
    best = fmaxf(best, row[c]);
  for (int d = 16; d; d /= 2)
    best = fmaxf(best, __shfl_xor_sync(~0u, best, d));
  if (threadIdx.x % 32 == 0)
    scratch[threadIdx.x / 32] = best;
  __syncthreads();
  for (int w = 0; w < blockDim.x / 32; ++w)
    best = fmaxf(best, scratch[w]);
  __syncthreads();
  float sum = 0;
  for (int c = threadIdx.x; c < columns; c += blockDim.x)
    sum += exp2f((row[c] - best) * 1.4426950408889634f);
  for (int d = 16; d; d /= 2)
    sum += __shfl_xor_sync(~0u, sum, d);
  if (threadIdx.x % 32 == 0)
    scratch[threadIdx.x / 32] = sum;
  __syncthreads();
  sum = 0;
  for (int w = 0; w < blockDim.x / 32; ++w)
    sum += scratch[w];
  for (int c = threadIdx.x; c < columns; c += blockDim.x)
    out[(size_t)blockIdx.x * columns + c] = exp2f((row[c] - best) * 1.4426950408889634f) / sum;
}

extern "C" __global__ void transpose(const __half *in, __half *out, int rows, int columns) {
  __shared__ __half tile[32][33];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8)
    if (x < columns && y + j < rows)
      tile[threadIdx.y + j][threadIdx.x] = in[(size_t)(y + j) * columns + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x;
  y = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8)
    if (x < rows && y + j < columns)
      out[(size_t)(y + j) * rows + x] = tile[threadIdx.x][threadIdx.y + j];
}

extern "C" __global__ void argmax(const float *x, int *out, int columns) {
  float best = -INFINITY;
  int where = 0x7fffffff;
  for (int c = threadIdx.x; c < columns; c += 32) {
    float v = x[(size_t)blockIdx.x * columns + c];
    if (v > best) {
      best = v;
      where = c;
    }
  }
  for (int d = 16; d; d /= 2) {
    float v = __shfl_down_sync(~0u, best, d);
    int w = __shfl_down_sync(~0u, where, d);
    if (v > best || (v == best && w < where)) {
      best = v;
      where = w;
    }
  }
  if (threadIdx.x == 0)
    out[blockIdx.x] = where;
}

// Trip counts differ between lanes; the early exit leaves lanes out of the shuffles.
extern "C" __global__ void collatz(const unsigned *x, unsigned *steps, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  unsigned v = x[i], count = 0;
  while (v != 1) {
    v = v & 1 ? 3 * v + 1 : v / 2;
    ++count;
  }
  steps[i] = count;
}
