#include "abi/front/trace_slots.h"

#include <dlfcn.h>
#include <link.h>

#include <cstdint>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "abi/front/front_library.h"
#include "abi/front/program_objects.h"
#include "abi/front/slot_uses.h"
#include "base/elf_object.h"
#include "base/message.h"
#include "posix/stand_ins.h"
#include "trace/tracing.h"

namespace headrace::abi {
namespace {

SeenObjects& seen() {
  static auto& only = *new SeenObjects;  // never destroyed: calls arrive during exit, too
  return only;
}

/// A slot that may be led to a stub.
struct Candidate {
  std::uintptr_t object;  ///< its identity
  std::string path;       ///< its file; the program's is empty
  std::string name;
  std::string version;
  Slot slot;
  void* value;
  bool is_bound;
  const void* stand_in = nullptr;
};

/// Code of an object.
struct CodeRange {
  std::uintptr_t begin;
  std::uintptr_t end;
  std::string object;  ///< its name
};

/// What is to be known before the dynamic linker can be asked, which must not be done in a visit.
struct ModuleSurvey {
  std::set<std::string> wanted = program_objects();
  std::vector<Candidate> candidates;
  std::vector<CodeRange> code;
  bool is_complete = false;
};

/// As the dynamic linker would bind it: in the program's scope, or in the object's own. Null if
/// these differ, since objects may be loaded in ways (RTLD_DEEPBIND) that change their order.
void* bound(const Candidate& one) {
  const auto find = [&](void* scope) {
    return one.version.empty() ? ::dlsym(scope, one.name.c_str())
                               : ::dlvsym(scope, one.name.c_str(), one.version.c_str());
  };
  void* const of_program = find(RTLD_DEFAULT);
  if (one.path.empty()) return of_program;
  void* const object = ::dlopen(one.path.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  if (object == nullptr) return nullptr;
  void* const of_object = find(object);
  ::dlclose(object);
  return of_program == nullptr || of_program == of_object ? of_object : nullptr;
}

bool has_call_slots(const ElfObject& object) {
  bool found = false;
  object.for_each_slot([&](const Slot& slot) { found |= slot.kind == Slot::Kind::call; });
  return found;
}

/// An allocator holds locks while it calls others, and what traces these calls may need memory.
bool is_looked_at(const ElfObject& object, const std::set<std::string>& wanted) {
  return wanted.contains(name_of(object)) && !is_of_system(object) && !is_front_library(object) &&
         !posix::is_tool(object.path()) && !object.defines("malloc") && !seen().has(object);
}

/// Functions whose addresses lie in data, where the program may compare them.
std::set<std::string, std::less<>> names_in_data(const ElfObject& object) {
  std::set<std::string, std::less<>> names;
  object.for_each_slot([&](const Slot& slot) {
    if (slot.kind == Slot::Kind::data) names.emplace(slot.name);
  });
  return names;
}

/// The slots of the global offset table whose functions the object's code may compare, too.
std::set<std::uintptr_t> compared_words(const ElfObject& object) {
  std::set<std::uintptr_t> words;
  object.for_each_slot([&](const Slot& slot) {
    if (slot.kind != Slot::Kind::global || !trace::may_be_wanted(slot.name)) return;
    words.insert(reinterpret_cast<std::uintptr_t>(slot.word));
  });
  return words_used(object, words);
}

/// A slot that is not bound yet, by a linker whose stubs are not known: it leads into its own
/// object, which has no such function.
bool leads_to_odd_stub(const ElfObject& object, const Slot& slot, const void* value) {
  return object.contains(reinterpret_cast<std::uintptr_t>(value)) &&
         !object.is_unbound(slot, value) && !object.defines(slot.name);
}

/// Whether an address is that of a function: other things may lie between code, too.
bool is_function(const void* address) {
  Dl_info info{};
  const ElfW(Sym)* symbol = nullptr;
  return ::dladdr1(address, &info, reinterpret_cast<void**>(const_cast<ElfW(Sym)**>(&symbol)),
                   RTLD_DL_SYMENT) != 0 &&
         symbol != nullptr && info.dli_saddr == address &&
         ELF64_ST_TYPE(symbol->st_info) == STT_FUNC;
}

void take_candidates(const ElfObject& object, std::vector<Candidate>& candidates) {
  // Objects that call through the global offset table alone (-fno-plt) have no slots for calls; in
  // others its addresses may be compared.
  const Slot::Kind wanted = has_call_slots(object) ? Slot::Kind::call : Slot::Kind::global;
  const bool is_global = wanted == Slot::Kind::global;
  const auto in_data = is_global ? names_in_data(object) : std::set<std::string, std::less<>>();
  const auto in_code = is_global ? compared_words(object) : std::set<std::uintptr_t>();
  object.for_each_slot([&](const Slot& slot) {
    if (slot.kind != wanted || in_data.contains(slot.name)) return;
    if (in_code.contains(reinterpret_cast<std::uintptr_t>(slot.word))) return;
    void* const value = __atomic_load_n(slot.word, __ATOMIC_ACQUIRE);
    if (value == nullptr || leads_to_odd_stub(object, slot, value)) return;
    candidates.push_back({object.identity(), object.path(), std::string(slot.name),
                          std::string(object.version_of(slot)), slot, value,
                          !object.is_unbound(slot, value)});
  });
}

ModuleSurvey survey_modules(const SettledObjects& settled) {
  ModuleSurvey made;
  for_each_object([&](const ElfObject& object) {
    object.for_each_code([&](std::uintptr_t begin, std::uintptr_t end) {
      made.code.push_back({begin, end, name_of(object)});
    });
  });
  made.is_complete = settled.for_each([&](const ElfObject& object) {
    if (is_looked_at(object, made.wanted)) take_candidates(object, made.candidates);
  });
  return made;
}

/// The name of the library that has a function; null if that is none, but data, code made at run
/// time, or an entry of this library.
const std::string* library_of(const ModuleSurvey& survey, const void* function) {
  static const std::string c_library = "libc.so.6";
  for (const posix::Function& one : posix::functions()) {
    if (one.stand_in == function) return &c_library;
  }
  const auto address = reinterpret_cast<std::uintptr_t>(function);
  for (const CodeRange& one : survey.code) {
    if (address >= one.begin && address < one.end) return &one.object;
  }
  return nullptr;
}

void choose_stand_ins(ModuleSurvey& survey) {
  for (Candidate& one : survey.candidates) {
    if (!trace::may_be_wanted(one.name)) continue;
    const void* const target = one.is_bound ? one.value : bound(one);
    if (target == nullptr || (one.slot.kind == Slot::Kind::global && !is_function(target)))
      continue;
    const std::string* const library = library_of(survey, target);
    if (library != nullptr) one.stand_in = trace::stand_in_for(one.name, *library, target);
  }
}

void replace(const ElfObject& object, const ModuleSurvey& survey) {
  for (const Candidate& one : survey.candidates) {
    if (one.object != object.identity() || one.stand_in == nullptr) continue;
    if (!object.replace(one.slot, one.value, const_cast<void*>(one.stand_in))) {
      print_message_once("some calls of " + std::string(object.path()) +
                         " are not traced (its memory cannot be changed), report this system");
    }
  }
}

}  // namespace

bool start_traces() noexcept {
  seen().is_wanted = ElfObject::supports_relocations() && trace::wants_slots();
  return seen().is_wanted;
}

bool may_have_new_traces() noexcept {
  return seen().may_lack_any();
}

void lead_traced_slots(const SettledObjects& settled) {
  if (!seen().is_wanted) return;
  // Whoever holds it may wait for this thread, which loads an object: the next call looks again.
  const std::unique_lock lock(seen().mutex, std::try_to_lock);
  if (!lock) return;
  seen().begin(settled);
  ModuleSurvey found = survey_modules(settled);
  choose_stand_ins(found);
  const bool is_complete = settled.for_each([&](const ElfObject& object) {
    if (!is_looked_at(object, found.wanted)) return;
    replace(object, found);
    seen().add(object);
  });
  if (is_complete && found.is_complete) seen().end(settled);
}

}  // namespace headrace::abi
