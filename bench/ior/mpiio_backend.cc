#include "common/mpi_file.h"
#include "ior/backend.h"

namespace headrace::bench::ior {
namespace {

class MpiioBackend final : public Backend {
 public:
  MpiioBackend(const Parameters& parameters, const World& world, const Layout& layout,
               const Hints& hints)
      : parameters_(parameters),
        layout_(layout),
        communicator_(parameters.file_per_process ? MPI_COMM_SELF : world.communicator),
        info_(make_info(hints)) {
    MPI_Type_contiguous(static_cast<int>(parameters.transfer_size), MPI_BYTE, &transfer_type_);
    MPI_Type_commit(&transfer_type_);
  }

  ~MpiioBackend() override {
    if (file_type_ != MPI_DATATYPE_NULL) MPI_Type_free(&file_type_);
    MPI_Type_free(&transfer_type_);
    if (info_ != MPI_INFO_NULL) MPI_Info_free(&info_);
  }

  std::string open(const std::string& path, bool writing, int task) override {
    std::string error = file_.open(communicator_, path, writing, info_);
    if (!error.empty()) return error;
    if (writing && parameters_.preallocate) {
      error =
          file_.result(MPI_File_preallocate(file_.handle(), layout_.file_size()), "preallocate");
    }
    const std::string view_error = parameters_.use_file_view ? set_view(task) : std::string();
    return error.empty() ? view_error : error;
  }

  std::string write(std::int64_t offset, std::span<const std::byte> data) override {
    MPI_Status status;
    const std::string error = finish(write_call(offset, data.data(), &status), status, "write to");
    if (error.empty() && parameters_.fsync_per_write) return sync();
    return error;
  }

  std::string read(std::int64_t offset, std::span<std::byte> data) override {
    MPI_Status status;
    return finish(read_call(offset, data.data(), &status), status, "read");
  }

  std::string sync() override { return file_.sync(); }
  std::string close() override { return file_.close(); }
  Hints hints() const override { return file_.hints(); }
  bool must_go_on() const override { return parameters_.collective; }

 private:
  int write_call(std::int64_t offset, const std::byte* data, MPI_Status* status) {
    if (parameters_.use_file_view) {
      return parameters_.collective
                 ? MPI_File_write_all(file_.handle(), data, 1, transfer_type_, status)
                 : MPI_File_write(file_.handle(), data, 1, transfer_type_, status);
    }
    return parameters_.collective
               ? MPI_File_write_at_all(file_.handle(), offset, data, 1, transfer_type_, status)
               : MPI_File_write_at(file_.handle(), offset, data, 1, transfer_type_, status);
  }

  int read_call(std::int64_t offset, std::byte* data, MPI_Status* status) {
    if (parameters_.use_file_view) {
      return parameters_.collective
                 ? MPI_File_read_all(file_.handle(), data, 1, transfer_type_, status)
                 : MPI_File_read(file_.handle(), data, 1, transfer_type_, status);
    }
    return parameters_.collective
               ? MPI_File_read_at_all(file_.handle(), offset, data, 1, transfer_type_, status)
               : MPI_File_read_at(file_.handle(), offset, data, 1, transfer_type_, status);
  }

  /// Shows the task its own blocks only: one block of transfers, then a gap up to the next segment.
  std::string set_view(int task) {
    MPI_Datatype block = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(static_cast<int>(parameters_.transfers_per_block()), transfer_type_,
                        &block);
    if (file_type_ != MPI_DATATYPE_NULL) MPI_Type_free(&file_type_);
    MPI_Type_create_resized(block, 0, static_cast<MPI_Aint>(layout_.segment_size()), &file_type_);
    MPI_Type_free(&block);
    MPI_Type_commit(&file_type_);
    return file_.result(MPI_File_set_view(file_.handle(), layout_.block_start(task), transfer_type_,
                                          file_type_, "native", MPI_INFO_NULL),
                        "set the view of");
  }

  std::string finish(int code, MPI_Status& status, const char* action) const {
    return file_.moved(code, status, MPI_BYTE, parameters_.transfer_size, "bytes", action);
  }

  const Parameters& parameters_;
  const Layout& layout_;
  MPI_Comm communicator_;
  MPI_Info info_;
  MpiFile file_;
  MPI_Datatype transfer_type_ = MPI_DATATYPE_NULL;
  MPI_Datatype file_type_ = MPI_DATATYPE_NULL;
};

}  // namespace

std::unique_ptr<Backend> make_mpiio_backend(const Parameters& parameters, const World& world,
                                            const Layout& layout, const Hints& hints) {
  return std::make_unique<MpiioBackend>(parameters, world, layout, hints);
}

}  // namespace headrace::bench::ior
