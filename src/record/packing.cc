#include "record/packing.h"

#include <algorithm>
#include <cstring>
#include <functional>

namespace headrace::record {
namespace {

constexpr std::string_view kMagic("\x89HRC\r\n\x1a\n", 8);
constexpr std::string_view kMark = "HRS1";
constexpr std::uint32_t kEnd = 0xffffffff;

enum Packed : char { constant, plain, differences, texts_only };

/// Eight bytes at a time ("slicing by 8"): the table of a byte, and how it goes on through others.
constexpr std::array<std::array<std::uint32_t, 256>, 8> make_crc_tables() {
  std::array<std::array<std::uint32_t, 256>, 8> tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t value = byte;
    for (int bit = 0; bit < 8; ++bit) {
      value = (value >> 1) ^ ((value & 1) != 0 ? 0xedb88320U : 0);
    }
    tables[0][byte] = value;
  }
  for (std::size_t i = 1; i < 8; ++i) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint32_t before = tables[i - 1][byte];
      tables[i][byte] = (before >> 8) ^ tables[0][before & 255];
    }
  }
  return tables;
}

constexpr auto kCrcTables = make_crc_tables();

void append_number(std::string& out, std::uint32_t value) {
  for (int shift = 0; shift < 32; shift += 8) out.push_back(static_cast<char>(value >> shift));
}

std::uint64_t folded(std::int64_t value) {
  return (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
}

/// Wraps at 64 bits.
std::int64_t difference(std::int64_t value, std::int64_t before) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(value) -
                                   static_cast<std::uint64_t>(before));
}

std::size_t varint_length(std::int64_t value) {
  return static_cast<std::size_t>(std::bit_width(folded(value) | 1) + 6) / 7;
}

void append_header(std::string& out, Packed packed, std::size_t length) {
  out.push_back(packed);
  append_number(out, static_cast<std::uint32_t>(length));
}

struct Lengths {
  std::size_t plain = 0;
  std::size_t differences = 0;
};

Lengths lengths_of(std::span<const std::int64_t> values) {
  Lengths lengths;
  std::int64_t before = 0;
  for (const std::int64_t value : values) {
    lengths.plain += varint_length(value);
    lengths.differences += varint_length(difference(value, before));
    before = value;
  }
  return lengths;
}

void append_plain(std::string& out, std::span<const std::int64_t> values, std::size_t length) {
  append_header(out, plain, length);
  for (const std::int64_t value : values) append_varint(out, folded(value));
}

void append_section(std::string& out, std::uint32_t table, std::uint32_t node, std::uint32_t rows,
                    std::string_view body) {
  out += kMark;
  for (const std::uint32_t number :
       {table, node, rows, static_cast<std::uint32_t>(body.size()), crc32(body)}) {
    append_number(out, number);
  }
  out += body;
}

}  // namespace

std::uint32_t crc32(std::string_view bytes) {
  std::uint32_t value = 0xffffffff;
  for (; bytes.size() >= 8; bytes.remove_prefix(8)) {
    std::array<std::uint8_t, 8> next{};
    std::memcpy(next.data(), bytes.data(), 8);
    for (std::size_t i = 0; i < 4; ++i) next[i] ^= static_cast<std::uint8_t>(value >> (8 * i));
    value = 0;
    for (std::size_t i = 0; i < 8; ++i) value ^= kCrcTables[7 - i][next[i]];
  }
  for (const char byte : bytes) {
    value = (value >> 8) ^ kCrcTables[0][(value ^ static_cast<std::uint8_t>(byte)) & 255];
  }
  return ~value;
}

void append_varint(std::string& out, std::uint64_t value) {
  for (; value > 127; value >>= 7) out.push_back(static_cast<char>((value & 127) | 128));
  out.push_back(static_cast<char>(value));
}

void append_column(std::string& out, std::span<const std::int64_t> values) {
  const bool is_constant =
      std::ranges::adjacent_find(values, std::not_equal_to<>()) == values.end();
  if (is_constant) {
    append_header(out, constant, values.empty() ? 0 : varint_length(values[0]));
    if (!values.empty()) append_varint(out, folded(values[0]));
    return;
  }
  const Lengths lengths = lengths_of(values);
  if (lengths.plain <= lengths.differences) {
    append_plain(out, values, lengths.plain);
    return;
  }
  append_header(out, differences, lengths.differences);
  std::int64_t before = 0;
  for (const std::int64_t value : values) {
    append_varint(out, folded(difference(value, before)));
    before = value;
  }
}

void append_texts(std::string& out, std::span<const std::string> texts) {
  std::string packed;
  for (const std::string& text : texts) {
    append_varint(packed, text.size());
    packed += text;
  }
  append_header(out, texts_only, packed.size());
  out += packed;
}

std::string record_front() {
  std::string out(kMagic);
  append_number(out, kRecordFormat);
  append_number(out, static_cast<std::uint32_t>(kSchema.size()));
  append_number(out, crc32(kSchema));
  out += kSchema;
  return out;
}

void append_text_table(Sections& sections, std::uint32_t node, std::span<const std::string> texts) {
  if (texts.empty()) return;
  std::string body;
  append_texts(body, texts);
  append_section(sections.bytes, static_cast<std::uint32_t>(Table::texts), node,
                 static_cast<std::uint32_t>(texts.size()), body);
  ++sections.count;
}

void append_table(Sections& sections, Table table, std::uint32_t node, std::size_t columns,
                  std::size_t rows, const FillColumn& fill) {
  if (rows == 0) return;
  std::vector<std::int64_t> column(rows);
  std::string body;
  const auto append_all = [&](bool is_first_plain) {
    for (std::size_t place = 0; place < columns; ++place) {
      fill(place, column);
      if (place == 0 && is_first_plain) {
        append_plain(body, column, lengths_of(column).plain);
      } else {
        append_column(body, column);
      }
    }
  };
  append_all(false);
  if (rows > body.size()) {
    // All rows are alike. A reader takes no more rows than there are bytes.
    body.clear();
    append_all(true);
  }
  append_section(sections.bytes, static_cast<std::uint32_t>(table), node,
                 static_cast<std::uint32_t>(rows), body);
  ++sections.count;
}

std::string record_end(std::uint32_t sections) {
  std::string out;
  append_section(out, kEnd, kOfJob, sections, {});
  return out;
}

}  // namespace headrace::record
