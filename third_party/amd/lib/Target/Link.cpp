//===-- Link.cpp - From an object to a code object ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What the run time loads is a shared object. Those of kernels are simple: one
// object with code, constants, a note and perhaps lines for the debugger, all
// of whose references are to itself. So there are three segments that are
// loaded,
//
//   R    headers, notes, dynamic symbols with their hash table, constants
//   RX   code
//   RW   the dynamic section, which points to the tables
//
// and relocations are computed here and now. What a general linker could do
// beyond that (global offset tables, dynamic relocations, several inputs) is
// refused by name.
//
// lld is no library for this: Debian has only a shared one, which needs the
// shared libLLVM, while wheels link LLVM statically. It also has its state once
// in each process, and takes and gives files only.
//
//===----------------------------------------------------------------------===//

#include "amd/Target/AMDGCN.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Object/ELF.h"
#include "llvm/Object/ELFTypes.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::triton;
namespace ELF = llvm::ELF;
using llvm::object::ELF64LE;

namespace {
constexpr uint64_t kPage = 0x1000;

/// A section of the result.
struct Section {
  std::string name;
  uint32_t type = ELF::SHT_PROGBITS;
  uint64_t flags = 0;
  uint64_t align = 1;
  uint64_t entrySize = 0;
  std::string data;
  uint32_t link = 0; ///< another section of the result
  uint32_t info = 0;
  uint64_t address = 0;
  uint64_t offset = 0;

  bool isLoaded() const { return flags & ELF::SHF_ALLOC; }
  bool isCode() const { return flags & ELF::SHF_EXECINSTR; }
};

template <typename T> std::string toBytes(ArrayRef<T> values) {
  return std::string(reinterpret_cast<const char *>(values.data()),
                     values.size() * sizeof(T));
}

/// A table of strings, which starts with the empty one.
class StringTable {
public:
  uint32_t add(StringRef text) {
    if (text.empty())
      return 0;
    uint32_t at = bytes.size();
    bytes += text.str() + '\0';
    return at;
  }
  const std::string &get() const { return bytes; }

private:
  std::string bytes = std::string(1, '\0');
};

/// The hash of a symbol's name that the System V ABI defines.
uint32_t hashName(StringRef name) {
  uint32_t hash = 0;
  for (unsigned char c : name) {
    hash = (hash << 4) + c;
    uint32_t high = hash & 0xf0000000;
    hash = (hash ^ (high >> 24)) & ~high;
  }
  return hash;
}

class Linker {
public:
  Linker(ModuleOp diagnosticOp, StringRef object)
      : diagnosticOp(diagnosticOp), object(object) {}

  FailureOr<std::string> run();

private:
  InFlightDiagnostic error(const Twine &message) {
    return diagnosticOp.emitError("cannot link the code object: ") << message;
  }
  /// The value, or a diagnostic.
  template <typename T> FailureOr<T> check(llvm::Expected<T> value) {
    if (value)
      return std::move(*value);
    return error(llvm::toString(value.takeError()));
  }

  LogicalResult readSections();
  LogicalResult readSymbols();
  unsigned append(Section section);
  void addDynamicTables();
  void layOut();
  void fillSymbols();
  LogicalResult relocate();
  std::string write();

  ModuleOp diagnosticOp;
  StringRef object;
  std::optional<llvm::object::ELFFile<ELF64LE>> file;
  std::vector<Section> sections;          ///< the first is the empty one
  DenseMap<unsigned, unsigned> resultOf;  ///< of sections of the object
  std::vector<ELF64LE::Shdr> relocations; ///< tables in the object
  ArrayRef<ELF64LE::Sym> objectSymbols;
  StringRef objectStrings;
  /// Those of the result, with values that are relative to sections until these
  /// have their places.
  std::vector<ELF64LE::Sym> dynamicSymbols, symbols;
  unsigned numLocals = 1;
  StringTable dynamicStrings, strings;
  unsigned dynsym = 0, dynamic = 0, symtab = 0, hash = 0, dynstr = 0;
};
} // namespace

