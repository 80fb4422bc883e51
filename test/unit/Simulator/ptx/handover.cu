// Work that threads, CTAs and engines hand over to each other, as libraries of products and reductions do it; each
// right (`bug` is 0) and with mistakes (test_handover.py says which).
// Compiled with: nvcc -std=c++17 -ptx -arch=sm_90a handover.cu
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/ptx>
#include <cuda_pipeline.h>
namespace cg = cooperative_groups;
namespace ptx = cuda::ptx;
using u32 = unsigned; using u64 = uint64_t;
using Counter = cuda::atomic_ref<u32, cuda::thread_scope_device>;

// 1. Stream-K: each CTA takes an equal share of all steps of all tiles. Who has the first step of a tile adds up what
// the others, which have its later steps, leave in their slots.
extern "C" __global__ void stream_k(const float *a, const float *b, float *c, float *slots, u32 *flags, int tiles,
                                    int steps, int share, int bug) {
  int t = threadIdx.x, first = blockIdx.x * share, last = min(first + share, tiles * steps);
  for (int at = first; at < last;) {
    int tile = at / steps, end = min(last, (tile + 1) * steps), begin = at;
    float acc = 0;
    for (; at < end; ++at) acc += a[at] * b[at * 64 + t];
    if (begin != tile * steps) {
      // The end of a tile that began elsewhere: it is the first thing that this CTA does.
      slots[(bug == 4 ? tile % 2 : blockIdx.x) * 64 + t] = acc;
      if (bug != 1) __syncthreads();
      if (t == 0) Counter(flags[blockIdx.x]).store(1, bug == 2 ? cuda::memory_order_relaxed : cuda::memory_order_release);
      continue;
    }
    for (int other = blockIdx.x + 1; other * share < (tile + 1) * steps; ++other) {
      if (bug != 3 || other == blockIdx.x + 1) {
        if (t == 0) while (Counter(flags[other]).load(cuda::memory_order_acquire) == 0) ;
        __syncthreads();
      }
      acc += slots[(bug == 4 ? tile % 2 : other) * 64 + t];
    }
    c[tile * 64 + t] = acc;
  }
}

// 2. Each CTA of a cluster sends its partial sum into CTA 0's memory by st.async; one mbarrier counts the bytes.
extern "C" __global__ void cluster_reduce(const int *x, int *out, int n, int bug) {
  __shared__ alignas(16) int partial[8];
  __shared__ int warps[2];
  __shared__ u64 full;
  auto cluster = cg::this_cluster();
  u32 size = cluster.num_blocks(), rank = cluster.block_rank();
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&full, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    if (rank == 0)
      ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full, (bug == 1 ? size - 1 : size) * 4);
  }
  if (bug == 2) __syncthreads(); else cluster.sync();
  int v = 0;
  for (int i = blockIdx.x * 64 + threadIdx.x; i < n; i += gridDim.x * 64) v += x[i];
  v = cg::reduce(cg::tiled_partition<32>(cg::this_thread_block()), v, cg::plus<int>());
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = v;
  if (bug != 3) __syncthreads();
  if (threadIdx.x == 0)
    ptx::st_async(cluster.map_shared_rank(partial, 0) + rank, warps[0] + warps[1], cluster.map_shared_rank(&full, 0));
  if (rank == 0 && threadIdx.x == 0) {
    if (bug != 4) while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cluster, &full, 0)) ;
    int sum = 0;
    for (u32 i = 0; i < size; ++i) sum += partial[i];
    out[blockIdx.x / size] = sum;
  }
  cluster.sync();
}

// 3. CTAs add their tiles to one array by bulk reductions.
extern "C" __global__ void bulk_add(const int *x, int *out, int chunks, int bug) {
  __shared__ alignas(128) int buf[2][64];
  for (int i = 0; i < chunks; ++i) {
    int s = i % 2;
    if (threadIdx.x == 0 && bug != 1) ptx::cp_async_bulk_wait_group_read(ptx::n32_t<1>());
    __syncthreads();
    buf[s][threadIdx.x] = x[(blockIdx.x * chunks + i) * 64 + threadIdx.x];
    if (bug != 2) ptx::fence_proxy_async(ptx::space_shared);
    if (bug != 3) __syncthreads();
    if (threadIdx.x == 0) {
      if (bug == 4) ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, out + i * 64, buf[s], 64 * 4);
      else ptx::cp_reduce_async_bulk(ptx::space_global, ptx::space_shared, ptx::op_add, out + i * 64, buf[s], 64 * 4);
      ptx::cp_async_bulk_commit_group();
    }
  }
  if (threadIdx.x == 0) ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
}

