#include <utility>

#include "engine/collective_transfer.h"
#include "topo/node.h"

// What a file's collective calls were and will be: chosen, and told to whoever asks.

namespace headrace::engine {

using policy::Path;

namespace {

constexpr const char* kOneOwner =
    "; one node writes and reads for all: the file system locks whole files";

}  // namespace

Path CollectiveTransfer::path_taken(Direction direction) const {
  const std::lock_guard lock(mutex_);
  return path_of(choice(direction));
}

std::string CollectiveTransfer::reason(Direction direction) const {
  const std::lock_guard lock(mutex_);
  return reason_of(choice(direction));
}

bool CollectiveTransfer::has_been_called(Direction direction) const {
  const std::lock_guard lock(mutex_);
  return choice(direction).has_been_called || choice(direction).before;
}

exchange::MessageBuffers::Sent CollectiveTransfer::sent() const {
  const std::lock_guard lock(mutex_);
  return sent_;
}

ByteCount CollectiveTransfer::window_size() const {
  const std::lock_guard lock(mutex_);
  return geometry_.window_size;
}

/// Whether the last call went between nodes.
bool CollectiveTransfer::is_exchanged(const Choice& choice) const {
  if (choice.for_view.path != Path::exchanged || choice.stayed_on_node) return false;
  return !choice.between_nodes || choice.between_nodes->choice.decision.is_chosen;
}

Path CollectiveTransfer::path_of(const Choice& choice) const {
  if (!choice.has_been_called && choice.before) return choice.before->path;
  if (is_exchanged(choice)) return Path::exchanged;
  if (choice.lacked_memory) return Path::direct;
  return choice.for_call ? choice.for_call->path : choice.for_view.path;
}

std::string CollectiveTransfer::reason_of(const Choice& choice) const {
  if (!choice.has_been_called && choice.before) return choice.before->reason;
  if (is_exchanged(choice)) {
    if (!choice.between_nodes) return choice.for_view.reason;
    const bool has_one_owner = agreement_.layout.locks_whole_files &&
                               agreement_.stripe_count == 1 && asked_aggregators(domains()) == 0;
    const std::string leading = policy::explain(choice.between_nodes->choice.leading);
    return policy::explain(choice.between_nodes->choice.decision,
                           choice.between_nodes->choice.facts) +
           (leading.empty() ? "" : "; " + leading) + (has_one_owner ? kOneOwner : "") +
           (correction_.empty() ? "" : "; " + correction_);
  }
  const std::string reason = reason_within_node(choice);
  if (choice.for_view.path != Path::exchanged || !choice.has_been_called) return reason;
  if (choice.stayed_on_node) {
    return reason +
           "; each node by itself: nonblocking calls send no messages below MPI_THREAD_MULTIPLE";
  }
  if (!choice.between_nodes) return reason;
  return reason + "; each node by itself: " +
         policy::explain(choice.between_nodes->choice.decision, choice.between_nodes->choice.facts);
}

std::string CollectiveTransfer::reason_within_node(const Choice& choice) const {
  if (choice.lacked_memory) {
    return "no memory for collective buffers is left on the node (HEADRACE_NODE_MEMORY)";
  }
  if (choice.for_call) return policy::explain(*choice.for_call, choice.facts);
  if (choice.has_been_called && choice.meets) return "chosen by the ranks that had data";
  return choice.for_view.reason;
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
  leaders_ = leaders_to_prepare(domains(), channel_.node_count(), channel_.node_size(),
                                topo::node_cores());
  for (const Direction direction : {Direction::write, Direction::read}) {
    Choice& choice = this->choice(direction);
    if (choice.has_been_called) {
      policy::Decision before{path_of(choice), {}};
      // A report may lack its text; a rank must not lack what the others have agreed on.
      static_cast<void>(attempt([&]() -> Error {
        before.reason = reason_of(choice);
        return {};
      }));
      choice.before = std::move(before);
    }
    choice.has_been_called = false;
    choice.for_call.reset();
    choice.lacked_memory = false;
    choice.wish = direction == Direction::write ? agreement_.write_path : agreement_.read_path;
    choice.between_nodes.reset();
    choice.stayed_on_node = false;
    choice.for_view = policy::decide_view(direction, choice.wish, agreement_.view);
    policy::ViewFacts of_node = agreement_.view;
    of_node.nodes = 1;
    choice.for_node = policy::decide_view(direction, choice.wish, of_node);
    choice.meets = choice.for_view.path != Path::direct;
    choice.needs_the_program = choice.for_view.path == Path::exchanged && !channel_.helpers_send();
    choice.meets_in_background =
        choice.needs_the_program ? choice.for_node.path != Path::direct : choice.meets.load();
  }
}

}  // namespace headrace::engine
