#include <fcntl.h>

#include "common/mpi_file.h"
#include "common/posix_io.h"
#include "lattice/ways.h"

namespace headrace::bench::lattice {
namespace {

class MpiioWay final : public Way {
 public:
  MpiioWay(const World& world, const Geometry& geometry, const Hints& hints)
      : communicator_(world.communicator), info_(make_info(hints)) {
    std::vector<MPI_Aint> displacements;
    for (const Run& run : geometry.runs()) {
      displacements.push_back(static_cast<MPI_Aint>(run.first_site * bytes_per_site));
    }
    MPI_Type_create_hindexed_block(static_cast<int>(displacements.size()),
                                   static_cast<int>(geometry.run_length() * doubles_per_site),
                                   displacements.data(), MPI_DOUBLE, &type_);
    MPI_Type_commit(&type_);
  }

  ~MpiioWay() override {
    MPI_Type_free(&type_);
    if (info_ != MPI_INFO_NULL) MPI_Info_free(&info_);
  }

  std::string open(const std::string& path, bool writing) override {
    const std::string error = file_.open(communicator_, path, writing, info_);
    if (!error.empty()) return error;
    return file_.result(
        MPI_File_set_view(file_.handle(), 0, MPI_DOUBLE, type_, "native", MPI_INFO_NULL),
        "set the view of");
  }

  std::string write(std::span<const double> field) override {
    if (!file_.is_open()) return {};
    MPI_Status status;
    const int count = static_cast<int>(field.size());
    return finish(MPI_File_write_all(file_.handle(), field.data(), count, MPI_DOUBLE, &status),
                  status, count, "write to");
  }

  std::string read(std::span<double> field) override {
    if (!file_.is_open()) return {};
    MPI_Status status;
    const int count = static_cast<int>(field.size());
    return finish(MPI_File_read_all(file_.handle(), field.data(), count, MPI_DOUBLE, &status),
                  status, count, "read");
  }

  std::string sync() override { return file_.sync(); }
  std::string close() override { return file_.close(); }
  Hints hints() const override { return file_.hints(); }

 private:
  std::string finish(int code, MPI_Status& status, int expected, const char* action) const {
    return file_.moved(code, status, MPI_DOUBLE, expected, "doubles", action);
  }

  MPI_Comm communicator_;
  MPI_Info info_;
  MpiFile file_;
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

class PosixWay final : public Way {
 public:
  explicit PosixWay(const Geometry& geometry) : runs_(geometry.runs()) {}

  std::string open(const std::string& path, bool writing) override {
    const std::string error = file_.open(path, writing ? O_CREAT | O_RDWR : O_RDONLY);
    open_ = error.empty();
    return error;
  }

  std::string write(std::span<const double> field) override {
    return for_each_run([&](std::int64_t offset, std::size_t first, std::size_t bytes) {
      return file_.write_at(offset, field.data() + first, bytes);
    });
  }

  std::string read(std::span<double> field) override {
    return for_each_run([&](std::int64_t offset, std::size_t first, std::size_t bytes) {
      return file_.read_at(offset, field.data() + first, bytes);
    });
  }

  std::string sync() override { return open_ ? file_.sync() : std::string(); }
  std::string close() override { return file_.close(); }

 private:
  template <class Move>
  std::string for_each_run(Move move) {
    std::size_t first = 0;
    for (const Run& run : runs_) {
      if (!open_) return {};
      const std::string error = move(run.first_site * bytes_per_site, first,
                                     static_cast<std::size_t>(run.length * bytes_per_site));
      if (!error.empty()) return error;
      first += static_cast<std::size_t>(run.length * doubles_per_site);
    }
    return {};
  }

  std::vector<Run> runs_;
  PosixFile file_;
  bool open_ = false;
};

}  // namespace

std::unique_ptr<Way> make_mpiio_way(const World& world, const Geometry& geometry,
                                    const Hints& hints) {
  return std::make_unique<MpiioWay>(world, geometry, hints);
}

std::unique_ptr<Way> make_posix_way(const Geometry& geometry) {
  return std::make_unique<PosixWay>(geometry);
}

}  // namespace headrace::bench::lattice
