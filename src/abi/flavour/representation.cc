#include "abi/flavour/representation.h"

#include <cstring>
#include <map>
#include <memory>
#include <mutex>

#include "abi/flavour/external32_representation.h"
#include "abi/flavour/user_representation.h"
#include "base/spelling.h"

namespace headrace::HEADRACE_FLAVOUR {
namespace {

/// Representations by name; null for those that do not convert. Neither the map nor the
/// representations are ever destroyed.
struct Registry {
  std::mutex mutex;
  std::map<std::string, std::unique_ptr<const Representation>> all;

  Registry() {
    all.emplace("native", nullptr);
    all.emplace("internal", nullptr);
    all.emplace("external32", make_external32());
  }
};

Registry& registry() {
  static auto& only = *new Registry;
  return only;
}

Error check(const char* name, const Registration& registration) {
  if (name == nullptr || *name == '\0' || std::strlen(name) >= MPI_MAX_DATAREP_STRING) {
    return {ErrorClass::argument, 0,
            "the name of a data representation is missing or too long (it has 1 to " +
                std::to_string(MPI_MAX_DATAREP_STRING - 1) + " characters), give another one"};
  }
  if (registration.extent == nullptr) {
    return {ErrorClass::argument, 0,
            "the data representation '" + std::string(name) +
                "' has no extent function (sizes in the file follow from it), give one"};
  }
  return {};
}

}  // namespace

std::string common_name(const std::string& name) {
  // No other spellings: a program may register "Native".
  const bool is_capitals = name == "NATIVE" || name == "INTERNAL" || name == "EXTERNAL32";
  return is_capitals ? lower_case(name) : name;
}

Result<const Representation*> find_representation(const std::string& name) {
  Registry& own = registry();
  const std::lock_guard lock(own.mutex);
  const auto found = own.all.find(name);
  if (found != own.all.end()) return found->second.get();
  return Error{ErrorClass::unsupported_datarep, 0,
               "there is no data representation '" + name +
                   "' (it was not registered by this process), use native, internal or external32, "
                   "or call MPI_Register_datarep first"};
}

Error register_representation(const char* name, const Registration& registration) {
  if (Error error = check(name, registration)) return error;
  Registry& own = registry();
  const std::lock_guard lock(own.mutex);
  if (own.all.contains(name)) {
    return {ErrorClass::duplicate_datarep, 0,
            "the data representation '" + std::string(name) +
                "' exists already (a name can be registered once), choose another name"};
  }
  own.all.emplace(name, make_user_representation(name, registration));
  return {};
}

}  // namespace headrace::HEADRACE_FLAVOUR
