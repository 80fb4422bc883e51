//===-- MatrixLoadToLLVM.cpp - ldmatrix -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ttg.local_load of what ldmatrix moves: the layouts say whether it does.
//
//===----------------------------------------------------------------------===//

#include "nvidia/TritonNVIDIAGPUToLLVM/Patterns.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "tile/Dialect/TritonGPU/IR/LinearLayoutConversions.h"
#include "tile/Layout/MatrixAccess.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::triton;
namespace nvt = mlir::triton::nvidia;
namespace ttg = mlir::triton::gpu;

namespace {
struct MatrixLoadPattern : TargetPattern<ttg::LocalLoadOp> {
  using TargetPattern::TargetPattern;

  LogicalResult
  matchAndRewrite(ttg::LocalLoadOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto memory = cast<ttg::MemDescType>(op.getSrc().getType());
    auto result = cast<RankedTensorType>(op.getType());
    if (!isa_and_nonnull<ttg::SharedMemorySpaceAttr>(memory.getMemorySpace()) ||
        isa<ttg::PaddedSharedEncodingAttr>(memory.getEncoding()))
      return this->decline(op, "not plain shared memory");
    Type element = getConverter().convertType(result.getElementType());
    unsigned bits = isa<LLVM::LLVMPointerType>(element)
                        ? 64
                        : element.getIntOrFloatBitWidth();
    LinearLayout all = getOffsetLayout(result, memory);
    ColumnAction distinct = removeBroadcastedRegisters(all);
    LinearLayout offsets = distinct.apply(all);
    std::optional<MatrixAccess> access;
    for (bool transposed : {false, true})
      if (!access)
        access = getMatrixAccess(offsets, bits, transposed);
    if (!access)
      return this->decline(op, "not the access of ldmatrix");

    LLVMBuilder b(op.getLoc(), rewriter);
    MemDesc desc = MemDesc::unpack(b, adaptor.getSrc(), memory);
    unsigned zeroBits;
    Value origin = emitViewOffset(b, desc, memory, zeroBits);
    // A row is 16 bytes.
    if (origin && zeroBits < llvm::Log2_32(128 / bits))
      return this->decline(op, "the view is not aligned to rows");

    ThreadIndex index = getThreadIndex(b, target, op);
    LinearLayout rows = access->rowOffsets;
    ThreadPart part = evaluateThreadPart(b, rows, kOffset, index);
    if (origin) {
      part.value = part.value ? b.xor_(part.value, origin) : origin;
      part.bits |= ~((1 << zeroBits) - 1) & 0x7fffffff;
    }
    LinearLayout registers =
        access->registers.apply(offsets).sublayout({kRegister}, {kOffset});
    unsigned perInstruction = access->getNumElements();
    unsigned count = registers.getInDimSize(kRegister);
    unsigned matrices = 1u << access->matricesLog2;
    unsigned pack = 1u << access->packLog2;
    unsigned bytes = bits / 8;
    Type i32 = b.intTy(32);
    SmallVector<Type> words(matrices, i32);
    Type resultType =
        matrices == 1
            ? i32
            : Type(LLVM::LLVMStructType::getLiteral(op.getContext(), words));
    Type packed = pack == 1 ? element : Type(LLVMBuilder::vecTy(element, pack));

    SmallVector<Value> permuted;
    llvm::DenseMap<int32_t, Value> pointers;
    for (unsigned start = 0; start < count; start += perInstruction) {
      int32_t at =
          registers.apply({{kRegister, static_cast<int32_t>(start)}})[0].second;
      // Bits that the thread cannot set become part of the address's constant.
      int32_t mixed = at & part.bits, plain = at & ~part.bits;
      Value &ptr = pointers[mixed];
      if (!ptr)
        ptr = b.gep(desc.base, b.intTy(8 * bytes), part.withConstant(b, mixed));
      Value address =
          b.gep(ptr, b.intTy(8), static_cast<int64_t>(plain) * bytes);
      Value loaded = b.create<NVVM::LdMatrixOp>(
          resultType, address, b.getBuilder().getI32IntegerAttr(matrices),
          NVVM::MMALayoutAttr::get(op.getContext(), access->transposed
                                                        ? NVVM::MMALayout::col
                                                        : NVVM::MMALayout::row),
          NVVM::LdStMatrixShapeAttr::get(op.getContext(), 8, 8),
          NVVM::LdStMatrixEltTypeAttr::get(op.getContext(),
                                           NVVM::LdStMatrixEltType::B16));
      for (unsigned m = 0; m < matrices; ++m) {
        Value word = matrices == 1 ? loaded : b.extractVal(loaded, m);
        llvm::append_range(permuted, b.unpackVector(b.bitcast(word, packed)));
      }
    }
    // Back to the order of the layout's registers, then the copies.
    SmallVector<Value> values(permuted.size());
    for (auto [i, value] : llvm::enumerate(permuted))
      values[access->registers.sourceIndex(i)] = value;
    SmallVector<Value> elements = broadcastRegisters<Value>(values, all);
    rewriter.replaceOp(op, packElements(b, getConverter(), elements, result));
    return success();
  }
};
} // namespace

void nvt::populateMatrixLoadPatterns(const LoweringContext &context) {
  context.add<MatrixLoadPattern>();
}
