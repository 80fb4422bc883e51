//===-- WatchedBuffers.cpp - Which parts of buffers are watched -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "WatchedBuffers.h"

#include "tile/Analysis/Allocation.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::instrument;
using namespace mlir::triton::gpu;

/// More cells cost too much, and a set of them is one word.
static constexpr unsigned kMostCells = 32;

std::string WatchedRoot::getName() const {
  if (auto named = dyn_cast<NameLoc>(LocalAllocOp(alloc).getLoc()))
    return "`" + named.getName().str() + "`";
  return "a buffer";
}

static bool isShared(Value value) {
  auto type = dyn_cast<MemDescType>(value.getType());
  return type && isa_and_nonnull<SharedMemorySpaceAttr>(type.getMemorySpace());
}

/// Calls `f` with each buffer that the kernel makes or hands on.
static void eachBuffer(Operation *kernel, function_ref<void(Value)> f) {
  auto visit = [&](Value value) {
    if (isShared(value))
      f(value);
  };
  kernel->walk([&](Operation *op) {
    llvm::for_each(op->getResults(), visit);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        llvm::for_each(block.getArguments(), visit);
  });
}

WatchedBuffers::WatchedBuffers(Operation *kernel,
                               const llvm::DenseSet<Value> &barriers)
    : aliases(kernel) {
  kernel->walk([&](LocalAllocOp alloc) {
    if (!alloc.isSharedMemoryAlloc())
      return;
    numberOf[alloc.getResult()] = roots.size();
    int64_t bytes = getBufferSize(alloc.getResult());
    roots.push_back({alloc, unsigned(roots.size()), false, bytes, bytes});
  });
  for (Value barrier : barriers)
    for (unsigned root : getRootsOf(barrier))
      roots[root].isBarrier = true;
  eachBuffer(kernel, [&](Value buffer) {
    if (buffer.getDefiningOp<MemDescIndexOp>())
      for (unsigned root : getRootsOf(buffer))
        roots[root].unitBytes =
            std::min(roots[root].unitBytes, getBufferSize(buffer));
  });
  cutUnits(kernel);
  for (WatchedRoot &root : roots) {
    unsigned &next = root.isBarrier ? numBarriers : numUnits;
    root.first = next;
    next += root.getNumUnits() * root.numCells;
  }
}

SmallVector<unsigned> WatchedBuffers::getRootsOf(Value buffer) const {
  SmallVector<unsigned> found;
  for (Value root : aliases.getRoots(buffer))
    if (auto it = numberOf.find(root); it != numberOf.end())
      found.push_back(it->second);
  llvm::sort(found);
  return found;
}

std::optional<WatchedBuffers::Box> WatchedBuffers::getBox(Value buffer) const {
  auto type = cast<MemDescType>(buffer.getType());
  ArrayRef<int64_t> shape = type.getShape();
  Operation *op = buffer.getDefiningOp();
  auto whole = [&] {
    Box box{SmallVector<int64_t>(shape.size(), 0),
            SmallVector<int64_t>(shape),
            {},
            true};
    llvm::append_range(box.order, llvm::seq<unsigned>(shape.size()));
    return box;
  };
  if (!isa_and_nonnull<MemDescSubsliceOp, MemDescTransOp, MemDescReshapeOp,
                       MemDescReinterpretOp, MemDescIndexOp>(op)) {
    // Of what comes through control flow, only the type is known.
    if (type.getAllocShape().take_back(shape.size()) != shape)
      return std::nullopt;
    return whole();
  }
  std::optional<Box> box = getBox(op->getOperand(0));
  if (!box)
    return std::nullopt;
  if (isa<MemDescReshapeOp, MemDescReinterpretOp, MemDescIndexOp>(op))
    return box->isWhole ? std::optional<Box>(whole()) : std::nullopt;
  if (auto trans = dyn_cast<MemDescTransOp>(op)) {
    SmallVector<unsigned> order;
    for (int32_t dim : trans.getOrder())
      order.push_back(box->order[dim]);
    box->order = order;
    return box;
  }
  auto part = cast<MemDescSubsliceOp>(op);
  for (auto [dim, offset] : llvm::enumerate(part.getOffsets())) {
    unsigned of = box->order[dim];
    box->isWhole &= box->sizes[of] == shape[dim];
    box->offsets[of] += offset;
    box->sizes[of] = shape[dim];
  }
  return box;
}