unsigned Linker::append(Section section) {
  sections.push_back(std::move(section));
  return sections.size() - 1;
}

LogicalResult Linker::readSections() {
  auto created = check(llvm::object::ELFFile<ELF64LE>::create(object));
  if (failed(created))
    return failure();
  file.emplace(*created);
  if (file->getHeader().e_machine != ELF::EM_AMDGPU)
    return error("not an object for AMD GPUs");
  auto headers = check(file->sections());
  if (failed(headers))
    return failure();
  sections.emplace_back();
  sections[0].type = ELF::SHT_NULL;
  sections[0].align = 0;
  // What is loaded read-only comes before code, and that before the rest.
  auto order = [](const ELF64LE::Shdr &header) {
    bool loaded = header.sh_flags & ELF::SHF_ALLOC;
    bool code = header.sh_flags & ELF::SHF_EXECINSTR;
    return !loaded ? 3 : code ? 2 : header.sh_type == ELF::SHT_NOTE ? 0 : 1;
  };
  for (int turn = 0; turn < 4; ++turn) {
    if (turn == 1)
      addDynamicTables();
    for (auto [i, header] : llvm::enumerate(*headers)) {
      if (header.sh_type == ELF::SHT_RELA && turn == 0)
        relocations.push_back(header);
      bool isKept = header.sh_type == ELF::SHT_PROGBITS ||
                    header.sh_type == ELF::SHT_NOTE;
      if (header.sh_type == ELF::SHT_NOBITS && header.sh_size)
        return error("kernels have no variables of their own");
      if (!isKept || header.sh_size == 0 || order(header) != turn)
        continue;
      if ((header.sh_flags & ELF::SHF_ALLOC) &&
          (header.sh_flags & ELF::SHF_WRITE))
        return error("kernels have no variables of their own");
      auto name = check(file->getSectionName(header));
      auto data = check(file->getSectionContents(header));
      if (failed(name) || failed(data))
        return failure();
      Section section;
      section.name = name->str();
      section.type = header.sh_type;
      section.flags = header.sh_flags;
      section.align = header.sh_addralign;
      section.entrySize = header.sh_entsize;
      section.data = toBytes(*data);
      resultOf[i] = append(std::move(section));
    }
    if (turn == 2) {
      Section section;
      section.name = ".dynamic";
      section.type = ELF::SHT_DYNAMIC;
      section.flags = ELF::SHF_ALLOC | ELF::SHF_WRITE;
      section.align = 8;
      section.entrySize = sizeof(ELF64LE::Dyn);
      section.link = dynstr;
      dynamic = append(std::move(section));
    }
  }
  return success();
}

/// Tables that the loader finds symbols by; `fillSymbols` fills them.
void Linker::addDynamicTables() {
  Section section;
  section.flags = ELF::SHF_ALLOC;
  section.name = ".dynsym";
  section.type = ELF::SHT_DYNSYM;
  section.align = 8;
  section.entrySize = sizeof(ELF64LE::Sym);
  section.info = 1;
  dynsym = append(section);
  section.name = ".hash";
  section.type = ELF::SHT_HASH;
  section.align = section.entrySize = 4;
  section.link = dynsym;
  section.info = 0;
  hash = append(section);
  section.name = ".dynstr";
  section.type = ELF::SHT_STRTAB;
  section.align = 1;
  section.entrySize = section.link = 0;
  dynstr = append(section);
  sections[dynsym].link = dynstr;
}

