//===-- VersionStores.cpp - Stores that ask where they begin --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// TMA ends a store as an illegal instruction if the block begins before the
// tensor. Programs that load where their blocks begin hardly ever mean that,
// but nothing says so. It is easy to ask when the kernel runs:
//
//   %inside = %i >= 0 and %j >= 0
//   scf.if %inside { store %desc[max(%i, 0), max(%j, 0)] }
//   else { store %other[%i, %j] }
//
// The other descriptor has the same numbers, and becomes pointers. The maxima
// say what has been asked.
//
//===----------------------------------------------------------------------===//

#include "VersionStores.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::nvidia_gpu;

/// Gives `store` a second version, which goes through `other`, for blocks that
/// begin before the tensor. `mayBeBefore` are the indices that say so.
static void version(DescriptorStoreOp store, Value other,
                    ArrayRef<unsigned> mayBeBefore) {
  OpBuilder b(store);
  Location loc = store.getLoc();
  Value zero = arith::ConstantIntOp::create(b, loc, b.getI32Type(), 0);
  // The sign of this number is that of any of them.
  Value all;
  for (unsigned i : mayBeBefore) {
    Value index = store.getIndices()[i];
    all = all ? arith::OrIOp::create(b, loc, all, index) : index;
  }
  Value inside =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, all, zero);
  auto both = scf::IfOp::create(b, loc, inside, /*withElseRegion=*/true);

  Operation *before = b.clone(*store);
  before->moveBefore(both.elseBlock(), both.elseBlock()->begin());
  cast<DescriptorStoreOp>(before).getDescMutable().assign(other);
  store->moveBefore(both.thenBlock(), both.thenBlock()->begin());
  b.setInsertionPoint(store);
  for (unsigned i : mayBeBefore) {
    OpOperand &index = store.getIndicesMutable()[i];
    index.set(arith::MaxSIOp::create(b, loc, index.get(), zero));
  }
}

void nvidia_gpu::versionStores(MakeTensorDescOp make, ValueRanges &ranges) {
  Value other;
  for (Operation *user : llvm::make_early_inc_range(make->getUsers())) {
    auto store = dyn_cast<DescriptorStoreOp>(user);
    if (!store)
      continue;
    SmallVector<unsigned> mayBeBefore;
    for (auto [i, index] : llvm::enumerate(store.getIndices()))
      if (!ranges.isNonNegative(index))
        mayBeBefore.push_back(i);
    if (mayBeBefore.empty())
      continue;
    if (!other) {
      OpBuilder b(make->getBlock(), std::next(make->getIterator()));
      other = b.clone(*make)->getResult(0);
    }
    version(store, other, mayBeBefore);
  }
}
