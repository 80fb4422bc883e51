//===-- TargetInfoMatrix.cpp - ldmatrix and stmatrix ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Accesses to shared memory by whole warps, of which the layouts say that they
// move rows of matrices.
//
//===----------------------------------------------------------------------===//

#include "nvidia/TritonNVIDIAGPUToLLVM/TargetInfo.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "tile/Conversion/TritonGPUToLLVM/Elements.h"
#include "tile/Conversion/TritonGPUToLLVM/SharedAccess.h"
#include "tile/Layout/MatrixAccess.h"
#include "tile/Layout/SharedMemory.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::triton;
namespace nvt = mlir::triton::nvidia;

namespace {
/// Which instructions for bytes there are.
enum class ByteMoves { None, Load, Store };

/// How matrices make up an access.
class MatrixMoves {
public:
  /// Nullopt if they do not, or are slower than other instructions.
  static std::optional<MatrixMoves> get(const SharedAccess &access,
                                        ByteMoves byteMoves);

  /// Whether bytes of two matrices are sorted, which only loads do.
  bool sortsBytes() const { return matrices.sortsBytes; }

  /// Calls `move` for each instruction with the address of the lane's row.
  void forEach(const LLVMBuilder &b, const ThreadIndex &index,
               function_ref<void(Value address)> move) const;

  SmallVector<Value> load(const LLVMBuilder &b, const ThreadIndex &index) const;
  void store(const LLVMBuilder &b, const ThreadIndex &index,
             ArrayRef<Value> values) const;

private:
  /// What a lane has of matrices with transposed bytes, by columns.
  SmallVector<Value> sortBytes(const LLVMBuilder &b, const ThreadIndex &index,
                               ArrayRef<Value> words) const;
  MatrixMoves(const SharedAccess &access, ColumnAction distinct,
              MatrixAccess matrices)
      : access(access), distinct(std::move(distinct)),
        matrices(std::move(matrices)) {}

  unsigned getCount() const { return 1u << matrices.matricesLog2; }
  unsigned getPack() const { return 1u << matrices.packLog2; }
  /// What an instruction says about its matrices.
  NVVM::MMALayoutAttr getLayoutAttr(MLIRContext *ctx) const {
    return NVVM::MMALayoutAttr::get(
        ctx, matrices.transposed ? NVVM::MMALayout::col : NVVM::MMALayout::row);
  }
  NVVM::LdStMatrixShapeAttr getShapeAttr(MLIRContext *ctx, bool isLoad) const {
    if (!matrices.movesBytes)
      return NVVM::LdStMatrixShapeAttr::get(ctx, 8, 8);
    return NVVM::LdStMatrixShapeAttr::get(ctx, 16, isLoad ? 16 : 8);
  }
  NVVM::LdStMatrixEltTypeAttr getElementAttr(MLIRContext *ctx) const {
    return NVVM::LdStMatrixEltTypeAttr::get(
        ctx, matrices.movesBytes ? NVVM::LdStMatrixEltType::B8
                                 : NVVM::LdStMatrixEltType::B16);
  }

  const SharedAccess &access;
  ColumnAction distinct; ///< registers without those that repeat others
  MatrixAccess matrices;
};
} // namespace

std::optional<MatrixMoves> MatrixMoves::get(const SharedAccess &access,
                                            ByteMoves byteMoves) {
  unsigned bits = 8 * getSharedElementBytes(access.element);
  if (!access.paddings.empty() || access.maxVector < 128 / bits ||
      access.toOffset.hasOutDim(kBlock))
    return std::nullopt;
  // A row is 16 bytes.
  if (access.offset && access.offsetZeroBits < llvm::Log2_32(128 / bits))
    return std::nullopt;
  ColumnAction distinct = removeBroadcastedRegisters(access.toOffset);
  LinearLayout offsets = distinct.apply(access.toOffset);
  unsigned registers = offsets.getInDimSize(kRegister);
  auto getTime = [&](const MatrixAccess &matrices) {
    return registers / matrices.getNumElements() * matrices.wavefronts;
  };
  std::optional<MatrixAccess> best;
  auto consider = [&](std::optional<MatrixAccess> found) {
    if (found && (!best || getTime(*found) < getTime(*best)))
      best = std::move(found);
  };
  for (bool transposed : {false, true})
    consider(getMatrixAccess(offsets, bits, transposed));
  if (bits == 8 && byteMoves != ByteMoves::None)
    consider(getByteMatrixAccess(offsets, byteMoves == ByteMoves::Load));
  if (!best)
    return std::nullopt;
  SmallVector<SmallVector<int32_t>> vectors = access.getVectors();
  unsigned vectorLog2 = llvm::Log2_32(vectors.front().size());
  unsigned time = vectors.size() * countWavefronts(offsets, bits, vectorLog2);
  bool isFewer = registers / best->getNumElements() < vectors.size();
  if (getTime(*best) > time || (getTime(*best) == time && !isFewer))
    return std::nullopt;
  return MatrixMoves(access, std::move(distinct), std::move(*best));
}

