//===-- WarnOfIdlePasses.h - Passes that find nothing to do -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILE_PIPELINE_WARNOFIDLEPASSES_H
#define TILE_PIPELINE_WARNOFIDLEPASSES_H

namespace mlir {
class PassManager;

namespace triton {

/// Has `pm` warn of passes on layouts that change nothing in a module without
/// any.
void warnOfIdlePasses(PassManager &pm);

} // namespace triton
} // namespace mlir

#endif // TILE_PIPELINE_WARNOFIDLEPASSES_H
