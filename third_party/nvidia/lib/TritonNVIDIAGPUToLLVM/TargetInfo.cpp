//===-- TargetInfo.cpp - Threads, barriers and exchanges ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Accesses to memory are in TargetInfoMemory.cpp.
//
//===----------------------------------------------------------------------===//

#include "nvidia/TritonNVIDIAGPUToLLVM/TargetInfo.h"

#include "tile/Dialect/TritonNvidiaGPU/IR/TensorMap.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::triton;
namespace nvt = mlir::triton::nvidia;
namespace ttng = mlir::triton::nvidia_gpu;

void nvt::TargetInfo::markKernel(LLVM::LLVMFuncOp function, int threads,
                                 int numCTAs,
                                 std::optional<int> maxRegisters) const {
  Builder builder(function.getContext());
  function->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(),
                    builder.getUnitAttr());
  function->setAttr(NVVM::NVVMDialect::getReqntidAttrName(),
                    builder.getDenseI32ArrayAttr({threads}));
  // Without a limit partitions have nothing to hand around. Else it stops ptxas
  // from weighing registers against resident blocks, and `limit-registers-nv`
  // says where that is better.
  auto module = function->getParentOfType<ModuleOp>();
  int mostRegisters = getModel().getRegistersPerThread(threads);
  if (!maxRegisters && module &&
      module->hasAttr(triton::gpu::kTotalNumWarpsAttrName))
    maxRegisters = mostRegisters;
  // ptxas takes the limit at its word. A block for which there are too few
  // registers cannot be launched: partitions may have made it larger.
  if (maxRegisters)
    maxRegisters = std::min(*maxRegisters, mostRegisters);
  if (maxRegisters)
    function->setAttr(NVVM::NVVMDialect::getMaxnregAttrName(),
                      builder.getI32IntegerAttr(*maxRegisters));
  if (numCTAs > 1)
    function->setAttr(NVVM::NVVMDialect::getClusterDimAttrName(),
                      builder.getDenseI32ArrayAttr({numCTAs, 1, 1}));
  // Tensor maps stay in the memory of parameters, where TMA reads them.
  constexpr int64_t kMapBytes = 128, kMapAlignment = 64;
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    if (!function.getArgAttr(i, ttng::kTensorMapAttrName))
      continue;
    auto map = LLVM::LLVMArrayType::get(builder.getI8Type(), kMapBytes);
    function.setArgAttr(i, LLVM::LLVMDialect::getByValAttrName(),
                        TypeAttr::get(map));
    function.setArgAttr(i, LLVM::LLVMDialect::getAlignAttrName(),
                        builder.getI64IntegerAttr(kMapAlignment));
    function.setArgAttr(i, NVVM::NVVMDialect::getGridConstantAttrName(),
                        builder.getUnitAttr());
  }
}

//===----------------------------------------------------------------------===//
// Position
//===----------------------------------------------------------------------===//

Value nvt::TargetInfo::getThreadId(const LLVMBuilder &b) const {
  return b.create<NVVM::ThreadIdXOp>(b.intTy(32));
}

// Clusters extend along x.

Value nvt::TargetInfo::getProgramId(const LLVMBuilder &b, int axis,
                                    int numCTAs) const {
  Type i32 = b.intTy(32);
  switch (axis) {
  case 0:
    return numCTAs > 1 ? b.create<NVVM::ClusterIdXOp>(i32).getResult()
                       : b.create<NVVM::BlockIdXOp>(i32).getResult();
  case 1:
    return b.create<NVVM::BlockIdYOp>(i32);
  default:
    return b.create<NVVM::BlockIdZOp>(i32);
  }
}

Value nvt::TargetInfo::getNumPrograms(const LLVMBuilder &b, int axis,
                                      int numCTAs) const {
  Type i32 = b.intTy(32);
  switch (axis) {
  case 0:
    return numCTAs > 1 ? b.create<NVVM::ClusterDimXOp>(i32).getResult()
                       : b.create<NVVM::GridDimXOp>(i32).getResult();
  case 1:
    return b.create<NVVM::GridDimYOp>(i32);
  default:
    return b.create<NVVM::GridDimZOp>(i32);
  }
}

Value nvt::TargetInfo::getBlockInCluster(const LLVMBuilder &b) const {
  return b.create<NVVM::ClusterId>(b.intTy(32));
}

//===----------------------------------------------------------------------===//
// Synchronisation
//===----------------------------------------------------------------------===//

