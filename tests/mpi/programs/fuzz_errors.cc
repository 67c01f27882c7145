#include "fuzz_errors.h"

#include <utility>

namespace headrace::fuzz {

std::string class_of(int code) {
  if (code == MPI_SUCCESS) return {};
  int error_class = MPI_ERR_OTHER;
  MPI_Error_class(code, &error_class);
  const std::pair<int, const char*> names[] = {
      {MPI_ERR_ACCESS, "access"},
      {MPI_ERR_AMODE, "amode"},
      {MPI_ERR_ARG, "arg"},
      {MPI_ERR_BAD_FILE, "bad_file"},
      {MPI_ERR_COUNT, "count"},
      {MPI_ERR_FILE, "file"},
      {MPI_ERR_FILE_EXISTS, "file_exists"},
      {MPI_ERR_IO, "io"},
      {MPI_ERR_NO_MEM, "no_mem"},
      {MPI_ERR_NO_SPACE, "no_space"},
      {MPI_ERR_NO_SUCH_FILE, "no_such_file"},
      {MPI_ERR_NOT_SAME, "not_same"},
      {MPI_ERR_READ_ONLY, "read_only"},
      {MPI_ERR_REQUEST, "request"},
      {MPI_ERR_TYPE, "type"},
      {MPI_ERR_UNSUPPORTED_DATAREP, "unsupported_datarep"},
      {MPI_ERR_UNSUPPORTED_OPERATION, "unsupported_operation"}};
  for (const auto& [value, name] : names) {
    if (value == error_class) return name;
  }
  return "other";
}

std::string message_of(int code) {
  char text[MPI_MAX_ERROR_STRING + 1] = "";
  int length = 0;
  if (code != MPI_SUCCESS) MPI_Error_string(code, text, &length);
  return text;
}

MPI_Status empty_status() {
  MPI_Status status{};
  MPI_Status_set_elements(&status, MPI_BYTE, 0);
  MPI_Status_set_cancelled(&status, 0);
  return status;
}

bool is_in_status(int code) {
  int error_class = MPI_SUCCESS;
  if (code != MPI_SUCCESS) MPI_Error_class(code, &error_class);
  return error_class == MPI_ERR_IN_STATUS;
}

}  // namespace headrace::fuzz
