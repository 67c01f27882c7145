#include "faults/coverage.h"

#include <algorithm>
#include <map>

#include "faults/script.h"

namespace headrace::faults {
namespace {

/// Reachable on either layer.
const char* why_never(Operation operation, Kind kind) {
  const char* const below = why_not(Layer::system, operation, kind);
  return below == nullptr                                    ? nullptr
         : why_not(Layer::store, operation, kind) == nullptr ? nullptr
                                                             : below;
}

/// The operations that a call makes, of a store and others.
std::vector<Operation> operations_of(const std::string& call) {
  using enum Operation;
  const auto has = [&](const char* text) { return call.find(text) != std::string::npos; };
  if (call == "open") return {open, size, memory, share};
  if (call == "set_view" || call == "seek_shared") return {memory};
  if (call == "set_size") return {resize, memory};
  if (call == "preallocate") return {allocate, memory};
  // These take memory for the text of an error only.
  if (call == "sync") return {sync};
  if (call == "get_size") return {size};
  if (call == "set_atomicity") return {lock, memory};
  if (call == "close") return {close, remove, memory};
  std::vector<Operation> operations{has("write") ? write : read, memory};
  if (has("_all") || has("_ordered")) operations.push_back(share);
  if (call[0] == 'i' || has("_begin")) operations.push_back(thread);
  return operations;
}

bool is_reachable(const std::string& call, Kind kind) {
  return std::ranges::any_of(operations_of(call), [&](Operation operation) {
    return why_never(operation, kind) == nullptr;
  });
}

std::string header(const char* first, bool with_invalid) {
  std::string text = std::string("| ") + first + " |";
  std::string line = "| --- |";
  for (int kind = 0; kind < kKinds; ++kind) {
    text += std::string(" ") + name_of(static_cast<Kind>(kind)) + " |";
    line += " --: |";
  }
  if (with_invalid) {
    text += " wrong arguments |";
    line += " --: |";
  }
  return text + "\n" + line + "\n";
}

/// Calls that a rank can make with arguments that the engine refuses.
bool takes_arguments(const std::string& call) {
  return call != "open" && call != "sync" && call != "get_size" && call != "close";
}

}  // namespace

void Coverage::add(int call, const Struck& struck) {
  const auto kind = static_cast<std::size_t>(struck.kind);
  operations_[static_cast<std::size_t>(struck.operation)][kind] += 1;
  calls_[static_cast<std::size_t>(call)][kind] += 1;
}

std::int64_t Coverage::total() const {
  std::int64_t sum = 0;
  for (const Row& row : operations_) {
    for (const auto& cell : row) sum += cell;
  }
  return sum;
}

std::string Coverage::table() const {
  std::map<std::string, char> notes;
  std::string text = header("operation", false);
  for (int i = 0; i < kOperations; ++i) {
    const auto operation = static_cast<Operation>(i);
    text += std::string("| ") + name_of(operation) + " |";
    for (int kind = 0; kind < kKinds; ++kind) {
      const char* const reason = why_never(operation, static_cast<Kind>(kind));
      if (reason == nullptr) {
        text += " " +
                std::to_string(
                    operations_[static_cast<std::size_t>(i)][static_cast<std::size_t>(kind)]) +
                " |";
        continue;
      }
      const auto note = notes.emplace(reason, static_cast<char>('a' + std::ssize(notes))).first;
      text += std::string(" (") + note->second + ") |";
    }
    text += "\n";
  }
  text += "\n";
  std::map<char, std::string> by_letter;
  for (const auto& [reason, letter] : notes) by_letter[letter] = reason;
  for (const auto& [letter, reason] : by_letter) {
    text += std::string(letter == 'a' ? "(" : ", (") + letter + ") " + reason;
  }
  text += ".\n\n" + header("call", true);
  const std::vector<std::string>& calls = all_calls();
  for (std::size_t i = 0; i < calls.size(); ++i) {
    text += "| " + calls[i] + " |";
    for (int kind = 0; kind < kKinds; ++kind) {
      const bool is_one = is_reachable(calls[i], static_cast<Kind>(kind));
      text +=
          is_one ? " " + std::to_string(calls_[i][static_cast<std::size_t>(kind)]) + " |" : " - |";
    }
    text += takes_arguments(calls[i]) ? " " + std::to_string(invalid_[i]) + " |\n" : " - |\n";
  }
  return text + "\n\"-\": no operation that the call makes can fail so.\n";
}

std::vector<std::string> Coverage::missing() const {
  std::vector<std::string> cells;
  const auto look = [&](const std::string& row, int kind, const Row& counts) {
    if (counts[static_cast<std::size_t>(kind)] > 0) return;
    cells.push_back(row + " x " + name_of(static_cast<Kind>(kind)));
  };
  for (int kind = 0; kind < kKinds; ++kind) {
    for (int i = 0; i < kOperations; ++i) {
      if (why_never(static_cast<Operation>(i), static_cast<Kind>(kind)) != nullptr) continue;
      look(name_of(static_cast<Operation>(i)), kind, operations_[static_cast<std::size_t>(i)]);
    }
    for (std::size_t i = 0; i < all_calls().size(); ++i) {
      if (is_reachable(all_calls()[i], static_cast<Kind>(kind)))
        look(all_calls()[i], kind, calls_[i]);
    }
  }
  for (std::size_t i = 0; i < all_calls().size(); ++i) {
    if (takes_arguments(all_calls()[i]) && invalid_[i] == 0) {
      cells.push_back(all_calls()[i] + " x wrong arguments");
    }
  }
  return cells;
}

}  // namespace headrace::faults
