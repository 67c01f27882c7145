#include "sim/requests.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <span>

#include "support/gpu/fake_driver.h"

namespace headrace::sim {
namespace {

constexpr std::int64_t kGuard = 32;

bool has_overlap(const std::vector<std::int64_t>& offsets) {
  std::vector<std::int64_t> sorted = offsets;
  std::ranges::sort(sorted);
  return std::ranges::adjacent_find(sorted) != sorted.end();
}

Pair memory_type(Random& random) {
  if (random.chance(60)) return basic(random.one_of<std::int64_t>({1, 4, 8}));
  steps::TypeGenerator generator(random.seed());
  return pair_of(generator.make(static_cast<int>(random.number(0, 3))));
}

bool lies_in_reach(const ViewModel& view, ByteCount position, ByteCount bytes) {
  if (view.is_empty() || bytes == 0) return true;
  if (view.ascends()) return view.offset_of(position + bytes - 1) < kEndOfRequests;
  for (ByteCount i = position; i < position + bytes; ++i) {
    const FileOffset offset = view.offset_of(i);
    if (offset < 0 || offset >= kEndOfRequests) return false;
  }
  return true;
}

}  // namespace

std::vector<std::int64_t> Request::places(ByteCount number) const {
  const std::vector<std::int64_t>& offsets = memory.model.offsets;
  const std::int64_t extent = memory.model.extent();
  std::vector<std::int64_t> result;
  result.reserve(static_cast<std::size_t>(number));
  for (ByteCount i = 0; i < number; ++i) {
    result.push_back(origin + i / std::ssize(offsets) * extent +
                     offsets[static_cast<std::size_t>(i % std::ssize(offsets))]);
  }
  return result;
}

Request make_request(Random& random, Direction direction, const ViewModel& view,
                     std::int64_t pointer, ByteCount most_bytes) {
  Request request;
  request.memory = memory_type(random);
  std::int64_t size = std::ssize(request.memory.model.offsets);
  // Whole etypes.
  const std::int64_t step = size == 0 ? 1 : view.unit() / std::gcd(view.unit(), size);
  const ByteCount wanted = random.number(0, most_bytes);
  request.count = size == 0 ? random.number(0, 3) : (wanted / size + step - 1) / step * step;
  if (random.chance(60)) {
    request.offset = random.number(0, 1) * random.number(0, most_bytes) / view.unit();
  }
  request.position = request.offset.value_or(pointer) * view.unit();
  while (request.count > 0 && !lies_in_reach(view, request.position, request.wanted())) {
    request.count = request.count / 2 / step * step;
  }
  if (direction == Direction::read && has_overlap(request.places(request.wanted()))) {
    request.memory = basic(view.unit());
    request.count = wanted / view.unit();
    while (!lies_in_reach(view, request.position, request.wanted())) request.count /= 2;
  }
  const std::vector<std::int64_t> places = request.places(request.wanted());
  const std::int64_t low = places.empty() ? 0 : *std::ranges::min_element(places);
  const std::int64_t high = places.empty() ? 0 : *std::ranges::max_element(places) + 1;
  request.origin = kGuard - low;
  request.buffer.resize(static_cast<std::size_t>(high - low + 2 * kGuard));
  const std::uint64_t seed = random.seed();
  for (std::size_t i = 0; i < request.buffer.size(); ++i) {
    request.buffer[i] = random_byte(seed, static_cast<std::int64_t>(i));
  }
  request.is_absolute = random.chance(10);
  return request;
}

void empty(Request& request) {
  request.count = 0;
}

file::TransferCall call_of(Direction direction, bool collective, const Request& request,
                           std::uint8_t* buffer) {
  std::uint8_t* const base = buffer + request.origin;
  file::TransferCall call{direction, collective,    request.offset,
                          base,      request.count, request.memory.type};
  if (request.is_absolute) {
    const std::int64_t address[] = {reinterpret_cast<std::int64_t>(base)};
    const view::TypePtr& old = request.memory.type;
    call.buffer = nullptr;
    call.type = view::make_resized(view::make_hindexed_block(1, address, old),
                                   old->lower_bound() + address[0], old->extent());
  }
  return call;
}

file::Outcome carry_out(file::File& file, Direction direction, bool collective,
                        const Request& request, Bytes& buffer) {
  return file.transfer(call_of(direction, collective, request, buffer.data()));
}

file::Outcome carry_out_on_device(file::File& file, Direction direction, bool collective,
                                  const Request& request, Bytes& buffer) {
  auto& driver = device::test::FakeDriver::installed();
  std::byte* const memory = driver.allocate(std::as_bytes(std::span(buffer)));
  auto* const address = reinterpret_cast<std::uint8_t*>(memory);
  file::Outcome outcome = file.transfer(call_of(direction, collective, request, address));
  const std::vector<std::byte> after = driver.content(memory);
  std::memcpy(buffer.data(), after.data(), after.size());
  driver.free(memory);
  return outcome;
}

}  // namespace headrace::sim
