#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <string>

#include "base/elf_object.h"

namespace headrace {
namespace {

int outside_libc = 0;

/// Calls visit for the C library only.
template <class Visit>
void in_libc(Visit visit) {
  int found = 0;
  for_each_object([&](const ElfObject& object) {
    if (!object.soname().starts_with("libc.so.")) return;
    ++found;
    visit(object);
  });
  ASSERT_EQ(found, 1);
}

TEST(ElfObject, KnowsWhatAnObjectDefines) {
  in_libc([](const ElfObject& libc) {
    EXPECT_TRUE(libc.is_library());
    EXPECT_TRUE(libc.defines("getenv"));
    EXPECT_TRUE(libc.defines("qsort"));
    EXPECT_FALSE(libc.defines("PMPI_Init"));
    EXPECT_FALSE(libc.defines("getenv_"));
  });
}

TEST(ElfObject, ListsTheSameSymbolsThatItFinds) {
  in_libc([](const ElfObject& libc) {
    std::set<std::string> names;
    libc.for_each_definition([&](std::string_view name) { names.emplace(name); });
    EXPECT_GT(names.size(), 1000u);
    EXPECT_EQ(names.count("getenv"), 1u);
    for (const std::string& name : names) EXPECT_TRUE(libc.defines(name)) << name;
  });
}

TEST(ElfObject, ContainsTheAddressesOfItsSymbols) {
  // None that a sanitizer puts its own in front of.
  void* const address = ::dlsym(RTLD_DEFAULT, "gnu_get_libc_version");
  in_libc([&](const ElfObject& libc) {
    EXPECT_TRUE(libc.contains(reinterpret_cast<std::uintptr_t>(address)));
    EXPECT_FALSE(libc.contains(reinterpret_cast<std::uintptr_t>(&outside_libc)));
  });
}

TEST(ElfObject, FindsTheSlotsOfOtherObjectsAndReplacesThem) {
  // libstdc++ calls the C library's abort. Its slot is set to the value it has, in memory that is
  // read-only when the linker bound it at start-up.
  void* const native = ::dlsym(RTLD_DEFAULT, "abort");
  int slots = 0;
  for_each_object([&](const ElfObject& object) {
    if (!object.soname().starts_with("libstdc++")) return;
    object.for_each_slot([&](const Slot& slot) {
      if (slot.name != "abort") return;
      ++slots;
      void* const value = *slot.word;
      EXPECT_TRUE(value == native || object.is_unbound(slot, value));
      EXPECT_TRUE(object.replace(slot, &slots, native));  // another value than it has
      EXPECT_EQ(*slot.word, value);
      EXPECT_TRUE(object.replace(slot, value, native));
      EXPECT_EQ(*slot.word, native);
      EXPECT_FALSE(object.is_unbound(slot, native));
    });
  });
  EXPECT_EQ(slots, ElfObject::knows_slots() ? 1 : 0);
}

TEST(ElfObject, KnowsItsOwnLibraryInsideAVisitToo) {
  in_libc([](const ElfObject&) {
    EXPECT_TRUE(is_in_this_library(&outside_libc));
    EXPECT_FALSE(is_in_this_library(::dlsym(RTLD_DEFAULT, "qsort")));
    EXPECT_FALSE(is_in_this_library(nullptr));
  });
}

}  // namespace
}  // namespace headrace
