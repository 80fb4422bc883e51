//===-- TensorMemoryAccessToLLVM.cpp - tcgen05.ld and tcgen05.st ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which instructions move a tensor, its layout says (TensorMemoryLayout.h).
// They are asynchronous. So the wait follows at once, or behind the last of
// several operations that stand side by side. The fences order all this with
// what other threads do on the other side of a barrier.
//
// NVVM has operations for these instructions. LLVM knows of these that loads
// touch tensor memory, and that waits touch something else. So nothing would
// keep their order. Assembly with side effects stays in order.
//
//===----------------------------------------------------------------------===//

#include "nvidia/TritonNVIDIAGPUToLLVM/TensorMemory.h"

#include "nvidia/TritonNVIDIAGPUToLLVM/PTXAsm.h"

#include "tile/Dialect/TritonGPU/IR/LinearLayoutConversions.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/TensorMemoryLayout.h"
#include "tile/Support/AttributeNames.h"

#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::triton;
namespace nvt = mlir::triton::nvidia;
namespace ttg = mlir::triton::gpu;
namespace ttng = mlir::triton::nvidia_gpu;

namespace {

/// Whether `op` moves a tensor to or from tensor memory.
bool isStore(Operation *op) {
  if (auto alloc = dyn_cast_or_null<ttng::TMEMAllocOp>(op))
    return alloc.getSrc() != nullptr;
  return isa_and_nonnull<ttng::TMEMStoreOp>(op);
}
bool isLoad(Operation *op) { return isa_and_nonnull<ttng::TMEMLoadOp>(op); }

/// The operation before or behind `op`, apart from those that only compute. An
/// operation with scratch memory is more than that: it has barriers.
Operation *getNeighbour(Operation *op, bool forward) {
  do
    op = forward ? op->getNextNode() : op->getPrevNode();
  while (op && isMemoryEffectFree(op) && op->getNumRegions() == 0 &&
         !op->hasAttr(kAllocationOffsetAttrName));
  return op;
}

void emitOrder(const LLVMBuilder &b, StringRef instruction) {
  nvt::PTXAsm ptx(b);
  ptx << instruction << ";";
  ptx.emit({}, nvt::PTXAsm::SideEffects);
}

/// One operation's transfer between registers and tensor memory.
class Transfer {
public:
  Transfer(const LLVMBuilder &b, const nvt::TargetInfo &target, Operation *op,
           Value buffer, const ttng::TensorMemoryAccess &access, Type element)
      : b(b), op(op), access(access), element(element),
        elementBits(element.getIntOrFloatBitWidth()) {
    ThreadIndex thread = getThreadIndex(b, target, op);
    warp = thread.getWarp(b);
    // The window of the warp; 32 lanes are so many addresses apart.
    int32_t window = ttng::getTensorAddress(32, 0);
    address = b.add(buffer, b.mul(b.and_(warp, b.i32(3)), b.i32(window)));
    for (auto [i, start] : llvm::enumerate(access.warpStarts)) {
      if (start == 0)
        continue;
      Value bit = b.and_(b.lshr(warp, b.i32(kWindowBits + i)), b.i32(1));
      address = b.add(address, b.mul(bit, b.i32(start)));
    }
  }

  /// With `reduction`, such as ".max.f32", `reduced` gets for each instruction
  /// what its registers come to.
  SmallVector<Value> load(StringRef reduction = {},
                          SmallVectorImpl<Value> *reduced = nullptr) {
    enter();
    SmallVector<Value> words, last;
    for (int32_t start : access.starts) {
      SmallVector<Value> loaded = emitLoad(start, reduction);
      if (!reduction.empty())
        last.push_back(loaded.pop_back_val());
      llvm::append_range(words, loaded);
    }
    size_t count = words.size();
    llvm::append_range(words, last);
    words = emitWait(words);
    for (Value word : ArrayRef(words).drop_front(count))
      reduced->push_back(getElement(word, 0));
    leave();
    SmallVector<Value> elements;
    for (const auto &position : access.positions)
      elements.push_back(
          getElement(words[position.instruction * access.words + position.word],
                     position.slot));
    return elements;
  }

