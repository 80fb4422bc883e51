//===-- AttributeNames.h - What AMD's passes tell each other ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// As include/tile/Support/AttributeNames.h, for the attributes of `amdg`.
//
//===----------------------------------------------------------------------===//
#ifndef AMD_IR_ATTRIBUTENAMES_H
#define AMD_IR_ATTRIBUTENAMES_H

#include "llvm/ADT/StringRef.h"

namespace mlir::triton::amdgpu {

inline constexpr llvm::StringLiteral kScalarOffsetAttrName =
    "amdg.scalar_offset";

} // namespace mlir::triton::amdgpu

namespace mlir::triton::amd {

inline constexpr llvm::StringLiteral kDirectCopyAttrName = "amdg.direct_copy";
inline constexpr llvm::StringLiteral kDirectVectorAttrName =
    "amdg.direct_vector";
inline constexpr llvm::StringLiteral kDivergentBaseAttrName =
    "amdg.divergent_base";
inline constexpr llvm::StringLiteral kPrintFormatsAttrName =
    "amdg.print_formats";
inline constexpr llvm::StringLiteral kUniformMaskAttrName = "amdg.uniform_mask";

} // namespace mlir::triton::amd

#endif // AMD_IR_ATTRIBUTENAMES_H
