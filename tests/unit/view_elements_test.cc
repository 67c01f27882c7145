#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

#include "view/elements.h"
#include "view/external32.h"
#include "view/type.h"

namespace headrace::view::test {
namespace {

/// One element of a type map and where it lies.
struct Entry {
  Element element;
  std::int64_t offset;
};

/// A type, its elements, and both as a plain list.
struct Sample {
  TypePtr type;
  ElementsPtr elements;
  std::vector<Entry> entries;

  void append(const Sample& other, std::int64_t displacement) {
    for (const Entry& entry : other.entries) {
      entries.push_back({entry.element, displacement + entry.offset});
    }
  }
};

constexpr std::array kBasics = {Element{Kind::bytes, 1, 1, 1, 1},
                                Element{Kind::signed_integer, 1, 1, 8, 4},
                                Element{Kind::unsigned_integer, 1, 1, 4, 2},
                                Element{Kind::signed_integer, 1, 1, 4, 4},
                                Element{Kind::signed_integer, 1, 1, 2, 2},
                                Element{Kind::floating, 2, 1, 16, 16},
                                Element{Kind::boolean, 1, 1, 1, 1}};

class Generator {
 public:
  explicit Generator(std::uint64_t seed) : random_(seed) {}

  std::int64_t number(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random_);
  }

  Sample make(int depth) {
    if (depth == 0) return basic();
    switch (number(0, 3)) {
      case 0: return repeated(make(depth - 1), number(0, 4), 0);
      case 1: return repeated(make(depth - 1), number(1, 4), number(0, 24));
      case 2: return resized(make(depth - 1));
      default: return structure(depth);
    }
  }

 private:
  Sample basic() {
    const Element& element = kBasics[static_cast<std::size_t>(number(0, std::ssize(kBasics) - 1))];
    return {make_basic(element.native_size), make_elements(element), {{element, 0}}};
  }

  Sample repeated(const Sample& old, std::int64_t count, std::int64_t gap) {
    const std::int64_t stride = old.type->extent() + gap;
    Sample made{make_hvector(count, 1, stride, old.type), repeat_elements(count, old.elements), {}};
    for (std::int64_t i = 0; i < count; ++i) made.append(old, i * stride);
    return made;
  }

  Sample resized(Sample old) {
    old.type = make_resized(old.type, old.type->lower_bound(), old.type->extent() + number(0, 9));
    return old;
  }

  Sample structure(int depth) {
    Sample made;
    std::vector<std::int64_t> lengths;
    std::vector<std::int64_t> places;
    std::vector<TypePtr> types;
    std::vector<ElementsPtr> elements;
    std::int64_t at = 0;
    for (std::int64_t i = number(0, 4); i > 0; --i) {
      const Sample part = make(static_cast<int>(number(0, depth - 1)));
      lengths.push_back(number(0, 3));
      places.push_back(at - part.type->lower_bound());
      types.push_back(part.type);
      elements.push_back(part.elements);
      for (std::int64_t k = 0; k < lengths.back(); ++k) {
        made.append(part, places.back() + k * part.type->extent());
      }
      at += lengths.back() * part.type->extent() + number(0, 7);
    }
    made.type = make_struct(lengths, places, types);
    made.elements = join_elements(lengths, elements);
    return made;
  }

