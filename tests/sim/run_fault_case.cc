#include <algorithm>
#include <barrier>
#include <cerrno>

#include "sim/fault_case.h"

namespace headrace::sim {
namespace {

constexpr const char* kPath = "file";

bool depends_on_the_writer(int system_error) {
  return system_error == EFBIG || system_error == EDQUOT || system_error == EACCES;
}

/// What one rank got from a step.
struct Got {
  ByteCount bytes = 0;
  Error error;
  Bytes buffer;
};

/// Watches the file and what the ranks are told, from outside the engine.
class Inspector {
 public:
  Inspector(const FaultCase& fault_case, Disk& disk, Problems& problems)
      : case_(fault_case),
        disk_(disk),
        problems_(problems),
        file_(fault_case.before),
        views_(static_cast<std::size_t>(fault_case.ranks()), ViewModel::of_bytes()),
        told_(views_.size(), false),
        failed_(views_.size(), false) {}

  void check(const FaultStep& step, std::size_t number, const std::vector<Got>& got,
             std::int64_t faults) {
    place_ = "step " + std::to_string(number);
    if (!step.views.empty()) views_ = step.views;
    const Bytes now = disk_.content(kPath).value();
    switch (step.kind) {
      case FaultStepKind::transfer:
        check_errors(step, got, faults);
        if (step.direction == Direction::write) {
          check_written(step, got, now);
        } else {
          check_read(step, got, now);
        }
        break;
      case FaultStepKind::resize:
      case FaultStepKind::allocate: check_size(step, got, faults, now); break;
      case FaultStepKind::sync: check_sync(step, got, faults); break;
    }
    file_ = now;
  }

  void check_close(const std::vector<Got>& got, std::int64_t faults) {
    place_ = "close";
    const bool any_failed = std::ranges::any_of(failed_, std::identity{});
    for (std::size_t rank = 0; rank < got.size(); ++rank) {
      const bool success = !got[rank].error;
      if (faults > 0 && success) report(rank, "succeeds although a rank could not close");
      if (any_failed && success && !told_[rank]) report(rank, "was never told of missing data");
      if (faults == 0 && !any_failed && !success) report(rank, got[rank].error.message);
    }
    const std::optional<Bytes> now = disk_.content(kPath);
    if (now.has_value() == case_.mode.delete_on_close) problems_.add("close: delete on close");
    if (now && *now != file_) problems_.add("close: the file changed");
  }

 private:
  void report(std::size_t rank, const std::string& problem) {
    problems_.add(place_ + ", rank " + std::to_string(rank) + ": " + problem);
  }

  ByteCount expected_bytes(const FaultStep& step, std::size_t rank) const {
    const Request& request = step.requests[rank];
    if (step.direction == Direction::write) return request.wanted();
    ByteCount bytes = 0;
    while (bytes < request.wanted() &&
           views_[rank].offset_of(request.position + bytes) < std::ssize(file_)) {
      ++bytes;
    }
    return bytes;
  }

  void check_errors(const FaultStep& step, const std::vector<Got>& got, std::int64_t faults) {
    const bool writes = step.direction == Direction::write;
    bool any = false;
    for (std::size_t rank = 0; rank < got.size(); ++rank) {
      const ByteCount expected = expected_bytes(step, rank);
      const Error& error = got[rank].error;
      if (!error && got[rank].bytes != expected) {
        report(rank, "moved " + std::to_string(got[rank].bytes) + " instead of " +
                         std::to_string(expected) + " bytes and had no error");
      }
      if (!error) continue;
      any = true;
      if (writes) told_[rank] = failed_[rank] = true;
      if (got[rank].bytes > expected || (writes && got[rank].bytes == expected)) {
        report(rank, "failed with a full count");
      }
      if (faults == 0) {
        report(rank, "failed without a fault: " + error.message);
        continue;
      }
      const int reason = step.fault->system_error;
      if (error.error_class != system_failure(reason, "").error_class) {
        report(rank, "has another error than the disk: " + error.message);
      }
      // The owner of the bytes has the last word where only the writer was refused.
      const bool others_fault = step.fault->rank >= 0 && step.fault->rank != static_cast<int>(rank);
      if (others_fault && (!writes || depends_on_the_writer(reason))) {
        report(rank, "failed by a limit of another rank");
      }
    }
    if (faults > 0 && writes && !any && !depends_on_the_writer(step.fault->system_error)) {
      problems_.add(place_ + ": nobody was told of a failed write");
    }
  }

