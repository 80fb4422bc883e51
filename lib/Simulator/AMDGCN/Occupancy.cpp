//===-- Occupancy.cpp - How many waves a SIMD unit holds ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Wave.h"

#include "tile/Simulator/Gpus.h"

#include <algorithm>

using namespace tile::sim;
using namespace tile::sim::amdgcn;

namespace {
/// What a processor gives to waves.
struct Resources {
  const char *gpu;
  unsigned mostWaves; ///< of a SIMD unit
  unsigned vectors,
      vectorsBy;    ///< registers of a lane of 32, and how many at once
  unsigned scalars; ///< of a SIMD unit; 0: every wave has all
  unsigned units;   ///< SIMD units that share LDS
  unsigned shared, sharedBy;
};
} // namespace

static Resources resourcesOf(const Target &target) {
  if (target.isGfx9())
    return {target.name == "gfx90a"   ? "MI250X"
            : target.name == "gfx942" ? "MI300X"
                                      : "MI355X",
            8,
            512,
            8,
            800,
            4,
            target.mostShared,
            target.name == "gfx950" ? 1280u : 512u};
  // There is no data sheet with the rates of gfx1250.
  if (target.gfx1250)
    return {"MI355X", 16, 1024, 16, 0, 4, target.mostShared, 2048};
  bool large = target.name != "gfx1102";
  return {target.name == "gfx1201"   ? "RX 9070 XT"
          : target.name == "gfx1200" ? "RX 9060 XT"
                                     : "RX 7900 XTX",
          16,
          large ? 1536u : 1024u,
          large ? 24u : 16u,
          0,
          4,
          131072,
          1024};
}

static unsigned roundUp(unsigned value, unsigned unit) {
  return (std::max(value, 1u) + unit - 1) / unit * unit;
}

SimulatedGpu tile::sim::amdgcn::gpuOf(const std::string &processor) {
  const Target *target = Target::find(processor);
  if (!target)
    return {};
  const Gpu *rates = Gpu::find(resourcesOf(*target).gpu);
  return {rates, rates->multiprocessors};
}

void WaveProgram::describe(Report &report) const {
  Resources r = resourcesOf(*target);
  report.gpu = r.gpu;
  report.hasScalarUnit = true;
  Occupancy &o = report.occupancy;
  o.waves = o.most = r.mostWaves;
  o.bound = "waves";
  auto limit = [&](unsigned waves, const char *what) {
    if (waves >= o.waves)
      return;
    o.waves = waves;
    o.bound = what;
  };
  // A wave of 64 lanes takes two registers of 32 where those have 32.
  bool isDouble = !target->isGfx9() && waveLanes == 64;
  unsigned file = r.vectors / (isDouble ? 2 : 1),
           unit = r.vectorsBy / (isDouble ? 2 : 1);
  o.vectorRegisters =
      roundUp(unsigned(kernel->directive("next_free_vgpr", vectorCount)), unit);
  limit(file / std::max(o.vectorRegisters, 1u), "vector registers");
  // VCC, FLAT_SCRATCH and XNACK_MASK come on top.
  o.scalarRegisters =
      r.scalars ? roundUp(unsigned(kernel->directive("next_free_sgpr")) + 6, 16)
                : unsigned(Vcc);
  if (r.scalars)
    limit(r.scalars / o.scalarRegisters, "scalar registers");
  if (!report.sharedBytes)
    return;
  unsigned threads = report.block[0] * report.block[1] * report.block[2],
           wavesOfGroup = (threads + waveLanes - 1) / waveLanes,
           groups = r.shared / roundUp(report.sharedBytes, r.sharedBy);
  limit(std::max(1u, groups * wavesOfGroup / r.units), "LDS");
}
