//===-- layout_inference.cpp - What becomes of layouts --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rules by which operations hand on layouts, and what accesses cost, for
// the front end of programs that say their layouts.
//===----------------------------------------------------------------------===//

#include "Bindings.h"
#include "Diagnostics.h"
#include "Handles.h"

#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/LinearLayoutConversions.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/TensorMemoryLayout.h"
#include "tile/Layout/LayoutConversion.h"
#include "tile/Layout/SharedMemory.h"
#include "llvm/ADT/StringSwitch.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <map>
#include <set>

namespace nb = nanobind;
using namespace nb::literals;
using namespace mlir;
using namespace mlir::triton;

namespace tile::python {

/// The layout of what an operation makes of a tensor of this layout and shape.
/// `argument` is the order of "trans", the shape of "reshape" and the axis of
/// "fp4_to_fp".
static PyAttribute infer(std::string_view kind, const PyAttribute &layout,
                         const std::vector<int64_t> &shape,
                         const std::vector<int64_t> &argument) {
  MLIRContext *context = layout.context.get();
  DiagnosticCollector diagnostics(context);
  Location loc = UnknownLoc::get(context);
  const DialectInferLayoutInterface *rules =
      getInferLayoutInterface(layout.attr, loc);
  if (!rules)
    diagnostics.raise("the attribute is no layout");
  FailureOr<Attribute> result = failure();
  if (kind == "trans") {
    SmallVector<int32_t> order(argument.begin(), argument.end());
    result = rules->inferTransLayout(layout.attr, shape, order, loc);
  } else if (kind == "reshape") {
    result = rules->inferReshapeLayout(layout.attr, shape, argument, loc);
  } else if (kind == "join") {
    result = rules->inferJoinLayout(layout.attr, shape, loc);
  } else if (kind == "split") {
    result = rules->inferSplitLayout(layout.attr, shape, loc);
  } else if (kind == "fp4_to_fp") {
    auto type =
        RankedTensorType::get(shape, IntegerType::get(context, 8), layout.attr);
    result = gpu::Fp4ToFpOp::inferResultEncoding(type, argument.front(), loc);
  } else {
    throw nb::value_error("kind is trans, reshape, join, split or fp4_to_fp");
  }
  if (failed(result))
    diagnostics.raise("no layout of the result follows");
  return {*result, layout.context};
}

/// The type of a buffer under another shape.
static PyType reshapeBuffer(const PyType &type,
                            const std::vector<int64_t> &shape) {
  auto buffer = dyn_cast<gpu::MemDescType>(type.type);
  if (!buffer)
    throw nb::value_error("expected a memory descriptor");
  DiagnosticCollector diagnostics(type.context.get());
  FailureOr<gpu::MemDescType> result = gpu::MemDescReshapeOp::inferResultType(
      buffer, shape, UnknownLoc::get(type.context.get()));
  if (failed(result))
    diagnostics.raise("the buffer has no such shape");
  return {*result, type.context};
}

/// The encoding of a tensor, of a buffer, or of a descriptor's blocks.
static nb::object getEncoding(const PyType &type) {
  Attribute encoding;
  if (auto tensor = dyn_cast<RankedTensorType>(type.type))
    encoding = tensor.getEncoding();
  else if (auto buffer = dyn_cast<gpu::MemDescType>(type.type))
    encoding = buffer.getEncoding();
  else if (auto desc = dyn_cast<TensorDescType>(type.type))
    encoding = desc.getBlockType().getEncoding();
  if (!encoding)
    return nb::none();
  return nb::cast(PyAttribute{encoding, type.context});
}

using Pads = std::vector<std::vector<int64_t>>;

/// An offset in elements with the gaps before it.
static int64_t addPads(int64_t offset, const Pads &pads) {
  int64_t padded = offset;
  for (const std::vector<int64_t> &pad : pads)
    padded += offset / pad[0] * pad[1];
  return padded;
}

/// How often the banks are accessed by the instruction of the first warp that
/// moves `count` registers from `first` on. Lanes are served as many at a time
/// as fill all banks once.
static unsigned countAccesses(const LinearLayout &offsets, unsigned bits,
                              unsigned first, unsigned count,
                              const Pads &pads) {
  BankGeometry banks;
  unsigned lanes = offsets.getInDimSize(kLane);
  unsigned laneBytes = std::max(1u, count * bits / 8);
  unsigned together =
      std::min(lanes, std::max(1u, lanes * banks.bankBytes /
                                       std::max(laneBytes, banks.bankBytes)));
  unsigned accesses = 0;
  for (unsigned begin = 0; begin < lanes; begin += together) {
    std::map<int64_t, std::set<int64_t>> words;
    for (unsigned lane = begin; lane < begin + together; ++lane) {
      int64_t offset = 0;
      for (auto [dim, value] :
           offsets.apply({{StringRef(kRegister), int32_t(first)},
                          {StringRef(kLane), int32_t(lane)},
                          {StringRef(kWarp), 0},
                          {StringRef(kBlock), 0}}))
        if (dim == StringRef(kOffset))
          offset = value;
      int64_t byte = addPads(offset, pads) * bits / 8;
      for (int64_t at = byte; at < byte + laneBytes; ++at)
        words[at / banks.bankBytes % banks.numBanks].insert(at /
                                                            banks.bankBytes);
    }
    size_t most = 0;
    for (auto &[bank, found] : words)
      most = std::max(most, found.size());
    accesses += most;
  }
  return accesses;
}

/// How many more times than needed the banks of shared memory are accessed for
/// each of the wavefronts of an instruction. It is the worst one with which a
/// warp moves its part of a tensor to or from a buffer. A wide instruction
/// needs several. `pads` are the gaps of the buffer: intervals and paddings.
static unsigned countConflicts(const PyAttribute &distributed,
                               const PyAttribute &shared,
                               const std::vector<int64_t> &shape, unsigned bits,
                               const Pads &pads) {
  LinearLayout registers = gpu::toLinearLayout(shape, distributed.attr);
  LinearLayout buffer = gpu::toLinearLayout(shape, shared.attr);
  // Copies are moved once.
  registers = registers.removeZeroBasesAlongDim(kRegister);
  LinearLayout offsets = getOffsetLayout(registers, buffer);
  int64_t run = int64_t(1) << 30;
  for (const std::vector<int64_t> &pad : pads)
    run = std::min(run, pad.front());
  VectorAccess access = getVectorAccess(offsets, bits, 128, run);
  offsets = access.registers.apply(offsets);
  unsigned count = 1u << access.vecLog2;
  unsigned worst = 0;
  for (int32_t r = 0, e = offsets.getInDimSize(kRegister); r < e; r += count)
    worst = std::max(worst, countAccesses(offsets, bits, r, count, pads));
  unsigned ideal = countIdealWavefronts(offsets, bits, access.vecLog2);
  return worst > ideal ? llvm::divideCeil(worst, ideal) - 1 : 0;
}

using BasesOfDim = std::vector<std::vector<int32_t>>;

/// The bases of registers, lanes, warps and blocks with which so many warps
/// move a buffer in tensor memory. The instructions have the shape that PTX
/// calls `shape`. There are no bases where they cannot move it.
static std::vector<BasesOfDim> getTensorRegisters(const PyType &type,
                                                  unsigned numWarps,
                                                  std::string_view shape,
                                                  bool dividesColumns) {
  auto buffer = dyn_cast<gpu::MemDescType>(type.type);
  auto parsed = nvidia_gpu::parseTensorShape(shape);
  if (!buffer || !parsed)
    throw nb::value_error("expected a memory descriptor, and a shape of "
                          "tcgen05.ld");
  DiagnosticCollector diagnostics(type.context.get());
  Location loc = UnknownLoc::get(type.context.get());
  if (failed(nvidia_gpu::getTensorMemoryFootprint(
          buffer, [&] { return emitError(loc); })))
    diagnostics.raise("the buffer does not fit into tensor memory");
  std::optional<LinearLayout> layout = nvidia_gpu::getTensorMemoryRegisters(
      buffer, numWarps, *parsed, dividesColumns);
  if (!layout)
    return {};
  std::vector<BasesOfDim> result;
  for (auto &[dim, bases] : layout->getBases())
    result.push_back(bases);
  return result;
}

void populateLayoutInference(nb::module_ &m) {
  m.def("infer", &infer, "kind"_a, "layout"_a, "shape"_a, "argument"_a,
        "The layout of what an operation makes of a tensor.");
  m.def("reshape_buffer", &reshapeBuffer, "type"_a, "shape"_a,
        "The type of a memory descriptor under another shape.");
  m.def("encoding", &getEncoding, "type"_a,
        "The encoding of a tensor, of a memory descriptor, or of the blocks "
        "of a tensor descriptor; None if it has none.");
  m.def("bank_conflicts", &countConflicts, "distributed"_a, "shared"_a,
        "shape"_a, "bits"_a, "pads"_a,
        "How many more times than needed an instruction accesses banks.");
  m.def("tensor_registers", &getTensorRegisters, "type"_a, "num_warps"_a,
        "shape"_a, "divides_columns"_a,
        "The bases of the layout in which warps load a buffer in tensor "
        "memory; empty if instructions of this shape cannot.");
}

} // namespace tile::python