// 4. A barrier of the grid by hand, with a sense that turns.
__device__ void grid_barrier(u32 *count, u32 *sense, int bug) {
  if (bug != 2) __syncthreads();
  if (threadIdx.x == 0) {
    u32 old = Counter(*sense).load(cuda::memory_order_relaxed);
    if (bug != 1) __threadfence();
    if (Counter(*count).fetch_add(1, cuda::memory_order_relaxed) == gridDim.x - 1) {
      Counter(*count).store(0, cuda::memory_order_relaxed);
      if (bug != 3) __threadfence();
      Counter(*sense).store(old + 1, cuda::memory_order_relaxed);
    } else {
      while (Counter(*sense).load(cuda::memory_order_relaxed) == old) ;
    }
    __threadfence();
  }
  if (bug != 4) __syncthreads();
}
extern "C" __global__ void rotate(int *a, int *b, u32 *count, u32 *sense, int n, int steps, int bug) {
  for (int i = 0; i < steps; ++i) {
    int *from = i % 2 ? b : a, *to = i % 2 ? a : b;
    for (int j = blockIdx.x * 64 + threadIdx.x; j < n; j += gridDim.x * 64) to[j] = from[(j + 65) % n] + i;
    grid_barrier(count, sense, bug);
  }
}

// 5. cuda::barrier, split: producers fill two buffers, consumers empty them.
extern "C" __global__ void split_barriers(const int *x, int *out, int chunks, int bug) {
  using barrier = cuda::barrier<cuda::thread_scope_block>;
  __shared__ alignas(16) unsigned char memory[4 * sizeof(barrier)];
  barrier *ready = reinterpret_cast<barrier *>(memory), *filled = ready + 2;
  __shared__ int buf[2][64];
  if (threadIdx.x == 0)
    for (int i = 0; i < 2; ++i) { init(ready + i, 128); init(filled + i, bug == 3 ? 64 : 128); }
  if (bug != 4) __syncthreads();
  int t = threadIdx.x % 64, acc = 0;
  if (threadIdx.x < 64) {
    for (int i = 0; i < chunks; ++i) {
      if (bug == 1) (void)ready[i % 2].arrive(); else ready[i % 2].arrive_and_wait();
      buf[i % 2][t] = x[i * 64 + t];
      (void)filled[i % 2].arrive();
    }
  } else {
    (void)ready[0].arrive();
    (void)ready[1].arrive();
    for (int i = 0; i < chunks; ++i) {
      auto token = filled[i % 2].arrive();
      if (bug != 2) filled[i % 2].wait(std::move(token));
      acc += buf[i % 2][63 - t] * (i + 1);
      if (i + 2 < chunks) (void)ready[i % 2].arrive();
    }
    out[t] = acc;
  }
}

// 6. A ring of cp.async with several groups in flight.
extern "C" __global__ void copy_ring(const int *x, int *out, int chunks, int bug) {
  constexpr int stages = 3;
  __shared__ alignas(16) int buf[stages][128];
  int t = threadIdx.x, acc = 0;
  auto load = [&](int i) {
    if (i < chunks && t < 32) __pipeline_memcpy_async(&buf[i % stages][t * 4], &x[i * 128 + t * 4], 16);
    if (bug != 3 || i < chunks) __pipeline_commit();
  };
  for (int i = 0; i + 1 < stages; ++i) load(i);
  for (int i = 0; i < chunks; ++i) {
    __pipeline_wait_prior(bug == 1 ? stages - 1 : stages - 2);
    if (bug != 2) __syncthreads();
    load(i + stages - 1 + (bug == 4 && i + stages < chunks));
    acc += buf[i % stages][127 - t] * (i + 1);
  }
  out[t] = acc;
}

