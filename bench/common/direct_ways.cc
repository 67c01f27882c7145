#include <fcntl.h>

#include "common/mpi_file.h"
#include "common/posix_io.h"
#include "common/ways.h"

namespace headrace::bench {
namespace {

class MpiioWay final : public Way {
 public:
  MpiioWay(const World& world, const Layout& layout, const Hints& hints, Views views)
      : communicator_(world.communicator), layout_(layout), info_(make_info(hints)), views_(views) {
    int size = 1;
    MPI_Type_size(layout.etype.get(), &size);
    contiguous_count_ = static_cast<int>(layout.bytes / size);
  }

  ~MpiioWay() override {
    if (info_ != MPI_INFO_NULL) MPI_Info_free(&info_);
  }

  std::string open(const std::string& path, bool writing) override {
    const std::string error = file_.open(communicator_, path, writing, info_);
    return error.empty() ? set_view(0) : error;
  }

  std::string move(bool writing, std::int64_t displacement, std::byte* memory) override {
    if (!file_.is_open()) return {};
    std::string error;
    if (views_ == Views::each_call && displacement != viewed_) error = set_view(displacement);
    const bool contiguous = layout_.is_contiguous_in_memory();
    const int count = contiguous ? contiguous_count_ : 1;
    const MPI_Datatype type = contiguous ? layout_.etype.get() : layout_.memory_type.get();
    MPI_Status status{};
    const int code = writing ? MPI_File_write_all(file_.handle(), memory, count, type, &status)
                             : MPI_File_read_all(file_.handle(), memory, count, type, &status);
    if (!error.empty()) return error;
    return file_.moved(code, status, MPI_BYTE, layout_.bytes, "bytes",
                       writing ? "write to" : "read");
  }

  std::string sync() override { return file_.sync(); }
  std::string close() override { return file_.close(); }
  Hints hints() const override { return file_.hints(); }

 private:
  std::string set_view(std::int64_t displacement) {
    viewed_ = displacement;
    return file_.set_view(displacement + layout_.start, layout_.etype.get(),
                          layout_.file_type.get());
  }

  MPI_Comm communicator_;
  const Layout& layout_;
  MPI_Info info_;
  Views views_;
  MpiFile file_;
  int contiguous_count_ = 0;
  std::int64_t viewed_ = 0;
};

class PosixWay final : public Way {
 public:
  PosixWay(const Layout& layout, std::int64_t request) : layout_(layout), request_(request) {}

  std::string open(const std::string& path, bool writing) override {
    const std::string error = file_.open(path, writing ? O_CREAT | O_RDWR : O_RDONLY);
    open_ = error.empty();
    return error;
  }

  std::string move(bool writing, std::int64_t displacement, std::byte* memory) override {
    PieceCursor pieces(layout_.file, layout_.memory);
    std::string error;
    while (open_ && error.empty()) {
      const Piece piece = pieces.next(INT64_MAX, request_);
      if (piece.length == 0) break;
      const std::int64_t offset = displacement + piece.file_offset;
      std::byte* at = memory + piece.memory_offset;
      const std::size_t length = static_cast<std::size_t>(piece.length);
      error = writing ? file_.write_at(offset, at, length) : file_.read_at(offset, at, length);
    }
    return error;
  }

  std::string sync() override { return open_ ? file_.sync() : std::string(); }
  std::string close() override { return file_.close(); }

 private:
  const Layout& layout_;
  std::int64_t request_;
  PosixFile file_;
  bool open_ = false;
};

}  // namespace

std::unique_ptr<Way> make_mpiio_way(const World& world, const Layout& layout, const Hints& hints,
                                    Views views) {
  return std::make_unique<MpiioWay>(world, layout, hints, views);
}

std::unique_ptr<Way> make_posix_way(const Layout& layout, std::int64_t request) {
  return std::make_unique<PosixWay>(layout, request);
}

}  // namespace headrace::bench
