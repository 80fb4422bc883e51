//===-- Waits.cpp - What instructions of PTX wait for ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "../Mbarrier.h"
#include "../TensorMemory.h"
#include "PtxProgram.h"

#include <algorithm>

using namespace tile::sim;

void PtxProgram::start(Ctx &c, Frame &) const {
  uint32_t most = device.registers / (c.launch->warpsPerCta * Lanes) / 8 * 8;
  c.warp->registers =
      maxRegisters ? maxRegisters : std::min(most, device.mostRegisters);
}

/// What an instruction waits for that tries again and again.
static Obstacle describeTries(const Cta &cta, const Fragment &f) {
  Obstacle obstacle;
  if (std::string_view(f.spinAt->name) == "setmaxnreg") {
    obstacle.text = "setmaxnreg for " + std::to_string(f.spinAt->imm) +
                    " registers: its CTA has " +
                    std::to_string(cta.freeRegisters) + " more to give";
    obstacle.rank = 3;
  } else {
    obstacle.text =
        "an mbarrier that nobody completes (" +
        describeMbarrier(*cta.cluster->ctas[f.spinRank], f.spinOffset) +
        "; waited for: the phase of parity " + std::to_string(f.spinPhase) +
        ")";
  }
  return obstacle;
}

Obstacle PtxProgram::describeWait(const Cta &cta, const Warp &warp,
                                  const Fragment &f) const {
  if (f.wait == PtxWait::Group)
    return {"a wgmma for the other warps of the warp group", 2, "missing-lanes",
            "wgmma needs all four warps of the warp group at the same "
            "instruction, and the others cannot come"};
  if (f.wait == PtxWait::TensorMemory)
    return {"tcgen05.alloc for " + std::to_string(f.waitArg) +
            " columns of tensor memory, of which " +
            std::to_string(
                tensorMemory(*cta.cluster->ctas[cta.rank]).freeColumns()) +
            " are free"};
  if (f.wait == PtxWait::TensorPair)
    return {"a tcgen05 instruction for a warp of the CTA's peer"};
  if (f.wait == Wait::Ready && f.spinAt)
    return describeTries(cta, f);
  return Program::describeWait(cta, warp, f);
}
