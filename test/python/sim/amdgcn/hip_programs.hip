// HIP kernels as people write them, for the simulator: test_amdgcn_hip.py has clang compile them for each target, once as they should be
// (MISTAKE 0) and once with each of the mistakes 1 and 2. No part of ROCm is needed.
#define __global__ extern "C" __attribute__((global))
#define __device__ static __attribute__((device))
#define __shared__ __attribute__((shared))
typedef unsigned uint;
typedef float float4 __attribute__((ext_vector_type(4)));
typedef float float8 __attribute__((ext_vector_type(8)));
typedef _Float16 half4 __attribute__((ext_vector_type(4)));
typedef _Float16 half8 __attribute__((ext_vector_type(8)));
typedef _Float16 half16 __attribute__((ext_vector_type(16)));

/// Whether mistake `n` is left out.
#define UNLESS(n) if (MISTAKE != n)

#define threadIdx_x __builtin_amdgcn_workitem_id_x()
#define threadIdx_y __builtin_amdgcn_workitem_id_y()
#define blockIdx_x __builtin_amdgcn_workgroup_id_x()
#define blockIdx_y __builtin_amdgcn_workgroup_id_y()
#define blockDim_x __builtin_amdgcn_workgroup_size_x()
#define gridDim_x (__builtin_amdgcn_grid_size_x() / blockDim_x)

__device__ void __syncthreads() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
__device__ void __threadfence() {
  __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent");
}
template <class T> __device__ T atomicAdd(T *at, T value) {
  return __hip_atomic_fetch_add(at, value, __ATOMIC_RELAXED,
                                __HIP_MEMORY_SCOPE_AGENT);
}
__device__ float __shfl_xor(float value, int mask) {
  int lane = __builtin_amdgcn_mbcnt_lo(~0u, 0);
  if (__builtin_amdgcn_wavefrontsize() == 64)
    lane = __builtin_amdgcn_mbcnt_hi(~0u, lane);
  return __builtin_bit_cast(
      float, __builtin_amdgcn_ds_bpermute(4 * (lane ^ mask),
                                          __builtin_bit_cast(int, value)));
}

/// c[m][n] = a[m][k] * b[k][n], by tiles of 16 x 16. Mistakes: no barrier before
/// tiles are overwritten; no bounds of ragged tiles.
__global__ void matmul(const float *a, const float *b, float *c, int m, int n,
                       int k) {
  __shared__ float left[16][16], right[16][16];
  int x = threadIdx_x, y = threadIdx_y, row = blockIdx_y * 16 + y,
      column = blockIdx_x * 16 + x;
  float sum = 0;
  for (int start = 0; start < k; start += 16) {
    left[y][x] = (row < m && start + x < k) || MISTAKE == 2
                     ? a[row * k + start + x]
                     : 0;
    right[y][x] =
        start + y < k && column < n ? b[(start + y) * n + column] : 0;
    __syncthreads();
    for (int i = 0; i < 16; ++i)
      sum += left[y][i] * right[i][x];
    UNLESS(1) __syncthreads();
  }
  if (row < m && column < n)
    c[row * n + column] = sum;
}

/// A tile of 32 x 32 by 32 x 8 threads; rows of LDS are `Columns` apart. Mistakes: no barrier; one row too many.
template <int Columns>
__device__ void transposeTile(const float *in, float *out, int size) {
  __shared__ float tile[32][Columns];
  int x = threadIdx_x, y = threadIdx_y;
  for (int i = y; i < 32 + (MISTAKE == 2); i += 8)
    tile[i][x] = in[(blockIdx_y * 32 + i) * size + blockIdx_x * 32 + x];
  UNLESS(1) __syncthreads();
  for (int i = y; i < 32; i += 8)
    out[(blockIdx_x * 32 + i) * size + blockIdx_y * 32 + x] = tile[x][i];
}
__global__ void transpose(const float *in, float *out, int size) {
  transposeTile<33>(in, out, size);
}
__global__ void transpose_in_conflict(const float *in, float *out, int size) {
  transposeTile<32>(in, out, size);
}

