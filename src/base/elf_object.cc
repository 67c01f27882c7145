#include "base/elf_object.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cassert>
#include <cstring>

#include "base/loaded_objects.h"

namespace headrace {
namespace {

/// Relocation types whose word is a symbol's address, from the psABI of each machine.
struct SlotType {
  std::uint64_t type;
  Slot::Kind kind;
};

#if defined(__x86_64__)
constexpr SlotType kSlotTypes[] = {{R_X86_64_JUMP_SLOT, Slot::Kind::call},
                                   {R_X86_64_GLOB_DAT, Slot::Kind::global},
                                   {R_X86_64_64, Slot::Kind::data}};
#elif defined(__aarch64__)
constexpr SlotType kSlotTypes[] = {{R_AARCH64_JUMP_SLOT, Slot::Kind::call},
                                   {R_AARCH64_GLOB_DAT, Slot::Kind::global},
                                   {R_AARCH64_ABS64, Slot::Kind::data}};
#else
constexpr SlotType kSlotTypes[] = {{~std::uint64_t{0}, Slot::Kind::data}};
#define HEADRACE_UNKNOWN_MACHINE 1
#endif

const SlotType* slot_type(std::uint64_t type) {
  for (const SlotType& known : kSlotTypes) {
    if (type == known.type) return &known;
  }
  return nullptr;
}

/// Whether the code there is a stub that asks the linker for the slot of this index. The code has
/// at least 16 bytes.
bool is_stub([[maybe_unused]] const unsigned char* code, [[maybe_unused]] std::size_t index) {
#if defined(__x86_64__)
  // An optional endbr64, then push of the relocation's index.
  constexpr unsigned char kEndBranch[] = {0xf3, 0x0f, 0x1e, 0xfa};
  if (std::memcmp(code, kEndBranch, sizeof(kEndBranch)) == 0) code += sizeof(kEndBranch);
  std::uint32_t pushed = 0;
  std::memcpy(&pushed, code + 1, sizeof(pushed));
  return code[0] == 0x68 && pushed == index;
#elif defined(__aarch64__)
  // All lead to the first stub: an optional bti c, then stp x16, x30, [sp, #-16]!.
  std::uint32_t words[2];
  std::memcpy(words, code, sizeof(words));
  return words[words[0] == 0xd503245f ? 1 : 0] == 0xa9bf7bf0;
#else
  return false;
#endif
}

/// Calls visit(index) for each symbol in a DT_GNU_HASH table, which has defined symbols only.
/// Layout: bucket count, first hashed index, bloom words, shift, bloom filter, buckets, chains; the
/// last value of a chain is odd.
template <class Visit>
void visit_gnu_hash(const std::uint32_t* table, Visit visit) {
  const std::uint32_t bucket_count = table[0];
  const std::uint32_t first = table[1];
  const std::uint32_t bloom_words = table[2];
  const std::uint32_t* const buckets = table + 4 + bloom_words * (sizeof(ElfW(Addr)) / 4);
  const std::uint32_t* const chains = buckets + bucket_count;
  for (std::uint32_t bucket = 0; bucket < bucket_count; ++bucket) {
    std::uint32_t index = buckets[bucket];
    if (index < first) continue;
    do {
      visit(index);
    } while ((chains[index++ - first] & 1) == 0);
  }
}

/// The loaded segment of an object that holds an address; null if none does.
const ElfW(Phdr) * find_segment(const dl_phdr_info& info, std::uintptr_t address) {
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr) & header = info.dlpi_phdr[i];
    const std::uintptr_t begin = info.dlpi_addr + header.p_vaddr;
    if (header.p_type == PT_LOAD && address >= begin && address < begin + header.p_memsz) {
      return &header;
    }
  }
  return nullptr;
}

}  // namespace

ElfObject::ElfObject(const dl_phdr_info& info) : info_(info) {
  const ElfW(Dyn)* dynamic = nullptr;
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr) & header = info.dlpi_phdr[i];
    const std::uintptr_t begin = info.dlpi_addr + header.p_vaddr;
    if (header.p_type == PT_DYNAMIC) dynamic = reinterpret_cast<const ElfW(Dyn)*>(begin);
    if (header.p_type == PT_GNU_RELRO) {
      const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
      read_only_begin_ = begin & ~(page - 1);
      read_only_end_ = (begin + header.p_memsz) & ~(page - 1);
    }
  }
  const std::string_view path = info.dlpi_name == nullptr ? "" : info.dlpi_name;
  if (dynamic == nullptr || path.starts_with("linux-vdso")) return;
  dynamic_ = dynamic;
  for (; dynamic->d_tag != DT_NULL; ++dynamic) {
    const ElfW(Addr) value = dynamic->d_un.d_ptr;
    switch (dynamic->d_tag) {
      case DT_STRTAB: strings_ = static_cast<const char*>(pointer(value)); break;
      case DT_SYMTAB: symbols_ = static_cast<const ElfW(Sym)*>(pointer(value)); break;
      case DT_GNU_HASH: gnu_hash_ = static_cast<const std::uint32_t*>(pointer(value)); break;
      case DT_HASH: sysv_hash_ = static_cast<const std::uint32_t*>(pointer(value)); break;
      case DT_SONAME: soname_offset_ = value; break;
      case DT_VERSYM: symbol_versions_ = static_cast<const ElfW(Versym)*>(pointer(value)); break;
      case DT_VERNEED: needed_versions_ = static_cast<const ElfW(Verneed)*>(pointer(value)); break;
      case DT_VERNEEDNUM: needed_versions_count_ = value; break;
      case DT_RELA: data_relocations_ = static_cast<const ElfW(Rela)*>(pointer(value)); break;
      case DT_RELASZ: data_relocations_bytes_ = value; break;
      case DT_JMPREL: call_relocations_ = static_cast<const ElfW(Rela)*>(pointer(value)); break;
      case DT_PLTRELSZ: call_relocations_bytes_ = value; break;
      default: break;
    }
  }
  is_library_ = !path.empty() && strings_ != nullptr && symbols_ != nullptr;
}

