// Calls a few procedures, in C and in Fortran, through two features to a library that is made up
// here, and says on which way each went and whether its arguments arrived.
// test_composed_features.py builds it with chain.cc and what the generator makes of features like
// those of the layer.
#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <string>

#include "abi/front/chain.h"
#include "abi/front/entry_table.h"
#include "abi/generated/features.h"
#include "inner.h"
#include "outer.h"

namespace headrace {

const Settings& settings() {
  static const Settings only;
  return only;
}

namespace {

using abi::Entry;
using abi::Name;

std::string way;  ///< what the last call has passed through, and what came to the library

double library_wtime() {
  way += "library";
  return 1234.0625;
}

int library_pcontrol(int level, ...) {
  va_list arguments;
  va_start(arguments, level);
  std::string text = "library " + std::to_string(level);
  if (level == 3) {
    for (int i = 0; i < 6; ++i) {
      text += " " + std::to_string(va_arg(arguments, int));
      text += " " + std::to_string(va_arg(arguments, double));
    }
    for (int i = 0; i < 4; ++i) text += " " + std::to_string(va_arg(arguments, double));
  }
  va_end(arguments);
  way += text;
  return level;
}

using Words = const long*;

int library_sendrecv(long a, long b, long c, long d, long e, long f, long g, long h, long i, long j,
                     long k, long l) {
  way += "library";
  for (const long each : {a, b, c, d, e, f, g, h, i, j, k, l}) way += " " + std::to_string(each);
  return 42;
}

void library_fortran_open(Words communicator, const char* file, Words mode, Words info,
                          long* handle, int* error, std::size_t length) {
  way += "library " + std::to_string(*communicator) + " " + std::string(file, length) + " " +
         std::to_string(*mode) + " " + std::to_string(*info);
  *handle = 7;
  *error = 8;
}

double library_fortran_wtime() {
  way += "fortran";
  return 0.015625;
}

void library_fortran_barrier(const int* communicator, int* error) {
  way += "f08 " + std::to_string(*communicator);
  *error = 9;
}

void* library(Entry entry) {
  switch (entry) {
    case Entry::Wtime: return reinterpret_cast<void*>(&library_wtime);
    case Entry::Pcontrol: return reinterpret_cast<void*>(&library_pcontrol);
    case Entry::Sendrecv: return reinterpret_cast<void*>(&library_sendrecv);
    case Entry::File_open_mpif: return reinterpret_cast<void*>(&library_fortran_open);
    case Entry::Wtime_mpif: return reinterpret_cast<void*>(&library_fortran_wtime);
    case Entry::Barrier_f08: return reinterpret_cast<void*>(&library_fortran_barrier);
    default: return nullptr;
  }
}

}  // namespace

// What else the front has.
namespace abi {
void* next_function(Name, Entry entry) {
  return library(entry);
}
bool is_missing(void*) {
  return false;
}
void catch_unexported() {}
void* resolve(Name name, Entry entry) {
  lead_to(name, entry, library(entry));
  return library(entry);
}
}  // namespace abi

namespace HEADRACE_FLAVOUR {
namespace outer {
void count(Entry, Name name) {
  way += name == Name::mpi ? "outer " : "outer-pmpi ";
}
void obey(int level) {
  if (level == kOff) abi::switch_off(abi::FeatureId::outer);
}
}  // namespace outer
namespace inner {
void count(Entry, Name name) {
  way += name == Name::mpi ? "inner " : "inner-pmpi ";
}
void obey(int) {}
}  // namespace inner
const abi::Feature outer_feature = {
    abi::FeatureId::outer, "outer", outer_wrappers, nullptr, nullptr, nullptr};
const abi::Feature inner_feature = {
    abi::FeatureId::inner, "inner", inner_wrappers, nullptr, nullptr, nullptr, true};
}  // namespace HEADRACE_FLAVOUR

}  // namespace headrace

extern "C" {
double MPI_Wtime();
double PMPI_Wtime();
int MPI_Pcontrol(int level, ...);
int MPI_Sendrecv(long, long, long, long, long, long, long, long, long, long, long, long);
void headrace_mpi_file_open_(const long*, const char*, const long*, const long*, long*, int*,
                             std::size_t);
double headrace_mpi_wtime_();
void headrace_mpi_barrier_f08_(const int*, int*);
}

namespace {

void say(const std::string& result) {
  std::printf("%s -> %s\n", headrace::way.c_str(), result.c_str());
  headrace::way.clear();
}

void call_all() {
  say(std::to_string(MPI_Wtime()));
  say(std::to_string(PMPI_Wtime()));
  say(std::to_string(
      MPI_Pcontrol(3, 1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5, 5.5, 6, 6.5, 7.5, 8.5, 9.5, 10.5)));
  say(std::to_string(MPI_Sendrecv(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12)));
  const long communicator = 5;
  const long mode = 6;
  const long info = -1;
  long handle = 0;
  int error = 0;
  headrace_mpi_file_open_(&communicator, "name of 4", &mode, &info, &handle, &error, 4);
  say(std::to_string(handle) + " " + std::to_string(error));
  say(std::to_string(headrace_mpi_wtime_()));
  const int world = 3;
  headrace_mpi_barrier_f08_(&world, &error);
  say(std::to_string(error));
}

}  // namespace

int main() {
  using namespace headrace;
  abi::set_features(HEADRACE_FLAVOUR::features);
  if (!abi::start_features()) return 1;
  std::printf("before any has joined\n");
  call_all();
  abi::join_features();
  std::printf("outer\n");
  call_all();
  abi::switch_on(abi::FeatureId::inner);
  std::printf("both\n");
  call_all();
  say(std::to_string(MPI_Pcontrol(HEADRACE_FLAVOUR::outer::kOff)));
  std::printf("inner\n");
  call_all();
  return 0;
}
