// File I/O by our engine.
#include "abi/flavour/communicator_messenger.h"
#include "abi/flavour/communicator_team.h"
#include "abi/flavour/datatype.h"
#include "abi/flavour/file_handle.h"
#include "abi/generated/features.h"
#include "file/file.h"

namespace headrace::HEADRACE_FLAVOUR {
namespace {

abi::Start start() {
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
