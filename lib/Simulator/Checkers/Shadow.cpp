//===-- Shadow.cpp - What memory remembers of its accesses ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Shadow.h"

#include <algorithm>

using namespace tile::sim;

std::vector<Event> *CellArena::list() {
  if (usedLists == lists.size())
    lists.push_back(std::make_unique<std::vector<Event>>());
  lists[usedLists]->clear();
  return lists[usedLists++].get();
}

Cell *CellArena::words(unsigned count) {
  if (usedWords == blocks.size())
    blocks.push_back(std::make_unique<Cell[]>(count));
  Cell *block = blocks[usedWords++].get();
  std::fill_n(block, count, Cell{});
  return block;
}

void tile::sim::append(Cell &cell, CellArena &arena, const Event &event) {
  // More than anybody can use; the oldest of the rest gives way.
  static constexpr uint32_t most = 128;
  if (cell.count >= most) {
    std::rotate(cell.more->begin(), cell.more->begin() + 1, cell.more->end());
    cell.more->back() = event;
    return;
  }
  if (cell.count < Cell::inlineEvents) {
    cell.events[cell.count++] = event;
    return;
  }
  if (!cell.more)
    cell.more = arena.list();
  cell.more->push_back(event);
  ++cell.count;
}

void tile::sim::erase(Cell &cell, uint32_t index) {
  cell[index] = cell[cell.count - 1];
  --cell.count;
  if (cell.count >= Cell::inlineEvents)
    cell.more->pop_back();
  else if (cell.more)
    cell.more->clear();
}

void tile::sim::divide(Cell &cell, CellArena &arena, unsigned granuleBytes) {
  unsigned words = granuleBytes / 4;
  Cell *block = arena.words(words);
  for (uint32_t i = 0; i < cell.count; ++i) {
    Event whole = cell[i];
    unsigned width = whole.bytes;
    for (unsigned w = 0; w < words; ++w) {
      Event part = whole;
      part.bytes = 15;
      if (whole.is(Event::Engine) || width >= granuleBytes) {
        append(block[w], arena, part);
        continue;
      }
      for (unsigned at = w * 4; at < w * 4 + 4; at += std::max(width, 1u)) {
        part.lanes = lanesOf(whole.lanes, at / width, granuleBytes / width);
        if (width < 4)
          part.bytes = uint8_t(((1u << width) - 1) << at % 4);
        append(block[w], arena, part);
        if (width >= 4)
          break;
      }
    }
  }
  cell.words = block;
  cell.count = 0;
}