  void check_written(const FaultStep& step, const std::vector<Got>& got, const Bytes& now) {
    // By place: the byte that a request gives, or -1; and whether it must be there.
    std::vector<std::int16_t> given(kEndOfRequests, -1);
    std::vector<bool> must_be_there(given.size(), false);
    for (std::size_t rank = 0; rank < got.size(); ++rank) {
      const Request& request = step.requests[rank];
      if (got[rank].buffer != request.buffer) report(rank, "a write changed the memory");
      const std::vector<std::int64_t> places = request.places(request.wanted());
      for (ByteCount i = 0; i < request.wanted(); ++i) {
        const auto offset = static_cast<std::size_t>(views_[rank].offset_of(request.position + i));
        given[offset] =
            request.buffer[static_cast<std::size_t>(places[static_cast<std::size_t>(i)])];
        must_be_there[offset] = i < got[rank].bytes;
        if (must_be_there[offset] && (offset >= now.size() || now[offset] != given[offset])) {
          return report(rank, "byte " + std::to_string(i) + " of its data is counted but missing");
        }
      }
    }
    if (now.size() < file_.size()) problems_.add(place_ + ": the file became shorter");
    for (std::size_t i = 0; i < now.size(); ++i) {
      const std::uint8_t before = i < file_.size() ? file_[i] : std::uint8_t{0};
      if (now[i] == before || (i < given.size() && now[i] == given[i])) continue;
      return problems_.add(place_ + ": byte " + std::to_string(i) + " is nobody's");
    }
  }

  void check_read(const FaultStep& step, const std::vector<Got>& got, const Bytes& now) {
    if (now != file_) problems_.add(place_ + ": a read changed the file");
    for (std::size_t rank = 0; rank < got.size(); ++rank) {
      const Request& request = step.requests[rank];
      Bytes expected = request.buffer;
      const std::vector<std::int64_t> places = request.places(request.wanted());
      for (ByteCount i = 0; i < request.wanted(); ++i) {
        const auto place = static_cast<std::size_t>(places[static_cast<std::size_t>(i)]);
        // Behind the count the memory is undefined.
        expected[place] =
            i < got[rank].bytes
                ? now[static_cast<std::size_t>(views_[rank].offset_of(request.position + i))]
                : got[rank].buffer[place];
      }
      const std::string difference = first_difference(got[rank].buffer, expected);
      if (!difference.empty()) report(rank, "memory: byte " + difference);
    }
  }

  void check_size(const FaultStep& step, const std::vector<Got>& got, std::int64_t faults,
                  const Bytes& now) {
    Bytes expected = file_;
    const auto size = static_cast<std::size_t>(step.size);
    if (faults == 0 && (step.kind == FaultStepKind::resize || size > expected.size())) {
      expected.resize(size);
    }
    if (now != expected) problems_.add(place_ + ": resize or allocate did not do what it returned");
    for (std::size_t rank = 0; rank < got.size(); ++rank) {
      if ((faults > 0) != static_cast<bool>(got[rank].error)) {
        report(rank, "resize or allocate: '" + got[rank].error.message + "'");
      }
    }
  }

