#include <cstdio>
#include <limits>

#include "common/failure.h"
#include "common/json.h"
#include "common/options.h"
#include "common/posix_io.h"
#include "common/test_file.h"
#include "common/timed_benchmark.h"
#include "common/timed_results.h"
#include "lattice/ways.h"

namespace headrace::bench::lattice {
namespace {

/// Double number `component` of the site with this lexicographic number; exact in a double.
double value(const Parameters& parameters, std::int64_t site, std::int64_t component) {
  return static_cast<double>(parameters.seed + site * doubles_per_site + component);
}

/// Exports and imports the field and checks every double.
class Bench {
 public:
  Bench(const Parameters& parameters, const World& world, Hints hints)
      : parameters_(parameters),
        world_(world),
        geometry_(parameters.lattice, parameters.grid, world.rank, parameters.order),
        hints_(std::move(hints)),
        field_(static_cast<std::size_t>(geometry_.local_site_count() * doubles_per_site)) {}

  void run() {
    for (std::int64_t i = 0; i < parameters_.repetitions; ++i) {
      try {
        if (parameters_.write) write(i);
        if (parameters_.read) read(i);
      } catch (const AgreedFailure&) {
        if (parameters_.write && !parameters_.keep) remove_file();
        throw;
      }
      if (!parameters_.keep && parameters_.write) remove_file();
    }
  }

  void report() const {
    std::printf("\n");
    print_maxima(accesses_);
    if (!parameters_.skip_check) {
      std::printf("Wrong doubles       : %lld\n", static_cast<long long>(wrong_doubles_));
    }
  }

  std::string json() const;
  bool is_right() const { return wrong_doubles_ == 0; }

 private:
  std::unique_ptr<Way> make_way() const {
    if (parameters_.way == "mpiio") return make_mpiio_way(world_, geometry_, hints_);
    if (parameters_.way == "posix") return make_posix_way(geometry_);
    return make_rank0_way(world_, parameters_);
  }

  void write(std::int64_t repetition) {
    remove_file();
    require_space(world_.communicator, parameters_.file, geometry_.site_count() * bytes_per_site);
    fill();
    access(true, repetition);
    if (!parameters_.skip_check) check_file();
  }

  void read(std::int64_t repetition) {
    std::fill(field_.begin(), field_.end(), std::numeric_limits<double>::quiet_NaN());
    access(false, repetition);
    if (!parameters_.skip_check) count_wrong("read");
  }

  void access(bool writing, std::int64_t repetition);
  void fill();
  void count_wrong(const char* action);
  void check_file();
  void remove_file() { remove_test_file(world_.communicator, parameters_.file, world_.rank == 0); }