/// The C library stores relocated addresses in the dynamic section on most machines, but not all.
const void* ElfObject::pointer(ElfW(Addr) value) const {
  return reinterpret_cast<const void*>(value >= info_.dlpi_addr ? value : info_.dlpi_addr + value);
}

std::string_view ElfObject::name_of(const ElfW(Sym) & symbol) const {
  return strings_ + symbol.st_name;
}

std::string_view ElfObject::soname() const {
  return soname_offset_ == 0 ? std::string_view() : strings_ + soname_offset_;
}

void ElfObject::for_each_need(const std::function<void(std::string_view)>& visit) const {
  if (dynamic_ == nullptr || strings_ == nullptr) return;
  for (const ElfW(Dyn)* entry = dynamic_; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_NEEDED) visit(strings_ + entry->d_un.d_val);
  }
}

const ElfW(Phdr) * ElfObject::segment_of(std::uintptr_t address) const {
  return find_segment(info_, address);
}

bool ElfObject::contains(std::uintptr_t address) const {
  return segment_of(address) != nullptr;
}

void ElfObject::for_each_definition(const std::function<void(std::string_view)>& visit) const {
  if (symbols_ == nullptr) return;
  const auto visit_defined = [&](std::uint32_t index) {
    if (symbols_[index].st_shndx != SHN_UNDEF) visit(name_of(symbols_[index]));
  };
  if (gnu_hash_ != nullptr) {
    visit_gnu_hash(gnu_hash_, visit_defined);
  } else if (sysv_hash_ != nullptr) {
    for (std::uint32_t index = 1; index < sysv_hash_[1]; ++index) visit_defined(index);
  }
}

bool ElfObject::defines(std::string_view name) const {
  bool found = false;
  if (gnu_hash_ == nullptr) {
    for_each_definition([&](std::string_view defined) { found = found || defined == name; });
    return found;
  }
  // The hash function of DT_GNU_HASH, by Bernstein.
  std::uint32_t hash = 5381;
  for (const char c : name) hash = hash * 33 + static_cast<unsigned char>(c);
  const std::uint32_t bucket_count = gnu_hash_[0];
  const std::uint32_t first = gnu_hash_[1];
  const std::uint32_t* const buckets = gnu_hash_ + 4 + gnu_hash_[2] * (sizeof(ElfW(Addr)) / 4);
  const std::uint32_t* const chains = buckets + bucket_count;
  std::uint32_t index = bucket_count == 0 ? 0 : buckets[hash % bucket_count];
  if (index < first) return false;
  for (;; ++index) {
    const std::uint32_t other = chains[index - first];
    if ((other | 1) == (hash | 1) && name_of(symbols_[index]) == name) {
      // A program may list a function that it does not define, so that it has one address
      // everywhere.
      return symbols_[index].st_shndx != SHN_UNDEF;
    }
    if ((other & 1) != 0) return false;
  }
}

bool ElfObject::supports_relocations() {
#ifdef HEADRACE_UNKNOWN_MACHINE
  return false;
#else
  return true;
#endif
}

void ElfObject::visit_relocations(const ElfW(Rela) * relocations, std::size_t bytes,
                                  const std::function<void(const Slot&)>& visit,
                                  IsWanted* is_wanted) const {
  if (relocations == nullptr) return;
  for (std::size_t i = 0; i < bytes / sizeof(ElfW(Rela)); ++i) {
    const ElfW(Rela) & relocation = relocations[i];
    const std::uint64_t symbol = ELF64_R_SYM(relocation.r_info);
    if (symbol == 0 || relocation.r_addend != 0) continue;
    const SlotType* const type = slot_type(ELF64_R_TYPE(relocation.r_info));
    if (type == nullptr) continue;
    if (is_wanted != nullptr && !is_wanted(strings_ + symbols_[symbol].st_name)) continue;
    const std::uintptr_t address = info_.dlpi_addr + relocation.r_offset;
    const ElfW(Phdr)* const segment = segment_of(address);
    if (segment == nullptr || (segment->p_flags & PF_W) == 0) continue;
    visit({name_of(symbols_[symbol]), reinterpret_cast<void**>(address), type->kind, i,
           static_cast<std::size_t>(symbol)});
  }
}

