#include "engine/open_file.h"

// Calls of an open file that go on while the program computes.

namespace headrace::engine {
namespace {

Error not_yet() {
  return {ErrorClass::unsupported_operation, 0, "not available yet"};
}

}  // namespace

Result<std::shared_ptr<Operation>> OpenFile::start(const TransferCall&) {
  return not_yet();
}

Error OpenFile::begin(const TransferCall&) {
  return not_yet();
}

Outcome OpenFile::end(Direction, bool, bool) {
  return {0, not_yet()};
}

}  // namespace headrace::engine
