//===-- OptimizeDescriptorEncoding.cpp - Layouts of descriptors' blocks ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Descriptor values that may be the same at run time form a class. Each class
// is given one encoding, and with it the values, functions and results get new
// types.
//
//===----------------------------------------------------------------------===//

#include "DescriptorClasses.h"
#include "DescriptorEncodings.h"
#include "DescriptorObstacles.h"
#include "UnpackDescriptorArgument.h"
#include "VersionDescriptors.h"
#include "VersionStores.h"

#include "tile/Dialect/TritonNvidiaGPU/IR/Dialect.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/TensorMap.h"
#include "tile/Dialect/TritonNvidiaGPU/Transforms/Passes.h"
#include "tile/Dialect/TritonNvidiaGPU/Transforms/PixelDescriptors.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Remarks.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "triton-nvidia-optimize-descriptor-encoding"

namespace mlir::triton::nvidia_gpu {
#define GEN_PASS_DEF_TRITONNVIDIAOPTIMIZEDESCRIPTORENCODING
#include "tile/Dialect/TritonNvidiaGPU/Transforms/Passes.h.inc"
} // namespace mlir::triton::nvidia_gpu

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::nvidia_gpu;

namespace {

class OptimizeDescriptorEncodingPass
    : public nvidia_gpu::impl::TritonNvidiaOptimizeDescriptorEncodingBase<
          OptimizeDescriptorEncodingPass> {
public:
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (leaveToPointers && getNumCTAs() == 1) {
      versionLoops(module);
      versionStoresOf(module);
    }
    std::optional<ModuleAxisInfoAnalysis> axisInfo;
    // A store whose offset overflows is nobody's wish, and hardly any offset
    // could be shown not to.
    ValueRanges ranges(module, ValueRangeAnalysis::Overflow::NeverHappens);
    SmallVector<BlockArgument> fromHost;
    SmallVector<MakeTensorDescOp> ofLaunch;
    if (leaveToPointers)
      axisInfo.emplace(module);
    for (const DescriptorClass &descriptors : getDescriptorClasses(module)) {
      ArrayRef<Value> members = descriptors.members;
      ArrayRef<Operation *> users = descriptors.users;
      auto type = cast<TensorDescType>(members.front().getType());
      if (type.getBlockType().getEncoding()) {
        // The program says how blocks lie: the kernel's own become maps.
        if (leaveToPointers)
          for (Value value : members)
            if (auto function = getFunctionOfArgument(value);
                function && function.isPublic())
              fromHost.push_back(cast<BlockArgument>(value));
        continue;
      }
      auto [encoding, isFromUses] = chooseDescriptorEncoding(
          type.getBlockType(), users, getNumCTAs(), forTensorMemory);
      ++(isFromUses ? numFromUses : numDefault);
      RankedTensorType block =
          gpu::cloneWithEncoding(type.getBlockType(), encoding);
      if (leaveToPointers) {
        auto find = [&] {
          return findObstacleForTMA(descriptors, block, *axisInfo, ranges,
                                    getNumCTAs());
        };
        std::optional<std::string> obstacle = find();
        // Without padding, TMA asks for less.
        if (obstacle && getTMAPacking(block) > 1) {
          encoding = getDefaultDescriptorEncoding(type.getBlockType(), users,
                                                  getNumCTAs());
          block = gpu::cloneWithEncoding(type.getBlockType(), encoding);
          obstacle = find();
        }
        if (obstacle) {
          remark::missed(members.front().getLoc(),
                         remark::RemarkOpts::name("descriptor-by-pointers")
                             .category(DEBUG_TYPE))
              << "this descriptor becomes pointers, not TMA copies: "
              << *obstacle;
          ++numLeft;
          continue;
        }
      }
      LDBG() << type << " gets " << encoding;
      for (Value value : members) {
        value.setType(TensorDescType::get(block));
        if (leaveToPointers && getFunctionOfArgument(value))
          fromHost.push_back(cast<BlockArgument>(value));
        if (auto make = value.getDefiningOp<MakeTensorDescOp>();
            make && leaveToPointers && isForLaunch(make, members.size()))
          ofLaunch.push_back(make);
      }
    }
    updateDescriptorsOfFunctions(module);
    if (!leaveToPointers)
      return;
    for (auto function : module.getOps<FunctionOpInterface>())
      if (function.isPublic() && !function.isExternal())
        llvm::copy_if(function.getArguments(), std::back_inserter(fromHost),
                      [](BlockArgument argument) {
                        return isa<TensorDescIm2ColType>(argument.getType());
                      });
    for (auto [index, argument] : llvm::enumerate(fromHost))
      if (failed(unpackDescriptorArgument(argument, index)))
        return signalPassFailure();
    for (auto [index, make] : llvm::enumerate(ofLaunch))
      if (failed(moveDescriptorToLaunch(make, fromHost.size() + index)))
        return signalPassFailure();
    numOfLaunch += ofLaunch.size();
    forgetPixelDescriptors(module);
  }

private:
  /// Has the kernel ask what is not known of loaded descriptors.
  static void versionLoops(ModuleOp module) {
    ModuleAxisInfoAnalysis axisInfo(module);
    ValueRanges ranges(module, ValueRangeAnalysis::Overflow::NeverHappens);
    versionDescriptors(module, [&](MakeTensorDescOp make,
                                   ArrayRef<Operation *> users) {
      RankedTensorType block = make.getType().getBlockType();
      if (block.getEncoding() || isOfLaunch(make))
        return false;
      Attribute encoding =
          getDefaultDescriptorEncoding(block, users, /*numCTAs=*/1);
      return hasObstacleInNumbersAlone(make, users,
                                       gpu::cloneWithEncoding(block, encoding),
                                       axisInfo, ranges);
    });
  }

  /// Has the kernel ask where blocks begin, if that alone keeps TMA from
  /// storing them.
  void versionStoresOf(ModuleOp module) {
    ModuleAxisInfoAnalysis axisInfo(module);
    ValueRanges ranges(module, ValueRangeAnalysis::Overflow::NeverHappens);
    SmallVector<MakeTensorDescOp> wanted;
    for (const DescriptorClass &descriptors : getDescriptorClasses(module)) {
      auto make = descriptors.members.front().getDefiningOp<MakeTensorDescOp>();
      if (!make || descriptors.members.size() > 1 ||
          make.getType().getBlockType().getEncoding() ||
          !llvm::all_of(descriptors.users,
                        llvm::IsaPred<DescriptorLoadOp, DescriptorStoreOp>))
        continue;
      RankedTensorType block = make.getType().getBlockType();
      Attribute encoding =
          chooseDescriptorEncoding(block, descriptors.users, /*numCTAs=*/1,
                                   forTensorMemory)
              .encoding;
      auto isInWay = [&](StoresBegin begin) {
        return findObstacleForTMA(descriptors,
                                  gpu::cloneWithEncoding(block, encoding),
                                  axisInfo, ranges, /*numCTAs=*/1, begin)
            .has_value();
      };
      if (isInWay(StoresBegin::Anywhere) && !isInWay(StoresBegin::Inside))
        wanted.push_back(make);
    }
    for (MakeTensorDescOp make : wanted)
      versionStores(make, ranges);
  }

  /// Whether the launch is to make a descriptor of a class with so many
  /// members.
  bool isForLaunch(MakeTensorDescOp make, size_t numMembers) const {
    return isOfLaunch(make) ||
           (launchMaps && numMembers == 1 && canMoveToLaunch(make));
  }

  unsigned getNumCTAs() {
    return std::max<unsigned>(numCTAs, gpu::lookupNumCTAs(getOperation()));
  }
};

} // namespace
