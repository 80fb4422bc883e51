//===-- SharedMemory.cpp - Buffers and their views ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A buffer is the bytes of its elements in row-major order, wherever its
// encoding has them.
//
//===----------------------------------------------------------------------===//

#include "Machine.h"

#include "tile/Dialect/TritonGPU/IR/Dialect.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;
using namespace mlir::triton::reference;

static std::shared_ptr<View> makeView(std::shared_ptr<Buffer> buffer,
                                      MemDescType type) {
  auto view = std::make_shared<View>();
  view->buffer = std::move(buffer);
  view->shape.assign(type.getShape().begin(), type.getShape().end());
  view->strides = getRowMajorStrides(type.getShape());
  view->elementBits = getElementBits(type.getElementType());
  view->elementBytes = getElementBytes(type.getElementType());
  return view;
}

static Step allocate(Thread &thread, Operation *op) {
  auto alloc = cast<LocalAllocOp>(op);
  MemDescType type = alloc.getType();
  auto buffer = std::make_shared<Buffer>();
  buffer->bytes = Bytes(ShapedType::getNumElements(type.getShape()) *
                            getElementBytes(type.getElementType()),
                        Undefined);
  auto view = makeView(std::move(buffer), type);
  if (alloc.getSrc())
    view->write(thread.tensor(alloc.getSrc()));
  thread.set(alloc.getResult(), view);
  return Step::Next;
}

static Step deallocate(Thread &thread, Operation *op) {
  auto view = thread.object<View>(cast<LocalDeallocOp>(op).getSrc());
  view->buffer->isFreed = true;
  return Step::Next;
}

static Step load(Thread &thread, Operation *op) {
  auto view = thread.object<View>(op->getOperand(0));
  if (!view->isInBounds())
    return thread.fault(op, "a read of a buffer that is not there");
  thread.set(op->getResult(0), view->read());
  return Step::Next;
}

static Step store(Thread &thread, Operation *op) {
  auto access = cast<LocalStoreOp>(op);
  auto view = thread.object<View>(access.getDst());
  if (!view->isInBounds())
    return thread.fault(op, "a write to a buffer that is not there");
  view->write(thread.tensor(access.getSrc()));
  return Step::Next;
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

static std::shared_ptr<View> copyView(Thread &thread, Operation *op) {
  return std::make_shared<View>(*thread.object<View>(op->getOperand(0)));
}

static Step index(Thread &thread, Operation *op) {
  auto view = copyView(thread, op);
  std::optional<int64_t> number =
      thread.integer(cast<MemDescIndexOp>(op).getIndex());
  if (!number)
    return thread.fault(op, "an undefined index");
  // Who computes a view need not use it.
  view->isOutside |= *number < 0 || *number >= view->shape[0];
  view->offset += *number * view->strides[0];
  view->shape.erase(view->shape.begin());
  view->strides.erase(view->strides.begin());
  thread.set(op->getResult(0), view);
  return Step::Next;
}

static Step subslice(Thread &thread, Operation *op) {
  auto slice = cast<MemDescSubsliceOp>(op);
  auto view = copyView(thread, op);
  for (auto [offset, stride] : llvm::zip(slice.getOffsets(), view->strides))
    view->offset += offset * stride;
  ArrayRef<int64_t> shape = slice.getType().getShape();
  view->shape.assign(shape.begin(), shape.end());
  thread.set(op->getResult(0), view);
  return Step::Next;
}

static Step transpose(Thread &thread, Operation *op) {
  auto view = copyView(thread, op);
  View source = *view;
  for (auto [d, from] : llvm::enumerate(cast<MemDescTransOp>(op).getOrder())) {
    view->shape[d] = source.shape[from];
    view->strides[d] = source.strides[from];
  }
  thread.set(op->getResult(0), view);
  return Step::Next;
}

static Step reshape(Thread &thread, Operation *op) {
  auto view = thread.object<View>(op->getOperand(0))
                  ->reshape(cast<MemDescReshapeOp>(op).getType().getShape());
  thread.set(op->getResult(0), view);
  return Step::Next;
}

/// Where the elements of `type` begin that the bytes of a view are read as.
static Step reinterpret(Thread &thread, Operation *op) {
  auto view = thread.object<View>(op->getOperand(0));
  auto type = cast<MemDescReinterpretOp>(op).getType();
  auto source = cast<MemDescType>(op->getOperand(0).getType());
  std::shared_ptr<View> result;
  if (source.getShape() == type.getShape() &&
      getElementBits(source.getElementType()) ==
          getElementBits(type.getElementType())) {
    result = std::make_shared<View>(*view);
  } else {
    if (!view->isContiguous())
      return thread.unknown(op, "bytes that do not lie together");
    result = makeView(view->buffer, type);
    int64_t bytes = view->offset * view->elementBytes;
    if (bytes % result->elementBytes)
      return thread.unknown(op, "bytes that are not aligned");
    result->offset = bytes / result->elementBytes;
  }
  thread.set(op->getResult(0), result);
  return Step::Next;
}

void mlir::triton::reference::registerSharedMemory(Handlers &handlers) {
  handlers["ttg.local_alloc"] = allocate;
  handlers["ttg.local_dealloc"] = deallocate;
  handlers["ttg.local_load"] = load;
  handlers["ttg.local_store"] = store;
  handlers["ttg.memdesc_index"] = index;
  handlers["ttg.memdesc_subslice"] = subslice;
  handlers["ttg.memdesc_trans"] = transpose;
  handlers["ttg.memdesc_reshape"] = reshape;
  handlers["ttg.memdesc_reinterpret"] = reinterpret;
}
