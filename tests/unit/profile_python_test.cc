#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "profile/python_places.h"
#include "profile/python_sample.h"
#include "unit/made_python.h"

namespace headrace::profile {
namespace {

using record::address_of;
using record::fake_python;
using record::Function;
using record::Object;
using record::set;
using record::set_frame;

/// A frame of the interpreter's own, which it has in each of its calls.
Object shim_before(const Object* previous) {
  Object shim{};
  set(shim, 8, previous != nullptr ? address_of(*previous) : std::uintptr_t{0});
  shim[70] = 3;
  return shim;
}

TEST(PythonSample, HasFramesAndWhereTheInterpreterWasCalled) {
  const Function main("main");
  const Function step("step");
  const Object first = shim_before(nullptr);
  Object outer{}, caller{}, inner{};
  set_frame(outer, main, 1, &first);
  const Object second = shim_before(&outer);
  set_frame(caller, step, 2, &second);
  set_frame(inner, step, 4, &caller);
  set(record::thread, 72, address_of(inner));
  PythonSample found;
  read_python_frames(fake_python(), found);
  ASSERT_EQ(found.count, 3U);
  EXPECT_TRUE(found.is_whole);
  EXPECT_EQ(found.frames[0], (PythonFrame{address_of(step.code), step.unit(4)}));
  EXPECT_FALSE(found.frames[0].is_entry());
  EXPECT_TRUE(found.frames[1].is_entry());
  EXPECT_TRUE(found.frames[2].is_entry());

  record::has_thread = false;
  read_python_frames(fake_python(), found);
  EXPECT_EQ(found.count, 0U);
  record::has_thread = true;
}

TEST(PythonSample, BearsFramesThatAreGoneOrNeverEnd) {
  const Function function("main");
  Object frame{};
  set_frame(frame, function, 1, nullptr);
  set(frame, 8, std::uintptr_t{4096});  // nothing lies there
  set(record::thread, 72, address_of(frame));
  PythonSample found;
  read_python_frames(fake_python(), found);
  EXPECT_EQ(found.count, 1U);
  EXPECT_FALSE(found.is_whole);
  set(frame, 8, address_of(frame));
  read_python_frames(fake_python(), found);
  EXPECT_EQ(found.count, PythonSample::kMost);
  EXPECT_FALSE(found.is_whole);
}

TEST(PythonPlaces, AreOneForEachLine) {
  PythonPlaces places;
  Function function("solve");
  const PythonFrame frame{address_of(function.code), function.unit(2)};
  const std::uintptr_t word = places.word_of(fake_python(), frame);
  ASSERT_TRUE(PythonPlaces::is_place(word));
  EXPECT_EQ(places.place(word).function, "solve");
  EXPECT_EQ(places.place(word).file, "solver.py");
  EXPECT_EQ(places.place(word).line, 11);
  EXPECT_EQ(places.word_of(fake_python(), {frame.code, function.unit(3) | 1}), word);
  EXPECT_NE(places.word_of(fake_python(), {frame.code, function.unit(4)}), word);
  EXPECT_EQ(places.word_of(fake_python(), {frame.code, function.unit(6)}), 0U) << "behind its end";
  EXPECT_EQ(places.word_of(fake_python(), {4096, 4096}), 0U);

  // Another function has taken its place.
  const Object other = record::text_of(std::string_view("another"), true);
  set(function.code, 128, address_of(other));
  const std::uintptr_t now = places.word_of(fake_python(), frame);
  ASSERT_NE(now, word);
  EXPECT_EQ(places.place(now).function, "another");
  EXPECT_EQ(places.place(word).function, "solve");
}

/// The path of frames whose words are 11, 12, ...; those in `entries` were called by C.
std::vector<std::uintptr_t> merged(const std::vector<std::uintptr_t>& native, std::size_t count,
                                   const std::vector<std::size_t>& entries, bool is_whole = true) {
  PythonSample python;
  python.count = count;
  python.is_whole = true;
  std::vector<std::uintptr_t> words;
  for (std::size_t i = 0; i < count; ++i) words.push_back(11 + i);
  for (const std::size_t entry : entries) python.frames[entry].instruction = 1;
  return merged_path(native, is_whole, python, words, {100, 200});
}

using Path = std::vector<std::uintptr_t>;

TEST(MergedPath, HasFramesBehindTheCallThatRanThem) {
  EXPECT_EQ(merged({50, 150, 60, 160, 70}, 3, {1, 2}), (Path{50, 11, 12, 150, 60, 13, 160, 70}));
  EXPECT_EQ(merged({100, 201, 200, 101}, 2, {0, 1}), (Path{100, 201, 11, 200, 12, 101}));
  EXPECT_EQ(merged({50, 60}, 2, {1}), (Path{50, 60, 11, 12})) << "no call is recognised";
}

TEST(MergedPath, BearsCallsThatAreNotRecognisedOrHaveJustBegun) {
  EXPECT_EQ(merged({150, 160}, 1, {0}), (Path{150, 11, 160})) << "the inner has no frame yet";
  EXPECT_EQ(merged({50, 160, 70}, 2, {0, 1}), (Path{50, 11, 12, 160, 70}));
  EXPECT_EQ(merged({150, 160}, 1, {0}, false), (Path{11, 150, 160})) << "the outer part is cut";
  EXPECT_EQ(merged({150, 60}, 2, {0, 1}, false), (Path{11, 150, 60, 12}));
}

}  // namespace
}  // namespace headrace::profile
