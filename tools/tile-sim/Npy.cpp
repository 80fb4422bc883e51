//===-- Npy.cpp - NumPy array files ---------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Npy.h"

#include <cstdlib>
#include <cstring>
#include <fstream>

using namespace tile::sim;

uint64_t Npy::count() const {
  uint64_t n = 1;
  for (uint64_t d : shape)
    n *= d;
  return n;
}
unsigned Npy::itemSize() const {
  return dtype.size() > 2 ? unsigned(std::atoi(dtype.c_str() + 2)) : 0;
}

/// The text after a key of the header's dictionary, up to `end`.
static std::string field(const std::string &header, const char *key, char open,
                         char close) {
  size_t at = header.find(key);
  at = at == std::string::npos ? at : header.find(open, at + std::strlen(key));
  size_t end = at == std::string::npos ? at : header.find(close, at + 1);
  return end == std::string::npos ? "" : header.substr(at + 1, end - at - 1);
}

bool Npy::read(const std::string &path, std::string &error) {
  std::ifstream file(path, std::ios::binary);
  unsigned char magic[10];
  if (!file.read(reinterpret_cast<char *>(magic), 10) ||
      std::memcmp(magic, "\x93NUMPY", 6)) {
    error = path + ": not a .npy file";
    return false;
  }
  uint32_t length = magic[8] | uint32_t(magic[9]) << 8;
  if (magic[6] >= 2) {
    unsigned char more[2];
    file.read(reinterpret_cast<char *>(more), 2);
    length |= uint32_t(more[0]) << 16 | uint32_t(more[1]) << 24;
  }
  if (length > (1u << 20)) {
    error = path + ": the header is too long";
    return false;
  }
  std::string header(length, ' ');
  file.read(header.data(), length);
  dtype = field(header, "'descr':", '\'', '\'');
  // V is what NumPy writes for types that it has no name for, such as bfloat16.
  if (dtype.size() < 3 || dtype[0] == '>' || !std::strchr("biufcV", dtype[1]) ||
      itemSize() == 0 || itemSize() > 16) {
    error = path + ": the element type '" + dtype + "' is not supported";
    return false;
  }
  if (header.find("'fortran_order': True") != std::string::npos) {
    error = path + ": only arrays in C order are supported";
    return false;
  }
  shape.clear();
  std::string dims = field(header, "'shape':", '(', ')');
  for (size_t at = 0;
       (at = dims.find_first_of("0123456789", at)) != std::string::npos;
       at = dims.find_first_not_of("0123456789", at)) {
    shape.push_back(std::strtoull(dims.c_str() + at, nullptr, 10));
    if (dims.find_first_not_of("0123456789", at) == std::string::npos)
      break;
  }
  uint64_t bytes = itemSize();
  for (uint64_t d : shape) {
    if (d && bytes > (uint64_t(1) << 36) / d) {
      error = path + ": the array is too large";
      return false;
    }
    bytes *= d;
  }
  data.resize(bytes);
  if (!file.read(reinterpret_cast<char *>(data.data()),
                 std::streamsize(bytes))) {
    error = path + ": the file is too short";
    return false;
  }
  return true;
}

bool Npy::write(const std::string &path, std::string &error) const {
  std::string dims;
  for (uint64_t d : shape)
    dims += std::to_string(d) + ", ";
  std::string header = "{'descr': '" + dtype +
                       "', 'fortran_order': False, 'shape': (" + dims + "), }";
  while ((10 + header.size() + 1) % 64)
    header += ' ';
  header += '\n';
  std::ofstream file(path, std::ios::binary);
  char magic[10] = {'\x93',
                    'N',
                    'U',
                    'M',
                    'P',
                    'Y',
                    1,
                    0,
                    char(header.size() & 255),
                    char(header.size() >> 8)};
  file.write(magic, 10);
  file.write(header.data(), std::streamsize(header.size()));
  file.write(reinterpret_cast<const char *>(data.data()),
             std::streamsize(data.size()));
  if (!file.flush())
    error = path + ": cannot write";
  return bool(file);
}

bool Npy::zeros(const std::string &spec, std::string &error) {
  size_t colon = spec.find(':');
  std::string type = spec.substr(0, colon);
  if (colon == std::string::npos || type.size() < 2 ||
      !std::strchr("fiu", type[0])) {
    error = "'zeros:" + spec +
            "' should be zeros:TYPE:SHAPE, such as zeros:f32:128x4";
    return false;
  }
  int bits = std::atoi(type.c_str() + 1);
  if (bits != 8 && bits != 16 && bits != 32 && bits != 64) {
    error = "unknown element type '" + type + "'";
    return false;
  }
  dtype =
      std::string(bits == 8 ? "|" : "<") + type[0] + std::to_string(bits / 8);
  uint64_t bytes = uint64_t(bits / 8);
  for (const char *at = spec.c_str() + colon + 1; *at;) {
    char *end;
    uint64_t d = std::strtoull(at, &end, 10);
    if (end == at || d == 0 || bytes > (uint64_t(1) << 36) / d) {
      error = "bad shape in 'zeros:" + spec + "'";
      return false;
    }
    shape.push_back(d);
    bytes *= d;
    at = *end == 'x' ? end + 1 : end;
  }
  data.resize(bytes);
  return true;
}
