// Chains of features that do not know of each other.
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>

#include "abi/flavour.h"
#include "abi/front/chain.h"
#include "abi/front/entry_table.h"

namespace headrace::abi {
namespace {

Word (*native)(Word) = nullptr;

}  // namespace

// What else the front has, for a process without an MPI library.
void* next_function(Name, Entry) {
  return reinterpret_cast<void*>(native);
}
bool is_missing(void*) {
  return false;
}
void catch_unexported() {}
void* resolve(Name name, Entry entry) {
  void* const function = next_function(name, entry);
  lead_to(name, entry, function);
  return function;
}

namespace {

std::string path;  ///< what a call has passed through

/// A function of a feature: marks the path and calls on.
template <FeatureId feature, Name name, Entry entry>
Word mark(Word word) {
  path += feature == FeatureId{0} ? "o" : "i";
  return call_words(next_function(feature, name, entry), word) + 1;
}

Word library(Word word) {
  path += "l";
  return word * 10;
}

template <FeatureId feature, Entry entry>
constexpr Wrapper wrapper() {
  return {entry,
          {reinterpret_cast<Wrapper::Function>(&mark<feature, Name::mpi, entry>),
           reinterpret_cast<Wrapper::Function>(&mark<feature, Name::pmpi, entry>)}};
}

constexpr FeatureId kOuter{0};
constexpr FeatureId kInner{1};
const Wrapper outer_wrappers[] = {wrapper<kOuter, Entry::File_sync>(),
                                  wrapper<kOuter, Entry::Wait>()};
const Wrapper inner_wrappers[] = {wrapper<kInner, Entry::Test>(), wrapper<kInner, Entry::Wait>()};
bool outer_is_wanted = true;
Start inner_start = Start::started;
std::string stopped;

const Feature outer = {kOuter,         "outer",
                       outer_wrappers, [](const Settings&) { return outer_is_wanted; },
                       nullptr,        [] { stopped += "o"; }};
const Feature inner = {
    kInner, "inner", inner_wrappers, nullptr, [] { return inner_start; }, [] { stopped += "i"; },
    true};
const Feature* const both[] = {&outer, &inner};

std::string path_of(Entry entry, Name name = Name::mpi) {
  path.clear();
  const Word result = call_words(destination(name, entry), Word{4});
  EXPECT_EQ(result, 40 + path.size() - 1);
  return path;
}

class Chain : public testing::Test {
 protected:
  void SetUp() override {
    outer_is_wanted = true;
    inner_start = Start::started;
    stopped.clear();
    native = &library;
    for (auto& by_name : entry_table) {
      for (auto& place : by_name) place = nullptr;
    }
    set_features(both);
  }

