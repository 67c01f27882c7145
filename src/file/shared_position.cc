#include "file/shared_position.h"

namespace headrace::file {

Result<std::int64_t> SharedPosition::take_ordered(std::int64_t etypes) {
  const Result<fabric::Channel::Scan> scan = channel_.scan(etypes);
  if (!scan) return scan.error();
  const Result<std::int64_t> begin =
      found_by_first("move the shared pointer of", [&] { return take(scan.value().total); });
  if (!begin) return begin;
  return begin.value() + scan.value().before;
}

}  // namespace headrace::file
