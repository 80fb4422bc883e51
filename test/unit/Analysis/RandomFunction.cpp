//===-- RandomFunction.cpp - Random index arithmetic ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "RandomFunction.h"
#include "Evaluate.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "tile/Analysis/AxisInfo.h"
#include "tile/Analysis/ValueRanges.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::test;

int64_t test::randomNumber(Random &random, unsigned width) {
  switch (below(random, 6)) {
  case 0:
    return wrap(below(random, 9) - 4, width);
  case 1:
  case 2:
    return wrap(uint64_t(1) << below(random, std::min(width, 8u)), width);
  case 3:
    return wrap((oneIn(random, 2) ? 1 : -1) * 16 * below(random, 8), width);
  case 4: // About where signs change.
    return wrap((uint64_t(1) << (width - 1)) + below(random, 65) - 32, width);
  default:
    return wrap(random(), width);
  }
}

static bool isInteger(Type type) {
  auto integer = dyn_cast<IntegerType>(getElementTypeOrSelf(type));
  return integer && integer.getWidth() > 1;
}
static bool isMask(Type type) {
  return getElementTypeOrSelf(type).isInteger(1);
}
static bool isPointer(Type type) {
  return isa<PointerType>(getElementTypeOrSelf(type));
}
static bool isTensor(Type type) { return isa<RankedTensorType>(type); }

/// `type` with another type of elements.
static Type withElement(Type type, Type element) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? Type(tensor.clone(element)) : element;
}

RandomFunction::RandomFunction(ModuleOp module, Random &random)
    : module(module), random(random), b(module.getContext()),
      loc(UnknownLoc::get(module.getContext())) {}

Value RandomFunction::pick(llvm::function_ref<bool(Type)> wanted) {
  // Late values first, so that expressions grow deep.
  for (int tries = 0; tries < 24 && !pool.empty(); ++tries) {
    int64_t back =
        std::min(below(random, pool.size()), below(random, pool.size()));
    Value value = pool[pool.size() - 1 - back];
    if (wanted(value.getType()))
      return value;
  }
  return {};
}

Value RandomFunction::constant(Type type, int64_t value) {
  Type element = getElementTypeOrSelf(type);
  auto scalar = b.getIntegerAttr(element, APInt(element.getIntOrFloatBitWidth(),
                                                value, /*isSigned=*/true,
                                                /*implicitTrunc=*/true));
  TypedAttr attr = scalar;
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    attr = DenseElementsAttr::get(tensor, scalar.getValue());
  return arith::ConstantOp::create(b, loc, attr);
}

Value RandomFunction::randomConstant(Type type) {
  unsigned bits = getElementTypeOrSelf(type).getIntOrFloatBitWidth();
  return constant(type, randomNumber(random, bits));
}

Value RandomFunction::pickLike(Type type) {
  if (oneIn(random, 3))
    return randomConstant(type);
  if (Value value = pick([&](Type found) { return found == type; }))
    return value;
  return randomConstant(type);
}

FuncOp RandomFunction::build(StringRef name, int numOps) {
  static constexpr unsigned kWidths[] = {8, 8, 16, 32, 32, 64};
  width = kWidths[below(random, std::size(kWidths))];
  // Up to 256 elements, more than a number of eight bits can count.
  shape.clear();
  for (int64_t left = 1 + below(random, 8), rank = 1 + below(random, 3), i = 0;
       i < rank; ++i) {
    int64_t bits = i + 1 == rank ? left : below(random, left + 1);
    shape.push_back(int64_t(1) << bits);
    left -= bits;
  }
  pool.clear();
  depth = 0;

  b.setInsertionPointToEnd(module.getBody());
  SmallVector<Type> types = {b.getIntegerType(width), b.getIntegerType(width),
                             b.getI1Type()};
  static constexpr unsigned kPointees[] = {1, 8, 16, 32, 64};
  for (int i = 0; i < 2; ++i) {
    Type pointee =
        b.getIntegerType(kPointees[below(random, std::size(kPointees))]);
    if (oneIn(random, 4))
      pointee = PointerType::get(pointee, 1);
    types.push_back(PointerType::get(pointee, 1));
  }
  auto func =
      FuncOp::create(b, loc, name, b.getFunctionType(types, TypeRange()));
  makeArguments(func);
  b.setInsertionPointToStart(func.addEntryBlock());
  for (Value arg : func.getArguments())
    add(arg);
  add(GetProgramIdOp::create(b, loc, int(below(random, 3))));
  add(GetNumProgramsOp::create(b, loc, int(below(random, 3))));
  makeRange();
  makeOperations(numOps);
  ReturnOp::create(b, loc, ValueRange());
  return func;
}

