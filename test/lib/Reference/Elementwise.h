//===-- Elementwise.h - Element by element ----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operands are tensors of one shape, or numbers: the regions of reductions
// compute on numbers, and are run on whole tensors at once.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_TEST_LIB_REFERENCE_ELEMENTWISE_H
#define TILE_TEST_LIB_REFERENCE_ELEMENTWISE_H

#include "Machine.h"

namespace mlir::triton::reference {

/// `f` of the elements of tensors. An element that depends on an undefined one
/// is undefined.
template <size_t... I, typename F>
Tensor computeElements(std::index_sequence<I...>,
                       std::array<const Tensor *, sizeof...(I)> in, F f) {
  const Tensor *largest = in[0];
  for (const Tensor *tensor : in)
    if (tensor->size() > largest->size() ||
        (tensor->size() == largest->size() &&
         tensor->shape.size() > largest->shape.size()))
      largest = tensor;
  Tensor result(largest->shape);
  const size_t steps[] = {size_t(in[I]->size() > 1)...};
  for (size_t i = 0, e = result.size(); i < e; ++i)
    result.bits[i] = f(in[I]->bits[i * steps[I]]...);
  for (size_t operand = 0; operand < sizeof...(I); ++operand) {
    if (in[operand]->undefined.empty())
      continue;
    for (size_t i = 0, e = result.size(); i < e; ++i)
      if (in[operand]->undefined[i * steps[operand]])
        result.setUndefined(i);
  }
  return result;
}

/// Computes the first result of an operation of `N` operands.
template <size_t N, typename F>
Step compute(Thread &thread, Operation *op, F f) {
  std::array<const Tensor *, N> in;
  for (size_t i = 0; i < N; ++i)
    in[i] = &thread.tensor(op->getOperand(i));
  thread.set(op->getResult(0),
             computeElements(std::make_index_sequence<N>(), in, f));
  return Step::Next;
}

} // namespace mlir::triton::reference

#endif // TILE_TEST_LIB_REFERENCE_ELEMENTWISE_H
