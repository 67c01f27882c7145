#include "base/result.h"

#include <cerrno>
#include <cstring>

namespace headrace {
namespace {

struct Advice {
  int system_error;
  ErrorClass error_class;
  const char* what_to_do;
};

// One line per errno that a file call can meet; the rest is ErrorClass::io.
constexpr Advice kAdvices[] = {
    {ENOENT, ErrorClass::no_such_file, "check the path; missing directories are not created"},
    {ENOTDIR, ErrorClass::bad_file, "check the path"},
    {ENAMETOOLONG, ErrorClass::bad_file, "use a shorter path"},
    {ELOOP, ErrorClass::bad_file, "check the symbolic links in the path"},
    {EISDIR, ErrorClass::bad_file, "name a file, not a directory"},
    {EEXIST, ErrorClass::file_exists, "open it without MPI_MODE_EXCL, or delete it first"},
    {EACCES, ErrorClass::access, "check the permissions of the file and its directory"},
    {EPERM, ErrorClass::access, "check the permissions and attributes of the file"},
    {EROFS, ErrorClass::read_only, "choose a path on a writable file system"},
    {ETXTBSY, ErrorClass::file_in_use, "wait until nobody executes the file"},
    {EBUSY, ErrorClass::file_in_use, "wait until the file is free"},
    {ENOSPC, ErrorClass::no_space, "free some space or write elsewhere"},
    {EDQUOT, ErrorClass::quota, "free some of your quota or write elsewhere"},
    {EFBIG, ErrorClass::io, "raise the file size limit (ulimit -f) or write a smaller file"},
    {EIO, ErrorClass::io, "the storage reports a fault; tell the support staff"},
    {EMFILE, ErrorClass::no_memory, "raise the limit of open files (ulimit -n)"},
    {ENFILE, ErrorClass::no_memory, "too many files are open on this node"},
    {ENOMEM, ErrorClass::no_memory, "use fewer ranks a node or smaller buffers"},
    {EBADF, ErrorClass::io, "let the program close only descriptors that it opened itself"},
    {EINVAL, ErrorClass::io, "the file system does not support this request"},
    {EOPNOTSUPP, ErrorClass::unsupported_operation, "the file system does not support this"},
    {ESTALE, ErrorClass::io, "the file was replaced or its server restarted; open it again"},
};

constexpr Advice kUnknown{0, ErrorClass::io, "check the file system"};

const Advice& advice_for(int system_error) {
  for (const Advice& entry : kAdvices) {
    if (entry.system_error == system_error) return entry;
  }
  return kUnknown;
}

/// Empty if there is no memory for it.
std::string joined(std::initializer_list<std::string_view> parts) noexcept {
  try {
    std::size_t length = 0;
    for (const std::string_view part : parts) length += part.size();
    std::string all;
    all.reserve(length);
    for (const std::string_view part : parts) all += part;
    return all;
  } catch (const std::bad_alloc&) {
    return {};
  }
}

}  // namespace

Error::Error(ErrorClass of_class, int of_call,
             std::initializer_list<std::string_view> text) noexcept
    : error_class(of_class), system_error(of_call), message(joined(text)) {}

ErrorClass class_of_system_error(int system_error) {
  return advice_for(system_error).error_class;
}

Error system_failure(int system_error, std::string_view what, std::string_view path) noexcept {
  const Advice& advice = advice_for(system_error);
  const std::string_view quote = path.empty() ? "" : "'";
  return {advice.error_class,
          system_error,
          {what, path.empty() ? "" : " ", quote, path, quote, " (", std::strerror(system_error),
           "), ", advice.what_to_do}};
}

}  // namespace headrace
