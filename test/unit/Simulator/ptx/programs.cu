// Programs of the kind people write by hand; see programs.ptx.
// Compiled with: nvcc -ptx -arch=sm_90 -lineinfo programs.cu
#include <assert.h>
#include <cuda_fp16.h>
#include <stdint.h>
#include <stdio.h>

__device__ unsigned ticket;
__constant__ float weights[4] = {1.0f, 2.0f, 3.0f, 4.0f};

// Block sums, then the last block adds them up: CTAs talk through memory.
extern "C" __global__ void reduce_last_block(const float *x, float *partial, float *out, int n) {
  __shared__ float scratch[256];
  __shared__ bool last;
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    sum += x[i];
  scratch[threadIdx.x] = sum;
  __syncthreads();
  for (int d = blockDim.x / 2; d; d /= 2) {
    if (threadIdx.x < d)
      scratch[threadIdx.x] += scratch[threadIdx.x + d];
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = scratch[0];
    __threadfence();
    last = atomicAdd(&ticket, 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    float total = 0;
    for (int b = 0; b < gridDim.x; ++b)
      total += ((volatile float *)partial)[b];
    *out = total;
  }
}

// Inclusive scan of one block: shuffles inside warps, shared memory between them.
extern "C" __global__ void scan(const int *x, int *out, int n) {
  __shared__ int sums[32];
  int i = threadIdx.x, lane = i % 32, warp = i / 32;
  int v = i < n ? x[i] : 0;
  for (int d = 1; d < 32; d *= 2) {
    int other = __shfl_up_sync(~0u, v, d);
    if (lane >= d)
      v += other;
  }
  if (lane == 31)
    sums[warp] = v;
  __syncthreads();
  if (warp == 0) {
    int s = lane < blockDim.x / 32 ? sums[lane] : 0;
    for (int d = 1; d < 32; d *= 2) {
      int other = __shfl_up_sync(~0u, s, d);
      if (lane >= d)
        s += other;
    }
    sums[lane] = s;
  }
  __syncthreads();
  if (warp)
    v += sums[warp - 1];
  if (i < n)
    out[i] = v;
}

extern "C" __global__ void histogram(const uint8_t *x, unsigned *bins, int n) {
  __shared__ unsigned local[256];
  for (int b = threadIdx.x; b < 256; b += blockDim.x)
    local[b] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&local[x[i]], 1);
  __syncthreads();
  for (int b = threadIdx.x; b < 256; b += blockDim.x)
    atomicAdd(&bins[b], local[b]);
}

extern "C" __global__ void atomics(int *ints, float *floats, unsigned long long *longs, double *doubles, __half2 *halves) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicMin(&ints[0], 100 - i);
  atomicMax(&ints[1], i);
  atomicXor(&ints[2], i);
  atomicOr(&ints[3], 1 << (i % 31));
  atomicInc((unsigned *)&ints[4], 9);
  atomicDec((unsigned *)&ints[5], 9);
  ints[16 + i] = atomicExch(&ints[6], i);
  atomicAdd(&floats[0], 0.5f);
  atomicAdd(&longs[0], 1ull << 33);
  atomicAdd(&doubles[0], 0.25);
  atomicAdd(&halves[0], __halves2half2(__float2half(1.0f), __float2half(0.5f)));
}

// A lock that lanes of one warp, warps and CTAs all contend for.
__device__ int mutex_word;
extern "C" __global__ void spin_lock(int *counter) {
  bool done = false;
  while (!done) {
    if (atomicCAS(&mutex_word, 0, 1) == 0) {
      __threadfence();
      *(volatile int *)counter = *(volatile int *)counter + 1;
      __threadfence();
      atomicExch(&mutex_word, 0);
      done = true;
    }
  }
}
// The form that needs independent progress of a warp's lanes.
extern "C" __global__ void spin_lock_naive(int *lock, int *counter) {
  while (atomicCAS(lock, 0, 1) != 0)
    ;
  __threadfence();
  *(volatile int *)counter = *(volatile int *)counter + 1;
  __threadfence();
  atomicExch(lock, 0);
}

