//===-- Validate.cpp - The same results after each pass -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Validate.h"
#include "Descriptors.h"
#include "Floats.h"

#include "tile/Dialect/TritonNvidiaGPU/IR/TensorMap.h"
#include "tile/Pipeline/VerifyChanges.h"

#include "mlir/Pass/Pass.h"

#include <cmath>
#include <cstring>

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::reference;

//===----------------------------------------------------------------------===//
// Execution
//===----------------------------------------------------------------------===//

namespace {
/// Gives the kernel, as it is now, what a launch passes: passes take
/// descriptors apart, and add tensor maps.
class Arguments {
public:
  Arguments(FunctionOpInterface kernel, const Launch &launch, Machine &machine)
      : kernel(kernel), numbers(launch.arguments), machine(machine) {}

  /// Nothing if the kernel takes something else.
  std::optional<SmallVector<Val>> get() {
    SmallVector<Val> values;
    for (BlockArgument argument : kernel.getArguments()) {
      Type type = argument.getType();
      if (isTensorMap(argument)) {
        values.push_back({}); // Made of the others, below.
      } else if (auto desc = dyn_cast<TensorDescType>(type)) {
        unsigned count = 2 + 2 * desc.getBlockType().getRank();
        if (numbers.size() < count)
          return std::nullopt;
        values.push_back({nullptr, makeDescriptor(numbers.take_front(count))});
        numbers = numbers.drop_front(count);
      } else {
        if (numbers.empty())
          return std::nullopt;
        uint64_t bits = numbers.front() & maskOf(getElementBits(type));
        numbers = numbers.drop_front();
        values.push_back(
            {std::make_shared<const Tensor>(Tensor::scalar(bits)), nullptr});
      }
    }
    if (!numbers.empty())
      return std::nullopt;
    for (BlockArgument argument : kernel.getArguments())
      if (isTensorMap(argument) && !addTensorMap(argument, values))
        return std::nullopt;
    return values;
  }

private:
  bool isTensorMap(BlockArgument argument) {
    return bool(kernel.getArgAttr(argument.getArgNumber(),
                                  nvidia_gpu::kTensorMapAttrName));
  }

  /// Base, shape, strides, and whether elements out of bounds are NaNs.
  static std::shared_ptr<Descriptor> makeDescriptor(ArrayRef<uint64_t> parts) {
    auto descriptor = std::make_shared<Descriptor>();
    unsigned rank = (parts.size() - 2) / 2;
    descriptor->base = parts[0];
    for (uint64_t size : parts.slice(1, rank))
      descriptor->shape.push_back(int32_t(size));
    for (uint64_t stride : parts.slice(1 + rank, rank))
      descriptor->strides.push_back(int64_t(stride));
    descriptor->padsWithNan = parts.back() & 1;
    return descriptor;
  }

  /// The parts of a map that the launch computes of other arguments.
  SmallVector<uint64_t> computeParts(DictionaryAttr facts,
                                     ArrayRef<Val> values) {
    auto getInput = [&](int64_t number) -> uint64_t {
      for (BlockArgument argument : kernel.getArguments()) {
        auto input = kernel.getArgAttrOfType<IntegerAttr>(
            argument.getArgNumber(), nvidia_gpu::kTensorMapInputAttrName);
        if (input && input.getInt() == number)
          return values[argument.getArgNumber()].tensor->bits[0];
      }
      return 0;
    };
    SmallVector<std::array<int64_t, 3>> code;
    for (ArrayRef<int64_t> rest = facts.getAs<DenseI64ArrayAttr>("code");
         !rest.empty(); rest = rest.drop_front(3))
      code.push_back({rest[0], rest[1], rest[2]});
    SmallVector<int64_t> known;
    tile::rules::runLaunchSteps(code, known, getInput);
    SmallVector<uint64_t> parts;
    for (int32_t step : facts.getAs<DenseI32ArrayAttr>("parts").asArrayRef())
      parts.push_back(known[step]);
    parts.push_back(0); // Elements out of bounds are zeros.
    return parts;
  }

