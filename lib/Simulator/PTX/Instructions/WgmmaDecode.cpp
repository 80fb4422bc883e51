//===-- WgmmaDecode.cpp - wgmma: shapes and operands ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "SparseMetadata.h"
#include "Wgmma.h"

#include <charconv>

using namespace tile::sim;

namespace {
bool isValid(const WgmmaShape &s) {
  if (s.n < 8 || s.n > 256 || s.n % 8)
    return false;
  bool f32 = s.d == Type::F32, half = f32 || s.d == Type::F16;
  // Sparse shapes are twice as long.
  unsigned k = s.stored();
  switch (s.a) {
  case Type::F16:
    return s.b == s.a && k == 16 && half;
  case Type::BF16:
    return s.b == s.a && k == 16 && f32;
  case Type::TF32:
    return s.b == s.a && k == 8 && f32;
  case Type::E4M3:
  case Type::E5M2:
    return (s.b == Type::E4M3 || s.b == Type::E5M2) && k == 32 && half;
  case Type::S8:
  case Type::U8:
    return (s.b == Type::S8 || s.b == Type::U8) && k == 32 && s.d == Type::S32;
  case Type::B1:
    return s.b == s.a && k == 256 && s.d == Type::S32 && !s.isSparse;
  default:
    return false;
  }
}

bool sign(FunctionDecoder &d, size_t index, bool &negate) {
  int64_t v = 0;
  if (!d.immediate(d.operand(index), v))
    return false;
  negate = v == -1;
  return v == 1 || v == -1 || d.errorAt(d.operand(index), "expected 1 or -1");
}
bool flag(FunctionDecoder &d, size_t index, bool &out) {
  int64_t v = 0;
  if (!d.immediate(d.operand(index), v))
    return false;
  out = v == 1;
  return v == 0 || v == 1 || d.errorAt(d.operand(index), "expected 0 or 1");
}

bool decodeProduct(FunctionDecoder &d) {
  WgmmaShape s{};
  std::string_view rest;
  s.isSparse = d.has("sp");
  if (!d.hasPrefix("m64n", rest))
    return d.error("needs a shape");
  unsigned n = 0, k = 0;
  size_t at = rest.find('k');
  if (at == std::string_view::npos)
    return d.error("needs a shape");
  std::from_chars(rest.data(), rest.data() + at, n);
  std::from_chars(rest.data() + at + 1, rest.data() + rest.size(), k);
  s.n = uint16_t(n);
  s.k = uint16_t(k);
  d.inst.mod[0] = d.has("satfinite");
  bool bits = d.has("and");
  d.has("popc");
  s.d = d.takeType();
  s.a = d.takeType();
  s.b = d.takeType();
  if (!isValid(s) || bits != (s.a == Type::B1))
    return d.error("this shape and these types do not go together");
  bool integer = isIntegerMatrix(s.a),
       half = s.a == Type::F16 || s.a == Type::BF16;
  s.registersA =
      d.operandCount() > 1 && d.operand(1).kind == ast::Operand::Kind::Vector;
  // Metadata and selector stand behind the descriptors.
  size_t scale = s.isSparse ? 5 : 3;
  size_t operands =
      scale + 1 + (integer ? 0 : 2) + (half ? (s.registersA ? 1 : 2) : 0);
  if (!d.expectOperands(operands, operands))
    return false;
  auto results = d.elements(d.operand(0));
  if (results.size() != s.dRegs())
    return d.errorAt(d.operand(0), "expected " + std::to_string(s.dRegs()) +
                                       " registers, found " +
                                       std::to_string(results.size()));
  std::vector<uint32_t> slots;
  for (const ast::Operand *e : results)
    if (!d.dst(*e, Type::B32, slots.emplace_back()))
      return false;
  if (s.registersA) {
    auto list = d.elements(d.operand(1));
    if (list.size() != 4)
      return d.errorAt(d.operand(1), "expected 4 registers");
    for (const ast::Operand *e : list)
      if (!d.src(*e, Type::B32, slots.emplace_back()))
        return false;
  } else if (!d.src(1, Type::B64, 0)) {
    return false;
  }
  if (s.isSparse &&
      !takeMetadata(d, 3, s.a, s.k, slots.emplace_back(), s.selector))
    return false;
  if (!d.src(2, Type::B64, 1) || !d.src(scale, Type::Pred, 2))
    return false;
  if (!integer &&
      (!sign(d, scale + 1, s.negateA) || !sign(d, scale + 2, s.negateB)))
    return false;
  if (half) {
    if (!s.registersA && !flag(d, scale + 3, s.transposeA))
      return false;
    if (!flag(d, operands - 1, s.transposeB))
      return false;
  }
  d.setExt(slots);
  d.inst.imm = s.pack();
  d.inst.isWgmma = true;
  return d.emit(integer ? execIntegerWgmma : execFloatWgmma, Class::Tensor);
}

bool decodeWgmma(FunctionDecoder &d) {
  d.has("sync");
  d.has("aligned");
  if (d.has("fence"))
    return d.expectOperands(0, 0) && d.emit(execWgmmaFence, Class::Barrier);
  if (d.has("commit_group"))
    return d.expectOperands(0, 0) && d.emit(execWgmmaCommit, Class::Barrier);
  if (d.has("wait_group"))
    return d.expectOperands(1, 1) && d.immediate(d.operand(0), d.inst.imm) &&
           d.emit(execWgmmaWait, Class::Barrier);
  return d.has("mma_async") ? decodeProduct(d)
                            : d.error("unknown operation of wgmma");
}
} // namespace

void tile::sim::registerWgmma(DecodeTable &t) {
  t.insert({{"wgmma", decodeWgmma}});
}
