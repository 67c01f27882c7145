#include "abi/flavour/error.h"

#include <cstdint>
#include <map>
#include <mutex>
#include <new>
#include <utility>

#include "abi/flavour/error_handler.h"
#include "abi/flavour/job.h"

namespace headrace::HEADRACE_FLAVOUR {
namespace {

/// At most so many codes with messages: they stay for the rest of the job. MPICH has room for
/// 8,192, Open MPI for as many as memory allows.
constexpr std::size_t kLargestRegistry = 512;

int class_of(ErrorClass error_class) {
  switch (error_class) {
    case ErrorClass::success: return MPI_SUCCESS;
    case ErrorClass::access: return MPI_ERR_ACCESS;
    case ErrorClass::amode: return MPI_ERR_AMODE;
    case ErrorClass::argument: return MPI_ERR_ARG;
    case ErrorClass::bad_file: return MPI_ERR_BAD_FILE;
    case ErrorClass::buffer: return MPI_ERR_BUFFER;
    case ErrorClass::communicator: return MPI_ERR_COMM;
    case ErrorClass::conversion: return MPI_ERR_CONVERSION;
    case ErrorClass::count: return MPI_ERR_COUNT;
    case ErrorClass::duplicate_datarep: return MPI_ERR_DUP_DATAREP;
    case ErrorClass::type: return MPI_ERR_TYPE;
    case ErrorClass::file: return MPI_ERR_FILE;
    case ErrorClass::file_exists: return MPI_ERR_FILE_EXISTS;
    case ErrorClass::file_in_use: return MPI_ERR_FILE_IN_USE;
    case ErrorClass::info: return MPI_ERR_INFO;
    case ErrorClass::io: return MPI_ERR_IO;
    case ErrorClass::no_memory: return MPI_ERR_NO_MEM;
    case ErrorClass::no_space: return MPI_ERR_NO_SPACE;
    case ErrorClass::no_such_file: return MPI_ERR_NO_SUCH_FILE;
    case ErrorClass::not_same: return MPI_ERR_NOT_SAME;
    case ErrorClass::quota: return MPI_ERR_QUOTA;
    case ErrorClass::read_only: return MPI_ERR_READ_ONLY;
    case ErrorClass::request: return MPI_ERR_REQUEST;
    case ErrorClass::truncated: return MPI_ERR_TRUNCATE;
    case ErrorClass::unsupported_datarep: return MPI_ERR_UNSUPPORTED_DATAREP;
    case ErrorClass::unsupported_operation: return MPI_ERR_UNSUPPORTED_OPERATION;
    case ErrorClass::other: break;
  }
  return MPI_ERR_OTHER;
}

/// Whether the library's message for `code` is `message`. MPICH 4.0 has unrelated messages of its
/// own for codes that were added to a predefined class.
bool has_text(int code, const std::string& message) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  return native.Error_string(code, text, &length) == MPI_SUCCESS && message == text;
}

}  // namespace

int code_of(const Error& error) try {
  const int error_class = class_of(error.error_class);
  if (error.message.empty()) return error_class;

  static std::mutex& mutex = *new std::mutex;
  static auto& registry = *new std::map<std::pair<int, std::string>, int>;
  static std::uint64_t registry_life = 0;
  const std::lock_guard lock(mutex);
  const std::uint64_t life = library_life();
  if (std::exchange(registry_life, life) != life) registry.clear();
  const auto key = std::pair(error_class, error.message.substr(0, MPI_MAX_ERROR_STRING - 1));
  const auto known = registry.find(key);
  if (known != registry.end()) return known->second;
  if (registry.size() >= kLargestRegistry) return error_class;
  int code = error_class;
  if (native.Add_error_code(error_class, &code) != MPI_SUCCESS ||
      native.Add_error_string(code, key.second.c_str()) != MPI_SUCCESS ||
      !has_text(code, key.second)) {
    code = error_class;  // keep this, so that no further code is used for it
  }
  registry.emplace(key, code);
  return code;
} catch (const std::bad_alloc&) {
  return class_of(error.error_class);
}

int raise(MPI_File fh, const Error& error) {
  return call_error_handler(fh, code_of(error));
}

Error native_failure(const std::string& what) {
  return {ErrorClass::other, 0,
          "cannot " + what +
              " (the MPI library returned an error), read its own messages; /dev/shm may be full"};
}

}  // namespace headrace::HEADRACE_FLAVOUR