  void store(ArrayRef<Value> elements, Value pred) {
    enter();
    // One of the warps with the same elements is enough.
    if (access.copyingWarps)
      pred = b.andPred(b.eq(b.and_(warp, b.i32(access.copyingWarps)), b.i32(0)),
                       pred);
    SmallVector<SmallVector<Value>> slots(access.starts.size() * access.words);
    for (auto [position, value] : llvm::zip(access.positions, elements)) {
      auto &word = slots[position.instruction * access.words + position.word];
      word.resize(getSlotsOfWord());
      word[position.slot] = value;
    }
    SmallVector<Value> words;
    for (ArrayRef<Value> word : slots)
      words.push_back(makeWord(word));
    for (auto [i, start] : llvm::enumerate(access.starts))
      emitStore(ArrayRef(words).slice(i * access.words, access.words), start,
                pred);
    Operation *next = getNeighbour(op, /*forward=*/true);
    if (!isStore(next))
      emitOrder(b, "tcgen05.wait::st.sync.aligned");
    leave();
  }

private:
  static constexpr unsigned kWindowBits = 2;

  //===--------------------------------------------------------------------===//
  // Order
  //===--------------------------------------------------------------------===//

  static bool isTransfer(Operation *other) {
    return isStore(other) || isLoad(other);
  }
  void enter() {
    if (!isTransfer(getNeighbour(op, /*forward=*/false)))
      emitOrder(b, "tcgen05.fence::after_thread_sync");
  }
  void leave() {
    if (!isTransfer(getNeighbour(op, /*forward=*/true)))
      emitOrder(b, "tcgen05.fence::before_thread_sync");
  }

  /// The wait, through which the registers go: what uses them stays behind it.
  SmallVector<Value> emitWait(ArrayRef<Value> words) {
    nvt::PTXAsm ptx(b);
    SmallVector<nvt::PTXAsm::Operand> outputs;
    for (unsigned i = 0; i < words.size(); ++i)
      outputs.push_back(ptx.output("r"));
    for (auto [word, output] : llvm::zip(words, outputs))
      ptx.tied(word, output);
    ptx << "tcgen05.wait::ld.sync.aligned;";
    return ptx.emit(SmallVector<Type>(words.size(), b.intTy(32)),
                    nvt::PTXAsm::SideEffects);
  }

  //===--------------------------------------------------------------------===//
  // Instructions
  //===--------------------------------------------------------------------===//

  std::string getSuffix(StringRef packing, StringRef type = ".b32") const {
    return ("." + access.getShapeName() + ".x" + Twine(access.repeats) +
            (access.packsHalves ? packing : "") + type + " ")
        .str();
  }
  std::string getSecondHalf() const {
    return access.shape == ttng::TensorShape::L16x32bx2
               ? ", " + std::to_string(access.secondHalf)
               : "";
  }

  /// In braces even if it is one, as the instructions want it.
  static std::string list(ArrayRef<nvt::PTXAsm::Operand> operands) {
    std::string text;
    for (nvt::PTXAsm::Operand operand : operands)
      text += (text.empty() ? "$" : ", $") + std::to_string(operand.number);
    return "{" + text + "}";
  }

  SmallVector<Value> emitLoad(int32_t start, StringRef reduction) {
    nvt::PTXAsm ptx(b);
    SmallVector<nvt::PTXAsm::Operand> outputs;
    unsigned count = access.words + !reduction.empty();
    for (unsigned i = 0; i < count; ++i)
      outputs.push_back(ptx.output("r"));
    auto from = ptx.input(address, "r");
    ptx << "tcgen05.ld";
    if (reduction.empty())
      ptx << ".sync.aligned" << getSuffix(".pack::16b") << list(outputs);
    else
      ptx << ".red.sync.aligned" << getSuffix("", reduction)
          << list(ArrayRef(outputs).drop_back()) << ", " << outputs.back();
    ptx << ", [" << from << "+" << std::to_string(start) << "]"
        << getSecondHalf() << ";";
    return ptx.emit(SmallVector<Type>(count, b.intTy(32)),
                    nvt::PTXAsm::SideEffects);
  }