/// One sum of all, by shuffles, LDS and an atomic. Mistakes: the sum is no
/// atomic; sums of waves that are not there are read.
__global__ void reduce(const float *in, float *out, int n) {
  __shared__ float sums[32];
  float sum = 0;
  for (int i = blockIdx_x * blockDim_x + threadIdx_x; i < n;
       i += blockDim_x * gridDim_x)
    sum += in[i];
  int lanes = __builtin_amdgcn_wavefrontsize();
  for (int step = 1; step < lanes; step *= 2)
    sum += __shfl_xor(sum, step);
  if (threadIdx_x % lanes == 0)
    sums[threadIdx_x / lanes] = sum;
  __syncthreads();
  if (threadIdx_x == 0) {
    float all = 0;
    int waves = blockDim_x / lanes + (MISTAKE == 2);
    for (int i = 0; i < waves; ++i)
      all += sums[i];
    if (MISTAKE == 1)
      *out += all;
    else
      atomicAdd(out, all);
  }
}

/// Sums up to each element of a block. Mistakes: one buffer only; a place before
/// the first one.
__global__ void scan(const uint *in, uint *out) {
  __shared__ uint sums[2][256];
  uint t = threadIdx_x, at = blockIdx_x * 256 + t, from = 0;
  sums[0][t] = in[at];
  __syncthreads();
  for (uint step = 1; step < 256; step *= 2) {
    uint to = MISTAKE == 1 ? from : 1 - from;
    bool has = MISTAKE == 2 ? t + 1 >= step : t >= step;
    sums[to][t] = sums[from][t] + (has ? (&sums[from][t])[-(int)step] : 0);
    __syncthreads();
    from = to;
  }
  out[at] = sums[from][t];
}

/// Counts in LDS first. Mistakes: they do not start at zero; they are no atomics.
__global__ void histogram(const uint *in, uint *counts, int n) {
  __shared__ uint bins[32];
  UNLESS(1) {
    if (threadIdx_x < 32)
      bins[threadIdx_x] = 0;
  }
  __syncthreads();
  for (int i = threadIdx_x; i < n; i += blockDim_x) {
    if (MISTAKE == 2)
      bins[in[i] % 32] += 1;
    else
      __hip_atomic_fetch_add(&bins[in[i] % 32], 1u, __ATOMIC_RELAXED,
                             __HIP_MEMORY_SCOPE_WORKGROUP);
  }
  __syncthreads();
  if (threadIdx_x < 32)
    atomicAdd(&counts[threadIdx_x], bins[threadIdx_x]);
}

/// Bitonic, 256 elements. Mistakes: no barrier between steps; a barrier that
/// waves reach or not.
__global__ void sort(int *values) {
  __shared__ int v[256];
  uint t = threadIdx_x;
  v[t] = values[t];
  __syncthreads();
  for (uint size = 2; size <= 256; size *= 2)
    for (uint step = size / 2; step > 0; step /= 2) {
      uint other = t ^ step;
      if (other > t) {
        bool up = (t & size) == 0;
        int a = v[t], b = v[other];
        if ((a > b) == up) {
          v[t] = b;
          v[other] = a;
        }
        if (MISTAKE == 2)
          __syncthreads();
      }
      UNLESS(1) __syncthreads();
    }
  values[t] = v[t];
}

/// Mean of three neighbours, with the edges of a block in LDS. Mistakes: the
/// edges are not loaded; the last element has a neighbour too many.
__global__ void stencil(const float *in, float *out, int n) {
  __shared__ float s[258];
  int t = threadIdx_x, i = blockIdx_x * 256 + t;
  s[t + 1] = i < n ? in[i] : 0;
  UNLESS(1) {
    if (t == 0)
      s[0] = i > 0 ? in[i - 1] : 0;
    if (t == 255)
      s[257] = i + 1 < n || MISTAKE == 2 ? in[i + 1] : 0;
  }
  __syncthreads();
  if (i < n)
    out[i] = (s[t] + s[t + 1] + s[t + 2]) * 0.25f;
}

/// The block that comes last adds what all blocks have written. Mistakes: no
/// fence; the others' writes are read by those who are not last, too.
__global__ void last_block(const float *in, float *parts, uint *arrived,
                           float *out) {
  __shared__ bool isLast;
  uint blocks = gridDim_x;
  if (threadIdx_x == 0) {
    float sum = 0;
    for (int i = 0; i < 64; ++i)
      sum += in[blockIdx_x * 64 + i];
    parts[blockIdx_x] = sum;
    UNLESS(1) __threadfence();
    isLast = atomicAdd(arrived, 1u) == blocks - 1;
  }
  __syncthreads();
  if ((isLast || MISTAKE == 2) && threadIdx_x == 0) {
    UNLESS(1) __threadfence();
    float sum = 0;
    for (uint i = 0; i < blocks; ++i)
      sum += parts[i];
    if (isLast)
      *out = sum;
  }
}

