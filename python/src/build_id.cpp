//===-- build_id.cpp - What identifies the compiler's machine code --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "BuildId.h"

#ifdef __linux__
#include <cstring>
#include <elf.h>
#include <link.h>

/// The build id among the notes of one segment, in hexadecimal.
static std::string findBuildId(const char *at, size_t size) {
  const char *end = at + size;
  while (at + sizeof(ElfW(Nhdr)) <= end) {
    ElfW(Nhdr) note;
    std::memcpy(&note, at, sizeof(note));
    const char *name = at + sizeof(note);
    const char *content = name + (note.n_namesz + 3) / 4 * 4;
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
        std::memcmp(name, "GNU", 4) == 0) {
      std::string text;
      for (size_t i = 0; i != note.n_descsz; ++i) {
        text += "0123456789abcdef"[(content[i] >> 4) & 15];
        text += "0123456789abcdef"[content[i] & 15];
      }
      return text;
    }
    at = content + (note.n_descsz + 3) / 4 * 4;
  }
  return {};
}

static bool contains(const dl_phdr_info *info, ElfW(Addr) address) {
  for (int i = 0; i != info->dlpi_phnum; ++i) {
    const ElfW(Phdr) &segment = info->dlpi_phdr[i];
    ElfW(Addr) begin = info->dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_LOAD && address >= begin &&
        address < begin + segment.p_memsz)
      return true;
  }
  return false;
}

static int visitObject(dl_phdr_info *info, size_t, void *result) {
  bool ours = contains(info, reinterpret_cast<ElfW(Addr)>(&visitObject));
  if (!ours && !std::strstr(info->dlpi_name, "libLLVM") &&
      !std::strstr(info->dlpi_name, "libMLIR"))
    return 0;
  for (int i = 0; i != info->dlpi_phnum; ++i) {
    const ElfW(Phdr) &segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_NOTE)
      continue;
    std::string id = findBuildId(
        reinterpret_cast<const char *>(info->dlpi_addr + segment.p_vaddr),
        segment.p_memsz);
    if (id.empty())
      continue;
    *static_cast<std::string *>(result) += id + (ours ? "!" : ";");
    break;
  }
  return 0;
}

std::string tile::python::getBuildId() {
  std::string result;
  dl_iterate_phdr(visitObject, &result);
  // Without its own id the others say too little.
  return result.find('!') == std::string::npos ? std::string() : result;
}
#else
std::string tile::python::getBuildId() { return {}; }
#endif
