//===-- DescriptorObstacles.h - What TMA cannot do --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILE_LIB_TRITONNVIDIAGPU_TRANSFORMS_DESCRIPTOROBSTACLES_H
#define TILE_LIB_TRITONNVIDIAGPU_TRANSFORMS_DESCRIPTOROBSTACLES_H

#include "DescriptorClasses.h"

#include "tile/Analysis/AxisInfo.h"
#include "tile/Analysis/ValueRanges.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::triton::nvidia_gpu {

/// Where the blocks begin that a program stores.
enum class StoresBegin { Anywhere, Inside };

/// Why the descriptors of a class are better off as pointers: what TMA cannot
/// do, or not well. Nullopt if TMA is to copy their blocks. `begin` is what is
/// taken to be so, whatever is known of the coordinates.
std::optional<std::string>
findObstacleForTMA(const DescriptorClass &descriptors, RankedTensorType block,
                   const ModuleAxisInfoAnalysis &axisInfo, ValueRanges &ranges,
                   unsigned numCTAs, StoresBegin begin = StoresBegin::Anywhere);

/// Whether TMA could copy what `users` access by a descriptor, if it was known
/// that its base, strides and rows are as TMA takes them.
bool hasObstacleInNumbersAlone(MakeTensorDescOp make,
                               ArrayRef<Operation *> users,
                               RankedTensorType block,
                               const ModuleAxisInfoAnalysis &axisInfo,
                               ValueRanges &ranges);

/// Whether the launch makes what `op` says.
bool isOfLaunch(MakeTensorDescOp op);

/// The function that `value` is an argument of, if it is one.
FunctionOpInterface getFunctionOfArgument(Value value);

} // namespace mlir::triton::nvidia_gpu

#endif // TILE_LIB_TRITONNVIDIAGPU_TRANSFORMS_DESCRIPTOROBSTACLES_H
