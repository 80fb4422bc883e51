//===-- TargetModel.h - The machine as passes see it ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What passes and the common lowering must know about the machine they compile
// for. A backend fills models from its table and registers them for its kind of
// `ttg.target`. Everybody else finds the model through the operation at hand
// and never looks at the name of the target. The base class is a machine of no
// particular vendor: what holds where a module names no target, or one that no
// backend knows.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_DIALECT_TRITONGPU_IR_TARGETMODEL_H
#define TILE_DIALECT_TRITONGPU_IR_TARGETMODEL_H

#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Layout/BankGeometry.h"

#include "mlir/IR/DialectInterface.h"
#include "llvm/ADT/StringMap.h"
#include <array>
#include <functional>
#include <limits>

namespace mlir::triton::gpu {

class CopyStrategy;
class RingBarriers;
enum class RegisterPurpose : unsigned;

//===----------------------------------------------------------------------===//
// Matrix instructions
//===----------------------------------------------------------------------===//

/// Where a matrix instruction takes an operand from.
enum class OperandPlace { Registers, SharedMemory };

/// The element types of d = a * b + d, and how exact fp32 operands are to be
/// treated.
struct MatrixElementTypes {
  Type a, b, d;
  InputPrecision precision = InputPrecision::IEEE;
};

/// An instruction that computes products of certain element types.
struct MatrixInstruction {
  /// For remarks and debug output, such as "mma.sync".
  StringRef name;
  /// Tells the instructions of a target apart; the encoding of the accumulator
  /// has it, too.
  unsigned version = 0;
  /// The elements that it multiplies. They may be wider than those of the
  /// dot, whose operands are then extended first.
  std::array<Type, 2> operandTypes;
  Type resultType;
  /// The dot that `numWarps` warps compute together at the least.
  unsigned m = 1, n = 1, k = 1;
  /// Neighbours along M.
  unsigned numWarps = 1;
  std::array<OperandPlace, 2> places = {OperandPlace::Registers,
                                        OperandPlace::Registers};
  /// Whether the result is there only after a wait.
  bool isAsynchronous = false;
};

/// A dot that looks for an instruction.
struct MatrixProduct {
  MatrixElementTypes types;
  /// Of the result's part that one block computes: [batch,] M, N.
  SmallVector<int64_t> shape;
  /// Of the inner dimension.
  int64_t k = 0;
  int numWarps = 0;
  /// Bits of the narrowest elements that the operands are computed from,
  /// element by element: they reach registers first, and are extended there.
  unsigned loadedBits = 0;

  int64_t getM() const { return shape[shape.size() - 2]; }
  int64_t getN() const { return shape.back(); }
};

/// The layouts in which a matrix instruction takes a dot with scales.
struct ScaledMatrixLayouts {
  MmaEncodingTrait result;
  std::array<LayoutEncodingTrait, 2> operands;
  /// Null for an operand without scales.
  std::array<LayoutEncodingTrait, 2> scales;
};

/// Where selection says why it declined.
using DeclineReason = llvm::function_ref<void(const Twine &)>;

//===----------------------------------------------------------------------===//
// The model
//===----------------------------------------------------------------------===//

class TargetModel {
public:
  virtual ~TargetModel();

  virtual unsigned getThreadsPerWarp() const { return kDefaultThreadsPerWarp; }

  // Memory.

  virtual BankGeometry getSharedMemoryBanks() const { return {}; }
  /// Bytes that one block may have.
  virtual int64_t getMaxSharedMemory() const {
    return std::numeric_limits<int64_t>::max();
  }
  /// The widest access of one thread, in bits.
  virtual unsigned getMaxGlobalAccessBits() const { return 128; }
  virtual unsigned getMaxSharedAccessBits() const { return 128; }
  /// The sizes in bytes, ascending, of one thread's asynchronous copies from
  /// global to shared memory; both sides are aligned to the size. A target
  /// without any copies through registers.
  virtual ArrayRef<unsigned> getAsyncCopySizes() const;

  // Copies that run beside the threads.

  /// The engines that copy to shared memory for this machine, beside threads,
  /// the preferred one first (Transforms/CopyStrategy.h).
  virtual ArrayRef<const CopyStrategy *> getCopyEngines() const { return {}; }
  /// The barriers in shared memory that such copies arrive at, and by which
  /// groups of warps hand buffers to each other (Transforms/RingBarriers.h);
  /// null where the machine has none.
  virtual const RingBarriers *getRingBarriers() const { return nullptr; }