  std::mt19937_64 random_;
};

/// Like an endless repetition of the entries, `count` times.
template <class Visit>
void for_each_entry(const Sample& sample, std::int64_t count, Visit visit) {
  for (std::int64_t i = 0; i < count; ++i) {
    for (const Entry& entry : sample.entries) {
      visit(entry.element, entry.offset + i * sample.type->extent());
    }
  }
}

Amount amount_of(const Element& element) {
  return {element.items, element.native_size, element.stored_size};
}

Amount naive_amount(const Sample& sample) {
  Amount sum;
  for (const Entry& entry : sample.entries) sum = sum + amount_of(entry.element);
  return sum;
}

TEST(Elements, MeasureAsTheList) {
  Generator generator(1);
  for (int i = 0; i < 2000; ++i) {
    const Sample sample = generator.make(4);
    ASSERT_EQ(sample.elements->amount(), naive_amount(sample));
    ASSERT_EQ(sample.elements->amount().native, sample.type->size());
    if (sample.entries.empty()) {
      ASSERT_EQ(sample.elements->whole_in_stored(100), Amount{});
      continue;
    }
    const ByteCount stored = generator.number(0, 3 * sample.elements->amount().stored);
    const std::int64_t items = generator.number(0, 3 * sample.elements->amount().items);
    Amount in_stored;
    Amount in_items;
    bool is_cut = false;
    for_each_entry(sample, 4, [&](const Element& element, std::int64_t) {
      const Amount next = in_stored + amount_of(element);
      is_cut = is_cut || next.stored > stored;
      if (!is_cut) in_stored = next;
      if (in_items.items < items) in_items = in_items + amount_of(element);
    });
    ASSERT_EQ(sample.elements->whole_in_stored(stored), in_stored);
    ASSERT_EQ(sample.elements->whole_in_items(items), in_items);
  }
}

TEST(Elements, AreWalkedInDataOrder) {
  Generator generator(2);
  for (int i = 0; i < 2000; ++i) {
    const Sample sample = generator.make(4);
    if (sample.entries.empty()) continue;
    ElementCursor cursor(*sample.elements);
    std::vector<Element> walked;
    while (std::ssize(walked) < 3 * std::ssize(sample.entries)) {
      const auto limit = generator.number(16, 80);
      const ElementCursor::Run run = cursor.next(limit);
      ASSERT_GT(run.count, 0);
      ASSERT_LE(run.count * run.element.native_size, limit);
      walked.insert(walked.end(), static_cast<std::size_t>(run.count), run.element);
    }
    std::size_t at = 0;
    for_each_entry(sample, 3,
                   [&](const Element& element, std::int64_t) { ASSERT_EQ(walked[at++], element); });
  }
}

TEST(Elements, StayFewForManyRepetitions) {
  const ElementsPtr number = make_elements(kBasics[1]);
  const ElementsPtr character = make_elements(kBasics[0]);
  const std::int64_t counts[] = {3, 1, 2};
  const ElementsPtr parts[] = {number, number, character};
  const ElementsPtr record = join_elements(counts, parts);
  ASSERT_EQ(record->parts().size(), 2);
  constexpr std::int64_t kMany = std::int64_t{1} << 40;
  const ElementsPtr many = repeat_elements(kMany, record);
  EXPECT_EQ(many->parts().size(), 1);
  EXPECT_EQ(many->amount(), (Amount{6 * kMany, 34 * kMany, 18 * kMany}));
  EXPECT_EQ(many->whole_in_stored(18 * (kMany - 1) + 17),
            (Amount{6 * kMany - 1, 34 * kMany - 1, 18 * kMany - 1}));
  EXPECT_EQ(many->whole_in_items(6 * 5 + 2), (Amount{32, 34 * 5 + 16, 18 * 5 + 8}));
}

/// A conversion one element at a time, straight from the list.
std::vector<std::byte> naive_pack(const Sample& sample, std::int64_t count,
                                  const std::byte* memory) {
  std::vector<std::byte> stored;
  for_each_entry(sample, count, [&](const Element& element, std::int64_t offset) {
    stored.resize(stored.size() + static_cast<std::size_t>(element.stored_size));
    to_external32(element, 1, memory + offset, stored.data() + stored.size() - element.stored_size);
  });
  return stored;
}

std::vector<std::byte> random_bytes(Generator& generator, std::int64_t size) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(size));
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(generator.number(0, 1));
  return bytes;
}

void check_conversion(Generator& generator, const Sample& sample, std::int64_t count) {
  const std::int64_t low =
      std::min<std::int64_t>(sample.type->true_lower_bound(),
                             sample.type->true_lower_bound() + (count - 1) * sample.type->extent());
  const std::int64_t span = count * std::abs(sample.type->extent()) +
                            sample.type->true_upper_bound() - sample.type->true_lower_bound() + 1;
  std::vector<std::byte> storage = random_bytes(generator, span);
  std::byte* const base = storage.data() - low;
  const TypedMemory memory{base, sample.type, *sample.elements};
  const std::vector<std::byte> expected = naive_pack(sample, count, base);
  std::vector<std::byte> stored(expected.size());
  const Amount all = sample.elements->amount() * count;
  // In parts of whole elements, as large calls are.
  const Amount middle = sample.elements->whole_in_stored(generator.number(0, std::ssize(stored)));
  pack_external32(memory, {}, middle, stored.data());
  pack_external32(memory, middle, all, stored.data() + middle.stored);
  ASSERT_EQ(stored, expected);

  const ByteCount bytes = generator.number(0, std::ssize(stored));
  std::vector<std::byte> back = random_bytes(generator, span);
  std::vector<std::byte> wanted = back;
  ByteCount native = 0;
  ByteCount done = 0;
  bool is_cut = false;
  for_each_entry(sample, count, [&](const Element& element, std::int64_t offset) {
    is_cut = is_cut || done + element.stored_size > bytes;
    if (is_cut) return;
    from_external32(element, 1, stored.data() + done, wanted.data() - low + offset);
    done += element.stored_size;
    native += element.native_size;
  });
  const TypedMemory target{back.data() - low, sample.type, *sample.elements};
  const Amount end = sample.elements->whole_in_stored(bytes);
  const Amount cut = sample.elements->whole_in_stored(generator.number(0, end.stored));
  ASSERT_TRUE(unpack_external32(target, {}, cut, stored.data()));
  ASSERT_TRUE(unpack_external32(target, cut, end, stored.data() + cut.stored));
  ASSERT_EQ(back, wanted);
}

TEST(Elements, AreConvertedAsOneByOne) {
  Generator generator(3);
  for (int i = 0; i < 1500; ++i) {
    const Sample sample = generator.make(4);
    if (sample.entries.empty()) continue;
    check_conversion(generator, sample, generator.number(1, 3));
    // More than is converted at a time.
    if (i % 50 == 0) check_conversion(generator, sample, 40000 / sample.type->size() + 1);
  }
}

}  // namespace
}  // namespace headrace::view::test
