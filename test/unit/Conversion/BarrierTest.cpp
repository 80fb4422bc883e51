//===-- BarrierTest.cpp - Who takes part in a barrier ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Conversion/TritonGPUToLLVM/Barrier.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace mlir::triton;
using Kind = BarrierParticipants::Kind;

namespace {

/// The participants for each ttg.barrier of a module, in program order.
struct Participants {
  std::vector<BarrierParticipants> ofBlock, ofProgram;

  Participants(const std::string &attributes, const std::string &body) {
    MLIRContext context;
    context.loadDialect<TritonDialect, gpu::TritonGPUDialect>();
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(
        "module attributes {" + attributes + "} { tt.func @f() {" + body +
            "  tt.return } }",
        &context);
    EXPECT_TRUE(module);
    module->walk<WalkOrder::PreOrder>([&](gpu::BarrierOp op) {
      ofBlock.push_back(getThreadsOfBlock(op));
      ofProgram.push_back(getThreadsOfProgram(op));
    });
  }
};

TEST(Barrier, BlockOfWarps) {
  Participants who("\"ttg.num-warps\" = 8 : i32", "ttg.barrier local");
  EXPECT_EQ(who.ofBlock[0], (BarrierParticipants{Kind::Block, 0, 8}));
  EXPECT_EQ(who.ofProgram[0], who.ofBlock[0]);
}

TEST(Barrier, OneWarp) {
  Participants who("\"ttg.num-warps\" = 1 : i32", "ttg.barrier local");
  EXPECT_EQ(who.ofBlock[0], (BarrierParticipants{Kind::Warp, 0, 1}));
}

TEST(Barrier, Cluster) {
  Participants who("\"ttg.num-warps\" = 1 : i32, \"ttg.num-ctas\" = 2 : i32",
                   "ttg.barrier local");
  EXPECT_EQ(who.ofBlock[0], (BarrierParticipants{Kind::Warp, 0, 1}));
  EXPECT_EQ(who.ofProgram[0].kind, Kind::Cluster);
}

TEST(Barrier, PartitionsHaveTheirOwn) {
  Participants who("\"ttg.num-warps\" = 4 : i32", R"(
    ttg.warp_specialize()
    default {
      ttg.barrier local
      ttg.warp_yield
    }
    partition0() num_warps(8) {
      ttg.barrier local
      ttg.warp_return
    }
    partition1() num_warps(1) {
      ttg.barrier local
      ttg.warp_return
    } : () -> ()
    ttg.barrier local
  )");
  ASSERT_EQ(who.ofBlock.size(), 4u);
  EXPECT_EQ(who.ofBlock[0], (BarrierParticipants{Kind::WarpGroup, 0, 4}));
  EXPECT_EQ(who.ofBlock[1], (BarrierParticipants{Kind::WarpGroup, 1, 8}));
  EXPECT_EQ(who.ofBlock[2], (BarrierParticipants{Kind::Warp, 0, 1}));
  EXPECT_EQ(who.ofBlock[3], (BarrierParticipants{Kind::Block, 0, 4}));
}

} // namespace
