#include "trace/traced_functions.h"

#include <map>
#include <mutex>
#include <tuple>
#include <utility>

#include "base/settings.h"
#include "record/modules.h"
#include "record/recorder.h"
#include "trace/generated/groups.h"

namespace headrace::trace {
namespace {

struct Registry {
  std::mutex mutex;
  /// By address, way and name: another library may be loaded where one was.
  std::map<std::tuple<const void*, Way, std::string>, std::uint32_t> numbers;
  record::Modules modules;
  std::uint32_t count = 0;
  std::uint32_t left_out = 0;
};

Registry& registry() {
  static auto& only = *new Registry;  // never destroyed: calls arrive during exit, too
  return only;
}

std::uint32_t add_note(const FunctionName& name, std::string_view module, std::string_view build_id,
                       std::string_view offset, std::string_view refusal) {
  const std::string way = std::to_string(static_cast<std::uint32_t>(name.way));
  const std::string_view fields[] = {name.name, name.group, way, module, build_id, offset, refusal};
  return record::add_note(record::NoteKind::traced, fields);
}

std::uint32_t note_of(const FunctionName& name, const void* target) {
  const auto address = reinterpret_cast<std::uintptr_t>(target);
  const record::Module* const module =
      target == nullptr ? nullptr : registry().modules.find(address);
  if (module == nullptr) return add_note(name, {}, {}, "0", {});
  const std::string offset = std::to_string(address - module->bias);
  return add_note(name, module->name, module->build_id, offset, {});
}

void set_bytes(TracedFunction& function, std::string_view name) {
  for (const BytesOfFunction& rule : kBytesOfFunctions) {
    if (rule.function != name) continue;
    function.sizes[0] = rule.sizes[0];
    function.sizes[1] = rule.sizes[1];
    function.has_size = rule.sizes[0] != 0;
    function.has_result = rule.has_result;
  }
}

std::uint32_t add(Registry& own, const FunctionName& name, const void* target,
                  std::uint32_t stack_arguments) {
  std::tuple key(target, name.way, std::string(name.name));
  const auto found = own.numbers.find(key);
  if (found != own.numbers.end()) return found->second;
  const bool has_room = own.count < static_cast<std::uint32_t>(settings().trace_functions);
  const std::uint32_t note = has_room ? note_of(name, target) : record::kNone;
  if (note == record::kNone) {
    own.numbers.emplace(std::move(key), kNoFunction);
    ++own.left_out;
    return kNoFunction;
  }
  own.numbers.emplace(std::move(key), own.count);
  TracedFunction& function = functions[own.count];
  function.target = target;
  function.note = note;
  function.copied = (stack_arguments + 15) / 16 * 16;
  set_bytes(function, name.name);
  return own.count++;
}

}  // namespace

std::array<TracedFunction, kMostFunctions> functions;

std::uint32_t add_function(const FunctionName& name, const void* target,
                           std::uint32_t stack_arguments) {
  Registry& own = registry();
  const std::lock_guard lock(own.mutex);
  return add(own, name, target, stack_arguments);
}

std::optional<std::uint32_t> try_to_add_function(const FunctionName& name, const void* target) {
  Registry& own = registry();
  const std::unique_lock lock(own.mutex, std::try_to_lock);
  if (!lock) return std::nullopt;
  return add(own, name, target, 0);
}

void refuse_function(const FunctionName& name, std::string_view why, std::string_view module) {
  const std::lock_guard lock(registry().mutex);
  add_note(name, module, {}, "0", why);
}

std::uint32_t left_out() {
  return registry().left_out;
}

std::uint32_t function_count() {
  return registry().count;
}

}  // namespace headrace::trace
