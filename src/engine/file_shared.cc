#include "engine/open_file.h"

// The shared pointer and atomic mode of an open file.

namespace headrace::engine {
namespace {

Error not_yet() {
  return {ErrorClass::unsupported_operation, 0, "not available yet"};
}

}  // namespace

Error OpenFile::seek_shared(std::int64_t, Whence) {
  return not_yet();
}

Result<std::int64_t> OpenFile::shared_position() {
  return not_yet();
}

Error OpenFile::set_atomicity(bool atomic) {
  return atomic ? not_yet() : Error{};
}

bool OpenFile::atomicity() const {
  return false;
}

}  // namespace headrace::engine
