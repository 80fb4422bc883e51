//===-- TestLowering.cpp - The common lowering for the test machines ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The last part of a second backend: what `TargetInfo` asks for, each primitive
// as a call of a function of that name, and one matrix instruction. Nothing of
// a vendor is in reach here, so that what the common lowering makes for these
// machines, it makes by itself.
//
//===----------------------------------------------------------------------===//

#include "TestPasses.h"

#include "tile/Conversion/TritonGPUToLLVM/ElementwisePattern.h"
#include "tile/Conversion/TritonGPUToLLVM/LayoutIndices.h"
#include "tile/Conversion/TritonGPUToLLVM/LowerModule.h"
#include "tile/Dialect/TritonGPU/IR/LinearLayoutConversions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;
using namespace mlir::triton;
namespace ttg = mlir::triton::gpu;

namespace {

//===----------------------------------------------------------------------===//
// Primitives
//===----------------------------------------------------------------------===//

/// Calls the primitive of that name, of which there is one for each signature;
/// a null result type for none.
Value call(const LLVMBuilder &b, StringRef name, Type result, ValueRange args) {
  auto type = LLVM::LLVMFunctionType::get(
      result ? result : LLVM::LLVMVoidType::get(b.getContext()),
      llvm::to_vector(args.getTypes()));
  std::string symbol;
  llvm::raw_string_ostream(symbol) << "test." << name << " " << type;
  auto module = b.getBuilder()
                    .getInsertionBlock()
                    ->getParentOp()
                    ->getParentOfType<ModuleOp>();
  auto function = module.lookupSymbol<LLVM::LLVMFuncOp>(symbol);
  if (!function) {
    OpBuilder::InsertionGuard guard(b.getBuilder());
    b.getBuilder().setInsertionPointToStart(module.getBody());
    function = LLVM::LLVMFuncOp::create(
        b.getBuilder(), UnknownLoc::get(b.getContext()), symbol, type);
  }
  auto op = b.create<LLVM::CallOp>(function, args);
  return result ? op.getResult() : Value();
}

SmallVector<Value> callForAll(const LLVMBuilder &b, StringRef name,
                              Type element, unsigned count, ValueRange args) {
  auto type = LLVM::LLVMStructType::getLiteral(
      b.getContext(), SmallVector<Type>(count, element));
  Value all = call(b, name, type, args);
  SmallVector<Value> results;
  for (unsigned i = 0; i < count; ++i)
    results.push_back(b.extractVal(all, i));
  return results;
}

SmallVector<Value> concat(ValueRange first, ValueRange second,
                          Value last = nullptr) {
  SmallVector<Value> all(first);
  llvm::append_range(all, second);
  if (last)
    all.push_back(last);
  return all;
}

class TestTargetInfo : public TargetInfo {
public:
  explicit TestTargetInfo(const ttg::TargetModel &model) : model(model) {}

  const ttg::TargetModel &getModel() const override { return model; }
  unsigned getSharedAddressSpace() const override { return 7; }
  void markKernel(LLVM::LLVMFuncOp function, int threads, int numCTAs,
                  std::optional<int>) const override {
    Builder builder(function.getContext());
    function->setAttr("test.threads", builder.getI32IntegerAttr(threads));
    function->setAttr("test.blocks", builder.getI32IntegerAttr(numCTAs));
  }

  Value getThreadId(const LLVMBuilder &b) const override {
    return call(b, "thread", b.intTy(32), {});
  }
  Value getProgramId(const LLVMBuilder &b, int axis, int) const override {
    return call(b, "program", b.intTy(32), b.i32(axis));
  }
  Value getNumPrograms(const LLVMBuilder &b, int axis, int) const override {
    return call(b, "programs", b.intTy(32), b.i32(axis));
  }
  Value getBlockInCluster(const LLVMBuilder &b) const override {
    return call(b, "block", b.intTy(32), {});
  }

  void barrier(const LLVMBuilder &b,
               const BarrierParticipants &who) const override {
    using Kind = BarrierParticipants::Kind;
    StringRef name = who.kind == Kind::Warp        ? "barrier.warp"
                     : who.kind == Kind::WarpGroup ? "barrier.group"
                     : who.kind == Kind::Block     ? "barrier.block"
                                                   : "barrier.cluster";
    call(b, name, Type(), {});
  }

  void storeShared(const LLVMBuilder &b, Value ptr, ArrayRef<Value> values,
                   Value pred) const override {
    call(b, "store", Type(), concat(ptr, values, pred));
  }
  SmallVector<Value> loadShared(const LLVMBuilder &b, Value ptr, Type element,
                                unsigned count, Value pred) const override {
    return callForAll(b, "load", element, count, concat(ptr, {}, pred));
  }
  Value mapToBlock(const LLVMBuilder &b, Value ptr,
                   Value block) const override {
    return call(b, "map", ptr.getType(), {ptr, block});
  }
  SmallVector<Value> loadGlobal(const LLVMBuilder &b, Value ptr, Type element,
                                unsigned count, Value pred,
                                ArrayRef<Value> others,
                                const CacheHints &) const override {
    return callForAll(b, "load", element, count, concat(ptr, others, pred));
  }
  void storeGlobal(const LLVMBuilder &b, Value ptr, ArrayRef<Value> values,
                   Value pred, const CacheHints &) const override {
    call(b, "store", Type(), concat(ptr, values, pred));
  }

