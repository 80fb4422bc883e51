//===-- fast.c - Approximations, for AMD GPUs -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions of fp32 of which a few bits may be wrong, from the instructions
// that the hardware has: exponentials and logarithms to base 2, reciprocals.
//
//===----------------------------------------------------------------------===//
#include "device.h"

INLINE float exp2Of(float x) { return __builtin_exp2f(x); }
INLINE float log2Of(float x) { return __builtin_log2f(x); }

float __nv_fast_expf(float x) { return exp2Of(x * 0x1.715476p+0f); }
float __nv_fast_exp10f(float x) { return exp2Of(x * 0x1.a934fp+1f); }
float __nv_fast_log2f(float x) { return log2Of(x); }
float __nv_fast_logf(float x) { return log2Of(x) * 0x1.62e43p-1f; }
float __nv_fast_log10f(float x) { return log2Of(x) * 0x1.344136p-2f; }
float __nv_fast_fdividef(float x, float y) { return x / y; }
float __nv_fast_powf(float x, float y) { return exp2Of(y * log2Of(x)); }
float __nv_fast_tanhf(float x) {
  float power = exp2Of(__builtin_fabsf(x) * -0x1.715476p+1f);
  return __builtin_copysignf((1.0f - power) / (1.0f + power), x);
}
float __nv_fast_sinf(float x) { return __nv_sinf(x); }
float __nv_fast_cosf(float x) { return __nv_cosf(x); }
float __nv_fast_tanf(float x) { return __nv_tanf(x); }