void RandomFunction::makeArguments(FuncOp func) {
  for (auto [i, type] : llvm::enumerate(func.getArgumentTypes())) {
    if (!type.isInteger(1) && !oneIn(random, 3))
      func.setArgAttr(i, kDivisibilityAttr,
                      b.getI32IntegerAttr(1 << below(random, 6)));
    if (isInteger(type) && oneIn(random, 2))
      func.setArgAttr(i, kNonNegativeAttr, b.getI32IntegerAttr(1));
    if (isInteger(type) && oneIn(random, 3))
      func.setArgAttr(
          i, kMaxAttr,
          b.getI32IntegerAttr(below(random, 1 << below(random, 31))));
  }
}

void RandomFunction::makeOperations(int count) {
  for (int i = 0; i < count; ++i)
    makeOperation();
}

void RandomFunction::makeOperation() {
  static constexpr std::pair<Maker, int> kMakers[] = {
      {&RandomFunction::makeRange, 4},   {&RandomFunction::makeConstant, 2},
      {&RandomFunction::makeBinary, 24}, {&RandomFunction::makeCompare, 4},
      {&RandomFunction::makeSelect, 3},  {&RandomFunction::makeCast, 3},
      {&RandomFunction::makeUnary, 1},   {&RandomFunction::makeShape, 8},
      {&RandomFunction::makePointer, 4}, {&RandomFunction::makeLoad, 2},
      {&RandomFunction::makeFor, 2},     {&RandomFunction::makeWhile, 1},
      {&RandomFunction::makeIf, 1}};
  int total = 0;
  for (auto [maker, weight] : kMakers)
    total += weight;
  int64_t at = below(random, total);
  for (auto [maker, weight] : kMakers)
    if ((at -= weight) < 0)
      return (this->*maker)();
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

/// A range along one axis, spread over the others.
void RandomFunction::makeRange() {
  unsigned axis = below(random, shape.size());
  int64_t start = oneIn(random, 2) ? 0 : below(random, 65);
  Value value = MakeRangeOp::create(
      b, loc, RankedTensorType::get({shape[axis]}, b.getI32Type()), start,
      start + shape[axis]);
  Type narrow = RankedTensorType::get({shape[axis]}, b.getIntegerType(width));
  if (width < 32)
    value = arith::TruncIOp::create(b, loc, narrow, value);
  else if (width > 32)
    value = arith::ExtSIOp::create(b, loc, narrow, value);
  add(value);
  for (unsigned dim = 0; dim < shape.size(); ++dim)
    if (dim != axis)
      value = ExpandDimsOp::create(b, loc, value, dim);
  add(value);
  auto whole = RankedTensorType::get(shape, b.getIntegerType(width));
  if (value.getType() != whole)
    value = BroadcastOp::create(b, loc, whole, value);
  add(value);
}

void RandomFunction::makeConstant() {
  auto type = RankedTensorType::get(shape, b.getIntegerType(width));
  if (!oneIn(random, 3)) {
    add(randomConstant(type));
    return;
  }
  SmallVector<APInt> values;
  for (int64_t i = 0; i < type.getNumElements(); ++i)
    values.push_back(APInt(width, below(random, 3), /*isSigned=*/true));
  add(arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, values)));
}

