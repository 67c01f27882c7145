#include "file/shared_position.h"

namespace headrace::file {

Result<std::int64_t> SharedPosition::take_ordered(std::int64_t etypes) {
  const Result<fabric::Channel::Scan> scan = channel_.scan(etypes);
  // All take part, also if messages were lost: ranks that go on to the call's next meeting would
  // meet those that are still here.
  const Result<std::int64_t> begin =
      found_by_first("move the shared pointer of", [&]() -> Result<std::int64_t> {
        if (!scan) return scan.error();
        return take(scan.value().total);
      });
  if (!scan) return scan.error();
  if (!begin) return begin;
  return begin.value() + scan.value().before;
}

}  // namespace headrace::file
