// Builds a cluster from the message in a scenario. After a problem, reading continues with `usable`
// set to false, so that all problems of the cluster are reported together. The result is a cluster
// only if it meets the following requirements. Workers with replicas come before servers. All
// workers have the same number of replicas, on the same kind of device. If there are several
// workers, there is a network, and each worker has a network card that reaches the network. A
// machine is described in the scenario itself or in a separate file. Each machine file is parsed
// once. The text of the machine file is added to the list of files, so that another process can
// read the scenario without these files. network_reader.cpp reads the network, and
// core/cluster/machine_file.h reads machines.

#include "core/scenario/cluster_reader.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/cluster/machine_file.h"
#include "core/proto/scenario.pb.h"
#include "core/scenario/network_reader.h"
#include "core/text/limits.h"

namespace tutti::core {
namespace {

using MachinePtr = std::shared_ptr<const Machine>;

class ClusterReader {
 public:
  ClusterReader(const proto::Cluster& message, Fields& fields, const std::string& path,
                const Library& library, std::vector<Library::File>& named)
      : message_(message), fields_(fields), path_(path), library_(library), named_(named) {}

  std::shared_ptr<const Cluster> read() {
    std::map<std::string, MachinePtr> own;
    for (const proto::Machine& machine : message_.machine()) {
      if (own.contains(machine.name()))
        fields_.complain_at(machine, "name", ProblemCode::kDuplicate,
                            "machine \"{}\" is described twice", machine.name());
      own[machine.name()] = machine_from(machine, fields_.sources(), fields_.problems());
    }
    if (message_.workers().empty())
      fields_.complain_at(message_, "workers", ProblemCode::kMissing,
                          "the cluster has no workers; add workers {{ machine: … count: … }}");

    std::vector<WorkerGroup> groups;
    std::vector<int> replicas;
    std::vector<const proto::Workers*> with_replicas;
    std::size_t server_groups = 0;
    std::int64_t total = 0;
    bool usable = !message_.workers().empty() && fields_.sources().whole(message_);
    for (const proto::Workers& workers : message_.workers()) {
      const MachinePtr machine = machine_named(workers, own);
      const auto written = fields_.integer(workers, "count", "workers", 1, kMaxWorkers);
      const std::int64_t count = written.value_or(1);
      total += count;
      if (!machine || (workers.has_count() && !written)) {
        usable = false;
        continue;
      }
      groups.push_back({machine, count});
      if (workers.server()) {
        ++server_groups;
        usable = check_server(workers, *machine) && usable;
        continue;
      }
      if (server_groups > 0) {
        fields_.complain(workers, ProblemCode::kConflict,
                         "workers with replicas must be listed before workers that are servers; "
                         "change their order");
        usable = false;
      }
      replicas.push_back(replicas_of(workers, *machine));
      with_replicas.push_back(&workers);
      usable = usable && replicas.back() > 0;
    }
    if (server_groups > 0 && replicas.empty() && usable) {
      fields_.complain(
          message_, ProblemCode::kConflict,
          "all workers are servers, so no worker computes; add workers without server: true");
      usable = false;
    }
    if (total > kMaxWorkers) {
      fields_.complain(message_, ProblemCode::kTooLarge, "{} workers exceed the limit of {}", total,
                       kMaxWorkers);
      usable = false;
    }
    for (std::size_t i = 1; i < replicas.size(); ++i) {
      if (replicas[i] == replicas.front() || replicas[i] == 0 || replicas.front() == 0) continue;
      fields_.complain_at(
          *with_replicas[i], "replicas", ProblemCode::kConflict,
          "workers \"{}\" have {} devices with replicas, but workers \"{}\" have {}: collectives "
          "need the same number on every worker; set replicas: {} for both",
          groups[i].machine->name(), replicas[i], groups.front().machine->name(), replicas.front(),
          std::min(replicas[i], replicas.front()));
      usable = false;
    }
    std::optional<Network> network;
    if (message_.has_network())
      network = network_from(message_.network(), usable ? groups : std::vector<WorkerGroup>(),
                             fields_, path_, library_, named_);
    if (total > 1 && !message_.has_network()) {
      fields_.complain_at(
          message_, "network", ProblemCode::kMissing,
          "{} workers need a network; set network {{ kind: ONE_SWITCH latency_us: … }}", total);
      usable = false;
    }
    if (total > 1 && network) usable = check_cards(groups, *network) && usable;
    if (!usable || (total > 1 && !network)) return nullptr;
    if (!check_identical({groups.begin(), groups.begin() + std::ssize(replicas)}, replicas.front()))
      return nullptr;
    return std::make_shared<const Cluster>(std::move(groups), replicas.front(), std::move(network),
                                           server_groups);
  }