void RandomFunction::makeBinary() {
  static constexpr StringLiteral kNames[] = {
      "arith.addi",      "arith.addi",       "arith.addi",
      "arith.subi",      "arith.subi",       "arith.muli",
      "arith.muli",      "arith.divsi",      "arith.divsi",
      "arith.divui",     "arith.remsi",      "arith.remsi",
      "arith.remui",     "arith.floordivsi", "arith.floordivsi",
      "arith.ceildivsi", "arith.ceildivui",  "arith.andi",
      "arith.andi",      "arith.ori",        "arith.xori",
      "arith.shli",      "arith.shrsi",      "arith.shrui",
      "arith.maxsi",     "arith.maxui",      "arith.minsi",
      "arith.minui"};
  if (oneIn(random, 8)) {
    static constexpr StringLiteral kLogic[] = {"arith.andi", "arith.ori",
                                               "arith.xori"};
    Value x = pick(isMask);
    Value y = x ? pickLike(x.getType()) : Value();
    if (x)
      add(b.create(loc, b.getStringAttr(kLogic[below(random, 3)]),
                   ValueRange{x, y}, x.getType())
              ->getResult(0));
    return;
  }
  Value x = pick(isInteger);
  if (!x)
    return;
  Value y = pickLike(x.getType());
  StringRef name = kNames[below(random, std::size(kNames))];
  if (name.starts_with("arith.sh") && !oneIn(random, 4))
    y = constant(x.getType(), below(random, 7));
  if (oneIn(random, 6))
    std::swap(x, y);
  add(b.create(loc, b.getStringAttr(name), ValueRange{x, y}, x.getType())
          ->getResult(0));
}

void RandomFunction::makeCompare() {
  Value x = pick(isInteger);
  if (!x)
    return;
  Value y = pickLike(x.getType());
  if (oneIn(random, 2))
    std::swap(x, y);
  auto predicate = static_cast<arith::CmpIPredicate>(
      below(random, arith::getMaxEnumValForCmpIPredicate() + 1));
  add(arith::CmpIOp::create(b, loc, predicate, x, y));
}

void RandomFunction::makeSelect() {
  Value x = pick([](Type type) { return !isMask(type); });
  if (!x)
    return;
  Type type = x.getType();
  Value y = isPointer(type) ? pick([&](Type found) { return found == type; })
                            : pickLike(type);
  Value condition = pick([&](Type found) {
    return found.isInteger(1) || found == withElement(type, b.getI1Type());
  });
  if (y && condition)
    add(arith::SelectOp::create(b, loc, condition, x, y));
}

void RandomFunction::makeCast() {
  Value x = pick(isInteger);
  if (!x)
    return;
  static constexpr unsigned kWidths[] = {8, 16, 32, 64};
  unsigned from = getElementTypeOrSelf(x.getType()).getIntOrFloatBitWidth();
  unsigned to = kWidths[below(random, std::size(kWidths))];
  Type type = withElement(x.getType(), b.getIntegerType(to));
  if (to < from)
    add(arith::TruncIOp::create(b, loc, type, x));
  else if (to > from && oneIn(random, 2))
    add(arith::ExtSIOp::create(b, loc, type, x));
  else if (to > from)
    add(arith::ExtUIOp::create(b, loc, type, x));
}

void RandomFunction::makeUnary() {
  if (Value x = pick(isInteger))
    add(math::AbsIOp::create(b, loc, x));
}

//===----------------------------------------------------------------------===//
// Shapes, pointers
//===----------------------------------------------------------------------===//

