//===-- Tcgen05Access.cpp - tcgen05.ld, .st and .wait ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A warp reaches the 32 lanes of tensor memory that its number in its warp
// group names. A load gives its registers at once: who uses one before
// tcgen05.wait::ld waits for it. Stores may be late.
//
//===----------------------------------------------------------------------===//
#include "../../Checkers/OrderChecker.h"
#include "../../Schedule.h"
#include "../../Timeline.h"
#include "MatrixTypes.h"
#include "Tcgen05.h"

#include <algorithm>

using namespace tile::sim;

namespace {
enum Shape : uint8_t { S32x32b, S16x64b, S16x128b, S16x256b, S16x32bx2 };

/// Kept in Inst: mod[0]: Shape; mod[1]: packed; imm: the split of 16x32bx2.
struct Form {
  Shape shape;
  bool isPacked;
  unsigned registers; ///< of a thread
  unsigned split;

  Form(const Inst &inst, unsigned registers)
      : shape(Shape(inst.mod[0])), isPacked(inst.mod[1]), registers(registers),
        split(unsigned(inst.imm)) {}

  unsigned lanes() const { return shape == S32x32b ? 32 : 16; }
  /// Columns of one piece; 16x32bx2 has two pieces.
  unsigned columns() const {
    unsigned each = shape == S16x64b    ? 2 * registers
                    : shape == S16x128b ? 2 * registers
                    : shape == S16x256b ? 2 * registers
                                        : registers;
    return isPacked ? 2 * each : each;
  }
  /// Where a thread's register is, before packing.
  std::pair<unsigned, unsigned> place(unsigned t, unsigned r) const {
    switch (shape) {
    case S32x32b:
      return {t, r};
    case S16x64b:
      return {(t >> 2) + 8 * (t & 1), (t >> 1 & 1) + 2 * r};
    case S16x128b:
      return {(t >> 2) + 8 * (r & 1), (t & 3) + 4 * (r >> 1)};
    case S16x256b:
      return {(t >> 2) + 8 * (r >> 1 & 1),
              2 * (t & 3) + (r & 1) + 8 * (r >> 2)};
    case S16x32bx2:
      return {t & 15, r};
    }
    return {0, 0};
  }
  /// The cell of a register, or of its half.
  std::pair<unsigned, unsigned> cell(unsigned t, unsigned r,
                                     unsigned half) const {
    auto [lane, column] = place(t, r);
    if (isPacked)
      column = 2 * column + half;
    return {lane, column + (shape == S16x32bx2 && t >= 16 ? split : 0)};
  }
};

/// The address, the same in all lanes, and what is accessed there.
struct Target {
  unsigned lane, column;
  std::vector<TensorRegion> pieces;
};

bool findTarget(Ctx &c, const Inst &inst, const Form &form, Target &out) {
  const uint64_t *lanes = c.src<uint64_t>(inst.op[1]);
  for (unsigned l = 1; l < Lanes; ++l)
    if (uint32_t(lanes[l]) != uint32_t(lanes[0])) {
      c.fail(inst, l, "divergent-address",
             "all lanes must give the same address of tensor memory");
      return false;
    }
  uint32_t address = TensorOperand::addressOf(c, inst, 1, 0);
  out.lane = tensorLane(address);
  out.column = tensorColumn(address);
  unsigned first = c.warp->index % 4 * 32, step = form.lanes();
  if (out.lane < first || out.lane + step > first + 32 ||
      out.lane % step != 0) {
    c.fail(inst, 0, "wrong-lanes",
           "the warp is number " + std::to_string(c.warp->index % 4) +
               " of its warp group and reaches lanes " + std::to_string(first) +
               " to " + std::to_string(first + 31) +
               " of tensor memory; the address names " + std::to_string(step) +
               " from " + std::to_string(out.lane) + " on");
    return false;
  }
  for (unsigned piece = 0; piece < (form.shape == S16x32bx2 ? 2u : 1u);
       ++piece) {
    TensorRegion region =
        TensorRegion::of(out.lane, form.lanes(),
                         out.column + piece * form.split, form.columns());
    if (!checkTensor(c, inst, 0, *c.cta, region, out.lane + step - 1))
      return false;
    out.pieces.push_back(region);
  }
  return true;
}

//===-- Loads -------------------------------------------------------------===//

enum Reduction : uint8_t { NoReduction, Min, Max };

/// .red: mod[2]: Reduction, + 4 for .abs, + 8 for .NaN; type: Inst::type.
uint32_t reduceTwo(const Inst &inst, uint32_t a, uint32_t b) {
  bool max = (inst.mod[2] & 3) == Max;
  if (inst.type == Type::U32)
    return max ? std::max(a, b) : std::min(a, b);
  if (inst.type == Type::S32)
    return uint32_t(max ? std::max(int32_t(a), int32_t(b))
                        : std::min(int32_t(a), int32_t(b)));
  float x = floatOfBits(a), y = floatOfBits(b);
  if (x != x || y != y)
    return (inst.mod[2] & 8) || (x != x && y != y) ? nanF32 : x != x ? b : a;
  if (x == y) // -0 is less than +0
    return max ? a & b : a | b;
  return (max ? x > y : x < y) ? a : b;
}

/// That a warp moves.
uint64_t bytesOf(const Form &form) {
  return uint64_t(form.registers) * Lanes * sizeof(uint32_t);
}

/// ext: the registers, then that of the reduction, if any.
Step execLoad(Ctx &c, const Inst &inst, uint32_t mask) {
  if (Step s = needWarp(c, inst, mask); s != Step::Next)
    return s;
  bool reduces = inst.mod[2] != NoReduction;
  Form form(inst, inst.extCount - unsigned(reduces));
  Target target;
  if (!findTarget(c, inst, form, target))
    return Step::Error;
  for (const TensorRegion &piece : target.pieces) {
    checkTensorWritten(c, inst, 0, *c.cta, piece, "a value");
    if (c.checker)
      c.checker->tensor().warpAccess(c, inst, {TensorKind::Load, false, piece});
  }
  c.worker->counters.tensorMemoryBytes += bytesOf(form);
  if (c.timeline)
    c.timeline->tensorAccess(c, false);
  const TensorMemory &memory = tensorMemory(*c.cta);
  const uint32_t *slots = &c.code->ext[inst.ext];
  uint32_t reduced[Lanes];
  for (unsigned r = 0; r < form.registers; ++r) {
    uint32_t *out = c.dst<uint32_t>(slots[r]);
    for (unsigned t = 0; t < Lanes; ++t) {
      auto read = [&](unsigned half) {
        auto [lane, column] = form.cell(t, r, half);
        return memory.at(target.lane + lane, target.column + column);
      };
      uint32_t value =
          form.isPacked ? (read(0) & 0xffff) | read(1) << 16 : read(0);
      out[t] = value;
      if (reduces && (inst.mod[2] & 4))
        value &= 0x7fffffff;
      reduced[t] = r ? reduceTwo(inst, reduced[t], value) : value;
    }
  }
  if (reduces)
    std::copy_n(reduced, Lanes, c.dst<uint32_t>(slots[form.registers]));
  return Step::Next;
}

//===-- Stores ------------------------------------------------------------===//

Step execStore(Ctx &c, const Inst &inst, uint32_t mask) {
  if (Step s = needWarp(c, inst, mask); s != Step::Next)
    return s;
  Form form(inst, inst.extCount);
  Target target;
  if (!findTarget(c, inst, form, target))
    return Step::Error;
  for (const TensorRegion &piece : target.pieces) {
    if (c.checker)
      c.checker->tensor().warpAccess(c, inst, {TensorKind::Store, true, piece});
    markTensorWritten(*c.cta, piece);
  }
  c.worker->counters.tensorMemoryBytes += bytesOf(form);
  if (c.timeline)
    c.timeline->tensorAccess(c, true);
  std::vector<uint32_t> values;
  for (unsigned r = 0; r < form.registers; ++r) {
    const uint32_t *in = c.src<uint32_t>(c.code->ext[inst.ext + r]);
    values.insert(values.end(), in, in + Lanes);
  }
  auto store = [form, lane = target.lane, column = target.column,
                values = std::move(values)](Ctx &c) {
    TensorMemory &memory = tensorMemory(*c.cta);
    for (unsigned r = 0; r < form.registers; ++r)
      for (unsigned t = 0; t < Lanes; ++t) {
        uint32_t value = values[r * Lanes + t];
        for (unsigned half = 0; half < (form.isPacked ? 2u : 1u); ++half) {
          auto [l, k] = form.cell(t, r, half);
          memory.at(lane + l, column + k) =
              form.isPacked ? value >> (16 * half) & 0xffff : value;
        }
      }
    return true;
  };
  return completeAsync(c, AsyncKind::TensorStore, 0, std::move(store))
             ? Step::Next
             : Step::Error;
}

/// mod[0]: for stores.
Step execWait(Ctx &c, const Inst &inst, uint32_t mask) {
  if (Step s = needWarp(c, inst, mask); s != Step::Next)
    return s;
  if (c.checker)
    c.checker->tensor().wait(c, inst.mod[0]);
  if (c.timeline)
    c.timeline->tensorWait(c, inst.mod[0]);
  Schedule *schedule = c.cluster->schedule.get();
  return !inst.mod[0] || !schedule ||
                 schedule->finishUpTo(c, AsyncKind::TensorStore,
                                      Schedule::threadOf(c, 0),
                                      schedule->mark())
             ? Step::Next
             : Step::Error;
}

//===-- Decoders ----------------------------------------------------------===//

bool takeForm(FunctionDecoder &d, unsigned &registers) {
  if (!d.has("sync") || !d.has("aligned"))
    return d.error("needs .sync.aligned");
  int shape =
      d.hasOneOf({"32x32b", "16x64b", "16x128b", "16x256b", "16x32bx2"});
  if (shape < 0)
    return d.error("needs a shape");
  int count = d.hasOneOf({"x1", "x2", "x4", "x8", "x16", "x32", "x64", "x128"});
  if (count < 0)
    return d.error("needs .x1 to .x128");
  unsigned each = shape == S16x128b ? 2 : shape == S16x256b ? 4 : 1;
  registers = each << count;
  if (registers > 128)
    return d.error("too many registers: this shape has no such number");
  d.inst.mod[0] = uint8_t(shape);
  return true;
}

bool takeSplit(FunctionDecoder &d, size_t index) {
  return d.immediate(d.operand(index), d.inst.imm) &&
         ((d.inst.imm >= 0 && d.inst.imm < 512) ||
          d.errorAt(d.operand(index), "this offset is out of range"));
}

/// The registers into ext.
bool takeRegisters(FunctionDecoder &d, size_t index, unsigned count,
                   bool isResult, const ast::Operand *reduced = nullptr) {
  std::vector<uint32_t> slots;
  if (!takeMatrixRegisters(d, d.operand(index), count, Type::B32, isResult,
                           slots) ||
      (reduced && !d.dst(*reduced, Type::B32, slots.emplace_back())))
    return false;
  d.setExt(slots);
  return true;
}
} // namespace