LogicalResult Linker::readSymbols() {
  auto headers = check(file->sections());
  if (failed(headers))
    return failure();
  symbols.emplace_back();
  dynamicSymbols.emplace_back();
  std::memset(&symbols[0], 0, sizeof(ELF64LE::Sym));
  std::memset(&dynamicSymbols[0], 0, sizeof(ELF64LE::Sym));
  for (const ELF64LE::Shdr &header : *headers) {
    if (header.sh_type != ELF::SHT_SYMTAB)
      continue;
    auto found = check(file->symbols(&header));
    auto names = check(file->getStringTableForSymtab(header));
    if (failed(found) || failed(names))
      return failure();
    objectSymbols = ArrayRef(found->begin(), found->end());
    objectStrings = *names;
  }
  // Locals come first, as they do in the object.
  for (const ELF64LE::Sym &symbol :
       objectSymbols.drop_front(std::min<size_t>(1, objectSymbols.size()))) {
    auto name = check(symbol.getName(objectStrings));
    if (failed(name))
      return failure();
    if (symbol.st_shndx == ELF::SHN_UNDEF)
      return error("'" + *name + "' is not defined");
    bool isAbsolute = symbol.st_shndx == ELF::SHN_ABS;
    if (symbol.st_shndx >= ELF::SHN_LORESERVE && !isAbsolute)
      return error("'" + *name + "' has no place in memory");
    auto section = resultOf.find(symbol.st_shndx);
    bool isSection = symbol.getType() == ELF::STT_SECTION;
    if (isSection || (!isAbsolute && section == resultOf.end()))
      continue;
    ELF64LE::Sym copy = symbol;
    if (!isAbsolute)
      copy.st_shndx = section->second;
    copy.st_name = strings.add(*name);
    symbols.push_back(copy);
    if (symbol.getBinding() == ELF::STB_LOCAL)
      numLocals = symbols.size();
    else if (symbol.getVisibility() == ELF::STV_DEFAULT ||
             symbol.getVisibility() == ELF::STV_PROTECTED) {
      copy.st_name = dynamicStrings.add(*name);
      dynamicSymbols.push_back(copy);
    }
  }
  return success();
}

/// Gives the tables their sizes, and every section its place.
void Linker::layOut() {
  unsigned numDynamic = dynamicSymbols.size();
  sections[dynsym].data.resize(numDynamic * sizeof(ELF64LE::Sym));
  // One chain for each bucket at best.
  sections[hash].data.resize(4 * (2 + 2 * numDynamic));
  sections[dynstr].data = dynamicStrings.get();
  constexpr unsigned numEntries = 6;
  sections[dynamic].data.resize(numEntries * sizeof(ELF64LE::Dyn));

  Section table;
  table.name = ".symtab";
  table.type = ELF::SHT_SYMTAB;
  table.align = 8;
  table.entrySize = sizeof(ELF64LE::Sym);
  table.info = numLocals;
  table.data.resize(symbols.size() * sizeof(ELF64LE::Sym));
  table.link = sections.size() + 1;
  symtab = append(std::move(table));
  Section names;
  names.name = ".strtab";
  names.type = ELF::SHT_STRTAB;
  names.data = strings.get();
  append(std::move(names));

  constexpr unsigned numSegments = 7;
  uint64_t offset = sizeof(ELF64LE::Ehdr) + numSegments * sizeof(ELF64LE::Phdr);
  uint64_t address = offset;
  for (auto [i, section] : llvm::enumerate(sections)) {
    if (i == 0)
      continue;
    offset = llvm::alignTo(offset, std::max<uint64_t>(1, section.align));
    section.offset = offset;
    if (section.isLoaded()) {
      const Section &before = sections[i - 1];
      bool isNewSegment = before.isCode() != section.isCode();
      // Another page with other rights; the same place in its page as in the
      // file's.
      address =
          isNewSegment
              ? llvm::alignTo(address, kPage) + offset % kPage
              : llvm::alignTo(address, std::max<uint64_t>(1, section.align));
      section.address = address;
      address += section.data.size();
    }
    offset += section.data.size();
  }
}

