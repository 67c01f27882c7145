#include "base/settled_objects.h"

#include <dlfcn.h>

namespace headrace {

SettledObjects SettledObjects::of_now() {
  SettledObjects found;
  for_each_object([&](const ElfObject& object) {
    found.dynamic_sections_.insert(object.identity());
    found.loaded_ = object.loaded();
    found.unloaded_ = object.unloaded();
  });
  // Takes the lock that loading and unloading hold from begin to end. Loads nothing.
  if (void* const program = ::dlopen(nullptr, RTLD_LAZY | RTLD_NOLOAD)) ::dlclose(program);
  return found;
}

bool SettledObjects::for_each(const std::function<void(const ElfObject&)>& visit) const {
  bool is_complete = true;
  for_each_object([&](const ElfObject& object) {
    // Without an unload, no other object can be where one of these was. Without a load, none is
    // new.
    const bool is_same = object.unloaded() == unloaded_ || object.loaded() == loaded_;
    if (is_same && dynamic_sections_.contains(object.identity())) {
      visit(object);
    } else {
      is_complete = false;
    }
  });
  return is_complete;
}

}  // namespace headrace
