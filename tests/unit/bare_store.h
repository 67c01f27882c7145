#pragma once

#include "storage/store.h"

namespace headrace {

/// A file of which tests look at the bytes that are moved alone: they say how, and all else does
/// nothing.
class BareStore : public storage::Store {
 public:
  Result<ByteCount> size() override { return ByteCount{0}; }
  Error resize(ByteCount) override { return {}; }
  Error allocate(ByteCount, ByteCount) override { return {}; }
  Error sync() override { return {}; }
  Error lock(FileOffset, FileOffset, storage::LockMode) override { return {}; }
  Result<bool> try_lock(FileOffset, FileOffset, storage::LockMode) override { return true; }
  Error close() override { return {}; }
  Error remove() override { return {}; }
};

}  // namespace headrace
