//===-- integer.c - Integers and the bits of floats, for AMD GPUs ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "device.h"

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

int __nv_abs(int x) { return x < 0 ? (int)-(u32)x : x; }
i64 __nv_llabs(i64 x) { return x < 0 ? (i64) - (u64)x : x; }

int __nv_brev(int x) { return (int)__builtin_bitreverse32((u32)x); }
i64 __nv_brevll(i64 x) { return (i64)__builtin_bitreverse64((u64)x); }
int __nv_clz(int x) { return x ? __builtin_clz((u32)x) : 32; }
int __nv_clzll(i64 x) { return x ? __builtin_clzll((u64)x) : 64; }
/// The number of the lowest bit that is set, from 1; 0 if none is.
int __nv_ffs(int x) { return x ? __builtin_ctz((u32)x) + 1 : 0; }
int __nv_ffsll(i64 x) { return x ? __builtin_ctzll((u64)x) + 1 : 0; }
int __nv_popc(int x) { return __builtin_popcount((u32)x); }
int __nv_popcll(i64 x) { return __builtin_popcountll((u64)x); }

int __nv_hadd(int x, int y) { return (int)(((i64)x + y) >> 1); }
u32 __nv_uhadd(u32 x, u32 y) { return (u32)(((u64)x + y) >> 1); }
int __nv_rhadd(int x, int y) { return (int)(((i64)x + y + 1) >> 1); }
u32 __nv_urhadd(u32 x, u32 y) { return (u32)(((u64)x + y + 1) >> 1); }

int __nv_mul24(int x, int y) {
  return (int)((u32)((int)((u32)x << 8) >> 8) * (u32)((int)((u32)y << 8) >> 8));
}
u32 __nv_umul24(u32 x, u32 y) { return (x & 0xffffff) * (y & 0xffffff); }
int __nv_mulhi(int x, int y) { return (int)((i64)x * y >> 32); }
u32 __nv_umulhi(u32 x, u32 y) { return (u32)((u64)x * y >> 32); }
i64 __nv_mul64hi(i64 x, i64 y) { return (i64)((__int128)x * y >> 64); }
u64 __nv_umul64hi(u64 x, u64 y) { return (u64)((u128)x * y >> 64); }

u32 __nv_usad(u32 x, u32 y, u32 z) { return (x > y ? x - y : y - x) + z; }
u32 __nv_sad(int x, int y, u32 z) {
  return (x > y ? (u32)x - (u32)y : (u32)y - (u32)x) + z;
}

/// Each nibble of the selector picks a byte of y:x, or its sign.
int __nv_byte_perm(int x, int y, int selector) {
  u64 bytes = (u64)(u32)y << 32 | (u32)x;
  u32 result = 0;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    u32 nibble = (u32)selector >> 4 * i & 15;
    u32 byte = (u32)(bytes >> 8 * (nibble & 7)) & 255;
    result |= (nibble & 8 ? (byte & 128 ? 255 : 0) : byte) << 8 * i;
  }
  return (int)result;
}

//===----------------------------------------------------------------------===//
// The bits of floats
//===----------------------------------------------------------------------===//

int __nv_float_as_int(float x) { return (int)toBits32(x); }
u32 __nv_float_as_uint(float x) { return toBits32(x); }
float __nv_int_as_float(int x) { return fromBits32((u32)x); }
float __nv_uint_as_float(u32 x) { return fromBits32(x); }
i64 __nv_double_as_longlong(double x) { return (i64)toBits(x); }
double __nv_longlong_as_double(i64 x) { return fromBits((u64)x); }
int __nv_double2hiint(double x) { return (int)(toBits(x) >> 32); }
int __nv_double2loint(double x) { return (int)toBits(x); }
double __nv_hiloint2double(int high, int low) {
  return fromBits((u64)(u32)high << 32 | (u32)low);
}

int __nv_signbitf(float x) { return (int)(toBits32(x) >> 31); }
int __nv_signbitd(double x) { return (int)(toBits(x) >> 63); }
int __nv_isnanf(float x) { return x != x; }
int __nv_isnand(double x) { return x != x; }
int __nv_isinff(float x) { return __builtin_fabsf(x) == __builtin_inff(); }
int __nv_isinfd(double x) { return __builtin_fabs(x) == infinity(); }
int __nv_finitef(float x) { return __builtin_fabsf(x) < __builtin_inff(); }
int __nv_isfinited(double x) { return __builtin_fabs(x) < infinity(); }

/// Of zero the smallest integer, of what is not finite the largest or, of NaN,
/// the smallest.
int __nv_ilogb(double x) {
  double size = __builtin_fabs(x);
  if (size == infinity())
    return 0x7fffffff;
  if (!(size > 0.0))
    return (int)0x80000000;
  int exponent;
  (void)__builtin_frexp(size, &exponent);
  return exponent - 1;
}
int __nv_ilogbf(float x) { return __nv_ilogb(x); }

double __nv_logb(double x) {
  double size = __builtin_fabs(x);
  if (size == 0.0)
    return -infinity();
  return size < infinity() ? (double)__nv_ilogb(x) : size;
}
SINGLE(logb)

double __nv_fabs(double x) { return __builtin_fabs(x); }
float __nv_fabsf(float x) { return __builtin_fabsf(x); }
double __nv_copysign(double x, double y) { return __builtin_copysign(x, y); }
float __nv_copysignf(float x, float y) { return __builtin_copysignf(x, y); }

double __nv_nextafter(double x, double y) {
  if (x != x || y != y)
    return x + y;
  if (x == y)
    return y;
  if (x == 0.0)
    return __builtin_copysign(fromBits(1), y);
  return fromBits(toBits(x) + ((y > x) == (x > 0.0) ? 1 : -1ull));
}
float __nv_nextafterf(float x, float y) {
  if (x != x || y != y)
    return x + y;
  if (x == y)
    return y;
  if (x == 0.0f)
    return __builtin_copysignf(fromBits32(1), y);
  return fromBits32(toBits32(x) + ((y > x) == (x > 0.0f) ? 1 : -1u));
}

double __nv_ldexp(double x, int n) { return __builtin_ldexp(x, n); }
float __nv_ldexpf(float x, int n) { return __builtin_ldexpf(x, n); }
double __nv_scalbn(double x, int n) { return __builtin_ldexp(x, n); }
float __nv_scalbnf(float x, int n) { return __builtin_ldexpf(x, n); }
