// Ways in which threads, CTAs and engines share work, each right (`bug` is 0) and with mistakes (test_sharing.py says
// which).
// Compiled with: nvcc -std=c++17 -ptx -arch=sm_90a sharing.cu
#include <cuda.h>
#include <cooperative_groups.h>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda/ptx>
#include <cuda_fp16.h>
namespace cg = cooperative_groups;
namespace ptx = cuda::ptx;
using u32 = unsigned; using u64 = uint64_t;

__device__ inline bool elect() {
  u32 yes;
  asm volatile("{ .reg .pred p; elect.sync _|p, 0xffffffff; selp.u32 %0, 1, 0, p; }" : "=r"(yes));
  return yes;
}
// 1. The last block adds up what all others wrote.
extern "C" __global__ void last_block(const float *x, float *partial, u32 *count, float *out, int n, int bug) {
  __shared__ float s[128];
  __shared__ bool isLast;
  float v = 0;
  for (int i = blockIdx.x * 128 + threadIdx.x; i < n; i += gridDim.x * 128) v += x[i];
  s[threadIdx.x] = v;
  __syncthreads();
  for (int d = 64; d; d /= 2) {
    if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = s[0];
    if (bug != 1) __threadfence();
    isLast = atomicInc(count, gridDim.x - (bug == 2 ? 2 : 1)) == gridDim.x - (bug == 2 ? 2 : 1);
  }
  if (bug != 3) __syncthreads();
  if (isLast) {
    float w = 0;
    for (int i = threadIdx.x; i < gridDim.x; i += 128) w += ((volatile float *)partial)[i];
    __syncthreads();
    s[threadIdx.x] = w;
    __syncthreads();
    if (threadIdx.x == 0) { float t = 0; for (int i = 0; i < 128; ++i) t += s[i]; *out = t; }
  }
}

// 2. Split K: block (tile, part); part 0 waits for the flags of the others.
extern "C" __global__ void split_k(const float *a, const float *b, float *work, u32 *flags, float *c, int k, int bug) {
  int tile = blockIdx.x, part = blockIdx.y, parts = gridDim.y, t = threadIdx.x;
  float acc = 0;
  for (int i = part * (k / parts); i < (part + 1) * (k / parts); ++i)
    acc += a[tile * k + i] * b[i * 64 + t];
  if (part) {
    work[(tile * parts + part) * 64 + t] = acc;
    if (bug != 1) __syncthreads();
    if (t == 0) {
      cuda::atomic_ref<u32, cuda::thread_scope_device> f(flags[tile * parts + part]);
      f.store(1, bug == 2 ? cuda::memory_order_relaxed : cuda::memory_order_release);
    }
    return;
  }
  for (int p = 1; p < parts; ++p) {
    if (t == 0) {
      cuda::atomic_ref<u32, cuda::thread_scope_device> f(flags[tile * parts + p]);
      while (f.load(cuda::memory_order_acquire) == 0) ;
    }
    if (bug != 3) __syncthreads();
    acc += work[(tile * parts + p) * 64 + t];
  }
  c[tile * 64 + t] = acc;
}

// 3. A turnstile: blocks add to one vector in their order, without atomics.
extern "C" __global__ void turnstile(const float *x, float *sum, u32 *turn, int n, int bug) {
  float v = x[blockIdx.x * blockDim.x + threadIdx.x];
  if (threadIdx.x == 0)
    while (*(volatile u32 *)turn != blockIdx.x) ;
  if (bug != 1) __threadfence();
  if (bug != 1 && bug != 2) __syncthreads();
  sum[threadIdx.x] += v;
  if (bug != 3) __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) *(volatile u32 *)turn = blockIdx.x + 1;
}

// 4. A producer warp with elect.sync fills a ring by bulk copies; four consumer warps.
extern "C" __global__ void ring(const int *x, int *out, int chunks, int bug) {
  constexpr int stages = 3, words = 128;
  __shared__ alignas(128) int buf[stages][words];
  __shared__ u64 full[stages], empty[stages];
  if (threadIdx.x == 0) {
    for (int s = 0; s < stages; ++s) { ptx::mbarrier_init(&full[s], 1); ptx::mbarrier_init(&empty[s], 4); }
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  __syncthreads();
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (warp == 4) {
    if (elect()) {
      for (int i = 0; i < chunks; ++i) {
        int s = i % stages, round = i / stages;
        if (bug != 1) while (!ptx::mbarrier_try_wait_parity(&empty[s], (round & 1) ^ 1)) ;
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full[s], words * 4);
        ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, buf[s], x + i * words, words * 4, &full[s]);
      }
    }
  } else {
    int acc = 0;
    for (int i = 0; i < chunks; ++i) {
      int s = i % stages, round = i / stages;
      while (!ptx::mbarrier_try_wait_parity(&full[s], bug == 2 ? (round & 1) ^ 1 : round & 1)) ;
      acc += buf[s][threadIdx.x] * (i + 1) + buf[s][(threadIdx.x + 17) % words];
      if (bug != 3) __syncwarp();
      if (lane == 0) ptx::mbarrier_arrive(&empty[s]);
    }
    out[threadIdx.x] = acc;
  }
}

