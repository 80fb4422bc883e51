//===-- TensorCorePattern.h - What one thread issues ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Dots, copies and commits of tcgen05 are issued by one thread, in one piece of
// assembly each.
//
//===----------------------------------------------------------------------===//
#ifndef NVIDIA_LIB_TRITONNVIDIAGPUTOLLVM_TENSORCOREPATTERN_H
#define NVIDIA_LIB_TRITONNVIDIAGPUTOLLVM_TENSORCOREPATTERN_H

#include "nvidia/TritonNVIDIAGPUToLLVM/ElectedThread.h"
#include "nvidia/TritonNVIDIAGPUToLLVM/MatrixDescriptor.h"
#include "nvidia/TritonNVIDIAGPUToLLVM/TensorMemory.h"

#include "tile/Dialect/TritonNvidiaGPU/IR/ClusterBarriers.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::triton::nvidia {

/// A matrix in shared memory.
struct SharedOperand {
  MatrixDescriptor descriptor;
  Value first; ///< of the tile at the origin
};

/// Writes instructions whose operands are sums of the program's values and
/// constants. Each descriptor becomes one sum.
class InstructionText {
public:
  explicit InstructionText(PTXAsm &ptx) : ptx(ptx) {}

  std::string input(Value value, StringRef registerClass) {
    return "$" + std::to_string(getNumber(value, registerClass));
  }
  std::string shared(const SharedOperand &operand, int32_t outer,
                     int32_t inner) {
    int32_t distance = operand.descriptor.getOffset(outer, inner) >> 4;
    unsigned number = getNumber(operand.first, "l");
    std::string first = "$" + std::to_string(number);
    if (distance == 0)
      return first;
    std::string &sum = sums[{number, distance}];
    if (sum.empty()) {
      sum = "d" + std::to_string(sums.size() - 1);
      additions += "add.s64 " + sum + ", " + first + ", " +
                   std::to_string(distance) + ";\n\t";
    }
    return sum;
  }
  std::string tensor(Value address, int32_t distance) {
    std::string text = "[" + input(address, "r");
    if (distance)
      text += "+" + std::to_string(distance);
    return text + "]";
  }
  /// The word that describes an instruction.
  std::string word(uint32_t bits) {
    std::string &name = words[bits];
    if (name.empty()) {
      name = "i" + std::to_string(words.size() - 1);
      moves += "mov.b32 " + name + ", " + std::to_string(bits) + ";\n\t";
    }
    return name;
  }
  void add(const Twine &instruction) { text += (instruction + ";\n\t").str(); }
  void finish() {
    if (!words.empty())
      ptx << ".reg .pred p;\n\t";
    if (!sums.empty())
      ptx << ".reg .b64 d<" << std::to_string(sums.size()) << ">;\n\t";
    if (!words.empty())
      ptx << ".reg .b32 i<" << std::to_string(words.size()) << ">;\n\t";
    ptx << moves << additions << text;
  }

private:
  unsigned getNumber(Value value, StringRef registerClass) {
    auto it = inputs.find(value);
    if (it == inputs.end())
      it = inputs.insert({value, ptx.input(value, registerClass)}).first;
    return it->second.number;
  }

  PTXAsm &ptx;
  llvm::MapVector<Value, PTXAsm::Operand> inputs;
  llvm::MapVector<std::pair<unsigned, int32_t>, std::string> sums;
  llvm::MapVector<uint32_t, std::string> words;
  std::string moves, additions, text;
};

template <typename OpT> struct TensorCorePattern : TargetPattern<OpT> {
  TensorCorePattern(const LoweringContext &context, const TargetInfo &target,
                    const TensorMemoryUse &use)
      : TargetPattern<OpT>(context.converter, context.target, context.benefit),
        facts(target.getFacts()), inPairs(use.inPairs) {}

protected:
  /// `pred`, and of two blocks only the first.
  Value getIssuePredicate(const LLVMBuilder &b, bool twoBlocks,
                          Value pred) const {
    if (!twoBlocks)
      return pred;
    Value odd = b.and_(this->target.getBlockInCluster(b), b.i32(1));
    return b.andPred(b.eq(odd, b.i32(0)), pred);
  }

  /// Has a barrier learn when all that this thread issued is done. `condition`
  /// may be null. With `hearers`, a bit for each block of the cluster, those of
  /// these blocks learn of it.
  void addCommit(const LLVMBuilder &b, InstructionText &text, Value converted,
                 Value original, Value condition, Value hearers) const {
    Value barrier = getBufferAddress(b, converted, original);
    if (unsigned bits = nvidia_gpu::getSharedBlockBits(
            cast<gpu::MemDescType>(original.getType())))
      hearers = getHolders(b, hearers, bits);
    std::string guard =
        condition ? "@" + text.input(condition, "b") + " " : std::string();
    std::string line = guard + "tcgen05.commit" + getGroup().str() +
                       ".mbarrier::arrive::one.shared::cluster" +
                       (hearers ? ".multicast::cluster" : "") + ".b64 [" +
                       text.input(barrier, "r") + "]";
    if (hearers)
      line += ", " + text.input(hearers, "h");
    text.add(line);
  }

  /// The blocks that hold the barriers of `hearers`, each for the blocks whose
  /// numbers differ in `bits` alone.
  Value getHolders(const LLVMBuilder &b, Value hearers, unsigned bits) const {
    Value holders = hearers
                        ? b.zext(b.intTy(32), hearers)
                        : b.shl(b.i32(1), this->target.getBlockInCluster(b));
    for (unsigned bit = 1; bit <= bits; bit *= 2)
      if (bits & bit) {
        unsigned without = 0;
        for (unsigned block = 0; block < 16; ++block)
          if (!(block & bit))
            without |= 1 << block;
        holders =
            b.and_(b.or_(holders, b.lshr(holders, b.i32(bit))), b.i32(without));
      }
    return b.trunc(b.intTy(16), holders);
  }

  /// The blocks that share one of the operands with this one, and both of a
  /// pair that multiplies together; null where that is only this block.
  Value getHearers(const LLVMBuilder &b, Operation *op,
                   ArrayRef<gpu::MemDescType> operands) const {
    unsigned numBlocks = gpu::lookupNumCTAs(op), pair = inPairs ? 1 : 0;
    // Of the bits of a block's number, those that make no difference.
    SmallVector<unsigned> shared{pair};
    for (gpu::MemDescType type : operands)
      shared.push_back(pair | nvidia_gpu::getSharedBlockBits(type));
    Value hearers;
    for (unsigned bits :
         llvm::SmallSetVector<unsigned, 4>(shared.begin(), shared.end())) {
      if (bits == 0)
        continue;
      unsigned blocks = 0;
      for (unsigned block = 0; block < numBlocks; ++block)
        if ((block & ~bits) == 0)
          blocks |= 1 << block;
      Value first = b.and_(this->target.getBlockInCluster(b), b.i32(~bits));
      Value mask = b.shl(b.i32(blocks), first);
      hearers = hearers ? b.or_(hearers, mask) : mask;
    }
    return hearers ? b.trunc(b.intTy(16), hearers) : hearers;
  }

  StringRef getGroup() const {
    return inPairs ? ".cta_group::2" : ".cta_group::1";
  }

  const NVIDIATarget &facts;
  /// Whether blocks of this kernel multiply together: its instructions must
  /// agree on that.
  bool inPairs;
};

} // namespace mlir::triton::nvidia

#endif // NVIDIA_LIB_TRITONNVIDIAGPUTOLLVM_TENSORCOREPATTERN_H
