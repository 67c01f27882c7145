// The flavour as the front sees it, and what happens at the beginning and end of MPI.
#include "abi/flavour.h"

#include <atomic>
#include <cstdlib>

#include "abi/flavour/attribute.h"
#include "abi/flavour/binding_display.h"
#include "abi/flavour/boundary.h"
#include "abi/flavour/eager_limits.h"
#include "abi/flavour/error_handler.h"
#include "abi/flavour/job.h"
#include "abi/flavour/lone_files_end.h"
#include "abi/flavour/native.h"
#include "abi/flavour/recorder_end.h"
#include "abi/generated/features.h"
#include "base/message.h"
#include "base/process_mark.h"
#include "base/settings.h"
#include "buffering/buffer_limit.h"
#include "buffering/buffer_plan.h"
#include "file/hint_sources.h"
#include "record/recorder.h"
#include "record/summary.h"

namespace headrace::HEADRACE_FLAVOUR {
namespace {

int rank_by_sessions = 0;
std::atomic<bool> has_ended_all = false;

/// Marks the process that started the layer: a forked child ends nothing.
const ProcessMark& own_process() {
  static const auto& mark = *new ProcessMark;
  return mark;
}

void tell_summary(int rank) {
  if (rank != 0 || settings().quiet) return;
  for (const std::string& line : file::unmatched_patterns()) print_message(line);
  const std::string unmatched = buffering::unmatched_line();
  if (!unmatched.empty()) print_message(unmatched);
  const std::string cut = buffering::noted_cut_line();
  if (!cut.empty()) print_message_once(cut);
  // Where the job is recorded the lines on files come with the others, when the record is made.
  if (settings().summary && (record::image() == nullptr || record::files_go_on())) {
    for (const std::string& line : record::summary()) print_message(line);
  }
  if (!settings().memory_report) return;
  const std::string memory = record::memory_summary();
  if (!memory.empty()) print_message(memory);
}

void end_all(int rank) {
  show_threads(rank);
  abi::stop_features();
  tell_summary(rank);
  has_ended_all = true;
}

/// A program with sessions only does not tell us of its end. Files that it left open hold our
/// session. Without one, MPI may have ended already, and only the summary is printed.
void end_at_exit() {
  if (!own_process().is_here() || has_ended_all.exchange(true)) return;
  if (has_own_session()) {
    end_all(rank_by_sessions);
  } else {
    tell_summary(rank_by_sessions);
  }
  print_own_lone_files(rank_by_sessions);
}

bool await_exit() {
  static_cast<void>(own_process());
  rank_by_sessions = rank_in_job();
  return std::atexit(&end_at_exit) == 0;
}

/// MPI_Finalize first deletes the attributes of MPI_COMM_SELF, in reverse order. Ours was set in
/// MPI_Init, so the program's callbacks, which may still use files, have run already.
int end(MPI_Comm, int, void*, void*) {
  // Sessions continue, and so do their files.
  if (!have_sessions_beside() || !await_exit()) {
    const int rank = rank_in_job();
    end_all(rank);
    end_lone_files(rank);
  } else {
    record::let_files_go_on();
  }
  recording::end_world();
  return MPI_SUCCESS;
}

bool await_end() {
  int keyval = MPI_KEYVAL_INVALID;
  return native.Comm_create_keyval(&do_not_copy<MPI_Comm>, &end, &keyval, nullptr) == MPI_SUCCESS &&
         native.Comm_set_attr(MPI_COMM_SELF, keyval, nullptr) == MPI_SUCCESS;
}

bool start() {
  const auto session = hold_session();
  start_lone_files();
  if (session && is_initialized()) {
    show_bindings();
    if (settings().eager_display && rank_in_job() == 0) show_eager_limits();
  }
  if (!session || !abi::start_features()) return false;
  return session.value() == nullptr ? await_end() : await_exit();
}

}  // namespace

#ifdef HEADRACE_FLAVOUR_OPENMPI
constexpr decltype(&boundary::Register_datarep_fortran) kRegisterFortranDatarep = nullptr;
#else
constexpr auto* kRegisterFortranDatarep = &boundary::Register_datarep_fortran;
#endif

const abi::Flavour flavour = {&bind_native,
                              &is_initialized,
                              &may_run_by_sessions,
                              &start,
                              &await_end,
                              features,
                              reinterpret_cast<void*>(kRegisterFortranDatarep),
                              error_handler_extensions()};

}  // namespace headrace::HEADRACE_FLAVOUR