void nvt::TargetInfo::barrier(const LLVMBuilder &b,
                              const BarrierParticipants &who) const {
  using Kind = BarrierParticipants::Kind;
  switch (who.kind) {
  case Kind::Warp:
    b.create<NVVM::SyncWarpOp>(b.i32(-1));
    return;
  case Kind::WarpGroup:
    // Barrier 0 is that of the whole block.
    b.create<NVVM::BarrierOp>(TypeRange(), b.i32(who.group + 1),
                              b.i32(who.numWarps * model.getThreadsPerWarp()),
                              NVVM::BarrierReductionAttr(),
                              /*reductionPredicate=*/Value());
    return;
  case Kind::Block:
    b.create<NVVM::Barrier0Op>();
    return;
  case Kind::Cluster: {
    // Arriving releases, waiting acquires.
    UnitAttr aligned = b.getBuilder().getUnitAttr();
    b.create<NVVM::ClusterArriveOp>(aligned);
    b.create<NVVM::ClusterWaitOp>(aligned);
    return;
  }
  }
}

//===----------------------------------------------------------------------===//
// Exchange inside a warp
//===----------------------------------------------------------------------===//

static Value shuffle(const LLVMBuilder &b, Value word, Value offset,
                     int clampAndMask, NVVM::ShflKind kind) {
  return b.create<NVVM::ShflOp>(word.getType(), b.i32(-1), word, offset,
                                b.i32(clampAndMask), kind, UnitAttr());
}

Value nvt::TargetInfo::shuffleXor(const LLVMBuilder &b, Value word,
                                  int laneMask) const {
  return shuffle(b, word, b.i32(laneMask), 0x1f, NVVM::ShflKind::bfly);
}

Value nvt::TargetInfo::shuffleBy(const LLVMBuilder &b, Value word,
                                 int delta) const {
  return delta < 0 ? shuffle(b, word, b.i32(-delta), 0, NVVM::ShflKind::up)
                   : shuffle(b, word, b.i32(delta), 0x1f, NVVM::ShflKind::down);
}

Value nvt::TargetInfo::shuffleMasked(const LLVMBuilder &b, Value word,
                                     uint32_t keep, uint32_t set) const {
  // The bits that name a lane's segment are its own; the others are given.
  int segments = keep & ~set & 0x1f;
  return shuffle(b, word, b.i32(set), segments << 8 | 0x1f,
                 NVVM::ShflKind::idx);
}

Value nvt::TargetInfo::shuffleIdx(const LLVMBuilder &b, Value word,
                                  Value lane) const {
  return shuffle(b, word, lane, 0x1f, NVVM::ShflKind::idx);
}

/// The greatest or the least float of all lanes; null where `combine` is not
/// one of them.
static Value reduceFloats(const LLVMBuilder &b, Operation *combine,
                          Value value) {
  bool isMax = isa<arith::MaximumFOp, arith::MaxNumFOp>(combine);
  bool takesNaN = isa<arith::MaximumFOp, arith::MinimumFOp>(combine);
  if (!isMax && !isa<arith::MinimumFOp, arith::MinNumFOp>(combine))
    return {};
  return b.create<NVVM::ReduxOp>(
      value.getType(), value,
      isMax ? NVVM::ReduxKind::FMAX : NVVM::ReduxKind::FMIN, b.i32(-1),
      /*abs=*/false, /*nan=*/takesNaN);
}

Value nvt::TargetInfo::warpReduce(const LLVMBuilder &b, Operation *combine,
                                  Value value) const {
  if (facts.hasFloatRedux && value.getType().isF32())
    return reduceFloats(b, combine, value);
  if (!facts.hasRedux || !value.getType().isInteger(32))
    return {};
  std::optional<NVVM::ReduxKind> kind =
      llvm::TypeSwitch<Operation *, std::optional<NVVM::ReduxKind>>(combine)
          .Case([](arith::AddIOp) { return NVVM::ReduxKind::ADD; })
          .Case([](arith::AndIOp) { return NVVM::ReduxKind::AND; })
          .Case([](arith::OrIOp) { return NVVM::ReduxKind::OR; })
          .Case([](arith::XOrIOp) { return NVVM::ReduxKind::XOR; })
          .Case([](arith::MaxSIOp) { return NVVM::ReduxKind::MAX; })
          .Case([](arith::MinSIOp) { return NVVM::ReduxKind::MIN; })
          .Case([](arith::MaxUIOp) { return NVVM::ReduxKind::UMAX; })
          .Case([](arith::MinUIOp) { return NVVM::ReduxKind::UMIN; })
          .Default([](Operation *) { return std::nullopt; });
  if (!kind)
    return {};
  return b.create<NVVM::ReduxOp>(value.getType(), value, *kind, b.i32(-1));
}

bool nvt::TargetInfo::isSymmetric(Operation *combine) const {
  // In fp32 there is one NaN that operations result in.
  return combine->getResult(0).getType().isF32() &&
         isa<arith::AddFOp, arith::MulFOp, arith::MaximumFOp, arith::MinimumFOp,
             arith::MaxNumFOp, arith::MinNumFOp>(combine);
}

