// File I/O by our engine.
#include <cstdlib>

#include "abi/flavour/communicator_messenger.h"
#include "abi/flavour/communicator_team.h"
#include "abi/flavour/datatype.h"
#include "abi/flavour/file_handle.h"
#include "abi/generated/features.h"
#include "file/file.h"
#include "file/hint_display.h"

namespace headrace::HEADRACE_FLAVOUR {
namespace {

/// ROMIO would show hints of the files that only give us handles (identity.h).
void take_print_hints() {
  if (std::getenv("ROMIO_PRINT_HINTS") == nullptr) return;
  file::ask_for_display();
  ::unsetenv("ROMIO_PRINT_HINTS");
}

abi::Start start() {
  take_print_hints();
  return start_datatypes() && start_teams() ? abi::Start::started : abi::Start::refused;
}

void stop() {
  stop_messengers();
  drop_files();
  file::stop_background();
}

}  // namespace

const abi::Feature file_feature = {
    abi::FeatureId::file, "file I/O", file_wrappers, nullptr, &start, &stop};

}  // namespace headrace::HEADRACE_FLAVOUR
