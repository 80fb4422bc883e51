//===-- UnpackDescriptorArgument.cpp - Descriptors from the host ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "UnpackDescriptorArgument.h"

#include "tile/Dialect/Triton/IR/DescriptorArguments.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/TensorMap.h"
#include "tile/Dialect/TritonNvidiaGPU/Transforms/PixelDescriptors.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::nvidia_gpu;

/// What a tensor map says beside base, shape and strides; `elementType` is the
/// code of the hardware.
static FailureOr<SmallVector<NamedAttribute>>
getFacts(FunctionOpInterface function, TensorDescType type, int index,
         int32_t elementType, ArrayRef<int64_t> shape) {
  FailureOr<gpu::NVMMASharedEncodingAttr> encoding = getTMAEncoding(
      type, [&] { return function.emitError("no tensor map: "); });
  if (failed(encoding))
    return failure();
  Builder builder(function.getContext());
  RankedTensorType block = type.getBlockType();
  auto number = [&](int64_t value) {
    return builder.getI32IntegerAttr(static_cast<int32_t>(value));
  };
  SmallVector<int32_t> box(shape.begin(), shape.end());
  box.back() *= getTMAPacking(block);
  return SmallVector<NamedAttribute>{
      builder.getNamedAttr("index", number(index)),
      builder.getNamedAttr("element_type", number(elementType)),
      builder.getNamedAttr("element_bytes",
                           number(block.getElementTypeBitWidth() / 8)),
      builder.getNamedAttr("swizzle",
                           number(encoding->getSwizzlingByteWidth())),
      builder.getNamedAttr("box", builder.getDenseI32ArrayAttr(box)),
  };
}

/// The attributes of a parameter that is a tensor map.
static DictionaryAttr getMapAttrs(Builder &builder,
                                  ArrayRef<NamedAttribute> facts) {
  return builder.getDictionaryAttr(builder.getNamedAttr(
      kTensorMapAttrName, builder.getDictionaryAttr(facts)));
}

/// A map, in the memory of parameters.
static Type getMapType(Builder &builder) {
  return PointerType::get(builder.getI8Type(), /*addressSpace=*/0);
}

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
  FailureOr<bool> rounds =
      roundsToTF32(function, argument.getArgNumber(), type.getElementType());
  if (failed(elementType) || failed(rounds))
    return failure();
  if (*rounds)
    elementType = kTMATF32Code;
  auto facts =
      getFacts(function, type, index, *elementType,
               pixels ? getTMAPixelBoxShape(block) : getTMABoxShape(block));
  if (failed(facts))
    return failure();
  if (pixels)
    facts->push_back(builder.getNamedAttr("pixels", builder.getUnitAttr()));

  SmallVector<Type> types =
      pixels ? getPixelPartTypes(pixels) : getPartTypes(type);
  auto none = builder.getDictionaryAttr({});
  SmallVector<DictionaryAttr> attrs(types.size(), none);
  attrs.front() = builder.getDictionaryAttr(builder.getNamedAttr(
      kTensorMapBaseAttrName, builder.getI32IntegerAttr(index)));

  unsigned place = argument.getArgNumber();
  SmallVector<unsigned> places(types.size(), place + 1);
  SmallVector<Location> locs(types.size(), loc);
  types.push_back(getMapType(builder));
  attrs.push_back(getMapAttrs(builder, *facts));
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

namespace {

/// The steps in which a launch computes values of a kernel's arguments.
class LaunchCode {
public:
  /// A trial leaves the function as it is.
  explicit LaunchCode(FunctionOpInterface function, bool isTrial = false)
      : function(function), isTrial(isTrial) {}

  /// The step that computes `value`; nothing where a launch cannot.
  std::optional<int32_t> get(Value value);
  ArrayRef<int64_t> getSteps() const { return steps; }

  /// The number of an argument among the inputs of all maps of the kernel.
  IntegerAttr getInput(BlockArgument argument);

private:
  std::optional<int32_t> compute(Value value);
  std::optional<int32_t> computeSum(AddPtrOp op);
  std::optional<int32_t> computeBinary(Operation *op, LaunchStep step);
  int32_t add(LaunchStep step, int64_t first, int64_t second = 0);
  /// The step, in the bits that the kernel has for `value`.
  int32_t wrap(int32_t step, Value value);

  FunctionOpInterface function;
  bool isTrial;
  SmallVector<int64_t> steps;
  DenseMap<Value, std::optional<int32_t>> known;
};

} // namespace

IntegerAttr LaunchCode::getInput(BlockArgument argument) {
  int32_t next = 0;
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (auto input = function.getArgAttrOfType<IntegerAttr>(
            i, kTensorMapInputAttrName)) {
      if (i == argument.getArgNumber())
        return input;
      ++next;
    }
  auto input = Builder(function.getContext()).getI32IntegerAttr(next);
  if (!isTrial)
    function.setArgAttr(argument.getArgNumber(), kTensorMapInputAttrName,
                        input);
  return input;
}

int32_t LaunchCode::add(LaunchStep step, int64_t first, int64_t second) {
  steps.append({static_cast<int64_t>(step), first, second});
  return steps.size() / 3 - 1;
}

int32_t LaunchCode::wrap(int32_t step, Value value) {
  constexpr unsigned kBits = 64;
  unsigned bits = value.getType().getIntOrFloatBitWidth();
  return bits < kBits ? add(LaunchStep::Wrap, step, bits) : step;
}

