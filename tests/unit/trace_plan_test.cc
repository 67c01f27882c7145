#include <gtest/gtest.h>

#include <string>

#include "trace/plan.h"

namespace headrace::trace {
namespace {

TracePlan read(const std::string& text) {
  TracePlan plan;
  read_plan(text, plan);
  return plan;
}

TEST(TracePlan, TakesEachKindOfLine) {
  const TracePlan plan = read(
      "# headrace trace plan\n"
      "group blas\n"
      "\n"
      "import solve_\n"
      "hooks 0badcafe 1f40 step\n"
      "nops path:/home/a%20b/app 11a0 5 16 flux\n"
      "prologue 0badcafe 2000 24 554889e541 move");
  EXPECT_TRUE(plan.problems.empty()) << plan.problems.front();
  EXPECT_TRUE(plan.groups.contains("blas"));
  EXPECT_TRUE(plan.imports.contains("solve_"));
  ASSERT_EQ(plan.functions.size(), 3u);
  EXPECT_EQ(plan.functions[0].way, Way::hooks);
  EXPECT_EQ(plan.functions[0].offset, 0x1f40u);
  EXPECT_EQ(plan.functions[1].module, "path:/home/a b/app");
  EXPECT_EQ(plan.functions[1].length, 5u);
  EXPECT_EQ(plan.functions[1].stack_arguments, 16u);
  EXPECT_EQ(plan.functions[2].name, "move");
  EXPECT_EQ(plan.functions[2].bytes, (std::vector<unsigned char>{0x55, 0x48, 0x89, 0xe5, 0x41}));
  EXPECT_FALSE(plan.has_all_hooks);
}

TEST(TracePlan, KeepsWhatWasRefused) {
  const TracePlan plan = read("refused /opt/a%20b/app gone its%20code\nrefused % other %c3%a9\n");
  EXPECT_TRUE(plan.problems.empty());
  EXPECT_TRUE(plan.functions.empty());
  ASSERT_EQ(plan.refused.size(), 2u);
  EXPECT_EQ(plan.refused[0].module, "/opt/a b/app");
  EXPECT_EQ(plan.refused[0].name, "gone");
  EXPECT_EQ(plan.refused[0].why, "its code");
  EXPECT_EQ(plan.refused[1].module, "");
  EXPECT_EQ(plan.refused[1].why, "\xc3\xa9");
}

TEST(TracePlan, TakesAllHooks) {
  EXPECT_TRUE(read("hooks * 0 *\n").has_all_hooks);
}

TEST(TracePlan, NamesLinesThatAreWrong) {
  for (const char* const line :
       {"import", "import a b", "hooks id xyz name", "nops id 10 4 0 name", "nops id 10 33 0 name",
        "nops id 10 5 12 name", "nops id 10 5 99999 name", "prologue id 10 0 5548 name",
        "prologue id 10 0 55488 name", "prologue id 10 0 5548zz8888 name", "trace id 10 name",
        "nops id -1 5 0 name", "refused app name"}) {
    const TracePlan plan = read(std::string("group math\n") + line + "\nimport good\n");
    ASSERT_EQ(plan.problems.size(), 1u) << line;
    EXPECT_TRUE(plan.problems[0].starts_with("line 2 of HEADRACE_TRACE_PLAN is ignored"))
        << plan.problems[0];
    EXPECT_TRUE(plan.functions.empty()) << line;
    EXPECT_TRUE(plan.imports.contains("good")) << line;
  }
}

TEST(TracePlan, TakesGroupsAndSets) {
  TracePlan plan;
  take_groups({"io", "heap", "0"}, plan);
  EXPECT_TRUE(plan.problems.empty());
  EXPECT_EQ(plan.groups.size(), 3u);
  EXPECT_TRUE(plan.groups.contains("stdio") && plan.groups.contains("sysio"));
}

TEST(TracePlan, SaysWhyGroupsAreNotTraced) {
  TracePlan plan;
  take_groups({"mpi", "maths"}, plan);
  ASSERT_EQ(plan.problems.size(), 2u);
  EXPECT_EQ(plan.problems[0],
            "'mpi' of HEADRACE_TRACE is ignored (the recorder counts these, always), leave it out");
  EXPECT_TRUE(
      plan.problems[1].starts_with("'maths' of HEADRACE_TRACE is ignored (there is no such group), "
                                   "write math, fftw,"))
      << plan.problems[1];
  EXPECT_TRUE(plan.groups.empty());
}

TEST(TracePlan, FindsTheGroupOfAFunction) {
  EXPECT_EQ(group_of("sin", "libm.so.6"), "math");
  EXPECT_EQ(group_of("sin", "libown.so"), "");
  EXPECT_EQ(group_of("dgemm_", "libopenblas.so.0"), "blas");
  EXPECT_EQ(group_of("dgetrf_", "libopenblas.so.0"), "lapack");
  EXPECT_EQ(group_of("dgetrf_", "libapp.so"), "");
  EXPECT_EQ(group_of("fftw_execute", "libfftw3.so.3"), "fftw");
  EXPECT_EQ(group_of("H5Dwrite", "libhdf5.so.103"), "hdf5");
  EXPECT_EQ(group_of("malloc", "libc.so.6"), "heap");
  EXPECT_EQ(group_of("_Znwm", "libstdc++.so.6"), "heap");
  EXPECT_EQ(group_of("pthread_mutex_lock", "libc.so.6"), "pthreads");
  EXPECT_EQ(group_of("GOMP_parallel", "libgomp.so.1"), "omp");
  EXPECT_EQ(group_of("fread", "libc.so.6"), "stdio");
  EXPECT_EQ(group_of("pwrite", "libc.so.6"), "sysio");
  EXPECT_EQ(group_of("step", ""), "");
}

TEST(TracePlan, LeavesSomeFunctionsAlone) {
  for (const char* const name :
       {"setjmp", "_setjmp", "__sigsetjmp", "vfork", "dlsym", "dlopen", "__tls_get_addr",
        "_Unwind_Resume", "swapcontext", "MPI_Send", "PMPI_Send", "mpi_send_"}) {
    EXPECT_TRUE(is_never_traced(name)) << name;
  }
  EXPECT_FALSE(is_never_traced("malloc"));
  EXPECT_FALSE(is_never_traced("dgemm_"));
}

}  // namespace
}  // namespace headrace::trace
