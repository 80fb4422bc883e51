//===-- WarpGroupRegistersTest.cpp - Registers that warp groups share -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Warp groups take registers from each other when a kernel starts. Where they
// ask for more than there are, the kernel waits forever. So whatever
// operations ask for, what all groups get together must fit.
//
//===----------------------------------------------------------------------===//

#include "nvidia/Register.h"

#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/Transforms/Passes.h"

#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"

#include <random>

using namespace mlir;
using namespace mlir::triton;

namespace {
constexpr int kRegisters = 65536, kWarpsPerGroup = 4;

class WarpGroupRegisters : public testing::Test {
protected:
  WarpGroupRegisters() {
    DialectRegistry registry;
    registry.insert<TritonDialect, triton::gpu::TritonGPUDialect>();
    backends::nvidia::registerDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  int draw(std::initializer_list<int> values) {
    return *(values.begin() + random() % values.size());
  }

  /// A kernel with some operations, each with some partitions.
  std::string makeKernel(int numWarps) {
    std::string text = llvm::formatv(
        "module attributes {{\"ttg.num-warps\" = {0} : i32, "
        "\"ttg.threads-per-warp\" = 32 : i32, ttg.target = \"cuda:90\"} {{\n"
        "tt.func public @kernel() {{\n",
        numWarps);
    for (int op = 0, ops = draw({1, 2, 3}); op < ops; ++op) {
      int partitions = draw({1, 1, 2, 3});
      std::string requests, regions;
      for (int i = 0; i < partitions; ++i) {
        requests += (i ? ", " : "") +
                    std::to_string(draw({24, 30, 40, 56, 80, 104, 152}));
        regions += llvm::formatv(
            "partition{0}() num_warps({1}) {{ ttg.warp_return }\n", i,
            draw({1, 2, 4, 4, 8}));
      }
      text += "ttg.warp_specialize() attributes {requestedRegisters = "
              "array<i32: " +
              requests + ">}\ndefault { ttg.warp_yield }\n" + regions +
              ": () -> ()\n";
    }
    return text + "tt.return\n}\n}\n";
  }

  MLIRContext context;
  std::mt19937 random{1};
};

TEST_F(WarpGroupRegisters, AllGroupsTogetherFit) {
  int moved = 0;
  for (int trial = 0; trial < 400; ++trial) {
    int numWarps = draw({4, 8});
    std::string text = makeKernel(numWarps);
    auto module = parseSourceString<ModuleOp>(text, &context);
    ASSERT_TRUE(module) << text;
    PassManager passes(&context);
    passes.addPass(triton::gpu::createTritonGPUAllocateWarpGroups());
    // A kernel of too many threads is refused.
    ScopedDiagnosticHandler ignore(&context,
                                   [](Diagnostic &) { return success(); });
    if (failed(passes.run(*module)))
      continue;
    int total =
        cast<IntegerAttr>((*module)->getAttr("ttg.total-num-warps")).getInt();
    std::vector<int> ofGroup(total / kWarpsPerGroup, 24);
    // What each thread begins with. Only whole groups of warps can get more.
    int each = std::min(kRegisters / (total * 32), 255) / 8 * 8;
    bool all = true;
    module->walk([&](triton::gpu::WarpSpecializeOp op) {
      auto actual = op.getActualRegisters();
      all &= actual.has_value();
      if (!actual)
        return;
      for (int g = 0; g < numWarps / kWarpsPerGroup; ++g)
        ofGroup[g] = actual->front();
      for (auto [start, count, registers, request] :
           llvm::zip(*op.getWarpGroupStartIds(), op.getPartitionNumWarps(),
                     actual->drop_front(), *op.getRequestedRegisters())) {
        bool isWhole = count % kWarpsPerGroup == 0;
        EXPECT_GE(registers, isWhole ? request : std::min(request, each))
            << text;
        for (int warp = start; warp < start + count; ++warp) {
          int &group = ofGroup[warp / kWarpsPerGroup];
          group = std::max<int>(group, registers);
        }
      }
    });
    if (!all)
      continue;
    ++moved;
    int sum = 0;
    for (int registers : ofGroup)
      sum += registers * kWarpsPerGroup * 32;
    EXPECT_LE(sum, kRegisters) << text;
    if (HasFailure())
      return;
  }
  EXPECT_GT(moved, 50);
}
} // namespace
