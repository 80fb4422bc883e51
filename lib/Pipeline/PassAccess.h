//===-- PassAccess.h - What a pass says about itself ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef TILE_LIB_PIPELINE_PASSACCESS_H
#define TILE_LIB_PIPELINE_PASSACCESS_H

#include "mlir/Pass/Pass.h"

namespace mlir::triton {

/// Members of a pass that only the pass may call, for the handlers that run
/// passes: they say it in the pass's place.
struct PassAccess : Pass {
  static void signalFailure(const Pass &pass) {
    call(pass, &PassAccess::signalPassFailure);
  }
  static void preserveAnalyses(const Pass &pass) {
    call(pass, &PassAccess::markAllAnalysesPreserved);
  }

private:
  /// Actions hand passes over as constant.
  static void call(const Pass &pass, void (Pass::*member)()) {
    (const_cast<Pass &>(pass).*member)();
  }
};

} // namespace mlir::triton

#endif // TILE_LIB_PIPELINE_PASSACCESS_H
