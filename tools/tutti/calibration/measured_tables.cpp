// Converts logs of nccl-tests to the tables of a calibration. The header of a log contains most
// facts on which a prediction depends. The most important fact is the driving mode: below 1 MiB,
// one thread for all GPUs takes twice as long as one process per GPU.

#include "tools/tutti/calibration/measured_tables.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "core/measured/nccl_tests.h"
#include "core/nccl/calibration/calibration_file.h"
#include "core/nccl/calibration/calibration_names.h"
#include "core/nccl/collective_time.h"
#include "core/nccl/known_gpus.h"
#include "tools/tutti/perf/nccl_subject.h"

namespace tutti::tools {
namespace {

using core::Expected;
using core::NcclTestsRow;
using core::NcclTestsTable;
using core::ProblemCode;
namespace nccl = core::nccl;

class LogReader {
 public:
  LogReader(const CalibrateOptions& options, const nccl::Parameters& figures,
            const nccl::ErrorBands& bands, const Environment& environment)
      : options_(options), figures_(figures), bands_(bands), environment_(environment) {}

  Expected<MeasuredTables> read() {
    for (const std::string& path : options_.logs) {
      const auto tables = core::load_nccl_tests(path);
      if (!tables) return failed(tables);
      if (auto added = add(*tables); !added) return failed(added);
    }
    return finish();
  }

  Expected<MeasuredTables> read(const std::string& log, const std::string& name) {
    const auto tables = core::parse_nccl_tests(log, name);
    if (!tables) return failed(tables);
    if (auto added = add(*tables); !added) return failed(added);
    return finish();
  }

 private:
  Expected<MeasuredTables> finish() {
    if (made_.tables.empty())
      return refused({ProblemCode::kMissing, "--log"}, "the logs have no usable row: {}",
                     left_out());
    if (const std::string text = left_out(); !text.empty()) note(text);
    return std::move(made_);
  }

  static std::string place(const core::Location& where) {
    return fmt::format("{}:{}", where.file, where.line);
  }

  void note(const std::string& text) {
    if (std::find(made_.notes.begin(), made_.notes.end(), text) == made_.notes.end())
      made_.notes.push_back(text);
  }

  [[nodiscard]] std::string left_out() const {
    std::string text;
    if (wrong_ > 0) text += fmt::format("ignored {} rows with wrong results", wrong_);
    if (types_.empty()) return text;
    text += text.empty() ? "ignored rows of data types that are not modelled:"
                         : ", and rows of data types that are not modelled:";
    for (const std::string& type : types_) text += " " + type;
    return text;
  }

  Expected<void> add(const std::vector<NcclTestsTable>& tables) {
    if (const std::string text = core::damaged_rows_note(tables); !text.empty()) note(text);
    for (const NcclTestsTable& table : tables) {
      if (auto added = add(table); !added) return failed(added);
    }
    return {};
  }

  Expected<void> add(const NcclTestsTable& logged) {
    if (logged.is_mpi)
      return tl::make_unexpected(core::Error::request(
          {ProblemCode::kConflict, "--log"},
          "this log measures MPI, but --cluster calibrates NCCL; to calibrate links and hosts with "
          "this log, use tutti calibrate SCENARIO --log, with a scenario of the measured cluster",
          logged.where));
    auto requested = requested_of(logged);
    if (!requested) return failed(requested);
    const auto variables = variables_of(logged);
    if (!variables) return failed(variables);
    const auto subject = nccl_subject(*requested, *variables, environment_);
    if (!subject) return failed(subject);
    if (const auto fits = check_gpu(logged, subject->system); !fits) return fits;
    const int ranks = subject->comm.ranks;
    const NcclTestsTable table = core::with_ranks(logged, ranks);
    const auto kind = core::check_collective(table, ranks);
    if (!kind) return failed(kind);
    if (table.collective.empty())
      note(fmt::format("{} does not name its program; according to its columns, it measures {}",
                       place(table.where), to_string(*kind)));
    nccl::CalibratedTable measured{
        place(table.where),
        *kind,
        subject->comm.nodes,
        ranks / subject->comm.nodes,
        subject->comm.version,
        subject->system.driving,
        subject->system.nodes > 1 ? subject->system.transport : core::Transport::kNone,
        *variables,
        {}};
    const nccl::Predictor predictor(subject->system, subject->comm, subject->settings, figures_,
                                    bands_);
    for (const NcclTestsRow& row : table.rows) {
      if (auto added = add(row, predictor, measured); !added) return added;
    }
    if (measured.rows.empty()) return {};
    made_.system = nccl::calibrated_system(options_.nccl.cluster, subject->system);
    made_.tables.push_back(std::move(measured));
    return {};
  }

  Expected<void> add(NcclTestsRow row, const nccl::Predictor& predictor,
                     nccl::CalibratedTable& table) {
    const auto& timing = row.out_of_place ? row.out_of_place : row.in_place;
    if (!timing) return {};
    if (timing->wrong > 0) {
      ++wrong_;
      return {};
    }
    if (row.bytes == 0) return {};  // there is no prediction for an empty collective
    if (!(timing->us >= nccl::kMinMeasuredUs && timing->us <= nccl::kMaxMeasuredUs)) {
      return tl::make_unexpected(core::Error::request(
          {timing->us > nccl::kMaxMeasuredUs ? ProblemCode::kTooLarge : ProblemCode::kTooSmall,
           "time"},
          fmt::format("a time must be from {:g} to {:g} µs (got {:g}); remove the row if this "
                      "measurement failed",
                      nccl::kMinMeasuredUs, nccl::kMaxMeasuredUs, timing->us),
          row.where));
    }
    if (row.bytes < 0 || row.bytes > nccl::kMaxMeasuredBytes) {
      return tl::make_unexpected(
          core::Error::request({ProblemCode::kTooLarge, "size"},
                               fmt::format("a size must be from 0 to {} bytes (got {})",
                                           nccl::kMaxMeasuredBytes, row.bytes),
                               row.where));
    }
    const auto type = core::modelled_type(row, table.kind);
    if (!type) {
      types_.insert(row.type);
      return {};
    }
    const auto time = predictor.of(table.kind, row.bytes, *type, core::Reduction::kSum);
    if (!time) return failed(time);
    const nccl::Communicator& comm = predictor.communicator();
    table.rows.push_back(
        {nccl::timed_point(table.kind, row.bytes, comm.ranks, comm.nodes, time->choice, time->time),
         timing->us, 0});
    return {};
  }