  // Registers.

  /// 32-bit registers that each thread of a block of `numThreads` can have.
  virtual unsigned getRegistersPerThread(unsigned numThreads) const;
  /// How many of these values may take for `purpose` (RegisterBudget.h).
  virtual int64_t getBudget(RegisterPurpose purpose, unsigned numThreads) const;

  // Arithmetic.

  /// Whether an instruction converts floats of one type to the other (and not
  /// several, by way of integers).
  virtual bool hasFloatConversion(Type from, Type to,
                                  RoundingMode rounding) const {
    return false;
  }

  // Matrix products.

  /// Every instruction that computes products of these element types, the
  /// preferred one first.
  virtual SmallVector<MatrixInstruction>
  getMatrixInstructions(const MatrixElementTypes &types) const {
    return {};
  }
  /// The instruction of this version that multiplies just these element types;
  /// a lowering asks this of what selection chose.
  std::optional<MatrixInstruction>
  findMatrixInstruction(unsigned version,
                        const MatrixElementTypes &types) const;
  /// Replaces `dot`, which `product` describes, in a way that only this target
  /// knows, if that is better than the steps below. Returns false, without
  /// having changed anything, if not.
  virtual bool replaceMatrixProduct(DotOp dot,
                                    const MatrixProduct &product) const {
    return false;
  }
  /// The same for a dot with scales.
  virtual bool replaceScaledProduct(DotScaledOp dot) const { return false; }
  /// The instruction that `product` should take: here, the first one that is
  /// not larger.
  virtual FailureOr<MatrixInstruction>
  selectMatrixInstruction(const MatrixProduct &product,
                          DeclineReason decline) const;
  /// The layout of the result, computed by a grid of warps.
  virtual MmaEncodingTrait getResultEncoding(
      const MatrixInstruction &instruction, const MatrixProduct &product,
      ArrayRef<unsigned> warpsPerCTA, CTALayoutAttr ctaLayout) const;
  /// The layout of an operand: a distributed one or one of shared memory,
  /// according to its place.
  virtual LayoutEncodingTrait
  getOperandEncoding(const MatrixInstruction &instruction,
                     const MatrixProduct &product, unsigned operand,
                     RankedTensorType type, MmaEncodingTrait result) const;
  /// The layouts of an instruction that computes `dot` with its scales; none
  /// where the target has no such instruction, or it does not fit.
  virtual std::optional<ScaledMatrixLayouts>
  getScaledMatrixLayouts(DotScaledOp dot) const {
    return std::nullopt;
  }
  /// Makes the operation that computes `dot` by `instruction` from operands (a
  /// tensor or a view of shared memory, each) and an accumulator in the layouts
  /// above; returns its result. Here: a tt.dot.
  virtual Value createMatrixProduct(OpBuilder &builder, DotOp dot,
                                    const MatrixInstruction &instruction,
                                    Value a, Value b, Value c) const;

protected:
  /// Whether the dot is no smaller than the instruction.
  static bool fits(const MatrixProduct &product,
                   const MatrixInstruction &instruction);
};

/// The model of the machine that `op` is compiled for.
const TargetModel &getTargetModel(Operation *op);
/// The same for a value of `ttg.target`.
const TargetModel &getTargetModel(MLIRContext *context, StringRef target);

/// The models that backends registered.
class TargetModels : public DialectInterface::Base<TargetModels> {
public:
  /// The model for what follows the colon in `ttg.target`; null if unknown. It
  /// must outlive the context.
  using Lookup = std::function<const TargetModel *(StringRef architecture)>;

  explicit TargetModels(Dialect *dialect) : Base(dialect) {}

  /// Makes `lookup` answer for targets of the form "<kind>:<architecture>"; to
  /// be called from an extension of the ttg dialect, which also loads the
  /// dialects of the operations that `createMatrixProduct` makes.
  static void add(TritonGPUDialect &dialect, StringRef kind, Lookup lookup);
  /// Null where no backend knows the target.
  const TargetModel *find(StringRef target) const;

private:
  llvm::StringMap<Lookup> lookups;
};

} // namespace mlir::triton::gpu

#endif // TILE_DIALECT_TRITONGPU_IR_TARGETMODEL_H
