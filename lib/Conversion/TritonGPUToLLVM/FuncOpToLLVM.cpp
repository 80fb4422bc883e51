//===-- FuncOpToLLVM.cpp - Functions, calls and returns -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels take the arguments of the tt.func, and after them the launch's global
// scratch memory if the module uses any. Device functions take, in place of
// that, the address of their frame of shared memory as a last argument, and
// return several results as a struct.
//
//===----------------------------------------------------------------------===//

#include "tile/Analysis/MemoryModel.h"
#include "tile/Conversion/TritonGPUToLLVM/Patterns.h"

using namespace mlir;
using namespace mlir::triton;

bool triton::isKernel(FunctionOpInterface function) {
  return function.getVisibility() != SymbolTable::Visibility::Private;
}

void triton::declareSharedMemory(ModuleOp module, unsigned addressSpace) {
  // Triton's IR declares it where its places are allocated.
  if (auto declared = module.lookupSymbol<LLVM::GlobalOp>("global_smem"))
    declared.erase();
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  // The size is the launch's: an array of unknown extent.
  auto type = LLVM::LLVMArrayType::get(builder.getI8Type(), 0);
  LLVM::GlobalOp::create(builder, module.getLoc(), type, /*isConstant=*/false,
                         LLVM::Linkage::External, "global_smem", Attribute(),
                         /*alignment=*/1024, addressSpace);
}

namespace {
struct FuncPattern : TargetPattern<FuncOp> {
  using TargetPattern::TargetPattern;