  static void begin() {
    ASSERT_TRUE(start_features());
    join_features();
  }
};

TEST_F(Chain, LeadsToTheLibraryWhereNobodyWraps) {
  begin();
  EXPECT_EQ(path_of(Entry::Test), "l");
  EXPECT_EQ(path_of(Entry::File_sync), "ol");
  EXPECT_TRUE(is_wrapped(Entry::Test));
  EXPECT_FALSE(is_wrapped(Entry::File_open));
}

TEST_F(Chain, TakesInAndLetsGoWithoutDisturbingTheOther) {
  begin();
  EXPECT_EQ(path_of(Entry::Wait), "ol");
  switch_on(kInner);
  EXPECT_EQ(path_of(Entry::Wait), "oil");
  EXPECT_EQ(path_of(Entry::Wait, Name::pmpi), "oil");
  EXPECT_EQ(path_of(Entry::Test), "il");
  switch_off(kOuter);
  EXPECT_EQ(path_of(Entry::Wait), "il");
  EXPECT_EQ(path_of(Entry::File_sync), "l");
  switch_on(kOuter);
  EXPECT_EQ(path_of(Entry::Wait), "oil");
  switch_off(kInner);
  EXPECT_EQ(path_of(Entry::Wait), "ol");
  EXPECT_EQ(path_of(Entry::Test), "l");
}

TEST_F(Chain, HasNoFeatureThatIsNotWanted) {
  outer_is_wanted = false;
  EXPECT_FALSE(set_features(both));
  EXPECT_FALSE(is_wrapped(Entry::File_sync));
  EXPECT_TRUE(is_wrapped(Entry::Wait));
  EXPECT_FALSE(start_features());  // the inner one joins later
  EXPECT_EQ(refused_features(), "");
  join_features();
  switch_on(kOuter);
  switch_on(kInner);
  EXPECT_EQ(path_of(Entry::Wait), "il");
  stop_features();
  EXPECT_EQ(stopped, "i");
}

TEST_F(Chain, GoesOnWithoutOneThatCannotStart) {
  inner_start = Start::refused;
  begin();
  EXPECT_EQ(refused_features(), "inner");
  switch_on(kInner);
  EXPECT_EQ(path_of(Entry::Wait), "ol");
  stop_features();
  EXPECT_EQ(stopped, "o");
}

int explained = 0;

TEST_F(Chain, LeadsPastAFeatureThatNeedsNoCallsOfAProcedure) {
  const Feature some = {kOuter,
                        "some",
                        outer_wrappers,
                        nullptr,
                        nullptr,
                        nullptr,
                        false,
                        [](Entry entry) { return entry != Entry::Wait; },
                        [] { ++explained; }};
  const Feature none = {
      kInner, "none",  inner_wrappers,     nullptr, [] { return Start::unneeded; }, nullptr,
      false,  nullptr, [] { ++explained; }};
  const Feature* const own[] = {&some, &none};
  set_features(own);
  explained = 0;
  begin();
  EXPECT_EQ(explained, 2);
  EXPECT_EQ(path_of(Entry::Wait), "l");
  EXPECT_EQ(path_of(Entry::Test), "l");
  EXPECT_EQ(path_of(Entry::File_sync), "ol");
  // Before features start nobody knows what they need.
  EXPECT_TRUE(is_wrapped(Entry::Wait));
  switch_off(kOuter);
  EXPECT_EQ(path_of(Entry::File_sync), "l");
  switch_on(kOuter);
  EXPECT_EQ(path_of(Entry::File_sync), "ol");
  EXPECT_EQ(path_of(Entry::Wait), "l");
  set_features(both);
}

TEST_F(Chain, StopsTheOutermostFirst) {
  begin();
  stop_features();
  EXPECT_EQ(stopped, "oi");
}

std::atomic<long> outer_calls = 0;
std::atomic<long> library_calls = 0;

Word count_outer(Word word) {
  ++outer_calls;
  return call_words(next_function(kOuter, Name::mpi, Entry::Wait), word);
}

Word pass_inner(Word word) {
  return call_words(next_function(kInner, Name::mpi, Entry::Wait), word);
}

Word count_library(Word word) {
  ++library_calls;
  return word;
}

TEST_F(Chain, LosesNoCallWhileOneJoinsAndLeaves) {
  const auto function = reinterpret_cast<Wrapper::Function>(&count_outer);
  const auto passing = reinterpret_cast<Wrapper::Function>(&pass_inner);
  const Wrapper outer_wait[] = {{Entry::Wait, {function, function}}};
  const Wrapper inner_wait[] = {{Entry::Wait, {passing, passing}}};
  const Feature counting = {kOuter, "counting", outer_wait, nullptr, nullptr, nullptr};
  const Feature passed = {kInner, "passed", inner_wait, nullptr, nullptr, nullptr, true};
  const Feature* const own[] = {&counting, &passed};
  set_features(own);
  ASSERT_TRUE(start_features());
  join_features();
  constexpr long kCalls = 2'000'000;
  native = &count_library;
  std::thread caller([] {
    for (long i = 0; i < kCalls; ++i) call<Name::mpi, Entry::Wait>(Word{1});
  });
  while (outer_calls.load() < kCalls) {
    switch_on(kInner);
    switch_off(kInner);
  }
  caller.join();
  EXPECT_EQ(outer_calls, kCalls);
  EXPECT_EQ(library_calls, kCalls);
  set_features(both);
}

}  // namespace
}  // namespace headrace::abi