void RandomFunction::makeShape() {
  Value x = pick([&](Type type) { return isTensor(type) || oneIn(random, 3); });
  if (!x)
    return;
  auto type = dyn_cast<RankedTensorType>(x.getType());
  if (!type) {
    add(SplatOp::create(b, loc, RankedTensorType::get(shape, x.getType()), x));
    return;
  }
  SmallVector<int64_t> sizes(type.getShape());
  unsigned rank = sizes.size();
  switch (below(random, 7)) {
  case 0:
    if (rank < 4)
      add(ExpandDimsOp::create(b, loc, x, below(random, rank + 1)));
    return;
  case 1: {
    for (int64_t &size : sizes)
      if (size == 1 && type.getNumElements() < 64)
        size = int64_t(1) << below(random, 3);
    auto wide = type.clone(sizes);
    if (wide != type)
      add(BroadcastOp::create(b, loc, wide, x));
    return;
  }
  case 2: {
    SmallVector<int32_t> order(rank);
    std::iota(order.begin(), order.end(), 0);
    llvm::shuffle(order.begin(), order.end(), random);
    add(TransOp::create(b, loc, x, order));
    return;
  }
  case 3: {
    // Cuts one size in two, or makes two sizes one.
    unsigned dim = below(random, rank);
    if (sizes[dim] > 1 && oneIn(random, 2)) {
      int64_t outer = int64_t(1)
                      << below(random, llvm::Log2_64(sizes[dim]) + 1);
      sizes[dim] /= outer;
      sizes.insert(sizes.begin() + dim, outer);
    } else if (dim > 0) {
      sizes[dim - 1] *= sizes[dim];
      sizes.erase(sizes.begin() + dim);
    }
    auto op = ReshapeOp::create(b, loc, type.clone(sizes), x);
    op.setAllowReorder(oneIn(random, 4));
    add(op);
    return;
  }
  case 4: {
    Value y = pick([&](Type found) { return found == type; });
    if (rank < 4 && type.getNumElements() <= 128)
      add(JoinOp::create(b, loc, x, y ? y : x));
    return;
  }
  case 5:
    if (rank > 1 && sizes.back() == 2) {
      auto op = SplitOp::create(b, loc, x);
      add(op.getOutLHS());
      add(op.getOutRHS());
    }
    return;
  default:
    if (type.getNumElements() == 1)
      add(UnsplatOp::create(b, loc, x));
  }
}

void RandomFunction::makePointer() {
  Value x = pick(isPointer);
  if (!x)
    return;
  Type type = x.getType();
  switch (below(random, 8)) {
  case 0:
    add(PtrToIntOp::create(b, loc, withElement(type, b.getI64Type()), x));
    return;
  case 1:
    add(BitcastOp::create(
        b, loc, withElement(type, PointerType::get(b.getI16Type(), 1)), x));
    return;
  case 2:
    if (Value address = pick([](Type found) {
          return getElementTypeOrSelf(found).isInteger(64);
        }))
      add(IntToPtrOp::create(
          b, loc,
          withElement(address.getType(), PointerType::get(b.getI8Type(), 1)),
          address));
    return;
  default:
    break;
  }
  Value offset = pick([&](Type found) {
    return isInteger(found) && (isTensor(found) || !isTensor(type)) &&
           (!isTensor(type) ||
            found == withElement(type, getElementTypeOrSelf(found)));
  });
  if (!offset)
    return;
  if (isTensor(offset.getType()) && !isTensor(type)) {
    x = SplatOp::create(b, loc, withElement(offset.getType(), type), x);
    add(x);
  }
  add(AddPtrOp::create(b, loc, x.getType(), x, offset));
}

