#include "tools/tutti/perf/perf_nccl.h"

#include <map>

#include <fmt/format.h>

#include "core/measured/nccl_tests.h"
#include "core/nccl/calibration/calibration_file.h"
#include "core/nccl/collective_time.h"
#include "core/nccl/time/error_bands.h"
#include "core/nccl/time/prediction.h"
#include "core/strategy/nccl_links.h"
#include "tools/tutti/io/terminal.h"
#include "tools/tutti/perf/nccl_subject.h"
#include "tools/tutti/perf/perf_nccl_quicker.h"
#include "tools/tutti/perf/perf_nccl_table.h"
#include "tools/tutti/perf/perf_table.h"

namespace tutti::tools {
namespace {

using core::Error;
using core::Expected;
using core::ProblemCode;
namespace nccl = core::nccl;

/// Returns the lower bound of the time that the machines' links need; nullopt if the machine file
/// does not determine NCCL's routes.
std::optional<core::NcclLinkBound> link_bound(const NcclPerfRequest& request,
                                              const NcclPerfSubject& subject) {
  if (!subject.kind || subject.comm.nodes != subject.machines) return std::nullopt;
  return core::NcclLinkBound(subject.kind, std::nullopt,
                             std::make_shared<const nccl::Communicator>(subject.comm),
                             request.collective, request.root);
}

/// Returns the measured times by size in bytes. Out-of-place times are preferred. Rows with wrong
/// results are left out. `notes` receives what was assumed or left out.
Expected<std::map<std::int64_t, double>> measured(const NcclPerfRequest& request,
                                                  const std::vector<core::NcclTestsTable>& tables,
                                                  std::int64_t ranks,
                                                  std::vector<std::string>& notes) {
  std::map<std::int64_t, double> times;
  std::int64_t wrong = 0;
  Error refused =
      Error::request({ProblemCode::kMissing, "--against"},
                     "the log has no row with correct results", {request.options.against, 0, 0});
  for (const core::NcclTestsTable& logged : tables) {
    if (logged.is_mpi)
      return tl::make_unexpected(
          Error::request({ProblemCode::kConflict, "--against"},
                         "this log measures MPI, but the prediction is of NCCL; compare the log "
                         "with the output of tutti perf SCENARIO",
                         logged.where));
    const core::NcclTestsTable table = core::with_ranks(logged, ranks);
    const auto kind = core::check_collective(table, ranks, request.collective);
    if (!kind) {
      refused = kind.error();
      continue;
    }
    if (*kind != request.collective) {
      refused = Error::request(fmt::format("the log measures {}, but the prediction is of {}",
                                           to_string(*kind), to_string(request.collective)),
                               table.where);
      continue;
    }
    for (const core::NcclTestsRow& row : table.rows) {
      const auto& timing = row.out_of_place ? row.out_of_place : row.in_place;
      if (timing && timing->wrong > 0)
        ++wrong;
      else if (timing)
        times.emplace(row.bytes, timing->us);
    }
    if (logged.is_osu && !logged.ranks)
      notes.push_back(
          fmt::format("{}:{} does not list its ranks; assumed: {} ranks (option --nodes)",
                      table.where.file, table.where.line, ranks));
  }
  if (times.empty()) return tl::make_unexpected(refused);
  if (wrong > 0) notes.push_back(fmt::format("ignored {} rows with wrong results", wrong));
  if (std::string note = core::damaged_rows_note(tables); !note.empty())
    notes.push_back(std::move(note));
  return times;
}

/// Sets NCCL's release and the driving mode of the request to those that the log states, if the
/// user gives none: times of another release or mode are not comparable. `notes` receives what was
/// set.
void adopt(const std::vector<core::NcclTestsTable>& tables, NcclPerfRequest& request,
           std::vector<std::string>& notes) {
  if (tables.empty()) return;
  const core::NcclTestsRun& run = tables.front().run;
  std::vector<std::string> adopted;
  if (!request.options.version && !run.nccl_version.empty()) {
    request.options.version = run.nccl_version;
    adopted.push_back("NCCL " + run.nccl_version + " (--nccl-version)");
  }
  if (const auto driving = run.driving(); driving && !request.options.driving) {
    request.options.driving = std::string(to_string(*driving));
    adopted.push_back(*request.options.driving + " (--driving)");
  }
  if (!adopted.empty())
    notes.push_back(fmt::format("taken from the log: {}", fmt::join(adopted, ", ")));
}

/// Returns the sizes of the log in elements.
std::vector<std::int64_t> sizes_of(const std::map<std::int64_t, double>& log, core::DataType type) {
  std::vector<std::int64_t> sizes;
  for (const auto& [bytes, us] : log) sizes.push_back(bytes / core::size_of(type).count());
  return sizes;
}

}  // namespace

const char* NcclPerfOptions::first_given() const {
  if (nodes != 1) return "--nodes";
  if (gpus) return "--gpus";
  if (network) return "--network";
  if (cards_per_gpu) return "--cards-per-gpu";
  if (card_gbit_per_s) return "--card-gbit-per-s";
  if (ofi_plugin) return "--ofi-plugin";
  if (version) return "--nccl-version";
  if (driving) return "--driving";
  if (tuner) return "--tuner";
  if (instance) return "--instance";
  if (threads) return "-t";
  if (buffers) return "--buffers";
  if (local_register) return "-R";
  if (explain) return "--explain";
  return against.empty() ? nullptr : "--against";
}

int perf_nccl(NcclPerfRequest request, const Environment& environment) {
  std::vector<core::NcclTestsTable> tables;
  std::vector<std::string> notes;
  if (!request.options.against.empty()) {
    auto loaded = core::load_nccl_tests(request.options.against);
    if (!loaded) return report(loaded.error());
    tables = std::move(*loaded);
    adopt(tables, request, notes);
  }
  auto subject = nccl_subject(request.options, request.set, environment);
  if (!subject) return report(subject.error());
  if (const int ranks = subject->comm.ranks;
      core::has_root(request.collective) && (request.root < 0 || request.root >= ranks))
    return refuse(out_of_range("-r", request.root, ranks - 1),
                  "-r {}: expected a rank from 0 to {}", request.root, ranks - 1);
  const auto parameters = nccl::Parameters::load(environment.library.folder());
  if (!parameters) return report(parameters.error());
  const auto bands = nccl::ErrorBands::load(environment.library.folder());
  if (!bands) return report(bands.error());
  std::map<std::int64_t, double> log;
  if (!request.options.against.empty()) {
    auto& noted = subject->settings.notes;
    noted.insert(noted.end(), notes.begin(), notes.end());
    auto times = measured(request, tables, subject->comm.ranks, noted);
    if (!times) return report(times.error());
    log = std::move(*times);
    if (request.default_sizes) request.sizes = sizes_of(log, request.type);
  }
  const auto set = nccl_variables(request.set);
  if (!set) return report(set.error());
  const auto calibration =
      load_nccl_calibration(request.options.calibration, *subject, *set, *parameters, environment);
  if (!calibration) return report(calibration.error());
  const nccl::Predictor predictor(subject->system, subject->comm, subject->settings, *parameters,
                                  *bands, *calibration);
  const std::optional<core::NcclLinkBound> bound = link_bound(request, *subject);
  FasterSettings quicker(request, *subject, *set, *parameters, *bands, *calibration, bound);
  std::vector<NcclPerfRow> rows;
  for (const std::int64_t requested : request.sizes) {
    const std::int64_t elements =
        rounded_elements(request.collective, subject->comm.ranks, requested, request.type);
    NcclPerfRow row;
    row.bytes = elements * core::size_of(request.type).count();
    if (row.bytes == 0 || (!rows.empty() && rows.back().bytes == row.bytes)) continue;
    row.count = core::has_blocks(request.collective) ? elements / subject->comm.ranks : elements;
    auto predicted = predictor.of(request.collective, row.bytes, request.type, request.reduction);
    if (!predicted) return report(predicted.error());
    if (bound) bound->apply(*predicted);
    row.choice = predicted->choice;
    row.time = predicted->time;
    row.band = predicted->band;
    auto considered =
        predictor.considered(request.collective, row.bytes, request.type, request.reduction);
    if (row.choice) row.quicker = quicker.than(row, considered);
    if (request.options.explain) row.candidates = std::move(considered);
    if (const auto found = log.find(row.bytes); found != log.end()) row.measured_us = found->second;
    rows.push_back(std::move(row));
  }
  if (rows.empty())
    return refuse({ProblemCode::kTooSmall, "-e"},
                  "-e: {} between {} ranks needs at least {} bytes, 16 per rank",
                  to_string(request.collective), subject->comm.ranks, 16 * subject->comm.ranks);
  const std::string table = nccl_perf_table(request, *subject, rows);
  return request.format == Format::kJson ? print_out(table) : print_report(table);
}

}  // namespace tutti::tools
