//===-- SourcePlace.cpp - Where an operation is in the source -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Support/SourcePlace.h"

#include "mlir/IR/Location.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;

triton::SourcePlace triton::getSourcePlace(Operation *op) {
  SourcePlace place;
  Location loc = op->getLoc();
  while (auto call = dyn_cast<CallSiteLoc>(loc))
    loc = call.getCallee();
  while (auto name = dyn_cast<NameLoc>(loc))
    loc = name.getChildLoc();
  if (auto at = dyn_cast<FileLineColLoc>(loc)) {
    place.file = at.getFilename().str();
    place.line = at.getLine();
  }
  if (auto parent = op->getParentOfType<FunctionOpInterface>())
    place.function = parent.getName().str();
  return place;
}