void RandomFunction::makeLoad() {
  Value pointers = pick([](Type type) {
    auto pointer = dyn_cast<PointerType>(getElementTypeOrSelf(type));
    return pointer && pointer.getPointeeType().isInteger();
  });
  if (!pointers)
    return;
  Type type = pointers.getType();
  Value mask = pick(
      [&](Type found) { return found == withElement(type, b.getI1Type()); });
  Type element = cast<PointerType>(getElementTypeOrSelf(type)).getPointeeType();
  Value other;
  if (mask && oneIn(random, 2))
    other = pickLike(withElement(type, element));
  OperationState state(loc, LoadOp::getOperationName());
  LoadOp::build(b, state, pointers, mask, other, CacheModifier::NONE,
                EvictionPolicy::NORMAL, oneIn(random, 8));
  add(b.create(state)->getResult(0));
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

void RandomFunction::makeFor() {
  Value init = pick([](Type) { return true; });
  if (depth == 2 || !init)
    return;
  Type counter = oneIn(random, 2) ? b.getI32Type() : b.getIntegerType(width);
  unsigned bits = counter.getIntOrFloatBitWidth();
  int64_t first = randomNumber(random, bits);
  int64_t step = int64_t(1) << below(random, 5);
  Value lower = constant(counter, first);
  if (Value known = pick([&](Type found) { return found == counter; });
      known && oneIn(random, 2))
    lower = known;
  auto loop = scf::ForOp::create(
      b, loc, lower, constant(counter, wrap(first + step * 3 - 1, bits)),
      constant(counter, step), init, /*bodyBuilder=*/nullptr,
      /*unsignedCmp=*/oneIn(random, 3));
  size_t outside = pool.size();
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  ++depth;
  add(loop.getInductionVar());
  add(loop.getRegionIterArg(0));
  makeOperations(4);
  Value next = pick([&](Type type) { return type == init.getType(); });
  scf::YieldOp::create(b, loc, next ? next : Value(loop.getRegionIterArg(0)));
  --depth;
  pool.resize(outside);
  add(loop.getResult(0));
}

/// Counts down from three in the second carried value.
void RandomFunction::makeWhile() {
  Value init = pick([](Type) { return true; });
  if (depth == 2 || !init)
    return;
  Type i32 = b.getI32Type();
  Type types[] = {init.getType(), i32};
  auto loop =
      scf::WhileOp::create(b, loc, types, ValueRange{init, constant(i32, 3)});
  size_t outside = pool.size();
  OpBuilder::InsertionGuard guard(b);
  ++depth;
  Location locations[] = {loc, loc};
  Block *before = b.createBlock(&loop.getBefore(), {}, types, locations);
  add(before->getArgument(0));
  makeOperations(2);
  Value passed = pick([&](Type type) { return type == init.getType(); });
  Value more = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sgt,
                                     before->getArgument(1), constant(i32, 0));
  scf::ConditionOp::create(
      b, loc, more,
      ValueRange{passed ? passed : Value(before->getArgument(0)),
                 before->getArgument(1)});
  pool.resize(outside);
  Block *after = b.createBlock(&loop.getAfter(), {}, types, locations);
  add(after->getArgument(0));
  makeOperations(3);
  Value next = pick([&](Type type) { return type == init.getType(); });
  Value left =
      arith::SubIOp::create(b, loc, after->getArgument(1), constant(i32, 1));
  scf::YieldOp::create(
      b, loc, ValueRange{next ? next : Value(after->getArgument(0)), left});
  --depth;
  pool.resize(outside);
  add(loop.getResult(0));
}

void RandomFunction::makeIf() {
  Value condition = pick([](Type type) { return type.isInteger(1); });
  Value sample = pick([](Type) { return true; });
  if (depth == 2 || !condition || !sample)
    return;
  Type type = sample.getType();
  auto branch = scf::IfOp::create(b, loc, type, condition,
                                  /*withElseRegion=*/true);
  size_t outside = pool.size();
  OpBuilder::InsertionGuard guard(b);
  ++depth;
  for (Region *region : branch.getRegions()) {
    b.setInsertionPointToStart(&region->front());
    makeOperations(2);
    Value result = pick([&](Type found) { return found == type; });
    scf::YieldOp::create(b, loc, result ? result : sample);
    pool.resize(outside);
  }
  --depth;
  add(branch.getResult(0));
}
