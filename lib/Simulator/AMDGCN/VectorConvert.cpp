//===-- VectorConvert.cpp - From one type to another ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "HalfArith.h"

using namespace tile::sim;
using namespace tile::sim::amdgcn;

namespace {
using U = uint32_t;

U u32FromF32(float a) { return truncateTo<uint32_t>(a); }
int32_t s32FromF32(float a) { return truncateTo<int32_t>(a); }
U u32FromF64(double a) { return truncateTo<uint32_t>(a); }
int32_t s32FromF64(double a) { return truncateTo<int32_t>(a); }
uint16_t u16FromF16(Half a) {
  return truncateTo<uint16_t>(floatFromHalf(a.bits));
}
int16_t s16FromF16(Half a) {
  return truncateTo<int16_t>(floatFromHalf(a.bits));
}
float f32FromU32(U a) { return float(a); }
float f32FromS32(int32_t a) { return float(a); }
double f64FromU32(U a) { return double(a); }
double f64FromS32(int32_t a) { return double(a); }
Half f16FromU16(uint16_t a) { return {halfFromFloat(a)}; }
Half f16FromS16(int16_t a) { return {halfFromFloat(a)}; }
Half f16FromF32(float a) { return {halfFromFloat(a)}; }
float f32FromF16(Half a) { return floatFromHalf(a.bits); }
float f32FromF64(double a) { return float(a); }
double f64FromF32(float a) { return double(a); }
template <unsigned N> float f32FromByte(U a) { return float(a >> 8 * N & 255); }
int32_t floorS32(float a) { return truncateTo<int32_t>(std::floor(a)); }
int32_t nearestS32(float a) {
  return truncateTo<int32_t>(std::floor(double(a) + 0.5));
}
int32_t s32FromS16(int16_t a) { return a; }
U u32FromU16(uint16_t a) { return a; }

U pack(uint16_t low, uint16_t high) { return low | U(high) << 16; }
U packHalfRtz(float a, float b) {
  return pack(halfTowardsZero(a), halfTowardsZero(b));
}
U packHalf(float a, float b) {
  return pack(halfFromFloat(a), halfFromFloat(b));
}
U packBf16(float a, float b) {
  return pack(bf16FromFloat(a), bf16FromFloat(b));
}
U packU16(U a, U b) {
  return pack(uint16_t(std::min(a, 65535u)), uint16_t(std::min(b, 65535u)));
}
U packS16(int32_t a, int32_t b) {
  auto c = [](int32_t v) { return uint16_t(std::clamp(v, -32768, 32767)); };
  return pack(c(a), c(b));
}
U packU8(float a, U byte, U old) {
  unsigned at = 8 * (byte & 3);
  U value = U(std::clamp(std::nearbyint(a == a ? a : 0.0f), 0.0f, 255.0f));
  return (old & ~(255u << at)) | value << at;
}
//===-- 8 bits ------------------------------------------------------------===//

/// gfx942 has formats without -0, gfx950 and gfx12 those of OCP.
enum class Small : uint8_t { Fp8, Bf8, OcpFp8, OcpBf8 };

template <Small K> float fromSmall(U bits) {
  if constexpr (K == Small::Fp8 || K == Small::Bf8)
    return float(decodeFnuz(uint8_t(bits), K == Small::Fp8 ? 3 : 2));
  else
    return float(
        decodeSmall(bits & 255, K == Small::OcpFp8 ? formatE4M3 : formatE5M2));
}
template <Small K> U toSmall(float a) {
  if constexpr (K == Small::Fp8 || K == Small::Bf8)
    return encodeFnuz(a, K == Small::Fp8 ? 3 : 2);
  else
    return encodeSmall(a, K == Small::OcpFp8 ? formatE4M3 : formatE5M2,
                       Round::Nearest, false);
}
template <Small K> uint64_t twoFromSmall(uint16_t bits) {
  return bitsOfFloat(fromSmall<K>(bits)) |
         uint64_t(bitsOfFloat(fromSmall<K>(bits >> 8))) << 32;
}
template <Small K> uint16_t twoToSmall(float a, float b) {
  return uint16_t(toSmall<K>(a) | toSmall<K>(b) << 8);
}
/// Of gfx1250, which has halves beside floats.
template <Small K> Half halfFromSmall(U bits) {
  return {halfFromFloat(fromSmall<K>(bits))};
}
template <Small K> U twoHalvesFromSmall(uint16_t bits) {
  return pack(halfFromSmall<K>(bits).bits, halfFromSmall<K>(bits >> 8).bits);
}
template <Small K> uint16_t twoHalvesToSmall(U halves) {
  return uint16_t(toSmall<K>(floatFromHalf(uint16_t(halves))) |
                  toSmall<K>(floatFromHalf(uint16_t(halves >> 16))) << 8);
}
template <auto Fnuz, auto Ocp> bool decodeSmall8(InstDecoder &d) {
  bool isGfx12 = d.target().generation == 12;
  if (!d.target().gfx940 && !isGfx12)
    return d.error("is not supported for this target");
  bool good = d.target().name == "gfx950" || isGfx12
                  ? decodeVector<Ocp, Class::Convert>(d)
                  : decodeVector<Fnuz, Class::Convert>(d);
  // The other half of the result's register stays.
  d.inst.mod[2] = 1;
  return good;
}
float f32FromBf16(Bf16 a) { return floatFromBf16(a.bits); }
} // namespace

