//===-- ToyDialect.cpp - A copy engine of no vendor -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ToyDialect.h"

#include "mlir/IR/DialectImplementation.h"

using namespace mlir;
using namespace mlir::triton::gpu;
using namespace mlir::triton::toy;

#include "ToyDialect.cpp.inc"

#define GET_OP_CLASSES
#include "ToyOps.cpp.inc"

void ToyDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "ToyOps.cpp.inc"
      >();
}

Value CopyOp::getCopyTarget() { return getSlot(); }

bool CopyOp::arrivesAtBarrier() { return bool(getFlag()); }

BarrierUse MakeFlagOp::getBarrierUse() { return BarrierUse::Begin; }

BarrierUse EndFlagOp::getBarrierUse() { return BarrierUse::End; }

BarrierUse AnnounceOp::getBarrierUse() { return BarrierUse::Announce; }

BarrierUse WaitOp::getBarrierUse() { return BarrierUse::Wait; }

BarrierUse ArriveOp::getBarrierUse() { return BarrierUse::Arrive; }

BarrierUse ArriveAfterCopiesOp::getBarrierUse() { return BarrierUse::Arrive; }
