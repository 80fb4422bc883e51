//===-- rounding.c - Results rounded as one likes, for AMD GPUs -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// rn, rz, ru, rd: to nearest, towards zero, up, down. The hardware has modes
// for that, which compilers know little of; these functions find out by how
// much a result to nearest is off instead, and take its neighbour.
//
//===----------------------------------------------------------------------===//
#include "device.h"

typedef enum { rn, rz, ru, rd } Mode;

//===----------------------------------------------------------------------===//
// To whole numbers
//===----------------------------------------------------------------------===//

double __nv_ceil(double x) { return __builtin_ceil(x); }
double __nv_floor(double x) { return __builtin_floor(x); }
double __nv_trunc(double x) { return __builtin_trunc(x); }
double __nv_rint(double x) { return __builtin_rint(x); }
double __nv_nearbyint(double x) { return __builtin_rint(x); }
/// Halves go away from zero.
double __nv_round(double x) {
  double whole = __builtin_trunc(x);
  double rest = __builtin_fabs(x - whole);
  return __builtin_copysign(__builtin_fabs(whole) + (rest >= 0.5 ? 1.0 : 0.0),
                            x);
}
SINGLE(ceil)
SINGLE(floor)
SINGLE(trunc)
SINGLE(rint)
SINGLE(nearbyint)
SINGLE(round)

INLINE double whole(double x, Mode mode) {
  return mode == rn   ? __builtin_rint(x)
         : mode == rz ? __builtin_trunc(x)
         : mode == ru ? __builtin_ceil(x)
                      : __builtin_floor(x);
}

//===----------------------------------------------------------------------===//
// Floats to integers: the nearest one that there is; NaN gives zero, in 64 bits
// the highest bit.
//===----------------------------------------------------------------------===//

INLINE int toInt(double x, Mode mode) {
  x = whole(x, mode);
  if (x != x)
    return 0;
  return x <= -0x1p31 ? (int)0x80000000 : x >= 0x1p31 ? 0x7fffffff : (int)x;
}
INLINE u32 toUint(double x, Mode mode) {
  x = whole(x, mode);
  return !(x > 0.0) ? 0 : x >= 0x1p32 ? 0xffffffff : (u32)x;
}
INLINE i64 toLl(double x, Mode mode) {
  x = whole(x, mode);
  if (!(x > -0x1p63))
    return (i64)(1ull << 63);
  return x >= 0x1p63 ? (i64)(~0ull >> 1) : (i64)x;
}
INLINE u64 toUll(double x, Mode mode) {
  x = whole(x, mode);
  if (x != x)
    return 1ull << 63;
  return !(x > 0.0) ? 0 : x >= 0x1p64 ? ~0ull : (u64)x;
}

#define TO_INTEGERS(mode)                                                      \
  int __nv_float2int_##mode(float x) { return toInt(x, mode); }                \
  u32 __nv_float2uint_##mode(float x) { return toUint(x, mode); }              \
  i64 __nv_float2ll_##mode(float x) { return toLl(x, mode); }                  \
  u64 __nv_float2ull_##mode(float x) { return toUll(x, mode); }                \
  int __nv_double2int_##mode(double x) { return toInt(x, mode); }              \
  u32 __nv_double2uint_##mode(double x) { return toUint(x, mode); }            \
  i64 __nv_double2ll_##mode(double x) { return toLl(x, mode); }                \
  u64 __nv_double2ull_##mode(double x) { return toUll(x, mode); }
TO_INTEGERS(rn)
TO_INTEGERS(rz)
TO_INTEGERS(ru)
TO_INTEGERS(rd)

i64 __nv_llrint(double x) { return toLl(x, rn); }
i64 __nv_llrintf(float x) { return toLl(x, rn); }
i64 __nv_llround(double x) { return toLl(__nv_round(x), rn); }
i64 __nv_llroundf(float x) { return toLl(__nv_round(x), rn); }

//===----------------------------------------------------------------------===//
// Integers to floats
//===----------------------------------------------------------------------===//

