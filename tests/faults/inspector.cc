#include "faults/inspector.h"

#include <algorithm>
#include <numeric>

#include "base/settings.h"

namespace headrace::faults {
namespace {

/// Limits of the process that writes: the owner of the bytes tries itself.
bool depends_on_the_writer(Kind kind) {
  return kind == Kind::efbig || kind == Kind::edquot || kind == Kind::eacces;
}

bool is_error(Kind kind) {
  return errno_of(kind) != 0 && kind != Kind::eintr;
}

ErrorClass class_of(const Struck& one) {
  return system_failure(errno_of(one.kind), "").error_class;
}

bool is_of_store(const Struck& one) {
  return one.operation != Operation::memory && one.operation != Operation::share &&
         one.operation != Operation::thread;
}

bool any_of(const std::vector<Struck>& struck, Operation operation) {
  return std::ranges::any_of(
      struck, [&](const Struck& one) { return one.operation == operation && is_error(one.kind); });
}

std::string told(const Error& error) {
  return "'" + error.message + "' (class " + std::to_string(static_cast<int>(error.error_class)) +
         ")";
}

}  // namespace

Inspector::Inspector(const Script& script, World& world, sim::Problems& problems)
    : script_(script),
      world_(world),
      problems_(problems),
      file_(script.before),
      views_(static_cast<std::size_t>(script.ranks()), ViewMap{}),
      failed_(views_.size(), 0),
      known_(views_.size(), 0),
      untold_(views_.size()),
      buffers_(!settings().iobuf.empty()),
      held_(script.before),
      behind_(views_.size()) {}

void Inspector::report(std::size_t rank, const std::string& problem) {
  problems_.add(place_ + ", rank " + std::to_string(rank) + ": " + problem);
}

bool Inspector::check_common(const std::vector<Got>& got, const Strikes& struck, bool is_invalid) {
  const auto failures =
      std::ranges::count_if(got, [](const Got& one) { return static_cast<bool>(one.error); });
  for (std::size_t rank = 0; rank < got.size(); ++rank) {
    const Error& error = got[rank].error;
    if (failures > 0 && !error) report(rank, "succeeds where another rank fails");
    if (!error || is_invalid) continue;
    const bool is_known = may_be_behind(rank, error.error_class) ||
                          std::ranges::any_of(struck, [&](const Struck& one) {
                            return is_error(one.kind) && class_of(one) == error.error_class;
                          });
    if (!is_known) report(rank, "has an error that nothing caused: " + told(error));
  }
  if (is_invalid && failures == 0) problems_.add(place_ + ": wrong arguments were accepted");
  return failures > 0;
}

void Inspector::check_open(const std::vector<Got>& got, const Strikes& struck) {
  place_ = "open";
  note_lost_pointer(struck);
  check_common(got, struck, false);
  if (world_.content() != file_) problems_.add("open: the file changed");
}

/// The first rank may not be able to answer other nodes, which is told by their shared calls.
void Inspector::note_lost_pointer(const Strikes& struck) {
  lost_pointer_ = lost_pointer_ || std::ranges::any_of(struck, [](const Struck& one) {
                    return one.operation == Operation::thread || one.operation == Operation::memory;
                  });
}

void Inspector::check(const Step& step, std::size_t number, const std::vector<Got>& got,
                      const Strikes& struck) {
  place_ = "step " + std::to_string(number) + " (" + call_of(step) + ")";
  const std::optional<Bytes> now = world_.content();
  if (!now) return problems_.add(place_ + ": the file is gone");
  note_lost_pointer(struck);
  note_behind(struck);
  switch (step.kind) {
    case StepKind::access: check_access(step, got, struck); break;
    case StepKind::set_size:
    case StepKind::preallocate: check_size(step, got, struck); break;
    case StepKind::sync: check_sync(got, struck); break;
    case StepKind::set_view:
      if (!check_common(got, struck, has_wrong(step))) {
        for (std::size_t rank = 0; rank < views_.size(); ++rank) {
          views_[rank] = ViewMap(step.parts[rank].view);
        }
      }
      break;
    case StepKind::set_atomicity: {
      // Locks that fail count as none, whatever the reason. Tried, one that is held gives EACCES.
      const bool may_be_held =
          script_.layer == Layer::system &&
          std::ranges::none_of(got, [](const Got& one) { return static_cast<bool>(one.error); }) &&
          std::ranges::all_of(struck, [](const Struck& one) { return one.kind == Kind::eacces; });
      const bool lacks_locks = any_of(struck, Operation::lock) && !may_be_held;
      if (!check_common(got, struck, has_wrong(step) || lacks_locks)) is_atomic_ = step.atomic;
      break;
    }
    case StepKind::seek_shared: check_common(got, struck, has_wrong(step)); break;
    case StepKind::get_size:
      for (std::size_t rank = 0; rank < got.size(); ++rank) {
        const Got& one = got[rank];
        const bool is_right = buffers_
                                  ? one.value >= held_.least_end(static_cast<int>(rank)) &&
                                        one.value <= std::max(std::ssize(*now), held_.most_end())
                                  : one.value == std::ssize(file_);
        if (!one.error && !is_right) report(rank, "wrong size");
        const bool has_cause = !struck.empty() || may_be_behind(rank, one.error.error_class);
        if (one.error && !has_cause) report(rank, told(one.error));
      }
      break;
    default: problems_.add(place_ + ": no script has such a step"); break;
  }
  const bool may_change = (step.kind == StepKind::access && step.is_write) ||
                          step.kind == StepKind::set_size || step.kind == StepKind::preallocate;
  if (!may_change && !may_become(*now)) problems_.add(place_ + ": the file changed");
  if (buffers_) lose_what_failed(step, got, struck);
  if (buffers_) held_.note_change(file_, *now);
  file_ = *now;
}

void Inspector::check_access(const Step& step, const std::vector<Got>& got, const Strikes& struck) {
  const Bytes now = world_.content().value();
  given_.clear();
  for (int rank = 0; rank < script_.ranks(); ++rank) {
    given_.push_back(make_memory(kDataSeed, step, rank));
  }
  const bool is_ordered = step.positioning == Positioning::shared && step.is_collective;
  for (std::size_t rank = 0; rank < got.size(); ++rank) {
    check_count(step, rank, got[rank], struck);
    if (!is_ordered) check_pointer(step, rank, got[rank]);
  }
  check_verdicts(step, got, struck);
  if (is_ordered) {
    check_ordered(step, got, now);
  } else {
    const std::string wrong =
        step.is_write ? wrong_write(step, got, now) : wrong_read(step, got, now);
    if (!wrong.empty()) problems_.add(place_ + ": " + wrong);
  }
  note_failures(step, got, now, struck);
  if (buffers_ && step.is_write) hold_back(step, got, struck);
}

ByteCount Inspector::expected_bytes(const Step& step, std::size_t rank, ByteCount begin,
                                    ByteCount file_end) const {
  const ByteCount wanted = wanted_bytes(step.parts[rank]);
  if (step.is_write || views_[rank].shows_nothing()) return wanted;
  ByteCount bytes = 0;
  while (bytes < wanted && views_[rank].offset_of(begin + bytes) < file_end) ++bytes;
  return bytes;
}

void Inspector::check_count(const Step& step, std::size_t rank, const Got& got,
                            const Strikes& struck) {
  if (got.is_unknown) return;
  if (step.parts[rank].wrong) {
    if (!got.error || got.bytes != 0) report(rank, "wrong arguments were accepted");
    return;
  }
  const bool writes = step.is_write;
  const bool is_ordered = step.positioning == Positioning::shared && step.is_collective;
  const ByteCount wanted = wanted_bytes(step.parts[rank]);
  const ByteCount expected =
      is_ordered ? wanted : expected_bytes(step, rank, got.begin, std::ssize(file_));
  // Another process has cut the file, above the store's loop; below it the loop reads on.
  const bool was_cut =
      script_.layer == Layer::store && std::ranges::any_of(struck, [](const Struck& one) {
        return one.operation == Operation::read && one.kind == Kind::shortened;
      });
  if (got.bytes < 0 || got.bytes > wanted) report(rank, "moved more than it was asked to");
  if (!got.error) {
    if (got.begin < 0) report(rank, "goes to a place that cannot be known");
    // Where an ordered read begins is found later.
    const bool may_be_less = !writes && (was_cut || is_ordered);
    if (got.bytes != expected && !may_be_less && !may_count(step, rank, got)) {
      report(rank, "moved " + std::to_string(got.bytes) + " instead of " +
                       std::to_string(expected) + " bytes and has no error");
    }
    return;
  }
  const bool lacks_verdict = settings().verify && any_of(struck, Operation::memory);
  if (writes && got.bytes == wanted && wanted > 0 && !any_of(struck, Operation::lock) &&
      !lacks_verdict && behind_[rank].empty()) {
    report(rank, "failed with a full count: " + told(got.error));
  }
  if (!lacks_pointer(step, got) && !may_fail(step, rank, got, struck)) {
    report(rank, "has an error that is not its own: " + told(got.error));
  }
}

/// Whether a rank moved nothing since it could not ask for the shared pointer: an error of its own,
/// whatever struck others.
bool Inspector::lacks_pointer(const Step& step, const Got& got) const {
  return lost_pointer_ && step.positioning == Positioning::shared && !step.is_collective &&
         got.error && got.error.system_error == 0 && got.bytes == 0;
}

/// Whether a rank may have this error, from what has struck whom.
bool Inspector::may_fail(const Step& step, std::size_t rank, const Got& got,
                         const Strikes& struck) const {
  const bool writes = step.is_write;
  const bool is_ordered = step.positioning == Positioning::shared && step.is_collective;
  // A rank without memory cannot read back what another wrote.
  if (writes && settings().verify && any_of(struck, Operation::memory)) return true;
  if (may_be_behind(rank, got.error.error_class)) return true;
  return std::ranges::any_of(struck, [&](const Struck& one) {
    if (!is_error(one.kind) || class_of(one) != got.error.error_class) return false;
    const bool is_own = one.rank == static_cast<int>(rank) || one.rank < 0;
    if (is_own || (is_ordered && !is_of_store(one))) return true;
    // A window's verdict is all its ranks'; the owner of bytes has the last word on limits.
    return writes && got.is_staged && is_of_store(one) && !depends_on_the_writer(one.kind);
  });
}

/// Ranks whose bytes were staged together share the error class.
void Inspector::check_verdicts(const Step& step, const std::vector<Got>& got,
                               const Strikes& struck) {
  std::vector<Struck> errors;
  std::ranges::copy_if(struck, std::back_inserter(errors),
                       [](const Struck& one) { return is_error(one.kind); });
  const bool is_one =
      !errors.empty() && is_of_store(errors[0]) &&
      std::ranges::all_of(errors, [&](const Struck& one) { return one.kind == errors[0].kind; });
  if (!is_one || !step.is_write) return;
  for (std::size_t rank = 0; rank < got.size(); ++rank) {
    if (step.parts[rank].wrong || !got[rank].error) continue;
    if (lacks_pointer(step, got[rank])) continue;
    if (may_be_behind(rank, got[rank].error.error_class)) continue;
    if (got[rank].error.error_class != class_of(errors[0])) {
      report(rank, "has not the class of the fault: " + told(got[rank].error));
    }
  }
}

void Inspector::check_pointer(const Step& step, std::size_t rank, const Got& got) {
  if (step.positioning != Positioning::individual || step.style != Style::blocking) return;
  if (step.parts[rank].wrong) return;
  const std::int64_t unit = views_[rank].unit();
  if (views_[rank].shows_nothing()) return;
  const std::int64_t expected = (got.begin + got.bytes) / unit;
  if (got.position != expected) {
    report(rank, "its pointer stands at " + std::to_string(got.position.value_or(-1)) +
                     " instead of " + std::to_string(expected));
  }
}

/// Which ranks' data is missing, and whom that must be told.
void Inspector::note_failures(const Step& step, const std::vector<Got>& got, const Bytes& now,
                              const Strikes& struck) {
  if (!step.is_write) return;
  for (std::size_t rank = 0; rank < got.size(); ++rank) {
    const Got& one = got[rank];
    if (one.error) failed_with_.insert(one.error.error_class);
    may_have_failed_ = may_have_failed_ || one.error.error_class == ErrorClass::no_memory;
    if (step.parts[rank].wrong) continue;
    // Else it failed before it was to write; what lacks memory may do both.
    const bool may_have_begun =
        one.error.system_error != 0 && one.error.error_class != ErrorClass::no_memory;
    if (one.error && may_have_begun) failed_[rank] += 1;
    if (!one.is_unknown) continue;
    // What failed may have been there before.
    may_have_failed_ = may_have_failed_ || any_of(struck, Operation::write) ||
                       any_of(struck, Operation::lock) || any_of(struck, Operation::memory);
    std::set<ErrorClass> causes;
    for (const Struck& strike : struck) {
      if (is_error(strike.kind)) causes.insert(class_of(strike));
    }
    failed_with_.insert(causes.begin(), causes.end());
    const Memory& given = given_[rank];
    for (ByteCount i = 0; i < std::ssize(given.places); ++i) {
      const auto offset = static_cast<std::size_t>(views_[rank].offset_of(one.begin + i));
      const auto place = static_cast<std::size_t>(given.places[static_cast<std::size_t>(i)]);
      if (offset < now.size() && now[offset] == given.bytes[place]) continue;
      if (is_held_back(step) || may_be_there(static_cast<FileOffset>(offset), now)) continue;
      untold_[rank].insert(causes.begin(), causes.end());
      if (untold_[rank].empty()) report(rank, "its data is missing although nothing struck");
      failed_[rank] += 1;
      break;
    }
  }
}

bool Inspector::others_failed(std::size_t rank) const {
  return std::accumulate(failed_.begin(), failed_.end(), 0) - failed_[rank] > known_[rank];
}

void Inspector::check_size(const Step& step, const std::vector<Got>& got, const Strikes& struck) {
  const Bytes now = world_.content().value();
  const bool failed = check_common(got, struck, has_wrong(step));
  if (buffers_) return check_held_size(step, got, now);
  Bytes expected = file_;
  const auto size = static_cast<std::size_t>(step.value);
  if (!failed && (step.kind == StepKind::set_size || size > expected.size())) expected.resize(size);
  // Space that was found before it ran out lies behind the end.
  if (failed && step.kind == StepKind::preallocate && now.size() > expected.size() &&
      now.size() <= size) {
    expected.resize(now.size());
  }
  if (now != expected) problems_.add(place_ + " did not do what it returned");
}

void Inspector::check_sync(const std::vector<Got>& got, const Strikes& struck) {
  for (std::size_t rank = 0; rank < got.size(); ++rank) {
    const Error& error = got[rank].error;
    // What there is to tell takes no memory: without it nothing but texts are lacking.
    const bool was_struck = std::ranges::any_of(struck, [rank](const Struck& one) {
      return is_error(one.kind) && one.operation != Operation::memory &&
             (one.rank == static_cast<int>(rank) || one.rank < 0);
    });
    const bool has_news = others_failed(rank);
    if (!error && !untold_[rank].empty()) report(rank, "was not told of its own failed write");
    if (!error && has_news && shares_memory_) report(rank, "was not told of missing data");
    if (!error && was_struck && any_of(struck, Operation::sync)) {
      report(rank, "a failed sync succeeds");
    }
    if (error && !was_struck && !has_news && untold_[rank].empty() && !may_have_failed_) {
      report(rank, "has an error that nothing caused: " + told(error));
    }
    // The strike's own error tells of nothing before.
    if (!error || was_struck) continue;
    const std::set<ErrorClass>& causes = untold_[rank].empty() ? failed_with_ : untold_[rank];
    if (!causes.contains(error.error_class)) {
      report(rank, "is told an error that no failed write had: " + told(error));
    }
    // One error at a time: its own first.
    if (!untold_[rank].empty()) {
      untold_[rank].clear();
    } else {
      known_[rank] = std::accumulate(failed_.begin(), failed_.end(), 0) - failed_[rank];
    }
  }
  if (buffers_) check_emptied(got, world_.content().value_or(Bytes{}));
}

void Inspector::check_final_sync(const std::vector<Got>& got) {
  place_ = "sync";
  check_sync(got, {});
}

void Inspector::check_close(const std::vector<Got>& got, const Strikes& struck) {
  place_ = "close";
  note_behind(struck);
  const bool any_failed = std::ranges::any_of(failed_, [](int number) { return number > 0; });
  const bool must_fail = any_of(struck, Operation::close) || any_of(struck, Operation::remove);
  const bool may_fail =
      any_failed || may_have_failed_ ||
      std::ranges::any_of(struck, [](const Struck& one) { return is_error(one.kind); });
  for (std::size_t rank = 0; rank < got.size(); ++rank) {
    const Error& error = got[rank].error;
    if (error) {
      if (!may_fail) report(rank, "has an error that nothing caused: " + told(error));
      continue;
    }
    if (must_fail) report(rank, "succeeds although a rank could not close");
    if (others_failed(rank)) report(rank, "was never told of missing data");
    if (!untold_[rank].empty()) report(rank, "was never told of its own failed write");
  }
  const std::optional<Bytes> now = world_.content();
  const bool must_be_gone = script_.mode.delete_on_close && !any_of(struck, Operation::remove);
  if (must_be_gone && now && !any_of(struck, Operation::memory)) {
    problems_.add("close: the file was not deleted");
  }
  if (!script_.mode.delete_on_close && !now) problems_.add("close: the file is gone");
  if (!now) return;
  if (buffers_) return check_emptied(got, *now);
  if (*now != file_) problems_.add("close: the file changed");
}

}  // namespace headrace::faults
