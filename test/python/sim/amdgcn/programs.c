// Kernels that clang compiled for the tests of the AMDGCN simulator:
//   for t in gfx942 gfx1100 gfx1200; do clang-22 -target amdgcn-amd-amdhsa -mcpu=$t
//     -nogpulib -O2 -S programs.c -o - | grep -vE "^;|\.(set|cfi)" | sed "s/ *;.*//" >programs-$t.s; done
#define KERNEL                                                                 \
  __attribute__((amdgpu_kernel, amdgpu_flat_work_group_size(64, 256))) void
#define LDS __attribute__((loader_uninitialized))                              \
  static __attribute__((address_space(3)))
#define GLOBAL __attribute__((address_space(1)))
typedef unsigned uint;
typedef unsigned long ulong;

static uint thread(void) { return __builtin_amdgcn_workitem_id_x(); }
static uint place(void) {
  return __builtin_amdgcn_workgroup_id_x() * __builtin_amdgcn_workgroup_size_x() +
         thread();
}
static void barrier(void) {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

KERNEL divide(GLOBAL float *x, GLOBAL float *y, GLOBAL float *z, int n) {
  uint i = place();
  if (i < n)
    z[i] = x[i] / y[i];
}

/// Sums of all blocks of 256, by a tree in LDS.
KERNEL tree(GLOBAL float *x, GLOBAL float *sums) {
  LDS float part[256];
  uint t = thread();
  part[t] = x[place()];
  barrier();
  for (uint step = 128; step > 0; step /= 2) {
    if (t < step)
      part[t] += part[t + step];
    barrier();
  }
  if (t == 0)
    sums[__builtin_amdgcn_workgroup_id_x()] = part[0];
}

/// A loop whose length differs by lane.
KERNEL collatz(GLOBAL uint *x, GLOBAL uint *steps) {
  uint i = place();
  ulong v = x[i];
  uint count = 0;
  while (v > 1) {
    v = v & 1 ? 3 * v + 1 : v / 2;
    ++count;
  }
  steps[i] = count;
}

KERNEL remainders(GLOBAL long *x, GLOBAL long *y, GLOBAL long *q,
                  GLOBAL int *r) {
  uint i = place();
  q[i] = x[i] / y[i];
  r[i] = (int)x[i] % ((int)y[i] | 1);
}

KERNEL doubles(GLOBAL double *x, GLOBAL double *y) {
  uint i = place();
  double v = x[i];
  y[i] = (v * v + 1.0) / (v - 3.0) + __builtin_floor(v) - __builtin_fabs(v);
}

KERNEL roots(GLOBAL float *x, GLOBAL float *y) {
  uint i = place();
  y[i] = __builtin_sqrtf(x[i]);
}

/// An array that is indexed by a value lies in scratch memory.
KERNEL permute(GLOBAL uint *x, GLOBAL uint *y) {
  uint i = place();
  volatile uint table[16];
  for (uint k = 0; k < 16; ++k)
    table[k] = x[i] * (k + 1);
  for (uint k = 0; k < 16; ++k)
    table[(x[i] >> k) & 15] ^= k;
  y[i] = table[x[i] >> 16 & 15];
}

KERNEL histogram(GLOBAL uint *x, GLOBAL uint *counts) {
  LDS uint bins[64];
  uint t = thread();
  if (t < 64)
    bins[t] = 0;
  barrier();
  __atomic_fetch_add(&bins[x[place()] & 63], 1, __ATOMIC_RELAXED);
  barrier();
  if (t < 64)
    __atomic_fetch_add(&counts[t], bins[t], __ATOMIC_RELAXED);
}

KERNEL bytes(GLOBAL unsigned char *x, GLOBAL signed char *y,
             GLOBAL unsigned short *z) {
  uint i = place();
  z[i] = (unsigned short)(x[i] * 3 + y[i]);
}

KERNEL halves(GLOBAL _Float16 *x, GLOBAL _Float16 *y, GLOBAL float *z) {
  uint i = place();
  _Float16 v = x[i] * y[i] + (_Float16)0.5f;
  x[i] = v > (_Float16)2 ? v - x[i] : v;
  z[i] = (float)x[i] * (float)y[i];
}

/// What another lane holds.
KERNEL neighbours(GLOBAL uint *x, GLOBAL uint *y) {
  uint i = place(), v = x[i];
  uint swapped = __builtin_amdgcn_update_dpp(0, v, 0xb1, 0xf, 0xf, 1);
  uint shifted = __builtin_amdgcn_update_dpp(7, v, 0x111, 0xf, 0xf, 0);
  uint far = __builtin_amdgcn_ds_bpermute(4 * (thread() ^ 5), v);
  uint first = __builtin_amdgcn_readfirstlane(v);
  y[i] = swapped + 3 * shifted + 5 * far + 7 * first;
}
