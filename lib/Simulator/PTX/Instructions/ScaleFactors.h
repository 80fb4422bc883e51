//===-- ScaleFactors.h - Narrow floats and the factors of their blocks ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#pragma once

#include "MatrixTypes.h"

namespace tile::sim {

/// The number in a byte of a register: types that are narrower have its bits 5
/// to 2 or 5 to 0.
inline double valueInByte(Type type, uint8_t byte) {
  switch (type) {
  case Type::E2M1:
    return decodeSmall(byte >> 2 & 15, formatE2M1);
  case Type::E2M3:
    return decodeSmall(byte & 63, formatE2M3);
  case Type::E3M2:
    return decodeSmall(byte & 63, formatE3M2);
  default:
    return matrixFloat(type, byte);
  }
}

/// A scale factor has no sign: ue4m3 is e4m3 without.
inline double scaleFactor(Type type, uint8_t byte) {
  return type == Type::UE8M0 ? scaleFromUE8M0(byte)
                             : decodeSmall(byte & 127, formatE4M3);
}

/// mma.sync with .kind (MmaScaled.cpp).
bool decodeMmaKind(FunctionDecoder &d);

} // namespace tile::sim
