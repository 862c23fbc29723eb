#include "tools/tutti/export.h"

#include <unistd.h>

#include <filesystem>
#include <ostream>

#include "core/text/report.h"
#include "core/timeline/export_csv.h"
#include "core/timeline/export_perfetto.h"
#include "core/timeline/export_svg.h"
#include "core/timeline/reader.h"
#include "tools/tutti/export_algorithm.h"
#include "tools/tutti/export_trace.h"
#include "tools/tutti/io/file_buffer.h"
#include "tools/tutti/io/output_file.h"

namespace tutti::tools {
namespace {

using core::Expected;
using core::ProblemCode;

/// Returns the input's path with the format's extension.
std::string default_output(const ExportOptions& options) {
  std::filesystem::path path(options.timeline);
  if (options.to == "perfetto") return path.replace_extension(".perfetto-trace").string();
  if (options.to == "csv") return path.replace_extension("." + options.table + ".csv").string();
  return path.replace_extension(".svg").string();
}

Expected<void> write(const core::TimelineReader& timeline, const ExportOptions& options,
                     std::ostream& out) {
  if (options.to == "perfetto") return core::export_perfetto(timeline, out);
  if (options.to == "csv")
    return core::export_csv(timeline, *core::parse_csv_content(options.table), out);
  auto picture = core::export_svg(timeline);
  if (!picture) return failed(picture);
  out << *picture;
  return {};
}

}  // namespace

int export_timeline(const ExportOptions& options, const Environment& environment) {
  if (options.to == "msccl" || options.to == "mscclpp")
    return export_algorithm(options, environment);
  if (options.to == "chakra" || options.to == "goal" || options.to == "goal-binary")
    return export_trace(options, environment);
  if (options.to != "perfetto" && options.to != "csv" && options.to != "svg") {
    return refuse(
        {ProblemCode::kUnknownName, "--to"},
        "--to {}: expected one of perfetto, csv, svg, msccl, mscclpp, chakra, goal, goal-binary",
        options.to);
  }
  if (!core::parse_csv_content(options.table)) {
    return refuse({ProblemCode::kUnknownName, "--table"},
                  "--table {}: expected one of spans, packs, steps, links, path", options.table);
  }
  const auto timeline = core::TimelineReader::open(options.timeline);
  if (!timeline) return report(timeline.error());
  if (!timeline->complete())
    print_note(fmt::format("{}: the file {}; exporting the readable part\n", options.timeline,
                           timeline->damage()));

  if (options.output == "-") {
    FileBuffer buffer(dup(STDOUT_FILENO));
    std::ostream out(&buffer);
    if (const auto written = write(*timeline, options, out); !written)
      return report(written.error());
    buffer.close();
    return buffer.error() == 0 ? static_cast<int>(kDone) : stdout_failed(buffer.error());
  }
  const auto format = format_of(options.format);
  if (!format) return report(format.error());
  const std::string path = options.output.empty() ? default_output(options) : options.output;
  auto file = OutputFile::create(path, {options.timeline});
  if (!file) return report(file.error());
  if (const auto written = write(*timeline, options, file->stream()); !written)
    return report(written.error());
  if (const auto kept = file->keep(); !kept) return report(kept.error());
  if (*format == Format::kText || path == "-") {
    print_note(fmt::format("written: {}\n", path));
    return kDone;
  }
  return print_out(result_json(core::Report{{"timeline", options.timeline},
                                            {"complete", timeline->complete()},
                                            {"steps", timeline->steps().size()},
                                            {"to", options.to},
                                            {"written", path}}));
}

}  // namespace tutti::tools