// 5. Two groups take turns at one scratch through named barriers (ping-pong).
extern "C" __global__ void ping_pong(const int *x, int *out, int rounds, int bug) {
  __shared__ int scratch[128];
  int group = threadIdx.x / 128, t = threadIdx.x % 128;
  auto sync = [](int id, int n) { asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(n) : "memory"); };
  auto arrive = [](int id, int n) { asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(n) : "memory"); };
  int acc = 0;
  if (group == 1) arrive(1, 256);
  for (int i = 0; i < rounds; ++i) {
    if (!(bug == 1 && i == 1)) sync(1 + group, 256);
    scratch[t] = x[(2 * i + group) * 128 + t];
    if (bug != 2) sync(3 + group, 128);
    acc += scratch[127 - t] * (i + 1);
    if (bug != 3 && (group == 0 || i + 1 < rounds)) arrive(2 - group, 256);
  }
  out[threadIdx.x] = acc;
}

// 6. Clusters: each CTA adds its histogram to that of CTA 0 by remote atomics.
extern "C" __global__ void cluster_histogram(const int *x, int *out, int n, int bug) {
  __shared__ int bins[32];
  auto cluster = cg::this_cluster();
  if (threadIdx.x < 32) bins[threadIdx.x] = 0;
  if (bug != 1) cluster.sync();
  int *remote = cluster.map_shared_rank(bins, 0);
  for (int i = blockIdx.x * 64 + threadIdx.x; i < n; i += gridDim.x * 64)
    if (bug == 2) remote[x[i] & 31] += 1; else atomicAdd(&remote[x[i] & 31], 1);
  if (bug != 3) cluster.sync();
  if (cluster.block_rank() == 0 && threadIdx.x < 32) atomicAdd(&out[threadIdx.x], bins[threadIdx.x]);
}

// 7. A ring of CTAs: each sends its vector to the next by st.async, for as many rounds as there are CTAs.
extern "C" __global__ void ring_shift(const int *x, int *out, int bug) {
  __shared__ alignas(16) int box[2][64];
  __shared__ u64 full[2];
  __shared__ u64 empty[2];
  auto cluster = cg::this_cluster();
  u32 size = cluster.num_blocks(), rank = cluster.block_rank(), to = (rank + 1) % size;
  if (threadIdx.x == 0) {
    for (int i = 0; i < 2; ++i) { ptx::mbarrier_init(&full[i], 1); ptx::mbarrier_init(&empty[i], 64); }
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  if (bug == 1) __syncthreads(); else cluster.sync();
  u64 *remoteFull = cluster.map_shared_rank(full, to);
  int (*remoteBox)[64] = cluster.map_shared_rank(box, to);
  u64 *previousEmpty = cluster.map_shared_rank(empty, (rank + size - 1) % size);
  int v = x[blockIdx.x * 64 + threadIdx.x], acc = v;
  for (u32 i = 0; i + 1 < 2 * size; ++i) {
    int s = i % 2, parity = i / 2 & 1;
    if (threadIdx.x == 0)
      ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full[s], 64 * 4);
    if (bug != 2 && i >= 2) while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cluster, &empty[s], parity ^ 1)) ;
    ptx::st_async(&remoteBox[s][threadIdx.x], v, &remoteFull[s]);
    while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cluster, &full[s], parity)) ;
    v = box[s][threadIdx.x];
    acc += v * (i + 2);
    ptx::mbarrier_arrive(ptx::sem_release, ptx::scope_cluster, ptx::space_cluster, &previousEmpty[s]);
  }
  out[blockIdx.x * 64 + threadIdx.x] = acc;
  if (bug != 3) cluster.sync();
}

