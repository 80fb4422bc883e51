// Cooperative groups, barriers, pipelines and atomics of libcu++.
// Compiled with: nvcc -std=c++17 -ptx -arch=sm_90 cooperative.cu
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda/atomic>
namespace cg = cooperative_groups;

// Tiles of 16 lanes, a partition by a predicate, and the lanes that are active.
extern "C" __global__ void tiles(const int *x, int *out) {
  auto block = cg::this_thread_block();
  auto tile = cg::tiled_partition<16>(block);
  int v = x[block.thread_rank()];
  int sum = cg::reduce(tile, v, cg::plus<int>());
  int scan = cg::exclusive_scan(tile, v);
  auto odd = cg::binary_partition(tile, v & 1);
  int oddSum = cg::reduce(odd, v, cg::greater<int>());
  auto active = cg::coalesced_threads();
  out[block.thread_rank()] = sum + 1000 * scan + oddSum * 7 + active.size();
}

// Every CTA adds up what the others of its cluster hold.
extern "C" __global__ void cluster_sum(const int *x, int *out) {
  __shared__ int s[32];
  auto cluster = cg::this_cluster();
  s[threadIdx.x] = x[blockIdx.x * 32 + threadIdx.x];
  cluster.sync();
  int total = 0;
  for (int r = 0; r < cluster.num_blocks(); ++r)
    total += *cluster.map_shared_rank(&s[threadIdx.x], r);
  cluster.sync();
  out[blockIdx.x * 32 + threadIdx.x] = total;
}

// A ring of two buffers, filled by memcpy_async, guarded by cuda::barrier.
extern "C" __global__ void barrier_copy(const int *x, int *out) {
  __shared__ alignas(16) int s[2][128];
  __shared__ cuda::barrier<cuda::thread_scope_block> bar[2];
  auto block = cg::this_thread_block();
  if (block.thread_rank() == 0) {
    init(&bar[0], block.size());
    init(&bar[1], block.size());
  }
  block.sync();
  cuda::memcpy_async(block, s[0], x, sizeof(int) * 128, bar[0]);
  int acc = 0;
  for (int i = 0; i < 4; ++i) {
    if (i + 1 < 4)
      cuda::memcpy_async(block, s[(i + 1) % 2], x + (i + 1) * 128, sizeof(int) * 128, bar[(i + 1) % 2]);
    bar[i % 2].arrive_and_wait();
    acc += s[i % 2][127 - threadIdx.x];
    block.sync();
  }
  out[threadIdx.x] = acc;
}

// The same with a pipeline of one thread's own copies.
extern "C" __global__ void piped(const int *x, int *out) {
  __shared__ int s[2][128];
  auto pipe = cuda::make_pipeline();
  int acc = 0;
  for (int i = 0; i < 5; ++i) {
    if (i < 4) {
      pipe.producer_acquire();
      cuda::memcpy_async(&s[i % 2][threadIdx.x], &x[i * 128 + threadIdx.x], sizeof(int), pipe);
      pipe.producer_commit();
    }
    if (i > 0) {
      if (i < 4)
        cuda::pipeline_consumer_wait_prior<1>(pipe);
      else
        cuda::pipeline_consumer_wait_prior<0>(pipe);
      acc = acc * 3 + s[(i - 1) % 2][threadIdx.x];
      pipe.consumer_release();
    }
  }
  out[threadIdx.x] = acc;
}

// Rotates an array three times; all CTAs meet after each step.
extern "C" __global__ void grid_wide(int *x, int n) {
  auto grid = cg::this_grid();
  for (int r = 0; r < 3; ++r) {
    int i = grid.thread_rank();
    int v = x[(i + 1) % n];
    grid.sync();
    x[i] = v + 1;
    grid.sync();
  }
}

// Relaxed, acquire-release and sequentially consistent updates.
extern "C" __global__ void atomics(int *c, float *f) {
  cuda::atomic_ref<int, cuda::thread_scope_device> a(c[0]);
  a.fetch_add(1, cuda::memory_order_relaxed);
  cuda::atomic_ref<float, cuda::thread_scope_block> b(f[0]);
  b.fetch_max((float)threadIdx.x, cuda::memory_order_acq_rel);
  int e = c[1];
  cuda::atomic_ref<int> d(c[1]);
  while (!d.compare_exchange_weak(e, e + 2, cuda::memory_order_seq_cst)) {
  }
  a.wait(0);
}
