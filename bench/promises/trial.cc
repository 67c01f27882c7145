#include "promises/trial.h"

#include <fcntl.h>

#include "common/failure.h"
#include "common/hints.h"
#include "common/pattern.h"
#include "common/posix_io.h"

namespace headrace::bench::promises {

Trial::Trial(std::string directory, bool layered)
    : directory_(std::move(directory)), layered_(layered) {
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
}

MPI_File Trial::open(int amode, const std::string& name, MPI_Comm communicator) {
  MPI_File file = MPI_FILE_NULL;
  const int code =
      CALL(MPI_File_open(communicator, path(name).c_str(), amode, MPI_INFO_NULL, &file));
  if (!expect_success(code, "open")) throw Stop{};
  // Plain libraries are not asked: not all return an info.
  if (layered_ && file_hints(file).contains("headrace_write_path")) record("layer");
  return file;
}

void Trial::close(MPI_File& file) {
  expect_success(CALL(MPI_File_close(&file)), "close");
}

bool Trial::expect(bool kept, const std::string& text) const {
  if (!kept) broken(text);
  return kept;
}

bool Trial::expect_success(int code, const std::string& what) const {
  return expect(code == MPI_SUCCESS, what + " refused: " + class_name(code));
}

bool Trial::expect_class(int code, int error_class, const std::string& what) const {
  int actual = code;
  if (code != MPI_SUCCESS) MPI_Error_class(code, &actual);
  return expect(actual == error_class, (what.empty() ? "" : what + ": ") + class_name(code));
}

std::string class_name(int code) {
  static const struct {
    int value;
    const char* name;
  } kNames[] = {{MPI_SUCCESS, "MPI_SUCCESS"},
                {MPI_ERR_ACCESS, "MPI_ERR_ACCESS"},
                {MPI_ERR_AMODE, "MPI_ERR_AMODE"},
                {MPI_ERR_ARG, "MPI_ERR_ARG"},
                {MPI_ERR_BAD_FILE, "MPI_ERR_BAD_FILE"},
                {MPI_ERR_COUNT, "MPI_ERR_COUNT"},
                {MPI_ERR_FILE, "MPI_ERR_FILE"},
                {MPI_ERR_FILE_EXISTS, "MPI_ERR_FILE_EXISTS"},
                {MPI_ERR_IN_STATUS, "MPI_ERR_IN_STATUS"},
                {MPI_ERR_INTERN, "MPI_ERR_INTERN"},
                {MPI_ERR_IO, "MPI_ERR_IO"},
                {MPI_ERR_NO_SPACE, "MPI_ERR_NO_SPACE"},
                {MPI_ERR_NO_SUCH_FILE, "MPI_ERR_NO_SUCH_FILE"},
                {MPI_ERR_NOT_SAME, "MPI_ERR_NOT_SAME"},
                {MPI_ERR_OTHER, "MPI_ERR_OTHER"},
                {MPI_ERR_READ_ONLY, "MPI_ERR_READ_ONLY"},
                {MPI_ERR_TYPE, "MPI_ERR_TYPE"},
                {MPI_ERR_UNKNOWN, "MPI_ERR_UNKNOWN"},
                {MPI_ERR_UNSUPPORTED_OPERATION, "MPI_ERR_UNSUPPORTED_OPERATION"}};
  int error_class = code;
  if (code != MPI_SUCCESS) MPI_Error_class(code, &error_class);
  for (const auto& known : kNames) {
    if (known.value == error_class) return known.name;
  }
  return "error class " + std::to_string(error_class);
}

unsigned char pattern_byte(int rank, std::int64_t index) {
  const auto number = static_cast<std::uint64_t>(rank) << 48 | static_cast<std::uint64_t>(index);
  return static_cast<unsigned char>(1 + mix(number) % 255);
}

std::vector<unsigned char> pattern(int rank, std::int64_t length) {
  std::vector<unsigned char> bytes(static_cast<std::size_t>(length));
  for (std::int64_t i = 0; i < length; ++i) {
    bytes[static_cast<std::size_t>(i)] = pattern_byte(rank, i);
  }
  return bytes;
}

MPI_Status empty_status() {
  MPI_Status status{};
  MPI_Status_set_elements(&status, MPI_BYTE, 0);
  MPI_Status_set_cancelled(&status, 0);
  return status;
}

std::int64_t byte_count(const MPI_Status& status) {
  int count = -1;
  MPI_Get_count(&status, MPI_BYTE, &count);
  return count == MPI_UNDEFINED ? -1 : count;
}

Places one_after_another(const Trial& trial, std::int64_t length) {
  return {trial.rank * length, length, length};
}

Places in_turn(const Trial& trial, std::int64_t piece) {
  return {trial.rank * piece, piece, trial.size * piece};
}

void see(const Trial& trial, MPI_File file, const Places& places) {
  MPI_Datatype piece = MPI_DATATYPE_NULL;
  MPI_Datatype filetype = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(static_cast<int>(places.piece), MPI_BYTE, &piece);
  MPI_Type_create_resized(piece, 0, static_cast<MPI_Aint>(places.stride), &filetype);
  MPI_Type_commit(&filetype);
  const int code =
      CALL(MPI_File_set_view(file, places.first, MPI_BYTE, filetype, "native", MPI_INFO_NULL));
  trial.expect_success(code, "set_view");
  MPI_Type_free(&filetype);
  MPI_Type_free(&piece);
}

std::vector<unsigned char> content(const std::string& path) {
  const std::int64_t length = file_size(path);
  if (length <= 0) return {};
  std::vector<unsigned char> bytes(static_cast<std::size_t>(length));
  PosixFile file;
  std::string error = file.open(path, O_RDONLY);
  if (error.empty()) error = file.read_at(0, bytes.data(), bytes.size());
  if (!error.empty()) throw Failure(error);
  return bytes;
}

void make_file(const std::string& path, const std::vector<unsigned char>& bytes) {
  PosixFile file;
  std::string error = file.open(path, O_WRONLY | O_CREAT | O_TRUNC);
  if (error.empty()) error = file.write_at(0, bytes.data(), bytes.size());
  if (error.empty()) error = file.close();
  if (!error.empty()) throw Failure(error);
}

}  // namespace headrace::bench::promises