void tile::sim::amdgcn::registerVectorConvert(OpcodeTable &t) {
  constexpr Class cls = Class::Convert;
  t.insert({
      {"v_cvt_u32_f32", decodeVector<u32FromF32, cls>},
      {"v_cvt_i32_f32", decodeVector<s32FromF32, cls>},
      {"v_cvt_u32_f64", decodeVector<u32FromF64, cls>},
      {"v_cvt_i32_f64", decodeVector<s32FromF64, cls>},
      {"v_cvt_u16_f16", decodeVector<u16FromF16, cls>},
      {"v_cvt_i16_f16", decodeVector<s16FromF16, cls>},
      {"v_cvt_f32_u32", decodeVector<f32FromU32, cls>},
      {"v_cvt_f32_i32", decodeVector<f32FromS32, cls>},
      {"v_cvt_f64_u32", decodeVector<f64FromU32, cls>},
      {"v_cvt_f64_i32", decodeVector<f64FromS32, cls>},
      {"v_cvt_f16_u16", decodeVector<f16FromU16, cls>},
      {"v_cvt_f16_i16", decodeVector<f16FromS16, cls>},
      {"v_cvt_f16_f32", decodeVector<f16FromF32, cls>},
      {"v_cvt_f32_f16", decodeVector<f32FromF16, cls>},
      {"v_cvt_f32_bf16", decodeVector<f32FromBf16, cls>},
      {"v_cvt_f32_fp8",
       decodeSmall8<fromSmall<Small::Fp8>, fromSmall<Small::OcpFp8>>},
      {"v_cvt_f32_bf8",
       decodeSmall8<fromSmall<Small::Bf8>, fromSmall<Small::OcpBf8>>},
      {"v_cvt_pk_f32_fp8",
       decodeSmall8<twoFromSmall<Small::Fp8>, twoFromSmall<Small::OcpFp8>>},
      {"v_cvt_pk_f32_bf8",
       decodeSmall8<twoFromSmall<Small::Bf8>, twoFromSmall<Small::OcpBf8>>},
      {"v_cvt_pk_fp8_f32",
       decodeSmall8<twoToSmall<Small::Fp8>, twoToSmall<Small::OcpFp8>>},
      {"v_cvt_pk_bf8_f32",
       decodeSmall8<twoToSmall<Small::Bf8>, twoToSmall<Small::OcpBf8>>},
      {"v_cvt_pk_f16_fp8",
       decodeVector<twoHalvesFromSmall<Small::OcpFp8>, cls>},
      {"v_cvt_pk_f16_bf8",
       decodeVector<twoHalvesFromSmall<Small::OcpBf8>, cls>},
      {"v_cvt_pk_fp8_f16", decodeVector<twoHalvesToSmall<Small::OcpFp8>, cls>},
      {"v_cvt_pk_bf8_f16", decodeVector<twoHalvesToSmall<Small::OcpBf8>, cls>},
      {"v_cvt_f32_f64", decodeVector<f32FromF64, cls>},
      {"v_cvt_f64_f32", decodeVector<f64FromF32, cls>},
      {"v_cvt_f32_ubyte0", decodeVector<f32FromByte<0>, cls>},
      {"v_cvt_f32_ubyte1", decodeVector<f32FromByte<1>, cls>},
      {"v_cvt_f32_ubyte2", decodeVector<f32FromByte<2>, cls>},
      {"v_cvt_f32_ubyte3", decodeVector<f32FromByte<3>, cls>},
      {"v_cvt_flr_i32_f32", decodeVector<floorS32, cls>},
      {"v_cvt_floor_i32_f32", decodeVector<floorS32, cls>},
      {"v_cvt_rpi_i32_f32", decodeVector<nearestS32, cls>},
      {"v_cvt_nearest_i32_f32", decodeVector<nearestS32, cls>},
      {"v_cvt_i32_i16", decodeVector<s32FromS16, cls>},
      {"v_cvt_u32_u16", decodeVector<u32FromU16, cls>},
      {"v_cvt_pkrtz_f16_f32", decodeVector<packHalfRtz, cls>},
      {"v_cvt_pk_rtz_f16_f32", decodeVector<packHalfRtz, cls>},
      {"v_cvt_pk_f16_f32", decodeVector<packHalf, cls>},
      {"v_cvt_pk_bf16_f32", decodeVector<packBf16, cls>},
      {"v_cvt_pk_u16_u32", decodeVector<packU16, cls>},
      {"v_cvt_pk_i16_i32", decodeVector<packS16, cls>},
      {"v_cvt_pk_u8_f32", decodeVector<packU8, cls>},
  });
}
