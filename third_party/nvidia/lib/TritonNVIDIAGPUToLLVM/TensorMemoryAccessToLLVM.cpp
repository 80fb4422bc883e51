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

#include "tile/Dialect/TritonNvidiaGPU/IR/TensorMemoryLayout.h"
#include "tile/Support/AttributeNames.h"

#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
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
      : b(b), target(target), op(op), access(access), element(element),
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

  SmallVector<Value> load() {
    enter();
    SmallVector<Value> words;
    for (int32_t start : access.starts)
      llvm::append_range(words, emitLoad(start));
    words = emitWait(words);
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

  std::string getSuffix(StringRef packing) const {
    return ("." + access.getShapeName() + ".x" + Twine(access.repeats) +
            (access.packsHalves ? packing : "") + ".b32 ")
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

  SmallVector<Value> emitLoad(int32_t start) {
    nvt::PTXAsm ptx(b);
    SmallVector<nvt::PTXAsm::Operand> outputs;
    for (unsigned i = 0; i < access.words; ++i)
      outputs.push_back(ptx.output("r"));
    auto from = ptx.input(address, "r");
    ptx << "tcgen05.ld.sync.aligned" << getSuffix(".pack::16b") << list(outputs)
        << ", [" << from << "+" << std::to_string(start) << "]"
        << getSecondHalf() << ";";
    return ptx.emit(SmallVector<Type>(access.words, b.intTy(32)),
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
  const nvt::TargetInfo &target;
  Operation *op;
  const ttng::TensorMemoryAccess &access;
  Type element;
  unsigned elementBits;
  Value warp, address;
};

/// Checks what the place of the operation has to be, and its layout.
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
  return ttng::getTensorMemoryAccess(type, memory,
                                     [&] { return op->emitError(); });
}

struct LoadPattern : TargetPattern<ttng::TMEMLoadOp> {
  LoadPattern(const LoweringContext &context, const nvt::TargetInfo &target)
      : TargetPattern(context.converter, target, context.benefit), nv(target) {}
  LogicalResult
  matchAndRewrite(ttng::TMEMLoadOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (op.getRedOp())
      return decline(op, "there is no code yet that reduces while it loads");
    RankedTensorType type = op.getResult().getType();
    auto access = getAccess(op, nv, type, op.getSrc().getType());
    if (failed(access))
      return failure();
    LLVMBuilder b(op.getLoc(), rewriter);
    Type element = getConverter().convertType(type.getElementType());
    Transfer transfer(b, nv, op, adaptor.getSrc(), *access, element);
    SmallVector<Value> results{
        packElements(b, getConverter(), transfer.load(), type)};
    if (op.getToken())
      results.push_back(b.i32(0));
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