// 7. A queue in global memory: one CTA produces, one consumes.
extern "C" __global__ void queue(const int *x, int *ring, u32 *head, u32 *tail, int *out, int chunks, int bug) {
  constexpr u32 slots = 2;
  int acc = 0;
  for (u32 i = 0; i < u32(chunks); ++i) {
    int *slot = ring + i % slots * 64 + threadIdx.x;
    if (blockIdx.x == 0) {
      if (threadIdx.x == 0 && bug != 1)
        while (i - Counter(*tail).load(cuda::memory_order_acquire) >= slots) ;
      __syncthreads();
      *slot = x[i * 64 + threadIdx.x];
      __syncthreads();
      if (threadIdx.x == 0) Counter(*head).store(i + 1, bug == 2 ? cuda::memory_order_relaxed : cuda::memory_order_release);
    } else {
      if (threadIdx.x == 0)
        while (bug == 3 ? *(volatile u32 *)head <= i : Counter(*head).load(cuda::memory_order_acquire) <= i) ;
      if (bug == 3) __syncwarp(); else __syncthreads();
      acc += *slot * int(i + 1);
      if (bug != 4) __syncthreads();
      if (threadIdx.x == 0) Counter(*tail).store(i + 1, cuda::memory_order_release);
    }
  }
  if (blockIdx.x == 1) out[threadIdx.x] = acc;
}

// 8. One CTA writes global memory, another copies it by the bulk engine: the flag orders, a fence joins the proxies.
extern "C" __global__ void bulk_after_flag(const int *x, int *work, u32 *flag, int *out, int bug) {
  __shared__ alignas(128) int buf[64];
  __shared__ u64 full;
  int t = threadIdx.x;
  if (blockIdx.x == 0) {
    work[t] = x[t] * 3;
    if (bug == 3) ptx::fence_proxy_async(ptx::space_shared); else if (bug != 1) ptx::fence_proxy_async(ptx::space_global);
    __syncthreads();
    if (t == 0) Counter(*flag).store(1, bug == 2 ? cuda::memory_order_relaxed : cuda::memory_order_release);
    return;
  }
  if (t == 0) {
    ptx::mbarrier_init(&full, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    while (Counter(*flag).load(cuda::memory_order_acquire) == 0) ;
    if (bug == 3) ptx::fence_proxy_async(ptx::space_shared); else if (bug != 1) ptx::fence_proxy_async(ptx::space_global);
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full, 256);
    ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, buf, work, 256, &full);
  }
  __syncthreads();
  while (!ptx::mbarrier_try_wait_parity(&full, 0)) ;
  out[t] = buf[63 - t];
}

// 9. Halves of neighbours' borders in a cluster, with a barrier in two halves.
extern "C" __global__ void borders(const int *x, int *out, int steps, int bug) {
  __shared__ int own[2][64];
  auto cluster = cg::this_cluster();
  u32 size = cluster.num_blocks(), rank = cluster.block_rank();
  int t = threadIdx.x;
  own[0][t] = x[blockIdx.x * 64 + t];
  cluster.sync();
  for (int i = 0; i < steps; ++i) {
    int *now = own[i % 2], *next = own[(i + 1) % 2];
    int left = t ? now[t - 1] : cluster.map_shared_rank(now, (rank + size - 1) % size)[63];
    int right = t < 63 ? now[t + 1] : cluster.map_shared_rank(now, (rank + 1) % size)[0];
    if (bug == 4) next = now;
    next[t] = now[t] * 2 + left + right;
    if (bug == 1) { asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory"); asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory"); }
    else if (bug == 2) __syncthreads();
    else if (bug == 3 && i == 1) { asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory"); out[blockIdx.x * 64 + t] = cluster.map_shared_rank(next, (rank + 1) % size)[t]; asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory"); }
    else { asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory"); asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory"); }
  }
  out[blockIdx.x * 64 + t] = own[steps % 2][t];
}

// 10. Bins of a CTA, then of the grid; the last CTA scans them.
extern "C" __global__ void bins_and_scan(const int *x, u32 *bins, u32 *done, u32 *out, int n, int bug) {
  __shared__ u32 own[32];
  __shared__ bool last;
  int t = threadIdx.x;
  if (t < 32) own[t] = 0;
  if (bug != 1) __syncthreads();
  for (int i = blockIdx.x * 64 + t; i < n; i += gridDim.x * 64) atomicAdd(&own[x[i] & 31], 1);
  if (bug != 2) __syncthreads();
  if (t < 32) { if (bug == 3) bins[t] += own[t]; else atomicAdd(&bins[t], own[t]); }
  if (bug != 4) __threadfence();
  __syncthreads();
  if (t == 0) last = Counter(*done).fetch_add(1, cuda::memory_order_relaxed) == gridDim.x - 1;
  __syncthreads();
  if (!last || t >= 32) return;
  __threadfence();
  u32 v = bins[t];
  for (int d = 1; d < 32; d *= 2) {
    u32 y = __shfl_up_sync(~0u, v, d);
    if (t >= d) v += y;
  }
  out[t] = v;
}
