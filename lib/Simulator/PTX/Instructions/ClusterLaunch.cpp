//===-- ClusterLaunch.cpp - clusterlaunchcontrol --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A cluster asks for one that has not started, and does its work instead. The
// answer is opaque; here it is the coordinates of the other cluster's first CTA
// and a word that is not zero. With a schedule some requests fail, as they may
// where something else needs the GPU.
//
//===----------------------------------------------------------------------===//
#include "../../Checkers/OrderChecker.h"
#include "../../Launch.h"
#include "../../Schedule.h"
#include "BulkCopy.h"

#include <cstring>

using namespace tile::sim;

namespace {
struct Answer {
  uint32_t ctaid[3] = {0, 0, 0};
  uint32_t isCanceled = 0;
};
static_assert(sizeof(Answer) == 16);

Answer ask(Ctx &c) {
  Answer answer;
  Schedule *schedule = c.cluster->schedule.get();
  if (schedule && schedule->below(8) == 0)
    return answer;
  uint64_t number = takeCluster(*c.launch, *c.worker);
  if (number >= c.launch->clusterCount)
    return answer;
  // It will not run by itself.
  ++c.launch->group->finished;
  std::array<unsigned, 3> id = ctaId(*c.launch, number, 0);
  std::copy(id.begin(), id.end(), answer.ctaid);
  answer.isCanceled = 1;
  return answer;
}

/// op: mbarrier, address of the answer; target: offset of the mbarrier; mod[0]:
/// for all CTAs of the cluster.
Step execTryCancel(Ctx &c, const Inst &inst, uint32_t mask) {
  uint64_t to[Lanes], barrier[Lanes];
  gatherAddresses(c, inst, inst.op[1], inst.imm, to);
  gatherAddresses(c, inst, inst.op[0], int64_t(int32_t(inst.target)), barrier);
  for (; mask; mask &= mask - 1) {
    unsigned l = firstLane(mask);
    if (to[l] & 15)
      return c.fail(inst, l, "misaligned",
                    "the answer of clusterlaunchcontrol.try_cancel needs 16 "
                    "aligned bytes");
    if (c.cluster->sawLastAnswer)
      return c.fail(inst, l, "bad-answer",
                    "the cluster asks again though an answer has said that no "
                    "cluster was canceled");
    std::vector<BulkTarget> targets;
    uint32_t all = (1u << c.cluster->ctas.size()) - 1;
    if (!bulkTargets(c, inst, l, to[l], sizeof(Answer), inst.mod[0], all,
                     barrier[l], targets))
      return Step::Error;
    bulkIssued(c, inst, l, targets, sizeof(Answer));
    if (!awaitTurn(c))
      return Step::Error;
    Answer answer = ask(c);
    auto arrive = [=, &inst, targets = std::move(targets)](Ctx &c) {
      for (const BulkTarget &t : targets)
        std::memcpy(t.host, &answer, sizeof answer);
      return bulkArrived(c, inst, l, targets, sizeof answer);
    };
    if (!completeAsync(c, AsyncKind::Transfer, l, std::move(arrive)))
      return Step::Error;
  }
  return Step::Next;
}

Answer answerOf(const Ctx &c, const Inst &inst, unsigned lane) {
  const uint64_t *words = c.src<uint64_t>(inst.op[4]);
  uint64_t both[2] = {words[lane], words[Lanes + lane]};
  Answer answer;
  std::memcpy(&answer, both, sizeof answer);
  return answer;
}

Step execIsCanceled(Ctx &c, const Inst &inst, uint32_t mask) {
  uint32_t bits = 0;
  for (uint32_t m = mask; m; m &= m - 1) {
    bool isCanceled = answerOf(c, inst, firstLane(m)).isCanceled != 0;
    bits |= uint32_t(isCanceled) << firstLane(m);
    c.cluster->sawLastAnswer |= !isCanceled;
  }
  c.setPred(inst.op[0], bits, mask);
  return Step::Next;
}

/// op: x, y, z, NoSlot for what is not wanted.
Step execFirstCta(Ctx &c, const Inst &inst, uint32_t mask) {
  for (; mask; mask &= mask - 1) {
    unsigned l = firstLane(mask);
    Answer answer = answerOf(c, inst, l);
    if (!answer.isCanceled)
      return c.fail(inst, l, "bad-answer",
                    "the answer says that no cluster was canceled: it names "
                    "none");
    for (unsigned i = 0; i < 3; ++i)
      if (inst.op[i] != NoSlot)
        c.dst<uint32_t>(inst.op[i])[l] = answer.ctaid[i];
  }
  return Step::Next;
}

bool decodeTryCancel(FunctionDecoder &d) {
  bool async = d.has("async");
  d.has("shared::cta");
  if (!async || !d.has("mbarrier::complete_tx::bytes") || !d.has("b128"))
    return d.error("needs .async, .mbarrier::complete_tx::bytes and .b128");
  d.inst.mod[0] = d.has("multicast::cluster::all");
  Space space = Space::Shared;
  if (!d.expectOperands(2, 2) || !d.address(d.operand(1), 0, space))
    return false;
  d.inst.target = uint32_t(d.inst.imm);
  return d.address(d.operand(0), 1, space) &&
         d.emit(execTryCancel, Class::Async);
}

bool decodeFirstCta(FunctionDecoder &d) {
  bool isVector = d.has("v4");
  int index = d.hasOneOf({"get_first_ctaid::x", "get_first_ctaid::y",
                          "get_first_ctaid::z", "get_first_ctaid"});
  if (index < 0 || isVector != (index == 3) || !d.has("b32") || !d.has("b128"))
    return d.error("needs ::x, ::y, ::z or .v4, and .b32.b128");
  if (!d.expectOperands(2, 2) || !d.src(1, Type::B128, 4))
    return false;
  auto results = d.elements(d.operand(0));
  if (results.size() != (isVector ? 4u : 1u))
    return d.errorAt(d.operand(0), "wrong number of registers");
  for (unsigned i = 0; i < (isVector ? 3u : 1u); ++i)
    if (!d.isSink(*results[i]) &&
        !d.dst(*results[i], Type::B32, d.inst.op[isVector ? i : index]))
      return false;
  return d.emit(execFirstCta, Class::Move);
}

} // namespace

bool tile::sim::decodeClusterLaunch(FunctionDecoder &d) {
  if (d.has("try_cancel"))
    return decodeTryCancel(d);
  if (!d.has("query_cancel"))
    return d.error("unknown operation of clusterlaunchcontrol");
  if (!d.has("is_canceled"))
    return decodeFirstCta(d);
  if (!d.has("pred") || !d.has("b128"))
    return d.error("needs .pred.b128");
  return d.expectOperands(2, 2) && d.src(1, Type::B128, 4) &&
         d.dst(0, Type::Pred, 0) && d.emit(execIsCanceled, Class::Move);
}
