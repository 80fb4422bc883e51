// Matrix products through mma.sync, with ldmatrix and cp.async.
// Compiled with: nvcc -ptx -arch=sm_80 -lineinfo matmul.cu
#include <cuda_fp16.h>
#include <stdint.h>

static __device__ uint32_t shared_address(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }

// C (f32) = A (f16, row major) x B (f16, row major); tiles 64 x 64 x 32, 128 threads, two stages.
extern "C" __global__ void __launch_bounds__(128) matmul_f16(const __half *A, const __half *B, float *C, int M, int N, int K) {
  __shared__ __align__(16) __half a[2][64][40];
  __shared__ __align__(16) __half b[2][32][72];
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32, wm = warp / 2 * 32, wn = warp % 2 * 32;
  float acc[2][4][4] = {};
  auto load = [&](int stage, int k0) {
    for (int i = threadIdx.x; i < 256; i += 128) {
      int row = i / 4, col = i % 4 * 8;
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(&a[stage][row][col])), "l"(A + (size_t)(blockIdx.y * 64 + row) * K + k0 + col));
      row = i / 8, col = i % 8 * 8;
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(&b[stage][row][col])), "l"(B + (size_t)(k0 + row) * N + blockIdx.x * 64 + col));
    }
    asm volatile("cp.async.commit_group;");
  };
  load(0, 0);
  for (int k0 = 0, stage = 0; k0 < K; k0 += 32, stage ^= 1) {
    if (k0 + 32 < K) {
      load(stage ^ 1, k0 + 32);
      asm volatile("cp.async.wait_group 1;");
    } else {
      asm volatile("cp.async.wait_group 0;");
    }
    __syncthreads();
    for (int k = 0; k < 32; k += 16) {
      uint32_t fa[2][4], fb[4][2];
      for (int i = 0; i < 2; ++i)
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(fa[i][0]), "=r"(fa[i][1]), "=r"(fa[i][2]), "=r"(fa[i][3])
                     : "r"(shared_address(&a[stage][wm + i * 16 + lane % 16][k + lane / 16 * 8])));
      for (int j = 0; j < 4; ++j)
        asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];" : "=r"(fb[j][0]), "=r"(fb[j][1])
                     : "r"(shared_address(&b[stage][k + lane % 16][wn + j * 8])));
      for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 4; ++j)
          asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                       : "+f"(acc[i][j][0]), "+f"(acc[i][j][1]), "+f"(acc[i][j][2]), "+f"(acc[i][j][3])
                       : "r"(fa[i][0]), "r"(fa[i][1]), "r"(fa[i][2]), "r"(fa[i][3]), "r"(fb[j][0]), "r"(fb[j][1]));
    }
    __syncthreads();
  }
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 4; ++j)
      for (int e = 0; e < 4; ++e) {
        int row = blockIdx.y * 64 + wm + i * 16 + lane / 4 + e / 2 * 8, col = blockIdx.x * 64 + wn + j * 8 + lane % 4 * 2 + e % 2;
        C[(size_t)row * N + col] = acc[i][j][e];
      }
}

// The same without tensor cores: every thread four outputs.
extern "C" __global__ void matmul_plain(const float *A, const float *B, float *C, int M, int N, int K) {
  __shared__ float a[16][17], b[16][17];
  int x = threadIdx.x % 16, y = threadIdx.x / 16;
  float sum = 0;
  for (int k0 = 0; k0 < K; k0 += 16) {
    a[y][x] = A[(blockIdx.y * 16 + y) * K + k0 + x];
    b[y][x] = B[(k0 + y) * N + blockIdx.x * 16 + x];
    __syncthreads();
    for (int k = 0; k < 16; ++k)
      sum += a[y][k] * b[k][x];
    __syncthreads();
  }
  C[(blockIdx.y * 16 + y) * N + blockIdx.x * 16 + x] = sum;
}
