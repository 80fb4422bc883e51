//===-- Type.h - PTX scalar and packed types ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#pragma once

#include <cstdint>
#include <string_view>

namespace tile::sim {

/// Every fundamental and packed type that an instruction may name.
enum class Type : uint8_t {
  None,
  Pred,
  B8,
  B16,
  B32,
  B64,
  B128,
  U8,
  U16,
  U32,
  U64,
  S8,
  S16,
  S32,
  S64,
  F16,
  F16x2,
  BF16,
  BF16x2,
  F32,
  F32x2,
  F64,
  TF32,
  U16x2,
  S16x2,
  U8x4,
  S8x4,
  E4M3,
  E5M2,
  E4M3x2,
  E5M2x2,
  E2M1,
  E2M1x2,
  E2M3x2,
  E3M2x2,
  UE8M0x2,
  U4,
  S4,
  B1,
  // Elements of matrices and their scale factors, each in a byte.
  E2M3,
  E3M2,
  UE8M0,
  UE4M3,
};

/// The type a modifier such as "s32" names, or Type::None.
Type parseType(std::string_view name);
/// The PTX spelling, without the leading dot.
std::string_view nameOf(Type type);
/// Size in bits (a predicate counts as 1).
unsigned bitsOf(Type type);

inline unsigned bytesOf(Type type) { return (bitsOf(type) + 7) / 8; }
bool isSigned(Type type);
/// True for f16, bf16, f32, f64 and their packed forms.
bool isFloat(Type type);
/// True for .uN and .sN (not .bN).
bool isInteger(Type type);

/// State spaces of variables and addresses.
enum class Space : uint8_t {
  Generic,
  Reg,
  Global,
  Shared,
  SharedCluster,
  Local,
  Param,
  Const,
  Tmem
};
std::string_view nameOf(Space space);

} // namespace tile::sim
