//===-- device.h - What the files of the device library share -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#pragma once

typedef unsigned u32;
typedef long long i64;
typedef unsigned long long u64;
typedef unsigned __int128 u128;

#define INLINE static inline __attribute__((always_inline))
#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

INLINE u64 toBits(double x) { return __builtin_bit_cast(u64, x); }
INLINE double fromBits(u64 x) { return __builtin_bit_cast(double, x); }
INLINE u32 toBits32(float x) { return __builtin_bit_cast(u32, x); }
INLINE float fromBits32(u32 x) { return __builtin_bit_cast(float, x); }
INLINE double infinity(void) { return __builtin_inf(); }
INLINE double notANumber(void) { return __builtin_nan(""); }

// Functions that others use.
double __nv_cbrt(double);
double __nv_cos(double);
double __nv_erf(double);
double __nv_erfc(double);
double __nv_exp(double);
double __nv_log(double);
double __nv_pow(double, double);
double __nv_sin(double);
double __nv_sinpi(double);
float __nv_cosf(float);
float __nv_sinf(float);
float __nv_tanf(float);

/// Functions of fp32 that are computed in fp64 and rounded once.
#define SINGLE(name)                                                           \
  float __nv_##name##f(float x) { return (float)__nv_##name(x); }
#define SINGLE2(name)                                                          \
  float __nv_##name##f(float x, float y) { return (float)__nv_##name(x, y); }
