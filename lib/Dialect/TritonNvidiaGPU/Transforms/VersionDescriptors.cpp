//===-- VersionDescriptors.cpp - Loops with aligned descriptors -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A grouped matmul loads the base of each matrix from an array of pointers,
// and the sizes from an array of sizes. Nothing is known of them, so such
// descriptors would be pointers, whose elements are loaded one by one. Whether
// TMA takes them is easy to ask when the kernel runs:
//
//   %aligned = (base | strides in bytes | row in bytes) & 15 == 0
//   scf.if %aligned { loop with other descriptors } else { loop as it was }
//
// The other descriptors have the same numbers, but in a form that says what has
// been asked: a number is shifted down, and multiplied again.
//
//===----------------------------------------------------------------------===//

#include "VersionDescriptors.h"

#include "tile/Analysis/LoopSchedule.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::nvidia_gpu;

namespace {

/// What addresses, strides and rows are multiples of, in bytes.
constexpr int64_t kAlignment = 16;

/// Makes the question and what answers it with yes.
class Aligner {
public:
  Aligner(OpBuilder &b, Location loc) : b(b), loc(loc) {}

  /// Asks whether `number` is a multiple of 16 bytes.
  void ask(Value number, int64_t bytes) {
    if (isa<PointerType>(number.getType()))
      number = PtrToIntOp::create(b, loc, b.getI64Type(), number);
    number = extend(number);
    add(arith::MulIOp::create(b, loc, number, constant(number, bytes)));
  }
  /// Asks whether `number` is not negative.
  void askSign(Value number) {
    number = extend(number);
    Value sign = arith::ShRUIOp::create(b, loc, number, constant(number, 63));
    add(sign);
  }
  Value getAnswer() {
    Value low =
        arith::AndIOp::create(b, loc, bits, constant(bits, kAlignment - 1));
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, low,
                                 constant(low, 0));
  }

  /// `number`, known to be a multiple of 16 bytes and not to be negative.
  Value makeKnown(Value number, int64_t bytes) {
    Type type = number.getType();
    if (isa<PointerType>(type))
      number = PtrToIntOp::create(b, loc, b.getI64Type(), number);
    int64_t unit = std::max<int64_t>(1, kAlignment / bytes);
    Value units = arith::ShRUIOp::create(b, loc, number,
                                         constant(number, llvm::Log2_64(unit)));
    Value known = arith::MulIOp::create(b, loc, units, constant(number, unit));
    if (isa<PointerType>(type))
      known = IntToPtrOp::create(b, loc, type, known);
    return known;
  }

private:
  Value extend(Value number) {
    if (number.getType().isInteger(64))
      return number;
    return arith::ExtSIOp::create(b, loc, b.getI64Type(), number);
  }
  Value constant(Value like, int64_t number) {
    return arith::ConstantOp::create(b, loc,
                                     b.getIntegerAttr(like.getType(), number));
  }
  void add(Value number) {
    bits = bits ? arith::OrIOp::create(b, loc, bits, number) : number;
  }

  OpBuilder &b;
  Location loc;
  Value bits;
};

} // namespace

/// Whether the program has loaded a pointer.
static bool isLoaded(Value pointer) {
  while (Operation *def = pointer.getDefiningOp()) {
    if (isa<LoadOp>(def))
      return true;
    if (!isa<IntToPtrOp, BitcastOp, AddPtrOp>(def))
      return false;
    pointer = def->getOperand(0);
  }
  return false;
}

static int64_t getElementBytes(MakeTensorDescOp make) {
  return make.getType().getBlockType().getElementTypeBitWidth() / 8;
}

/// The outermost loop around `user` that does not make the descriptor.
static Operation *getLoop(Operation *user, MakeTensorDescOp make) {
  Operation *outermost = nullptr;
  for (auto loop = user->getParentOfType<LoopLikeOpInterface>();
       loop && !loop->isAncestor(make);
       loop = loop->getParentOfType<LoopLikeOpInterface>())
    outermost = loop;
  return outermost;
}