  /// Returns the options, with missing facts taken from the header of the log.
  Expected<NcclPerfOptions> requested_of(const NcclTestsTable& table) {
    NcclPerfOptions requested = options_.nccl;
    const core::NcclTestsRun& run = table.run;
    if (run.hosts > 0) {
      if (run.ranks_of_host == 0 || run.hosts > 100'000 || run.ranks_of_host > 1'000)
        return tl::make_unexpected(
            core::Error::request({ProblemCode::kUnsupported, "ranks"},
                                 "the hosts of this log have different numbers of ranks; measure "
                                 "with the same number of ranks on each host",
                                 table.where));
      if (run.hosts == 1 && run.ranks_of_host == 1)
        return tl::make_unexpected(core::Error::request(
            {ProblemCode::kUnsupported, "ranks"},
            "the log lists a single GPU, which does not communicate; run the benchmark on all GPUs "
            "(-g N, or nccl-tests that was built with MPI=1, started by mpirun or srun)",
            table.where));
      requested.nodes = static_cast<std::int32_t>(run.hosts);
      requested.gpus = static_cast<std::int32_t>(run.ranks_of_host);
    } else {
      note(fmt::format("{} does not list its ranks; assumed: {} node{} (option --nodes)",
                       place(table.where), requested.nodes, requested.nodes == 1 ? "" : "s"));
    }
    if (!requested.version && !run.nccl_version.empty()) requested.version = run.nccl_version;
    if (!requested.version) {
      const nccl::KnownGpu* const gpu = nccl::find_gpu(run.device);
      requested.version = to_string(gpu == nullptr ? nccl::kDefaultVersion : gpu->usual_version);
      note(fmt::format("{} does not state its NCCL release; assumed: {} (option --nccl-version)",
                       place(table.where), *requested.version));
    }
    if (!requested.driving) {
      if (const auto driving = run.driving())
        requested.driving = std::string(to_string(*driving));
      else if (run.ranks_of_host != 1)
        note(
            fmt::format("{} does not state which processes call NCCL; assumed: one process per GPU "
                        "(option --driving)",
                        place(table.where)));
    }
    return requested;
  }

  /// Returns NCCL's variables that apply to the log: those of --set, and those in the log's
  /// recorded environment that Tutti's model of NCCL knows.
  Expected<std::vector<std::string>> variables_of(const NcclTestsTable& table) {
    std::vector<std::string> all = options_.set;
    const auto given = nccl_variables(options_.set);
    if (!given) return failed(given);
    for (const auto& variable : table.run.environment) {
      const bool known = std::any_of(given->begin(), given->end(),
                                     [&](const auto& one) { return one.first == variable.first; });
      std::vector<std::string> unknown;
      const auto read = nccl::read_settings({variable}, nccl::kDefaultVersion, &unknown);
      if (known || !read || !unknown.empty()) continue;
      all.push_back(variable.first + "=" + variable.second);
    }
    return all;
  }

  [[nodiscard]] Expected<void> check_gpu(const NcclTestsTable& table, const nccl::System& system) {
    const nccl::KnownGpu* const gpu = nccl::find_gpu(table.run.device);
    if (gpu == nullptr && !table.run.device.empty())
      note(
          fmt::format("{} was measured on GPUs that Tutti does not know ({}); they are calibrated "
                      "as the GPUs of {}",
                      place(table.where), table.run.device, options_.nccl.cluster));
    if (gpu == nullptr || gpu->generation == system.generation) return {};
    return tl::make_unexpected(
        core::Error::request({ProblemCode::kConflict, "--cluster"},
                             fmt::format("this log was measured on {} ({}), but --cluster {} has "
                                         "{} GPUs; name the machine on which the log was measured",
                                         table.run.device, name_of(gpu->generation),
                                         options_.nccl.cluster, name_of(system.generation)),
                             table.where));
  }

  const CalibrateOptions& options_;
  const nccl::Parameters& figures_;
  const nccl::ErrorBands& bands_;
  const Environment& environment_;
  MeasuredTables made_;
  std::int64_t wrong_ = 0;
  std::set<std::string> types_;
};

}  // namespace

Expected<MeasuredTables> measured_tables(const CalibrateOptions& options,
                                         const nccl::Parameters& figures,
                                         const nccl::ErrorBands& bands,
                                         const Environment& environment) {
  return LogReader(options, figures, bands, environment).read();
}

Expected<MeasuredTables> measured_tables_of(const std::string& log, const std::string& name,
                                            const CalibrateOptions& options,
                                            const nccl::Parameters& figures,
                                            const nccl::ErrorBands& bands,
                                            const Environment& environment) {
  return LogReader(options, figures, bands, environment).read(log, name);
}

}  // namespace tutti::tools