// 8. Bulk stores with groups: a buffer of two slots is written again while earlier stores are read.
extern "C" __global__ void bulk_store(const int *x, int *out, int chunks, int bug) {
  __shared__ alignas(128) int buf[2][64];
  for (int i = 0; i < chunks; ++i) {
    int s = i % 2;
    if (threadIdx.x == 0 && bug != 1) ptx::cp_async_bulk_wait_group_read(ptx::n32_t<1>());
    __syncthreads();
    buf[s][threadIdx.x] = x[i * 64 + threadIdx.x] * 3 + i;
    if (bug != 2) ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
    if (threadIdx.x == 0) {
      ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, out + i * 64, buf[s], 64 * 4);
      if (bug != 3) ptx::cp_async_bulk_commit_group();
    }
  }
  if (threadIdx.x == 0) ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
}

// 9. Persistent blocks take tiles from a counter.
extern "C" __global__ void persistent(const int *x, int *out, int *next, int tiles, int bug) {
  __shared__ int tile;
  for (;;) {
    if (threadIdx.x == 0) { if (bug == 1) { tile = *next; *next = tile + 1; } else tile = atomicAdd(next, 1); }
    if (bug != 2) __syncthreads();
    int t = tile;
    if (t >= tiles) break;
    out[t * 64 + threadIdx.x] = x[t * 64 + threadIdx.x] * t;
    if (bug != 3) __syncthreads();
  }
}

// 10. Two CTAs load half of each chunk and multicast it to both.
extern "C" __global__ void multicast(const int *x, int *out, int chunks, int bug) {
  constexpr int words = 128;
  __shared__ alignas(128) int buf[2][words];
  __shared__ u64 full[2], empty[2];
  auto cluster = cg::this_cluster();
  u32 rank = cluster.block_rank();
  if (threadIdx.x == 0) {
    for (int i = 0; i < 2; ++i) { ptx::mbarrier_init(&full[i], 1); ptx::mbarrier_init(&empty[i], 2); }
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  if (bug == 1) __syncthreads(); else cluster.sync();
  u64 *other = cluster.map_shared_rank(empty, rank ^ 1);
  int acc = 0;
  for (int i = 0; i < chunks; ++i) {
    int s = i % 2, parity = i / 2 & 1;
    if (threadIdx.x == 0) {
      if (bug != 2 && i >= 2) while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cluster, &empty[s], parity ^ 1)) ;
      ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full[s], words * 4);
      ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, &buf[s][rank * words / 2], x + i * words + rank * words / 2, words * 2, &full[s], (uint16_t)3);
    }
    while (!ptx::mbarrier_try_wait_parity(&full[s], parity)) ;
    acc += buf[s][threadIdx.x] * (int)(rank + 1 + i);
    __syncthreads();
    if (threadIdx.x == 0) {
      ptx::mbarrier_arrive(&empty[s]);
      ptx::mbarrier_arrive(ptx::sem_release, ptx::scope_cluster, ptx::space_cluster, &other[s]);
    }
  }
  out[blockIdx.x * words + threadIdx.x] = acc;
  if (bug != 3) cluster.sync();
}

// 11. A scan in one pass: blocks look back at packed words of status and value.
extern "C" __global__ void look_back(const u32 *x, u64 *state, u32 *plain, u32 *ticket, u32 *out, int bug) {
  __shared__ u32 s[64], base, id;
  if (threadIdx.x == 0) id = atomicAdd(ticket, 1);
  __syncthreads();
  u32 b = id, v = x[b * 64 + threadIdx.x];
  s[threadIdx.x] = v;
  __syncthreads();
  for (int d = 1; d < 64; d *= 2) {
    u32 y = threadIdx.x >= d ? s[threadIdx.x - d] : 0;
    if (bug != 1) __syncthreads();
    s[threadIdx.x] += y;
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    u32 total = s[63], sum = 0;
    cuda::atomic_ref<u64, cuda::thread_scope_device> mine(state[b]);
    if (bug == 2) { plain[b] = total; mine.store(1ull << 32, cuda::memory_order_relaxed); }
    else mine.store(1ull << 32 | total, cuda::memory_order_relaxed);
    for (int j = int(b) - 1; j >= 0;) {
      u64 w = cuda::atomic_ref<u64, cuda::thread_scope_device>(state[j]).load(cuda::memory_order_relaxed);
      if (w >> 32 == 0) continue;
      sum += bug == 2 && w >> 32 == 1 ? plain[j] : u32(w);
      if (w >> 32 == 2) break;
      --j;
    }
    mine.store(2ull << 32 | (sum + total), cuda::memory_order_relaxed);
    base = sum;
  }
  if (bug != 3) __syncthreads();
  out[b * 64 + threadIdx.x] = base + s[threadIdx.x];
}

