//===-- SplitRows.cpp - Long tensors as several ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A block of 256 rows becomes two of 128, by the patterns of
// triton-split-shapes. No row knows of another one, so the two have nothing in
// common but what they load for all rows. Later passes may give each to warps
// of its own.
//
// Descriptors of such blocks describe half of them. A load becomes two, the
// second of which begins later.
//
//===----------------------------------------------------------------------===//

#include "tile/Dialect/Triton/Transforms/SplitRows.h"

#include "DecomposeTypes.h"
#include "SplitShapes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "tile/Dialect/Debug/IR/Dialect.h"
#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/Triton/IR/SplitAttributes.h"
#include "tile/Dialect/Triton/Transforms/Passes.h"

namespace mlir::triton {
#define GEN_PASS_DEF_TRITONSPLITROWS
#include "tile/Dialect/Triton/Transforms/Passes.h.inc"
} // namespace mlir::triton

using namespace mlir;
using namespace mlir::triton;

namespace {

/// Descriptors stay one: that of a piece. All pieces have one shape.
class RowConverter : public PieceConverter {
public:
  explicit RowConverter(int64_t longest) : PieceConverter(longest) {
    addConversion([longest](TensorDescType type) {
      RankedTensorType block = type.getBlockType();
      SmallVector<int64_t> shape = Pieces(block, longest).getShape(0);
      return TensorDescType::get(block.clone(shape));
    });
  }
};

/// Where each piece of a descriptor's block begins.
SmallVector<SmallVector<Value>> getStarts(OpBuilder &builder, Location loc,
                                          const Pieces &pieces,
                                          ValueRange indices) {
  SmallVector<SmallVector<Value>> starts;
  for (size_t piece = 0; piece < pieces.size(); ++piece) {
    SmallVector<Value> &start = starts.emplace_back();
    for (auto [index, offset] :
         llvm::zip_equal(indices, pieces.getOffsets(piece))) {
      Value distance =
          arith::ConstantIntOp::create(builder, loc, index.getType(), offset);
      start.push_back(offset
                          ? arith::AddIOp::create(builder, loc, index, distance)
                          : index);
    }
  }
  return starts;
}

struct SplitMakeDescriptor : public PiecePattern<MakeTensorDescOp> {
  using PiecePattern::PiecePattern;

  LogicalResult
  matchAndRewrite(MakeTensorDescOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Type type = getTypeConverter()->convertType(op.getType());
    rewriter.replaceOpWithNewOp<MakeTensorDescOp>(
        op, type, adaptor.getOperands(), op->getAttrs());
    return success();
  }
};

struct SplitDescriptorLoad : public PiecePattern<DescriptorLoadOp> {
  using PiecePattern::PiecePattern;

  LogicalResult
  matchAndRewrite(DescriptorLoadOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Pieces blocks = getPieces(op.getDesc().getType().getBlockType()),
           pieces = getPieces(op.getType());
    SmallVector<Value> results;
    for (auto [piece, start] : llvm::enumerate(
             getStarts(rewriter, op.getLoc(), blocks, adaptor.getIndices()))) {
      SmallVector<Value> operands{adaptor.getDesc()};
      llvm::append_range(operands, start);
      Type type = op.getType().clone(pieces.getShape(piece));
      results.push_back(clonePiece(rewriter, op, operands, type)->getResult(0));
    }
    rewriter.replaceOpWithMultiple(op, {results});
    return success();
  }
};

/// Stores, and atomic combinations.
template <typename OpT> struct SplitDescriptorStore : public PiecePattern<OpT> {
  using PiecePattern<OpT>::PiecePattern;
  using OneToNOpAdaptor = typename OpConversionPattern<OpT>::OneToNOpAdaptor;

  LogicalResult
  matchAndRewrite(OpT op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Pieces blocks = this->getPieces(op.getDesc().getType().getBlockType());
    SmallVector<Value> indices;
    for (ValueRange index : adaptor.getIndices())
      indices.push_back(index.front());
    for (auto [start, src] :
         llvm::zip_equal(getStarts(rewriter, op.getLoc(), blocks, indices),
                         adaptor.getSrc())) {
      SmallVector<Value> operands{adaptor.getDesc().front(), src};
      llvm::append_range(operands, start);
      clonePiece(rewriter, op, operands, {});
    }
    rewriter.eraseOp(op);
    return success();
  }
};

bool hasPieces(Type type, int64_t longest) {
  if (auto desc = dyn_cast<TensorDescType>(type))
    type = desc.getBlockType();
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && Pieces(tensor, longest).size() > 1;
}

/// Whether the patterns know an operation on tensors of several pieces.
bool isSplittable(Operation *op) {
  // Of these, pieces of operands and results do not correspond.
  if (isa<CatOp, JoinOp, SplitOp, DescriptorGatherOp, DescriptorScatterOp>(op))
    return false;
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return isa<DenseElementsAttr>(constant.getValue());
  return isPiecewise(op) ||
         isa<MakeRangeOp, BroadcastOp, TransOp, DotOp, ReduceOp, PrintOp,
             debug::ValueOp, MakeTensorDescOp, DescriptorLoadOp,
             DescriptorStoreOp, DescriptorReduceOp, arith::SelectOp,
             ub::PoisonOp, ReturnOp, scf::ForOp, scf::IfOp, scf::WhileOp,
             scf::ConditionOp, scf::YieldOp>(op);
}

/// Has what comes behind loops finish a piece before it begins the next one.
/// All pieces together might not fit into registers.
void finishPieces(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block))) {
    if (!isPure(&op) || op.use_empty() ||
        op.hasTrait<mlir::OpTrait::IsTerminator>())
      continue;
    Operation *first = block.getTerminator();
    for (Operation *user : op.getUsers())
      if (Operation *inBlock = block.findAncestorOpInBlock(*user);
          inBlock && inBlock->isBeforeInBlock(first))
        first = inBlock;
    op.moveBefore(first);
  }
}

struct TritonSplitRows
    : public triton::impl::TritonSplitRowsBase<TritonSplitRows> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto attribute = module->getAttrOfType<IntegerAttr>(kLongestExtentAttrName);
    if (!attribute)
      return;
    module->removeAttr(kLongestExtentAttrName);
    MLIRContext *context = &getContext();
    RowConverter converter(attribute.getInt());
    ConversionTarget target(*context);
    RewritePatternSet patterns(context);
    populateDecompositionPatterns(converter, patterns, target);
    populateSplitPatterns(converter, patterns);
    populateSplitReducePatterns(converter, patterns);
    patterns.add<SplitMakeDescriptor, SplitDescriptorLoad,
                 SplitDescriptorStore<DescriptorStoreOp>,
                 SplitDescriptorStore<DescriptorReduceOp>>(converter, context);
    if (failed(applyDecomposition(module, target, std::move(patterns))))
      return signalPassFailure();
    for (auto function : module.getOps<FunctionOpInterface>())
      for (Block &block : function.getFunctionBody())
        finishPieces(block);
  }
};

} // namespace

Operation *triton::findUnsplittable(FunctionOpInterface function,
                                    int64_t longest) {
  Operation *found = nullptr;
  auto hasLong = [&](TypeRange types) {
    return llvm::any_of(types,
                        [&](Type type) { return hasPieces(type, longest); });
  };
  function.getFunctionBody().walk([&](Operation *op) {
    bool isLong =
        hasLong(op->getOperandTypes()) || hasLong(op->getResultTypes());
    if (isLong && !isSplittable(op))
      found = op;
    return found ? WalkResult::interrupt() : WalkResult::advance();
  });
  return found;
}
