#pragma once

#include <cerrno>
#include <new>
#include <string>
#include <utility>
#include <variant>

namespace headrace {

/// MPI's error classes as names; only the abi room knows their numbers.
enum class ErrorClass {
  success,
  access,    ///< permission denied
  amode,     ///< the access mode does not allow it
  argument,  ///< an argument that no other class names
  bad_file,  ///< invalid file name
  buffer,
  communicator,
  conversion,  ///< a conversion function of a data representation failed
  count,
  duplicate_datarep,
  type,
  file,  ///< invalid file handle
  file_exists,
  file_in_use,
  info,
  io,  ///< the file system failed
  no_memory,
  no_space,
  no_such_file,
  not_same,  ///< a collective argument differs between ranks
  quota,
  read_only,  ///< read-only file or file system
  request,    ///< invalid request handle
  unsupported_datarep,
  unsupported_operation,
  other,
};

/// What went wrong. The message reads "problem (why it is one), what to do".
struct [[nodiscard]] Error {
  ErrorClass error_class = ErrorClass::success;
  int system_error = 0;  ///< errno, or 0 where no system call failed
  std::string message;

  explicit operator bool() const { return error_class != ErrorClass::success; }
};

/// A value or the error that prevented it.
///
///     Result<int> r = parse(text);
///     if (!r) return r.error();
///     use(r.value());
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : content_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : content_(std::in_place_index<1>, std::move(error)) {}

  explicit operator bool() const { return content_.index() == 0; }
  T& value() { return std::get<0>(content_); }
  const T& value() const { return std::get<0>(content_); }
  const Error& error() const { return std::get<1>(content_); }

 private:
  std::variant<T, Error> content_;
};

/// The class of a failed system call's error.
ErrorClass class_of_system_error(int system_error);

/// Without a text: it takes no memory.
inline Error out_of_memory() {
  return {ErrorClass::no_memory, ENOMEM, {}};
}

/// The error that `action` returns, or out_of_memory(). For what a rank does by itself within a
/// collective call: whatever becomes of it, the others wait for this rank's part.
template <class Action>
Error attempt(Action action) {
  try {
    return action();
  } catch (const std::bad_alloc&) {
    return out_of_memory();
  }
}

/// The error for a failed system call. `what` is the problem, for example
/// "cannot open 'a/b'"; the reason and the advice follow from `system_error`.
Error system_failure(int system_error, const std::string& what);

}  // namespace headrace