// 12. A spin lock guards a counter and a list.
extern "C" __global__ void spin_lock(int *lock, int *data, int rounds, int bug) {
  for (int i = 0; i < rounds; ++i) {
    if (threadIdx.x % 32 == 0) {
      while (atomicCAS(lock, 0, 1) != 0) ;
      if (bug != 1) __threadfence();
      data[1 + data[0]] = blockIdx.x;
      data[0] += 1;
      if (bug != 2) __threadfence();
      if (bug == 3) *lock = 0; else atomicExch(lock, 0);
    }
  }
}

// 13. Roles of a shared pipeline: one warp loads, three compute.
extern "C" __global__ void roles(const int *x, int *out, int chunks, int bug) {
  constexpr int stages = 2;
  __shared__ int buf[stages][96];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, stages> state;
  auto block = cg::this_thread_block();
  bool producer = threadIdx.x < 32;
  auto pipe = cuda::make_pipeline(block, &state, producer ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer);
  int acc = 0, t = threadIdx.x - 32;
  for (int i = 0; i < chunks; ++i) {
    int s = bug == 1 ? 0 : i % stages;
    if (producer) {
      pipe.producer_acquire();
      for (int j = threadIdx.x; j < 96; j += 32)
        cuda::memcpy_async(&buf[s][j], &x[i * 96 + j], 4, pipe);
      pipe.producer_commit();
    } else {
      if (bug != 2) pipe.consumer_wait();
      if (bug == 3) pipe.consumer_release();
      acc += buf[s][t] + 2 * buf[s][95 - t];
      if (bug != 3) pipe.consumer_release();
    }
  }
  if (!producer) out[t] = acc;
}

// 14. Jacobi steps with barriers of the grid.
extern "C" __global__ void jacobi(int *a, int *b, int n, int steps, int bug) {
  auto grid = cg::this_grid();
  for (int i = 0; i < steps; ++i) {
    int *from = i % 2 ? b : a, *to = i % 2 ? a : b;
    if (bug == 3) to = from;
    for (int j = grid.thread_rank(); j < n; j += grid.size())
      to[j] = from[j] + from[(j + 1) % n] + from[(j + n - 1) % n];
    if (bug == 1) __syncthreads(); else if (bug == 2 && i == 1) ; else grid.sync();
  }
}

// 15. cp.async fills both operands of one wgmma.
__device__ u64 descriptor(const void *p, u32 leading, u32 stride) {
  return u64((u32)__cvta_generic_to_shared(p) >> 4 & 0x3fff) | u64(leading >> 4) << 16 | u64(stride >> 4) << 32;
}
extern "C" __global__ void group_product(const __half *a, const __half *b, float *d, int bug) {
  // Core matrices of 8 rows of 16 bytes: A has 64 rows and K of 16, B has 8.
  __shared__ alignas(128) uint4 sa[128], sb[16];
  int t = threadIdx.x;
  auto copy = [](void *to, const void *from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((u32)__cvta_generic_to_shared(to)), "l"(from) : "memory");
  };
  copy(&sa[t], (const uint4 *)a + t);
  if (t < 16) copy(&sb[t], (const uint4 *)b + t);
  if (bug != 1) asm volatile("cp.async.wait_all;" ::: "memory");
  if (bug != 2) ptx::fence_proxy_async(ptx::space_shared);
  __syncthreads();
  float x0 = 0, x1 = 0, x2 = 0, x3 = 0;
  asm volatile("wgmma.fence.sync.aligned;" : "+f"(x0), "+f"(x1), "+f"(x2), "+f"(x3)::"memory");
  asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0,%1,%2,%3}, %4, %5, 0, 1, 1, 0, 0;"
               : "+f"(x0), "+f"(x1), "+f"(x2), "+f"(x3)
               : "l"(descriptor(sa, 64 * 16, 128)), "l"(descriptor(sb, 8 * 16, 128)));
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  if (bug != 3) asm volatile("wgmma.wait_group.sync.aligned 0;" : "+f"(x0), "+f"(x1), "+f"(x2), "+f"(x3)::"memory");
  int row = t / 32 * 16 + t % 32 / 4, col = 2 * (t % 4);
  d[row * 8 + col] = x0; d[row * 8 + col + 1] = x1;
  d[(row + 8) * 8 + col] = x2; d[(row + 8) * 8 + col + 1] = x3;
}

