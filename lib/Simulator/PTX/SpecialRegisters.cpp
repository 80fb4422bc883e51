//===-- SpecialRegisters.cpp - %tid, %ctaid and the like ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A function has a register for each special register that it names. They are
// filled when the function begins; clocks are read by instructions.
//
//===----------------------------------------------------------------------===//
#include "PtxProgram.h"

#include <algorithm>

using namespace tile::sim;

static uint32_t specialValue(const Ctx &c, Special what, unsigned lane) {
  const LaunchConfig &config = *c.launch->config;
  const Cta &cta = *c.cta;
  auto axis = [](Special s, Special first) {
    return unsigned(s) - unsigned(first);
  };
  std::array<unsigned, 3> clusters{};
  for (unsigned i = 0; i < 3; ++i)
    clusters[i] = config.grid[i] / config.cluster[i];
  switch (what) {
  case Special::NTidX:
  case Special::NTidY:
  case Special::NTidZ:
    return config.block[axis(what, Special::NTidX)];
  case Special::CtaX:
  case Special::CtaY:
  case Special::CtaZ:
    return cta.id[axis(what, Special::CtaX)];
  case Special::NCtaX:
  case Special::NCtaY:
  case Special::NCtaZ:
    return config.grid[axis(what, Special::NCtaX)];
  case Special::LaneId:
    return lane;
  case Special::WarpId:
    return c.warp->index;
  case Special::NWarpId:
    return 64;
  case Special::SmId:
    return uint32_t(cta.linear % c.launch->program->device.processors);
  case Special::NSmId:
    return c.launch->program->device.processors;
  case Special::GridId:
    return 1;
  case Special::MaskEq:
    return 1u << lane;
  case Special::MaskLe:
    return lane == 31 ? ~0u : (2u << lane) - 1;
  case Special::MaskLt:
    return (1u << lane) - 1;
  case Special::MaskGe:
    return ~((1u << lane) - 1);
  case Special::MaskGt:
    return lane == 31 ? 0 : ~((2u << lane) - 1);
  case Special::ClusterX:
  case Special::ClusterY:
  case Special::ClusterZ:
    return c.cluster->id[axis(what, Special::ClusterX)];
  case Special::NClusterX:
  case Special::NClusterY:
  case Special::NClusterZ:
    return clusters[axis(what, Special::NClusterX)];
  case Special::ClusterCtaX:
  case Special::ClusterCtaY:
  case Special::ClusterCtaZ: {
    unsigned a = axis(what, Special::ClusterCtaX);
    return cta.id[a] % config.cluster[a];
  }
  case Special::ClusterNCtaX:
  case Special::ClusterNCtaY:
  case Special::ClusterNCtaZ:
    return config.cluster[axis(what, Special::ClusterNCtaX)];
  case Special::ClusterRank:
    return cta.rank;
  case Special::ClusterNRank:
    return c.launch->clusterSize;
  case Special::IsExplicitCluster:
    return c.launch->clusterSize > 1;
  case Special::DynamicShared:
    return config.dynamicShared;
  case Special::TotalShared:
  case Special::AggregateShared:
    return c.launch->program->sharedBytes() + config.dynamicShared;
  case Special::SharedAtDynamic:
    return c.launch->sharedBytes - config.dynamicShared;
  case Special::WorkspaceHigh:
    return uint32_t(
        uint64_t(reinterpret_cast<uintptr_t>(c.launch->workspace)) >> 32);
  case Special::WorkspaceLow:
    return uint32_t(reinterpret_cast<uintptr_t>(c.launch->workspace));
  default:
    return 0;
  }
}

/// Is the value the same for all lanes of a warp?
static bool isUniform(Special what) {
  switch (what) {
  case Special::LaneId:
  case Special::MaskEq:
  case Special::MaskLe:
  case Special::MaskLt:
  case Special::MaskGe:
  case Special::MaskGt:
    return false;
  default:
    return true;
  }
}

/// A coordinate of the warp's threads in the CTA, one after the other.
static void fillThreadIds(const Ctx &c, unsigned axis, uint32_t *lanes) {
  const std::array<unsigned, 3> &block = c.launch->config->block;
  unsigned first = c.warp->index * Lanes;
  std::array<unsigned, 3> id = {first % block[0], first / block[0] % block[1],
                                first / block[0] / block[1]};
  for (unsigned lane = 0; lane < Lanes; ++lane) {
    lanes[lane] = id[axis];
    if (++id[0] < block[0])
      continue;
    id[0] = 0;
    if (++id[1] < block[1])
      continue;
    id[1] = 0;
    ++id[2];
  }
}

void PtxProgram::enter(Ctx &c, Frame &frame) const {
  auto *regs = reinterpret_cast<std::byte *>(frame.regs.data());
  for (auto [slot, what] : frame.code->specials) {
    auto *lanes = reinterpret_cast<uint32_t *>(regs + slot);
    if (what >= Special::TidX && what <= Special::TidZ) {
      fillThreadIds(c, unsigned(what) - unsigned(Special::TidX), lanes);
      continue;
    }
    if (isUniform(what))
      std::fill_n(lanes, Lanes, specialValue(c, what, 0));
    for (unsigned lane = 0; lane < Lanes && !isUniform(what); ++lane)
      lanes[lane] = specialValue(c, what, lane);
  }
}
