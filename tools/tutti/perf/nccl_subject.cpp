// Finds the machines in the option --cluster, for all commands that predict NCCL's times. The
// machines are described by a machine file or by a topology file of NCCL (.xml). For a machine
// file, the communicator usually follows from formulas; for a topology file, NCCL's graphs are
// searched. A machine file and a topology file give the same three results: the system (facts about
// the hardware), the settings (variables, buffers, tuner) and the communicator (channels and
// graphs). The three results determine NCCL's choices and times. NCCL may treat a machine as
// several nodes, so the number of nodes can be greater than the number of machines. All options
// that belong to --cluster are checked here, so that every command reports the same messages.

#include "tools/tutti/perf/nccl_subject.h"

#include <filesystem>
#include <numeric>

#include <fmt/format.h>

#include "core/cluster/cards_per_gpu.h"
#include "core/cluster/machine_file.h"
#include "core/nccl/calibration/calibration_file.h"
#include "core/nccl/collnet.h"
#include "core/nccl/machine_communicator.h"
#include "core/nccl/ofi_plugin.h"
#include "core/nccl/search/searched_communicator.h"
#include "core/nccl/system_of_machine.h"
#include "core/nccl/system_of_topology.h"
#include "core/nccl/topology/topology_file.h"
#include "core/nccl/tuner/aws_tuner.h"
#include "core/nccl/tuner/table_tuner.h"
#include "core/nccl/tuning/symmetric.h"