  void emitStore(ArrayRef<Value> words, int32_t start, Value pred) {
    nvt::PTXAsm ptx(b);
    auto to = ptx.input(address, "r");
    SmallVector<nvt::PTXAsm::Operand> inputs;
    for (Value word : words)
      inputs.push_back(ptx.input(word, "r"));
    if (pred)
      ptx << "@" << ptx.input(pred, "b") << " ";
    ptx << "tcgen05.st.sync.aligned" << getSuffix(".unpack::16b") << "[" << to
        << "+" << std::to_string(start) << "]" << getSecondHalf() << ", "
        << list(inputs) << ";";
    ptx.emit({}, nvt::PTXAsm::SideEffects);
  }

  //===--------------------------------------------------------------------===//
  // Elements of words
  //===--------------------------------------------------------------------===//

  unsigned getSlotsOfWord() const { return 32 / elementBits; }

  Value getElement(Value word, unsigned slot) const {
    if (elementBits == 32)
      return b.bitcast(word, element);
    Value shifted = slot ? b.lshr(word, b.i32(slot * elementBits)) : word;
    return b.bitcast(b.trunc(b.intTy(elementBits), shifted), element);
  }

  /// Slots that no element has are zero.
  Value makeWord(ArrayRef<Value> slots) const {
    if (elementBits == 32)
      return b.bitcast(slots.front(), b.intTy(32));
    SmallVector<Value> elements;
    for (Value value : slots)
      elements.push_back(value ? value : b.zero(element));
    return b.bitcast(b.packVector(elements), b.intTy(32));
  }