  LogicalResult
  matchAndRewrite(FuncOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    MLIRContext *ctx = op.getContext();
    bool kernel = isKernel(op);
    FunctionType type = op.getFunctionType();
    TypeConverter::SignatureConversion signature(type.getNumInputs());
    for (auto [i, input] : llvm::enumerate(type.getInputs())) {
      Type converted = getConverter().convertType(input);
      if (!converted)
        return this->decline(op, "argument has no LLVM type");
      signature.addInputs(i, converted);
    }
    auto module = op->getParentOfType<ModuleOp>();
    bool hasGlobalScratch = false;
    if (auto size =
            module->getAttrOfType<IntegerAttr>(gpu::kGlobalScratchSizeAttrName))
      hasGlobalScratch = size.getInt() > 0;
    if (hasGlobalScratch)
      signature.addInputs(LLVM::LLVMPointerType::get(ctx, 1));
    if (!kernel)
      signature.addInputs(
          LLVM::LLVMPointerType::get(ctx, target.getSharedAddressSpace()));

    SmallVector<Type> results;
    if (failed(getConverter().convertTypes(type.getResults(), results)))
      return this->decline(op, "result has no LLVM type");
    Type result = LLVM::LLVMVoidType::get(ctx);
    if (results.size() == 1)
      result = results.front();
    else if (results.size() > 1)
      result = LLVM::LLVMStructType::getLiteral(ctx, results);

    auto functionType =
        LLVM::LLVMFunctionType::get(result, signature.getConvertedTypes());
    auto function = LLVM::LLVMFuncOp::create(
        rewriter, op.getLoc(), op.getName(), functionType,
        kernel ? LLVM::Linkage::External : LLVM::Linkage::Internal);
    for (StringRef name : {kDisjointArgumentsAttrName, kSmallArgumentsAttrName})
      if (Attribute arguments = op->getAttr(name))
        function->setAttr(name, arguments);
    // Targets know what the attributes of their dialects mean.
    for (unsigned i = 0; i < type.getNumInputs(); ++i)
      for (NamedAttribute attr : FunctionOpInterface(op).getArgAttrs(i))
        if (!isa_and_nonnull<TritonDialect>(attr.getNameDialect()))
          function.setArgAttr(i, attr.getName(), attr.getValue());
    if (kernel) {
      int threads = gpu::lookupNumWarps(op) * gpu::lookupThreadsPerWarp(op);
      if (auto total =
              module->getAttrOfType<IntegerAttr>(gpu::kTotalNumWarpsAttrName))
        threads = total.getInt() * gpu::lookupThreadsPerWarp(op);
      std::optional<int> maxRegisters;
      if (auto registers =
              module->getAttrOfType<IntegerAttr>(gpu::kMaxNRegAttrName))
        maxRegisters = registers.getInt();
      target.markKernel(function, threads, gpu::lookupNumCTAs(op),
                        maxRegisters);
    } else {
      function->setAttr(kSharedMemoryArgumentAttrName, rewriter.getUnitAttr());
      if (op.isNoinline())
        function.setPassthroughAttr(
            rewriter.getArrayAttr({rewriter.getStringAttr("noinline")}));
    }
    // What is known of arguments helps LLVM and documents the PTX.
    for (auto [i, input] : llvm::enumerate(type.getInputs())) {
      auto divisibility =
          op.getArgAttrOfType<IntegerAttr>(i, kDivisibilityAttr);
      if (kernel && divisibility && isa<triton::PointerType>(input) &&
          llvm::isPowerOf2_64(divisibility.getInt()))
        function.setArgAttr(i, LLVM::LLVMDialect::getAlignAttrName(),
                            rewriter.getI64IntegerAttr(divisibility.getInt()));
      // A small stride of 64 bits is multiplied as one of 32.
      auto most = op.getArgAttrOfType<IntegerAttr>(i, kMaxAttr);
      if (kernel && input.isInteger(64) && most &&
          op.getArgAttr(i, kNonNegativeAttr))
        function.setArgAttr(
            i, LLVM::LLVMDialect::getRangeAttrName(),
            LLVM::ConstantRangeAttr::get(ctx, llvm::APInt(64, 0),
                                         llvm::APInt(64, most.getInt() + 1)));
    }
    rewriter.inlineRegionBefore(op.getBody(), function.getBody(),
                                function.end());
    if (failed(rewriter.convertRegionTypes(&function.getBody(), getConverter(),
                                           &signature)))
      return this->decline(op, "block argument has no LLVM type");
    rewriter.eraseOp(op);
    return success();
  }
};

struct ReturnPattern : TargetPattern<ReturnOp> {
  using TargetPattern::TargetPattern;
  LogicalResult
  matchAndRewrite(ReturnOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    LLVMBuilder b(op.getLoc(), rewriter);
    ValueRange values = adaptor.getSrcs();
    if (values.size() < 2) {
      rewriter.replaceOpWithNewOp<LLVM::ReturnOp>(op, values);
      return success();
    }
    Value result = b.undef(LLVM::LLVMStructType::getLiteral(
        op.getContext(), llvm::to_vector(values.getTypes())));
    for (auto [i, value] : llvm::enumerate(values))
      result = b.insertVal(result, value, i);
    rewriter.replaceOpWithNewOp<LLVM::ReturnOp>(op, result);
    return success();
  }
};

struct CallPattern : TargetPattern<CallOp> {
  using TargetPattern::TargetPattern;
  LogicalResult
  matchAndRewrite(CallOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    LLVMBuilder b(op.getLoc(), rewriter);
    SmallVector<Value> args(adaptor.getOperands());
    auto caller = op->getParentOfType<LLVM::LLVMFuncOp>();
    if (!caller)
      return this->decline(op, "not in a converted function");
    auto module = op->getParentOfType<ModuleOp>();
    auto scratch =
        module->getAttrOfType<IntegerAttr>(gpu::kGlobalScratchSizeAttrName);
    if (scratch && scratch.getInt() > 0) {
      unsigned fromEnd = caller->hasAttr(kSharedMemoryArgumentAttrName) ? 2 : 1;
      args.push_back(caller.getArgument(caller.getNumArguments() - fromEnd));
    }
    auto offset = op->getAttrOfType<IntegerAttr>(kAllocationOffsetAttrName);
    args.push_back(
        getSharedMemoryAt(b, target, op, offset ? offset.getInt() : 0));

    SmallVector<Type> types;
    if (failed(getConverter().convertTypes(op.getResultTypes(), types)))
      return this->decline(op, "result has no LLVM type");
    SmallVector<Type> result;
    if (types.size() == 1)
      result = types;
    else if (types.size() > 1)
      result = {LLVM::LLVMStructType::getLiteral(op.getContext(), types)};
    auto call =
        b.create<LLVM::CallOp>(TypeRange(result), op.getCalleeAttr(), args);
    SmallVector<Value> results;
    if (types.size() == 1)
      results = {call.getResult()};
    else
      for (unsigned i = 0; i < types.size(); ++i)
        results.push_back(b.extractVal(call.getResult(), i));
    rewriter.replaceOp(op, results);
    return success();
  }
};
} // namespace

void triton::populateFunctionPatterns(const LoweringContext &context) {
  context.add<FuncPattern, ReturnPattern, CallPattern>();
}
