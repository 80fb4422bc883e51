//===-- Tcgen05Alloc.cpp - tcgen05.alloc, .dealloc, .relinquish -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// With .cta_group::2 a warp of each CTA of the pair comes to the instruction.
// The first one leaves a request and waits; the second one does both parts and
// grants the first one's, which then goes on by itself.
//
//===----------------------------------------------------------------------===//
#include "../../Checkers/OrderChecker.h"
#include "../../Memory.h"
#include "../PtxProgram.h"
#include "MatrixTypes.h"
#include "Tcgen05.h"

#include <algorithm>
#include <cstring>

using namespace tile::sim;

namespace {
enum Operation : uint8_t { Alloc, Dealloc, Relinquish };

Step misuse(Ctx &c, const Inst &inst, std::string message) {
  return c.fail(inst, 0, "bad-allocation", std::move(message));
}

/// The number of columns, the same in all lanes; 0 after recording an error.
uint32_t columnsOf(Ctx &c, const Inst &inst) {
  const uint32_t *lanes = c.src<uint32_t>(inst.op[2]);
  if (!std::all_of(lanes, lanes + Lanes,
                   [&](uint32_t n) { return n == lanes[0]; })) {
    misuse(c, inst, "the lanes give different numbers of columns");
    return 0;
  }
  if (lanes[0] >= 32 && lanes[0] <= TensorMemory::columns &&
      std::has_single_bit(lanes[0]))
    return lanes[0];
  misuse(c, inst,
         std::to_string(lanes[0]) +
             " columns: the number must be a power of two from 32 to 512");
  return 0;
}

/// The address of what was allocated goes to shared memory.
bool writeAddress(Ctx &c, const Inst &inst, uint32_t address) {
  uint64_t to[Lanes];
  gatherAddresses(c, inst, inst.op[1], inst.imm, to);
  Cta *owner;
  uint32_t offset;
  if (to[0] & 3) {
    c.fail(inst, 0, "misaligned",
           "the address of tensor memory is stored to 4 aligned bytes");
    return false;
  }
  std::byte *host = sharedRange(c, inst, 0, to[0], 4, "store", owner, offset);
  if (!host)
    return false;
  std::memcpy(host, &address, 4);
  if (c.checker) {
    // The warp is one at this instruction.
    uint32_t live = c.warp->initial & ~c.warp->exited;
    c.checker->warpSync(c, live);
    // That a copy may overwrite it later is nowhere said to need a fence.
    c.checker->sharedBlock(c, inst, 0, *owner, offset, 4, Event::Write,
                           /*isGeneric=*/false);
    c.checker->warpSync(c, live);
  }
  return true;
}

void wakeWaiting(Cta &cta, Wait wait) {
  for (Warp &warp : cta.warps)
    for (Fragment &f : warp.frags)
      if (f.wait == wait)
        f.wait = Wait::Ready;
}

Step block(Ctx &c, Wait wait, uint32_t columns) {
  c.saveFragment();
  Fragment &f = c.warp->frags[c.current];
  f.wait = wait;
  f.waitArg = columns;
  return Step::Block;
}

bool mayAllocate(Ctx &c, const Inst &inst, const TensorMemory &memory,
                 uint32_t size) {
  if (!memory.mayAllocate)
    misuse(c, inst,
           "the CTA has given its permit to allocate away "
           "(tcgen05.relinquish_alloc_permit)");
  else if (size > memory.lastSize)
    misuse(c, inst,
           "an allocation of " + std::to_string(size) +
               " columns after one of " + std::to_string(memory.lastSize) +
               ": a CTA's allocations must not grow");
  else
    return true;
  return false;
}

bool freeBlock(Ctx &c, const Inst &inst, Cta &cta, uint32_t address,
               uint32_t size) {
  TensorMemory &memory = tensorMemory(cta);
  auto it = std::find_if(memory.blocks.begin(), memory.blocks.end(),
                         [&](const TensorMemory::Block &b) {
                           return address == TensorMemory::address(0, b.column);
                         });
  if (it == memory.blocks.end() || it->columns != size) {
    misuse(c, inst,
           it == memory.blocks.end()
               ? "no allocation begins at " +
                     nameTensor(tensorLane(address), tensorColumn(address))
               : "the allocation has " + std::to_string(it->columns) +
                     " columns, not " + std::to_string(size));
    return false;
  }
  if (c.checker && &cta == c.cta)
    c.checker->tensor().warpAccess(
        c, inst,
        {TensorKind::Free, true,
         TensorRegion::of(0, TensorMemory::lanes, it->column, size)});
  memory.blocks.erase(it);
  return true;
}

/// What the instruction does in the running warp's CTA alone. `done` is false
/// if it must wait for columns.
bool perform(Ctx &c, const Inst &inst, uint32_t size, bool &done) {
  TensorMemory &memory = tensorMemory(*c.cta);
  done = true;
  switch (Operation(inst.mod[0])) {
  case Alloc: {
    if (!mayAllocate(c, inst, memory, size))
      return false;
    uint32_t column = memory.findPlace(size);
    if (column == TensorMemory::columns) {
      done = false;
      return true;
    }
    memory.allocate(column, size, c, inst);
    return writeAddress(c, inst, TensorMemory::address(0, column));
  }
  case Dealloc:
    if (!freeBlock(c, inst, *c.cta, c.src<uint32_t>(inst.op[0])[0], size))
      return false;
    wakeWaiting(*c.cta, PtxWait::TensorMemory);
    return true;
  case Relinquish:
    memory.mayAllocate = false;
    return true;
  }
  return true;
}

/// The pair's parts, the other CTA's first half of which waits.
bool performPair(Ctx &c, const Inst &inst, Cta &peer, uint32_t size,
                 bool &done) {
  TensorMemory &own = tensorMemory(*c.cta), &other = tensorMemory(peer);
  if (other.request.inst->mod[0] != inst.mod[0] ||
      other.request.columns != size) {
    misuse(c, inst,
           "the two CTAs of a pair come to different instructions, or with "
           "different numbers of columns");
    return false;
  }
  if (inst.mod[0] == Alloc) {
    if (!mayAllocate(c, inst, own, size) || !mayAllocate(c, inst, other, size))
      return false;
    uint32_t column = own.findPlace(size);
    if (column != other.findPlace(size)) {
      misuse(c, inst, "the two CTAs of a pair have different places free");
      return false;
    }
    if (column == TensorMemory::columns) {
      done = false;
      return true;
    }
    other.allocate(column, size, c, *other.request.inst);
    other.request.address = TensorMemory::address(0, column);
  }
  other.request.isGranted = true;
  wakeWaiting(peer, PtxWait::TensorPair);
  wakeWaiting(peer, PtxWait::TensorMemory);
  return perform(c, inst, size, done);
}

Step execPair(Ctx &c, const Inst &inst, uint32_t size) {
  TensorMemory &own = tensorMemory(*c.cta);
  if (own.request.inst == &inst && own.request.isGranted) {
    uint32_t address = own.request.address;
    own.request = {};
    if (inst.mod[0] == Alloc)
      return writeAddress(c, inst, address) ? Step::Next : Step::Error;
    bool done;
    return perform(c, inst, size, done) ? Step::Next : Step::Error;
  }
  Cta *peer = pairPeer(c, inst, 0);
  if (!peer)
    return Step::Error;
  TensorRequest &theirs = tensorMemory(*peer).request;
  bool meets = theirs.inst && !theirs.isGranted, done = true;
  if (meets && !performPair(c, inst, *peer, size, done))
    return Step::Error;
  if (meets && done) {
    own.request = {};
    return Step::Next;
  }
  own.request = {&inst, size};
  return block(c, meets ? PtxWait::TensorMemory : PtxWait::TensorPair, size);
}

/// op: address in tensor memory, address in shared memory, columns. mod[0]:
/// Operation; mod[1]: CTAs.
Step execTensorAlloc(Ctx &c, const Inst &inst, uint32_t mask) {
  if (Step s = needWarp(c, inst, mask); s != Step::Next)
    return s;
  uint32_t size = 0;
  if (inst.mod[0] != Relinquish && !(size = columnsOf(c, inst)))
    return Step::Error;
  ++c.cluster->progress;
  if (inst.mod[1] == 2)
    return execPair(c, inst, size);
  bool done;
  if (!perform(c, inst, size, done))
    return Step::Error;
  return done ? Step::Next : block(c, PtxWait::TensorMemory, size);
}

bool takeColumns(FunctionDecoder &d, size_t index) {
  if (const ast::Operand &o = d.operand(index);
      o.kind == ast::Operand::Kind::Int) {
    std::string number = "value '" + std::to_string(o.imm) + "'";
    if (o.imm % 32 != 0)
      return d.errorAt(o, number + " must be a multiple of 32");
    if (o.imm < 32 || o.imm > TensorMemory::columns)
      return d.errorAt(o, number + " is out of the range from 32 to 512");
    if (!std::has_single_bit(uint64_t(o.imm)))
      return d.errorAt(o, number + " must be a power of two");
  }
  return d.src(index, Type::B32, 2);
}

bool begin(FunctionDecoder &d, Operation operation, size_t operands) {
  unsigned group = takeCtaGroup(d);
  if (!group)
    return false;
  d.inst.mod[0] = operation;
  d.inst.mod[1] = uint8_t(group);
  if (!d.has("sync") || !d.has("aligned"))
    return d.error("needs .sync.aligned");
  return d.expectOperands(operands, operands);
}
} // namespace

bool tile::sim::decodeTcgen05Alloc(FunctionDecoder &d) {
  if (!begin(d, Alloc, 2))
    return false;
  Space space = d.has("shared::cta") ? Space::Shared : Space::Generic;
  return d.has("b32")
             ? d.address(d.operand(0), 1, space) && takeColumns(d, 1) &&
                   d.emit(execTensorAlloc, Class::Other)
             : d.error("needs .b32");
}

bool tile::sim::decodeTcgen05Dealloc(FunctionDecoder &d) {
  return begin(d, Dealloc, 2) && (d.has("b32") || d.error("needs .b32")) &&
         d.src(0, Type::B32, 0) && takeColumns(d, 1) &&
         d.emit(execTensorAlloc, Class::Other);
}

bool tile::sim::decodeTcgen05Relinquish(FunctionDecoder &d) {
  return begin(d, Relinquish, 0) && d.emit(execTensorAlloc, Class::Other);
}
