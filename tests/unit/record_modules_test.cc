#include <gtest/gtest.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "record/modules.h"

namespace headrace::record {
namespace {

int in_program = 0;

std::uintptr_t address_of(const void* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer);
}

TEST(Modules, NameTheProgramByItsFile) {
  Modules modules;
  const Module* const program = modules.find(address_of(&in_program));
  ASSERT_NE(program, nullptr);
  std::array<char, 4096> file{};
  ASSERT_GT(::readlink("/proc/self/exe", file.data(), file.size() - 1), 0);
  EXPECT_EQ(program->name, file.data());
  EXPECT_EQ(modules.find(address_of(&in_program) + 1), program);
  EXPECT_EQ(modules.found().size(), 1U);
}

TEST(Modules, KnowLibrariesAndTheKernelsOwn) {
  Modules modules;
  const Module* const libc = modules.find(reinterpret_cast<std::uintptr_t>(&::fgets));
  ASSERT_NE(libc, nullptr);
  EXPECT_NE(libc->name.find("libc.so"), std::string::npos);
  EXPECT_EQ(libc->build_id.size(), 40U);
  EXPECT_EQ(libc->build_id.find_first_not_of("0123456789abcdef"), std::string::npos);
  if (const unsigned long kernel = ::getauxval(AT_SYSINFO_EHDR); kernel != 0) {
    const Module* const vdso = modules.find(kernel + 64);
    ASSERT_NE(vdso, nullptr);
    EXPECT_NE(vdso->name.find("vdso"), std::string::npos);
    EXPECT_FALSE(vdso->build_id.empty());
  }
}

TEST(Modules, AreNoneWhereThereIsNoObject) {
  Modules modules;
  const std::vector<char> memory(1 << 20);
  EXPECT_EQ(modules.find(address_of(memory.data())), nullptr);
  EXPECT_EQ(modules.find(0), nullptr);
  EXPECT_TRUE(modules.found().empty());
}

using Words = std::vector<std::uint32_t>;

std::string build_id(const Words& notes, std::size_t alignment = 4) {
  return build_id_of_notes(notes.data(), notes.size() * 4, alignment);
}

constexpr std::uint32_t kGnu = 0x00554e47;

TEST(Modules, ReadTheBuildIdAmongOtherNotes) {
  EXPECT_EQ(build_id({4, 4, 3, kGnu, 0x04030201}), "01020304");
  EXPECT_EQ(build_id({4, 4, 1, kGnu, 7, 4, 4, 3, kGnu, 0xffeeddcc}), "ccddeeff");
  EXPECT_EQ(build_id({5, 0, 3, kGnu, 0, 4, 3, 3, kGnu, 0x00030201}), "010203");
}

TEST(Modules, ReadNothingFromBrokenNotes) {
  EXPECT_EQ(build_id({}), "");
  EXPECT_EQ(build_id({4, 4}), "");
  EXPECT_EQ(build_id({4, 8, 3, kGnu, 1}), "");
  EXPECT_EQ(build_id({0xffffffff, 4, 3, kGnu, 1}), "");
  EXPECT_EQ(build_id({4, 0xffffffff, 3, kGnu, 1}), "");
  EXPECT_EQ(build_id({4, 4, 1, kGnu, 1, 4, 4}), "");
}

}  // namespace
}  // namespace headrace::record
