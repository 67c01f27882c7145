#include "abi/flavour/recorder_end.h"

#include "record/recorder.h"

namespace headrace::HEADRACE_FLAVOUR::recording {

void finish_record() {
  record::stop_recorder();
}

}  // namespace headrace::HEADRACE_FLAVOUR::recording
