#include "sim/requests.h"

#include <numeric>

#include "steps/type_generator.h"

namespace headrace::sim {
namespace {

steps::TypeTree memory_type(Random& random) {
  if (random.chance(60)) return steps::basic(random.one_of<std::int64_t>({1, 4, 8}));
  steps::TypeGenerator generator(random.seed());
  return generator.make(static_cast<int>(random.number(0, 3)));
}

bool lies_in_reach(const ViewMap& view, ByteCount position, ByteCount bytes) {
  if (view.shows_nothing() || bytes == 0) return true;
  if (view.is_ascending()) return view.offset_of(position + bytes - 1) < kEndOfRequests;
  for (ByteCount i = position; i < position + bytes; ++i) {
    const FileOffset offset = view.offset_of(i);
    if (offset < 0 || offset >= kEndOfRequests) return false;
  }
  return true;
}

}  // namespace

Part make_request(Random& random, bool is_write, const ViewMap& view, std::int64_t pointer,
                  ByteCount most_bytes) {
  Part part;
  part.memory = memory_type(random);
  const steps::Repetitions memory(expand(part.memory));
  const std::int64_t size = memory.size();
  // Whole etypes.
  const std::int64_t step = size == 0 ? 1 : view.unit() / std::gcd(view.unit(), size);
  const ByteCount wanted = random.number(0, most_bytes);
  part.count = size == 0 ? random.number(0, 3) : (wanted / size + step - 1) / step * step;
  part.at_pointer = !random.chance(60);
  if (!part.at_pointer) {
    part.offset = random.number(0, 1) * random.number(0, most_bytes) / view.unit();
  }
  const ByteCount position = (part.at_pointer ? pointer : part.offset) * view.unit();
  while (part.count > 0 && !lies_in_reach(view, position, part.count * size)) {
    part.count = part.count / 2 / step * step;
  }
  if (!is_write && memory.has_overlap(part.count)) {
    part.memory = steps::basic(view.unit());
    part.count = wanted / view.unit();
    while (!lies_in_reach(view, position, part.count * view.unit())) part.count /= 2;
  }
  part.salt = random.seed();
  part.absolute = random.chance(10);
  return part;
}

}  // namespace headrace::sim
