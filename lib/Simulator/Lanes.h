//===-- Lanes.h - Lane loops from scalar functions ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// map<f> is the handler that applies a scalar function to 32 lanes: op[0] is
// the result, op[1..] the arguments. The argument types say how a lane's
// register bits are read: uint16_t takes the low half of a word slot, float its
// bits, bool one bit of a predicate.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "Machine.h"
#include "Numeric.h"

#include <type_traits>
#include <utility>

namespace tile::sim {

/// f16 and bf16 lanes as numbers would hide where rounding happens; they travel
/// as bits.
struct Half {
  uint16_t bits;
};
struct Bf16 {
  uint16_t bits;
};

template <class T> struct Lane {
  using Storage = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
  static T get(Storage s) {
    if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>)
      return std::bit_cast<T>(s);
    else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, Bf16>)
      return T{uint16_t(s)};
    else
      return T(s);
  }
  static Storage put(T v) {
    if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>)
      return std::bit_cast<Storage>(v);
    else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, Bf16>)
      return v.bits;
    else
      return Storage(std::make_unsigned_t<T>(v));
  }
};

/// Writes the lanes of `mask`.
template <class S> inline void commit(S *to, const S *from, uint32_t mask) {
  if (mask == FullMask) {
    for (unsigned l = 0; l < Lanes; ++l)
      to[l] = from[l];
    return;
  }
  for (unsigned l = 0; l < Lanes; ++l)
    to[l] = (mask >> l & 1) ? from[l] : to[l];
}

template <class T> struct SourceLanes {
  const typename Lane<T>::Storage *data;
  SourceLanes(const Ctx &c, uint32_t slot)
      : data(c.src<typename Lane<T>::Storage>(slot)) {}
  T operator[](unsigned l) const { return Lane<T>::get(data[l]); }
};
template <> struct SourceLanes<bool> {
  uint32_t bits;
  SourceLanes(const Ctx &c, uint32_t slot) : bits(c.pred(slot)) {}
  bool operator[](unsigned l) const { return bits >> l & 1; }
};

template <auto F, class R, class... A, size_t... I>
inline Step mapLanes(Ctx &c, const Inst &inst, uint32_t mask, R (*)(A...),
                     std::index_sequence<I...>) {
  std::tuple<SourceLanes<A>...> in{SourceLanes<A>(c, inst.op[I + 1])...};
  if constexpr (std::is_same_v<R, bool>) {
    uint32_t bits = 0;
    for (unsigned l = 0; l < Lanes; ++l)
      bits |= uint32_t(F(std::get<I>(in)[l]...)) << l;
    c.setPred(inst.op[0], bits, mask);
  } else {
    using S = typename Lane<R>::Storage;
    alignas(64) S out[Lanes];
    for (unsigned l = 0; l < Lanes; ++l)
      out[l] = Lane<R>::put(F(std::get<I>(in)[l]...));
    commit(c.dst<S>(inst.op[0]), out, mask);
  }
  return Step::Next;
}
template <auto F, class R, class... A>
inline Step mapSignature(Ctx &c, const Inst &inst, uint32_t mask,
                         R (*f)(A...)) {
  return mapLanes<F>(c, inst, mask, f, std::index_sequence_for<A...>());
}
template <auto F> Step map(Ctx &c, const Inst &inst, uint32_t mask) {
  return mapSignature<F>(c, inst, mask, F);
}

/// Runs a body for each set lane.
template <class F> inline void eachLane(uint32_t mask, F body) {
  for (; mask; mask &= mask - 1)
    body(unsigned(std::countr_zero(mask)));
}

/// Chooses Op::f<T> by an integer type; .bN counts as unsigned.
template <class Op> ExecFn pickInteger(Type type) {
  switch (type) {
  case Type::B16:
  case Type::U16:
    return map<&Op::template f<uint16_t>>;
  case Type::B32:
  case Type::U32:
    return map<&Op::template f<uint32_t>>;
  case Type::B64:
  case Type::U64:
    return map<&Op::template f<uint64_t>>;
  case Type::S16:
    return map<&Op::template f<int16_t>>;
  case Type::S32:
    return map<&Op::template f<int32_t>>;
  case Type::S64:
    return map<&Op::template f<int64_t>>;
  default:
    return nullptr;
  }
}

} // namespace tile::sim
