#pragma once

#include <cerrno>
#include <initializer_list>
#include <new>
#include <string>
#include <string_view>
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
  truncated,  ///< a message was larger than its receiver had room for
  unsupported_datarep,
  unsupported_operation,
  other,
};

/// What went wrong. The message reads "problem (why it is one), what to do". Making and copying an
/// error never throws, so none is lost: without memory for the message, the error has its class
/// alone.
struct [[nodiscard]] Error {
  Error() noexcept = default;
  Error(ErrorClass of_class, int of_call, std::string text) noexcept
      : error_class(of_class), system_error(of_call), message(std::move(text)) {}
  /// Joins the parts of `text` to the message.
  Error(ErrorClass of_class, int of_call, std::initializer_list<std::string_view> text) noexcept;
  Error(ErrorClass of_class, int of_call, const char* text) noexcept
      : Error(of_class, of_call, {std::string_view(text)}) {}
  Error(const Error& other) noexcept
      : Error(other.error_class, other.system_error, {std::string_view(other.message)}) {}
  Error& operator=(const Error& other) noexcept { return *this = Error(other); }
  Error(Error&&) noexcept = default;
  Error& operator=(Error&&) noexcept = default;
  ~Error() = default;

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

/// The error class for an errno.
ErrorClass class_of_system_error(int system_error);

/// Has no message, so that it takes no memory.
inline Error out_of_memory() {
  return {ErrorClass::no_memory, ENOMEM, {}};
}

/// Runs `action` and returns its error, or out_of_memory() if it throws std::bad_alloc. For work
/// that a rank does by itself within a collective call: even if it fails, the rank must go on,
/// since the others wait for its part.
template <class Action>
Error attempt(Action action) {
  try {
    return action();
  } catch (const std::bad_alloc&) {
    return out_of_memory();
  }
}

/// The error for a failed system call with errno `system_error`, from which the reason and the
/// advice follow. `what` is the problem, for example "cannot open"; `path` names the file, if there
/// is one.
Error system_failure(int system_error, std::string_view what, std::string_view path = {}) noexcept;

}  // namespace headrace