// CTA i waits for CTA i + 1.
extern "C" __global__ void chain(volatile int *flags, int n) {
  if (threadIdx.x == 0) {
    if (blockIdx.x + 1 < n)
      while (flags[blockIdx.x + 1] == 0)
        ;
    __threadfence();
    flags[blockIdx.x] = blockIdx.x + 1 < n ? flags[blockIdx.x + 1] + 1 : 1;
  }
}

extern "C" __global__ void warp_votes(const int *x, unsigned *out) {
  int lane = threadIdx.x % 32;
  int v = x[threadIdx.x];
  out[threadIdx.x * 8 + 0] = __ballot_sync(~0u, v > 0);
  out[threadIdx.x * 8 + 1] = __any_sync(~0u, v > 5);
  out[threadIdx.x * 8 + 2] = __all_sync(~0u, v > -100);
  out[threadIdx.x * 8 + 3] = __match_any_sync(~0u, v);
  out[threadIdx.x * 8 + 4] = __reduce_add_sync(~0u, v);
  out[threadIdx.x * 8 + 5] = __reduce_max_sync(~0u, v);
  unsigned half = lane < 16 ? 0xffffu : 0xffff0000u;
  out[threadIdx.x * 8 + 6] = __shfl_sync(half, v, lane / 2, 16);
  out[threadIdx.x * 8 + 7] = lane % 2 ? __activemask() : __popc(__activemask());
}

__noinline__ __device__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
__noinline__ __device__ float4 blend(float4 a, float t) { return make_float4(a.x * t, a.y * t, a.z * t, a.w * t); }
typedef int (*unary)(int);
__device__ int twice(int x) { return 2 * x; }
__device__ int square(int x) { return x * x; }
__device__ unary table[2] = {twice, square};
extern "C" __global__ void calls(int *out, float4 *vectors, const int *which) {
  int i = threadIdx.x;
  out[i] = fibonacci(i % 12);
  vectors[i] = blend(vectors[i], weights[i % 4]);
  out[64 + i] = table[which[i]](i);
}

// An array that is indexed at run time lives in local memory.
extern "C" __global__ void local_array(const int *x, int *out, int n) {
  int values[16];
  for (int k = 0; k < 16; ++k)
    values[k] = x[threadIdx.x * 16 + k];
  for (int a = 1; a < 16; ++a)
    for (int b = a; b > 0 && values[b - 1] > values[b]; --b) {
      int t = values[b];
      values[b] = values[b - 1];
      values[b - 1] = t;
    }
  for (int k = 0; k < n; ++k)
    out[threadIdx.x * n + k] = values[(k * 5) % 16];
}

extern "C" __global__ void say(const char *unused, int n) {
  if (threadIdx.x < n)
    printf("thread %d of %u: %.2f %s %c %llx%%\n", (int)threadIdx.x, blockDim.x, threadIdx.x * 0.5, "text", 'x', 1ull << 40);
}
extern "C" __global__ void check(int n) { assert(threadIdx.x < n && "too many"); }

extern "C" __global__ void switches(const int *x, int *out) {
  int v = x[threadIdx.x], r = 0;
  switch (v) {
  case 0: r = 10; break;
  case 1: r = v * 7 + 3; break;
  case 2: r = -v; break;
  case 3: r = v << 5; break;
  case 4: r = __popc(v * 77); break;
  case 5: r = v * v * v; break;
  case 6: r = 0x55; break;
  default: r = 1000 + v;
  }
  out[threadIdx.x] = r;
}

extern "C" __global__ void doubles(const double *x, double *out) {
  int i = threadIdx.x;
  double v = x[i];
  out[i * 4 + 0] = sqrt(v) / (1.0 + v);
  out[i * 4 + 1] = fma(v, v, -v);
  out[i * 4 + 2] = exp(-v);
  out[i * 4 + 3] = sin(v) + (double)(long long)(v * 1e6);
}
