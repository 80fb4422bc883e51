//===-- Tcgen05.cpp - The instructions of tensor memory -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Tcgen05.h"

using namespace tile::sim;

bool TensorOperand::take(FunctionDecoder &d, const ast::Operand &operand) {
  Space space = Space::Tmem;
  constexpr unsigned place = 5;
  if (!d.address(operand, place, space))
    return false;
  slot = d.inst.op[place];
  offset = uint32_t(d.inst.imm);
  d.inst.op[place] = NoSlot;
  d.inst.imm = 0;
  return true;
}

bool TensorOperand::takeInto(FunctionDecoder &d, size_t index, unsigned to) {
  TensorOperand address;
  if (!address.take(d, d.operand(index)))
    return false;
  d.inst.op[to] = address.slot;
  d.inst.target = address.offset;
  return true;
}

unsigned tile::sim::takeCtaGroup(FunctionDecoder &d) {
  int index = d.hasOneOf({"cta_group::1", "cta_group::2"});
  if (index < 0) {
    d.error("needs .cta_group::1 or .cta_group::2");
    return 0;
  }
  uint8_t group = uint8_t(index + 1), &all = d.code.ctaGroup;
  if (all && all != group) {
    d.error("a function must not use both .cta_group::1 and .cta_group::2");
    return 0;
  }
  all = group;
  return group;
}

Cta *tile::sim::pairPeer(Ctx &c, const Inst &inst, unsigned lane) {
  uint32_t rank = c.cta->rank ^ 1;
  if (rank >= c.cluster->ctas.size()) {
    c.fail(inst, lane, "bad-cluster-rank",
           ".cta_group::2 needs a pair of CTAs: CTA rank " +
               std::to_string(c.cta->rank) + " of a cluster of " +
               std::to_string(c.cluster->ctas.size()) + " has no peer");
    return nullptr;
  }
  Cta *peer = c.cluster->ctas[rank].get();
  if (!peer->hasExited())
    return peer;
  c.fail(inst, lane, "exited-cta",
         "the CTA's peer, rank " + std::to_string(rank) +
             " of the cluster, has exited");
  return nullptr;
}

bool tile::sim::ctasOfGroup(Ctx &c, const Inst &inst, unsigned lane,
                            unsigned group, std::vector<Cta *> &out) {
  out = {c.cta};
  if (group == 1)
    return true;
  Cta *peer = pairPeer(c, inst, lane);
  if (!peer)
    return false;
  out.insert(peer->rank < c.cta->rank ? out.begin() : out.end(), peer);
  return true;
}

namespace {
bool decodeTcgen05(FunctionDecoder &d) {
  if (d.has("alloc"))
    return decodeTcgen05Alloc(d);
  if (d.has("dealloc"))
    return decodeTcgen05Dealloc(d);
  if (d.has("relinquish_alloc_permit"))
    return decodeTcgen05Relinquish(d);
  if (d.has("ld"))
    return decodeTcgen05Load(d);
  if (d.has("st"))
    return decodeTcgen05Store(d);
  if (d.has("wait::ld"))
    return decodeTcgen05Wait(d, false);
  if (d.has("wait::st"))
    return decodeTcgen05Wait(d, true);
  if (d.has("fence::before_thread_sync"))
    return decodeTcgen05Fence(d, false);
  if (d.has("fence::after_thread_sync"))
    return decodeTcgen05Fence(d, true);
  if (d.has("commit"))
    return decodeTcgen05Commit(d);
  if (d.has("cp"))
    return decodeTcgen05Copy(d);
  if (d.has("shift"))
    return decodeTcgen05Shift(d);
  if (d.has("mma"))
    return decodeTcgen05Mma(d);
  return d.error("unknown operation of tcgen05");
}
} // namespace

void tile::sim::registerTcgen05(DecodeTable &t) {
  t.insert({{"tcgen05", decodeTcgen05}});
}
