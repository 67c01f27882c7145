// Decides, once MPI runs, whether the layer stands between or stays out of the way.
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "abi/flavour.h"
#include "abi/front/chain.h"
#include "abi/front/entry_table.h"
#include "abi/front/front_library.h"
#include "abi/front/library.h"
#include "abi/front/next.h"
#include "abi/front/program_objects.h"
#include "abi/front/slot_patch.h"
#include "base/elf_object.h"
#include "base/held_descriptor.h"
#include "base/message.h"
#include "base/settings.h"
#include "base/unwinding.h"
#include "record/decision.h"
#include "record/job_end.h"

namespace headrace::abi {

namespace {

enum class State {
  searching,  ///< no MPI library found yet
  waiting,    ///< found, but MPI does not run yet
  active,
  inert
};

/// Guarded by its mutex. While it is held, only functions of Flavour call the library, and the
/// dynamic linker's lock is taken.
struct Front {
  std::mutex mutex;
  std::atomic<State> state = State::searching;
  bool awaits_init = false;  ///< active, but so far with sessions only
  const Flavour* flavour = nullptr;
};

Front& front() {
  static Front& only = *new Front;  // never destroyed: calls arrive during exit too
  return only;
}

bool is_start(Entry entry) {
  return entry == Entry::Init || entry == Entry::Init_thread;
}

const Flavour* flavour_of(Abi abi) {
  switch (abi) {
    case Abi::mpich: return &abi_mpich::flavour;
    case Abi::openmpi: return &abi_openmpi::flavour;
    case Abi::standard: return &abi_mpiabi::flavour;
    case Abi::unknown: break;
  }
  return nullptr;
}

/// Why the layer cannot stand between the program and this library, or "".
std::string obstacle(const Library& library, const Flavour* flavour) {
  if (flavour == nullptr) {
    return library.path +
           " has none of the ABIs of MPICH 3 to 5, Open MPI 3 to 5 and the MPI-5 standard";
  }
  if (!library.unknown_procedures.empty()) {
    return library.path + " has " + library.unknown_procedures.front() +
           ", which this version does not carry";
  }
  if (library.has_large_counts && !ElfObject::supports_relocations()) {
    return "large-count calls cannot be caught on this processor";
  }
  const std::string front_problem = front_library_problem(library);
  if (!front_problem.empty()) return front_problem;
  const char* const missing = flavour->bind(library.handle);
  return missing == nullptr ? "" : library.path + " lacks " + missing;
}

void search(Front& own) {
  const auto found = find_library();
  if (found && !found.value().has_value()) return;  // no MPI yet
  if (!found) {
    if (!settings().disable) print_job_message_once(found.error().message);
    own.state = State::inert;
    return;
  }
  const Library& library = *found.value();
  set_next_library(library.handle);
  if (settings().disable) {
    own.state = State::inert;
    return;
  }
  own.flavour = flavour_of(library.abi);
  const std::string problem = obstacle(library, own.flavour);
  if (!problem.empty()) {
    print_job_message_once("staying out of the way (" + problem +
                           "), use a newer headrace or set HEADRACE_DISABLE=1 to hide this line");
    own.state = State::inert;
    return;
  }
  if (!set_features(own.flavour->features)) {
    own.state = State::inert;
    return;
  }
  set_caught_flavour(own.flavour, library.handle);
  own.state = State::waiting;
}

/// Whether MPI runs, as far as the call of `entry` tells: a program opens a file after MPI_Init or
/// in a session.
bool runs(const Front& own, Entry entry) {
  if (own.flavour->is_running()) return true;
  return entry == Entry::File_open && own.flavour->may_run_by_sessions();
}

/// What a program may ask before MPI runs, and no other rank learns of.
bool only_asks(Entry entry) {
  switch (entry) {
    case Entry::Initialized:
    case Entry::Finalized:
    case Entry::Wtime:
    case Entry::Wtick:
    case Entry::Get_version:
    case Entry::Get_library_version: return true;
    default: return false;
  }
}

/// A program that calls one of these before MPI runs uses it by sessions.
bool is_of_session(Entry entry) {
  switch (entry) {
    case Entry::Comm_rank:
    case Entry::Comm_size:
    case Entry::Comm_free:
    case Entry::Group_rank:
    case Entry::Group_size:
    case Entry::Group_free:
    case Entry::File_open: return true;
    default: return false;
  }
}

/// To who asks for a record.
void tell_of_sessions() {
  if (!settings().record || !record::is_asked_for(settings())) return;
  print_job_message_once(
      "nothing is recorded (MPI runs by sessions, before or without MPI_Init), call MPI_Init "
      "first, or set HEADRACE_RECORD=auto to hide this line");
}

/// Another thread may hold the dynamic linker's lock while it calls us, in an object's constructor,
/// and the mutex's holder may wait for that lock. So what a constructor may ask does not wait.
std::unique_lock<std::mutex> locked(Front& own, Entry entry) {
  if (only_asks(entry)) return std::unique_lock(own.mutex, std::try_to_lock);
  return std::unique_lock(own.mutex);
}

/// Advances as far as possible from searching to active or inert. Then the table has the functions;
/// an entry that leads to the library only is filled in at its first call.
void advance(Entry entry) {
  Front& own = front();
  if (own.state == State::active || own.state == State::inert) return;
  const std::unique_lock lock = locked(own, entry);
  if (!lock) return;
  if (own.state == State::searching) search(own);
  if (own.state == State::waiting && is_of_session(entry) && !own.flavour->is_running()) {
    tell_of_sessions();
  }
  if (own.state == State::waiting && runs(own, entry)) {
    for (const std::string& problem : settings_problems()) print_job_message_once(problem);
    prepare_unwinding();
    own.awaits_init = !own.flavour->is_running();
    if (own.flavour->start()) {
      if (!refused_features().empty()) {
        record::note_decision(
            {"features", "going on without " + refused_features(), "MPI refused what it needs", ""},
            false);
        print_job_message_once(
            "going on without " + refused_features() +
            " (MPI refused what it needs), set HEADRACE_DISABLE=1 to hide this line");
      }
      join_features();
      catch_calls();
      catch_unexported();  // MPI_Register_datarep_c needs no file
      own.state = State::active;
    } else {
      print_job_message_once(
          "staying out of the way (MPI refused an attribute or a session), set "
          "HEADRACE_DISABLE=1 to hide this line");
      own.state = State::inert;
    }
  }
}

/// Called at MPI_Init after files were opened in sessions.
void end_of_sessions_alone() {
  Front& own = front();
  const std::lock_guard lock(own.mutex);
  if (own.state == State::active && std::exchange(own.awaits_init, false)) own.flavour->await_end();
}

/// MPI_Init and MPI_Init_thread: calls the next function first, then does what needs MPI to run.
/// The next function may be a tool's, which comes back here as PMPI_Init.
template <Name name, Entry entry, class... Words>
Word start_mpi(Words... words) {
  auto* const next = reinterpret_cast<Word (*)(Words...)>(next_function(name, entry));
  make_room_for_held_descriptors();
  note_objects_before_init();
  const Word result = next(words...);
  if (static_cast<int>(result) != 0) return result;  // MPI_SUCCESS is 0 in every ABI
  advance(entry);
  end_of_sessions_alone();
  return result;
}

template <Name name>
void* start_function(Entry entry) {
  return entry == Entry::Init ? reinterpret_cast<void*>(&start_mpi<name, Entry::Init, Word, Word>)
                              : reinterpret_cast<void*>(
                                    &start_mpi<name, Entry::Init_thread, Word, Word, Word, Word>);
}

}  // namespace

void* resolve(Name name, Entry entry) {
  advance(entry);
  if (is_start(entry)) {
    return name == Name::mpi ? start_function<Name::mpi>(entry) : start_function<Name::pmpi>(entry);
  }
  const State state = front().state.load(std::memory_order_acquire);
  void* const joined =
      entry_table[static_cast<int>(name)][static_cast<int>(entry)].load(std::memory_order_acquire);
  if (joined != nullptr) return joined;
  void* const function = next_function(name, entry);
  if (state == State::active || state == State::inert) lead_to(name, entry, function);
  return function;
}

}  // namespace headrace::abi
