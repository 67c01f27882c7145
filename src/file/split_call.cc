#include "file/split_call.h"

namespace headrace::file {

void SplitCall::begin(const TransferCall& call, std::shared_ptr<Operation> operation) {
  const std::lock_guard lock(mutex_);
  direction_ = call.direction;
  shared_ = call.shared;
  has_offset_ = call.offset.has_value();
  operation_ = std::move(operation);
  is_active_.store(true, std::memory_order_relaxed);
}

Result<std::shared_ptr<Operation>> SplitCall::end(Direction direction, bool shared, bool has_offset,
                                                  const std::string& path) noexcept {
  const std::lock_guard lock(mutex_);
  if (!operation_) {
    return Error{
        ErrorClass::io, 0, {"no split collective call is active on '", path, "', begin one first"}};
  }
  if (direction_ != direction || shared_ != shared || has_offset_ != has_offset) {
    return Error{ErrorClass::io,
                 0,
                 {"cannot end the split collective call on '", path,
                  "' by this procedure (it was begun by one of another kind), call the end that "
                  "matches its begin"}};
  }
  is_active_.store(false, std::memory_order_relaxed);
  return std::move(operation_);
}

}  // namespace headrace::file
