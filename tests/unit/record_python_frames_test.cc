#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "record/python_frames.h"
#include "record/python_names.h"
#include "unit/made_python.h"

namespace headrace::record {
namespace {

class TextStore : public PathStore {
 public:
  PathId add(PathId, std::uintptr_t) noexcept override { return kNoPath; }
  PathId add_python(PathId caller, std::string_view function, std::string_view file,
                    int line) noexcept override {
    texts.push_back(std::to_string(caller) + " " + std::string(function) + " " + std::string(file) +
                    ":" + std::to_string(line));
    return static_cast<PathId>(texts.size() - 1 + 100);
  }
  std::vector<std::string> texts;
};

TEST(PythonFrames, ContinueAPathOfAddresses) {
  const Function outer("main");
  const Function inner("Solver.step");
  Object frame{}, shim{}, calling{};
  set_frame(calling, outer, 1, nullptr);
  set(shim, 8, address_of(calling));
  shim[70] = 3;
  set_frame(frame, inner, 2, &shim);
  set(thread, 72, address_of(frame));
  TextStore store;
  PythonPaths paths(store, fake_python());
  PathEnd native{7};
  PathEnd& end = paths.find(native);
  EXPECT_EQ(store.texts,
            (std::vector<std::string>{"7 main solver.py:10", "100 Solver.step solver.py:11"}));
  EXPECT_EQ(end.id, 101U);
  EXPECT_EQ(&paths.find(native), &end);
  EXPECT_EQ(paths.counts().resolved, 1U);
  set_frame(frame, inner, 3, &shim);
  EXPECT_EQ(&paths.find(native), &end) << "another instruction of the line";
  set_frame(frame, inner, 4, &shim);
  EXPECT_EQ(paths.find(native).id, 102U);
  EXPECT_EQ(store.texts.back(), "100 Solver.step solver.py:12");
  PathEnd other{8};
  EXPECT_EQ(paths.find(other).id, 104U) << "the same frames behind other addresses";
  has_thread = false;
  EXPECT_EQ(&paths.find(native), &native);
  has_thread = true;
}

TEST(PythonFrames, HaveTagsOnTheirCode) {
  const Function function("main");
  Object frame{};
  set_frame(frame, function, 1, nullptr);
  set(frame, 0, address_of(function.code) | 1);
  set(thread, 72, address_of(frame));
  TextStore store;
  Python python = fake_python();
  python.layout.code_tags = 3;
  PythonPaths paths(store, python);
  PathEnd native{7};
  EXPECT_NE(&paths.find(native), &native);
  EXPECT_EQ(store.texts, std::vector<std::string>{"7 main solver.py:10"});
}

TEST(PythonFrames, ThatAreNoneAreLeftOut) {
  Function function("main");
  Object frame{};
  set_frame(frame, function, 6, nullptr);
  set(thread, 72, address_of(frame));
  TextStore store;
  PythonPaths paths(store, fake_python());
  PathEnd native{7};
  EXPECT_EQ(&paths.find(native), &native) << "an instruction behind the last";
  set_frame(frame, function, 1, nullptr);
  set(function.code, 128, std::uintptr_t{4096});
  EXPECT_EQ(&paths.find(native), &native) << "a name that is not mapped";
  set(function.code, 128, address_of(function.code));
  set(frame, 56, function.unit(2));
  EXPECT_EQ(&paths.find(native), &native) << "a name that is no text";
  EXPECT_EQ(paths.counts().unreadable, 3U);
  EXPECT_TRUE(store.texts.empty());
}

TEST(PythonFrames, BeyondTheBoundCountForTheirAddresses) {
  const Function function("main");
  Object frame{};
  set(thread, 72, address_of(frame));
  TextStore store;
  PythonPaths paths(store, fake_python(), 2);
  std::vector<PathEnd> natives(5);
  for (PathEnd& native : natives) native.id = 1;
  set_frame(frame, function, 0, nullptr);
  for (PathEnd& native : natives) paths.find(native);
  EXPECT_EQ(store.texts.size(), 2U);
  EXPECT_EQ(paths.counts().folded, 3U);
  EXPECT_EQ(&paths.find(natives[4]), &natives[4]);
}

TEST(PythonFrames, AreNotLookedForWithoutPython) {
  EXPECT_FALSE(find_python().has_value());
  TextStore store;
  PythonPaths paths(store, find_python());
  PathEnd native{7};
  EXPECT_EQ(&paths.find(native), &native);
}

std::string name_of(const Object& text) {
  Function function("");
  function.name = text;
  PythonPlace place;
  EXPECT_TRUE(read_python_place(fake_python(), address_of(function.code), function.unit(0), place));
  return std::string(place.function.text());
}

TEST(PythonFrames, HaveNamesInUtf8) {
  using namespace std::string_view_literals;
  EXPECT_EQ(name_of(text_of("gr\xf6\xdf"
                            "e"sv,
                            false)),
            "gr\u00f6\u00dfe");
  EXPECT_EQ(name_of(text_of(u"\u03bb\u540d"sv, false)), "\u03bb\u540d");
  EXPECT_EQ(name_of(text_of(U"a\U00010400"sv, false)), "a\U00010400");
  const std::string longest(500, 'x');
  EXPECT_EQ(name_of(text_of(std::string_view(longest), true)), longest.substr(0, 253));
}

TEST(PythonFrames, HaveLinesByTheTable) {
  using Table = std::vector<unsigned char>;
  const auto line = [](const Table& table, std::size_t unit) {
    return line_of_unit(table, 10, unit);
  };
  EXPECT_EQ(line({0x80 | 1, 0}, 1), 10) << "a short form";
  EXPECT_EQ(line({0x80, 0, 0x80 | 12 << 3, 1, 2}, 1), 12) << "one line";
  EXPECT_EQ(line({0x80 | 14 << 3, 0x40 | 8, 1, 0, 1, 1}, 0), 46) << "long, (8 + 64) / 2 ahead";
  EXPECT_EQ(line({0x80 | 13 << 3, 7}, 0), 7) << "three back";
  EXPECT_EQ(line({0x80 | 15 << 3, 0x80, 0}, 0), 0) << "none";
  EXPECT_EQ(line({0x80 | 15 << 3, 0x80, 0}, 1), 10);
  EXPECT_EQ(line({0x80, 0}, 1), 0) << "behind the last";
  EXPECT_EQ(line({0x80 | 13 << 3}, 0), 10) << "cut";
  EXPECT_EQ(line({}, 0), 0);
}

}  // namespace
}  // namespace headrace::record
