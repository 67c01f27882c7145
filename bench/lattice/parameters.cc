#include "lattice/parameters.h"

#include "common/failure.h"

namespace headrace::bench::lattice {
namespace {

Extents parse_vector(const std::string& option, const std::string& text) {
  return parse_extents(option, text, 4, 4, "four numbers x,y,z,t, as in 32,16,16,16");
}

void check_shape(Parameters& p, int size) {
  const Extents granules{p.order == Order::even_odd ? 2 : 1, 1, 1, 1};
  if (p.grid.empty()) p.grid = choose_grid(p.lattice, size, granules);
  check_grid("lattice", p.lattice, p.grid, size);
  if (p.lattice[0] / p.grid[0] % granules[0] != 0) {
    throw AgreedFailure(
        "even/odd order needs an even x extent on each rank, change --dims or --grid", 2);
  }
  const std::int64_t sites = product(p.lattice) / size;
  check_size(sites > INT32_MAX ? sites : sites * bytes_per_site, size);
}

}  // namespace

Parameters parse_parameters(int argc, char** argv, int size, std::string& help) {
  Parameters p;
  std::string lattice;
  std::string grid;
  std::string order = "lexicographic";
  parse_kernel(argc, argv, "headrace bench lattice",
               "exports and imports a 4-D lattice field, 576 bytes a site, in one collective call.",
               {
                   {0, "dims", &lattice, "lattice x,y,z,t (32,16,16,16); x is fastest in the file"},
                   {0, "grid", &grid, "process grid x,y,z,t (chosen to divide the lattice)"},
                   {0, "order", &order, "order of sites in the file: lexicographic or evenodd"},
               },
               p, help);
  if (p.show_help) return p;
  if (!lattice.empty()) p.lattice = parse_vector("--dims", lattice);
  if (!grid.empty()) p.grid = parse_vector("--grid", grid);
  if (order != "lexicographic" && order != "evenodd") {
    throw AgreedFailure("unknown order '" + order + "', give lexicographic or evenodd", 2);
  }
  p.order = order == "evenodd" ? Order::even_odd : Order::lexicographic;
  check_shape(p, size);
  return p;
}

}  // namespace headrace::bench::lattice
