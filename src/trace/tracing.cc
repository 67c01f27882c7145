#include "trace/tracing.h"

#include <pthread.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/elf_object.h"
#include "base/kept_errno.h"
#include "base/message.h"
#include "base/process_mark.h"
#include "base/settings.h"
#include "base/trusted_file.h"
#include "record/modules.h"
#include "record/recorder.h"
#include "trace/handler_frame.h"
#include "trace/hooks.h"
#include "trace/patch.h"
#include "trace/plan.h"
#include "trace/thread_trace.h"
#include "trace/trace_cost.h"

namespace headrace::trace {
namespace {

constexpr std::string_view kHooks = "__cyg_profile_func_e";  // of enter and exit
constexpr std::size_t kLargestPlan = std::size_t{1} << 20;

struct Tracing {
  const ProcessMark process;
  TracePlan plan;
  bool has_started = false;
  std::mutex mutex;
  std::vector<std::unique_ptr<ThreadTrace>> threads;
  std::vector<ThreadTrace*> free;
  std::set<std::string, std::less<>> led;  ///< imports that a slot was found for
};

Tracing& tracing() {
  static auto& only = *new Tracing;  // never destroyed: calls arrive during exit, too
  return only;
}

/// Set while make_own_trace() is at work: what interrupts it takes no trace, nor the locks that it
/// takes.
[[gnu::tls_model("initial-exec")]] constinit thread_local bool is_making = false;
/// This thread gets no ThreadTrace.
[[gnu::tls_model("initial-exec")]] constinit thread_local bool has_none = false;
/// Calls of a thread that has no trace yet, made on stacks of its program's: fibers, coroutines.
[[gnu::tls_model("initial-exec")]] constinit thread_local std::uint32_t calls_elsewhere = 0;

void note_fact(std::string_view name, std::uint64_t value) {
  const std::string text = std::to_string(value);
  const std::string_view fields[] = {name, text};
  record::add_note(record::NoteKind::fact, fields);
}

/// Those of trace_inner say that times are without what tracing took.
void note_costs(const TraceCosts& costs) {
  for (const Way way : {Way::slots, Way::hooks, Way::nops, Way::prologue}) {
    const CostOfWay& cost = way == Way::hooks ? costs.by_hooks : costs.by_trampoline;
    const std::string number = std::to_string(static_cast<std::uint32_t>(way));
    note_fact("trace_cost_" + number, cost.whole);
    note_fact("trace_inner_" + number, cost.inside);
  }
}

/// Words of the thread's own stack below a slot, as far as they matter; -1: it is on another stack.
std::ptrdiff_t room_on_stack(const std::uintptr_t* slot) noexcept {
  record::ThreadStack stack;
  stack.learn();
  if (!stack.holds(slot)) return -1;
  return stack.holds(slot - kRoomToLearn) ? kRoomToLearn : 0;
}

/// One of a thread that has ended, or a new one; null without memory.
ThreadTrace* take_trace(Tracing& own, record::ImageFile& image) noexcept {
  try {
    const std::lock_guard lock(own.mutex);
    if (!own.free.empty()) {
      ThreadTrace* const taken = own.free.back();
      own.free.pop_back();
      taken->change_thread();
      return taken;
    }
    own.threads.reserve(own.threads.size() + 1);
    own.free.reserve(own.threads.size() + 1);
    auto made = ThreadTrace::make(image, static_cast<std::uint32_t>(own.threads.size()),
                                  static_cast<int>(settings().record_depth));
    ThreadTrace* const kept = made.get();
    if (kept != nullptr) own.threads.push_back(std::move(made));
    return kept;
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

/// A key of POSIX, as the recorder's threads have: see record/recorder.cc.
void return_trace(void*) {
  if (own_trace == nullptr) return;
  Tracing& own = tracing();
  own_trace->set_record(nullptr);
  const std::lock_guard lock(own.mutex);
  own.free.push_back(std::exchange(own_trace, nullptr));
}

void return_at_end_of_thread() {
  static const std::pair<pthread_key_t, bool> key = [] {
    pthread_key_t made{};
    const bool is_made = pthread_key_create(&made, &return_trace) == 0;
    return std::make_pair(made, is_made);
  }();
  if (key.second) pthread_setspecific(key.first, &tracing());
}

/// A thread has got its tables of calls of MPI, or has given them back.
void note_record(const record::ThreadRecord* record) {
  if (own_trace != nullptr) own_trace->set_record(record);
}

/// The address of a planned function; null if its module is not loaded, or has no code there.
void* address_of(const PlannedFunction& function, std::span<const record::Module> modules) {
  constexpr std::string_view kPath = "path:";
  const bool is_path = function.module.starts_with(kPath);
  const auto found = std::ranges::find_if(modules, [&](const record::Module& one) {
    return is_path ? one.name == function.module.substr(kPath.size())
                   : one.build_id == function.module;
  });
  if (found == modules.end()) return nullptr;
  const std::uintptr_t address = found->bias + function.offset;
  const std::uintptr_t end =
      address + std::max<std::uintptr_t>({function.length, function.bytes.size(), 1});
  bool is_code = false;
  for_each_object([&](const ElfObject& object) {
    if (object.base() != found->bias) return;
    object.for_each_code([&](std::uintptr_t from, std::uintptr_t to) {
      is_code = is_code || (address >= from && address < end && end <= to);
    });
  });
  return is_code ? reinterpret_cast<void*>(address) : nullptr;
}

struct NamedPatch {
  FunctionName name;
  Patch patch;
};

void apply_all(std::span<NamedPatch> named) {
  std::vector<Patch> patches;
  for (NamedPatch& one : named) patches.push_back(std::move(one.patch));
  apply(patches);
  for (std::size_t i = 0; i < named.size(); ++i) {
    if (!patches[i].refusal.empty()) refuse_function(named[i].name, patches[i].refusal);
  }
}

/// A function that leads to the stub of the next number.
Patch prepare(const PlannedFunction& function, void* entry) {
  const void* const stub = stub_of(function_count());
  return function.way == Way::nops ? prepare_nops(entry, function.length, stub)
                                   : prepare_prologue(entry, function.bytes, stub);
}

void begin_patched(const PlannedFunction& function, const FunctionName& name, void* entry,
                   std::vector<NamedPatch>& patches) {
  const auto is_same = [&](const NamedPatch& one) { return one.patch.entry == entry; };
  if (std::ranges::any_of(patches, is_same)) return refuse_function(name, "it is planned twice");
  const std::uint32_t expected = function_count();
  Patch patch = prepare(function, entry);
  if (!patch.refusal.empty()) return refuse_function(name, patch.refusal);
  const std::uint32_t number = add_function(name, entry, function.stack_arguments);
  if (number != expected) return;
  functions[number].target = patch.continuation;
  patches.push_back({name, std::move(patch)});
}

void begin_planned(const PlannedFunction& function, std::span<const record::Module> modules,
                   std::vector<NamedPatch>& patches) {
  const FunctionName name{function.name, {}, function.way};
  void* const entry = address_of(function, modules);
  if (entry == nullptr)
    return refuse_function(name, "its program or library is not loaded, or has no code there");
  if (is_never_traced(function.name)) {
    return refuse_function(name, "it looks at its caller's frame, or returns twice");
  }
  if (function.way != Way::hooks) return begin_patched(function, name, entry, patches);
  const std::uint32_t number = add_function(name, entry, 0);
  if (number != kNoFunction) add_hooked(entry, number);
}

void read_settings(TracePlan& plan) {
  take_groups(settings().trace, plan);
  const std::string& path = settings().trace_plan;
  if (path.empty()) return;
  std::string text;
  if (const Refusal refusal = read_trusted_file(path, text, kLargestPlan)) {
    plan.problems.push_back("HEADRACE_TRACE_PLAN is not used (" + refusal.why + "), " +
                            remedy_of(refusal, path));
    return;
  }
  read_plan(text, plan);
}

void start(Tracing& own) {
  record::ImageFile* const image = record::image();
  if (image == nullptr || own.has_started) return;
  if (!can_trace()) {
    print_job_message_once(
        "no functions are traced (this processor is not known), unset HEADRACE_TRACE to hide this "
        "line");
    return;
  }
  own.has_started = true;
  read_settings(own.plan);
  for (const std::string& problem : own.plan.problems) print_job_message_once(problem);
  const auto costs = measure_costs(record::own_directories(), record::job_mark().name());
  if (costs) note_costs(*costs);
  learn_handler_mark();
  record::trampoline_return = reinterpret_cast<std::uintptr_t>(headrace_trace_returned);
  record::set_listener(record::Listener::tracing, &note_record);
  traced_process = own.process.number();
  if (own.plan.has_all_hooks) add_all_hooked();
  const std::vector<record::Module> modules = record::loaded_modules();
  std::vector<NamedPatch> patches;
  for (const PlannedFunction& one : own.plan.functions) begin_planned(one, modules, patches);
  for (const RefusedFunction& one : own.plan.refused) {
    refuse_function({one.name, {}, Way::none}, one.why, one.module);
  }
  apply_all(patches);
}

/// Tells of functions that were asked for by their names and that no slot leads to.
void refuse_others(Tracing& own) {
  const std::lock_guard lock(own.mutex);
  for (const std::string& name : own.plan.imports) {
    if (own.led.contains(name)) continue;
    refuse_function(
        {name, {}, Way::slots},
        is_never_traced(name)
            ? "it looks at its caller's frame, or returns twice"
            : "no object calls it through a GOT entry, or one that does takes its address, too");
  }
}

/// To find out takes some 50 us. A thread may run nothing but fibers.
bool is_worth_a_try() noexcept {
  constexpr std::uint32_t kFirst = 16;
  constexpr std::uint32_t kEach = 1024;
  if (calls_elsewhere < kFirst) return true;
  return ++calls_elsewhere % kEach == 0;
}

}  // namespace

ThreadTrace* make_own_trace(const std::uintptr_t* slot) noexcept {
  Tracing& own = tracing();
  record::ImageFile* const image = record::image();
  if (image == nullptr || is_making || has_none || !is_worth_a_try()) return nullptr;
  if (may_be_in_handler(slot)) return nullptr;
  is_making = true;
  const std::ptrdiff_t room = room_on_stack(slot);
  ThreadTrace* const made = room < kRoomToLearn ? nullptr : take_trace(own, *image);
  has_none = made == nullptr && room >= 0;  // else it is on another stack now
  if (room < 0) ++calls_elsewhere;
  if (made != nullptr) {
    return_at_end_of_thread();
    made->set_record(record::own_record);
    own_trace = made;
  }
  is_making = false;
  return made;
}

void start_tracing() noexcept {
  if (!record::wants_traces(settings())) return;
  try {
    start(tracing());
  } catch (const std::bad_alloc&) {
    // As if it were off.
  }
}

void stop_tracing() noexcept {
  if (!record::wants_traces(settings())) return;
  Tracing& own = tracing();
  if (!own.process.is_here() || traced_process.exchange(0) == 0) return;
  record::set_listener(record::Listener::tracing, nullptr);
  if (own_trace != nullptr) own_trace->end_all(record::ticks());
  try {
    note_fact("trace_left_out", left_out());
    refuse_others(own);
  } catch (const std::bad_alloc&) {
    // The record lacks the number.
  }
}

bool wants_slots() noexcept {
  const Tracing& own = tracing();
  return own.has_started && (!own.plan.groups.empty() || !own.plan.imports.empty() ||
                             own.plan.has_all_hooks || !own.plan.functions.empty());
}

bool may_be_wanted(std::string_view function) noexcept {
  const TracePlan& plan = tracing().plan;
  return !plan.groups.empty() || plan.imports.contains(function) || function.starts_with(kHooks);
}

const void* stand_in_for(std::string_view function, std::string_view library, const void* target) {
  Tracing& own = tracing();
  if (function.starts_with(kHooks) && library.starts_with("libc.so")) {
    // The program has none of its own.
    return function.ends_with("enter") ? reinterpret_cast<const void*>(&enter_hook)
                                       : reinterpret_cast<const void*>(&exit_hook);
  }
  const std::string_view group = group_of(function, library);
  const bool is_in_group = !group.empty() && own.plan.groups.contains(group);
  if ((!is_in_group && !own.plan.imports.contains(function)) || is_never_traced(function)) {
    return nullptr;
  }
  if (own.plan.imports.contains(function)) {
    const std::lock_guard lock(own.mutex);
    own.led.emplace(function);
  }
  const std::uint32_t number =
      add_function({function, is_in_group ? group : std::string_view(), Way::slots}, target,
                   stack_arguments_of(is_in_group ? group : std::string_view()));
  return number == kNoFunction ? nullptr : stub_of(number);
}

}  // namespace headrace::trace

int headrace_trace_learn(headrace::trace::TraceFrame* frame) noexcept {
  namespace trace = headrace::trace;
  const headrace::KeptErrno kept;
  trace::ThreadTrace* const own =
      trace::own_trace != nullptr ? trace::own_trace : trace::make_own_trace(frame->return_slot);
  return static_cast<int>(own == nullptr ? trace::Answer::pass : own->begin_slowly(*frame));
}

void headrace_trace_leave_slowly(headrace::trace::TraceFrame* frame) noexcept {
  headrace::trace::ThreadTrace* const own = headrace::trace::own_trace;
  if (own != nullptr) own->end(*frame, headrace::trace::ticks_after_all());
}

extern "C" {
/// The personality of the trampoline's frame (Itanium C++ ABI: Exception Handling): an exception,
/// or the end of a cancelled thread, leaves the call of a traced function. It must not ask about
/// the context, which may be of another version of the unwinder than the one in here.
int headrace_trace_unwound(int /*version*/, int actions, std::uint64_t /*exception_class*/,
                           void* /*exception*/, void* /*context*/) noexcept {
  constexpr int kCleanup = 2;   // _UA_CLEANUP_PHASE
  constexpr int kContinue = 8;  // _URC_CONTINUE_UNWIND
  namespace trace = headrace::trace;
  if ((actions & kCleanup) != 0 && trace::own_trace != nullptr && trace::is_tracing()) {
    trace::own_trace->unwind(headrace::record::ticks());
  }
  return kContinue;
}
}