  void check_sync(const FaultStep& step, const std::vector<Got>& got, std::int64_t faults) {
    for (std::size_t rank = 0; rank < got.size(); ++rank) {
      const bool own = faults > 0 && step.fault->rank == static_cast<int>(rank);
      if (own && !got[rank].error) report(rank, "a failed sync succeeds");
      if (own || !got[rank].error) continue;
      bool others_failed = false;
      for (std::size_t other = 0; other < failed_.size(); ++other) {
        others_failed = others_failed || (failed_[other] && other != rank);
      }
      if (!others_failed) report(rank, "sync: " + got[rank].error.message);
      told_[rank] = true;
    }
  }

  const FaultCase& case_;
  Disk& disk_;
  Problems& problems_;
  Bytes file_;
  std::vector<ViewModel> views_;
  std::vector<bool> told_;    ///< of each rank: it knows that data is missing
  std::vector<bool> failed_;  ///< of each rank: a write of its own failed
  std::string place_;
};

Got take(engine::File& file, const FaultStep& step, std::size_t rank) {
  Got got;
  switch (step.kind) {
    case FaultStepKind::transfer: {
      const Request& request = step.requests[rank];
      got.buffer = request.buffer;
      engine::Outcome outcome =
          carry_out(file, step.direction, step.collective, request, got.buffer);
      got.bytes = outcome.bytes;
      got.error = std::move(outcome.error);
      break;
    }
    case FaultStepKind::resize: got.error = file.resize(step.size); break;
    case FaultStepKind::allocate: got.error = file.allocate(step.size); break;
    case FaultStepKind::sync: got.error = file.sync(); break;
  }
  return got;
}

}  // namespace

std::vector<std::string> run_fault_case(const FaultCase& fault_case) {
  Disk disk(fault_case.delay_every);
  disk.put(kPath, fault_case.before);
  Problems problems;
  Inspector inspector(fault_case, disk, problems);
  std::barrier meeting(fault_case.ranks());
  std::vector<Got> got(static_cast<std::size_t>(fault_case.ranks()));
  // All ranks act while the disk fails; the first arms it and looks at what came of it.
  const auto act = [&](int rank, const std::optional<Fault>& fault, const auto& action,
                       const auto& inspect) {
    if (rank == 0 && fault) disk.arm(*fault);
    meeting.arrive_and_wait();
    got[static_cast<std::size_t>(rank)] = action();
    meeting.arrive_and_wait();
    if (rank == 0) inspect(fault ? disk.disarm() : 0);
    meeting.arrive_and_wait();
  };
  run_ranks(
      fault_case.nodes, disk,
      [&](int rank, std::shared_ptr<exchange::Team> team, storage::FileSystem& file_system) {
        std::unique_ptr<engine::File> file;
        const auto open = [&] {
          auto opened =
              engine::File::open(team, file_system, kPath, fault_case.mode, fault_case.hints);
          if (!opened) return Got{0, opened.error(), {}};
          file = std::move(opened.value());
          return Got{};
        };
        const auto expect_open = [&](bool fails) {
          for (const Got& one : got) {
            if (fails != static_cast<bool>(one.error))
              problems.add("open: '" + one.error.message + "'");
          }
        };
        if (fault_case.at_open) {
          act(rank, fault_case.at_open, open,
              [&](std::int64_t faults) { expect_open(faults > 0); });
        }
        if (!file) act(rank, std::nullopt, open, [&](std::int64_t) { expect_open(false); });
        for (std::size_t i = 0; i < fault_case.steps.size(); ++i) {
          const FaultStep& step = fault_case.steps[i];
          if (!step.views.empty()) {
            const Error error = file->set_view(step.views[static_cast<std::size_t>(rank)].view());
            if (error) problems.add("set_view: " + error.message);
          }
          act(
              rank, step.fault, [&] { return take(*file, step, static_cast<std::size_t>(rank)); },
              [&](std::int64_t faults) { inspector.check(step, i, got, faults); });
        }
        act(
            rank, fault_case.at_close, [&] { return Got{0, file->close(), {}}; },
            [&](std::int64_t faults) { inspector.check_close(got, faults); });
      });
  return problems.take();
}

}  // namespace headrace::sim