 private:
  /// Checks that replicas are either all on GPUs or all on CPUs, and that the replicas of a worker
  /// have the same speed.
  bool check_identical(const std::vector<WorkerGroup>& groups, int replicas) {
    for (std::size_t g = 0; g < groups.size(); ++g) {
      const Machine& machine = *groups[g].machine;
      const proto::Workers& workers = message_.workers(static_cast<int>(g));
      if (machine.gpus().empty() != groups.front().machine->gpus().empty()) {
        fields_.complain_at(workers, "machine", ProblemCode::kConflict,
                            "workers \"{}\" {} GPUs, but workers \"{}\" {}: all devices of a "
                            "collective must be of one kind; use machines of one kind",
                            machine.name(), machine.gpus().empty() ? "have no" : "have",
                            groups.front().machine->name(),
                            machine.gpus().empty() ? "have them" : "have none");
        return false;
      }
      const std::vector<int>& devices = machine.gpus().empty() ? machine.cpus() : machine.gpus();
      const Part& first = machine.parts()[devices.front()];
      for (int r = 1; r < replicas; ++r) {
        const Part& other = machine.parts()[devices[r]];
        if (other.device == first.device) continue;
        fields_.complain(
            workers, ProblemCode::kConflict,
            "workers \"{}\": \"{}\" and \"{}\" have different rates, but the replicas of a worker "
            "must be identical; give them the same rates, or use fewer replicas",
            machine.name(), first.name, other.name);
        return false;
      }
    }
    return true;
  }

  MachinePtr machine_named(const proto::Workers& workers,
                           const std::map<std::string, MachinePtr>& own) {
    const std::string& name = workers.machine();
    if (name.empty()) {
      fields_.complain_at(workers, "machine", ProblemCode::kMissing,
                          "workers: machine is missing; set the machine of these workers");
      return nullptr;
    }
    if (const auto found = own.find(name); found != own.end()) return found->second;
    const auto file = library_.read(Library::Kind::kMachine, name, path_);
    if (!file) {
      fields_.problems().add(file.error());
      return nullptr;
    }
    if (!*file) {
      std::vector<std::string> names = library_.names(Library::Kind::kMachine);
      for (const auto& [own_name, machine] : own) names.push_back(own_name);
      complain_unknown(fields_, workers, "machine", "machine", name, names);
      return nullptr;
    }
    remember(**file, named_);
    const auto [known, fresh] = files_.try_emplace((*file)->path);
    if (fresh) {
      Expected<MachinePtr> machine = read_machine((*file)->text, (*file)->path);
      if (machine) {
        known->second = *machine;
      } else {
        fields_.problems().add(machine.error());
      }
    }
    return known->second;
  }

  /// Returns the number of devices per worker that hold a replica. If the number is invalid,
  /// reports a problem and returns 0.
  int replicas_of(const proto::Workers& workers, const Machine& machine) {
    const int gpus = static_cast<int>(machine.gpus().size());
    const int cpus = static_cast<int>(machine.cpus().size());
    const int most = gpus > 0 ? gpus : cpus;
    if (!workers.has_replicas()) return gpus > 0 ? gpus : 1;
    if (workers.replicas() < 1 || workers.replicas() > most) {
      fields_.complain_at(workers, "replicas",
                          workers.replicas() < 1 ? ProblemCode::kTooSmall : ProblemCode::kTooLarge,
                          "workers: replicas must be from 1 to {}, the number of {} of \"{}\" (got "
                          "{}); a worker needs at least one device",
                          most, gpus > 0 ? "GPUs" : "CPUs", machine.name(), workers.replicas());
      return 0;
    }
    return workers.replicas();
  }

  bool check_server(const proto::Workers& workers, const Machine& machine) {
    if (workers.has_replicas())
      fields_.complain_at(workers, "replicas", ProblemCode::kUnused,
                          "workers: a server has no replicas; remove replicas or server");
    if (machine.cpus().empty())
      fields_.complain_at(workers, "server", ProblemCode::kConflict,
                          "workers: servers keep variables on a CPU, but machine \"{}\" has no "
                          "CPU; add one (device {{ name: \"cpu0\" kind: CPU … }})",
                          machine.name());
    return !workers.has_replicas() && !machine.cpus().empty();
  }