bool tile::sim::decodeTcgen05Load(FunctionDecoder &d) {
  bool reduces = d.has("red");
  unsigned count;
  if (!takeForm(d, count))
    return false;
  d.inst.mod[1] = d.has("pack::16b");
  bool isSplit = d.inst.mod[0] == S16x32bx2;
  if (reduces) {
    int op = d.hasOneOf({"min", "max"});
    bool absolute = d.has("abs"), nan = d.has("NaN");
    d.inst.type = d.takeType();
    bool isFloat = d.inst.type == Type::F32;
    if (op < 0 ||
        (!isFloat && d.inst.type != Type::U32 && d.inst.type != Type::S32) ||
        ((absolute || nan) && !isFloat))
      return d.error("needs .min or .max and .f32, .u32 or .s32");
    if (count < 2 || (d.inst.mod[0] != S32x32b && !isSplit) || d.inst.mod[1])
      return d.error("there is no reduction of this shape");
    d.inst.mod[2] = uint8_t(op + 1 + (absolute ? 4 : 0) + (nan ? 8 : 0));
  } else if (!d.has("b32")) {
    return d.error("needs .b32");
  }
  d.inst.space = Space::Tmem;
  size_t operands = 2u + isSplit + reduces, at = reduces ? 2 : 1;
  return d.expectOperands(operands, operands) &&
         TensorOperand::takeInto(d, at, 1) &&
         (!isSplit || takeSplit(d, at + 1)) &&
         takeRegisters(d, 0, count, true,
                       reduces ? d.elements(d.operand(1)).front() : nullptr) &&
         d.emit(execLoad, Class::Load);
}

bool tile::sim::decodeTcgen05Store(FunctionDecoder &d) {
  unsigned count;
  if (!takeForm(d, count))
    return false;
  d.inst.mod[1] = d.has("unpack::16b");
  bool isSplit = d.inst.mod[0] == S16x32bx2;
  if (!d.has("b32"))
    return d.error("needs .b32");
  size_t operands = 2u + isSplit;
  return d.expectOperands(operands, operands) &&
         TensorOperand::takeInto(d, 0, 1) && (!isSplit || takeSplit(d, 1)) &&
         takeRegisters(d, operands - 1, count, false) &&
         d.emit(execStore, Class::Store);
}

bool tile::sim::decodeTcgen05Wait(FunctionDecoder &d, bool stores) {
  if (!d.has("sync") || !d.has("aligned"))
    return d.error("needs .sync.aligned");
  d.inst.mod[0] = stores;
  return d.expectOperands(0, 0) && d.emit(execWait, Class::Barrier);
}
