//===-- Machine.h - Executes a module as its semantics say ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs one program of the grid after another. The operations of a program run
// one at a time, on whole tensors. What is asynchronous happens as late as the
// waits allow, and what it writes is undefined until then: whoever reads it
// before its wait computes something undefined.
//
// A region that runs beside others (a partition of `ttg.warp_specialize`) is a
// thread here. Each thread runs until it has to wait for another one.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_TEST_LIB_REFERENCE_MACHINE_H
#define TILE_TEST_LIB_REFERENCE_MACHINE_H

#include "Memory.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"

#include <deque>
#include <functional>
#include <map>

namespace mlir::triton::reference {

class Machine;
class Thread;

/// What comes after an operation.
enum class Step {
  Next,
  /// The operation again, once others have run.
  Wait,
  /// Whatever the control flow says, which the operation has changed.
  Jump,
  Stop
};

using Handler = Step (*)(Thread &thread, Operation *op);
using Handlers = llvm::StringMap<Handler>;

/// How an execution ended.
struct Outcome {
  enum Kind {
    Finished,
    /// Something that no program may do.
    Fault,
    /// An operation with effects that the executor does not know.
    Unknown,
    /// Too long for this.
    Limit
  } kind = Finished;
  std::string message;
  Operation *op = nullptr;
};

/// How an asynchronous copy to shared memory ends: it writes there.
struct AsyncCopy {
  std::shared_ptr<View> destination;
  /// What it read when it was started; reads again what it reads.
  Tensor values;
  std::function<Tensor()> readAgain;
  bool isDone = false;

  void finish();
};

/// A copy from shared to global memory that is under way.
struct AsyncStore {
  std::shared_ptr<View> source;
  /// What it found in its source.
  Tensor values;
  std::function<void(const Tensor &)> write;
  bool hasRead = false;

  /// It reads its source at any time before this.
  void finishReading();
  /// It writes at any time before this.
  void finish();
};

/// A dot that is still computed; a value of the type of its result.
struct Product : Object {
  /// What it comes to, if nobody writes to its operands before it is done.
  std::shared_ptr<const Tensor> result;
  SmallVector<std::pair<std::shared_ptr<View>, Tensor>, 2> sources;
  /// The one whose result it adds to.
  std::shared_ptr<Product> before;
  unsigned number = 0;
  bool isDone = false, isWrong = false;
  /// The value that a loop carries in whose registers it is computed.
  Value home;

  void finish();
  std::shared_ptr<const Tensor> getResult() const;
};

struct Frame {
  Block *block;
  Block::iterator next;
  /// Whose region this is; of a function: the call, or null.
  Operation *owner;
  // Of a counting loop.
  __int128 counter = 0, end = 0, step = 0;
};

class Thread {
public:
  Thread(Machine &machine, Thread *starter)
      : machine(machine), starter(starter) {}

  Machine &machine;
  /// The one that waits for the end of this one.
  Thread *starter;
  SmallVector<Frame> frames;
  llvm::DenseMap<Value, Val> values;
  /// What the frame at the bottom hands on when it ends.
  SmallVector<Val> results;
  /// What is done by somebody else: `Step::Wait` says so again and again.
  unsigned numRunning = 0; // Of those that this one has started.

  /// Copies that no group has, and groups of copies, the last one at the end.
  SmallVector<std::shared_ptr<AsyncCopy>> newCopies;
  std::deque<SmallVector<std::shared_ptr<AsyncCopy>>> groups;
  std::deque<AsyncStore> stores;
  unsigned numProducts = 0;
  std::deque<std::shared_ptr<Product>> products;

  Val val(Value value);
  const Tensor &tensor(Value value) {
    val(value);
    return *values[value].tensor;
  }
  template <typename T> std::shared_ptr<T> object(Value value) {
    return std::static_pointer_cast<T>(val(value).object);
  }
  void set(Value value, Tensor tensor) {
    values[value] = {std::make_shared<const Tensor>(std::move(tensor)), {}};
  }
  void set(Value value, std::shared_ptr<Object> object) {
    values[value] = {nullptr, std::move(object)};
  }
  void set(Value value, Val val) { values[value] = std::move(val); }