  const Parameters& parameters_;
  const World& world_;
  Geometry geometry_;
  Hints hints_;
  std::vector<double> field_;
  std::vector<TimedAccess> accesses_;
  std::int64_t wrong_doubles_ = 0;
};

void Bench::access(bool writing, std::int64_t repetition) {
  const std::unique_ptr<Way> way = make_way();
  Stamps stamps;
  MPI_Barrier(world_.communicator);
  stamps.open_begin = world_.now();
  std::string error = way->open(parameters_.file, writing);
  stamps.open_end = stamps.transfer_begin = world_.now();
  const std::string moved = writing ? way->write(field_) : way->read(field_);
  const std::string synced = writing && parameters_.fsync ? way->sync() : std::string();
  stamps.transfer_end = world_.now();
  TimedAccess result;
  result.hints = way->hints();
  stamps.close_begin = world_.now();
  const std::string closed = way->close();
  // Through rank 0 the others are done early; all wait, so that every way ends at one time.
  MPI_Barrier(world_.communicator);
  stamps.close_end = world_.now();
  for (const std::string& text : {moved, synced, closed}) {
    if (error.empty()) error = text;
  }
  agree(world_.communicator, error);
  result.writing = writing;
  result.repetition = repetition;
  result.bytes = geometry_.site_count() * bytes_per_site;
  result.seconds = durations(world_, stamps);
  accesses_.push_back(result);
  if (world_.rank != 0 || parameters_.json == "-") return;
  if (parameters_.show_hints && repetition == 0) print_hints(result.hints);
  print_access(result);
}

void Bench::fill() {
  double* to = field_.data();
  for (const Run& run : geometry_.runs()) {
    for (std::int64_t i = 0; i < run.length; ++i) {
      const std::int64_t site = geometry_.site_at(run.first_site + i);
      for (std::int64_t k = 0; k < doubles_per_site; ++k) *to++ = value(parameters_, site, k);
    }
  }
}

void Bench::count_wrong(const char* action) {
  const double* from = field_.data();
  std::int64_t wrong = 0;
  for (const Run& run : geometry_.runs()) {
    for (std::int64_t i = 0; i < run.length; ++i) {
      const std::int64_t site = geometry_.site_at(run.first_site + i);
      for (std::int64_t k = 0; k < doubles_per_site; ++k, ++from) {
        if (*from == value(parameters_, site, k)) continue;
        if (++wrong > 1) continue;
        std::fprintf(stderr,
                     "lattice: error: wrong data after %s, first at site %lld double %lld\n",
                     action, static_cast<long long>(site), static_cast<long long>(k));
      }
    }
  }
  wrong_doubles_ += sum(world_, wrong);
}

/// Reads the file back without MPI-IO, each rank the sites it holds, and compares.
void Bench::check_file() {
  std::fill(field_.begin(), field_.end(), std::numeric_limits<double>::quiet_NaN());
  const std::unique_ptr<Way> way = make_posix_way(geometry_);
  std::string error = way->open(parameters_.file, false);
  if (error.empty()) error = way->read(field_);
  const std::int64_t size = file_size(parameters_.file);
  if (error.empty() && size != geometry_.site_count() * bytes_per_site) {
    error = "'" + parameters_.file + "' has " + std::to_string(size) + " bytes after writing (" +
            std::to_string(geometry_.site_count() * bytes_per_site) + " were written)";
  }
  agree(world_.communicator, error);
  count_wrong("write");
}

std::string vector_text(const Vector4& v) {
  return std::to_string(v[0]) + "x" + std::to_string(v[1]) + "x" + std::to_string(v[2]) + "x" +
         std::to_string(v[3]);
}

const char* order_text(Order order) {
  return order == Order::lexicographic ? "lexicographic" : "evenodd";
}

std::string Bench::json() const {
  JsonWriter json;
  json.open_object();
  json.member("program", "headrace bench lattice");
  json.member("MPI", library_version());
  json.member("ranks", world_.size);
  json.member("nodes", world_.node_count);
  json.member("way", parameters_.way);
  json.member("order", order_text(parameters_.order));
  json.member("lattice", vector_text(parameters_.lattice));
  json.member("grid", vector_text(parameters_.grid));
  json.member("runBytes", geometry_.run_length() * bytes_per_site);
  json.member("fsync", parameters_.fsync);
  json.member("checked", !parameters_.skip_check);
  json.member("wrongDoubles", wrong_doubles_);
  write_accesses(json, accesses_);
  json.close_object();
  return json.text();
}

void print_job(const Parameters& p, const World& world) {
  const Geometry geometry(p.lattice, p.grid, 0, p.order);
  std::printf("headrace bench lattice\n");
  std::printf("%-20s: %s\n", "MPI", library_version().c_str());
  std::printf("%-20s: %d on %d node(s), process grid %s\n", "ranks", world.size, world.node_count,
              vector_text(p.grid).c_str());
  std::printf("%-20s: %s sites, %s order, runs of %lld bytes\n", "field",
              vector_text(p.lattice).c_str(), order_text(p.order),
              static_cast<long long>(geometry.run_length() * bytes_per_site));
  std::printf("%-20s: %s to '%s' by way of %s\n\n", "file",
              format_size(geometry.site_count() * bytes_per_site).c_str(), p.file.c_str(),
              p.way.c_str());
  print_access_header();
  std::fflush(stdout);
}

int body(int argc, char** argv) {
  return run_timed_benchmark<Bench>(argc, argv, parse_parameters, print_job);
}

}  // namespace
}  // namespace headrace::bench::lattice

int main(int argc, char** argv) {
  return headrace::bench::run_program(argc, argv, "lattice", headrace::bench::lattice::body);
}
