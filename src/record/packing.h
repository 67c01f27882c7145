#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "record/generated/tables.h"

/// The bytes of a record: docs/record-format.md.
namespace headrace::record {

/// In the place of a node: the table is the job's.
inline constexpr std::uint32_t kOfJob = 0xffffffff;

/// zlib's.
std::uint32_t crc32(std::string_view bytes);

void append_varint(std::string& out, std::uint64_t value);

/// A column of numbers, in the shortest of the ways that fit them.
void append_column(std::string& out, std::span<const std::int64_t> values);

/// A column of texts.
void append_texts(std::string& out, std::span<const std::string> texts);

/// What a record begins with, its schema included.
std::string record_front();

/// Sections as they follow each other in a record. They are put together on each node, and one
/// behind the other for the job.
struct Sections {
  std::string bytes;
  std::uint32_t count = 0;

  void append(const Sections& other) {
    bytes += other.bytes;
    count += other.count;
  }
};

/// Adds a section of texts; of none nothing.
void append_text_table(Sections& sections, std::uint32_t node, std::span<const std::string> texts);

/// Writes a column of a table, by its place in the schema, into a vector that has its length.
using FillColumn = std::function<void(std::size_t place, std::span<std::int64_t> column)>;

/// Adds a section of so many columns and rows; of no rows nothing. One column is in memory at a
/// time.
void append_table(Sections& sections, Table table, std::uint32_t node, std::size_t columns,
                  std::size_t rows, const FillColumn& fill);

/// The same of rows, which are made of numbers alone.
template <class Row>
void append_rows(Sections& sections, Table table, std::uint32_t node, std::span<const Row> rows) {
  constexpr std::size_t kColumns = sizeof(Row) / sizeof(std::int64_t);
  append_table(sections, table, node, kColumns, rows.size(),
               [&](std::size_t place, std::span<std::int64_t> column) {
                 for (std::size_t i = 0; i < rows.size(); ++i) {
                   column[i] = std::bit_cast<std::array<std::int64_t, kColumns>>(rows[i])[place];
                 }
               });
}

/// What a record ends with, behind so many sections.
std::string record_end(std::uint32_t sections);

}  // namespace headrace::record