/// Writes the tables, now that everything has its address.
void Linker::fillSymbols() {
  for (std::vector<ELF64LE::Sym> *table : {&symbols, &dynamicSymbols})
    for (ELF64LE::Sym &symbol : *table)
      if (symbol.st_shndx != ELF::SHN_UNDEF && symbol.st_shndx != ELF::SHN_ABS)
        symbol.st_value += sections[symbol.st_shndx].address;
  sections[symtab].data = toBytes(ArrayRef(symbols));
  sections[dynsym].data = toBytes(ArrayRef(dynamicSymbols));

  uint32_t count = dynamicSymbols.size();
  SmallVector<llvm::support::ulittle32_t> table(2 + 2 * count);
  table[0] = count;
  table[1] = count;
  for (uint32_t i = 1; i < count; ++i) {
    StringRef name =
        StringRef(dynamicStrings.get()).substr(dynamicSymbols[i].st_name);
    llvm::support::ulittle32_t &first =
        table[2 +
              hashName(name.take_until([](char c) { return c == 0; })) % count];
    table[2 + count + i] = first;
    first = i;
  }
  sections[hash].data = toBytes(ArrayRef(table));

  SmallVector<ELF64LE::Dyn> entries;
  auto add = [&](int64_t tag, uint64_t value) {
    ELF64LE::Dyn entry;
    entry.d_tag = tag;
    entry.d_un.d_val = value;
    entries.push_back(entry);
  };
  add(ELF::DT_SYMTAB, sections[dynsym].address);
  add(ELF::DT_SYMENT, sizeof(ELF64LE::Sym));
  add(ELF::DT_STRTAB, sections[dynstr].address);
  add(ELF::DT_STRSZ, sections[dynstr].data.size());
  add(ELF::DT_HASH, sections[hash].address);
  add(ELF::DT_NULL, 0);
  assert(sections[dynamic].data.size() == toBytes(ArrayRef(entries)).size());
  sections[dynamic].data = toBytes(ArrayRef(entries));
}

LogicalResult Linker::relocate() {
  for (const ELF64LE::Shdr &header : relocations) {
    auto place = resultOf.find(header.sh_info);
    if (place == resultOf.end())
      continue;
    Section &section = sections[place->second];
    auto entries = check(file->relas(header));
    if (failed(entries))
      return failure();
    for (const ELF64LE::Rela &entry : *entries) {
      uint32_t type = entry.getType(/*isMips64EL=*/false);
      const ELF64LE::Sym &symbol = objectSymbols[entry.getSymbol(false)];
      uint64_t value = symbol.st_value + entry.r_addend;
      bool isAbsolute = symbol.st_shndx == ELF::SHN_ABS;
      if (!isAbsolute) {
        auto target = resultOf.find(symbol.st_shndx);
        if (target == resultOf.end())
          return error("a reference to a section that is left out");
        value += sections[target->second].address;
      }
      unsigned bytes = 4;
      switch (type) {
      case ELF::R_AMDGPU_ABS32:
      case ELF::R_AMDGPU_ABS32_LO:
      case ELF::R_AMDGPU_ABS32_HI:
      case ELF::R_AMDGPU_ABS64:
        // The loader chooses the base of what is loaded.
        if (section.isLoaded() && !isAbsolute)
          return error("code that is bound to an address");
        bytes = type == ELF::R_AMDGPU_ABS64 ? 8 : 4;
        break;
      case ELF::R_AMDGPU_REL32:
      case ELF::R_AMDGPU_REL32_LO:
      case ELF::R_AMDGPU_REL32_HI:
      case ELF::R_AMDGPU_REL64:
        value -= section.address + entry.r_offset;
        bytes = type == ELF::R_AMDGPU_REL64 ? 8 : 4;
        break;
      default:
        return error("a relocation of the kind " +
                     file->getRelocationTypeName(type));
      }
      if (type == ELF::R_AMDGPU_ABS32_HI || type == ELF::R_AMDGPU_REL32_HI)
        value >>= 32;
      if (entry.r_offset + bytes > section.data.size())
        return error("a relocation outside of its section");
      for (unsigned i = 0; i < bytes; ++i)
        section.data[entry.r_offset + i] = static_cast<char>(value >> (8 * i));
    }
  }
  return success();
}

