#include <utility>

#include "file/collective_transfer.h"
#include "topo/node.h"

// What a file's collective calls were and will be: chosen, and told to whoever asks.

namespace headrace::file {

using policy::Path;

namespace {

constexpr const char* kOneOwner =
    "; one node writes and reads for all: the file system locks whole files";

}  // namespace

Path CollectiveTransfer::path_taken(Direction direction) const {
  const std::lock_guard lock(mutex_);
  return path_of(chosen_last(choice(direction)));
}

std::string CollectiveTransfer::reason(Direction direction) const {
  const std::lock_guard lock(mutex_);
  return reason_of(chosen_last(choice(direction)));
}

std::string CollectiveTransfer::path_and_reason(Direction direction) const {
  const std::lock_guard lock(mutex_);
  const Choice& choice = this->choice(direction);
  if (!choice.chosen.has_been_called && !choice.before) return {};
  const Chosen chosen = chosen_last(choice);
  return std::string(policy::name_of(path_of(chosen))) + ", " + reason_of(chosen);
}

exchange::MessageBuffers::Sent CollectiveTransfer::sent() const {
  const std::lock_guard lock(mutex_);
  return sent_;
}

ByteCount CollectiveTransfer::window_size() const {
  const std::lock_guard lock(mutex_);
  return geometry_.window_size;
}

CollectiveTransfer::Chosen CollectiveTransfer::chosen_last(const Choice& choice) {
  return !choice.chosen.has_been_called && choice.before ? *choice.before : choice.chosen;
}

/// Whether the last call went between nodes.
bool CollectiveTransfer::is_exchanged(const Chosen& chosen) {
  if (chosen.for_view.path != Path::exchanged || chosen.stayed_on_node) return false;
  return !chosen.between_nodes || chosen.between_nodes->choice.decision.is_chosen;
}

Path CollectiveTransfer::path_of(const Chosen& chosen) {
  if (is_exchanged(chosen)) return Path::exchanged;
  if (chosen.lacked_memory) return Path::direct;
  return chosen.for_call ? chosen.for_call->path : chosen.for_view.path;
}

std::string CollectiveTransfer::reason_of(const Chosen& chosen) const {
  const auto between_nodes = [&] {
    return policy::explain(chosen.between_nodes->choice.decision,
                           chosen.between_nodes->choice.facts);
  };
  if (is_exchanged(chosen)) {
    if (!chosen.between_nodes) return policy::explain(chosen.for_view, chosen.view);
    const std::string leading = policy::explain(chosen.between_nodes->choice.leading);
    return between_nodes() + (leading.empty() ? "" : "; " + leading) +
           (chosen.has_one_owner ? kOneOwner : "") +
           (correction_.empty() ? "" : "; " + correction_);
  }
  const std::string reason = reason_within_node(chosen);
  if (chosen.for_view.path != Path::exchanged || !chosen.has_been_called) return reason;
  if (chosen.stayed_on_node) {
    return reason +
           "; each node by itself: nonblocking calls send no messages below MPI_THREAD_MULTIPLE";
  }
  if (!chosen.between_nodes) return reason;
  return reason + "; each node by itself: " + between_nodes();
}

std::string CollectiveTransfer::reason_within_node(const Chosen& chosen) {
  if (chosen.lacked_memory) {
    return "no memory for collective buffers is left on the node (HEADRACE_NODE_MEMORY)";
  }
  if (chosen.for_call) return policy::explain(*chosen.for_call, chosen.facts);
  const bool meets = chosen.for_view.path != Path::direct;
  if (chosen.has_been_called && meets) return "chosen by the ranks that had data";
  return policy::explain(chosen.for_view, chosen.view);
}

DomainWish CollectiveTransfer::domains() const {
  return {.alignment = agreement_.alignment,
          .aggregators = agreement_.aggregators,
          .stripe = agreement_.stripe,
          .stripe_count = agreement_.stripe_count,
          .large = agreement_.node_window,
          .lock_ahead = agreement_.lock_ahead};
}

void CollectiveTransfer::choose() {
  const DomainWish domains = this->domains();
  if (const int nodes = channel_.nodes().node_count(); nodes > 1) {
    leaders_ = leaders_to_prepare(domains, nodes, channel_.nodes().node_size(), topo::node_cores());
  }
  const bool has_one_owner = agreement_.layout.locks_whole_files && agreement_.stripe_count == 1 &&
                             asked_aggregators(domains) == 0;
  for (const Direction direction : {Direction::write, Direction::read}) {
    Choice& choice = this->choice(direction);
    if (choice.chosen.has_been_called) choice.before = choice.chosen;
    choice.wish = direction == Direction::write ? agreement_.write_path : agreement_.read_path;
    const policy::ViewFacts& view = agreement_.view;
    choice.chosen = {};
    choice.chosen.view = view;
    choice.chosen.for_view = policy::decide_view(direction, choice.wish, view);
    choice.chosen.has_one_owner = has_one_owner;
    policy::ViewFacts of_node = view;
    of_node.nodes = 1;
    choice.for_node = policy::decide_view(direction, choice.wish, of_node).path;
    const Path path = choice.chosen.for_view.path;
    choice.meets = path != Path::direct;
    choice.needs_the_program = path == Path::exchanged && !channel_.helpers_send();
    choice.meets_in_background =
        choice.needs_the_program ? choice.for_node != Path::direct : choice.meets.load();
  }
}

}  // namespace headrace::file
