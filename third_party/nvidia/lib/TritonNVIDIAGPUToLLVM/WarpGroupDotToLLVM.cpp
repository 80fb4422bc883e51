//===-- WarpGroupDotToLLVM.cpp - wgmma ------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// wgmma.mma_async.m64nNkK: the four warps of a warp group multiply 64 rows of A
// by N columns of B, K being 32 bytes. A thread's share of the result is that
// of mma.sync, repeated along N; its share of A, where that is in registers,
// too.
//
// The instructions run while the thread goes on: nothing may touch their
// registers before the wait. LLVM does not know that, and it may copy a
// register wherever a value gets another one. So the accumulators go through
// the assembly of a dot, which begins with its fence and, where the dot
// is waited for at once, ends with the wait. Accumulators of a dot that
// runs on go through empty assembly behind the wait: what LLVM copies, it
// copies there. (That no copy comes before it is up to who lets dots run
// on: see AsyncProducts.cpp.)
//
//===----------------------------------------------------------------------===//

#include "WarpGroupOperands.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/Matchers.h"
#include "tile/Dialect/TritonGPU/IR/LinearLayoutConversions.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/Dialect.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::triton;
namespace nvt = mlir::triton::nvidia;
namespace wgmma = mlir::triton::nvidia::wgmma;
namespace ttg = mlir::triton::gpu;
namespace ttng = mlir::triton::nvidia_gpu;

namespace {
constexpr unsigned kWarpsPerGroup = 4;
constexpr unsigned kRowsOfGroup = 64;
constexpr unsigned kBytesOfK = 32;

bool isZeroSplat(Value value) {
  return matchPattern(value, m_Zero()) || matchPattern(value, m_PosZeroFloat());
}

struct WarpGroupDotPattern : TargetPattern<ttng::WarpGroupDotOp> {
  WarpGroupDotPattern(const LoweringContext &context,
                      const nvt::TargetInfo &target)
      : TargetPattern(context.converter, context.target, context.benefit),
        model(target.getModel()) {}

