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

/// Puts an event in the place of some other one, which is `Strong` if the event
/// is; false if there is none.
static bool replace(Cell &cell, const Event &event) {
  std::vector<Event> &more = *cell.more;
  for (size_t i = 0; i < more.size(); ++i) {
    Event &old = more[(event.time + i) % more.size()];
    if (event.is(Event::Strong) && !old.is(Event::Strong))
      continue;
    old = event;
    return true;
  }
  return false;
}

void tile::sim::append(Cell &cell, CellArena &arena, const Event &event) {
  // More than anybody can use. Counters and locks see thousands of accesses
  // that do not conflict with each other, so that fewer of those are kept.
  static constexpr uint32_t most = 128, mostStrong = 32;
  if (cell.count >= (event.is(Event::Strong) ? mostStrong : most) &&
      (replace(cell, event) || cell.count >= most))
    return;
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
