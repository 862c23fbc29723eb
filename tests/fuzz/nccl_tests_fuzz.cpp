// libFuzzer target: reads any bytes as a log of nccl-tests or of the OSU
// micro-benchmarks. The bytes must be rejected with a
// message that names a place, or be read as rows with possible values.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "core/measured/nccl_tests.h"

namespace {

using namespace tutti::core;

void demand(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "%s\n", what);
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto tables =
      parse_nccl_tests(std::string_view(reinterpret_cast<const char*>(data), size), "fuzz");
  if (!tables) {
    demand(!tables.error().problems().empty(), "an error has a problem");
    for (const Problem& problem : tables.error().problems()) {
      demand(problem.where.file == "fuzz" && !problem.text.empty(),
             "a problem has a place and a text");
    }
    return 0;
  }
  demand(!tables->empty(), "there is a table");
  for (const NcclTestsTable& table : *tables) {
    demand(!table.rows.empty(), "a table has rows");
    for (const NcclTestsRow& row : table.rows) {
      demand(row.bytes > 0 && row.elements > 0, "sizes are above 0");
      demand(row.out_of_place || row.in_place, "a row has a time");
      for (const auto& timing : {row.out_of_place, row.in_place}) {
        if (timing) demand(timing->us > 0 && timing->wrong >= 0, "times are above 0");
      }
    }
    static_cast<void>(check_collective(with_ranks(table, 4), 4));
  }
  return 0;
}
