#include "collective/choice_log.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <map>
#include <mutex>
#include <tuple>
#include <utility>

#include "base/message.h"
#include "base/result.h"
#include "collective/planned_messages.h"
#include "record/recorder.h"

namespace headrace::collective {
namespace {

std::string size_text(std::size_t bytes) {
  if (bytes < 1024) return std::to_string(bytes) + " B";
  if (bytes < (std::size_t{1} << 20)) return std::to_string(bytes >> 10) + " KiB";
  return std::to_string(bytes >> 20) + " MiB";
}

int bin_of(const Call& call) {
  return record::bin_of(static_cast<std::int64_t>(call.bytes));
}

/// The bytes of a bin, as the record's calls have them: " of 16 to 255 B".
std::string bin_text(int bin) {
  constexpr const char* kTexts[record::kBins] = {
      " of less than 16 B",  " of 16 to 255 B", " of 256 B to 4 KiB", " of 4 to 64 KiB",
      " of 64 KiB to 1 MiB", " of 1 to 16 MiB", " of 16 MiB and more"};
  return kTexts[bin];
}

/// "12 messages between nodes; ", which all ranks together send, where that is known.
std::string messages_text(const Algorithm& algorithm, const Ranks& ranks, const Call& call) {
  if (ranks.shape().node_count == 1) return "";
  const auto messages = planned_messages(algorithm, ranks.shape(), call, ranks.limits());
  if (!messages) return "";
  return std::to_string(*messages) + (*messages == 1 ? " message" : " messages") +
         " between nodes; ";
}

std::string reason_of(const Chosen& chosen) {
  if (chosen.algorithm == nullptr) return chosen.reason;
  if (chosen.use == nullptr) return "HEADRACE_COLL_USE=always";
  char text[96] = "";
  std::snprintf(text, sizeof text, "measured to be at least %g times as fast as the MPI library",
                chosen.use->gain);
  return text + on_text(chosen.use->nodes);
}

/// Communicators may be many, with other numbers among the alternatives: what was kept of a choice
/// counts on.
record::DecisionCost* find_or_note(record::Decision decision, bool is_timed) {
  using Key = std::tuple<std::string, std::string, std::string>;
  static auto& mutex = *new std::mutex;  // never destroyed: programs may call during exit
  static auto& costs = *new std::map<Key, record::DecisionCost*>;
  const std::lock_guard lock(mutex);
  const auto [place, is_new] =
      costs.try_emplace({decision.subject, decision.choice, decision.reason}, nullptr);
  if (is_new) place->second = record::note_decision(decision, is_timed);
  return place->second;
}

}  // namespace

bool ChoiceLog::is_recorded() noexcept {
  return record::is_recording.load(std::memory_order_relaxed);
}

bool ChoiceLog::is_on() const noexcept {
  return prints_ || is_recorded();
}

record::DecisionCost* ChoiceLog::note(const Call& call, const Chosen& chosen,
                                      const Ranks* prepared) noexcept {
  record::DecisionCost* cost = nullptr;
  // Where memory lacks, the program goes on untold.
  static_cast<void>(attempt([&]() -> Error {
    if (prints_ && chosen.is_lasting) print(call, chosen, prepared);
    if (is_recorded()) cost = find_or_keep(call, chosen, prepared);
    return {};
  }));
  if (cost == nullptr) return nullptr;
  record::add(cost->calls, 1);
  return chosen.algorithm != nullptr ? cost : nullptr;
}

record::DecisionCost* ChoiceLog::find_or_keep(const Call& call, const Chosen& chosen,
                                              const Ranks* prepared) {
  const int bin = bin_of(call);
  const auto is_such = [&](const Kept& one) {
    return one.operation == call.operation && one.algorithm == chosen.algorithm &&
           one.reason == chosen.reason && one.use == chosen.use &&
           one.has_size == chosen.has_size && (!chosen.has_size || one.bin == bin);
  };
  // Most calls are as the one before.
  if (last_ < kept_.size() && is_such(kept_[last_])) return kept_[last_].cost;
  const auto found = std::ranges::find_if(kept_, is_such);
  last_ = static_cast<std::size_t>(found - kept_.begin());
  if (found != kept_.end()) return found->cost;
  std::string others;
  if (prepared != nullptr && chosen.has_size) {
    others = alternatives_of(prepared->shape(), call, prepared->limits(), chosen.algorithm);
  }
  record::DecisionCost* const cost = find_or_note(
      decision_of(call, chosen, ranks_, std::move(others)), chosen.algorithm != nullptr);
  kept_.push_back(
      {call.operation, chosen.has_size, bin, chosen.algorithm, chosen.reason, chosen.use, cost});
  return cost;
}

/// What was told of such calls: by operation and, where it is told, by the power of 2 that their
/// size reaches. Calls of one such kind may be done in several ways, in turns.
std::vector<ChoiceLog::Told>& ChoiceLog::told_of(const Call& call, bool is_sized) {
  constexpr std::size_t kSizes = std::numeric_limits<std::size_t>::digits + 2;
  const auto size = is_sized ? static_cast<std::size_t>(std::bit_width(call.bytes)) + 1 : 0;
  const std::size_t place = static_cast<std::size_t>(call.operation) * kSizes + size;
  if (place >= told_.size()) told_.resize(place + 1);
  return told_[place];
}

void ChoiceLog::print(const Call& call, const Chosen& chosen, const Ranks* prepared) {
  // Each call comes here, and is not to be slower for it.
  const bool is_sized = chosen.has_size && has_common_size(call.operation);
  const Told now{chosen.algorithm, chosen.reason, chosen.use};
  std::vector<Told>& told = told_of(call, is_sized);
  if (std::ranges::find(told, now) != told.end()) return;
  // Communicators may be many that are alike.
  print_message_once(line_of(call, chosen, ranks_, prepared));
  told.push_back(now);
}

std::string line_of(const Call& call, const Chosen& chosen, int ranks, const Ranks* prepared) {
  std::string text =
      std::string(name_of(call.operation)) + " on " + std::to_string(ranks) + " ranks";
  const bool is_sized = chosen.has_size && has_common_size(call.operation);
  if (is_sized) text += ", from " + size_text(call.bytes == 0 ? 0 : std::bit_floor(call.bytes));
  const Algorithm* const ours = chosen.algorithm;
  text += ": by " + std::string(ours != nullptr ? ours->name : kLibraryItself) + " (";
  if (ours != nullptr && prepared != nullptr && is_sized) {
    text += messages_text(*ours, *prepared, call);
  }
  return text + reason_of(chosen) + ")";
}

record::Decision decision_of(const Call& call, const Chosen& chosen, int ranks,
                             std::string alternatives) {
  record::Decision decision;
  decision.subject = std::string(name_of(call.operation));
  if (chosen.has_size && has_common_size(call.operation)) {
    decision.subject += bin_text(bin_of(call));
  }
  decision.subject += " on " + std::to_string(ranks) + (ranks == 1 ? " rank" : " ranks");
  decision.choice =
      chosen.algorithm != nullptr ? std::string(chosen.algorithm->name) : kLibraryItself;
  decision.reason = reason_of(chosen);
  decision.alternatives = std::move(alternatives);
  return decision;
}

std::string alternatives_of(const Shape& shape, const Call& call, const Limits& limits,
                            const Algorithm* chosen) {
  std::string text = chosen != nullptr ? kLibraryItself : "";
  Call part = call;
  part.bytes = part_bytes(shape, call, limits);
  const double parts =
      part.bytes == 0 ? 1 : static_cast<double>(call.bytes) / static_cast<double>(part.bytes);
  if (part.blocks.are_alike() && part.blocks.size != 0) part.blocks.size = part.bytes;
  for (const Algorithm* const one : algorithms()) {
    if (one == chosen || one->operation != call.operation) continue;
    if (one->obstacle(shape, part, limits) != nullptr) continue;
    text += (text.empty() ? "" : "; ") + std::string(one->name);
    if (shape.node_count == 1) continue;
    const Algorithm::Cost cost = one->cost(shape, part);
    text += " (" + size_text(static_cast<std::size_t>(cost.bytes * parts)) + " in " +
            std::to_string(std::lround(cost.messages * std::ceil(parts))) +
            " messages of each leader)";
  }
  return text;
}

}  // namespace headrace::collective