  /// The map that the host makes of a base and the arguments behind it, or of
  /// what it computes.
  bool addTensorMap(BlockArgument argument, SmallVectorImpl<Val> &values) {
    BlockArgument base = nvidia_gpu::getTensorMapBase(argument);
    auto facts = kernel.getArgAttrOfType<DictionaryAttr>(
        argument.getArgNumber(), nvidia_gpu::kTensorMapAttrName);
    auto box = facts.getAs<DenseI32ArrayAttr>("box");
    if (!base || !box)
      return false;
    SmallVector<uint64_t> parts;
    if (facts.contains("code"))
      parts = computeParts(facts, values);
    else
      for (const Val &part :
           ArrayRef<Val>(values).slice(base.getArgNumber(), 2 + 2 * box.size()))
        parts.push_back(part.tensor->bits[0]);
    auto map = makeDescriptor(parts);
    Val &value = values[argument.getArgNumber()];
    if (isa<TensorDescType>(argument.getType())) {
      value = {nullptr, map};
      return true;
    }
    // Of a map in memory nobody but the copy engine knows how it looks.
    uint64_t address = 0x600000000000 + 128 * argument.getArgNumber();
    machine.tensorMaps[address] = map;
    value = {std::make_shared<const Tensor>(Tensor::scalar(address)), nullptr};
    return true;
  }

  FunctionOpInterface kernel;
  ArrayRef<uint64_t> numbers;
  Machine &machine;
};
} // namespace

Execution mlir::triton::reference::execute(ModuleOp module,
                                           const Launch &launch,
                                           bool startersFirst) {
  Execution execution;
  execution.memory = launch.memory;
  Machine machine(module, execution.memory);
  machine.grid = launch.grid;
  machine.limits = launch.limits;
  machine.startersFirst = startersFirst;
  if (FunctionOpInterface kernel = machine.findKernel()) {
    if (auto arguments = Arguments(kernel, launch, machine).get())
      machine.run(kernel, *arguments);
    else
      machine.stop(Outcome::Unknown, kernel, "other arguments than were given");
  } else {
    machine.stop(Outcome::Unknown, module, "there is no kernel");
  }
  execution.outcome = machine.outcome;
  if (Operation *op = machine.outcome.op) {
    llvm::raw_string_ostream os(execution.place);
    os << op->getName() << " at " << op->getLoc();
  }
  execution.skipped = machine.skipped;
  execution.numOperations = machine.numOperations;
  execution.numPrograms = machine.numPrograms;
  execution.hasStandIns = machine.hasStandIns;
  execution.hasPartitions = machine.hasPartitions;
  return execution;
}

//===----------------------------------------------------------------------===//
// Comparison
//===----------------------------------------------------------------------===//

static bool mayStandFor(const Output &output, uint64_t a, uint64_t b) {
  if (a == b)
    return true;
  const FloatFormat *format = FloatFormat::get(output.element);
  if (!format)
    return false;
  double x = format->decode(a), y = format->decode(b);
  return x == y || (std::isnan(x) && std::isnan(y)) ||
         std::fabs(x - y) <= output.tolerance;
}

static void print(llvm::raw_ostream &os, const Output &output, uint64_t bits) {
  if (const FloatFormat *format = FloatFormat::get(output.element))
    os << format->decode(bits);
  else
    os << signExtend(bits, getElementBits(output.element));
}

/// In what an output differs.
static std::string compareOutput(const Output &output, const Bytes &first,
                                 const Bytes &second, size_t offset) {
  std::string text;
  llvm::raw_string_ostream os(text);
  unsigned size = getElementBytes(output.element);
  unsigned count = 0;
  for (uint64_t i = 0; i < output.size / size; ++i) {
    size_t at = offset + i * size;
    bool isDefined = true, isDefinedNow = true;
    uint64_t expected = first.read(at, size, isDefined),
             found = second.read(at, size, isDefinedNow);
    if (!isDefined || (isDefinedNow && mayStandFor(output, expected, found)) ||
        count++ >= 4)
      continue;
    os << (count > 1 ? ", [" : ": [") << i << "] ";
    if (isDefinedNow)
      print(os, output, found);
    else
      os << "undefined";
    os << " (expected ";
    print(os, output, expected);
    os << ")";
  }
  if (!count)
    return "";
  return output.name + " differs in " + std::to_string(count) + " of " +
         std::to_string(output.size / size) + " elements" + text;
}

