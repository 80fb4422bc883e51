//===-- UnpackDescriptorArgument.cpp - Descriptors from the host ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "UnpackDescriptorArgument.h"

#include "tile/Dialect/Triton/IR/DescriptorArguments.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/TensorMap.h"
#include "tile/Dialect/TritonNvidiaGPU/Transforms/PixelDescriptors.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace mlir::triton;

LogicalResult nvidia_gpu::unpackDescriptorArgument(BlockArgument argument,
                                                   int index) {
  auto function = cast<FunctionOpInterface>(argument.getOwner()->getParentOp());
  auto pixels = dyn_cast<TensorDescIm2ColType>(argument.getType());
  auto type = pixels ? TensorDescType::get(pixels.getBlockType())
                     : cast<TensorDescType>(argument.getType());
  RankedTensorType block = type.getBlockType();
  Location loc = argument.getLoc();
  OpBuilder builder(argument.getContext());
  FailureOr<int32_t> elementType = getTMAElementType(block);
  FailureOr<gpu::NVMMASharedEncodingAttr> encoding = getTMAEncoding(
      type, [&] { return function.emitError("no tensor map: "); });
  if (failed(elementType) || failed(encoding))
    return failure();

  FailureOr<bool> rounds =
      roundsToTF32(function, argument.getArgNumber(), type.getElementType());
  if (failed(rounds))
    return failure();
  if (*rounds)
    elementType = kTMATF32Code;

  auto number = [&](int64_t value) {
    return builder.getI32IntegerAttr(static_cast<int32_t>(value));
  };
  SmallVector<int64_t> shape =
      pixels ? getTMAPixelBoxShape(block) : getTMABoxShape(block);
  SmallVector<int32_t> box(shape.begin(), shape.end());
  box.back() *= getTMAPacking(block);
  SmallVector<NamedAttribute> facts = {
      builder.getNamedAttr("index", number(index)),
      builder.getNamedAttr("element_type", number(*elementType)),
      builder.getNamedAttr("element_bytes",
                           number(block.getElementTypeBitWidth() / 8)),
      builder.getNamedAttr("swizzle",
                           number(encoding->getSwizzlingByteWidth())),
      builder.getNamedAttr("box", builder.getDenseI32ArrayAttr(box)),
  };
  if (pixels)
    facts.push_back(builder.getNamedAttr("pixels", builder.getUnitAttr()));

  SmallVector<Type> types =
      pixels ? getPixelPartTypes(pixels) : getPartTypes(type);
  auto none = builder.getDictionaryAttr({});
  SmallVector<DictionaryAttr> attrs(types.size(), none);
  attrs.front() = builder.getDictionaryAttr(
      builder.getNamedAttr(kTensorMapBaseAttrName, number(index)));

  unsigned place = argument.getArgNumber();
  SmallVector<unsigned> places(types.size(), place + 1);
  SmallVector<Location> locs(types.size(), loc);
  // The map, in the memory of parameters.
  types.push_back(PointerType::get(builder.getI8Type(), /*addressSpace=*/0));
  attrs.push_back(builder.getDictionaryAttr(builder.getNamedAttr(
      kTensorMapAttrName, builder.getDictionaryAttr(facts))));
  places.push_back(function.getNumArguments());
  locs.push_back(loc);
  if (failed(function.insertArguments(places, types, attrs, locs)))
    return failure();

  builder.setInsertionPointToStart(argument.getOwner());
  Value map = function.getArguments().back();
  argument.replaceAllUsesWith(
      ReinterpretTensorDescriptorOp::create(builder, loc, type, map));
  return function.eraseArgument(place);
}

void nvidia_gpu::updateDescriptorsOfFunctions(ModuleOp module) {
  for (auto function : module.getOps<FunctionOpInterface>()) {
    // Functions of other dialects have no descriptors.
    if (function.isExternal() || !isa<FunctionType>(function.getFunctionType()))
      continue;
    SmallVector<Type> results(function.getResultTypes());
    for (Block &block : function.getFunctionBody())
      if (Operation *terminator = block.getTerminator();
          terminator->hasTrait<mlir::OpTrait::ReturnLike>())
        for (auto [result, operand] :
             llvm::zip(results, terminator->getOperandTypes()))
          if (isa<TensorDescType, TensorDescIm2ColType>(result))
            result = operand;
    function.setType(function.cloneTypeWith(
        function.getFunctionBody().front().getArgumentTypes(), results));
  }
}

void nvidia_gpu::forgetPixelDescriptors(ModuleOp module) {
  auto forget = [](ValueRange values) {
    for (Value value : values)
      if (auto type = dyn_cast<TensorDescIm2ColType>(value.getType()))
        value.setType(TensorDescType::get(type.getBlockType()));
  };
  module.walk([&](Operation *op) {
    forget(op->getResults());
    for (Region &region : op->getRegions())
      for (Block &block : region)
        forget(block.getArguments());
  });
  updateDescriptorsOfFunctions(module);
}