Value nvt::TargetInfo::addUnfused(const LLVMBuilder &b, Value x,
                                  Value y) const {
  // ptxas takes a stated rounding as it is, too.
  return b.intrinsic(x.getType(), "llvm.nvvm.add.rn.f", {x, y});
}

//===----------------------------------------------------------------------===//
// Debugging
//===----------------------------------------------------------------------===//

/// A private constant string; its address as a generic pointer.
static Value makeString(const LLVMBuilder &b, StringRef text) {
  auto module = b.getBuilder()
                    .getInsertionBlock()
                    ->getParentOp()
                    ->getParentOfType<ModuleOp>();
  std::string bytes = text.str() + '\0';
  StringAttr value = b.getBuilder().getStringAttr(bytes);
  LLVM::GlobalOp global;
  unsigned number = 0;
  for (auto op : module.getOps<LLVM::GlobalOp>()) {
    if (!op.getName().starts_with("tile_string_"))
      continue;
    ++number;
    if (op.getValueAttr() == value)
      global = op;
  }
  if (!global) {
    OpBuilder::InsertionGuard guard(b.getBuilder());
    b.getBuilder().setInsertionPointToStart(module.getBody());
    global = LLVM::GlobalOp::create(
        b.getBuilder(), UnknownLoc::get(b.getContext()),
        LLVM::LLVMArrayType::get(b.intTy(8), bytes.size()),
        /*isConstant=*/true, LLVM::Linkage::Internal,
        "tile_string_" + std::to_string(number), value);
  }
  return b.create<LLVM::AddressOfOp>(b.ptrTy(0), global.getSymName());
}

static LLVM::LLVMFuncOp declare(const LLVMBuilder &b, StringRef name,
                                Type result, ArrayRef<Type> args) {
  auto module = b.getBuilder()
                    .getInsertionBlock()
                    ->getParentOp()
                    ->getParentOfType<ModuleOp>();
  if (auto function = module.lookupSymbol<LLVM::LLVMFuncOp>(name))
    return function;
  OpBuilder::InsertionGuard guard(b.getBuilder());
  b.getBuilder().setInsertionPointToStart(module.getBody());
  return LLVM::LLVMFuncOp::create(b.getBuilder(),
                                  UnknownLoc::get(b.getContext()), name,
                                  LLVM::LLVMFunctionType::get(result, args));
}

void nvt::TargetInfo::printf(const LLVMBuilder &b, StringRef format,
                             ValueRange args) const {
  Type ptr = b.ptrTy(0), i32 = b.intTy(32);
  Value buffer = b.zero(ptr);
  if (!args.empty()) {
    // The arguments as a struct on the stack, which is made at function entry
    // so that loops do not grow the stack.
    auto type = LLVM::LLVMStructType::getLiteral(
        b.getContext(), llvm::to_vector(args.getTypes()));
    {
      OpBuilder::InsertionGuard guard(b.getBuilder());
      auto function = b.getBuilder()
                          .getInsertionBlock()
                          ->getParent()
                          ->getParentOfType<LLVM::LLVMFuncOp>();
      if (!function)
        function = cast<LLVM::LLVMFuncOp>(
            b.getBuilder().getInsertionBlock()->getParentOp());
      b.getBuilder().setInsertionPointToStart(&function.getBody().front());
      buffer = b.create<LLVM::AllocaOp>(ptr, type, b.i32(1), /*alignment=*/8);
    }
    for (auto [i, arg] : llvm::enumerate(args)) {
      Value field = b.create<LLVM::GEPOp>(
          ptr, type, buffer,
          ArrayRef<LLVM::GEPArg>{0, static_cast<int32_t>(i)});
      b.create<LLVM::StoreOp>(arg, field);
    }
  }
  LLVM::LLVMFuncOp vprintf = declare(b, "vprintf", i32, {ptr, ptr});
  b.create<LLVM::CallOp>(vprintf, ValueRange{makeString(b, format), buffer});
}

void nvt::TargetInfo::assertFail(const LLVMBuilder &b, StringRef message,
                                 StringRef file, StringRef function,
                                 int line) const {
  Type ptr = b.ptrTy(0);
  LLVM::LLVMFuncOp fail =
      declare(b, "__assertfail", LLVM::LLVMVoidType::get(b.getContext()),
              {ptr, ptr, b.intTy(32), ptr, b.intTy(64)});
  b.create<LLVM::CallOp>(fail, ValueRange{makeString(b, message),
                                          makeString(b, file), b.i32(line),
                                          makeString(b, function), b.i64(1)});
}
