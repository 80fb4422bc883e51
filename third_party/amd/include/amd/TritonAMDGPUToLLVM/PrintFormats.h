//===-- PrintFormats.h - What kernels print ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef AMD_TRITONAMDGPUTOLLVM_PRINTFORMATS_H
#define AMD_TRITONAMDGPUTOLLVM_PRINTFORMATS_H

#include "llvm/ADT/StringRef.h"

namespace mlir::triton::amd {

/// On a module: the formats of what its kernels print, each as
/// "number:arguments:bytes of each:text", as the metadata has them.
inline constexpr llvm::StringLiteral kPrintFormatsAttrName =
    "tile.print_formats";

} // namespace mlir::triton::amd

#endif // AMD_TRITONAMDGPUTOLLVM_PRINTFORMATS_H