  /// The number in a scalar, if it is defined.
  std::optional<uint64_t> scalar(Value value);
  /// The same as a signed number.
  std::optional<int64_t> integer(Value value);
  /// A predicate that need not be there. Undefined: a fault.
  std::optional<bool> predicate(Value value);

  Step fault(Operation *op, const Twine &message);
  /// For what operations that are known do where nobody has said how.
  Step unknown(Operation *op, const Twine &message);

  /// Enters a region with values for its arguments. The operation that does it
  /// is over when the region is.
  void enter(Operation *owner, Block *block, ArrayRef<Val> arguments);
  /// Runs a region that computes on numbers, or on tensors of them.
  std::optional<SmallVector<Val>> evaluate(Region &region,
                                           ArrayRef<Val> arguments);
  /// Runs until the end, or until there is something to wait for. Says whether
  /// it got anywhere.
  bool run();
  bool isFinished() const { return frames.empty(); }
};

struct Limits {
  uint64_t operations = 500'000;
  /// Elements that operations compute.
  uint64_t elements = 50'000'000;
  /// After so many elements, no program of the grid is begun any more.
  uint64_t enough = 5'000'000;
  /// How many programs of the grid are run, at most.
  uint64_t programs = ~uint64_t(0);
};

class Machine {
public:
  Machine(ModuleOp module, DeviceMemory &memory)
      : module(module), memory(memory) {}

  ModuleOp module;
  DeviceMemory &memory;
  Outcome outcome;
  std::array<uint32_t, 3> program{}, grid{1, 1, 1};
  Limits limits;
  /// Who runs first, as far as it gets: partitions, or those that started them.
  bool startersFirst = false;
  bool hasPartitions = false;

  /// Operations that were skipped, by name.
  llvm::MapVector<StringRef, unsigned> skipped;
  uint64_t numOperations = 0, numElements = 0, numPrograms = 0;
  /// Whether functions of others were computed as something else.
  bool hasStandIns = false;

  /// An mbarrier.
  struct Barrier {
    /// What arrives later: when these copies are done.
    struct Arrival {
      SmallVector<std::shared_ptr<AsyncCopy>> copies;
      int64_t bytes, arrivals;
    };
    std::shared_ptr<Buffer> buffer;
    int64_t count = 0, pending = 0, bytes = 0;
    unsigned phase = 0;
    std::deque<Arrival> waiting;

    void arrive(int64_t arrivals, int64_t newBytes);
    /// Whether the phase of this parity has ended.
    bool isComplete(unsigned parity);
  };
  /// By buffer and offset.
  std::map<std::pair<Buffer *, int64_t>, Barrier> barriers;
  /// What tensor maps in memory say, by address.
  std::map<uint64_t, std::shared_ptr<Object>> tensorMaps;
  std::deque<std::unique_ptr<Thread>> threads;

  /// Null if there is none.
  FunctionOpInterface findKernel();
  /// Runs all programs of the grid.
  void run(FunctionOpInterface kernel, ArrayRef<Val> arguments);
  /// Null, and a fault, if there is none.
  Barrier *findBarrier(Thread &thread, Operation *op, Value value);
  void stop(Outcome::Kind kind, Operation *op, const Twine &message);
  bool isStopped() const { return outcome.kind != Outcome::Finished; }
  Handler lookup(Operation *op);

private:
  void runProgram(FunctionOpInterface kernel, ArrayRef<Val> arguments);
  llvm::DenseMap<OperationName, Handler> handlers;
};

// The families of operations, each in a file of its own.
void registerControlFlow(Handlers &handlers);
void registerIntegers(Handlers &handlers);
void registerFloats(Handlers &handlers);
void registerShapes(Handlers &handlers);
void registerCollectives(Handlers &handlers);
void registerGlobalAccesses(Handlers &handlers);
void registerDescriptors(Handlers &handlers);
void registerSharedMemory(Handlers &handlers);
void registerProducts(Handlers &handlers);
void registerAsyncCopies(Handlers &handlers);
void registerTensorCopies(Handlers &handlers);
void registerBarriers(Handlers &handlers);

/// Does nothing: what orders or steers, and computes nothing.
Step doNothing(Thread &thread, Operation *op);
/// Hands the operand on.
Step handOn(Thread &thread, Operation *op);

} // namespace mlir::triton::reference

#endif // TILE_TEST_LIB_REFERENCE_MACHINE_H