  const LLVMBuilder &b;
  Operation *op;
  const ttng::TensorMemoryAccess &access;
  Type element;
  unsigned elementBits;
  Value warp, address;
};

/// Checks what the place of the operation has to be, and its layout.
/// How many registers an instruction may move. ptxas (13.5) counts 146
/// registers for one that moves 128 of them. It refuses it where a thread of
/// the kernel begins with fewer, even if its partition gets more.
unsigned getMostWords(Operation *op, const nvt::TargetInfo &target) {
  constexpr unsigned kNeeded = 146;
  auto module = op->getParentOfType<ModuleOp>();
  unsigned numWarps = ttg::lookupNumWarps(module);
  if (auto total =
          module->getAttrOfType<IntegerAttr>(ttg::kTotalNumWarpsAttrName))
    numWarps = total.getInt();
  unsigned registers = target.getModel().getRegistersPerThread(
      numWarps * ttg::lookupThreadsPerWarp(module));
  return registers < kNeeded ? 64 : 128;
}

FailureOr<ttng::TensorMemoryAccess> getAccess(Operation *op,
                                              const nvt::TargetInfo &target,
                                              RankedTensorType type,
                                              ttg::MemDescType memory) {
  if (!target.getFacts().hasTensorMemory)
    return op->emitError("tensor memory needs a target that has it, which ")
           << target.getFacts().targetString() << " lacks";
  if (unsigned first = getFirstWarp(op); first % 4)
    return op->emitError("the warps of this partition start at warp ")
           << first
           << " of the block: which lanes of tensor memory a warp reaches "
              "depends on its number, so that it has to be a multiple of four";
  return ttng::getTensorMemoryAccess(
      type, memory, [&] { return op->emitError(); }, getMostWords(op, target));
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

/// The least or greatest element of each row of a tensor that is loaded.
class RowReduction {
public:
  RowReduction(const LLVMBuilder &b, const nvt::TargetInfo &target,
               ttng::TMEMLoadOp op, const ttng::TensorMemoryAccess &access)
      : b(b), target(target), op(op), access(access),
        layout(toLinearLayout(op.getResult().getType())),
        isFloat(op.getResult().getType().getElementType().isF32()),
        isMax(op.getRedOp() == ttng::RedOp::MAX), isAbs(op.getAbs()),
        keepsNaN(op.getNaN()) {}

  /// Whether each warp has whole rows.
  bool keepsRows() const {
    for (unsigned bit = 0; bit < layout.getInDimSizeLog2(kWarp); ++bit)
      if (layout.getBasis(kWarp, bit, kDim(1)))
        return false;
    return true;
  }

  /// Whether the registers of an instruction are of one row, and the machine
  /// reduces them while it loads.
  bool isByInstruction() const {
    if (!target.getFacts().hasTensorMemoryReduction || access.words < 2 ||
        (access.shape != ttng::TensorShape::L32x32b &&
         access.shape != ttng::TensorShape::L16x32bx2))
      return false;
    SmallVector<std::optional<int32_t>> rows(access.starts.size());
    for (auto [r, position] : llvm::enumerate(access.positions)) {
      std::optional<int32_t> &row = rows[position.instruction];
      if (row && *row != getRow(r))
        return false;
      row = getRow(r);
    }
    return true;
  }

  std::string getModifiers() const {
    return (Twine(isMax ? ".max" : ".min") + (isAbs ? ".abs" : "") +
            (keepsNaN ? ".NaN" : "") + (isFloat ? ".f32" : ".s32"))
        .str();
  }

  /// From what the instructions made of their registers.
  SmallVector<Value> fromInstructions(ArrayRef<Value> reduced) {
    SmallVector<bool> seen(reduced.size());
    for (auto [r, position] : llvm::enumerate(access.positions))
      if (!std::exchange(seen[position.instruction], true))
        add(getRow(r), reduced[position.instruction]);
    return finish();
  }

  SmallVector<Value> fromElements(ArrayRef<Value> elements) {
    for (auto [r, value] : llvm::enumerate(elements))
      add(getRow(r), isAbs ? b.create<LLVM::FAbsOp>(value) : value);
    return finish();
  }

private:
  /// What the register adds to the number of the row.
  static int32_t getRow(const LinearLayout &layout, unsigned r) {
    int32_t row = 0;
    for (unsigned bit = 0; r >> bit; ++bit)
      if (r >> bit & 1)
        row ^= layout.getBasis(kRegister, bit, kDim(0));
    return row;
  }
  int32_t getRow(unsigned r) const { return getRow(layout, r); }

  Value combine(Value x, Value y) const {
    if (!isFloat)
      return isMax ? b.create<LLVM::SMaxOp>(x, y).getResult()
                   : b.create<LLVM::SMinOp>(x, y).getResult();
    if (keepsNaN)
      return isMax ? b.create<LLVM::MaximumOp>(x, y).getResult()
                   : b.create<LLVM::MinimumOp>(x, y).getResult();
    return isMax ? b.create<LLVM::MaxNumOp>(x, y).getResult()
                 : b.create<LLVM::MinNumOp>(x, y).getResult();
  }

  void add(int32_t row, Value value) {
    Value &sum = rows[row];
    sum = sum ? combine(sum, value) : value;
  }

  /// Across the lanes that share a row, and into the registers of the result.
  SmallVector<Value> finish() {
    for (unsigned bit = 0; bit < layout.getInDimSizeLog2(kLane); ++bit) {
      if (!layout.getBasis(kLane, bit, kDim(1)))
        continue;
      for (auto &[row, value] : rows)
        value = combine(value, mapWords(b, value, [&](Value word) {
                          return target.shuffleXor(b, word, 1 << bit);
                        }));
    }
    LinearLayout result =
        toLinearLayout(cast<RankedTensorType>(op.getRed().getType()));
    SmallVector<Value> values;
    for (int32_t r = 0; r < result.getInDimSize(kRegister); ++r)
      values.push_back(rows.lookup(getRow(result, r)));
    return values;
  }

  const LLVMBuilder &b;
  const nvt::TargetInfo &target;
  ttng::TMEMLoadOp op;
  const ttng::TensorMemoryAccess &access;
  LinearLayout layout;
  bool isFloat, isMax, isAbs, keepsNaN;
  llvm::MapVector<int32_t, Value> rows;
};

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

struct LoadPattern : TargetPattern<ttng::TMEMLoadOp> {
  LoadPattern(const LoweringContext &context, const nvt::TargetInfo &target)
      : TargetPattern(context.converter, target, context.benefit), nv(target) {}
  LogicalResult
  matchAndRewrite(ttng::TMEMLoadOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    RankedTensorType type = op.getResult().getType();
    auto access = getAccess(op, nv, type, op.getSrc().getType());
    if (failed(access))
      return failure();
    LLVMBuilder b(op.getLoc(), rewriter);
    RowReduction reduction(b, nv, op, *access);
    if (op.getRedOp() && !reduction.keepsRows())
      return decline(op, "warps hold parts of rows, and a load reduces only "
                         "what a warp holds");
    Type element = getConverter().convertType(type.getElementType());
    Transfer transfer(b, nv, op, adaptor.getSrc(), *access, element);
    SmallVector<Value> elements, rows, reduced;
    if (op.getRedOp() && reduction.isByInstruction()) {
      elements = transfer.load(reduction.getModifiers(), &reduced);
      rows = reduction.fromInstructions(reduced);
    } else {
      elements = transfer.load();
      if (op.getRedOp())
        rows = reduction.fromElements(elements);
    }
    SmallVector<Value> results{packElements(b, getConverter(), elements, type)};
    if (op.getToken())
      results.push_back(b.i32(0));
    if (op.getRedOp())
      results.push_back(
          packElements(b, getConverter(), rows, op.getRed().getType()));
    rewriter.replaceOp(op, results);
    return success();
  }

private:
  const nvt::TargetInfo &nv;
};

struct StorePattern : TargetPattern<ttng::TMEMStoreOp> {
  StorePattern(const LoweringContext &context, const nvt::TargetInfo &target)
      : TargetPattern(context.converter, target, context.benefit), nv(target) {}
  LogicalResult
  matchAndRewrite(ttng::TMEMStoreOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    LLVMBuilder b(op.getLoc(), rewriter);
    auto type = cast<RankedTensorType>(op.getSrc().getType());
    Value pred = adaptor.getPred();
    if (matchPattern(op.getPred(), m_One()))
      pred = {};
    if (failed(nvt::storeToTensorMemory(
            b, nv, op, adaptor.getDst(), op.getDst().getType(),
            unpackElements(b, adaptor.getSrc(), type), type, pred)))
      return failure();
    if (op.getToken())
      rewriter.replaceOp(op, b.i32(0));
    else
      rewriter.eraseOp(op);
    return success();
  }

private:
  const nvt::TargetInfo &nv;
};
} // namespace

LogicalResult nvt::storeToTensorMemory(const LLVMBuilder &b,
                                       const TargetInfo &target, Operation *op,
                                       Value address, ttg::MemDescType memory,
                                       ArrayRef<Value> values,
                                       RankedTensorType type, Value pred) {
  auto access = getAccess(op, target, type, memory);
  if (failed(access))
    return failure();
  Transfer(b, target, op, address, *access, values.front().getType())
      .store(values, pred);
  return success();
}

void nvt::populateTensorMemoryAccessPatterns(const LoweringContext &context,
                                             const TargetInfo &target) {
  context.patterns.add<LoadPattern, StorePattern>(context, target);
}
