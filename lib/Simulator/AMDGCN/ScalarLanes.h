//===-- ScalarLanes.h - Scalar instructions from functions ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// decodeScalar<f> decodes "op dst, sources" after the signature of f, and runs
// f on them. A Flag among the arguments reads SCC; a WithScc as the result
// writes it.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "Decoder.h"

#include <utility>

namespace tile::sim::amdgcn {

template <class T> struct WithScc {
  T value;
  bool scc;
};
/// A comparison: the result is SCC alone.
struct SccOnly {
  bool scc;
};
struct Flag {
  bool isSet;
};

template <class T> struct ScalarTraits {
  using Value = T;
  static constexpr bool setsScc = false;
};
template <class T> struct ScalarTraits<WithScc<T>> {
  using Value = T;
  static constexpr bool setsScc = true;
};

template <class T> T scalarArgument(const Ctx &c, const Inst &inst, size_t i) {
  if constexpr (std::is_same_v<T, Flag>)
    return Flag{waveOf(c).scalar[Scc] != 0};
  else
    return scalarOf<T>(c, inst.op[1 + i]);
}

template <auto F, class R, class... A, size_t... I>
Step runScalar(Ctx &c, const Inst &inst, R (*)(A...),
               std::index_sequence<I...>) {
  R result = F(scalarArgument<A>(c, inst, I)...);
  if constexpr (std::is_same_v<R, SccOnly>) {
    waveOf(c).scalar[Scc] = result.scc;
  } else if constexpr (ScalarTraits<R>::setsScc) {
    setScalar(c, inst.op[0], result.value);
    waveOf(c).scalar[Scc] = result.scc;
  } else {
    setScalar(c, inst.op[0], result);
  }
  return Step::Next;
}
template <auto F, class R, class... A>
Step runSignature(Ctx &c, const Inst &inst, R (*f)(A...)) {
  return runScalar<F>(c, inst, f, std::index_sequence_for<A...>());
}
template <auto F> Step execScalar(Ctx &c, const Inst &inst, uint32_t) {
  return runSignature<F>(c, inst, F);
}

template <class T>
bool decodeScalarArgument(InstDecoder &d, size_t &operand, unsigned op) {
  if constexpr (std::is_same_v<T, Flag>) {
    d.readScalar(Scc, 1);
    return true;
  } else {
    return d.scalar(operand++, sizeof(T) / 4,
                    sizeof(T) == 8 ? Imm::B64 : Imm::B32, op);
  }
}

template <auto F, class R, class... A>
bool decodeScalarSignature(InstDecoder &d, R (*)(A...)) {
  constexpr bool compares = std::is_same_v<R, SccOnly>;
  size_t operand = compares ? 0 : 1;
  unsigned op = 1;
  bool good = (decodeScalarArgument<A>(d, operand, op++) && ...);
  if (!good || !d.expect(operand, operand))
    return false;
  if constexpr (!compares) {
    using Value = typename ScalarTraits<R>::Value;
    if (!d.scalarResult(0, sizeof(Value) / 4, 0))
      return false;
  }
  if (compares || ScalarTraits<R>::setsScc)
    d.writeScalar(Scc, 1);
  return d.emit(execScalar<F>, compares ? Class::Compare : Class::Integer);
}
template <auto F> bool decodeScalar(InstDecoder &d) {
  return decodeScalarSignature<F>(d, F);
}

} // namespace tile::sim::amdgcn