/// The number with this size and sign, cut to `digits` bits.
INLINE double fromInteger(u64 size, int isNegative, int digits, Mode mode) {
  double value = 0.0;
  if (size) {
    int surplus = 64 - __builtin_clzll(size) - digits;
    u64 kept = size;
    if (surplus > 0) {
      u64 rest = size & ((1ull << surplus) - 1), half = 1ull << (surplus - 1);
      kept = size >> surplus;
      int up = mode == rn   ? rest > half || (rest == half && (kept & 1))
               : mode == ru ? rest && !isNegative
               : mode == rd ? rest && isNegative
                            : 0;
      kept += (u64)up;
    }
    value = (double)kept * (surplus > 0 ? (double)(1ull << surplus) : 1.0);
  }
  return isNegative ? -value : value;
}
INLINE double fromLl(i64 x, int digits, Mode mode) {
  return fromInteger(x < 0 ? -(u64)x : (u64)x, x < 0, digits, mode);
}

#define FROM_INTEGERS(mode)                                                    \
  float __nv_int2float_##mode(int x) { return (float)fromLl(x, 24, mode); }    \
  float __nv_uint2float_##mode(u32 x) {                                        \
    return (float)fromInteger(x, 0, 24, mode);                                 \
  }                                                                            \
  float __nv_ll2float_##mode(i64 x) { return (float)fromLl(x, 24, mode); }     \
  float __nv_ull2float_##mode(u64 x) {                                         \
    return (float)fromInteger(x, 0, 24, mode);                                 \
  }                                                                            \
  double __nv_ll2double_##mode(i64 x) { return fromLl(x, 53, mode); }          \
  double __nv_ull2double_##mode(u64 x) { return fromInteger(x, 0, 53, mode); }
FROM_INTEGERS(rn)
FROM_INTEGERS(rz)
FROM_INTEGERS(ru)
FROM_INTEGERS(rd)
double __nv_int2double_rn(int x) { return x; }
double __nv_uint2double_rn(u32 x) { return x; }

//===----------------------------------------------------------------------===//
// Floats to floats
//===----------------------------------------------------------------------===//

/// `near`, of which the exact value is as far as `rest` tells the sign of, or
/// its neighbour.
INLINE double step(double near, double rest, Mode mode) {
  if (mode == rn || rest == 0.0 || rest != rest || near != near)
    return near;
  int up =
      mode == ru || (mode == rz && (near < 0.0 || (near == 0.0 && rest < 0.0)));
  if (up != (rest > 0.0))
    return near;
  if (near == 0.0)
    return up ? fromBits(1) : -fromBits(1);
  return fromBits(toBits(near) + (up == (near > 0.0) ? 1 : -1ull));
}

/// x in fp32, whose neighbours are further apart.
INLINE float narrow(double x, Mode mode) {
  float near = (float)x;
  if (mode == rn || near != near || (double)near == x)
    return near;
  int isAbove = (double)near > x;
  int down = mode == rd || (mode == rz && x > 0.0);
  if (isAbove != down)
    return near;
  if (near == 0.0f)
    return down ? -fromBits32(1) : fromBits32(1);
  return fromBits32(toBits32(near) + (down == (near < 0.0f) ? 1 : -1u));
}

/// `near` with a last bit that says that something is left, so that it can be
/// rounded again.
INLINE double sticky(double near, double rest) {
  if (rest == 0.0 || rest != rest || (toBits(near) & 1) ||
      !(__builtin_fabs(near) < infinity()))
    return near;
  if (near == 0.0)
    return rest;
  return fromBits(toBits(near) + ((rest > 0.0) == (near > 0.0) ? 1 : -1ull));
}

/// What the sum lost.
INLINE double lostBySum(double x, double y, double sum) {
  double other = sum - x;
  return (x - (sum - other)) + (y - other);
}

INLINE float addFloats(float x, float y, Mode mode) {
  double sum = (double)x + y;
  // Zero from numbers that cancel has the sign of the mode.
  if (sum == 0.0 && mode == rd && !(x == 0.0f && y == 0.0f))
    return -0.0f;
  return narrow(sticky(sum, lostBySum(x, y, sum)), mode);
}
INLINE float multiplyFloats(float x, float y, Mode mode) {
  return narrow((double)x * y, mode); // exact
}
INLINE float divideFloats(float x, float y, Mode mode) {
  double quotient = (double)x / y;
  double rest = __builtin_fma(-quotient, y, x);
  return narrow(sticky(quotient, y < 0.0f ? -rest : rest), mode);
}
INLINE float rootOfFloat(float x, Mode mode) {
  double root = __builtin_sqrt(x);
  return narrow(sticky(root, __builtin_fma(-root, root, x)), mode);
}
INLINE float multiplyAddFloats(float x, float y, float z, Mode mode) {
  double product = (double)x * y, sum = product + z;
  if (sum == 0.0 && mode == rd && !(product == 0.0 && z == 0.0f))
    return -0.0f;
  return narrow(sticky(sum, lostBySum(product, z, sum)), mode);
}

