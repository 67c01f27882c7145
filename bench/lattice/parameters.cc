#include "lattice/parameters.h"

#include <charconv>
#include <string_view>

#include "common/failure.h"
#include "common/options.h"

namespace headrace::bench::lattice {
namespace {

[[noreturn]] void reject(const std::string& text) {
  throw AgreedFailure(text, 2);
}

/// Four positive numbers with commas between.
Vector4 parse_vector(const std::string& option, std::string_view text) {
  Vector4 vector{};
  const char* position = text.data();
  const char* end = text.data() + text.size();
  for (std::size_t axis = 0; axis < 4; ++axis) {
    const auto [stop, error] = std::from_chars(position, end, vector[axis]);
    const bool last = axis == 3;
    const bool separated = last ? stop == end : stop != end && *stop == ',';
    if (error != std::errc() || vector[axis] < 1 || vector[axis] > 1 << 20 || !separated) {
      reject("bad value '" + std::string(text) + "' for " + option +
             " (it must be four numbers x,y,z,t), for example 32,16,16,16");
    }
    position = stop + 1;
  }
  return vector;
}

std::string text_of(const Vector4& v) {
  return std::to_string(v[0]) + "," + std::to_string(v[1]) + "," + std::to_string(v[2]) + "," +
         std::to_string(v[3]);
}

void check_grid(Parameters& p, int size) {
  if (p.grid[0] == 0) p.grid = default_grid(p.lattice, size, p.order);
  if (p.grid[0] == 0) {
    reject("no process grid of " + std::to_string(size) + " ranks divides the lattice " +
           text_of(p.lattice) + ", change --dims or the number of ranks");
  }
  if (p.grid[0] * p.grid[1] * p.grid[2] * p.grid[3] != size) {
    reject("the process grid " + text_of(p.grid) + " is not one of " + std::to_string(size) +
           " ranks, change --grid or the number of ranks");
  }
  for (std::size_t axis = 0; axis < 4; ++axis) {
    if (p.lattice[axis] % p.grid[axis] != 0) {
      reject("the lattice " + text_of(p.lattice) + " is not divisible by the process grid " +
             text_of(p.grid) + ", change --dims or --grid");
    }
  }
  if (p.order == Order::even_odd && p.lattice[0] / p.grid[0] % 2 != 0) {
    reject("even/odd order needs an even x extent on each rank, change --dims or --grid");
  }
  const std::int64_t local = p.lattice[0] * p.lattice[1] * p.lattice[2] * p.lattice[3] / size;
  if (local * doubles_per_site > INT32_MAX) {
    reject(
        "a rank would hold more than 2^31 doubles (the count of an MPI call is an int), use "
        "more ranks or a smaller lattice");
  }
}

}  // namespace

Parameters parse_parameters(int argc, char** argv, int size, std::string& help) {
  Parameters p;
  std::string lattice;
  std::string grid;
  std::string order = "lexicographic";
  OptionParser parser(
      "headrace bench lattice",
      "headrace bench lattice: exports and imports a 4-D lattice field, 576 bytes a site, in one "
      "collective call.",
      {
          {0, "dims", &lattice, "lattice x,y,z,t (32,16,16,16); x is fastest in the file"},
          {0, "grid", &grid, "process grid x,y,z,t (chosen to divide the lattice)"},
          {0, "order", &order, "order of sites in the file: lexicographic or evenodd"},
          {0, "way", &p.way, "mpiio (one hindexed view), rank0 (all through rank 0) or posix"},
          {'o', "testFile", &p.file, "the file"},
          {'w', "writeFile", &p.write, "write (with -r or alone; both when neither is given)"},
          {'r', "readFile", &p.read, "read"},
          {'i', "repetitions", &p.repetitions, "how often", 1},
          {'k', "keepFile", &p.keep, "leave the file"},
          {'e', "fsync", &p.fsync, "sync before closing after writing"},
          {'G', "seed", &p.seed, "what the data begin with", 0},
          {'H', "showHints", &p.show_hints, "print the hints of the open file"},
          {'U', "hintsFileName", &p.hints_file, "file of lines IOR_HINT__MPI__<key>=<value>"},
          {0, "json", &p.json, "write the results as JSON here, - for standard output"},
          {0, "noCheck", &p.skip_check, "do not compare the data"},
          {'h', "help", &p.show_help, "this help"},
      });
  parser.parse(argc, argv);
  help = parser.help();
  if (!lattice.empty()) p.lattice = parse_vector("--dims", lattice);
  if (!grid.empty()) p.grid = parse_vector("--grid", grid);
  if (order != "lexicographic" && order != "evenodd") {
    reject("unknown order '" + order + "', give lexicographic or evenodd");
  }
  p.order = order == "evenodd" ? Order::even_odd : Order::lexicographic;
  if (p.way != "mpiio" && p.way != "rank0" && p.way != "posix") {
    reject("unknown way '" + p.way + "', give mpiio, rank0 or posix");
  }
  if (!p.write && !p.read) p.write = p.read = true;
  check_grid(p, size);
  return p;
}

}  // namespace headrace::bench::lattice
