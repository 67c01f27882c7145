#include "exchange/shared_pointers.h"

#include <cerrno>
#include <numeric>
#include <vector>

#include "base/settings.h"
#include "fabric/messages.h"

namespace headrace::exchange {
namespace {

/// The tag of messages before there is any channel.
constexpr int kTag = 0;

}  // namespace

Error SharedPointers::start(fabric::Team& team) {
  const topo::NodeMap& nodes = team.nodes();
  if (nodes.node_count() == 1) return {};
  std::vector<int> ranks;
  const Error lacking = attempt([&]() -> Error {
    ranks.resize(static_cast<std::size_t>(nodes.size()));
    return {};
  });
  if (Error error = team.agree(lacking)) return error;
  std::iota(ranks.begin(), ranks.end(), 0);
  SharedPointerHome home;
  if (nodes.rank() == 0 && settings().listen) {
    const Error failed = attempt([&]() -> Error {
      host_ = std::make_unique<SharedPointerService::Host>(SharedPointerService::of_process(),
                                                           fabric::kMaxChannels);
      home = host_->home();
      return {};
    });
    if (failed) home.system_error = ENOMEM;
  }
  if (Error error = fabric::broadcast(team.messenger(), kTag, ranks, nodes.rank(),
                                      std::as_writable_bytes(std::span(&home, 1)))) {
    return error;
  }
  if (!nodes.is_on_first_node()) client_.emplace(home, nodes.rank());
  return {};
}

void SharedPointers::add(int channel, SharedPointer& pointer) {
  if (host_) host_->add_channel(channel, pointer);
}

void SharedPointers::remove(int channel) {
  if (host_) host_->remove_channel(channel);
}

}  // namespace headrace::exchange
