#include "count/trial.h"

#include <barrier>
#include <cstdio>
#include <cstdlib>

#include "count/counted_store.h"
#include "count/counted_team.h"
#include "file/file.h"
#include "sim/random.h"
#include "sim/ranks.h"
#include "sim/watchdog.h"
#include "view/copy.h"

namespace headrace::count {
namespace {

[[noreturn]] void give_up(const std::string& name, const std::string& problem) {
  std::fprintf(stderr, "count: %s: %s, run the tests of the simulation (ctest -L sim)\n",
               name.c_str(), problem.c_str());
  std::exit(2);
}

/// What all ranks of a trial share.
struct Trial {
  explicit Trial(const Case& one, Plant what)
      : plan(one), plant(what), office(one.ranks), meeting(one.ranks) {}

  Counts now() const {
    Counts counts = counts_now();
    counts[kMessages] = office.messages();
    counts[kMessageBytes] = office.bytes();
    return counts;
  }

  const Case& plan;
  Plant plant;
  sim::PostOffice office;
  std::barrier<> meeting;
  std::vector<Phase> phases;
};

class Rank {
 public:
  Rank(Trial& trial, int rank, std::shared_ptr<exchange::FileTeam> team, storage::FileSystem& files)
      : trial_(trial),
        rank_(rank),
        team_(std::make_shared<CountedTeam>(std::move(team))),
        files_(files, trial.plant == Plant::store ? 2 : 1),
        shape_(trial.plan.shape(rank)),
        data_(static_cast<std::size_t>(shape_.bytes)) {
    for (std::size_t i = 0; i < data_.size(); ++i) {
      data_[i] = sim::random_byte(static_cast<std::uint64_t>(rank), static_cast<std::int64_t>(i));
    }
  }

  void run() {
    phase("open", [&] { open(); });
    phase("view", [&] { set_view(); });
    phase("write", [&] { calls(Direction::write, data_); });
    expect(file_->positions().seek(0, file::Whence::set));
    std::vector<std::uint8_t> back(data_.size());
    phase("read", [&] { calls(Direction::read, back); });
    if (back != data_) give_up(trial_.plan.name, "other data was read than was written");
    phase("close", [&] { expect(file_->close()); });
  }

 private:
  /// Counts what all ranks do in `body`.
  template <class Body>
  void phase(const char* name, const Body& body) {
    trial_.meeting.arrive_and_wait();
    const Counts before = trial_.now();
    trial_.meeting.arrive_and_wait();
    const std::uint64_t posted = team_->posted();
    body();
    add(kPosts, static_cast<std::int64_t>(team_->posted() - posted));
    trial_.meeting.arrive_and_wait();
    if (rank_ != 0) return;
    Counts during = trial_.now();
    for (std::size_t i = 0; i < during.size(); ++i) during[i] -= before[i];
    trial_.phases.emplace_back(name, during);
  }

  void open() {
    file::AccessMode mode;
    mode.read = mode.write = mode.create = true;
    auto opened = file::File::open(team_, files_, "file", mode, trial_.plan.hints);
    if (!opened) give_up(trial_.plan.name, opened.error().message);
    file_ = std::move(opened.value());
  }

  void set_view() {
    const view::TypePtr etype = view::make_basic(1);
    expect(file_->set_view(file::View{shape_.displacement, etype, shape_.filetype}));
  }

  void calls(Direction direction, std::vector<std::uint8_t>& buffer) {
    for (int turn = 0; turn < trial_.plan.ranks; ++turn) {
      if (!trial_.plan.takes_turns || turn == rank_) {
        for (int call = 0; call < trial_.plan.calls; ++call) transfer(direction, buffer);
      }
      if (!trial_.plan.takes_turns) return;
      trial_.meeting.arrive_and_wait();
    }
  }

  void transfer(Direction direction, std::vector<std::uint8_t>& buffer) {
    // Ranks that take turns would never end.
    if (trial_.plant == Plant::meeting && !trial_.plan.takes_turns) {
      expect(team_->channel().barrier());
    }
    if (trial_.plant == Plant::copy) copy_once_more();
    file::TransferCall call;
    call.direction = direction;
    call.collective = trial_.plan.is_collective;
    call.buffer = buffer.data();
    call.count = shape_.bytes;
    call.type = view::make_basic(1);
    watch_sleeps(trial_.plan.takes_turns);
    const file::Outcome outcome = file_->transfer(call);
    watch_sleeps(false);
    expect(outcome.error);
    if (outcome.bytes != shape_.bytes) give_up(trial_.plan.name, "fewer bytes were moved");
  }

  void copy_once_more() {
    const FileOffset end = view::offset_of(*shape_.filetype, 0, shape_.bytes - 1) + 1;
    std::vector<std::byte> window(static_cast<std::size_t>(end));
    view::Cursor file(shape_.filetype, 0);
    view::Cursor memory(view::make_basic(1), 0, shape_.bytes);
    view::copy(Direction::write, {window.data(), 0}, file, end,
               reinterpret_cast<std::byte*>(data_.data()), memory, shape_.bytes);
  }

  void expect(const Error& error) const {
    if (error) give_up(trial_.plan.name, error.message);
  }

  Trial& trial_;
  int rank_;
  std::shared_ptr<CountedTeam> team_;
  CountedFileSystem files_;
  Shape shape_;
  std::vector<std::uint8_t> data_;
  std::unique_ptr<file::File> file_;
};

}  // namespace

std::vector<Phase> run(const Case& what, Plant plant) {
  const sim::Watchdog watchdog("count: " + what.name, sim::kCaseLimit);
  Trial trial(what, plant);
  std::vector<std::string> nodes;
  for (int rank = 0; rank < what.ranks; ++rank) {
    nodes.push_back("node" + std::to_string(rank * what.nodes / what.ranks));
  }
  sim::Disk disk(0);
  run_ranks(trial.office, nodes, disk,
            [&](int rank, std::shared_ptr<exchange::FileTeam> team, storage::FileSystem& files) {
              Rank(trial, rank, std::move(team), files).run();
            });
  return std::move(trial.phases);
}

}  // namespace headrace::count