std::string mlir::triton::reference::compare(const Execution &first,
                                             const Execution &second,
                                             const Launch &launch) {
  if (second.outcome.kind == Outcome::Fault)
    return second.outcome.message + " (" + second.place + ")";
  for (size_t r = 0; r < launch.memory.regions.size(); ++r) {
    // Regions of the arguments alone: those of scratch memory are others.
    const DeviceMemory::Region &region = launch.memory.regions[r];
    auto find = [&](const Execution &execution) -> const Bytes & {
      for (const DeviceMemory::Region &other : execution.memory.regions)
        if (other.address == region.address)
          return other.bytes;
      llvm_unreachable("an execution keeps the arguments");
    };
    const Bytes &a = find(first), &b = find(second);
    if (a.data == b.data && a.shadow == b.shadow)
      continue;
    std::vector<uint8_t> isOutput(a.data.size());
    for (const Output &output : launch.outputs) {
      if (output.address < region.address ||
          output.address + output.size > region.address + a.data.size())
        continue;
      size_t offset = output.address - region.address;
      std::memset(isOutput.data() + offset, 1, output.size);
      if (std::string text = compareOutput(output, a, b, offset); !text.empty())
        return text;
    }
    for (size_t i = 0; i < a.data.size(); ++i)
      if (!isOutput[i] && a.shadow[i] == Defined &&
          (b.shadow[i] != Defined || a.data[i] != b.data[i]))
        return "memory differs that is no output";
  }
  return "";
}

uint64_t mlir::triton::reference::countUndefined(const Execution &execution,
                                                 const Output &output) {
  uint64_t count = 0;
  for (const DeviceMemory::Region &region : execution.memory.regions)
    if (output.address >= region.address &&
        output.address + output.size <=
            region.address + region.bytes.data.size()) {
      unsigned size = getElementBytes(output.element);
      for (uint64_t i = 0; i < output.size / size; ++i) {
        bool isDefined = true;
        region.bytes.read(output.address - region.address + i * size, size,
                          isDefined);
        count += !isDefined;
      }
    }
  return count;
}

//===----------------------------------------------------------------------===//
// Passes
//===----------------------------------------------------------------------===//

Validator::Validator(ModuleOp module, const Launch &launch)
    : first(execute(module, launch)), launch(launch),
      known(fingerprint(module)) {
  note(first);
  this->launch.limits.programs = first.numPrograms;
  this->launch.limits.enough = ~uint64_t(0);
}

void Validator::note(const Execution &execution) {
  numOperations += execution.numOperations;
  for (auto [name, count] : execution.skipped)
    skipped[name] += count;
  hasStandIns |= execution.hasStandIns;
  if (execution.isWhole())
    return;
  ++numPartial;
  why = execution.outcome.message;
  if (!execution.skipped.empty())
    why = ("skipped " + execution.skipped.front().first).str();
  if (!execution.place.empty())
    why += " (" + execution.place + ")";
}

std::string Validator::findDifference(ModuleOp module, bool startersFirst) {
  Execution execution = execute(module, launch, startersFirst);
  note(execution);
  if (execution.outcome.kind == Outcome::Unknown ||
      execution.outcome.kind == Outcome::Limit)
    return "";
  // A fault may follow from what was skipped.
  if (execution.outcome.kind == Outcome::Fault && !execution.skipped.empty())
    return "";
  std::string found = compare(first, execution, launch);
  if (found.empty() && execution.hasPartitions && !startersFirst)
    return findDifference(module, /*startersFirst=*/true);
  return found;
}

void Validator::runAfterPass(Pass *pass, Operation *op) {
  if (first.outcome.kind != Outcome::Finished)
    return;
  auto module = dyn_cast<ModuleOp>(op);
  if (!module)
    module = op->getParentOfType<ModuleOp>();
  uint64_t now = fingerprint(module);
  if (now == known)
    return;
  known = now;
  ++numVersions;
  std::string name = pass->getArgument().str();
  passes.push_back(name);
  std::string found = findDifference(module, /*startersFirst=*/false);
  if (found.empty() && !guilty.empty()) {
    // What a pass mends before anything is made of it harms nobody.
    mended.push_back(guilty + ": " + difference);
    guilty.clear();
    difference.clear();
  } else if (!found.empty() && guilty.empty()) {
    guilty = name;
    difference = found;
  }
}