  LogicalResult
  matchAndRewrite(ttng::WarpGroupDotOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto dType = cast<RankedTensorType>(op.getD().getType());
    auto mma = cast<ttg::NvidiaMmaEncodingAttr>(dType.getEncoding());
    auto aType = cast<ShapedType>(op.getA().getType());
    ttg::MemDescType bType = op.getB().getType();
    Type dElement = dType.getElementType();
    if (!model.findMatrixInstruction(
            nvt::kWarpGroup, {aType.getElementType(), bType.getElementType(),
                              dElement, op.getInputPrecision()}))
      return this->decline(op, "the target has no wgmma for these element "
                               "types");
    std::optional<StringRef> aName = wgmma::getTypeName(aType.getElementType()),
                             bName = wgmma::getTypeName(bType.getElementType());
    unsigned bits = aType.getElementTypeBitWidth();
    wgmma::Instruction instruction{mma.getInstrShape()[1],
                                   kBytesOfK * 8 / bits,
                                   *aName,
                                   *bName,
                                   dElement.isF16()   ? "f16"
                                   : dElement.isF32() ? "f32"
                                                      : "s32",
                                   dElement.isInteger(),
                                   bits == 16};
    // Each block of a cluster multiplies what is in its own memory.
    SmallVector<int64_t> shape = ttg::getShapePerCTA(dType);
    int64_t m = shape[0], n = shape[1], k = aType.getShape()[1];
    unsigned warpsM = mma.getWarpsPerCTA()[0], warpsN = mma.getWarpsPerCTA()[1];
    // Groups that find nothing of their own compute what others do, too.
    int64_t rowsOfAll = std::min<int64_t>(m, int64_t(kRowsOfGroup) * warpsM /
                                                 kWarpsPerGroup),
            columnsOfAll =
                std::min<int64_t>(n, int64_t(instruction.n) * warpsN);
    if (m % kRowsOfGroup || n % instruction.n || k % instruction.k)
      return this->decline(op, "the product is smaller than the instructions "
                               "of a group of four warps");

    LLVMBuilder b(op.getLoc(), rewriter);
    Groups groups = makeGroups(b, op, mma, instruction, m, n);

    std::optional<wgmma::SharedOperand> aShared;
    std::optional<wgmma::RegisterOperand> aRegisters;
    if (auto type = dyn_cast<ttg::MemDescType>(op.getA().getType())) {
      auto found = nvt::matchMatrixDescriptor(
          toLinearLayout(type), {0, 1, kRowsOfGroup, instruction.k, m, k, bits},
          nvt::MatrixUnit::WarpGroup);
      if (!found)
        return this->decline(op, "no matrix descriptor fits the layout of a");
      instruction.transA = found->isTransposed;
      aShared = wgmma::makeSharedOperand(b, adaptor.getA(), type, groups.number,
                                         groups.basesM, *found);
    } else {
      auto tensor = cast<RankedTensorType>(op.getA().getType());
      auto encoding = cast<ttg::DotOperandEncodingAttr>(tensor.getEncoding());
      // B is in memory, so that the order along K is the instruction's.
      if (encoding.getKWidth() * bits != 32)
        return this->decline(op, "kWidth of a must fill a 32-bit register");
      aRegisters = wgmma::RegisterOperand::make(b, adaptor.getA(), tensor);
      if (!aRegisters)
        return this->decline(op, "a thread lacks elements of a");
    }
    auto found = nvt::matchMatrixDescriptor(
        toLinearLayout(bType), {1, 0, instruction.n, instruction.k, n, k, bits},
        nvt::MatrixUnit::WarpGroup);
    if (!found)
      return this->decline(op, "no matrix descriptor fits the layout of b");
    instruction.transB = found->isTransposed;
    wgmma::SharedOperand bShared = wgmma::makeSharedOperand(
        b, adaptor.getB(), bType, groups.number, groups.basesN, *found);

    SmallVector<Value> values = unpackElements(b, adaptor.getC(), dType);
    SmallVector<Tile> tiles =
        makeTiles(dType, instruction.n, rowsOfAll, columnsOfAll);
    if (tiles.empty())
      return this->decline(op, "a thread lacks elements of the result");
    // Null: always; the flag says so, or there is none.
    Value accumulate = adaptor.getUseC();
    APInt flag;
    bool isKnown =
        op.getUseC() && matchPattern(op.getUseC(), m_ConstantInt(&flag));
    bool startsAtZero = isZeroSplat(op.getC()) || (isKnown && flag.isZero());
    if (isKnown || startsAtZero)
      accumulate = Value();
    if (!startsAtZero)
      for (Tile &tile : tiles) {
        SmallVector<Value> elements;
        for (int32_t r : tile.places)
          elements.push_back(values[r]);
        tile.registers = wgmma::toRegisters(b, elements);
      }

    if (op.needsPartialAccumulator())
      emitInParts(b, op, instruction, tiles, aShared, aRegisters, bShared, k,
                  accumulate);
    else
      emitChain(b, instruction, tiles, aShared, aRegisters, bShared, 0,
                k / instruction.k, accumulate,
                /*wait=*/!op.getIsAsync(), dElement);
    for (Tile &tile : tiles)
      for (auto [place, element] : llvm::zip(
               tile.places, wgmma::toElements(b, tile.registers, dElement)))
        values[place] = element;
    rewriter.replaceOp(op, packElements(b, getConverter(), values, dType));
    return success();
  }

private:
  /// What one instruction computes: 64 rows for each group, N columns.
  struct Tile {
    int32_t row, column;
    SmallVector<int32_t> places;  ///< of the elements among the thread's
    SmallVector<Value> registers; ///< none: zero
  };

  /// The groups of warps, which follow one another along M, then along N.
  struct Groups {
    Value number; ///< of this thread's; null if there is only one
    /// What each bit of the number adds to rows and columns.
    SmallVector<int32_t> basesM, basesN;
  };

