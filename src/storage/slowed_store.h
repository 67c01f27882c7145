#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/types.h"
#include "storage/store.h"

namespace headrace::storage {

/// What a request takes longer than it would; nanoseconds.
struct Delays {
  ByteCount write_call = 0;
  ByteCount write_byte = 0;
  ByteCount read_call = 0;
  ByteCount read_byte = 0;

  bool operator==(const Delays&) const = default;
};

/// Reads HEADRACE_MIMIC_STORE's words, such as "write_call=200000". Adds a line to `problems` for
/// each that cannot be used.
Delays read_delays(std::span<const std::string> words, std::vector<std::string>& problems);

/// The store itself, or one that is slower by `delays`, if there are any.
std::unique_ptr<Store> slowed(std::unique_ptr<Store> store, const Delays& delays);

/// Those of HEADRACE_MIMIC_STORE. Tells problems once.
const Delays& mimicked_delays();

}  // namespace headrace::storage