  StringRef getSyncScope(const LLVMBuilder &, MemSyncScope) const override {
    return "test";
  }
  unsigned getMaxAtomicVector(RMWOp, Type) const override { return 1; }
  FailureOr<SmallVector<Value>> atomicRMW(const LLVMBuilder &b, RMWOp op,
                                          Value ptr, ArrayRef<Value> values,
                                          Value pred, MemSemantic, MemSyncScope,
                                          EvictionPolicy,
                                          bool needResult) const override {
    std::string name = ("atomic." + stringifyRMWOp(op)).str();
    SmallVector<Value> args = concat(ptr, values, pred);
    if (needResult)
      return callForAll(b, name, values.front().getType(), values.size(), args);
    call(b, name, Type(), args);
    return SmallVector<Value>();
  }
  FailureOr<Value> atomicCAS(const LLVMBuilder &b, Value ptr, Value compare,
                             Value value, Value pred, MemSemantic,
                             MemSyncScope) const override {
    return call(b, "atomic.cas", value.getType(),
                concat(ptr, {compare, value}, pred));
  }
  void atomicAddShared(const LLVMBuilder &b, Value ptr, Value value,
                       Value pred) const override {
    call(b, "atomic.add", Type(), concat(ptr, value, pred));
  }

  Value shuffleXor(const LLVMBuilder &b, Value word,
                   int laneMask) const override {
    return call(b, "shuffle.xor", word.getType(), {word, b.i32(laneMask)});
  }
  Value shuffleBy(const LLVMBuilder &b, Value word, int delta) const override {
    return call(b, "shuffle.by", word.getType(), {word, b.i32(delta)});
  }
  Value shuffleMasked(const LLVMBuilder &b, Value word, uint32_t keep,
                      uint32_t set) const override {
    return call(b, "shuffle.masked", word.getType(),
                {word, b.i32(keep), b.i32(set)});
  }
  Value shuffleIdx(const LLVMBuilder &b, Value word,
                   Value lane) const override {
    return call(b, "shuffle.idx", word.getType(), {word, lane});
  }
  Value warpReduce(const LLVMBuilder &, Operation *, Value) const override {
    return {};
  }

  void printf(const LLVMBuilder &b, StringRef format,
              ValueRange args) const override {
    call(b, "print", Type(), args);
  }
  void assertFail(const LLVMBuilder &b, StringRef, StringRef, StringRef,
                  int line) const override {
    call(b, "fail", Type(), b.i32(line));
  }

private:
  const ttg::TargetModel &model;
};

//===----------------------------------------------------------------------===//
// The matrix instruction
//===----------------------------------------------------------------------===//

/// "wave MxNxK": a lane gives, of A, four neighbours along K of one row, and of
/// B the same of one column. Of one column of the result it holds the rows that
/// the encoding says.
struct WaveDotPattern : TargetPattern<DotOp> {
  using TargetPattern::TargetPattern;

  LogicalResult
  matchAndRewrite(DotOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    RankedTensorType aType = op.getA().getType(), bType = op.getB().getType(),
                     dType = op.getType();
    auto mma = dyn_cast<ttg::AMDMfmaEncodingAttr>(dType.getEncoding());
    if (!mma || dType.getRank() != 2)
      return this->decline(op, "the result is not laid out for waves");
    constexpr unsigned kWidth = 4;
    unsigned tile = mma.getInstrShape()[0];
    RegisterTable aTable(toLinearLayout(aType)), bTable(toLinearLayout(bType)),
        dTable(toLinearLayout(dType));
    SmallVector<int32_t> inner = aTable.getContributions(1);
    if (inner != bTable.getContributions(0) || inner.size() % kWidth)
      return this->decline(op, "the operands split the inner dimension "
                               "differently");

    LLVMBuilder b(op.getLoc(), rewriter);
    SmallVector<Value> aValues = unpackElements(b, adaptor.getA(), aType),
                       bValues = unpackElements(b, adaptor.getB(), bType),
                       dValues = unpackElements(b, adaptor.getC(), dType);
    for (int32_t m : aTable.getContributions(0))
      for (int32_t n : bTable.getContributions(1)) {
        SmallVector<int32_t> places;
        for (int32_t row : dTable.getContributions(0))
          if ((row & ~int32_t(tile - 1)) == m)
            places.push_back(dTable.lookup({row, n}));
        for (unsigned k = 0; k < inner.size(); k += kWidth) {
          SmallVector<Value> a, bs, sums;
          for (unsigned i = k; i < k + kWidth; ++i) {
            a.push_back(aValues[aTable.lookup({m, inner[i]})]);
            bs.push_back(bValues[bTable.lookup({inner[i], n})]);
          }
          for (int32_t place : places)
            sums.push_back(dValues[place]);
          Value sum = b.packVector(sums);
          sum = call(b, "wave", sum.getType(),
                     {b.packVector(a), b.packVector(bs), sum});
          for (auto [place, value] : llvm::zip(places, b.unpackVector(sum)))
            dValues[place] = value;
        }
      }
    rewriter.replaceOp(op, packElements(b, getConverter(), dValues, dType));
    return success();
  }
};

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

struct TestConvertToLLVM
    : PassWrapper<TestConvertToLLVM, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TestConvertToLLVM)

  StringRef getArgument() const final { return "test-convert-to-llvm"; }
  StringRef getDescription() const final {
    return "Lower to the LLVM dialect for a machine of the tests";
  }
  void getDependentDialects(DialectRegistry &registry) const final {
    registry.insert<LLVM::LLVMDialect>();
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    TestTargetInfo target(ttg::getTargetModel(module));
    auto populate = [](const LoweringContext &own, ConversionTarget &) {
      own.add<WaveDotPattern>();
      addElementwise<math::ExpOp>(
          own, [](math::ExpOp, const LLVMBuilder &b, Type type,
                  ValueRange args) { return call(b, "exp", type, args); });
    };
    if (failed(lowerModule(module, target, populate)))
      signalPassFailure();
  }
};

} // namespace

void mlir::triton::test::registerTestLoweringPass() {
  PassRegistration<TestConvertToLLVM>();
}
