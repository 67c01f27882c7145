#include "abi/own_functions.h"

#include "base/settings.h"
#include "record/record_switch.h"
#include "record/regions.h"

namespace headrace::abi {

int begin_region(int id, const char* label) noexcept {
  if (!settings().regions) return 0;
  return static_cast<int>(record::begin_region(id, label));
}

int end_region(int id) noexcept {
  if (!settings().regions) return 0;
  return static_cast<int>(record::end_region(id));
}

int record_state(int state) noexcept {
  if (!settings().regions && (state == kOff || state == kOn)) state = kQuery;
  switch (state) {
    case kOff: return record::switch_recording(false) ? kOn : kOff;
    case kOn: return record::switch_recording(true) ? kOn : kOff;
    case kQuery: return record::is_switched_off ? kOff : kOn;
    default: return -1;
  }
}

int flush() noexcept {
  return record::flush_record() ? 1 : 0;
}

}  // namespace headrace::abi
