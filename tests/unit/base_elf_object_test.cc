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
  EXPECT_EQ(slots, ElfObject::supports_relocations() ? 1 : 0);
}

bool is_abort(const char* name) {
  return std::string_view(name) == "abort";
}

TEST(ElfObject, LeavesOutSlotsWhoseNamesAreNotWanted) {
  std::multiset<std::string> all, wanted;
  for_each_object([&](const ElfObject& object) {
    object.for_each_slot([&](const Slot& slot) { all.emplace(slot.name); });
    object.for_each_slot([&](const Slot& slot) { wanted.emplace(slot.name); }, &is_abort);
  });
  EXPECT_GT(all.size(), wanted.size());
  EXPECT_EQ(wanted.size(), all.count("abort"));
  EXPECT_EQ(wanted.count("abort"), all.count("abort"));
}

TEST(ElfObject, IsFoundByAnAddressInIt) {
  const auto soname_at = [](const void* address) {
    std::string soname = "no object";
    const auto visit = [&](const ElfObject& object) { soname = object.soname(); };
    const bool is_found = visit_object_at(address, visit);
    EXPECT_EQ(is_found, soname != "no object");
    return soname;
  };
  EXPECT_EQ(soname_at(::dlsym(RTLD_DEFAULT, "gnu_get_libc_version")), "libc.so.6");
  EXPECT_EQ(soname_at(&outside_libc), "");
  const int on_the_stack = 0;
  EXPECT_EQ(soname_at(&on_the_stack), "no object");
  EXPECT_EQ(soname_at(nullptr), "no object");
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
