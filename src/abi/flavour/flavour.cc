// The flavour as the front sees it, and what happens at the beginning and end of MPI.
#include "abi/flavour.h"

#include "abi/flavour/attribute.h"
#include "abi/flavour/boundary.h"
#include "abi/flavour/datatype.h"
#include "abi/flavour/entry_function.h"
#include "abi/flavour/messenger.h"
#include "abi/flavour/native.h"
#include "abi/flavour/open_file.h"
#include "abi/flavour/request.h"
#include "abi/flavour/team.h"
#include "base/message.h"
#include "base/settings.h"
#include "engine/file.h"
#include "record/summary.h"

namespace headrace::HEADRACE_FLAVOUR {
namespace {

bool is_running() {
  int flag = 0;
  if (native.Initialized(&flag) != MPI_SUCCESS || !flag) return false;
  return native.Finalized(&flag) == MPI_SUCCESS && !flag;
}

void tell_summary() {
  int rank = 0;
  native.Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank != 0 || settings().quiet) return;
  if (settings().summary) {
    for (const std::string& line : record::summary()) tell(line);
  }
  if (!settings().memory_report) return;
  const std::string memory = record::memory_summary();
  if (!memory.empty()) tell(memory);
}

/// MPI_Finalize deletes the attributes of MPI_COMM_SELF first, the last set one first. Ours was set
/// in MPI_Init, so the program's own callbacks, which may still use files, have run.
int end(MPI_Comm, int, void*, void*) {
  finish_requests();
  stop_messengers();
  drop_files();
  engine::stop_background();
  tell_summary();
  return MPI_SUCCESS;
}

bool start() {
  int keyval = MPI_KEYVAL_INVALID;
  return start_datatypes() && start_teams() &&
         native.Comm_create_keyval(&do_not_copy<MPI_Comm>, &end, &keyval, nullptr) == MPI_SUCCESS &&
         native.Comm_set_attr(MPI_COMM_SELF, keyval, nullptr) == MPI_SUCCESS;
}

}  // namespace

#ifdef HEADRACE_FLAVOUR_OPENMPI
constexpr decltype(&boundary::Register_datarep_fortran) kRegisterFortranDatarep = nullptr;
#else
constexpr auto* kRegisterFortranDatarep = &boundary::Register_datarep_fortran;
#endif

const abi::Flavour flavour = {&bind_native, &is_running, &start, &entry_function,
                              reinterpret_cast<void*>(kRegisterFortranDatarep)};

}  // namespace headrace::HEADRACE_FLAVOUR
