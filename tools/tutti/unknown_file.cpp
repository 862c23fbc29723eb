#include "tools/tutti/unknown_file.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/formats/operation_log.h"
#include "core/formats/recognise.h"
#include "core/measured/nccl_tests.h"
#include "core/replay/graph_reader.h"
#include "core/timeline/writer.h"
#include "tools/tutti/import_graph.h"

namespace tutti::tools {
namespace {

using core::Error;
using core::ProblemCode;

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// Returns the text from its first character that belongs to neither a comment nor white space.
std::string_view without_comments(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  while (true) {
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos) return {};
    text.remove_prefix(first);
    if (text.front() != '#') return text;
    text.remove_prefix(std::min(text.find('\n'), text.size()));
  }
}

/// Returns the first line of a text that consists of cells with commas between them; "" for other
/// texts.
std::string_view columns_of(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  std::string_view line = text.substr(0, text.find_first_of("\r\n"));
  const bool is_text = std::all_of(line.begin(), line.end(), [](char c) {
    return static_cast<unsigned char>(c) >= ' ' || c == '\t';
  });
  constexpr std::size_t kMost = 160;
  return is_text && line.find(',') != std::string_view::npos && line.front() != '{' &&
                 line.front() != '['
             ? line.substr(0, kMost)
             : std::string_view();
}

}  // namespace

bool may_be_scenario(std::string_view first_bytes) {
  const std::string_view text = without_comments(first_bytes);
  if (text.empty()) return true;
  if (core::recognise_graph(first_bytes)) return false;
  // A comment of a scenario may contain a line of a log, so only JSON is compared with all formats.
  if (text.front() == '{') return !core::recognise(first_bytes);
  if (!is_word(text.front())) return false;
  const std::size_t end =
      static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), is_word) - text.begin());
  const std::size_t next = text.find_first_not_of(" \t", end);
  // A missing colon is a mistake that the reader of scenarios reports best.
  return next == std::string_view::npos ||
         std::string_view(":{<\"#\r\n").find(text[next]) != std::string_view::npos;
}

Error wrong_file(const std::string& path, std::string_view first_bytes) {
  const auto error = [&](std::string text) {
    return Error::request({ProblemCode::kUnsupported}, std::move(text), {path, 0, 0});
  };
  if (const auto format = core::recognise(first_bytes))
    return error(fmt::format(
        "this is {}; tutti import converts it to a scenario (-o mine.textproto), and tutti explain "
        "compares it with a prediction",
        described(*format)));
  if (core::recognise_graph(first_bytes))
    return error(
        "this is an execution trace; hint: write a scenario that executes it with tutti import "
        "FILE --machine MACHINE -o mine.textproto, and use the scenario instead");
  if (core::is_operation_log(first_bytes))
    return error("this is a log of operations (CSV), which tutti explain FILE reads");
  if (first_bytes.starts_with(core::kTimelineMagic))
    return error(
        "this is a timeline, not a scenario; tutti report, tutti compare, tutti export and tutti "
        "view read timelines");
  if (core::parse_nccl_tests(first_bytes, path))
    return error(
        "this is a log of nccl-tests or of MPI benchmarks, which tutti calibrate, tutti validate "
        "and tutti perf read");
  if (first_bytes.empty()) return error("the file is empty");
  if (first_bytes.starts_with("\xFF\xFE") || first_bytes.starts_with("\xFE\xFF"))
    return error("this text is encoded in UTF-16; convert it to UTF-8 (iconv -f UTF-16 -t UTF-8)");
  if (first_bytes.starts_with("PK\x03\x04")) return error("this is a ZIP archive; unpack it");
  constexpr std::size_t kTarMagic = 257;
  if (first_bytes.size() > kTarMagic && first_bytes.substr(kTarMagic).starts_with("ustar"))
    return error("this is a tar archive; unpack it, and name its files");
  if (first_bytes.starts_with("\x28\xB5\x2F\xFD"))
    return error("this file is compressed with zstd; decompress it (zstd -d), or use gzip");
  if (first_bytes.starts_with("\xFD\x37zXZ") || first_bytes.starts_with("BZh"))
    return error("this file is compressed with xz or bzip2; decompress it, or use gzip");
  if (path.ends_with(".nsys-rep") || path.ends_with(".qdrep"))
    return error(
        "this is a report of Nsight Systems; export it with nsys export --type sqlite "
        "--include-blobs=true, and give the SQLite file");
  std::string text = "the format of this file is unknown";
  if (const std::string_view columns = columns_of(first_bytes); !columns.empty())
    text += fmt::format(
        ": its first line is \"{}\", but the CSV files that Tutti reads are logs of operations "
        "(tutti explain; columns optype, start_ts, duration, …) and workloads of AICB (tutti "
        "import; columns comm_type, comm_group, msg_size, …)",
        columns);
  return error(
      text + fmt::format("; hint: tutti import FORMAT FILE reads a file in a given format: {}, {}. "
                         "Logs of nccl-tests and of MPI benchmarks (OSU, IMB) are read by tutti "
                         "calibrate, logs of operations by tutti explain, and timelines of Tutti "
                         "by tutti export",
                         fmt::join(core::trace_format_names(), ", "),
                         fmt::join(graph_format_names(), ", ")));
}

}  // namespace tutti::tools
