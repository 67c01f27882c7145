// Which features stand between program and library, and the chain of each procedure.
#include "abi/front/chain.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cassert>
#include <mutex>
#include <string>

#include "abi/flavour.h"
#include "abi/front/entry_table.h"
#include "abi/front/next.h"
#include "base/message.h"

namespace headrace::abi {

std::atomic<void*> entry_table[2][kEntryCount] = {};
std::atomic<void*> links[kFeatureCount][2][kEntryCount] = {};

namespace {

/// Guarded by its mutex. Of features only needs() is called while it is held.
struct Chains {
  std::mutex mutex;
  std::span<const Feature* const> features;
  std::array<bool, kFeatureCount> is_wanted = {};
  std::array<bool, kFeatureCount> is_started = {};
  std::string refused;  ///< names of those that could not start
  std::array<bool, kFeatureCount> is_on = {};
  std::array<std::atomic<bool>, kFeatureCount> has_joined = {};  ///< on, and all chains are made
};

Chains& chains() {
  static Chains& only = *new Chains;  // never destroyed: calls arrive during exit too
  return only;
}

int index_of(const Feature& feature) {
  return static_cast<int>(feature.id);
}

/// The feature's wrapper of the procedure, found by bisection; null if there is none.
const Wrapper* find_wrapper(const Feature& feature, Entry entry) {
  const auto found = std::ranges::lower_bound(feature.wrappers, entry, {}, &Wrapper::entry);
  return found == feature.wrappers.end() || found->entry != entry ? nullptr : &*found;
}

/// Null also where the feature needs no calls of the procedure.
const Wrapper* find_needed_wrapper(const Feature& feature, Entry entry) {
  const Wrapper* const found = find_wrapper(feature, entry);
  return found == nullptr || feature.needs == nullptr || feature.needs(entry) ? found : nullptr;
}

/// Links the features of one procedure that are on, from the library outwards, so that a call
/// always finds a whole chain. A feature that has left keeps its link, since calls may be in it.
void resolve_chain(const Chains& own, Entry entry) {
  for (int name = 0; name < 2; ++name) {
    void* behind = nullptr;  // the end, which is looked up when it is called
    for (auto each = own.features.rbegin(); each != own.features.rend(); ++each) {
      const int index = index_of(**each);
      if (!own.is_on[index]) continue;
      const Wrapper* const wrapper = find_needed_wrapper(**each, entry);
      if (wrapper == nullptr) continue;
      links[index][name][static_cast<int>(entry)].store(behind, std::memory_order_release);
      behind = reinterpret_cast<void*>(wrapper->functions[name]);
    }
    entry_table[name][static_cast<int>(entry)].store(behind, std::memory_order_release);
  }
}

void resolve_chains_of(const Chains& own, const Feature& feature) {
  for (const Wrapper& wrapper : feature.wrappers) resolve_chain(own, wrapper.entry);
}

void set_on(FeatureId id, bool on) {
  Chains& own = chains();
  const std::lock_guard lock(own.mutex);
  for (const Feature* const feature : own.features) {
    const int index = index_of(*feature);
    if (feature->id != id || !own.is_started[index] || own.is_on[index] == on) continue;
    own.is_on[index] = on;
    if (!on) own.has_joined[index].store(false, std::memory_order_release);
    resolve_chains_of(own, *feature);
    if (on) own.has_joined[index].store(true, std::memory_order_release);
  }
}

/// Stores a look-up's result in a place that is null, unless the place has changed meanwhile or the
/// procedure was not found: its library may be loaded later.
void keep(std::atomic<void*>& place, void* function) {
  void* expected = nullptr;
  if (!is_missing(function)) {
    place.compare_exchange_strong(expected, function, std::memory_order_acq_rel);
  }
}

}  // namespace

bool set_features(std::span<const Feature* const> features) {
  Chains& own = chains();
  const std::lock_guard lock(own.mutex);
  assert(std::ranges::all_of(features, [](const Feature* feature) {
    return std::ranges::is_sorted(feature->wrappers, {}, &Wrapper::entry);
  }));
  own.features = features;
  own.is_wanted = {};
  for (const Feature* const feature : features) {
    own.is_wanted[index_of(*feature)] =
        feature->is_wanted == nullptr || feature->is_wanted(settings());
  }
  own.is_started = own.is_on = {};
  own.refused.clear();
  for (std::atomic<bool>& has_joined : own.has_joined) has_joined = false;
  return std::ranges::any_of(features, [&](const Feature* feature) {
    return own.is_wanted[index_of(*feature)] && !feature->joins_later;
  });
}

bool start_features() {
  Chains& own = chains();
  bool any = false;
  for (auto each = own.features.rbegin(); each != own.features.rend(); ++each) {
    const Feature& feature = **each;
    if (!own.is_wanted[index_of(feature)]) continue;
    const Start start = feature.start == nullptr ? Start::started : feature.start();
    if (start == Start::refused) {
      own.refused += (own.refused.empty() ? "" : ", ") + std::string(feature.name);
    }
    if (start != Start::started) continue;
    own.is_started[index_of(feature)] = true;
    any = any || !feature.joins_later;
  }
  for (const Feature* const feature : own.features) {
    if (own.is_wanted[index_of(*feature)] && feature->explain != nullptr) feature->explain();
  }
  return any;
}

const std::string& refused_features() {
  return chains().refused;
}

void stop_features() {
  const Chains& own = chains();
  for (const Feature* const feature : own.features) {
    if (own.is_started[index_of(*feature)] && feature->stop != nullptr) feature->stop();
  }
}

void join_features() {
  Chains& own = chains();
  const std::lock_guard lock(own.mutex);
  for (const Feature* const feature : own.features) {
    const int index = index_of(*feature);
    own.is_on[index] = own.is_started[index] && !feature->joins_later;
  }
  for (const Feature* const feature : own.features) {
    resolve_chains_of(own, *feature);
    own.has_joined[index_of(*feature)] = own.is_on[index_of(*feature)];
  }
}

void switch_on(FeatureId feature) {
  if (chains().has_joined[static_cast<int>(feature)].load(std::memory_order_acquire)) return;
  catch_unexported();
  set_on(feature, true);
}

void switch_off(FeatureId feature) {
  set_on(feature, false);
}

bool is_wrapped(Entry entry) {
  const Chains& own = chains();
  return std::ranges::any_of(own.features, [&](const Feature* feature) {
    return own.is_wanted[index_of(*feature)] && find_wrapper(*feature, entry) != nullptr;
  });
}

void lead_to(Name name, Entry entry, void* function) {
  assert(function != nullptr);
  keep(entry_table[static_cast<int>(name)][static_cast<int>(entry)], function);
}

void* end_of_chain(FeatureId feature, Name name, Entry entry) {
  void* const function = next_function(name, entry);
  keep(links[static_cast<int>(feature)][static_cast<int>(name)][static_cast<int>(entry)], function);
  return function;
}

}  // namespace headrace::abi
