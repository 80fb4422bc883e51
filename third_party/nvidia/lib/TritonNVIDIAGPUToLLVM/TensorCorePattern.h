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

#include "llvm/ADT/MapVector.h"

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

  /// Has a barrier learn when all that this thread issued is done; that of both
  /// blocks where two multiply together. `condition` may be null.
  void addCommit(const LLVMBuilder &b, InstructionText &text, Value barrier,
                 Value condition, bool twoBlocks) const {
    std::string guard =
        condition ? "@" + text.input(condition, "b") + " " : std::string();
    std::string line = guard +
                       "tcgen05.commit.cta_group::" + (twoBlocks ? "2" : "1") +
                       ".mbarrier::arrive::one.shared::cluster" +
                       (twoBlocks ? ".multicast::cluster" : "") + ".b64 [" +
                       text.input(barrier, "r") + "]";
    if (twoBlocks)
      line += ", " + text.input(getPair(b), "h");
    text.add(line);
  }

  const NVIDIATarget &facts;
  /// Whether blocks of this kernel multiply together: its instructions must
  /// agree on that.
  bool inPairs;

private:
  /// A bit for each of the two blocks; their numbers differ in the lowest bit.
  Value getPair(const LLVMBuilder &b) const {
    Value first = b.and_(this->target.getBlockInCluster(b), b.i32(~1));
    return b.trunc(b.intTy(16), b.shl(b.i32(3), first));
  }
};

} // namespace mlir::triton::nvidia

#endif // NVIDIA_LIB_TRITONNVIDIAGPUTOLLVM_TENSORCOREPATTERN_H
