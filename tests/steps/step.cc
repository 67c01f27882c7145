#include "steps/step.h"

namespace headrace::steps {

bool is_collective(const Step& step) {
  switch (step.kind) {
    case StepKind::access: return step.is_collective;
    case StepKind::wait:
    case StepKind::seek:
    case StepKind::shared_position:
    case StepKind::byte_offset:
    case StepKind::get_size: return false;
    default: return true;
  }
}

}  // namespace headrace::steps