/// Of fp64: right where what a result lost is a normal number.
INLINE double addDoubles(double x, double y, Mode mode) {
  double sum = x + y;
  if (sum == 0.0 && mode == rd && !(x == 0.0 && y == 0.0))
    return -0.0;
  return step(sum, lostBySum(x, y, sum), mode);
}
INLINE double multiplyDoubles(double x, double y, Mode mode) {
  double product = x * y;
  return step(product, __builtin_fma(x, y, -product), mode);
}
INLINE double divideDoubles(double x, double y, Mode mode) {
  double quotient = x / y;
  double rest = __builtin_fma(-quotient, y, x);
  return step(quotient, y < 0.0 ? -rest : rest, mode);
}
INLINE double rootOfDouble(double x, Mode mode) {
  double root = __builtin_sqrt(x);
  return step(root, __builtin_fma(-root, root, x), mode);
}
INLINE double multiplyAddDoubles(double x, double y, double z, Mode mode) {
  double near = __builtin_fma(x, y, z);
  if (mode == rn || !(__builtin_fabs(near) < infinity()))
    return near;
  // x * y + z - near, in parts that are exact; their sum has the right sign.
  double product = x * y, productLow = __builtin_fma(x, y, -product);
  double sum = product + z, sumLow = lostBySum(product, z, sum);
  double low = sumLow + productLow, lowest = lostBySum(sumLow, productLow, low);
  double rest = (sum - near) + low;
  return step(near, rest != 0.0 ? rest : lowest, mode);
}

#define ARITHMETIC(mode)                                                       \
  float __nv_double2float_##mode(double x) { return narrow(x, mode); }         \
  float __nv_fadd_##mode(float x, float y) { return addFloats(x, y, mode); }   \
  float __nv_fsub_##mode(float x, float y) { return addFloats(x, -y, mode); }  \
  float __nv_fmul_##mode(float x, float y) {                                   \
    return multiplyFloats(x, y, mode);                                         \
  }                                                                            \
  float __nv_fdiv_##mode(float x, float y) {                                   \
    return divideFloats(x, y, mode);                                           \
  }                                                                            \
  float __nv_frcp_##mode(float x) { return divideFloats(1.0f, x, mode); }      \
  float __nv_fsqrt_##mode(float x) { return rootOfFloat(x, mode); }            \
  float __nv_fmaf_##mode(float x, float y, float z) {                          \
    return multiplyAddFloats(x, y, z, mode);                                   \
  }                                                                            \
  double __nv_dadd_##mode(double x, double y) {                                \
    return addDoubles(x, y, mode);                                             \
  }                                                                            \
  double __nv_dsub_##mode(double x, double y) {                                \
    return addDoubles(x, -y, mode);                                            \
  }                                                                            \
  double __nv_dmul_##mode(double x, double y) {                                \
    return multiplyDoubles(x, y, mode);                                        \
  }                                                                            \
  double __nv_ddiv_##mode(double x, double y) {                                \
    return divideDoubles(x, y, mode);                                          \
  }                                                                            \
  double __nv_drcp_##mode(double x) { return divideDoubles(1.0, x, mode); }    \
  double __nv_dsqrt_##mode(double x) { return rootOfDouble(x, mode); }         \
  double __nv_fma_##mode(double x, double y, double z) {                       \
    return multiplyAddDoubles(x, y, z, mode);                                  \
  }
ARITHMETIC(rn)
ARITHMETIC(rz)
ARITHMETIC(ru)
ARITHMETIC(rd)

double __nv_fma(double x, double y, double z) { return __builtin_fma(x, y, z); }
float __nv_fmaf(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
float __nv_frsqrt_rn(float x) { return (float)(1.0 / __builtin_sqrt(x)); }
/// The reciprocal to the upper half of its bits.
double __nv_rcp64h(double x) {
  return fromBits(toBits(1.0 / x) & 0xffffffff00000000);
}
float __nv_saturatef(float x) {
  return !(x > 0.0f) ? 0.0f : x > 1.0f ? 1.0f : x;
}
double __nv_fdim(double x, double y) {
  return x <= y ? 0.0 : x - y; // NaN stays
}
SINGLE2(fdim)
