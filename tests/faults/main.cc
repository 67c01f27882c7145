// faults --each [--part N] [--step N] [--only TEXT] [--place K]
// faults --random FAULTS [--seed S]
// faults --again SEED
// faults --scarce PROGRAMS [--seed S] [--part N]
// faults --regressions
//
// --scarce: random programs whose writes fail while memory lacks from each allocation on in turn;
// with --part N from every Nth one. --regressions: what once failed. --seconds S: begins nothing
// new after so long. --state FILE: keeps there what was struck, and goes on from there, so that a
// long run may be made in parts.
//
// Injects faults into the engine in the simulation and holds what ranks are told against the file.
// --each: at every operation in turn of fixed programs, all kinds; with --step N at every Nth; with
// --part N every Nth kind and program, at one operation. --random: random programs and faults,
// until so many have struck. Prints what was struck how often. --jobs J: processes.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "faults/regressions.h"
#include "faults/run.h"
#include "faults/workers.h"

namespace headrace::faults {
namespace {

constexpr std::int64_t kPlaces = 61;

struct Options {
  bool each = false;
  std::int64_t random = 0;
  std::int64_t scarce = 0;
  std::int64_t part = 0;
  std::int64_t step = 1;
  std::uint64_t seed = 1;
  std::string only;
  std::int64_t place = -1;
  int jobs = 2;
  bool again = false;
  bool regressions = false;
  std::int64_t seconds = 0;  ///< 0: no limit
  std::string state;
};

bool read_options(int count, char** words, Options& options) {
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    if (word == "--each" || word == "--regressions") {
      (word == "--each" ? options.each : options.regressions) = true;
      continue;
    }
    if (++i == count) return false;
    const std::int64_t number = std::strtoll(words[i], nullptr, 10);
    if (word == "--random") {
      options.random = number;
    } else if (word == "--scarce") {
      options.scarce = number;
    } else if (word == "--part") {
      options.part = number;
    } else if (word == "--step") {
      options.step = std::max<std::int64_t>(1, number);
    } else if (word == "--seed" || word == "--again") {
      options.seed = static_cast<std::uint64_t>(number);
      options.again = options.again || word == "--again";
    } else if (word == "--place") {
      options.place = number;
    } else if (word == "--only") {
      options.only = words[i];
    } else if (word == "--seconds") {
      options.seconds = number;
    } else if (word == "--state") {
      options.state = words[i];
    } else if (word == "--jobs") {
      options.jobs = static_cast<int>(std::clamp<std::int64_t>(number, 1, kMaxJobs));
    } else {
      return false;
    }
  }
  const int ways = options.each + options.regressions + options.again + (options.random > 0) +
                   (options.scarce > 0);
  return ways == 1;
}

std::string list(const std::vector<std::string>& problems) {
  std::string text;
  for (std::size_t i = 0; i < problems.size() && i < 6; ++i) text += "  " + problems[i] + "\n";
  return text;
}

Verdict run_one(const Script& script, const std::vector<Fault>& faults, Progress& progress,
                const Begin& begin) {
  begin(script.name + (script.layer == Layer::store ? ", store: " : ", system: ") +
        to_text(faults));
  Verdict verdict = run_script(script, faults, progress.coverage);
  progress.runs += 1;
  progress.struck += verdict.struck;
  return verdict;
}

/// One way in which one kind of operation of one program fails, at each place in turn.
struct Item {
  const Script* script;
  Fault fault;
};

/// Whether this is another way to fail than those of other scopes.
bool is_distinct(const Fault& fault) {
  const bool moves = fault.operation == Operation::write || fault.operation == Operation::read;
  const bool is_limit =
      fault.kind == Kind::efbig || fault.kind == Kind::edquot || fault.kind == Kind::eacces;
  if (fault.moved_share > 0 && (!moves || fault.scope != Scope::once)) return false;
  if (fault.kind == Kind::slow) return fault.scope == Scope::lasting;
  return fault.scope != Scope::one_rank || is_limit;
}

std::vector<Item> all_items(const std::vector<Script>& scripts, const std::string& only) {
  std::vector<Item> items;
  for (const Script& script : scripts) {
    for (int operation = 0; operation < kOperations; ++operation) {
      for (int kind = 0; kind < kKinds; ++kind) {
        for (const Scope scope : {Scope::once, Scope::lasting, Scope::one_rank}) {
          for (const int moved_share : {0, 100}) {
            const Fault fault{static_cast<Operation>(operation), static_cast<Kind>(kind), scope, 0,
                              moved_share};
            if (why_not(script.layer, fault.operation, fault.kind) != nullptr) continue;
            if (!is_distinct(fault)) continue;
            const std::string text = script.name + ", " + to_text({fault});
            if (text.find(only) != std::string::npos) items.push_back({&script, fault});
          }
        }
      }
    }
  }
  return items;
}

/// Whether the time is up.
class Limit {
 public:
  explicit Limit(std::int64_t seconds)
      : end_(seconds == 0 ? Clock::time_point::max()
                          : Clock::now() + std::chrono::seconds(seconds)) {}
  bool is_over() const { return Clock::now() >= end_; }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point end_;
};

/// The number of items.
std::int64_t run_each(const Options& options, const Limit& limit, Progress& progress) {
  std::vector<Script> scripts = fixed_scripts(Layer::store);
  for (Script& script : fixed_scripts(Layer::system)) scripts.push_back(std::move(script));
  const std::vector<Item> items = all_items(scripts, options.only);
  const std::int64_t part = std::max<std::int64_t>(1, options.part);
  const Work work = [&](std::int64_t number, Progress& shared, const Begin& begin) {
    const Item& item = items[static_cast<std::size_t>(number * part)];
    const auto run_at = [&](std::int64_t place) {
      Fault fault = item.fault;
      fault.nth = place;
      return run_one(*item.script, {fault}, shared, begin);
    };
    if (options.place >= 0) return list(run_at(options.place).problems);
    if (options.part > 0) {
      // One place; the first where there are fewer.
      Verdict verdict = run_at(number % kPlaces);
      if (verdict.problems.empty() && verdict.struck == 0) verdict = run_at(0);
      return list(verdict.problems);
    }
    for (std::int64_t place = 0;; place += options.step) {
      const Verdict verdict = run_at(place);
      if (!verdict.problems.empty() || verdict.struck == 0) return list(verdict.problems);
    }
  };
  const std::int64_t count = (std::ssize(items) + part - 1) / part;
  work_off(count, options.jobs, progress, work, [&] { return limit.is_over(); });
  return count;
}

void run_regressions(const Options& options, Progress& progress) {
  const std::vector<Regression> all = regressions();
  const Work work = [&](std::int64_t number, Progress& shared, const Begin& begin) -> std::string {
    const Regression& one = all[static_cast<std::size_t>(number)];
    const std::vector<Script> scripts = fixed_scripts(one.layer);
    const auto script = std::ranges::find(scripts, one.script, &Script::name);
    if (script == scripts.end()) return "  there is no such program: " + one.script + "\n";
    std::vector<Fault> faults = one.faults;
    for (;; faults.back().nth += 1) {
      const Verdict verdict = run_one(*script, faults, shared, begin);
      if (!verdict.problems.empty()) return list(verdict.problems);
      const bool is_first = faults.back().nth == one.faults.back().nth;
      if (is_first && verdict.struck == 0) return "  nothing strikes\n";
      if (!verdict.last_struck || !one.at_each_place) return {};
    }
  };
  work_off(std::ssize(all), options.jobs, progress, work, [] { return false; });
}

void run_random(const Options& options, const Limit& limit, Progress& progress) {
  const Work work = [&](std::int64_t number, Progress& shared, const Begin& begin) {
    const Script script = random_script(options.seed + static_cast<std::uint64_t>(number));
    const std::vector<Fault> faults =
        random_faults(options.seed + static_cast<std::uint64_t>(number), script);
    return list(run_one(script, faults, shared, begin).problems);
  };
  work_off(std::int64_t{1} << 40, options.jobs, progress, work,
           [&] { return limit.is_over() || progress.struck >= options.random; });
}

/// A way in which the writes of a program fail, and memory with them.
std::vector<Fault> scarce_way(std::int64_t number) {
  constexpr Kind kinds[] = {Kind::efbig,  Kind::eio,    Kind::enospc,
                            Kind::edquot, Kind::eacces, Kind::estale};
  constexpr Scope lasts[] = {Scope::lasting, Scope::once};
  constexpr Scope lacks[] = {Scope::lasting, Scope::one_rank, Scope::once};
  const auto take = [&](const auto& list) {
    const auto count = static_cast<std::int64_t>(std::size(list));
    return list[std::exchange(number, number / count) % count];
  };
  const Kind kind = take(kinds);
  const Scope last = take(lasts);
  return {{Operation::write, kind, last}, {Operation::memory, Kind::no_memory, take(lacks)}};
}

/// Each program in each way.
void run_scarce(const Options& options, const Limit& limit, Progress& progress) {
  constexpr std::int64_t kWays = 36;
  // Before these the file cannot be opened; behind them few programs take any.
  constexpr std::int64_t kFirst = 20;
  constexpr std::int64_t kLast = 220;
  const std::int64_t part = std::max<std::int64_t>(1, options.part);
  const Work work = [&](std::int64_t number, Progress& shared, const Begin& begin) -> std::string {
    Script script = random_script(options.seed + static_cast<std::uint64_t>(number / kWays));
    // Memory lacks in a sync, too, that has something to tell.
    if (!script.learns_late) script.steps.push_back(step_of(StepKind::sync, script.ranks()));
    std::vector<Fault> faults = scarce_way(number % kWays);
    std::int64_t& place = faults.back().nth;
    for (place = kFirst + number % part; place <= kLast; place += part) {
      const Verdict verdict = run_one(script, faults, shared, begin);
      if (!verdict.problems.empty()) return list(verdict.problems);
      if (!verdict.last_struck) break;
    }
    return {};
  };
  work_off(options.scarce * kWays, options.jobs, progress, work, [&] { return limit.is_over(); });
}

int run_again(const Options& options, Progress& progress) {
  const Script script = random_script(options.seed);
  const Verdict verdict =
      run_one(script, random_faults(options.seed, script), progress,
              [](const std::string& text) { std::printf("%s\n", text.c_str()); });
  std::printf("%s%lld faults struck, %lld times\n", list(verdict.problems).c_str(),
              static_cast<long long>(verdict.struck),
              static_cast<long long>(progress.coverage.total()));
  return verdict.problems.empty() ? 0 : 1;
}

/// Whether all was clean, and nothing left out of what was to be reached.
bool tell_results(const Progress& progress, bool is_whole) {
  std::printf("\n%s", progress.coverage.table().c_str());
  const std::vector<std::string> missing = progress.coverage.missing();
  for (const std::string& cell : missing) std::printf("not reached: %s\n", cell.c_str());
  std::printf("\n%lld runs, %lld faults struck, %zu cells not reached, %lld failures\n",
              static_cast<long long>(progress.runs), static_cast<long long>(progress.struck),
              missing.size(), static_cast<long long>(progress.failures));
  return progress.failures == 0 && (missing.empty() || !is_whole);
}

/// What runs may be counted together.
std::string what_is_run(const Options& options) {
  return (options.each          ? "each "
          : options.regressions ? "regressions "
          : options.scarce > 0  ? "scarce "
                                : "random ") +
         std::to_string(options.part) + " " + std::to_string(options.seed) + " " + options.only;
}

int main(int count, char** words) {
  Options options;
  if (!read_options(count, words, options)) {
    std::fprintf(
        stderr,
        "usage: faults [--each [--part N] [--step N] [--only TEXT] [--place K]] [--random FAULTS "
        "[--seed S]] "
        "[--scarce PROGRAMS [--seed S] [--part N]] [--again SEED] [--regressions] [--jobs J] "
        "[--seconds "
        "S] [--state FILE]\n");
    return 2;
  }
  // Little memory, so that it can be asked for as a whole when all is returned.
  setenv("HEADRACE_NODE_MEMORY", "1m", 0);
  setenv("HEADRACE_QUIET", "1", 0);
  // Which path calls take must not depend on where threads run.
  setenv("HEADRACE_CORE_DISTANCE", "80", 0);
  Progress* const made = make_progress(options.state, what_is_run(options));
  if (made == nullptr) {
    std::fprintf(stderr,
                 "faults: cannot go on from '%s' (it keeps another run, or cannot be written), "
                 "name another file\n",
                 options.state.c_str());
    return 2;
  }
  Progress& progress = *made;
  if (options.again) return run_again(options, progress);
  const Limit limit(options.seconds);
  bool is_whole = options.each && options.part <= 1 && options.step == 1 && options.only.empty();
  if (options.each) {
    const std::int64_t items = run_each(options, limit, progress);
    const std::int64_t begun = std::min<std::int64_t>(progress.next, items);
    is_whole = is_whole && begun == items;
    std::printf("\n%lld of %lld ways to fail\n", static_cast<long long>(begun),
                static_cast<long long>(items));
  } else if (options.regressions) {
    run_regressions(options, progress);
  } else if (options.scarce > 0) {
    run_scarce(options, limit, progress);
  } else {
    run_random(options, limit, progress);
  }
  return tell_results(progress, is_whole) ? 0 : 1;
}

}  // namespace
}  // namespace headrace::faults

int main(int count, char** words) {
  return headrace::faults::main(count, words);
}