/// Whether the loop multiplies, and nobody has said what its warps do.
static bool isForTwoVersions(Operation *loop) {
  if (!isa<scf::ForOp, scf::WhileOp>(loop))
    return false;
  bool multiplies = false, isDivided = false;
  loop->walk([&](Operation *op) {
    multiplies |= isa<DotOp>(op);
    if (auto inner = dyn_cast<scf::ForOp>(op))
      isDivided |= gpu::LoopPlan(inner).isInWarpSpecialized();
  });
  return multiplies && !isDivided;
}

/// A descriptor of the same matrix that is known to be as TMA takes it.
static Value makeKnown(OpBuilder &b, MakeTensorDescOp make) {
  Aligner aligner(b, make.getLoc());
  int64_t bytes = getElementBytes(make);
  auto known = cast<MakeTensorDescOp>(b.clone(*make));
  b.setInsertionPoint(known);
  known.getBaseMutable().assign(aligner.makeKnown(make.getBase(), /*bytes=*/1));
  MutableOperandRange shape = known.getShapeMutable(),
                      strides = known.getStridesMutable();
  OpOperand &row = shape[shape.size() - 1];
  row.set(aligner.makeKnown(row.get(), bytes));
  for (unsigned i = 0; i + 1 < strides.size(); ++i)
    strides[i].set(aligner.makeKnown(strides[i].get(), bytes));
  b.setInsertionPointAfter(known);
  return known;
}

static void version(Operation *loop, ArrayRef<MakeTensorDescOp> makes) {
  OpBuilder b(loop);
  Location loc = loop->getLoc();
  Aligner question(b, loc);
  for (MakeTensorDescOp make : makes) {
    int64_t bytes = getElementBytes(make);
    question.ask(make.getBase(), /*bytes=*/1);
    question.ask(make.getShape().back(), bytes);
    question.askSign(make.getShape().back());
    for (Value stride : make.getStrides().drop_back()) {
      question.ask(stride, bytes);
      question.askSign(stride);
    }
  }
  auto both = scf::IfOp::create(b, loc, loop->getResultTypes(),
                                question.getAnswer(), /*withElseRegion=*/true);
  loop->replaceAllUsesWith(both.getResults());

  b.setInsertionPointToStart(both.thenBlock());
  IRMapping mapping;
  for (MakeTensorDescOp make : makes)
    mapping.map(make.getResult(), makeKnown(b, make));
  Operation *known = b.clone(*loop, mapping);
  auto finish = [&](Block *block, Operation *version) {
    if (block->mightHaveTerminator())
      block->getTerminator()->erase();
    b.setInsertionPointToEnd(block);
    scf::YieldOp::create(b, loc, version->getResults());
  };
  finish(both.thenBlock(), known);
  loop->moveBefore(both.elseBlock(), both.elseBlock()->begin());
  finish(both.elseBlock(), loop);
}

void mlir::triton::nvidia_gpu::versionDescriptors(ModuleOp module,
                                                  IsWantedFn isWanted) {
  llvm::MapVector<Operation *, llvm::SmallSetVector<MakeTensorDescOp, 2>> loops;
  module->walk([&](MakeTensorDescOp make) {
    if (!isLoaded(make.getBase()) ||
        !llvm::all_of(make->getUsers(),
                      llvm::IsaPred<DescriptorLoadOp, DescriptorStoreOp>))
      return;
    llvm::MapVector<Operation *, SmallVector<Operation *>> users;
    for (Operation *user : make->getUsers())
      if (Operation *loop = getLoop(user, make))
        users[loop].push_back(user);
    for (auto &[loop, inLoop] : users)
      if (isForTwoVersions(loop) && isWanted(make, inLoop))
        loops[loop].insert(make);
  });
  for (auto &[loop, makes] : loops) {
    bool isInside = llvm::any_of(loops, [&, loop = loop](const auto &other) {
      return other.first->isProperAncestor(loop);
    });
    if (!isInside)
      version(loop, makes.getArrayRef());
  }
}
