//===-- PtxProgram.h - What PTX needs of the machine ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#pragma once

#include "../Machine.h"

namespace tile::sim {

struct PtxProgram : Program {
  /// Special registers have their values from the start.
  void enter(Ctx &c, Frame &frame) const override;
};

} // namespace tile::sim