/// The value of which `buffer` is a part in the coordinates of its box.
static Value getUncut(Value buffer) {
  while (Operation *op = buffer.getDefiningOp()) {
    if (!isa<MemDescSubsliceOp, MemDescTransOp>(op))
      break;
    buffer = op->getOperand(0);
  }
  return buffer;
}

void WatchedBuffers::cutUnits(Operation *kernel) {
  cuts.resize(roots.size());
  // Parts of one unit have to have the same coordinates.
  SmallVector<SmallVector<int64_t>> shapes(roots.size());
  eachBuffer(kernel, [&](Value buffer) {
    std::optional<Box> box = getBox(buffer);
    SmallVector<unsigned> in = getRootsOf(buffer);
    if (box && box->isWhole)
      return;
    for (unsigned root : in) {
      Value uncut = getUncut(buffer);
      ArrayRef<int64_t> shape = cast<MemDescType>(uncut.getType()).getShape();
      if (!box || in.size() != 1 ||
          getBufferSize(uncut) != roots[root].unitBytes ||
          (!shapes[root].empty() && ArrayRef(shapes[root]) != shape)) {
        unknown.insert(root);
        continue;
      }
      shapes[root].assign(shape.begin(), shape.end());
      cuts[root].resize(shape.size());
      for (auto [dim, at] : llvm::enumerate(cuts[root]))
        for (int64_t cut :
             {box->offsets[dim], box->offsets[dim] + box->sizes[dim]})
          if (cut > 0 && cut < shape[dim] && !llvm::is_contained(at, cut))
            at.push_back(cut);
    }
  });
  for (auto [root, dims] : llvm::zip_equal(roots, cuts)) {
    uint64_t cells = 1;
    for (SmallVector<int64_t> &at : dims) {
      llvm::sort(at);
      cells *= at.size() + 1;
    }
    if (cells > kMostCells)
      unknown.insert(root.number);
    else
      root.numCells = cells;
  }
}

uint32_t WatchedBuffers::getCells(const WatchedRoot &root,
                                  const Box &box) const {
  uint32_t all = root.numCells == 32 ? ~0u : (1u << root.numCells) - 1;
  if (box.isWhole)
    return all;
  uint32_t cells = 0;
  for (unsigned cell = 0; cell < root.numCells; ++cell) {
    unsigned rest = cell;
    bool isInside = true;
    for (auto [dim, at] : llvm::enumerate(cuts[root.number])) {
      unsigned part = rest % (at.size() + 1);
      rest /= at.size() + 1;
      int64_t begin = part ? at[part - 1] : 0;
      isInside &= begin >= box.offsets[dim] &&
                  begin < box.offsets[dim] + box.sizes[dim];
    }
    cells |= uint32_t(isInside) << cell;
  }
  return cells;
}

std::optional<WatchedView> WatchedBuffers::getView(Value buffer) const {
  SmallVector<unsigned> in = getRootsOf(buffer);
  if (in.empty() || in.back() - in.front() >= 32)
    return std::nullopt;
  std::optional<Box> box = getBox(buffer);
  WatchedView view;
  view.firstRoot = in.front();
  for (unsigned number : in) {
    const WatchedRoot &root = roots[number];
    if (!box || unknown.contains(number) ||
        (in.size() > 1 && root.numCells > 1))
      return std::nullopt;
    view.roots |= 1u << (number - in.front());
    view.cells = getCells(root, *box);
    view.numCells = root.numCells;
  }
  // A part has the cells of one unit.
  view.bytes =
      box->isWhole ? getBufferSize(buffer) : roots[in.front()].unitBytes;
  return view;
}