  Groups makeGroups(const LLVMBuilder &b, Operation *op,
                    ttg::NvidiaMmaEncodingAttr mma,
                    const wgmma::Instruction &instruction, int64_t m,
                    int64_t n) const {
    unsigned warpsM = mma.getWarpsPerCTA()[0], warpsN = mma.getWarpsPerCTA()[1];
    Groups groups;
    if (warpsM * warpsN > kWarpsPerGroup) {
      Value warp = getThreadIndex(b, target, op).getWarp(b);
      // The same in all lanes, which makes descriptors uniform.
      warp = target.shuffleIdx(b, warp, b.i32(0));
      groups.number = b.lshr(warp, b.i32(llvm::Log2_32(kWarpsPerGroup)));
    }
    for (unsigned w = kWarpsPerGroup; w < warpsM * warpsN; w *= 2) {
      int64_t row = w < warpsM ? w / kWarpsPerGroup * kRowsOfGroup : 0;
      int64_t column = w < warpsM ? 0 : w / warpsM * instruction.n;
      groups.basesM.push_back(row < m ? row : 0);
      groups.basesN.push_back(column < n ? column : 0);
    }
    return groups;
  }

  /// Where the elements of each instruction's accumulators belong, which has
  /// `columns` of them. None if a thread lacks one.
  static SmallVector<Tile> makeTiles(RankedTensorType type, unsigned columns,
                                     int64_t rowsOfAll, int64_t columnsOfAll) {
    RegisterTable table(toLinearLayout(type));
    SmallVector<int64_t> shape = ttg::getShapePerCTA(type);
    SmallVector<Tile> tiles;
    for (int32_t row = 0; row < shape[0]; row += rowsOfAll)
      for (int32_t column = 0; column < shape[1]; column += columnsOfAll) {
        Tile tile{row, column, {}, {}};
        for (unsigned j = 0; j < columns; j += 8)
          for (int32_t dm : {0, 8})
            for (int32_t dn : {0, 1}) {
              int32_t r = table.lookup({row | dm, column + int32_t(j) + dn});
              if (r < 0)
                return {};
              tile.places.push_back(r);
            }
        tiles.push_back(std::move(tile));
      }
    return tiles;
  }

