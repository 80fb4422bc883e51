//===-- Gpus.h - The GPU that the simulator stands for --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#pragma once

#include "tile/Simulator/Report.h"

#include <string>

namespace tile::sim {

/// What a program that asks for the device's properties is told.
struct SimulatedGpu {
  const Gpu *rates = nullptr; ///< of the cost model; null: no such target
  unsigned multiprocessors = 0;
};

namespace ptx {
/// `target` is as in `.target`: "sm_100a".
SimulatedGpu gpuOf(const std::string &target);
} // namespace ptx

namespace amdgcn {
/// `processor` is as the assembler names it: "gfx942".
SimulatedGpu gpuOf(const std::string &processor);
} // namespace amdgcn

} // namespace tile::sim