std::optional<int32_t> LaunchCode::computeBinary(Operation *op,
                                                 LaunchStep step) {
  std::optional<int32_t> lhs = get(op->getOperand(0)),
                         rhs = get(op->getOperand(1));
  if (!lhs || !rhs)
    return std::nullopt;
  return wrap(add(step, *lhs, *rhs), op->getResult(0));
}

std::optional<int32_t> LaunchCode::computeSum(AddPtrOp op) {
  std::optional<int32_t> base = get(op.getPtr()), offset = get(op.getOffset());
  auto type = dyn_cast<PointerType>(op.getType());
  if (!type || !base || !offset)
    return std::nullopt;
  int64_t bytes = type.getPointeeType().getIntOrFloatBitWidth() / 8;
  return add(
      LaunchStep::Add, *base,
      add(LaunchStep::Multiply, *offset, add(LaunchStep::Constant, bytes)));
}

std::optional<int32_t> LaunchCode::compute(Value value) {
  constexpr unsigned kPointerBits = 64, kLeastBits = 8;
  bool isPointer = isa<PointerType>(value.getType());
  if (!isPointer && !value.getType().isSignlessInteger())
    return std::nullopt;
  unsigned bits =
      isPointer ? kPointerBits : value.getType().getIntOrFloatBitWidth();
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (argument.getOwner()->getParentOp() != function || bits < kLeastBits)
      return std::nullopt;
    return add(LaunchStep::Input, getInput(argument).getInt(), bits);
  }
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return add(LaunchStep::Constant, constant.getSExtValue());
  using Result = std::optional<int32_t>;
  return llvm::TypeSwitch<Operation *, Result>(value.getDefiningOp())
      .Case([&](AddPtrOp op) { return computeSum(op); })
      .Case(
          [&](arith::AddIOp op) { return computeBinary(op, LaunchStep::Add); })
      .Case([&](arith::SubIOp op) {
        return computeBinary(op, LaunchStep::Subtract);
      })
      .Case([&](arith::MulIOp op) {
        return computeBinary(op, LaunchStep::Multiply);
      })
      .Case([&](arith::MinSIOp op) {
        return computeBinary(op, LaunchStep::Minimum);
      })
      .Case([&](arith::MaxSIOp op) {
        return computeBinary(op, LaunchStep::Maximum);
      })
      .Case([&](arith::ExtSIOp op) { return get(op.getIn()); })
      .Case([&](arith::TruncIOp op) -> Result {
        std::optional<int32_t> from = get(op.getIn());
        return from ? Result(wrap(*from, value)) : std::nullopt;
      })
      .Default([](Operation *) { return std::nullopt; });
}

std::optional<int32_t> LaunchCode::get(Value value) {
  if (auto it = known.find(value); it != known.end())
    return it->second;
  std::optional<int32_t> step = compute(value);
  known[value] = step;
  return step;
}

/// The pointer among the arguments of the kernel that `base` is computed from.
static BlockArgument getPointer(Value base) {
  while (auto sum = base.getDefiningOp<AddPtrOp>())
    base = sum.getPtr();
  return dyn_cast<BlockArgument>(base);
}

/// Base, shape and strides.
static SmallVector<Value> getParts(MakeTensorDescOp make) {
  SmallVector<Value> values{make.getBase()};
  llvm::append_range(values, make.getShape());
  llvm::append_range(values, make.getStrides());
  return values;
}

bool nvidia_gpu::canMoveToLaunch(MakeTensorDescOp make) {
  auto function = make->getParentOfType<FunctionOpInterface>();
  LaunchCode code(function, /*isTrial=*/true);
  BlockArgument pointer = getPointer(make.getBase());
  return function.isPublic() && pointer &&
         make.getPadding() == PaddingOption::PAD_ZERO &&
         llvm::all_of(getParts(make),
                      [&](Value value) { return code.get(value).has_value(); });
}

LogicalResult nvidia_gpu::moveDescriptorToLaunch(MakeTensorDescOp make,
                                                 int index) {
  auto function = make->getParentOfType<FunctionOpInterface>();
  TensorDescType type = make.getResult().getType();
  RankedTensorType block = type.getBlockType();
  FailureOr<int32_t> elementType = getTMAElementType(block);
  if (failed(elementType) || !canMoveToLaunch(make))
    return make.emitOpError("no launch can compute its parts of arguments");
  BlockArgument pointer = getPointer(make.getBase());
  LaunchCode code(function);
  SmallVector<int32_t> parts;
  for (Value value : getParts(make))
    parts.push_back(*code.get(value));
  auto facts =
      getFacts(function, type, index, *elementType, getTMABoxShape(block));
  if (failed(facts))
    return failure();
  Builder builder(make.getContext());
  facts->append({
      builder.getNamedAttr("base", code.getInput(pointer)),
      builder.getNamedAttr("code",
                           builder.getDenseI64ArrayAttr(code.getSteps())),
      builder.getNamedAttr("parts", builder.getDenseI32ArrayAttr(parts)),
  });
  if (failed(function.insertArgument(
          function.getNumArguments(), getMapType(builder),
          getMapAttrs(builder, *facts), make.getLoc())))
    return failure();
  IRRewriter rewriter(make);
  rewriter.replaceOpWithNewOp<ReinterpretTensorDescriptorOp>(
      make, type, function.getArguments().back());
  return success();
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
