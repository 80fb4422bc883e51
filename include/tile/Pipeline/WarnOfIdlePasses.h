//===-- WarnOfIdlePasses.h - Passes that find nothing to do -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILE_PIPELINE_WARNOFIDLEPASSES_H
#define TILE_PIPELINE_WARNOFIDLEPASSES_H

namespace mlir {
class PassManager;

namespace triton {

/// Has `pm` warn of passes that are not for a module, and so change nothing:
/// those on layouts where it has none, those for other machines, and names that
/// stand for nothing.
void warnOfIdlePasses(PassManager &pm);

} // namespace triton
} // namespace mlir

#endif // TILE_PIPELINE_WARNOFIDLEPASSES_H