/// Four floats at once. Mistakes: as many groups as floats; addresses in bytes
/// where they are in floats.
__global__ void scale4(const float4 *in, float4 *out, float by, int floats) {
  int groups = MISTAKE == 1 ? floats : floats / 4;
  for (int i = blockIdx_x * blockDim_x + threadIdx_x; i < groups;
       i += blockDim_x * gridDim_x)
    out[MISTAKE == 2 ? 16 * i : i] = in[i] * by;
}

/// Largest float by compare and swap. Mistakes: load and store instead; the
/// largest of one place too many.
__global__ void largest(const float *in, float *out, int n) {
  int i = blockIdx_x * blockDim_x + threadIdx_x;
  if (i >= n + (MISTAKE == 2))
    return;
  float value = in[i];
  if (MISTAKE == 1) {
    if (value > *out)
      *out = value;
    return;
  }
  uint *place = (uint *)out;
  uint before = __hip_atomic_load(place, __ATOMIC_RELAXED,
                                  __HIP_MEMORY_SCOPE_AGENT);
  while (__builtin_bit_cast(float, before) < value &&
         !__hip_atomic_compare_exchange_strong(
             place, &before, __builtin_bit_cast(uint, value), __ATOMIC_RELAXED,
             __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT))
    ;
}

/// c = a * b of 16 x 16 halves by a matrix instruction, with a and b in LDS.
/// Mistakes: no barrier; half of a is not written.
__global__ void matrix(const _Float16 *a, const _Float16 *b, float *c) {
  __shared__ _Float16 left[256], right[256];
  int t = threadIdx_x, threads = blockDim_x, wave = t / __builtin_amdgcn_wavefrontsize();
  for (int i = t; i < 256; i += threads) {
    if (MISTAKE != 2 || i < 128)
      left[i] = a[i];
    right[i] = b[i];
  }
  UNLESS(1) __syncthreads();
  if (wave)
    return;
  int row = t % 16, part = t / 16;
#if __gfx942__
  half4 x, y;
  for (int i = 0; i < 4; ++i) {
    x[i] = left[row * 16 + part * 4 + i];
    y[i] = right[(part * 4 + i) * 16 + row];
  }
  float4 sum = __builtin_amdgcn_mfma_f32_16x16x16f16(x, y, (float4)(0.0f), 0, 0, 0);
  for (int i = 0; i < 4; ++i)
    c[(part * 4 + i) * 16 + row] = sum[i];
#elif __gfx1201__
  half8 x, y;
  for (int i = 0; i < 8; ++i) {
    x[i] = left[row * 16 + part * 8 + i];
    y[i] = right[(part * 8 + i) * 16 + row];
  }
  float8 sum = __builtin_amdgcn_wmma_f32_16x16x16_f16_w32_gfx12(x, y, (float8)(0.0f));
  for (int i = 0; i < 8; ++i)
    c[(part * 8 + i) * 16 + row] = sum[i];
#else
  half16 x, y;
  for (int i = 0; i < 16; ++i) {
    x[i] = left[row * 16 + i];
    y[i] = right[i * 16 + row];
  }
  float8 sum = __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(x, y, (float8)(0.0f));
  for (int i = 0; i < 8; ++i)
    c[(2 * i + part) * 16 + row] = sum[i];
#endif
}

/// Sums of rows, one for each wave, with dynamic LDS. Mistakes: LDS of another wave; a row too many.
__global__ void rows(const float *in, float *out, int width) {
  extern __shared__ float part[];
  int lanes = __builtin_amdgcn_wavefrontsize(), lane = threadIdx_x % lanes,
      wave = threadIdx_x / lanes, row = blockIdx_x * (blockDim_x / lanes) + wave;
  float sum = 0;
  for (int i = lane; i < width; i += lanes)
    sum += in[(row + (MISTAKE == 2)) * width + i];
  float *mine = part + (MISTAKE == 1 ? 0 : wave * lanes);
  mine[lane] = sum;
  __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "wavefront");
  if (lane == 0) {
    for (int i = 1; i < lanes; ++i)
      sum += mine[i];
    out[row] = sum;
  }
}
