//===-- TensorCoreGen5ToLLVM.cpp - tcgen05.mma and its commits ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A dot takes as many instructions as its tile has blocks of the accumulator,
// and steps of 32 bytes along K. One thread issues them all, in one piece of
// assembly with the branch of that thread. These are no operations of NVVM:
// LLVM would not know that they read the operands, and could move writes over
// them.
//
// The instructions run while the threads go on, whatever `is_async` says. That
// flag is for earlier passes: they have given a barrier and a wait to a dot
// that is to be done at once. What is known to be done before a dot begins is
// what came before the barrier in front of it; the fence behind that barrier is
// in the assembly.
//
// Two blocks of a cluster that multiply together have one issuing thread, in
// the block with the even number. Each gives half of the rows of A and half of
// the columns of B, at the same place of its memory.
//
//===----------------------------------------------------------------------===//

#include "TensorCorePattern.h"

#include "nvidia/TritonNVIDIAGPUToLLVM/InstructionDescriptor.h"

#include "mlir/IR/Matchers.h"
#include "tile/Conversion/TritonGPUToLLVM/SharedAccess.h"
#include "tile/Dialect/TritonGPU/IR/LinearLayoutConversions.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/TensorMemoryLayout.h"
#include "tile/Layout/DimNames.h"

using namespace mlir;
using namespace mlir::triton;
namespace nvt = mlir::triton::nvidia;
namespace ttg = mlir::triton::gpu;
namespace ttng = mlir::triton::nvidia_gpu;

using nvt::InstructionText;
using nvt::SharedOperand;
using nvt::TensorCorePattern;

