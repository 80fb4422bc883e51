//===-- UnpackDescriptorArgument.cpp - Descriptors from the host ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "UnpackDescriptorArgument.h"

#include "tile/Analysis/AxisInfo.h"
#include "tile/Dialect/Triton/IR/Dialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace mlir::triton;

void nvidia_gpu::unpackDescriptorArgument(BlockArgument argument) {
  auto function = cast<FunctionOpInterface>(argument.getOwner()->getParentOp());
  auto type = cast<TensorDescType>(argument.getType());
  unsigned rank = type.getBlockType().getRank();
  Location loc = argument.getLoc();
  OpBuilder builder(argument.getContext());

  // What the host passes: base, shape, strides, and whether elements out of
  // bounds are NaNs. It sees to it that base and strides are multiples of 16
  // bytes, but for the last stride, which is one.
  SmallVector<Type> types = {PointerType::get(type.getElementType())};
  types.append(rank, builder.getI32Type());
  types.append(rank, builder.getI64Type());
  types.push_back(builder.getI1Type());
  SmallVector<DictionaryAttr> attrs(types.size(),
                                    builder.getDictionaryAttr({}));
  auto divisibleBy = [&](int64_t divisor) {
    return builder.getDictionaryAttr(builder.getNamedAttr(
        kDivisibilityAttr, builder.getI32IntegerAttr(divisor)));
  };
  attrs.front() = divisibleBy(16);
  unsigned bits = type.getElementType().getIntOrFloatBitWidth();
  for (unsigned i = 0; i + 1 < rank; ++i)
    attrs[1 + rank + i] = divisibleBy(std::max(1u, 128 / bits));

  unsigned number = argument.getArgNumber();
  SmallVector<unsigned> places(types.size(), number + 1);
  SmallVector<Location> locs(types.size(), loc);
  if (failed(function.insertArguments(places, types, attrs, locs)))
    llvm_unreachable("kernels take these types");
  auto parts = ArrayRef<BlockArgument>(function.getArguments())
                   .slice(number + 1, types.size());

  builder.setInsertionPointToStart(argument.getOwner());
  SmallVector<Value> strides(parts.slice(1 + rank, rank));
  strides.back() = arith::ConstantIntOp::create(builder, loc, 1, 64);
  auto make = [&](OpBuilder &b, PaddingOption padding) -> Value {
    return MakeTensorDescOp::create(b, loc, type, parts.front(),
                                    ValueRange(parts.slice(1, rank)), strides,
                                    padding);
  };
  Value descriptor;
  if (isa<FloatType>(type.getElementType())) {
    auto choice = scf::IfOp::create(builder, loc, TypeRange(type), parts.back(),
                                    /*withElseRegion=*/true);
    OpBuilder nan = choice.getThenBodyBuilder();
    scf::YieldOp::create(nan, loc, make(nan, PaddingOption::PAD_NAN));
    OpBuilder zero = choice.getElseBodyBuilder();
    scf::YieldOp::create(zero, loc, make(zero, PaddingOption::PAD_ZERO));
    descriptor = choice.getResult(0);
  } else {
    descriptor = make(builder, PaddingOption::PAD_ZERO);
  }
  argument.replaceAllUsesWith(descriptor);
  if (failed(function.eraseArgument(number)))
    llvm_unreachable("nobody uses it");
}