std::string Linker::write() {
  StringTable names;
  std::vector<uint32_t> nameOf;
  Section last;
  last.name = ".shstrtab";
  last.type = ELF::SHT_STRTAB;
  last.offset = sections.back().offset + sections.back().data.size();
  sections.push_back(last);
  for (const Section &section : sections)
    nameOf.push_back(names.add(section.name));
  sections.back().data = names.get();
  uint64_t tableOffset =
      llvm::alignTo(sections.back().offset + sections.back().data.size(), 8);

  SmallVector<ELF64LE::Phdr> segments;
  auto addSegment = [&](uint32_t type, uint32_t flags, uint64_t offset,
                        uint64_t address, uint64_t size, uint64_t align) {
    ELF64LE::Phdr segment;
    segment.p_type = type;
    segment.p_flags = flags;
    segment.p_offset = offset;
    segment.p_vaddr = address;
    segment.p_paddr = address;
    segment.p_filesz = size;
    segment.p_memsz = size;
    segment.p_align = align;
    segments.push_back(segment);
  };
  /// A segment from one section to another.
  auto cover = [&](uint32_t type, uint32_t flags, const Section &first,
                   const Section &end, uint64_t align) {
    addSegment(type, flags, first.offset, first.address,
               end.offset + end.data.size() - first.offset, align);
  };
  auto isNote = [](const Section &s) { return s.type == ELF::SHT_NOTE; };
  auto isCode = [](const Section &s) { return s.isCode(); };
  auto code = llvm::find_if(sections, isCode);
  auto lastCode = std::find_if(sections.rbegin(), sections.rend(), isCode);
  auto note = llvm::find_if(sections, isNote);
  const Section &tables = sections[dynamic];
  const Section &lastConstant = code[-1];
  addSegment(ELF::PT_PHDR, ELF::PF_R, sizeof(ELF64LE::Ehdr),
             sizeof(ELF64LE::Ehdr), 7 * sizeof(ELF64LE::Phdr), 8);
  addSegment(ELF::PT_LOAD, ELF::PF_R, 0, 0,
             lastConstant.offset + lastConstant.data.size(), kPage);
  cover(ELF::PT_LOAD, ELF::PF_R | ELF::PF_X, *code, *lastCode, kPage);
  cover(ELF::PT_LOAD, ELF::PF_R | ELF::PF_W, tables, tables, kPage);
  cover(ELF::PT_DYNAMIC, ELF::PF_R | ELF::PF_W, tables, tables, 8);
  cover(ELF::PT_NOTE, ELF::PF_R, *note, *note, 4);
  addSegment(ELF::PT_GNU_STACK, ELF::PF_R | ELF::PF_W, 0, 0, 0, 0);

  ELF64LE::Ehdr header = file->getHeader();
  header.e_type = ELF::ET_DYN;
  header.e_phoff = sizeof(ELF64LE::Ehdr);
  header.e_phentsize = sizeof(ELF64LE::Phdr);
  header.e_phnum = segments.size();
  header.e_shoff = tableOffset;
  header.e_shnum = sections.size();
  header.e_shstrndx = sections.size() - 1;
  std::string result = toBytes(ArrayRef(header)) + toBytes(ArrayRef(segments));
  std::vector<ELF64LE::Shdr> headers;
  for (auto [i, section] : llvm::enumerate(sections)) {
    if (i) {
      result.resize(section.offset);
      result += section.data;
    }
    ELF64LE::Shdr entry;
    entry.sh_name = nameOf[i];
    entry.sh_type = section.type;
    entry.sh_flags = section.flags;
    entry.sh_addr = section.address;
    entry.sh_offset = section.offset;
    entry.sh_size = section.data.size();
    entry.sh_link = section.link;
    entry.sh_info = section.info;
    entry.sh_addralign = section.align;
    entry.sh_entsize = section.entrySize;
    headers.push_back(entry);
  }
  result.resize(tableOffset);
  return result + toBytes(ArrayRef(headers));
}

FailureOr<std::string> Linker::run() {
  if (failed(readSections()) || failed(readSymbols()))
    return failure();
  auto has = [&](auto predicate) { return llvm::any_of(sections, predicate); };
  if (!has([](const Section &s) { return s.isCode(); }) ||
      !has([](const Section &s) { return s.type == ELF::SHT_NOTE; }))
    return error("it has no kernel");
  layOut();
  fillSymbols();
  if (failed(relocate()))
    return failure();
  return write();
}

FailureOr<std::string> amd::link(ModuleOp diagnosticOp, StringRef object) {
  return Linker(diagnosticOp, object).run();
}