namespace {

/// Nothing where the value is no constant.
std::optional<bool> getKnown(Value condition) {
  APInt value;
  if (condition && matchPattern(condition, m_ConstantInt(&value)))
    return !value.isZero();
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// A buffer in tensor memory.
struct TensorOperand {
  LinearLayout places;
  Value address;

  /// Of an element, relative to the buffer.
  int32_t getDistance(int32_t row, int32_t column) const {
    int32_t tensorColumn = 0, lane = 0;
    for (auto [dim, at] : {std::pair{kDim(0), row}, {kDim(1), column}})
      for (int bit = 0; at >> bit; ++bit)
        if (at >> bit & 1) {
          tensorColumn ^= places.getBasis(dim, bit, ttng::kTensorColumn);
          lane ^= places.getBasis(dim, bit, ttng::kTensorLane);
        }
    return ttng::getTensorAddress(lane, tensorColumn);
  }
};

TensorOperand makeTensorOperand(Value converted, ttg::MemDescType type) {
  return {ttng::getTensorMemoryPlaces(type), converted};
}

//===----------------------------------------------------------------------===//
// Dots
//===----------------------------------------------------------------------===//

template <typename OpT> struct ProductPattern : TensorCorePattern<OpT> {
  using TensorCorePattern<OpT>::TensorCorePattern;

protected:
  using Adaptor = typename OpT::Adaptor;

  /// The parts of a dot, as one block of the cluster has them.
  struct Product {
    nvt::TensorMma mma;
    int64_t m = 0, n = 0, steps = 0; ///< steps are those along K
    unsigned blockM = 0, blockN = 0; ///< of one instruction
    unsigned columnsOfB = 0;         ///< of one instruction
    TensorOperand d = {};
    std::optional<SharedOperand> aShared = {}, bShared = {};
    std::optional<TensorOperand> aTensor = {};
  };

  /// All but the operands A and B; says why where there is no instruction.
  /// `k` counts elements.
  FailureOr<Product> makeProduct(const LLVMBuilder &b, OpT op, Adaptor adaptor,
                                 const nvt::TensorMma &mma, int64_t k) const {
    if (!this->facts.hasTensorMemory)
      return this->decline(op, "the target has no tcgen05.mma");
    ttg::MemDescType dType = op.getD().getType();
    auto encoding = cast<ttng::TensorMemoryEncodingAttr>(dType.getEncoding());
    bool twoBlocks = op.getTwoCtas();
    if (twoBlocks != this->inPairs)
      return this->decline(op,
                           "of the dots of a kernel, some are of two blocks "
                           "together and some of one");
    Product product{mma};
    SmallVector<int64_t> shape = ttg::getShapePerCTA(dType);
    product.m = shape[0];
    product.n = shape[1];
    product.steps = k / mma.getK();
    product.blockM = encoding.getBlockM();
    product.blockN = std::min<int64_t>(encoding.getBlockN(), product.n);
    product.columnsOfB = twoBlocks ? product.blockN / 2 : product.blockN;
    product.mma.m = twoBlocks ? 2 * product.blockM : product.blockM;
    product.mma.n = product.blockN;
    if (dType.getElementTypeBitWidth() * encoding.getColStride() != 32)
      return this->decline(op, "each element of the accumulator takes a column "
                               "of its own: colStride must be " +
                                   Twine(32 / dType.getElementTypeBitWidth()));
    if (k % mma.getK())
      return this->decline(
          op, "an instruction multiplies " + Twine(mma.getK()) +
                  " elements along K, which do not divide " + Twine(k));
    if ((twoBlocks && failed(checkPair(op, product))) ||
        failed(checkBlocks(op)))
      return failure();
    product.d = makeTensorOperand(adaptor.getD(), dType);
    return product;
  }

  /// Which parts of rows and columns a bit of a block's number counts.
  static std::pair<int32_t, int32_t> getSteps(ttg::MemDescType type,
                                              unsigned bit) {
    ttg::CTALayoutAttr blocks = ttg::getCTALayout(type.getEncoding());
    if (bit >= blocks.getNumBases())
      return {0, 0};
    ArrayRef<int32_t> basis = blocks.getBasis(bit).take_back(2);
    return {basis[0], basis[1]};
  }

  /// Each block has the rows of A, and the columns of B, that its part of the
  /// accumulator needs. Of two that multiply together, each has half of these
  /// columns.
  LogicalResult checkBlocks(OpT op) const {
    unsigned bits = llvm::Log2_32(ttg::lookupNumCTAs(op));
    for (unsigned bit = 0; bit < bits; ++bit) {
      auto [m, n] = getSteps(op.getD().getType(), bit);
      int32_t columns = !op.getTwoCtas() ? n : bit == 0 ? 1 : 2 * n;
      if (getSteps(op.getA().getType(), bit) != std::pair(m, 0))
        return this->decline(op, "blocks of the cluster divide the rows of a "
                                 "otherwise than those of the accumulator");
      if (getSteps(op.getB().getType(), bit) != std::pair(0, columns))
        return this->decline(op, "blocks of the cluster divide the columns of "
                                 "b otherwise than those of the accumulator");
    }
    return success();
  }

  /// Two blocks that multiply together divide the rows of A and of the
  /// accumulator, and the columns of B, by the lowest bit of their number.
  LogicalResult checkPair(OpT op, const Product &product) const {
    auto divides = [](ttg::MemDescType type, unsigned dim) {
      LinearLayout layout = toLinearLayout(type);
      return layout.getInDimSizeLog2(kBlock) > 0 &&
             layout.getBasis(kBlock, 0, kDim(dim)) != 0 &&
             layout.getBasis(kBlock, 0, kDim(1 - dim)) == 0;
    };
    if (getSteps(op.getD().getType(), /*bit=*/0).first == 0)
      return this->decline(op, "two blocks multiply together: they must divide "
                               "the rows of the accumulator");
    if (!ttng::isInTensorMemory(op.getA().getType()) &&
        !divides(op.getA().getType(), 0))
      return this->decline(op, "two blocks multiply together: they must divide "
                               "the rows of a");
    if (!divides(op.getB().getType(), 1))
      return this->decline(op, "two blocks multiply together: they must divide "
                               "the columns of b");
    if (product.n != product.blockN)
      return this->decline(op, "two blocks multiply together: blockN of the "
                               "accumulator must be all of its columns");
    return success();
  }

  LogicalResult findOperands(const LLVMBuilder &b, OpT op, Adaptor adaptor,
                             Product &product) const {
    ttg::MemDescType aType = op.getA().getType(), bType = op.getB().getType();
    nvt::TensorMma &mma = product.mma;
    // The tile of one instruction.
    auto find = [&](Value converted, ttg::MemDescType type, unsigned outerDim,
                    int64_t outerSize, int64_t outerShape,
                    bool &transposed) -> std::optional<SharedOperand> {
      nvt::MatrixTile tile{outerDim,
                           1 - outerDim,
                           outerSize,
                           getStep(product, type),
                           outerShape,
                           type.getShape()[1 - outerDim],
                           unsigned(type.getElementTypeBitWidth())};
      tile.isPadded4 = isPadded(type);
      // Elements of 4 bits lie along K alone.
      tile.mayBeTransposed = !tile.isPadded4 && !mma.isPacked();
      auto found = nvt::matchMatrixDescriptor(toLinearLayout(type), tile,
                                              nvt::MatrixUnit::TensorMemory);
      if (!found)
        return std::nullopt;
      transposed = found->isTransposed;
      Value first = nvt::emitMatrixDescriptor(b, converted, type, *found);
      return SharedOperand{std::move(*found), first};
    };
    if (ttng::isInTensorMemory(aType)) {
      product.aTensor = makeTensorOperand(adaptor.getA(), aType);
      if (failed(checkTensorA(op, product)))
        return failure();
    } else {
      product.aShared = find(adaptor.getA(), aType, 0, product.blockM,
                             product.m, mma.aTransposed);
      if (!product.aShared)
        return this->decline(op, "no matrix descriptor fits the layout of a");
    }
    product.bShared = find(adaptor.getB(), bType, 1, product.columnsOfB,
                           ttg::getShapePerCTA(bType)[1], mma.bTransposed);
    if (!product.bShared)
      return this->decline(op, "no matrix descriptor fits the layout of b");
    if (std::string why = mma.checkShape(op.getTwoCtas()); !why.empty())
      return this->decline(op, why);
    return success();
  }

  /// Whether 4-bit elements, two to a byte of the type, take a byte each.
  static bool isPadded(ttg::MemDescType type) {
    if (auto tensor =
            dyn_cast<ttng::TensorMemoryEncodingAttr>(type.getEncoding()))
      return tensor.getFp4Padded();
    auto encoding = dyn_cast<ttg::NVMMASharedEncodingAttr>(type.getEncoding());
    return encoding && encoding.getFp4Padded();
  }

  /// What one instruction takes along K of an operand, as it is stored: two
  /// elements to a byte, or each by itself.
  static int64_t getStep(const Product &product, ttg::MemDescType type) {
    int64_t elements = product.mma.getK();
    return product.mma.isPacked() || isPadded(type) ? elements / 2 : elements;
  }

  LogicalResult checkTensorA(OpT op, const Product &product) const {
    ttg::MemDescType type = op.getA().getType();
    auto a = cast<ttng::TensorMemoryEncodingAttr>(type.getEncoding());
    auto d =
        cast<ttng::TensorMemoryEncodingAttr>(op.getD().getType().getEncoding());
    if (a.getBlockM() != d.getBlockM() || a.getColStride() != 1)
      return this->decline(
          op, "a in tensor memory must have blockM of the accumulator, " +
                  Twine(d.getBlockM()) + ", and colStride 1");
    if (ttng::dividesColumnsByLanes(d))
      return this->decline(op, "a of 64 rows in each of two blocks must be in "
                               "shared memory");
    if (int64_t step = getStep(product, type);
        std::min<int64_t>(a.getBlockN(), type.getShape()[1]) < step)
      return this->decline(op,
                           "blocks of a in tensor memory must be at least " +
                               Twine(step) + " elements wide");
    return success();
  }

  /// What becomes of the part of A that the instruction for this column
  /// reads. By itself it is not kept. Blocks of 64 rows use one half of the
  /// lanes or the other, and nobody says which of them keeps A.
  static StringRef getCollector(const Product &product, int64_t column) {
    if (product.n == product.blockN || product.blockM != 128)
      return "";
    if (column == 0)
      return ".collector::a::fill";
    return column + product.blockN == product.n ? ".collector::a::lastuse"
                                                : ".collector::a::use";
  }

  /// The instructions of all blocks of the accumulator. `scales` gives the rest
  /// of an instruction's operands, from the row, the column and the step.
  void
  emitProduct(const LLVMBuilder &b, OpT op, Adaptor adaptor,
              const Product &product,
              function_ref<std::pair<uint32_t, std::string>(
                  InstructionText &, int64_t row, int64_t column, int64_t step)>
                  describe) const {
    bool twoBlocks = op.getTwoCtas();
    ttg::MemDescType aType = op.getA().getType(), bType = op.getB().getType();
    nvt::ElectedThread elected(
        b, this->target, op,
        this->getIssuePredicate(b, twoBlocks, adaptor.getPred()));
    InstructionText text(elected.getAsm());
    std::string name =
        (Twine("tcgen05.mma") + this->getGroup() + product.mma.getSuffix())
            .str();
    text.add("tcgen05.fence::after_thread_sync");
    std::optional<bool> adds = getKnown(op.getUseD());
    for (int64_t row = 0; row < product.m; row += product.blockM) {
      text.add(adds ? (*adds ? "setp.ne.b32 p, 1, 0" : "setp.ne.b32 p, 0, 0")
                    : "mov.pred p, " + text.input(adaptor.getUseD(), "b"));
      for (int64_t step = 0; step < product.steps; ++step) {
        // Blocks beside each other multiply the same part of A one after the
        // other, so that it is read once.
        for (int64_t column = 0; column < product.n; column += product.blockN) {
          int64_t columnOfB = twoBlocks ? column / 2 : column;
          auto [word, scales] = describe(text, row, column, step);
          std::string a =
              product.aTensor
                  ? text.tensor(product.aTensor->address,
                                product.aTensor->getDistance(
                                    row, step * getStep(product, aType)))
                  : text.shared(*product.aShared, row,
                                getPlaceAlongK(product, aType, step));
          std::string second =
              text.shared(*product.bShared, columnOfB,
                          getPlaceAlongK(product, bType, step));
          text.add(name + getCollector(product, column) + " " +
                   text.tensor(product.d.address,
                               product.d.getDistance(row, column)) +
                   ", " + a + ", " + second + ", " + text.word(word) + scales +
                   ", p");
        }
        if (step == 0 && product.steps > 1 && adds != true)
          text.add("setp.ne.b32 p, 1, 0");
      }
    }
    SmallVector<ttg::MemDescType> shared;
    if (op.getMulticast())
      for (ttg::MemDescType type : {aType, bType})
        if (!ttng::isInTensorMemory(type))
          shared.push_back(type);
    Value hearers = this->getHearers(b, op, shared);
    for (auto [barrier, converted, original, condition] :
         llvm::zip(op.getBarriers(), adaptor.getBarriers(),
                   op.getBarrierPreds(), adaptor.getBarrierPreds())) {
      std::optional<bool> known = getKnown(original);
      if (known == false)
        continue;
      this->addCommit(b, text, converted, barrier, known ? Value() : condition,
                      hearers);
    }
    text.finish();
    elected.emit();
  }

  /// Where an instruction starts along K: elements of the buffer, but bytes
  /// where pairs have padding.
  static int64_t getPlaceAlongK(const Product &product, ttg::MemDescType type,
                                int64_t step) {
    return step *
           (isPadded(type) ? product.mma.getK() : getStep(product, type));
  }

  void replace(OpT op, const LLVMBuilder &b,
               ConversionPatternRewriter &rewriter) const {
    if (op.getToken())
      rewriter.replaceOp(op, b.i32(0));
    else
      rewriter.eraseOp(op);
  }
};

struct MMAPattern : ProductPattern<ttng::TCGen5MMAOp> {
  using ProductPattern::ProductPattern;
  LogicalResult
  matchAndRewrite(ttng::TCGen5MMAOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Type aElement = op.getA().getType().getElementType();
    std::optional<nvt::TensorMma> mma =
        nvt::findTensorMma(aElement, op.getB().getType().getElementType(),
                           op.getD().getType().getElementType());
    if (!mma)
      return decline(op, "there is no tcgen05.mma for these element types");
    if (mma->kind == nvt::TensorMma::Kind::I8) {
      if (!facts.hasIntegerTensorCore)
        return decline(op, "the target has no tcgen05.mma for integers");
      if (op.getIsUnsigned() || op.getAIsUnsigned())
        mma->aCode = nvt::kUnsignedCode;
      if (op.getIsUnsigned() || op.getBIsUnsigned())
        mma->bCode = nvt::kUnsignedCode;
    }
    LLVMBuilder b(op.getLoc(), rewriter);
    FailureOr<Product> product =
        makeProduct(b, op, adaptor, *mma, op.getA().getType().getShape()[1]);
    if (failed(product) || failed(findOperands(b, op, adaptor, *product)))
      return failure();
    uint32_t word = product->mma.getDescriptor();
    emitProduct(b, op, adaptor, *product,
                [&](InstructionText &, int64_t, int64_t, int64_t) {
                  return std::pair{word, std::string()};
                });
    replace(op, b, rewriter);
    return success();
  }
};

struct ScaledMMAPattern : ProductPattern<ttng::TCGen5MMAScaledOp> {
  using ProductPattern::ProductPattern;
  LogicalResult
  matchAndRewrite(ttng::TCGen5MMAScaledOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    FailureOr<nvt::TensorMma> mma = findInstruction(op);
    if (failed(mma))
      return failure();
    LLVMBuilder b(op.getLoc(), rewriter);
    FailureOr<Product> product =
        makeProduct(b, op, adaptor, *mma, op.getBlockK());
    if (failed(product) || failed(findOperands(b, op, adaptor, *product)))
      return failure();
    if (op.getTwoCtas() && product->blockM == 64)
      return decline(op, "which lanes hold the scales of b, where each of two "
                         "blocks has 64 rows, is not published");
    if (product->n != product->blockN && product->blockN % 32)
      return decline(op, "the scales of b begin at the first lane of a window: "
                         "blockN of the accumulator must be a multiple of 32, "
                         "or all columns");
    if (failed(checkBlocksOfScales(op)))
      return failure();
    TensorOperand aScale = makeTensorOperand(adaptor.getAScale(),
                                             op.getAScale().getType()),
                  bScale = makeTensorOperand(adaptor.getBScale(),
                                             op.getBScale().getType());
    // Four scales of a row are the bytes of one column.
    auto describe = [&](InstructionText &text, int64_t row, int64_t column,
                        int64_t step) {
      int64_t scale = step * mma->numScales, byte = scale % 4;
      std::string operands =
          ", " +
          text.tensor(aScale.address, aScale.getDistance(row, scale - byte)) +
          ", " +
          text.tensor(bScale.address, bScale.getDistance(column, scale - byte));
      return std::pair{product->mma.getDescriptor(byte, byte), operands};
    };
    emitProduct(b, op, adaptor, *product, describe);
    replace(op, b, rewriter);
    return success();
  }

private:
  /// Each block has the scales of its rows of A, and of the columns of its part
  /// of the accumulator. Two that multiply together both have those of all
  /// columns.
  LogicalResult checkBlocksOfScales(ttng::TCGen5MMAScaledOp op) const {
    unsigned bits = llvm::Log2_32(ttg::lookupNumCTAs(op));
    for (unsigned bit = 0; bit < bits; ++bit) {
      auto [m, n] = getSteps(op.getD().getType(), bit);
      for (auto [name, type, rows] :
           {std::tuple("a", op.getAScale().getType(), m),
            std::tuple("b", op.getBScale().getType(), n)})
        if (getSteps(type, bit) != std::pair(rows, 0))
          return decline(op, Twine("blocks of the cluster divide the scales "
                                   "of ") +
                                 name + " otherwise than the accumulator");
    }
    return success();
  }

  /// Checks that the elements of an operand hold numbers of its format, and
  /// that there is a scale for each 16 or 32 of a row.
  LogicalResult checkOperand(ttng::TCGen5MMAScaledOp op, ttg::MemDescType type,
                             ScaleDotElemType format, ttg::MemDescType scale,
                             int64_t rows, StringRef name) const {
    Type element = type.getElementType();
    bool holds = element.isInteger(8);
    if (format == ScaleDotElemType::E4M3)
      holds = isa<Float8E4M3FNType>(element);
    else if (format == ScaleDotElemType::E5M2)
      holds = isa<Float8E5M2Type>(element);
    if (!holds)
      return decline(op, "elements of " + name + " are to hold " +
                             stringifyScaleDotElemType(format) +
                             ", and these do not");
    int64_t k = op.getBlockK(), scales = scale.getNumElements();
    if (scales != rows * (k / 32) && scales != rows * (k / 16))
      return decline(op, name + " is to have a scale for 32 or 16 of " +
                             Twine(rows) + "x" + Twine(k) +
                             " elements, and has " + Twine(scales));
    return success();
  }

  FailureOr<nvt::TensorMma> findInstruction(ttng::TCGen5MMAScaledOp op) const {
    ttg::MemDescType aScale = op.getAScale().getType(),
                     bScale = op.getBScale().getType();
    for (ttg::MemDescType type : {aScale, bScale})
      if (!ttng::isInTensorMemory(type))
        return decline(op, "the scales are not in tensor memory");
    if (failed(checkOperand(op, op.getA().getType(), op.getAType(), aScale,
                            op.getBlockM(), "a")) ||
        failed(checkOperand(op, op.getB().getType(), op.getBType(), bScale,
                            op.getBlockN(), "b")))
      return failure();
    if (aScale.getElementType() != bScale.getElementType() ||
        aScale.getShape()[1] != bScale.getShape()[1])
      return decline(op,
                     "the scales of a and b have different types, or belong "
                     "to different numbers of elements");
    bool aPacked = isPacked(op.getA().getType(), op.getAType()),
         bPacked = isPacked(op.getB().getType(), op.getBType());
    unsigned perScale = op.getBlockK() / aScale.getShape()[1];
    auto isFp4 = [](ScaleDotElemType type) {
      return type == ScaleDotElemType::E2M1;
    };
    if (aPacked != bPacked && isFp4(op.getAType()) && isFp4(op.getBType()))
      return decline(op, "4-bit elements of one operand have padding, those of "
                         "the other have none");
    if ((aPacked || bPacked) && !(isFp4(op.getAType()) && isFp4(op.getBType())))
      return decline(op, "beside 8-bit elements, 4-bit ones must have padding "
                         "(fp4Padded)");
    for (auto [type, format] : {std::pair{op.getA().getType(), op.getAType()},
                                {op.getB().getType(), op.getBType()}})
      if (format == ScaleDotElemType::E2M3 || format == ScaleDotElemType::E3M2)
        return decline(op, "6-bit elements would have to be packed, and tile "
                           "keeps each in a byte");
    auto mma = nvt::findScaledTensorMma(op.getAType(), op.getBType(), aPacked,
                                        aScale.getElementType(), perScale);
    if (!mma)
      return decline(op, "there is no tcgen05.mma for these formats with a "
                         "scale of this type for " +
                             Twine(perScale) + " elements");
    return *mma;
  }

  /// Whether two elements are in a byte, without padding.
  static bool isPacked(ttg::MemDescType type, ScaleDotElemType format) {
    if (format != ScaleDotElemType::E2M1)
      return false;
    return !isPadded(type);
  }
};

//===----------------------------------------------------------------------===//
// Commits
//===----------------------------------------------------------------------===//

struct CommitPattern : TensorCorePattern<ttng::TCGen5CommitOp> {
  using TensorCorePattern::TensorCorePattern;
  LogicalResult
  matchAndRewrite(ttng::TCGen5CommitOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (!facts.hasTensorMemory)
      return decline(op, "the target has no tcgen05.commit");
    LLVMBuilder b(op.getLoc(), rewriter);
    nvt::ElectedThread elected(
        b, target, op, getIssuePredicate(b, inPairs, adaptor.getPred()));
    InstructionText text(elected.getAsm());
    SmallVector<ttg::MemDescType> operands;
    for (Value operand : op.getDescs())
      operands.push_back(cast<ttg::MemDescType>(operand.getType()));
    addCommit(b, text, adaptor.getBarrier(), op.getBarrier(), /*condition=*/{},
              getHearers(b, op, operands));
    text.finish();
    elected.emit();
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void nvt::populateTensorCoreGen5Patterns(const LoweringContext &context,
                                         const TargetInfo &target,
                                         const TensorMemoryUse &use) {
  context.patterns.add<MMAPattern, ScaledMMAPattern, CommitPattern>(
      context, target, use);
}
