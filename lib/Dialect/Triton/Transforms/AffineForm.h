//===-- AffineForm.h - Tensors of offsets as sums -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The element of a tensor at (i, j) as `first + i * steps[0] + j * steps[1]`.
// `first` and the steps are polynomials in scalars. This is what index
// arithmetic says if nothing in it overflows.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_LIB_DIALECT_TRITON_TRANSFORMS_AFFINEFORM_H
#define TILE_LIB_DIALECT_TRITON_TRANSFORMS_AFFINEFORM_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SetVector.h"
#include <map>
#include <optional>
#include <vector>

namespace mlir::triton {

/// A sum of terms, which multiply a factor and symbols. Symbols are numbers,
/// which `AffineForms` gave.
class Polynomial {
public:
  /// The symbols of a term, sorted. None: a constant.
  using Product = std::vector<unsigned>;

  Polynomial() = default;
  static Polynomial getConstant(int64_t value);
  static Polynomial getSymbol(unsigned symbol);

  const std::map<Product, int64_t> &getTerms() const { return terms; }
  bool isZero() const { return terms.empty(); }
  std::optional<int64_t> getConstantValue() const;
  bool contains(unsigned symbol) const;
  /// The terms with this symbol, and those without.
  std::pair<Polynomial, Polynomial> split(unsigned symbol) const;

  void add(const Product &product, int64_t factor);
  friend Polynomial operator+(const Polynomial &lhs, const Polynomial &rhs);
  friend Polynomial operator-(const Polynomial &lhs, const Polynomial &rhs);
  friend Polynomial operator*(const Polynomial &lhs, const Polynomial &rhs);
  bool operator==(const Polynomial &) const = default;

private:
  std::map<Product, int64_t> terms;
};

/// The elements of a tensor are remainders by `divisor`, and are `first`, or
/// that plus up to `last`, only if all of these are from zero to the divisor.
struct Remainder {
  Polynomial first;
  int64_t last;
  Value divisor;
  bool operator==(const Remainder &) const = default;
};

struct AffineForm {
  Polynomial first;
  /// One for each dimension; none for a scalar.
  SmallVector<Polynomial, 2> steps;
  /// The numbers of the remainders in it.
  llvm::SmallSetVector<unsigned, 2> remainders;
};

/// The forms of values in a loop.
class AffineForms {
public:
  explicit AffineForms(scf::ForOp loop);

  /// The form of an integer or a pointer, or of a tensor of them. Pointers
  /// count elements.
  std::optional<AffineForm> get(Value value);

  /// How far the counter of the loop is past its lower bound.
  unsigned getProgress() const { return kProgress; }
  /// Scalars from outside of the loop; null for the progress.
  Value getValue(unsigned symbol) const { return symbols[symbol]; }
  const Remainder &getRemainder(unsigned number) const {
    return remainders[number];
  }

  /// Computes a polynomial of integers as an i64. `progress`: that of the
  /// iteration, as an i64; null if it is not in the polynomial.
  Value materialize(OpBuilder &builder, Location loc, const Polynomial &value,
                    Value progress = {}) const;

private:
  static constexpr unsigned kProgress = 0;

  std::optional<AffineForm> compute(Value value);
  std::optional<AffineForm> computeArgument(BlockArgument arg);
  std::optional<AffineForm> computeCarried(BlockArgument arg);
  std::optional<AffineForm> computeRemainder(Operation *op);
  std::optional<AffineForm> combine(Operation *op);
  std::optional<AffineForm> getSymbol(Value value);
  unsigned getNumber(Value value);

  scf::ForOp loop;
  SmallVector<Value> symbols;
  SmallVector<Remainder> remainders;
  DenseMap<Value, std::optional<AffineForm>> known;
};

} // namespace mlir::triton

#endif // TILE_LIB_DIALECT_TRITON_TRANSFORMS_AFFINEFORM_H
