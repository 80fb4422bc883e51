// Tensor copies, mbarriers and clusters through libcu++'s cuda::ptx.
// Compiled with: nvcc -std=c++17 -ptx -arch=sm_90a tma.cu
#include <cuda.h>
#include <cuda/barrier>
#include <cuda/ptx>
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
namespace ptx = cuda::ptx;
using barrier = cuda::barrier<cuda::thread_scope_block>;

constexpr int edge = 32;

// Each CTA transposes a tile: load, permute in shared memory, store.
extern "C" __global__ void transpose(const __grid_constant__ CUtensorMap in,
                                     const __grid_constant__ CUtensorMap out) {
  alignas(128) __shared__ float from[edge][edge];
  alignas(128) __shared__ float to[edge][edge];
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ barrier bar;
  if (threadIdx.x == 0) {
    init(&bar, blockDim.x);
    ptx::fence_proxy_async(ptx::space_shared);
  }
  __syncthreads();
  barrier::arrival_token token;
  if (threadIdx.x == 0) {
    int at[2] = {int(blockIdx.x) * edge, int(blockIdx.y) * edge};
    ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, from, &in,
                              at, cuda::device::barrier_native_handle(bar));
    token = cuda::device::barrier_arrive_tx(bar, 1, sizeof from);
  } else {
    token = bar.arrive();
  }
  bar.wait(std::move(token));
  for (int i = threadIdx.x; i < edge * edge; i += blockDim.x)
    to[i % edge][i / edge] = from[i / edge][i % edge];
  ptx::fence_proxy_async(ptx::space_shared);
  __syncthreads();
  if (threadIdx.x == 0) {
    int at[2] = {int(blockIdx.y) * edge, int(blockIdx.x) * edge};
    ptx::cp_async_bulk_tensor(ptx::space_global, ptx::space_shared, &out, at,
                              to);
    ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
  }
}

// The CTAs of a cluster add columns of their tiles into one row of out, with a
// reducing store; the tile comes to all of them at once from the first.
extern "C" __global__ void shared_tile(const __grid_constant__ CUtensorMap in,
                                       const __grid_constant__ CUtensorMap out) {
  alignas(128) __shared__ float tile[edge][edge];
  alignas(128) __shared__ float row[edge];
  __shared__ uint64_t bar;
  auto cluster = cg::this_cluster();
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&bar, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta,
                                   ptx::space_shared, &bar, sizeof tile);
  }
  cluster.sync();
  if (cluster.block_rank() == 0 && threadIdx.x == 0) {
    int at[2] = {int(blockIdx.y) * edge, 0};
    ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, tile, &in,
                              at, &bar, uint16_t(3));
  }
  while (!ptx::mbarrier_try_wait_parity(&bar, 0))
    ;
  // Even rows are the first CTA's.
  if (threadIdx.x < edge) {
    float sum = 0;
    for (int i = cluster.block_rank(); i < edge; i += 2)
      sum += tile[i][threadIdx.x];
    row[threadIdx.x] = sum;
  }
  ptx::fence_proxy_async(ptx::space_shared);
  __syncthreads();
  if (threadIdx.x == 0) {
    int at[2] = {int(blockIdx.y) * edge, 0};
    ptx::cp_reduce_async_bulk_tensor(ptx::space_global, ptx::space_shared,
                                     ptx::op_add, &out, at, row);
    ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
  }
  cluster.sync();
}
