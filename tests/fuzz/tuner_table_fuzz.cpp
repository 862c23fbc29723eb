// libFuzzer target: reads any bytes as a table for NCCL's tuner plugin. The bytes must be rejected
// with a message and its place, or be read as a table that is unchanged after writing and reading.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "core/tuner_table/table.h"

namespace {

using namespace tutti::core::tuner_table;

void demand(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "%s\n", what);
  std::abort();
}

template <class Names>
bool is_index(int value, const Names& names) {
  return value >= 0 && value < static_cast<int>(names.size());
}

/// Returns true if both tables have the same rows, whatever their line numbers.
bool same_rows(const Table& a, const Table& b) {
  if (a.rows.size() != b.rows.size()) return false;
  for (std::size_t i = 0; i < a.rows.size(); ++i) {
    Row row = a.rows[i];
    row.line = b.rows[i].line;
    if (row != b.rows[i]) return false;
  }
  return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto table = read_table(text);
  if (!table) {
    const Refusal& why = table.error();
    demand(!why.text.empty(), "a refusal has a text");
    demand(why.line >= 0 && (why.line == 0) == (why.column == 0), "a refusal has a place");
    return 0;
  }
  demand(!table->rows.empty(), "a table has lines");
  int line = 0;
  for (const Row& row : table->rows) {
    demand(row.line > line, "lines are in order");
    line = row.line;
    demand(is_index(row.collective, kCollectives) && is_index(row.algorithm, kAlgorithms) &&
               is_index(row.protocol, kProtocols),
           "names are known");
    demand(row.min_bytes <= row.max_bytes, "a line has sizes");
    demand(row.channels >= 0 && row.channels <= kMaxChannels, "channels are possible");
    demand(row.nodes == kAny || row.nodes > 0, "nodes are possible");
    demand(row.chunk_bytes == 0 || row.channels > 0, "chunks have channels");
    const Call call{row.collective, row.max_bytes, row.pipe_ops == kAny ? 1 : row.pipe_ops,
                    row.registered == 1};
    demand(matches(row, call), "a line matches its own calls");
  }
  const auto again = read_table(write_table(*table));
  demand(again && again->reader == table->reader && same_rows(*table, *again),
         "a table survives writing and reading");
  return 0;
}
