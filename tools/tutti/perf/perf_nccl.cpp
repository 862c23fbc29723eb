#include "tools/tutti/perf/perf_nccl.h"

#include <filesystem>
#include <map>
#include <numeric>

#include <fmt/format.h>

#include "core/base/file.h"
#include "core/cluster/machine_file.h"
#include "core/measured/nccl_tests.h"
#include "core/nccl/collective_time.h"
#include "core/nccl/collnet.h"
#include "core/nccl/machine_communicator.h"
#include "core/nccl/search/searched_communicator.h"
#include "core/nccl/system_of_machine.h"
#include "core/nccl/system_of_topology.h"
#include "core/nccl/time/error_bands.h"
#include "core/nccl/time/prediction.h"
#include "core/nccl/topology/topology_file.h"
#include "core/strategy/nccl_links.h"
#include "tools/tutti/perf/perf_nccl_quicker.h"
#include "tools/tutti/perf/perf_nccl_table.h"
#include "tools/tutti/perf/perf_table.h"

namespace tutti::tools {
namespace {

using core::Error;
using core::Expected;
using core::ProblemCode;
namespace nccl = core::nccl;

Expected<std::vector<std::pair<std::string, std::string>>> variables(const std::vector<std::string>& set) {
  std::vector<std::pair<std::string, std::string>> all;
  for (const std::string& one : set) {
    const auto equals = one.find('=');
    if (equals == std::string::npos || !one.starts_with("NCCL_"))
      return refused({ProblemCode::kSyntax, "--set"},
                     "--set {}: with --cluster, expected one of NCCL's variables, such as NCCL_ALGO=Ring", one);
    all.emplace_back(one.substr(0, equals), one.substr(equals + 1));
  }
  return all;
}

Expected<std::shared_ptr<const core::Machine>> machine_of(const std::string& name, const core::Library& library) {
  const auto file = library.read(core::Library::Kind::kMachine, name, "");
  if (!file) return failed(file);
  if (!*file) {
    const std::vector<std::string> names = library.names(core::Library::Kind::kMachine);
    return refused({ProblemCode::kUnknownName, "--cluster"}, "--cluster {}: there is no such machine{}", name,
                   core::did_you_mean(name, names));
  }
  return core::read_machine((*file)->text, (*file)->path);
}

/// Machines that NCCL wrote down: their graphs are searched.
Expected<NcclPerfSubject> subject_of_topology(const NcclPerfOptions& options, nccl::Version version,
                                              nccl::Settings settings) {
  auto topology = nccl::load_topology(options.cluster);
  if (!topology) return failed(topology);
  const int gpus = topology->count(nccl::NodeKind::kGpu);
  if (options.gpus.value_or(1) < 1 || options.gpus.value_or(1) > gpus)
    return refused(out_of_range("--gpus", *options.gpus, gpus), "--gpus {}: expected 1 to {}, as many as the file has",
                   *options.gpus, gpus);
  if (options.gpus) {
    std::vector<int> ranks(static_cast<std::size_t>(*options.gpus));
    std::iota(ranks.begin(), ranks.end(), 0);
    topology = nccl::with_ranks(*topology, ranks);
  }
  std::optional<std::string> network = options.network;
  if (settings.ib_disabled.value_or(false)) {
    for (nccl::TopologyNode& node : topology->nodes) node.net.gdr = false;
    if (!network) network = "tcp";
  }
  const auto search = nccl::search_settings(settings, version);
  if (!search) return tl::make_unexpected(about("--set", search.error()));
  const auto found = search_graphs(*topology, options.nodes, *search);
  if (!found) return failed(found);
  const auto system = system_of(*topology, *found, options.nodes, *search, network);
  if (!system) return failed(system);
  if (system->ranks() < 2)
    return refused({ProblemCode::kTooSmall, "--gpus"}, "one GPU alone moves nothing: --nodes or --gpus above 1");
  const auto comm = communicator_of(*topology, *found, options.nodes, settings, version);
  if (!comm) return failed(comm);
  return NcclPerfSubject{std::filesystem::path(options.cluster).stem().string(),
                         options.nodes,
                         *system,
                         std::move(settings),
                         *comm,
                         nullptr};
}

Expected<NcclPerfSubject> subject_of(const NcclPerfRequest& request, const Environment& environment) {
  const NcclPerfOptions& options = request.options;
  if (options.nodes < 1 || options.nodes > 100'000)
    return refused(out_of_range("--nodes", options.nodes, 100'000), "--nodes: expected a number from 1 to 100000");
  const auto version = nccl::parse_version(options.version.value_or(to_string(nccl::kDefaultVersion)));
  if (!version) return tl::make_unexpected(about("--nccl-version", version.error()));
  const auto driving = nccl::parse_driving(options.driving.value_or("process_per_gpu"));
  if (!driving)
    return refused({ProblemCode::kUnknownName, "--driving"},
                   "--driving {}: expected process_per_gpu, thread_per_gpu or one_thread", *options.driving);
  const auto set = variables(request.set);
  if (!set) return failed(set);
  auto settings = nccl::read_settings(*set, *version);
  if (!settings) return tl::make_unexpected(about("--set", settings.error()));
  if (options.cluster.ends_with(".xml")) {
    auto subject = subject_of_topology(options, *version, std::move(*settings));
    if (subject) subject->system.driving = *driving;
    return subject;
  }
  const auto machine = machine_of(options.cluster, environment.library);
  if (!machine) return failed(machine);
  auto system = nccl::system_of(**machine, options.nodes, options.gpus, options.network);
  if (!system) return tl::make_unexpected(about("--cluster", system.error()));
  if (system->ranks() < 2)
    return refused({ProblemCode::kTooSmall, "--gpus"}, "one GPU alone moves nothing: --nodes or --gpus above 1");
  system->collnet = nccl::why_no_sharp(*system).empty();
  system->driving = *driving;
  auto known = nccl::on_machines(**machine, *system, options.network, "--network", *settings, *version);
  if (!known) return tl::make_unexpected(about("--cluster", known.error()));
  if (!known->note.empty()) settings->notes.push_back(known->note);
  return NcclPerfSubject{
      (*machine)->name(), options.nodes, known->system, std::move(*settings), std::move(known->communicator), *machine};
}

/// Returns the lower bound set by the machines' links; nullopt if their file does not describe
/// NCCL's paths.
std::optional<core::NcclLinkBound> link_bound(const NcclPerfRequest& request, const NcclPerfSubject& subject) {
  if (!subject.kind || subject.comm.nodes != subject.machines) return std::nullopt;
  return core::NcclLinkBound(subject.kind, std::nullopt, std::make_shared<const nccl::Communicator>(subject.comm),
                             request.collective, request.root);
}

/// Measured times by bytes, out of place where the log has that.
Expected<std::map<std::int64_t, double>> measured(const NcclPerfRequest& request, std::int64_t ranks) {
  const auto tables = core::load_nccl_tests(request.options.against);
  if (!tables) return failed(tables);
  std::map<std::int64_t, double> times;
  Error refused = Error::request("");
  for (const core::NcclTestsTable& table : *tables) {
    const auto kind = core::check_collective(table, ranks);
    if (!kind) {
      refused = kind.error();
      continue;
    }
    if (*kind != request.collective) {
      refused = Error::request(fmt::format("it is of {}, not of {}", to_string(*kind), to_string(request.collective)),
                               table.where);
      continue;
    }
    for (const core::NcclTestsRow& row : table.rows) {
      const auto& timing = row.out_of_place ? row.out_of_place : row.in_place;
      if (timing) times.emplace(row.bytes, timing->us);
    }
  }
  if (times.empty()) return tl::make_unexpected(refused);
  return times;
}

}  // namespace

const char* NcclPerfOptions::first_given() const {
  if (nodes != 1) return "--nodes";
  if (gpus) return "--gpus";
  if (network) return "--network";
  if (version) return "--nccl-version";
  if (driving) return "--driving";
  if (explain) return "--explain";
  return against.empty() ? nullptr : "--against";
}

int perf_nccl(const NcclPerfRequest& request, const Environment& environment) {
  const auto subject = subject_of(request, environment);
  if (!subject) return report(subject.error());
  if (const int ranks = subject->comm.ranks;
      core::has_root(request.collective) && (request.root < 0 || request.root >= ranks))
    return refuse(out_of_range("-r", request.root, ranks - 1), "-r {}: there are ranks 0 to {}", request.root,
                  ranks - 1);
  const auto parameters = nccl::Parameters::load(environment.library.folder());
  if (!parameters) return report(parameters.error());
  const auto bands = nccl::ErrorBands::load(environment.library.folder());
  if (!bands) return report(bands.error());
  std::map<std::int64_t, double> log;
  if (!request.options.against.empty()) {
    auto times = measured(request, subject->comm.ranks);
    if (!times) return report(times.error());
    log = std::move(*times);
  }
  const nccl::Predictor predictor(subject->system, subject->comm, subject->settings, *parameters, *bands);
  const auto set = variables(request.set);
  if (!set) return report(set.error());
  const std::optional<core::NcclLinkBound> bound = link_bound(request, *subject);
  QuickerSettings quicker(request, *subject, *set, *parameters, *bands, bound);
  std::vector<NcclPerfRow> rows;
  for (const std::int64_t asked : request.sizes) {
    const std::int64_t elements = rounded_elements(request.collective, subject->comm.ranks, asked, request.type);
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
    auto considered = predictor.considered(request.collective, row.bytes, request.type, request.reduction);
    if (row.choice) row.quicker = quicker.than(row, considered);
    if (request.options.explain) row.candidates = std::move(considered);
    if (const auto found = log.find(row.bytes); found != log.end()) row.measured_us = found->second;
    rows.push_back(std::move(row));
  }
  if (rows.empty())
    return refuse({ProblemCode::kTooSmall, "-e"}, "-e: {} between {} ranks needs at least {} bytes, 16 for each",
                  to_string(request.collective), subject->comm.ranks, 16 * subject->comm.ranks);
  return print_out(nccl_perf_table(request, *subject, rows));
}

}  // namespace tutti::tools