  /// The steps [begin, end) along K of all tiles as one group, and as one piece
  /// of assembly. Each piece names all accumulators twice, which costs LLVM
  /// more time than anything else of a dot. With `wait`, the dot is done at its
  /// end.
  static void emitChain(const LLVMBuilder &b,
                        const wgmma::Instruction &instruction,
                        MutableArrayRef<Tile> tiles,
                        const std::optional<wgmma::SharedOperand> &aShared,
                        const std::optional<wgmma::RegisterOperand> &aRegisters,
                        const wgmma::SharedOperand &bShared, unsigned begin,
                        unsigned end, Value accumulate, bool wait,
                        Type dElement) {
    Type registerType = dElement.isF16() ? b.intTy(32) : dElement;
    nvt::PTXAsm ptx(b);
    SmallVector<Type> types;
    SmallVector<SmallVector<nvt::PTXAsm::Operand>> accumulators(tiles.size());
    for (auto [tile, ds] : llvm::zip(tiles, accumulators))
      for (unsigned i = 0,
                    count = tile.places.size() / (dElement.isF16() ? 2 : 1);
           i < count; ++i) {
        // Early clobber: the last steps read their operands when the first ones
        // have written.
        ds.push_back(ptx.output(registerType.isF32() ? "&f" : "&r"));
        types.push_back(registerType);
      }
    for (auto [tile, ds] : llvm::zip(tiles, accumulators))
      for (auto [value, output] : llvm::zip(tile.registers, ds))
        ptx.tied(value, output);
    llvm::MapVector<Value, nvt::PTXAsm::Operand> inputs;
    auto input = [&](Value value, StringRef registerClass) {
      auto it = inputs.find(value);
      if (it == inputs.end())
        it = inputs.insert({value, ptx.input(value, registerClass)}).first;
      return it->second;
    };

    // Descriptors are sums of that of the first tile and a distance. LLVM is
    // not to see these sums: it would put each together from a constant upper
    // half and a lower one, two instructions instead of one. And they come
    // before the fence, as ptxas makes those among the instructions in
    // registers of each thread, from where they have to be moved.
    llvm::MapVector<std::pair<unsigned, int32_t>, std::string> descriptors;
    std::string additions;
    unsigned numSums = 0;
    auto describe = [&](const wgmma::SharedOperand &operand, int32_t outer,
                        int32_t k) -> StringRef {
      unsigned first = input(operand.first, "l").number;
      int32_t distance = operand.getDistance(outer, k);
      std::string &text = descriptors[{first, distance}];
      if (text.empty() && distance == 0) {
        text = "$" + std::to_string(first);
      } else if (text.empty()) {
        text = "d" + std::to_string(numSums++);
        additions += "add.s64 " + text + ", $" + std::to_string(first) + ", " +
                     std::to_string(distance) + ";\n\t";
      }
      return text;
    };
    for (const Tile &tile : tiles)
      for (unsigned step = begin; step < end; ++step) {
        if (aShared)
          describe(*aShared, tile.row, step * instruction.k);
        describe(bShared, tile.column, step * instruction.k);
      }
    ptx << "{ .reg .pred p;\n\t";
    if (numSums > 0)
      ptx << ".reg .b64 d<" << std::to_string(numSums) << ">;\n\t" << additions;
    ptx << "wgmma.fence.sync.aligned;\n\t";
    for (auto [tile, ds] : llvm::zip(tiles, accumulators)) {
      bool startsAtZero = tile.registers.empty();
      if (accumulate && !startsAtZero)
        ptx << "mov.pred p, " << input(accumulate, "b") << ";\n\t";
      else
        ptx << "setp.ne.b32 p, " << (startsAtZero ? "0" : "1") << ", 0;\n\t";
      bool isKnownToAdd = !startsAtZero && !accumulate;
      for (unsigned step = begin; step < end; ++step) {
        int32_t k = step * instruction.k;
        SmallVector<nvt::PTXAsm::Operand> as;
        StringRef aDescriptor;
        if (aShared)
          aDescriptor = describe(*aShared, tile.row, k);
        else
          for (Value word : aRegisters->at(tile.row, step))
            as.push_back(input(word, "r"));
        instruction.append(ptx, ds, as, aDescriptor,
                           describe(bShared, tile.column, k));
        if (step == begin && !isKnownToAdd && end - begin > 1)
          ptx << "setp.ne.b32 p, 1, 0;\n\t";
      }
    }
    if (wait)
      ptx << "wgmma.commit_group.sync.aligned;\n\t"
             "wgmma.wait_group.sync.aligned 0;\n\t";
    ptx << "}";
    replaceAll(tiles, ptx.emit(types, nvt::PTXAsm::InOrder));
    if (!wait)
      b.create<NVVM::WgmmaGroupSyncAlignedOp>();
  }

  /// Dots of fp8 are added with few bits; after every so many of them the
  /// sum goes to an accumulator with all bits.
  static void emitInParts(
      const LLVMBuilder &b, ttng::WarpGroupDotOp op,
      const wgmma::Instruction &instruction, MutableArrayRef<Tile> tiles,
      const std::optional<wgmma::SharedOperand> &aShared,
      const std::optional<wgmma::RegisterOperand> &aRegisters,
      const wgmma::SharedOperand &bShared, int64_t k, Value accumulate) {
    unsigned steps = k / instruction.k;
    unsigned part =
        std::max(1u, unsigned(op.getMaxNumImpreciseAcc()) / instruction.k);
    for (unsigned begin = 0; begin < steps; begin += part) {
      SmallVector<Tile> partial(tiles.begin(), tiles.end());
      for (Tile &tile : partial)
        tile.registers.clear();
      emitChain(b, instruction, partial, aShared, aRegisters, bShared, begin,
                std::min(begin + part, steps), Value(), /*wait=*/true,
                b.getBuilder().getF32Type());
      for (auto [tile, sum] : llvm::zip(tiles, partial)) {
        if (tile.registers.empty()) {
          tile.registers = sum.registers;
          continue;
        }
        for (auto [total, more] : llvm::zip(tile.registers, sum.registers)) {
          Value both = b.fadd(total, more);
          total = accumulate ? b.select(accumulate, both, more) : both;
        }
      }
      accumulate = Value();
    }
  }