  bool check_cards(const std::vector<WorkerGroup>& groups, const Network& network) {
    for (const WorkerGroup& group : groups) {
      if (group.machine->nics().empty()) {
        fields_.complain(message_, ProblemCode::kMissing,
                         "machine \"{}\" has no network card, so its workers cannot communicate; "
                         "add one (nic {{ … }} and a link to it)",
                         group.machine->name());
        return false;
      }
      if (network.kind == Network::Kind::kRails &&
          group.machine->nics().size() != groups.front().machine->nics().size()) {
        fields_.complain(message_, ProblemCode::kConflict,
                         "a network of rails needs the same number of network cards on every "
                         "machine (\"{}\" has {}, \"{}\" has {}); use ONE_SWITCH",
                         groups.front().machine->name(), groups.front().machine->nics().size(),
                         group.machine->name(), group.machine->nics().size());
        return false;
      }
    }
    return true;
  }

  const proto::Cluster& message_;
  Fields& fields_;
  const std::string& path_;
  const Library& library_;
  std::vector<Library::File>& named_;
  std::map<std::string, MachinePtr> files_;
};

}  // namespace

ClusterFile::ClusterFile(const std::string& file)
    : path(file), message(std::make_unique<proto::Cluster>()), sources(file) {}
ClusterFile::ClusterFile(ClusterFile&&) noexcept = default;
ClusterFile& ClusterFile::operator=(ClusterFile&&) noexcept = default;
ClusterFile::~ClusterFile() = default;

std::optional<ClusterFile> load_cluster_file(const proto::Cluster& cluster, Fields& fields,
                                             const std::string& from, const Library& library,
                                             std::vector<Library::File>& files) {
  Problems& problems = fields.problems();
  const std::size_t before = problems.size();
  if (cluster.workers_size() > 0 || cluster.has_network() || cluster.machine_size() > 0) {
    fields.complain_at(cluster, "file", ProblemCode::kUnused,
                       "cluster: the cluster file describes the whole cluster; remove all fields "
                       "of cluster except file");
    return std::nullopt;
  }
  const auto found = library.read(Library::Kind::kCluster, cluster.file(), from);
  if (!found || !*found) {
    fields.complain_at(cluster, "file", ProblemCode::kUnknownName, "cluster: file \"{}\": {}",
                       cluster.file(),
                       found ? "there is no such file" : found.error().problems().front().text);
    return std::nullopt;
  }
  remember(**found, files);
  ClusterFile file((*found)->path);
  bind_named_file((*found)->text, file.path, *file.message, file.sources, problems);
  if (file.message->has_file())
    problems.add(
        {ProblemCode::kUnsupported, schema_name(*file.message, "file")},
        file.sources.at(*file.message, "file"),
        "a cluster file cannot include another cluster file; name the other file in the scenario");
  if (problems.size() != before) return std::nullopt;
  return file;
}

std::shared_ptr<const Cluster> cluster_from(const proto::Cluster& message, Fields& fields,
                                            const std::string& path, const Library& library,
                                            std::vector<Library::File>& files) {
  return ClusterReader(message, fields, path, library, files).read();
}

void remember(const Library::File& file, std::vector<Library::File>& files) {
  const auto same = [&](const Library::File& f) {
    return f.kind == file.kind && f.name == file.name;
  };
  if (std::none_of(files.begin(), files.end(), same)) files.push_back(file);
}

void complain_unknown(Fields& fields, const google::protobuf::Message& message, const char* field,
                      const char* what, const std::string& name,
                      const std::vector<std::string>& known) {
  std::string hint = did_you_mean(name, known);
  // The names of the links fit into the message, but those of the models do not.
  constexpr std::size_t kMaxListed = 20;
  if (hint.empty() && known.size() <= kMaxListed)
    hint = fmt::format("; expected one of {}, or the path of a file", fmt::join(known, ", "));
  fields.complain_at(
      message, field, ProblemCode::kUnknownName, "there is no {} \"{}\"{}", what, name,
      hint.empty() ? "; use a shipped name (tutti init --list), or give the path of a file" : hint);
}

}  // namespace tutti::core
