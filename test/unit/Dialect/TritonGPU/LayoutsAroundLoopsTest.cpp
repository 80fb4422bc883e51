//===-- LayoutsAroundLoopsTest.cpp - Layouts that come back to a loop -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A pass that follows layouts around a loop must come to an end. So turn after
// turn through the same operations, a layout must not grow: it comes back to
// one that was there before.
//
//===----------------------------------------------------------------------===//
#include "EncodingTest.h"
#include "tile/Dialect/Triton/IR/Interfaces.h"
#include "llvm/Support/MathExtras.h"
#include <functional>
#include <numeric>
#include <random>

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;

namespace {

using Shape = SmallVector<int64_t>;

int64_t sizeOf(ArrayRef<int64_t> shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t(1),
                         std::multiplies<>());
}

class LayoutsAroundLoopsTest : public EncodingTest {
protected:
  /// One operation: the layout of its result, or a failure.
  using Turn = std::function<FailureOr<Attribute>(Attribute)>;

  unsigned below(unsigned count) { return random() % count; }

  const DialectInferLayoutInterface &rules(Attribute layout) {
    return *getInferLayoutInterface(layout, std::nullopt);
  }

  Shape randomShape(int64_t size) {
    Shape shape(1 + below(3), 1);
    for (; size > 1; size /= 2)
      shape[below(shape.size())] *= 2;
    return shape;
  }

  Attribute randomBlocked(unsigned rank) {
    SmallVector<unsigned> each(rank, 1), lanes(rank, 1), warps(rank, 1), order;
    for (unsigned i = 0; i < 2; ++i)
      each[below(rank)] *= 1 + below(2);
    for (unsigned i = 0; i < 5; ++i)
      lanes[below(rank)] *= 2;
    warps[below(rank)] *= 1 << below(3);
    for (unsigned i = 0; i < rank; ++i)
      order.insert(order.begin() + below(i + 1), i);
    return BlockedEncodingAttr::get(&context, each, lanes, warps, order,
                                    CTALayoutAttr::getDefault(&context, rank));
  }

  void reshape(Shape to) {
    turns.push_back([=, this, from = shape](Attribute a) {
      return rules(a).inferReshapeLayout(a, from, to, std::nullopt);
    });
    shape = to;
  }
  void reduce(unsigned axis) {
    turns.push_back([=, this](Attribute a) {
      return rules(a).inferReduceLayout(a, axis, std::nullopt);
    });
    shape.erase(shape.begin() + axis);
  }
  void expand(unsigned axis) {
    turns.push_back([=, this](Attribute a) {
      return rules(a).inferExpandDimsLayout(a, axis, std::nullopt);
    });
    shape.insert(shape.begin() + axis, 1);
  }
  /// A broadcast hands on the layout as it is.
  void broadcast(unsigned axis, int64_t size) {
    if (shape[axis] == 1)
      shape[axis] = size;
  }
  void transpose() {
    SmallVector<int32_t> order;
    Shape result;
    for (unsigned i = 0; i < shape.size(); ++i)
      order.insert(order.begin() + below(i + 1), i);
    for (int32_t i : order)
      result.push_back(shape[i]);
    turns.push_back([=, this, from = shape](Attribute a) {
      return rules(a).inferTransLayout(a, from, order, std::nullopt);
    });
    shape = result;
  }
  void join() {
    turns.push_back([=, this, from = shape](Attribute a) {
      return rules(a).inferJoinLayout(a, from, std::nullopt);
    });
    shape.push_back(2);
  }
  void split() {
    turns.push_back([=, this, from = shape](Attribute a) {
      return rules(a).inferSplitLayout(a, from, std::nullopt);
    });
    shape.pop_back();
  }

  /// Any operation that there is for the shape.
  void addTurn() {
    unsigned rank = shape.size();
    switch (below(7)) {
    case 0:
      return reshape(randomShape(sizeOf(shape)));
    case 1:
      return rank > 1 ? reduce(below(rank)) : expand(below(2));
    case 2:
      return rank < 4 ? expand(below(rank + 1)) : reduce(below(rank));
    case 3:
      return broadcast(below(rank), sizeOf(shape) < 512 ? 1 << below(4) : 1);
    case 4:
      return transpose();
    case 5:
      return sizeOf(shape) < 512 && rank < 4 ? join() : transpose();
    default:
      return rank > 1 && shape.back() == 2 ? split() : transpose();
    }
  }

  /// Back to the shape in which the loop began.
  void close(const Shape &to) {
    int64_t have = sizeOf(shape), want = sizeOf(to);
    if (have > want) {
      reshape({have / want, want});
      reduce(0);
    } else if (have < want) {
      reshape({have});
      expand(0);
      broadcast(0, want / have);
    }
    reshape(to);
  }

  std::mt19937 random{42};
  Shape shape;
  std::vector<Turn> turns;
};

TEST_F(LayoutsAroundLoopsTest, ComeBackToThemselves) {
  unsigned closed = 0;
  for (unsigned trial = 0; trial < 4000; ++trial) {
    Shape first = randomShape(int64_t(1) << below(9));
    shape = first;
    turns.clear();
    for (unsigned i = 0, count = 1 + below(6); i < count; ++i)
      addTurn();
    close(first);

    Attribute layout = randomBlocked(first.size());
    DenseSet<Attribute> seen;
    // Few bits change places, so they are soon where they were.
    while (layout && seen.insert(layout).second && seen.size() < 100)
      for (const Turn &turn : turns) {
        FailureOr<Attribute> next = turn(layout);
        layout = succeeded(next) ? *next : Attribute();
        if (!layout)
          break;
      }
    ASSERT_LT(seen.size(), 100u) << "trial " << trial;
    closed += bool(layout);
  }
  EXPECT_GT(closed, 1500u);
}

} // namespace