void ElfObject::for_each_slot(const std::function<void(const Slot&)>& visit,
                              IsWanted* is_wanted) const {
  if (symbols_ == nullptr || strings_ == nullptr) return;
  visit_relocations(data_relocations_, data_relocations_bytes_, visit, is_wanted);
  visit_relocations(call_relocations_, call_relocations_bytes_, visit, is_wanted);
}

/// Layout: each needed library has a list of versions; `vna_other` is what symbols have.
std::string_view ElfObject::version_of(const Slot& slot) const {
  if (symbol_versions_ == nullptr || needed_versions_ == nullptr) return {};
  constexpr ElfW(Versym) kHidden = 0x8000;
  const auto wanted = static_cast<ElfW(Versym)>(symbol_versions_[slot.symbol] & ~kHidden);
  const auto* library = reinterpret_cast<const char*>(needed_versions_);
  for (std::size_t i = 0; i < needed_versions_count_; ++i) {
    const auto& need = *reinterpret_cast<const ElfW(Verneed)*>(library);
    const char* at = library + need.vn_aux;
    for (int k = 0; k < need.vn_cnt; ++k) {
      const auto& version = *reinterpret_cast<const ElfW(Vernaux)*>(at);
      if (version.vna_other == wanted) return strings_ + version.vna_name;
      at += version.vna_next;
    }
    library += need.vn_next;
  }
  return {};
}

void ElfObject::for_each_code(
    const std::function<void(std::uintptr_t, std::uintptr_t)>& visit) const {
  for (int i = 0; i < info_.dlpi_phnum; ++i) {
    const ElfW(Phdr) & header = info_.dlpi_phdr[i];
    if (header.p_type != PT_LOAD || (header.p_flags & PF_X) == 0) continue;
    const std::uintptr_t begin = info_.dlpi_addr + header.p_vaddr;
    visit(begin, begin + header.p_memsz);
  }
}

bool ElfObject::is_unbound(const Slot& slot, const void* value) const {
  constexpr std::size_t kStubBytes = 16;
  if (slot.kind != Slot::Kind::call) return false;
  const auto address = reinterpret_cast<std::uintptr_t>(value);
  const ElfW(Phdr)* const segment = segment_of(address);
  if (segment == nullptr || (segment->p_flags & (PF_X | PF_R)) != (PF_X | PF_R)) return false;
  const std::uintptr_t end = info_.dlpi_addr + segment->p_vaddr + segment->p_memsz;
  return end - address >= kStubBytes &&
         is_stub(static_cast<const unsigned char*>(value), slot.index);
}

bool ElfObject::replace(const Slot& slot, void* expected, void* value) const {
  const auto address = reinterpret_cast<std::uintptr_t>(slot.word);
  assert(address % alignof(void*) == 0);
  const auto exchange = [&] {
    __atomic_compare_exchange_n(slot.word, &expected, value, false, __ATOMIC_ACQ_REL,
                                __ATOMIC_RELAXED);
  };
  if (address < read_only_begin_ || address >= read_only_end_) {
    exchange();
    return true;
  }
  const auto page_size = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  auto* const page = reinterpret_cast<void*>(address & ~(page_size - 1));
  if (::mprotect(page, page_size, PROT_READ | PROT_WRITE) != 0) return false;
  exchange();
  ::mprotect(page, page_size, PROT_READ);
  return true;
}

void for_each_object(const std::function<void(const ElfObject&)>& visit) {
  auto* argument = const_cast<std::function<void(const ElfObject&)>*>(&visit);
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* data) {
        const ElfObject object(*info);
        if (!object.contains(reinterpret_cast<std::uintptr_t>(&loaded_object_count))) {
          (*static_cast<const std::function<void(const ElfObject&)>*>(data))(object);
        }
        return 0;
      },
      argument);
}

bool visit_object_at(const void* address, const std::function<void(const ElfObject&)>& visit) {
  struct Search {
    std::uintptr_t address;
    const std::function<void(const ElfObject&)>& visit;
  } search{reinterpret_cast<std::uintptr_t>(address), visit};
  return ::dl_iterate_phdr(
             [](dl_phdr_info* info, std::size_t, void* data) {
               const auto& own = *static_cast<Search*>(data);
               if (find_segment(*info, own.address) == nullptr) return 0;
               own.visit(ElfObject(*info));
               return 1;
             },
             &search) != 0;
}

bool is_in_this_library(const void* address) {
  bool is_found = false;
  visit_object_at(address, [&](const ElfObject& object) {
    is_found = object.contains(reinterpret_cast<std::uintptr_t>(&loaded_object_count));
  });
  return is_found;
}

}  // namespace headrace