namespace tutti::tools {

using core::Error;
using core::Expected;
using core::ProblemCode;
namespace nccl = core::nccl;

Expected<NcclVariables> nccl_variables(const std::vector<std::string>& set) {
  NcclVariables all;
  for (const std::string& one : set) {
    const auto equals = one.find('=');
    if (equals == std::string::npos || !one.starts_with("NCCL_"))
      return refused({ProblemCode::kSyntax, "--set"},
                     "--set {}: with --cluster, expected an NCCL variable, such as NCCL_ALGO=Ring",
                     one);
    all.emplace_back(one.substr(0, equals), one.substr(equals + 1));
  }
  return all;
}

namespace {

Expected<std::shared_ptr<const core::Machine>> machine_of(const std::string& name,
                                                          const core::Library& library) {
  const auto file = library.read(core::Library::Kind::kMachine, name, "");
  if (!file) return failed(file);
  if (!*file) {
    const std::vector<std::string> names = library.names(core::Library::Kind::kMachine);
    return refused({ProblemCode::kUnknownName, "--cluster"},
                   "--cluster {}: there is no such machine{}", name,
                   core::did_you_mean(name, names));
  }
  return core::read_machine((*file)->text, (*file)->path);
}

/// Applies --cards-per-gpu and --card-gbit-per-s to a machine.
Expected<std::shared_ptr<const core::Machine>> with_cards_of(
    const NcclPerfOptions& options, std::shared_ptr<const core::Machine> machine) {
  if (!options.cards_per_gpu) {
    if (options.card_gbit_per_s)
      return refused({ProblemCode::kUnused, "--card-gbit-per-s"},
                     "--card-gbit-per-s needs --cards-per-gpu");
    return machine;
  }
  const auto cards = core::parse_cards_per_gpu(*options.cards_per_gpu);
  if (!cards)
    return refused({ProblemCode::kUnknownName, "--cards-per-gpu"},
                   "--cards-per-gpu {}: expected one of {}", *options.cards_per_gpu,
                   core::cards_per_gpu_names());
  const double gbit = options.card_gbit_per_s.value_or(1);
  if (!(gbit >= 0.01 && gbit <= 1e5))
    return refused({ProblemCode::kInvalid, "--card-gbit-per-s"},
                   "--card-gbit-per-s {}: expected a rate from 0.01 to 100000 Gb/s", gbit);
  auto changed = core::with_cards(*machine, *cards,
                                  options.card_gbit_per_s
                                      ? std::optional(core::bandwidth_from_gb_per_s(gbit / 8))
                                      : std::nullopt);
  if (!changed) return tl::make_unexpected(about("--cards-per-gpu", changed.error()));
  return *changed;
}

/// Returns the release of aws-ofi-nccl that --ofi-plugin states, if any.
Expected<std::optional<nccl::Version>> ofi_plugin_of(const NcclPerfOptions& options) {
  if (!options.ofi_plugin) return std::optional<nccl::Version>();
  const auto release = nccl::parse_ofi_plugin(*options.ofi_plugin);
  if (!release) return tl::make_unexpected(about("--ofi-plugin", release.error()));
  return std::optional(*release);
}

/// Makes the subject from a topology file of NCCL, on which NCCL's graphs are searched.
Expected<NcclPerfSubject> subject_of_topology(const NcclPerfOptions& options, nccl::Version version,
                                              std::optional<nccl::Version> plugin,
                                              nccl::Settings settings) {
  if (options.cards_per_gpu)
    return refused(
        {ProblemCode::kConflict, "--cards-per-gpu"},
        "--cards-per-gpu applies to machine files; NCCL's topology file states the cards "
        "that NCCL sees");
  auto topology = nccl::load_topology(options.cluster);
  if (!topology) return failed(topology);
  const int gpus = topology->count(nccl::NodeKind::kGpu);
  if (options.gpus.value_or(1) < 1 || options.gpus.value_or(1) > gpus)
    return refused(out_of_range("--gpus", *options.gpus, gpus),
                   "--gpus {}: expected 1 to {}, the number of GPUs in the machine file",
                   *options.gpus, gpus);
  if (options.gpus) {
    std::vector<int> ranks(*options.gpus);
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
  auto system = system_of(*topology, *found, options.nodes, *search, network);
  if (!system) return failed(system);
  system->ofi_plugin = plugin;
  // The topology file has the cards as NCCL sees them, and the latency that their plugin reports.
  nccl::see_network(*system, version, settings);
  if (system->ranks() < 2)
    return refused({ProblemCode::kTooSmall, "--gpus"},
                   "a single GPU does not communicate: set --nodes or --gpus above 1");
  const auto comm = communicator_of(*topology, *found, options.nodes, settings, version);
  if (!comm) return failed(comm);
  return NcclPerfSubject{std::filesystem::path(options.cluster).stem().string(),
                         options.nodes,
                         *system,
                         std::move(settings),
                         *comm,
                         nullptr};
}

/// Returns the tuner plugin that --tuner specifies; null if there is none. `machine` is null if
/// only a topology is known.
Expected<std::shared_ptr<const nccl::Tuner>> tuner_of(const NcclPerfOptions& options,
                                                      const core::Machine* machine) {
  using Made = std::shared_ptr<const nccl::Tuner>;
  const std::string name = options.tuner.value_or("none");
  if (options.instance && name != "aws_ofi")
    return refused({ProblemCode::kUnused, "--instance"}, "--instance needs --tuner aws_ofi");
  if (name == "none") return Made();
  if (name != "aws_ofi") {
    std::error_code status;
    if (!std::filesystem::exists(name, status))
      return refused(
          {ProblemCode::kUnknownName, "--tuner"},
          "--tuner {}: this file does not exist; expected none, aws_ofi or a file with a table",
          name);
    const auto table = nccl::load_table_tuner(name);
    if (!table) return tl::make_unexpected(about("--tuner", table.error()));
    return Made(*table);
  }
  const auto instance = options.instance ? options.instance
                        : machine        ? nccl::ec2_of(nccl::gpu_model_of(*machine))
                                         : std::nullopt;
  if (!instance)
    return refused({ProblemCode::kMissing, "--instance"},
                   "--tuner aws_ofi: the instance type cannot be derived from the GPUs; set "
                   "--instance to one of {}",
                   nccl::ec2_names());
  if (!nccl::parse_ec2(*instance))
    return refused(
        {ProblemCode::kUnknownName, "--instance"},
        "--instance {}: aws-ofi-nccl has no table for this instance type; expected one of {}",
        *instance, nccl::ec2_names());
  return Made(std::make_shared<nccl::AwsTuner>(*instance));
}

Expected<nccl::Buffers> buffers_of(const NcclPerfOptions& options, nccl::Version version) {
  const std::string name = options.buffers.value_or("plain");
  if (name == "plain") return nccl::Buffers::kPlain;
  if (name == "registered") return nccl::Buffers::kRegistered;
  if (name != "symmetric")
    return refused({ProblemCode::kUnknownName, "--buffers"},
                   "--buffers {}: expected plain, registered or symmetric", name);
  if (version < nccl::kSymmetricKernels)
    return refused({ProblemCode::kConflict, "--buffers"},
                   "--buffers symmetric needs NCCL 2.27 or later, not {}", to_string(version));
  return nccl::Buffers::kSymmetric;
}

/// Removes a tuner that does not apply to this machine. Adds notes about the tuner that is used (or
/// about the reason why it is not used), and about symmetric buffers.
void apply_tuner(const nccl::Communicator& comm, const nccl::System& system, bool aws,
                 nccl::Settings& settings) {
  if (settings.buffers == nccl::Buffers::kSymmetric)
    settings.notes.push_back(nccl::note_on_symmetric(comm));
  if (!settings.tuner) return;
  std::string why = settings.tuner->why_not(comm);
  if (why.empty() && aws && !core::is_efa_with_rdma(system.transport))
    why = fmt::format("this tuner belongs to the plugin for EFA networks, but the network is {}",
                      to_string(system.transport));
  settings.notes.push_back(
      why.empty() ? fmt::format("NCCL's choices are made by {}", settings.tuner->name())
                  : fmt::format("{} makes no choices for this communicator: {}",
                                settings.tuner->name(), why));
  if (!why.empty()) settings.tuner = nullptr;
}

}  // namespace

Expected<NcclPerfSubject> nccl_subject(const NcclPerfOptions& options,
                                       const std::vector<std::string>& written,
                                       const Environment& environment) {
  if (options.nodes < 1 || options.nodes > 100'000)
    return refused(out_of_range("--nodes", options.nodes, 100'000),
                   "--nodes: expected a number from 1 to 100000");
  const auto version =
      nccl::parse_version(options.version.value_or(to_string(nccl::kDefaultVersion)));
  if (!version) return tl::make_unexpected(about("--nccl-version", version.error()));
  const auto driving = nccl::parse_driving(options.driving.value_or("process_per_gpu"));
  if (!driving)
    return refused({ProblemCode::kUnknownName, "--driving"},
                   "--driving {}: expected process_per_gpu, thread_per_gpu or one_thread",
                   *options.driving);
  const auto set = nccl_variables(written);
  if (!set) return failed(set);
  auto settings = nccl::read_settings(*set, *version);
  if (!settings) return tl::make_unexpected(about("--set", settings.error()));
  const auto buffers = buffers_of(options, *version);
  if (!buffers) return failed(buffers);
  settings->buffers = *buffers;
  const auto plugin = ofi_plugin_of(options);
  if (!plugin) return failed(plugin);
  const bool aws = options.tuner == "aws_ofi";
  if (options.cluster.ends_with(".xml")) {
    const auto tuner = tuner_of(options, nullptr);
    if (!tuner) return failed(tuner);
    auto subject = subject_of_topology(options, *version, *plugin, std::move(*settings));
    if (!subject) return subject;
    subject->system.driving = *driving;
    subject->settings.tuner = *tuner;
    apply_tuner(subject->comm, subject->system, aws, subject->settings);
    return subject;
  }
  const auto shipped = machine_of(options.cluster, environment.library);
  if (!shipped) return failed(shipped);
  const auto machine = with_cards_of(options, *shipped);
  if (!machine) return failed(machine);
  auto system = nccl::system_of(**machine, options.nodes, options.gpus, options.network);
  if (!system) return tl::make_unexpected(about("--cluster", system.error()));
  if (system->ranks() < 2)
    return refused({ProblemCode::kTooSmall, "--gpus"},
                   "a single GPU does not communicate: set --nodes or --gpus above 1");
  system->ofi_plugin = *plugin;
  nccl::see_network(*system, *version, *settings);
  if (*plugin && !is_efa(system->transport))
    return refused(
        {ProblemCode::kUnused, "--ofi-plugin"},
        "--ofi-plugin: only EFA between several nodes uses aws-ofi-nccl, but the network "
        "is {}",
        to_string(system->transport));
  system->collnet = nccl::why_no_sharp(*system).empty();
  system->driving = *driving;
  auto known =
      nccl::on_machines(**machine, *system, options.network, "--network", *settings, *version);
  if (!known) return tl::make_unexpected(about("--cluster", known.error()));
  settings->notes.insert(settings->notes.end(), known->notes.begin(), known->notes.end());
  if (std::string nearest = nccl::note_on_nearest_gpu(**machine); !nearest.empty())
    settings->notes.push_back(std::move(nearest));
  const auto tuner = tuner_of(options, machine->get());
  if (!tuner) return failed(tuner);
  settings->tuner = *tuner;
  apply_tuner(known->communicator, known->system, aws, *settings);
  return NcclPerfSubject{(*machine)->name(),
                         options.nodes,
                         known->system,
                         std::move(*settings),
                         std::move(known->communicator),
                         *machine};
}

Expected<std::shared_ptr<const nccl::Calibration>> load_nccl_calibration(
    const std::string& path, const NcclPerfSubject& subject, const NcclVariables& variables,
    const nccl::Parameters& figures, const Environment& environment) {
  if (path.empty()) return std::shared_ptr<const nccl::Calibration>();
  const auto spread = nccl::Spread::load(environment.library.folder());
  if (!spread) return failed(spread);
  auto loaded = nccl::load_calibration(path, *spread);
  if (!loaded) return failed(loaded);
  if (const std::string why = loaded->why_not(subject.system, figures); !why.empty())
    return refused({ProblemCode::kConflict, "--calibration"}, "--calibration {}: {}", path, why);
  loaded->set_variables(variables);
  return std::make_shared<const nccl::Calibration>(std::move(*loaded));
}

}  // namespace tutti::tools
