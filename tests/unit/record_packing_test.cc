#include <gtest/gtest.h>

#include <random>

#include "record/packing.h"
#include "unit/packed_sections.h"

namespace headrace::record {
namespace {

using Values = std::vector<std::int64_t>;

UnpackedColumn packed_and_unpacked(const Values& values) {
  std::string packed;
  append_column(packed, values);
  PackedBytes bytes(packed);
  UnpackedColumn column = unpack_column(bytes, values.size());
  EXPECT_TRUE(bytes.is_empty());
  return column;
}

std::uint32_t crc_bit_by_bit(std::string_view bytes) {
  std::uint32_t value = 0xffffffff;
  for (const char byte : bytes) {
    value ^= static_cast<unsigned char>(byte);
    for (int i = 0; i < 8; ++i) value = (value >> 1) ^ ((value & 1) != 0 ? 0xedb88320 : 0);
  }
  return ~value;
}

TEST(Packing, ChecksAsZlibDoes) {
  EXPECT_EQ(crc32(""), 0U);
  EXPECT_EQ(crc32("123456789"), 0xcbf43926U) << "the polynomial's known check value";
  std::mt19937 random(1);
  std::string bytes;
  for (int length = 0; length < 100; ++length) {
    ASSERT_EQ(crc32(bytes), crc_bit_by_bit(bytes)) << length;
    bytes.push_back(static_cast<char>(random()));
  }
}

TEST(Packing, KeepsAllNumbers) {
  for (const std::int64_t value :
       {INT64_MIN, INT64_MIN + 1, std::int64_t{-65}, std::int64_t{-64}, std::int64_t{-1},
        std::int64_t{0}, std::int64_t{63}, std::int64_t{64}, INT64_MAX}) {
    EXPECT_EQ(packed_and_unpacked({value}).values, Values{value});
    const Values two = {value, 5};
    EXPECT_EQ(packed_and_unpacked(two).values, two);
  }
  const Values extremes = {INT64_MIN, INT64_MAX, 0, INT64_MIN, -1, INT64_MAX};
  EXPECT_EQ(packed_and_unpacked(extremes).values, extremes) << "differences wrap";
}

TEST(Packing, KeepsRandomColumns) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 2000; ++i) {
    Values values(random() % 20);
    const auto shift = random() % 64;
    for (auto& value : values) value = static_cast<std::int64_t>(random()) >> shift;
    ASSERT_EQ(packed_and_unpacked(values).values, values);
  }
}

TEST(Packing, TakesTheShortestWay) {
  EXPECT_EQ(packed_and_unpacked({}).packed, 0);
  EXPECT_EQ(packed_and_unpacked({}).length, 0U);
  EXPECT_EQ(packed_and_unpacked({7, 7, 7}).packed, 0);
  EXPECT_EQ(packed_and_unpacked({7, 7, 7}).length, 1U);
  EXPECT_EQ(packed_and_unpacked({60, -60, 60}).packed, 1);
  const UnpackedColumn growing = packed_and_unpacked({100'000, 100'001, 100'002, 100'003});
  EXPECT_EQ(growing.packed, 2);
  EXPECT_EQ(growing.length, 6U);
}

TEST(Packing, PutsTablesIntoSections) {
  Sections sections;
  append_rows<MatrixRow>(sections, Table::matrix, 3, std::vector<MatrixRow>{});
  EXPECT_EQ(sections.count, 0U) << "a table without rows is left out";
  const std::vector<MatrixRow> rows = {{0, 1, 5, 100}, {0, 2, 6, 200}};
  append_rows<MatrixRow>(sections, Table::matrix, 3, rows);
  const std::vector<std::string> texts = {"", "a\nb", std::string(200, 'x')};
  append_text_table(sections, 3, texts);
  auto tables = unpack(sections);
  EXPECT_EQ(tables.size(), 2U);
  EXPECT_EQ(tables[Table::matrix].node, 3U);
  EXPECT_EQ(tables[Table::matrix].row<MatrixRow>(1).peer, 2);
  EXPECT_EQ(tables[Table::matrix].row<MatrixRow>(1).sent, 200);
  EXPECT_EQ(tables[Table::texts].columns[0].texts, texts);
}

TEST(Packing, GivesEachRowAByte) {
  Sections sections;
  const std::vector<MatrixRow> alike(1000, MatrixRow{1, 2, 3, 4});
  append_rows<MatrixRow>(sections, Table::matrix, 0, alike);
  auto tables = unpack(sections);
  EXPECT_EQ(tables[Table::matrix].rows, 1000U);
  EXPECT_EQ(tables[Table::matrix].row<MatrixRow>(999).sent, 4);
}

TEST(Packing, BeginsAndEndsARecord) {
  const std::string front = record_front();
  PackedBytes bytes(front);
  EXPECT_EQ(bytes.take(8), std::string_view("\x89HRC\r\n\x1a\n", 8));
  EXPECT_EQ(bytes.number(), 1U);
  EXPECT_EQ(bytes.number(), kSchema.size());
  EXPECT_EQ(bytes.number(), crc32(kSchema));
  EXPECT_EQ(bytes.take(kSchema.size()), kSchema);
  EXPECT_TRUE(bytes.is_empty());

  const std::string end = record_end(12);
  PackedBytes last(end);
  EXPECT_EQ(last.take(4), "HRS1");
  EXPECT_EQ(last.number(), 0xffffffffU);
  EXPECT_EQ(last.number(), 0xffffffffU);
  EXPECT_EQ(last.number(), 12U);
  EXPECT_EQ(last.number(), 0U);
  EXPECT_EQ(last.number(), 0U);
  EXPECT_TRUE(last.is_empty());
}

}  // namespace
}  // namespace headrace::record