  /// `all`: the accumulators of the first tile, then of the next.
  static void replaceAll(MutableArrayRef<Tile> tiles, ArrayRef<Value> all) {
    size_t count = all.size() / tiles.size();
    for (Tile &tile : tiles) {
      tile.registers = SmallVector<Value>(all.take_front(count));
      all = all.drop_front(count);
    }
  }

  const nvt::TargetModel &model;
};

struct WarpGroupDotWaitPattern : TargetPattern<ttng::WarpGroupDotWaitOp> {
  using TargetPattern::TargetPattern;
  LogicalResult
  matchAndRewrite(ttng::WarpGroupDotWaitOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    LLVMBuilder b(op.getLoc(), rewriter);
    SmallVector<Value> registers, inUse;
    for (auto [input, converted] :
         llvm::zip(op.getInputs(), adaptor.getInputs())) {
      auto type = dyn_cast<RankedTensorType>(input.getType());
      if (!type)
        continue;
      if (!isLeftOperand(type)) {
        llvm::append_range(
            registers,
            wgmma::toRegisters(b, unpackElements(b, converted, type)));
        continue;
      }
      auto operand = wgmma::RegisterOperand::make(b, converted, type);
      if (!operand)
        return this->decline(op, "a thread lacks elements of an operand");
      llvm::append_range(inUse, operand->collect());
    }
    SmallVector<Value> after =
        wgmma::emitWait(b, op.getPendings(), registers, inUse);
    ArrayRef<Value> rest(after);
    SmallVector<Value> results;
    for (auto [input, converted] :
         llvm::zip(op.getInputs(), adaptor.getInputs())) {
      auto type = dyn_cast<RankedTensorType>(input.getType());
      if (!type || isLeftOperand(type)) {
        results.push_back(converted);
        continue;
      }
      unsigned count = ttg::getTotalElemsPerThread(type) /
                       (type.getElementType().isF16() ? 2 : 1);
      results.push_back(packElements(
          b, getConverter(),
          wgmma::toElements(b, rest.take_front(count), type.getElementType()),
          type));
      rest = rest.drop_front(count);
    }
    rewriter.replaceOp(op, results);
    return success();
  }

private:
  static bool isLeftOperand(RankedTensorType type) {
    return isa<ttg::DotOperandEncodingAttr>(type.getEncoding());
  }
};

struct FenceAsyncSharedPattern : TargetPattern<ttng::FenceAsyncSharedOp> {
  using TargetPattern::TargetPattern;
  LogicalResult
  matchAndRewrite(ttng::FenceAsyncSharedOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<NVVM::FenceProxyOp>(
        op,
        NVVM::ProxyKindAttr::get(op.getContext(),
                                 NVVM::ProxyKind::async_shared),
        NVVM::SharedSpaceAttr::get(op.getContext(),
                                   op.getBCluster()
                                       ? NVVM::SharedSpace::shared_cluster
                                       : NVVM::SharedSpace::shared_cta));
    return success();
  }
};
} // namespace

void nvt::populateWarpGroupDotPatterns(const LoweringContext &context,
                                       const TargetInfo &target) {
  context.patterns.add<WarpGroupDotPattern>(context, target);
  context.add<WarpGroupDotWaitPattern, FenceAsyncSharedPattern>();
}
