//===-- ModuleAxisInfo.cpp - Vector widths from axis info -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Analysis/AxisInfo.h"
#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/LinearLayoutConversions.h"
#include "tile/Layout/LinearLayout.h"

#include <algorithm>

using namespace mlir;
using namespace mlir::triton;

namespace {
/// How the first registers of a thread run through a tensor.
struct RegisterRun {
  unsigned axis = 0;
  int64_t length = 1;
};
} // namespace

static RegisterRun getRegisterRun(RankedTensorType type) {
  RegisterRun run;
  run.axis = std::max<int64_t>(type.getRank(), 1) - 1;
  if (!type.getEncoding() || type.getRank() == 0)
    return run;
  LinearLayout layout = toLinearLayout(type);
  // With one register only, lanes and then warps tell which axis is fastest.
  for (StringRef hardware : {kRegister, kLane, kWarp}) {
    if (!layout.hasInDim(hardware))
      continue;
    bool found = false;
    for (unsigned bit = 0; bit < layout.getInDimSizeLog2(hardware); ++bit) {
      auto basis = layout.getBasis(hardware, bit);
      for (auto [axis, value] : llvm::enumerate(basis))
        if (value == 1 && !found) {
          run.axis = axis;
          found = true;
        }
      if (found)
        break;
    }
    if (found)
      break;
  }
  for (unsigned bit = 0; bit < layout.getInDimSizeLog2(kRegister); ++bit) {
    auto basis = layout.getBasis(kRegister, bit);
    for (auto [axis, value] : llvm::enumerate(basis))
      if (value != (axis == run.axis ? run.length : 0))
        return run;
    run.length *= 2;
  }
  return run;
}

static int64_t getPointeeBytes(Value ptr) {
  return AxisInfo::getUnit(ptr.getType());
}

unsigned ModuleAxisInfoAnalysis::getAlignment(Value ptr) const {
  auto type = dyn_cast<RankedTensorType>(ptr.getType());
  const AxisInfo *info = getAxisInfo(ptr);
  if (!type || !info)
    return 1;
  unsigned axis = getRegisterRun(type).axis;
  int64_t aligned = info->getDivisibility(axis) / getPointeeBytes(ptr);
  return std::max<int64_t>(std::min(aligned, info->getContiguity(axis)), 1);
}

unsigned ModuleAxisInfoAnalysis::getContiguity(Value ptr) const {
  auto type = dyn_cast<RankedTensorType>(ptr.getType());
  if (!type)
    return 1;
  return std::min<int64_t>(getAlignment(ptr), getRegisterRun(type).length);
}

unsigned ModuleAxisInfoAnalysis::getMaskAlignment(Value mask) const {
  auto type = dyn_cast<RankedTensorType>(mask.getType());
  const AxisInfo *info = getAxisInfo(mask);
  if (!type || !info)
    return 1;
  return std::max<int64_t>(info->getConstancy(getRegisterRun(type).axis), 1);
}
