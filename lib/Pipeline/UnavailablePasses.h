//===-- UnavailablePasses.h - Names that command lines may have -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILE_LIB_PIPELINE_UNAVAILABLEPASSES_H
#define TILE_LIB_PIPELINE_UNAVAILABLEPASSES_H

namespace mlir::triton {

/// Makes the names of passes that tile lacks errors that say what to use
/// instead. To be called after everything else is registered.
void registerUnavailablePasses();

} // namespace mlir::triton

#endif // TILE_LIB_PIPELINE_UNAVAILABLEPASSES_H
