#include <cstring>

#include "common/failure.h"
#include "common/kernel.h"
#include "common/timed_benchmark.h"
#include "lattice/parameters.h"

namespace headrace::bench::lattice {
namespace {

/// Doubles that count up with the lexicographic number of the site, all of them exact.
class FieldContent final : public Content {
 public:
  FieldContent(Geometry geometry, std::int64_t seed)
      : geometry_(std::move(geometry)), seed_(seed) {}

  /// Offsets and lengths are of whole doubles: the field is moved in such.
  void fill(std::int64_t offset, std::span<std::byte> to) const override {
    std::int64_t position = offset / bytes_per_site;
    std::int64_t component = offset % bytes_per_site / 8;
    for (std::size_t at = 0; at < to.size(); ++position, component = 0) {
      const std::int64_t site = geometry_.site_at(position);
      for (; component < doubles_per_site && at < to.size(); ++component, at += 8) {
        const double value = static_cast<double>(seed_ + site * doubles_per_site + component);
        std::memcpy(to.data() + at, &value, 8);
      }
    }
  }

  std::string place(std::int64_t offset) const override {
    return "site " + std::to_string(geometry_.site_at(offset / bytes_per_site)) + " double " +
           std::to_string(offset % bytes_per_site / 8);
  }

 private:
  Geometry geometry_;
  std::int64_t seed_;
};

/// MPI_Type_create_hindexed_block as the view of doubles.
Layout field_layout(const World& world, const Geometry& geometry) {
  Layout layout;
  std::vector<MPI_Aint> displacements;
  for (const Run& run : geometry.runs()) {
    displacements.push_back(static_cast<MPI_Aint>(run.first_site * bytes_per_site));
    add_run(layout.file, run.first_site * bytes_per_site, run.length * bytes_per_site);
  }
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_create_hindexed_block(static_cast<int>(displacements.size()),
                                 static_cast<int>(geometry.run_length() * doubles_per_site),
                                 displacements.data(), MPI_DOUBLE, &type);
  layout.etype = Datatype::predefined(MPI_DOUBLE);
  layout.file_type = Datatype::commit(type);
  complete(world, layout);
  return layout;
}

const char* order_text(Order order) {
  return order == Order::lexicographic ? "lexicographic" : "evenodd";
}

Kernel make_kernel(const Parameters& p, const World& world) {
  const Geometry geometry(p.lattice, p.grid, world.rank, p.order);
  Kernel kernel;
  kernel.name = "lattice";
  kernel.layout = field_layout(world, geometry);
  kernel.content = std::make_unique<FieldContent>(geometry, p.seed);
  kernel.describe = [&p, run_length = geometry.run_length()](JsonWriter& json) {
    json.member("order", order_text(p.order));
    json.member("lattice", text_of(p.lattice, 'x'));
    json.member("grid", text_of(p.grid, 'x'));
    json.member("runBytes", run_length * bytes_per_site);
  };
  return kernel;
}

void print_job(const Parameters& p, const World& world) {
  const Geometry geometry(p.lattice, p.grid, 0, p.order);
  print_kernel_head(
      "lattice", p, world, geometry.site_count() * bytes_per_site,
      {{"process grid", text_of(p.grid, 'x')},
       {"field", text_of(p.lattice, 'x') + " sites, " + order_text(p.order) + " order, runs of " +
                     std::to_string(geometry.run_length() * bytes_per_site) + " bytes"}});
}

int body(int argc, char** argv) {
  return run_timed_benchmark<KernelProgram<Parameters, make_kernel>>(argc, argv, parse_parameters,
                                                                     print_job);
}

}  // namespace
}  // namespace headrace::bench::lattice

int main(int argc, char** argv) {
  return headrace::bench::run_program(argc, argv, {"lattice", "--dims"},
                                      headrace::bench::lattice::body);
}
