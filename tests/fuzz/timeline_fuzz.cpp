// libFuzzer target: reads any bytes as a timeline. Reading, replaying, summarizing, reporting
// and exporting must terminate without a crash, in memory that is bounded by the size of the file.

#include <cstdint>
#include <sstream>
#include <string>

#include "core/timeline/export_csv.h"
#include "core/timeline/export_perfetto.h"
#include "core/timeline/export_svg.h"
#include "core/timeline/reader.h"
#include "core/timeline/summary.h"
#include "tools/tutti/report/report.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tutti::core;
  const auto reader =
      TimelineReader::from_bytes(std::string(reinterpret_cast<const char*>(data), size), "fuzz");
  if (!reader) return 0;
  Summary summary;
  static_cast<void>(reader->replay(summary));
  static_cast<void>(summary.step_time());
  static_cast<void>(summary.path_in_words());
  static_cast<void>(to_json(tutti::tools::run_report(summary)));
  std::ostringstream out;
  static_cast<void>(export_perfetto(*reader, out));
  for (const char* table : {"spans", "packs", "steps", "links", "path"})
    static_cast<void>(export_csv(*reader, *parse_csv_content(table), out));
  static_cast<void>(export_svg(*reader));
  return 0;
}
