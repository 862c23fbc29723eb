// Recognizes the format of a log, and checks the rows that the reader of the format finds.

#include "core/measured/nccl_tests.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "core/base/file.h"
#include "core/formats/byte_input.h"
#include "core/measured/nccl_tests_reader.h"

namespace tutti::core {
namespace {

/// Bandwidths have two decimals, which are precise enough from this bandwidth on.
constexpr double kMinPreciseGbPerS = 0.5;

std::string printed(double ratio) { return fmt::format("{:.3g}", ratio); }

/// Inflates gzip data to at most 64 MiB, the limit of text files.
Expected<std::string> inflated_text(std::string_view data, const std::string& path) {
  constexpr std::size_t kLargest = std::size_t{64} << 20;
  return all_bytes(*byte_input_of(data, path), kLargest, path);
}

}  // namespace

void RankList::add(std::string_view host, std::string_view pid, std::string_view device) {
  if (host.empty()) return;
  ++ranks_of_host_.try_emplace(std::string(host), 0).first->second;
  if (!pid.empty()) processes_.emplace(host, pid);
  if (device_.empty()) device_ = device;
}

void RankList::put(NcclTestsRun& run, std::int64_t ranks) const {
  run.hosts = static_cast<std::int64_t>(ranks_of_host_.size());
  run.processes = static_cast<std::int64_t>(processes_.size());
  run.device = device_;
  run.ranks_of_host = ranks_of_host_.empty() ? 0 : ranks_of_host_.begin()->second;
  std::int64_t all = 0;
  for (const auto& [host, listed] : ranks_of_host_) {
    if (listed != run.ranks_of_host) run.ranks_of_host = 0;
    all += listed;
  }
  if (all >= ranks || ranks_of_host_.empty()) return;
  run.processes = 0;
  run.ranks_of_host = ranks % run.hosts == 0 ? ranks / run.hosts : 0;
}

void add_variable(NcclTestsRun& run, std::string_view name, std::string_view value) {
  if (!name.starts_with("NCCL_")) return;
  for (const auto& [known, unused] : run.environment) {
    if (known == name) return;
  }
  run.environment.emplace_back(name, value);
}

std::optional<nccl::Driving> NcclTestsRun::driving() const {
  if (ranks_of_host == 1) return std::nullopt;
  const std::int64_t ranks = hosts * ranks_of_host;
  if (processes > 0 && processes == ranks) return nccl::Driving::kProcessPerGpu;
  if (!threads || !gpus_of_thread) return std::nullopt;
  // Here, a process has several GPUs, or the log does not list the ranks.
  if (*gpus_of_thread > 1) return nccl::Driving::kOneThread;
  if (*threads > 1) return nccl::Driving::kThreadPerGpu;
  return nccl::Driving::kProcessPerGpu;
}

void set_root(NcclTestsRow& row, std::string_view written) {
  while (written.starts_with(' ')) written.remove_prefix(1);
  std::int64_t root = 0;
  const auto read = std::from_chars(written.data(), written.data() + written.size(), root);
  row.has_root = read.ec == std::errc() && root >= 0;
  row.root = row.has_root ? root : 0;
}

std::string collective_of_program(std::string_view program) {
  program.remove_prefix(program.rfind('/') + 1);  // npos + 1 is 0
  // Some packages add a suffix to the name: "all_reduce_perf_mpi", "all_reduce_perf.exe".
  const std::size_t suffix = program.find("_perf");
  return std::string(program.substr(0, suffix));
}

void add_row(NcclTestsTable& table, NcclTestsRow row, Problems& problems) {
  if (row.bytes == 0 || row.elements == 0 || (!row.out_of_place && !row.in_place)) return;
  for (const auto& timing : {row.out_of_place, row.in_place}) {
    if (!timing) continue;
    if (!(timing->us > 0)) {
      problems.add({ProblemCode::kTooSmall, "time"}, row.where,
                   "{} bytes took no time; times must be positive", row.bytes);
      return;
    }
    // Check the printed bandwidth.
    const double algbw = static_cast<double>(row.bytes) / timing->us / 1e3;
    if (timing->algbw_gb_per_s >= kMinPreciseGbPerS &&
        std::abs(timing->algbw_gb_per_s / algbw - 1) > 0.05) {
      problems.add({ProblemCode::kConflict, "algbw"}, row.where,
                   "{} bytes in {} us give {} GB/s, but column algbw has {}; are columns missing?",
                   row.bytes, timing->us, printed(algbw), timing->algbw_gb_per_s);
      return;
    }
  }
  table.rows.push_back(std::move(row));
}

Expected<std::vector<NcclTestsTable>> parse_nccl_tests(std::string_view text,
                                                       const std::string& file) {
  Problems problems;
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  const bool json = first != std::string_view::npos && text[first] == '{';
  std::vector<NcclTestsTable> tables = json           ? parse_nccl_tests_json(text, file, problems)
                                       : is_osu(text) ? parse_osu(text, file, problems)
                                       : is_imb(text) ? parse_imb(text, file, problems)
                                                      : parse_nccl_tests_text(text, file, problems);
  std::erase_if(tables, [](const NcclTestsTable& table) { return table.rows.empty(); });
  if (tables.empty() && problems.empty()) {
    problems.add(
        {ProblemCode::kMissing}, {file, 0, 0},
        "this file has no table of nccl-tests, of the OSU micro-benchmarks or of the Intel MPI "
        "Benchmarks; expected rows below column titles (# size count type … time algbw busbw, or "
        "# Size Avg Latency(us)), as all_reduce_perf, tutti perf and osu_allreduce print them");
  }
  if (!problems.empty()) return problems.take();
  return tables;
}

Expected<std::vector<NcclTestsTable>> load_nccl_tests(const std::string& path) {
  Expected<std::string> text = read_text_file(path, TextSource::kAnything);
  if (text && text->starts_with("\x1f\x8b")) text = inflated_text(*text, path);
  if (!text) return tl::make_unexpected(text.error());
  if (text->starts_with("\xFF\xFE") || text->starts_with("\xFE\xFF"))
    return tl::make_unexpected(Error::request(
        {ProblemCode::kUnsupported},
        "this text is encoded in UTF-16; convert it to UTF-8 (iconv -f UTF-16 -t UTF-8)",
        {path, 0, 0}));
  return parse_nccl_tests(*text, path);
}

std::string damaged_rows_note(const std::vector<NcclTestsTable>& tables) {
  std::int64_t rows = 0;
  Location first;
  for (const NcclTestsTable& table : tables) {
    if (rows == 0) first = table.first_damaged;
    rows += table.damaged_rows;
  }
  if (rows == 0) return "";
  return fmt::format(
      "ignored {} damaged {} ({}:{}): the end of the row is missing, or a message is in the middle "
      "of the row",
      rows, rows == 1 ? "row" : "rows", first.file, first.line);
}

double busbw_factor(CollectiveKind kind, std::int64_t ranks) {
  const auto n = static_cast<double>(ranks);
  if (kind == CollectiveKind::kAllReduce) return 2 * (n - 1) / n;
  return has_blocks(kind) ? (n - 1) / n : 1;
}

bool has_busbw_factor(const NcclTestsTiming& timing, double factor) {
  if (timing.algbw_gb_per_s < kMinPreciseGbPerS) return true;
  const double rounding = 0.006 / timing.algbw_gb_per_s * (1 + factor) + 0.002;
  return std::abs(timing.busbw_gb_per_s / timing.algbw_gb_per_s - factor) <= rounding;
}

Expected<CollectiveKind> check_collective(const NcclTestsTable& table, std::int64_t ranks,
                                          std::optional<CollectiveKind> expected) {
  const auto wrong = [](ProblemKind kind, const Location& where, const std::string& text) {
    return tl::make_unexpected(Error::request(std::move(kind), text, where));
  };
  const auto named = parse_collective(table.collective);
  if (!table.collective.empty() && !named) {
    return wrong(
        {ProblemCode::kUnknownName, "collective"}, table.where,
        fmt::format(
            "this table measures {}; expected all_reduce or another collective of nccl-tests",
            table.collective));
  }
  if (table.ranks && *table.ranks != ranks) {
    return wrong(
        {ProblemCode::kConflict, "ranks"}, table.where,
        fmt::format("this table was measured on {} ranks, but the scenario's cluster has {}",
                    *table.ranks, ranks));
  }
  const std::vector<CollectiveKind> kinds =
      named ? std::vector{*named} : possible_collectives(table, ranks);
  const bool is_expected =
      expected && std::find(kinds.begin(), kinds.end(), *expected) != kinds.end();
  if (kinds.size() > 1 && !is_expected) {
    std::vector<std::string_view> names;
    for (const CollectiveKind one : kinds) names.push_back(to_string(one));
    return wrong(
        {ProblemCode::kMissing, "collective"}, table.where,
        fmt::format("this table does not name its program, and may measure {}; add the line "
                    "\"# Collective test starting: {}_perf\", or the name of the "
                    "collective to the name of the file",
                    fmt::join(names, " or "), names.front()));
  }
  const CollectiveKind kind = is_expected     ? *expected
                              : kinds.empty() ? collective_of_columns(table)
                                              : kinds.front();
  const double factor = busbw_factor(kind, ranks);
  for (const NcclTestsRow& row : table.rows) {
    if (row.redop.empty() && reduces(kind)) {
      return wrong(
          {ProblemCode::kConflict, "redop"}, row.where,
          fmt::format("this row has no reduction operation (redop), but the table measures "
                      "{}; expected rows with an operation, such as sum",
                      to_string(kind)));
    }
    if (row.root < 0 || row.root >= ranks)
      return wrong({ProblemCode::kTooLarge, "root"}, row.where,
                   fmt::format("root {} is out of range: there are {} ranks", row.root, ranks));
    for (const auto& timing : {row.out_of_place, row.in_place}) {
      if (!timing || has_busbw_factor(*timing, factor)) continue;
      return wrong(
          {ProblemCode::kConflict, "busbw"}, row.where,
          fmt::format("busbw is {} times algbw in this row, but with the {} ranks of the "
                      "scenario's cluster, the factor of {} is {}; the table is of another "
                      "collective or another number of ranks",
                      printed(timing->busbw_gb_per_s / timing->algbw_gb_per_s), ranks,
                      kind == CollectiveKind::kAllReduce ? "an all-reduce" : to_string(kind),
                      printed(factor)));
    }
  }
  if (kinds.empty())
    return wrong(
        {ProblemCode::kConflict, "collective"}, table.where,
        fmt::format("this table does not name its program, and its columns (redop, root, busbw / "
                    "algbw, and bytes per element) fit no collective of nccl-tests on {} ranks",
                    ranks));
  return kind;
}

}  // namespace tutti::core