void MatrixMoves::forEach(const LLVMBuilder &b, const ThreadIndex &index,
                          function_ref<void(Value)> move) const {
  ThreadPart part = evaluateThreadPart(b, matrices.rowOffsets, kOffset, index);
  if (access.offset) {
    part.value = part.value ? b.xor_(part.value, access.offset) : access.offset;
    part.bits |= ~((1 << access.offsetZeroBits) - 1) & 0x7fffffff;
  }
  LinearLayout registers = matrices.registers.apply(distinct.apply(
      access.toOffset.sublayout(access.toOffset.getInDimNames(), {kOffset})));
  registers = registers.sublayout({kRegister}, {kOffset});
  unsigned bytes = getSharedElementBytes(access.element);
  llvm::DenseMap<int32_t, Value> pointers;
  for (int32_t start = 0, e = registers.getInDimSize(kRegister); start < e;
       start += matrices.getNumElements()) {
    int32_t at = registers.apply({{kRegister, start}})[0].second;
    // Bits that the thread cannot set become part of the address's constant.
    int32_t mixed = at & part.bits, plain = at & ~part.bits;
    Value &ptr = pointers[mixed];
    if (!ptr)
      ptr = b.gep(access.base, b.intTy(8 * bytes), part.withConstant(b, mixed));
    move(b.gep(ptr, b.intTy(8), static_cast<int64_t>(plain) * bytes));
  }
}

SmallVector<Value> MatrixMoves::sortBytes(const LLVMBuilder &b,
                                          const ThreadIndex &index,
                                          ArrayRef<Value> words) const {
  // Bytes 0 and 2 are of one column, 1 and 3 of the next.
  constexpr int32_t lowFirst = 0x6420, highFirst = 0x2064, nextColumn = 0x1111;
  Value swaps = b.ne(b.and_(index.getLane(b), b.i32(2)), b.i32(0));
  SmallVector<Value> sorted;
  for (unsigned m = 0; m < words.size(); m += 2)
    for (int32_t column : {0, nextColumn}) {
      Value selector =
          b.select(swaps, b.i32(highFirst + column), b.i32(lowFirst + column));
      sorted.push_back(b.create<NVVM::PermuteOp>(b.intTy(32), words[m],
                                                 words[m + 1], selector,
                                                 NVVM::PermuteMode::DEFAULT));
    }
  return sorted;
}

SmallVector<Value> MatrixMoves::load(const LLVMBuilder &b,
                                     const ThreadIndex &index) const {
  MLIRContext *ctx = b.getContext();
  SmallVector<Type> words(getCount(), b.intTy(32));
  Type resultType = getCount() == 1
                        ? words.front()
                        : Type(LLVM::LLVMStructType::getLiteral(ctx, words));
  Type element = getSharedElementType(access.element);
  Type packed =
      getPack() == 1 ? element : Type(LLVMBuilder::vecTy(element, getPack()));
  SmallVector<Value> permuted;
  forEach(b, index, [&](Value address) {
    unsigned count = matrices.movesBytes ? getCount() / 2 : getCount();
    Value loaded = b.create<NVVM::LdMatrixOp>(
        resultType, address, b.getBuilder().getI32IntegerAttr(count),
        getLayoutAttr(ctx), getShapeAttr(ctx, /*isLoad=*/true),
        getElementAttr(ctx));
    SmallVector<Value> words{loaded};
    if (getCount() > 1) {
      words.clear();
      for (unsigned m = 0; m < getCount(); ++m)
        words.push_back(b.extractVal(loaded, m));
    }
    if (sortsBytes())
      words = sortBytes(b, index, words);
    for (Value word : words)
      llvm::append_range(permuted, b.unpackVector(b.bitcast(word, packed)));
  });
  // Back to the order of the layout's registers, then the copies.
  SmallVector<Value> values(permuted.size());
  for (auto [i, value] : llvm::enumerate(permuted))
    values[matrices.registers.sourceIndex(i)] =
        fromSharedElement(b, value, access.element);
  return broadcastRegisters<Value>(values, access.toOffset);
}

void MatrixMoves::store(const LLVMBuilder &b, const ThreadIndex &index,
                        ArrayRef<Value> values) const {
  MLIRContext *ctx = b.getContext();
  SmallVector<Value> permuted =
      matrices.registers.apply(distinct.apply(values));
  for (Value &value : permuted)
    value = toSharedElement(b, value);
  ArrayRef<Value> left = permuted;
  forEach(b, index, [&](Value address) {
    SmallVector<Value> words;
    for (unsigned m = 0; m < getCount(); ++m) {
      words.push_back(
          b.bitcast(b.packVector(left.take_front(getPack())), b.intTy(32)));
      left = left.drop_front(getPack());
    }
    b.create<NVVM::StMatrixOp>(address, words, getLayoutAttr(ctx),
                               getShapeAttr(ctx, /*isLoad=*/false),
                               getElementAttr(ctx));
  });
}

/// GPUs since sm_100 have instructions for bytes.
static ByteMoves getByteMoves(const NVIDIATarget &facts, ByteMoves wanted) {
  return facts.computeCapability >= 100 ? wanted : ByteMoves::None;
}

std::optional<SmallVector<Value>>
nvt::TargetInfo::loadMatrices(const LLVMBuilder &b, const SharedAccess &access,
                              const ThreadIndex &index) const {
  if (std::optional<MatrixMoves> moves =
          MatrixMoves::get(access, getByteMoves(facts, ByteMoves::Load)))
    return moves->load(b, index);
  return std::nullopt;
}

bool nvt::TargetInfo::storeMatrices(const LLVMBuilder &b,
                                    const SharedAccess &access,
                                    const ThreadIndex &index,
                                    ArrayRef<Value> values) const {
  if (!facts.hasStMatrix)
    return false;
  std::optional<MatrixMoves> moves =
      MatrixMoves::get(access, getByteMoves(facts, ByteMoves::Store));
  if (!moves || moves->sortsBytes())
    return false;
  moves->store(b, index, values);
  return true;
}
