//===-- Machine.cpp - Executes a module as its semantics say --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Machine.h"

#include "tile/Dialect/Triton/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/Dialect.h"

#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::reference;

static const Handlers &getHandlers() {
  static const Handlers handlers = [] {
    Handlers all;
    for (auto add :
         {registerControlFlow, registerIntegers, registerFloats, registerShapes,
          registerCollectives, registerGlobalAccesses, registerDescriptors,
          registerSharedMemory, registerProducts, registerAsyncCopies,
          registerTensorCopies, registerBarriers})
      add(all);
    return all;
  }();
  return handlers;
}

Step mlir::triton::reference::doNothing(Thread &, Operation *) {
  return Step::Next;
}

Step mlir::triton::reference::handOn(Thread &thread, Operation *op) {
  thread.set(op->getResult(0), thread.val(op->getOperand(0)));
  return Step::Next;
}

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

/// What values of this type are that nothing is known of.
static Val makeUndefined(Type type) {
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return {
        std::make_shared<const Tensor>(Tensor::allUndefined(tensor.getShape())),
        {}};
  return {std::make_shared<const Tensor>(Tensor::allUndefined({})), {}};
}

Val Thread::val(Value value) {
  // The default region of `ttg.warp_specialize` and all others run in the
  // thread that has their surroundings.
  Val &known = values[value];
  if (!known.tensor && !known.object)
    known = makeUndefined(value.getType());
  return known;
}

std::optional<uint64_t> Thread::scalar(Value value) {
  const Tensor &known = tensor(value);
  if (known.isUndefined(0))
    return std::nullopt;
  return known.bits[0];
}

std::optional<int64_t> Thread::integer(Value value) {
  std::optional<uint64_t> bits = scalar(value);
  if (!bits)
    return std::nullopt;
  return signExtend(*bits, getElementBits(value.getType()));
}

std::optional<bool> Thread::predicate(Value value) {
  if (!value)
    return true;
  std::optional<uint64_t> bits = scalar(value);
  if (!bits)
    return std::nullopt;
  return *bits & 1;
}

Step Thread::fault(Operation *op, const Twine &message) {
  machine.stop(Outcome::Fault, op, message);
  return Step::Stop;
}

Step Thread::unknown(Operation *op, const Twine &message) {
  ++machine.skipped[op->getName().getStringRef()];
  machine.stop(Outcome::Unknown, op, message);
  return Step::Stop;
}

void Thread::enter(Operation *owner, Block *block, ArrayRef<Val> arguments) {
  for (auto [argument, value] : llvm::zip(block->getArguments(), arguments))
    set(argument, value);
  frames.push_back({block, block->begin(), owner});
}

std::optional<SmallVector<Val>> Thread::evaluate(Region &region,
                                                 ArrayRef<Val> arguments) {
  // As a thread of its own, which sees what this one sees.
  Thread nested(machine, nullptr);
  std::swap(nested.values, values);
  nested.enter(region.getParentOp(), &region.front(), arguments);
  while (!nested.isFinished() && !machine.isStopped())
    if (!nested.run())
      break;
  std::swap(nested.values, values);
  if (machine.isStopped())
    return std::nullopt;
  return std::move(nested.results);
}

/// Whether values of a type are objects: views, descriptors, block pointers.
static bool isObject(Type type) {
  if (auto pointer = dyn_cast<PointerType>(type))
    return isa<RankedTensorType>(pointer.getPointeeType());
  return isa<gpu::MemDescType, TensorDescType>(type);
}

/// Whether an operation looks into an object that nobody knows; what only hands
/// values on does not.
static bool usesUnknownObject(Thread &thread, Operation *op) {
  if (!isa<TritonDialect, gpu::TritonGPUDialect,
           nvidia_gpu::TritonNvidiaGPUDialect>(op->getDialect()) ||
      op->getNumRegions() || op->hasTrait<::mlir::OpTrait::IsTerminator>() ||
      isa<CallOp, nvidia_gpu::WarpGroupDotWaitOp>(op))
    return false;
  return llvm::any_of(op->getOperands(), [&](Value value) {
    return isObject(value.getType()) && !thread.val(value).object;
  });
}

