//===-- Tcgen05MmaDecode.cpp - The text of tcgen05.mma --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Tcgen05Mma.h"

using namespace tile::sim;
using Kind = TensorMmaKind;

namespace {
/// The number of scale factors of a row, which spellings of two kinds say.
bool takeFactors(FunctionDecoder &d, TensorMmaForm &form) {
  bool isBlockScale = d.has("block_scale");
  int vector = d.hasOneOf({"scale_vec::1X", "scale_vec::2X", "scale_vec::4X"}),
      block = d.hasOneOf({"block32", "block16"});
  if (isBlockScale != (form.kind >= Kind::MXF8F6F4))
    return d.error(isBlockScale ? "this kind has no .block_scale"
                                : "needs .block_scale");
  if (!isBlockScale)
    return (vector < 0 && block < 0) || d.error("needs .block_scale");
  if (vector >= 0 && block >= 0)
    return d.error("takes one size of a scale vector");
  bool isBytes = form.kind == Kind::MXF8F6F4;
  if (vector >= 0)
    form.factors = uint8_t(1 << vector);
  else if (block >= 0)
    form.factors = uint8_t(block ? 4 : isBytes ? 1 : 2);
  else if (form.kind == Kind::MXF4NVF4)
    return d.error("needs the size of a scale vector");
  else
    form.factors = isBytes ? 1 : 2;
  bool isGood = isBytes                   ? form.factors == 1 && block != 1
                : form.kind == Kind::MXF4 ? form.factors == 2
                                          : form.factors >= 2;
  return isGood || d.error("this kind has no such scale vector");
}

/// A permission to keep A or B, which changes no value.
bool takeCollector(FunctionDecoder &d, bool isStationary, bool shifts) {
  std::string_view rest;
  if (!d.hasPrefix("collector::", rest))
    return true;
  size_t colon = rest.find("::");
  std::string_view which = rest.substr(0, colon),
                   how = colon == rest.npos ? "" : rest.substr(colon + 2);
  bool isBuffer = isStationary ? which == "b0" || which == "b1" ||
                                     which == "b2" || which == "b3"
                               : which == "a";
  if (!isBuffer ||
      (how != "fill" && how != "use" && how != "lastuse" && how != "discard"))
    return d.error("there is no such collector");
  return !shifts || (how != "fill" && how != "use") ||
         d.error(".ashift goes not with this collector");
}

bool takeAddress(FunctionDecoder &d, size_t index, uint32_t &slot,
                 std::vector<uint32_t> &ext, bool inExt) {
  TensorOperand address;
  if (!address.take(d, d.operand(index)))
    return false;
  slot = address.slot;
  if (inExt)
    ext.push_back(address.slot);
  ext.push_back(address.offset);
  return true;
}

bool takeMask(FunctionDecoder &d, const TensorMmaForm &form, size_t index,
              std::vector<uint32_t> &ext) {
  auto words = d.elements(d.operand(index));
  if (words.size() != 4u * form.group)
    return d.errorAt(d.operand(index), "expected " +
                                           std::to_string(4 * form.group) +
                                           " words of lanes");
  for (const ast::Operand *word : words)
    if (!d.src(*word, Type::B32, ext.emplace_back()))
      return false;
  return true;
}

bool takeScaleInput(FunctionDecoder &d, TensorMmaForm &form, size_t index) {
  if (form.kind != Kind::F16 && form.kind != Kind::TF32)
    return d.error("only .kind::f16 and .kind::tf32 scale D");
  std::string_view target = d.builder.module.target;
  if (target.substr(0, 6) == "sm_110" || target.substr(0, 6) == "sm_101")
    return d.error("sm_110 does not scale D");
  int64_t value;
  if (!d.immediate(d.operand(index), value))
    return false;
  form.scaleInput = uint8_t(value);
  return (value >= 0 && value <= 15) ||
         d.errorAt(d.operand(index), "value '" + std::to_string(value) +
                                         "' is out of the range from 0 to 15");
}

/// What follows the instruction's descriptor.
bool takeRest(FunctionDecoder &d, TensorMmaForm &form,
              std::vector<uint32_t> &ext) {
  size_t at = 4, count = d.operandCount();
  uint32_t slot;
  if (form.isScaled()) {
    if (!takeAddress(d, 4, slot, ext, true) ||
        !takeAddress(d, 5, slot, ext, true))
      return false;
    at = 6;
  } else if (d.operand(4).kind == ast::Operand::Kind::Vector) {
    if (form.isWeightStationary)
      return d.errorAt(d.operand(4), ".ws takes no mask of lanes");
    form.hasMask = true;
    if (!takeMask(d, form, 4, ext))
      return false;
    at = 5;
  }
  if (at >= count)
    return d.expectOperands(at + 1, at + 1);
  if (!d.predSrc(d.operand(at), d.inst.op[4]))
    return false;
  if (++at == count)
    return true;
  if (form.isWeightStationary)
    return d.expectOperands(at + 1, at + 1) && d.src(at, Type::B64, 5);
  return d.expectOperands(at + 1, at + 1) && takeScaleInput(d, form, at);
}
} // namespace

bool tile::sim::decodeTcgen05Mma(FunctionDecoder &d) {
  TensorMmaForm form{};
  if (d.has("sp"))
    return d.error("sparse products into tensor memory are not supported by "
                   "the simulator");
  form.isWeightStationary = d.has("ws");
  unsigned group = takeCtaGroup(d);
  if (!group)
    return false;
  form.group = uint8_t(group);
  int kind = d.hasOneOf({"kind::f16", "kind::tf32", "kind::f8f6f4", "kind::i8",
                         "kind::mxf8f6f4", "kind::mxf4", "kind::mxf4nvf4"});
  if (kind < 0)
    return d.error("needs a kind");
  form.kind = Kind(kind);
  if (form.isWeightStationary && (group == 2 || kind >= int(Kind::MXF8F6F4)))
    return d.error(".ws goes with .cta_group::1 and kinds without scales");
  bool shifts = d.has("ashift");
  if (!takeFactors(d, form) ||
      !takeCollector(d, form.isWeightStationary, shifts))
    return false;
  if (!d.expectOperands(5, 8))
    return false;
  form.isTensorA = d.operand(1).kind == ast::Operand::Kind::Address;
  form.shiftsA = shifts;
  if (shifts && (form.isWeightStationary || form.isScaled()))
    return d.error(".ashift goes not with .ws or scale factors");
  if (shifts && !form.isTensorA)
    return d.error(".ashift needs A in tensor memory");
  form.mayHaveK96 = d.builder.module.target == "sm_103a";
  std::vector<uint32_t> ext;
  uint32_t slotD = NoSlot, slotA = NoSlot;
  if (!takeAddress(d, 0, slotD, ext, false))
    return false;
  if (form.isTensorA) {
    if (!takeAddress(d, 1, slotA, ext, false))
      return false;
  } else {
    ext.push_back(0);
    if (!d.src(d.operand(1), Type::B64, slotA))
      return false;
  }
  if (!d.src(2, Type::B64, 2) || !d.src(3, Type::B32, 3) ||
      !takeRest(d, form, ext))
    return false;
  d.inst.op[0] = slotD;
  d.inst.op[1] = slotA;
  d.setExt(ext);
  d.inst.imm = form.pack();
  return d.emit(execTensorMma, Class::Tensor);
}
