#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "exchange/shared_pointer.h"
#include "exchange/shared_pointer_protocol.h"

namespace headrace::exchange {

/// The shared pointers that other nodes may move, by team (known by its secret) and channel. Safe
/// from several threads.
class SharedPointerRegistry {
 public:
  /// `most_channels`: all channel numbers are smaller. Takes the memory for all, so that adding a
  /// channel takes none.
  void add_team(const Secret& secret, int most_channels);
  void remove_team(const Secret& secret);

  /// `pointer` must live until it is removed. Nobody uses it afterwards.
  void add_channel(const Secret& secret, int channel, SharedPointer& pointer);
  void remove_channel(const Secret& secret, int channel);

  /// Does what a question asks, once for each sequence number of a rank: if the last answer was
  /// lost, it gives the same answer again. Empty if the question is not genuine. `challenge`: that
  /// of the question's connection.
  std::optional<AnswerBytes> answer(const QuestionBytes& question, const Secret& challenge);

 private:
  struct Team {
    Secret secret;
    std::vector<SharedPointer*> channels;                 ///< by number; null if there is none
    std::map<std::uint32_t, PointerAnswer> last_answers;  ///< by rank
  };

  Team* find(const Secret& secret);
  Team* find_asker(const QuestionBytes& question, const Secret& challenge);
  static std::optional<PointerAnswer> answer(Team& team, const PointerQuestion& question);

  std::mutex mutex_;  ///< guards what follows
  std::vector<Team> teams_;
};

}  // namespace headrace::exchange
