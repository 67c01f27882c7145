#include "file/path_choice.h"

namespace headrace::file {

using policy::Path;

namespace {

constexpr const char* kOneOwner =
    "; one node writes and reads for all: the file system locks whole files";

}  // namespace

void PathChoice::choose(policy::PathHint hint, const policy::ViewFacts& view, bool has_one_owner,
                        bool helpers_send) {
  const std::lock_guard lock(mutex_);
  if (chosen_.has_been_called) before_ = chosen_;
  hint_ = hint;
  chosen_ = {};
  chosen_.view = view;
  chosen_.for_view = policy::decide_view(direction_, hint, view);
  chosen_.has_one_owner = has_one_owner;
  policy::ViewFacts of_node = view;
  of_node.nodes = 1;
  for_node_ = policy::decide_view(direction_, hint, of_node).path;
  const Path path = chosen_.for_view.path;
  meets_ = path != Path::direct;
  needs_the_program_ = path == Path::exchanged && !helpers_send;
  meets_in_background_ = needs_the_program_ ? for_node_ != Path::direct : meets_.load();
}

void PathChoice::note_small_part(const policy::CallFacts& facts,
                                 const policy::CallDecision& decision) {
  const std::lock_guard lock(mutex_);
  chosen_.facts = facts;
  chosen_.for_call = decision;
  chosen_.lacked_memory = false;
}

void PathChoice::note_agreed(const ExchangedTransfer::Agreed& agreed) {
  const std::lock_guard lock(mutex_);
  chosen_.between_nodes = agreed;
}

void PathChoice::note_correction(const std::string& correction) noexcept {
  const std::lock_guard lock(mutex_);
  if (correction_ == correction) return;
  static_cast<void>(attempt([&]() -> Error {
    correction_ = correction;
    return {};
  }));
}

Path PathChoice::decide(const policy::CallFacts& facts, bool has_slots) {
  const std::lock_guard lock(mutex_);
  chosen_.facts = facts;
  chosen_.for_call = policy::decide_call(hint_, facts);
  chosen_.lacked_memory = !has_slots;
  return has_slots ? chosen_.for_call->path : Path::direct;
}

Path PathChoice::path_taken() const {
  const std::lock_guard lock(mutex_);
  return path_of(last());
}

std::string PathChoice::reason() const {
  const std::lock_guard lock(mutex_);
  return reason_of(last());
}

record::Decision PathChoice::decision(const std::string& file_name) const {
  const std::lock_guard lock(mutex_);
  record::Decision decision;
  decision.subject = direction_ == Direction::write ? "collective writes to '" + file_name + "'"
                                                    : "collective reads from '" + file_name + "'";
  if (!chosen_.has_been_called && !before_) return decision;
  decision.choice = policy::name_of(path_of(last()));
  decision.reason = reason_of(last());
  if (last().for_call) decision.alternatives = policy::alternatives(*last().for_call, last().facts);
  return decision;
}

std::int64_t PathChoice::kind() const {
  constexpr std::int64_t kReasons = 32;  // more than any list of reasons has
  const std::lock_guard lock(mutex_);
  const Chosen& of = last();
  std::int64_t kind = static_cast<std::int64_t>(path_of(of));
  const auto add = [&](std::int64_t number) { kind = kind * kReasons + number; };
  add(static_cast<std::int64_t>(of.for_view.reason));
  add(of.for_call ? 1 + static_cast<std::int64_t>(of.for_call->reason) : 0);
  add(of.between_nodes ? 1 + static_cast<std::int64_t>(of.between_nodes->choice.decision.reason)
                       : 0);
  add((of.stayed_on_node ? 1 : 0) + (of.lacked_memory ? 2 : 0) + (of.has_been_called ? 4 : 0));
  return kind;
}

const PathChoice::Chosen& PathChoice::last() const {
  return !chosen_.has_been_called && before_ ? *before_ : chosen_;
}

/// Whether the last call was exchanged.
bool PathChoice::is_exchanged(const Chosen& chosen) {
  if (chosen.for_view.path != Path::exchanged || chosen.stayed_on_node) return false;
  return !chosen.between_nodes || chosen.between_nodes->choice.decision.is_chosen;
}

Path PathChoice::path_of(const Chosen& chosen) {
  if (is_exchanged(chosen)) return Path::exchanged;
  if (chosen.lacked_memory) return Path::direct;
  return chosen.for_call ? chosen.for_call->path : chosen.for_view.path;
}

std::string PathChoice::reason_of(const Chosen& chosen) const {
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

std::string PathChoice::reason_within_node(const Chosen& chosen) {
  if (chosen.lacked_memory) {
    return "no memory for collective buffers is left on the node (HEADRACE_NODE_MEMORY)";
  }
  if (chosen.for_call) return policy::explain(*chosen.for_call, chosen.facts);
  const bool meets = chosen.for_view.path != Path::direct;
  if (chosen.has_been_called && meets) return "chosen by the ranks that had data";
  return policy::explain(chosen.for_view, chosen.view);
}

}  // namespace headrace::file
