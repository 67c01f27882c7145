#include "exchange/shared_pointer_registry.h"

#include <cassert>

namespace headrace::exchange {

/// Compares with all teams, so that its time tells nothing about their secrets.
SharedPointerRegistry::Team* SharedPointerRegistry::find(const Secret& secret) {
  Team* found = nullptr;
  for (Team& team : teams_) {
    if (is_same(team.secret, secret)) found = &team;
  }
  return found;
}

void SharedPointerRegistry::add_team(const Secret& secret, int most_channels) {
  assert(most_channels > 0);
  std::vector<SharedPointer*> channels(static_cast<std::size_t>(most_channels), nullptr);
  const std::lock_guard lock(mutex_);
  teams_.push_back({secret, std::move(channels), {}});
}

void SharedPointerRegistry::remove_team(const Secret& secret) {
  const std::lock_guard lock(mutex_);
  std::erase_if(teams_, [&](const Team& team) { return is_same(team.secret, secret); });
}

void SharedPointerRegistry::add_channel(const Secret& secret, int channel, SharedPointer& pointer) {
  const std::lock_guard lock(mutex_);
  if (Team* const team = find(secret)) {
    team->channels.at(static_cast<std::size_t>(channel)) = &pointer;
  }
}

void SharedPointerRegistry::remove_channel(const Secret& secret, int channel) {
  const std::lock_guard lock(mutex_);
  if (Team* const team = find(secret)) {
    team->channels.at(static_cast<std::size_t>(channel)) = nullptr;
  }
}

SharedPointerRegistry::Team* SharedPointerRegistry::find_asker(const QuestionBytes& question,
                                                               const Secret& challenge) {
  Team* found = nullptr;
  for (Team& team : teams_) {
    if (is_genuine(question, team.secret, challenge)) found = &team;
  }
  return found;
}

std::optional<AnswerBytes> SharedPointerRegistry::answer(const QuestionBytes& question,
                                                         const Secret& challenge) {
  const std::lock_guard lock(mutex_);
  Team* const team = find_asker(question, challenge);
  if (team == nullptr) return std::nullopt;
  const std::optional<PointerAnswer> answer = this->answer(*team, decode_question(question));
  if (!answer) return std::nullopt;
  return encode(*answer, team->secret, challenge);
}

std::optional<PointerAnswer> SharedPointerRegistry::answer(Team& team,
                                                           const PointerQuestion& question) {
  if (question.etypes < 0 || question.sequence == 0) return std::nullopt;
  const bool is_channel = question.channel < team.channels.size();
  SharedPointer* const pointer = is_channel ? team.channels[question.channel] : nullptr;
  PointerAnswer& last = team.last_answers[question.rank];
  if (question.sequence == last.sequence) return last;
  if (question.sequence < last.sequence) return std::nullopt;
  std::int64_t position = kPointerGone;
  if (pointer != nullptr) {
    auto& cells = pointer->cells;
    if (question.cell >= cells.size()) return std::nullopt;
    position = advance(cells[question.cell], question.etypes);
  }
  last = {question.sequence, position};
  return last;
}

}  // namespace headrace::exchange