// 16. A persistent product: a producer warp with tensor maps, two groups of consumers with one wgmma in flight each,
// stores by tensor maps while the next tile begins.
__device__ inline u32 sm(const void *p) { return (u32)__cvta_generic_to_shared(p); }
__device__ inline u64 desc(const void *p) { return u64(sm(p) >> 4 & 0x3fff) | u64(1) << 16 | u64(1024 >> 4) << 32 | u64(1) << 62; }
__device__ inline void wait(u64 *b, int parity) { while (!ptx::mbarrier_try_wait_parity(b, parity)) ; }
#define R8(i) "+f"(d[i]), "+f"(d[i+1]), "+f"(d[i+2]), "+f"(d[i+3]), "+f"(d[i+4]), "+f"(d[i+5]), "+f"(d[i+6]), "+f"(d[i+7])
__device__ inline void mma(float (&d)[32], u64 a, u64 b, int accumulate) {
  asm volatile("{ .reg .pred p; setp.ne.b32 p, %34, 0; wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31}, %32, %33, p, 1, 1, 0, 0; }"
    : R8(0), R8(8), R8(16), R8(24) : "l"(a), "l"(b), "r"(accumulate));
}
__device__ inline void fenced(float (&d)[32]) { for (int i = 0; i < 32; ++i) asm volatile("" : "+f"(d[i])::"memory"); }
constexpr int S = 3;
struct alignas(1024) Smem { __half a[S][2][64 * 64]; __half b[S][64 * 64]; float c[2][64 * 64]; u64 full[S], empty[S]; };
extern "C" __global__ void __launch_bounds__(384, 1) specialized(const __grid_constant__ CUtensorMap ma, const __grid_constant__ CUtensorMap mb, const __grid_constant__ CUtensorMap mc, int tilesM, int tilesN, int steps, int bug) {
  extern __shared__ __align__(1024) unsigned char raw[];
  Smem &s = *reinterpret_cast<Smem *>(raw);
  int group = threadIdx.x / 128;
  if (threadIdx.x == 0) {
    for (int i = 0; i < S; ++i) { ptx::mbarrier_init(&s.full[i], 1); ptx::mbarrier_init(&s.empty[i], 2); }
    if (bug != 9) ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  __syncthreads();
  int k = 0;
  if (group == 2) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if (threadIdx.x / 32 == 8 && elect()) {
      for (int tile = blockIdx.x; tile < tilesM * tilesN; tile += gridDim.x) {
        int m = tile / tilesN * 128, n = tile % tilesN * 64;
        for (int i = 0; i < steps; ++i, ++k) {
          int st = k % S;
          if (bug != 1) wait(&s.empty[st], (k / S & 1) ^ 1);
          ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &s.full[st], bug == 2 ? 2 * 8192 : 3 * 8192);
          int ca[2] = {i * 64, m}, cb[2] = {i * 64, n};
          ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, s.a[st][0], &ma, ca, &s.full[st]);
          ca[1] += 64;
          ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, s.a[st][1], &ma, ca, &s.full[st]);
          ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, s.b[st], &mb, cb, &s.full[st]);
        }
      }
    }
    return;
  }
  asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
  int t = threadIdx.x % 128;
  for (int tile = blockIdx.x; tile < tilesM * tilesN; tile += gridDim.x) {
    int m = tile / tilesN * 128, n = tile % tilesN * 64;
    float d[32]; 
    for (int i = 0; i < 32; ++i) d[i] = 0;
    int last = -1;
    for (int i = 0; i < steps; ++i, ++k) {
      int st = k % S;
      if (bug != 3) wait(&s.full[st], k / S & 1);
      fenced(d);
      asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
      for (int j = 0; j < 4; ++j) mma(d, desc(s.a[st][group]) + 2 * j, desc(s.b[st]) + 2 * j, 1);
      asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
      fenced(d);
      // One product stays in flight; the slot before is free.
      if (bug == 4) ; else asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
      if (last >= 0 && t == 0) ptx::mbarrier_arrive(&s.empty[bug == 5 ? st : last]);
      last = st;
    }
    if (bug != 6) asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    fenced(d);
    if (t == 0) ptx::mbarrier_arrive(&s.empty[last]);
    if (t == 0 && bug != 7) ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
    asm volatile("bar.sync %0, 128;" ::"r"(1 + group) : "memory");
    for (int i = 0; i < 32; ++i) {
      int row = t / 32 * 16 + t % 32 / 4 + 8 * (i / 2 % 2), col = i / 4 * 8 + 2 * (t % 4) + i % 2;
      s.c[group][row * 64 + col] = d[i];
    }
    if (bug != 8) ptx::fence_proxy_async(ptx::space_shared);
    asm volatile("bar.sync %0, 128;" ::"r"(1 + group) : "memory");
    if (t == 0) {
      int cc[2] = {n, m + 64 * group};
      ptx::cp_async_bulk_tensor(ptx::space_global, ptx::space_shared, &mc, cc, s.c[group]);
      ptx::cp_async_bulk_commit_group();
    }
  }
  if (t == 0 && bug != 10) ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
}