/// Skips an operation that is not known: what it computes is undefined, and so
/// is what follows from it.
static Step skip(Thread &thread, Operation *op) {
  Machine &machine = thread.machine;
  ++machine.skipped[op->getName().getStringRef()];
  if (!isMemoryEffectFree(op) || op->getNumRegions() ||
      op->hasTrait<::mlir::OpTrait::IsTerminator>() ||
      llvm::any_of(op->getResultTypes(), isObject)) {
    machine.stop(Outcome::Unknown, op, "an operation that is not known");
    return Step::Stop;
  }
  for (Value result : op->getResults())
    thread.set(result, makeUndefined(result.getType()));
  return Step::Next;
}

bool Thread::run() {
  bool moved = false;
  while (!frames.empty()) {
    Operation *op = &*frames.back().next;
    Handler handler = machine.lookup(op);
    if (usesUnknownObject(*this, op)) {
      fault(op, "an undefined view, descriptor or block pointer");
      return moved;
    }
    Step step = handler ? handler(*this, op) : skip(*this, op);
    if (step == Step::Wait || step == Step::Stop)
      return moved;
    moved = true;
    if (step == Step::Next)
      ++frames.back().next;
    for (Value result : op->getResults())
      if (auto type = dyn_cast<RankedTensorType>(result.getType()))
        machine.numElements += type.getNumElements();
    if (++machine.numOperations > machine.limits.operations ||
        machine.numElements > machine.limits.elements) {
      machine.stop(Outcome::Limit, op, "takes too long");
      return moved;
    }
  }
  return moved;
}

//===----------------------------------------------------------------------===//
// The machine
//===----------------------------------------------------------------------===//

Handler Machine::lookup(Operation *op) {
  auto [place, isNew] = handlers.try_emplace(op->getName(), nullptr);
  if (isNew)
    place->second = getHandlers().lookup(op->getName().getStringRef());
  return place->second;
}

void Machine::stop(Outcome::Kind kind, Operation *op, const Twine &message) {
  if (isStopped())
    return;
  outcome = {kind, message.str(), op};
}

FunctionOpInterface Machine::findKernel() {
  for (auto function : module.getOps<FunctionOpInterface>())
    if (function.isPublic() && !function.isExternal())
      return function;
  return {};
}

void Machine::run(FunctionOpInterface kernel, ArrayRef<Val> arguments) {
  for (uint32_t z = 0; z < grid[2]; ++z)
    for (uint32_t y = 0; y < grid[1]; ++y)
      for (uint32_t x = 0; x < grid[0]; ++x) {
        if (numPrograms == limits.programs || numElements > limits.enough)
          return;
        program = {x, y, z};
        runProgram(kernel, arguments);
        if (isStopped())
          return;
        ++numPrograms;
      }
}

void Machine::runProgram(FunctionOpInterface kernel, ArrayRef<Val> arguments) {
  barriers.clear();
  threads.clear();
  Thread &main =
      *threads.emplace_back(std::make_unique<Thread>(*this, nullptr));
  main.enter(/*owner=*/nullptr, &kernel.getFunctionBody().front(), arguments);
  while (!main.isFinished()) {
    bool moved = false;
    for (size_t n = 0; n < threads.size(); ++n) {
      Thread &thread = *threads[startersFirst ? n : threads.size() - 1 - n];
      if (thread.isFinished())
        continue;
      moved |= thread.run();
      if (isStopped())
        return;
      if (thread.isFinished() && thread.starter)
        --thread.starter->numRunning;
    }
    if (!moved) {
      Operation *op = &*main.frames.back().next;
      std::string where;
      for (auto &thread : threads)
        if (!thread->isFinished())
          where += (where.empty() ? "" : ", ") +
                   thread->frames.back().next->getName().getStringRef().str();
      return stop(Outcome::Fault, op, "all wait for each other: " + where);
    }
  }
  // The end of a kernel waits for its stores.
  for (auto &thread : threads)
    for (AsyncStore &store : thread->stores)
      store.finish();
}
