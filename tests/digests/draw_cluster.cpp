// Generates the cluster of a scenario and its surroundings: machines, networks, run options,
// conditions, and communicators in addition to the gradients' one.

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "tests/digests/draft.h"

namespace tutti::test {

namespace {

struct MachineKind {
  const char* name;
  int gpus;
};
constexpr std::array<MachineKind, 11> kMachines{{{"box", 4},
                                                 {"box", 4},
                                                 {"pair", 2},
                                                 {"ec2-g4dn-12xlarge", 4},
                                                 {"pcie4-a100", 4},
                                                 {"dgx1-v100", 8},
                                                 {"hgx-h100", 8},
                                                 {"dgx-a100", 8},
                                                 {"ec2-p3-16xlarge", 8},
                                                 {"pcie8-v100", 8},
                                                 {"pcie-l40s", 8}}};

/// Returns a machine that the scenario describes itself. So the scenario stays the same when the
/// figures of shipped machines change.
std::string own_machine(const std::string& name) {
  if (name == "box") {
    return "  machine { name: \"box\"\n"
           "    device { name: \"gpu[0-3]\" kind: GPU memory_gb_per_s: 700 multiprocessors: 80 }\n"
           "    device { name: \"cpu0\" kind: CPU memory_gb_per_s: 90 threads: 2 }\n"
           "    nic { name: \"nic0\" bandwidth_gb_per_s: 6 }\n"
           "    link { from: \"cpu0\" to: \"gpu[0-3]\" kind: PCIE bandwidth_gb_per_s: 11 "
           "latency_us: 0.7 }\n"
           "    link { from: \"cpu0\" to: \"nic0\" kind: PCIE bandwidth_gb_per_s: 10 latency_us: "
           "0.4 }\n"
           "    link { from: \"gpu[0-1]\" to: \"gpu[2-3]\" kind: NVLINK bandwidth_gb_per_s: 40 "
           "latency_us: 0.6 }\n"
           "    link { from: \"gpu0\" to: \"gpu1\" kind: NVLINK bandwidth_gb_per_s: 20 latency_us: "
           "0.6 } }\n";
  }
  if (name == "pair") {
    return "  machine { name: \"pair\"\n"
           "    device { name: \"gpu[0-1]\" kind: GPU memory_gb_per_s: 800 }\n"
           "    device { name: \"cpu0\" kind: CPU memory_gb_per_s: 120 }\n"
           "    nic { name: \"nic[0-1]\" bandwidth_gb_per_s: 12 }\n"
           "    link { from: \"cpu0\" to: \"gpu[0-1]\" kind: PCIE bandwidth_gb_per_s: 13 "
           "latency_us: 0.5 }\n"
           "    link { from: \"cpu0\" to: \"nic[0-1]\" kind: PCIE bandwidth_gb_per_s: 13 "
           "latency_us: 0.5 }\n"
           "    link { from: \"gpu0\" to: \"gpu1\" kind: NVLINK bandwidth_gb_per_s: 50 latency_us: "
           "0.9 } }\n";
  }
  if (name == "host") {
    return "  machine { name: \"host\"\n"
           "    device { name: \"cpu0\" kind: CPU memory_gb_per_s: 100 }\n"
           "    nic { name: \"nic0\" bandwidth_gb_per_s: 3 }\n"
           "    link { from: \"cpu0\" to: \"nic0\" kind: PCIE bandwidth_gb_per_s: 12 latency_us: "
           "0.5 } }\n";
  }
  return "";
}

/// Returns a number within bounds, or a power of two if needed.
int count(Draft& draft, int least, int most, bool power_of_two) {
  if (!power_of_two) return draft.between(least, most);
  std::vector<int> fit;
  for (int n = 1; n <= most; n *= 2) {
    if (n >= least) fit.push_back(n);
  }
  return fit[draft.between(0, static_cast<int>(fit.size()) - 1)];
}

std::string network(Draft& draft, bool mixed) {
  // Rails require that all workers have the same number of cards. Switches make workers
  // distinguishable.
  const bool rails = draft.dedicated_servers == 0 && !mixed;
  const int kind = draft.between(rails ? 0 : 2, draft.needs.identical ? 6 : 9);
  std::string text = draft.one_of({"latency_us: 0", "latency_us: 1.5", "latency_us: 8",
                                   "link: \"ethernet-25\"", "link: \"edr\"", "link: \"efa\""});
  const bool named = text.starts_with("link");
  const std::string switches = named ? "" : draft.one_of({" switch_us: 0.3", " switch_us: 2"});
  if (kind < 2) {
    draft.network = "RAILS";
  } else if (kind < 7) {
    draft.network = "ONE_SWITCH";
  } else if (kind < 9) {
    draft.network = "FAT_TREE";
    text += switches +
            draft.one_of({" fat_tree { workers_per_leaf: 1 spines: 2 }",
                          " fat_tree { workers_per_leaf: 2 spines: 1 }",
                          " fat_tree { workers_per_leaf: 1 spines: 2 oversubscription: 3 }"});
    text += draft.maybe(50, "path_choice", {"path_choice: DESTINATION", "path_seed: 5"});
  } else {
    draft.network = "DRAGONFLY";
    text +=
        switches +
        draft.one_of(
            {" dragonfly { routers_per_group: 2 global_links_per_router: 2 }",
             " dragonfly { routers_per_group: 1 global_links_per_router: 5 global_gb_per_s: 2 }"});
  }
  text += draft.maybe(10, "connection", {"connection_gb_per_s: 1.25"});
  draft.note("network", draft.network);
  return "  network { kind: " + draft.network + " " + text + " }\n";
}

}  // namespace

std::string draw_cluster(Draft& draft) {
  const Needs& needs = draft.needs;
  draft.on_gpus = needs.gpus || draft.chance(75);
  int most = 2;
  if (draft.on_gpus) {
    const MachineKind& kind = kMachines[draft.between(0, static_cast<int>(kMachines.size()) - 1)];
    draft.machine = needs.many ? "box" : kind.name;
    most = needs.many ? 4 : kind.gpus;
  } else {
    draft.machine = needs.many ? "host" : draft.one_of({"host", "cpu-host"});
    if (draft.machine == "host") most = 1;
  }
  most = std::min(most, needs.max_replicas_per_worker);
  const int least = std::min(most, needs.min_replicas_per_worker);
  int min_workers = needs.min_workers;
  // If a worker can have only one replica but two are needed, there are at least two workers.
  if (needs.min_replicas_per_worker > most && needs.most_workers > 1)
    min_workers = std::max(2, min_workers);
  draft.replicas_per_worker = count(draft, least, most, needs.power_of_two_replicas);
  // Most scenarios have several workers, because most code concerns communication between workers.
  if (needs.most_workers > 1 && draft.chance(70)) min_workers = std::max(2, min_workers);
  draft.workers = count(draft, min_workers, needs.most_workers,
                        needs.power_of_two_replicas || needs.power_of_two_workers);
  if (needs.many && !draft.on_gpus) draft.workers *= 10;
  draft.note("machine", draft.machine);
  draft.note("workers", needs.many ? "many" : std::to_string(draft.workers));
  draft.note("replicas_per_worker", std::to_string(draft.replicas_per_worker));

  std::string text = "cluster {\n";
  std::string other;
  const bool mixed = !needs.identical && draft.on_gpus && draft.workers > 1 &&
                     draft.replicas_per_worker <= 2 && draft.chance(15);
  if (mixed) {
    other = draft.machine == "pair" ? "ec2-g4dn-12xlarge" : "pair";
    draft.note("mixed_machines", "yes");
  }
  const auto add = [&](const std::string& machine, int workers) {
    text += fmt::format("  workers {{ machine: \"{}\" count: {} replicas: {} }}\n", machine,
                        workers, draft.replicas_per_worker);
  };
  add(draft.machine, mixed ? draft.workers - 1 : draft.workers);
  if (mixed) add(other, 1);
  std::string server;
  if (needs.servers) {
    draft.dedicated_servers = draft.between(1, 3);
    server = draft.one_of({"host", "cpu-host"});
    draft.note("servers", std::to_string(draft.dedicated_servers));
    text += fmt::format("  workers {{ machine: \"{}\" count: {} server: true }}\n", server,
                        draft.dedicated_servers);
  }
  if (draft.workers + draft.dedicated_servers > 1) text += network(draft, mixed);
  text += own_machine(draft.machine);
  if (other != draft.machine) text += own_machine(other);
  if (server != draft.machine) text += own_machine(server);
  return text + "}\n";
}

std::string draw_run(Draft& draft) {
  const bool many = draft.needs.many;
  draft.network_model = draft.one_of({"FIFO", "FIFO", "IDEAL", many ? "FIFO" : "FAIR"});
  draft.note("network_model", draft.network_model);
  const int steps = many ? 1 : draft.chance(25) ? 6 : draft.between(2, 3);
  std::string text = fmt::format("run {{ steps: {} network_model: {}", steps, draft.network_model);
  text += draft.maybe(30, "seed", {"seed: 1", "seed: 2", "seed: 77"});
  if (!draft.needs.identical)
    text += draft.maybe(12, "jitter", {"compute_jitter_percent: 3", "compute_jitter_percent: 25"});
  text += draft.maybe(30, "interference", {"interference: ON", "interference: OFF"});
  const bool nccl = draft.starts_with_nccl() || draft.algorithm.empty();
  if (nccl) text += draft.maybe(many ? 100 : 50, "nccl_model", {"nccl: RINGS"});
  if (draft.saves_checkpoints)
    text += draft.maybe(100, "checkpoint_every", {"checkpoint_every: 1", "checkpoint_every: 2"});
  return text + " }\n";
}

std::string draw_conditions(Draft& draft) {
  if (draft.needs.identical || draft.chance(55)) return "";
  std::string text;
  const int last = draft.workers - 1;
  switch (draft.between(0, 9)) {
    case 0:
    case 1: {
      const std::string device =
          draft.on_gpus && draft.replicas_per_worker > 1 ? "device: \"gpu1\" " : "";
      text += fmt::format(" slow {{ worker: {} {}slowdown: 1.7 }}", last,
                          draft.chance(50) ? device : "");
      draft.note("condition", "slow");
      break;
    }
    case 2:
      text += " slow { random_workers: 1 slowdown: 3 from_ms: 0.2 to_ms: 1.1 }";
      draft.note("condition", "slow_at_random");
      break;
    case 3:
    case 4:
      text += " compute_noise {" +
              draft.maybe(100, "noise",
                          {"distribution: EXPONENTIAL mean_percent: 5",
                           "distribution: PARETO mean_percent: 5 tail_index: 1.5",
                           "distribution: BERNOULLI mean_percent: 5 probability_percent: 30"}) +
              " }";
      draft.note("condition", "noise");
      break;
    case 5:
    case 6:
      if (draft.network_model == "IDEAL") break;
      if (draft.network == "FAT_TREE" || draft.network == "DRAGONFLY") {
        text += " background { where: SWITCHES share: 0.6 burst_ms: 0.05 pause_ms: 0.1 }";
      } else if (!draft.network.empty()) {
        text +=
            draft.one_of({" background { where: PORTS share: 0.4 }",
                          " background { where: PORTS share: 0.7 burst_ms: 0.1 pause_ms: 0.1 }"});
      }
      if (!text.empty()) draft.note("condition", "background");
      break;
    case 7:
    case 8:
      if (draft.network_model == "IDEAL") break;
      if (draft.network == "ONE_SWITCH" || draft.network == "RAILS") {
        const std::string change =
            draft.one_of({"bandwidth_share: 0.3", "bandwidth_share: 0.75 at_ms: 0.4",
                          "bandwidth_share: 0 at_ms: 0.5"});
        text += fmt::format(" link {{ from: \"w{}/nic0\" to: \"network\" {} }}", last, change);
        draft.note("condition", "link");
      } else if (draft.machine == "box" || draft.machine == "pair") {
        text += " link { from: \"w0/cpu0\" to: \"w0/gpu0\" bandwidth_share: 0.5 at_ms: 0.1 }";
        draft.note("condition", "link");
      }
      break;
    default:
      if (!draft.chance(40)) break;
      // Other workers wait for the missing one until they time out, or forever.
      text += fmt::format(" gone {{ worker: {}{} }}", last, draft.one_of({"", " from_ms: 0.5"}));
      draft.note("condition", "gone");
  }
  return text.empty() ? "" : "conditions {" + text + " }\n";
}

namespace {

std::string communicator(Draft& draft, const std::string& name, bool may_split) {
  const int replicas = draft.replicas();
  std::vector<int> sizes;
  for (int size = 2; size <= replicas; ++size) {
    if (replicas % size == 0) sizes.push_back(size);
  }
  const int size = sizes[draft.between(0, static_cast<int>(sizes.size()) - 1)];
  std::string text = fmt::format("communicator {{ name: \"{}\" size: {}", name, size);
  if (draft.replicas_per_worker < replicas && replicas / size % draft.replicas_per_worker == 0 &&
      draft.chance(50)) {
    text += fmt::format(" stride: {}", draft.replicas_per_worker);
    draft.note("stride", "workers");
  }
  const bool nccl = draft.on_gpus && draft.chance(30);
  const std::string algorithm = nccl ? "nccl" : "ring";
  text += " algorithm: \"" + algorithm + "\"";
  const bool splits = may_split && size < replicas && draft.chance(70);
  if (splits) text += " splits_model: true";
  draft.note("communicator", algorithm + (splits ? "_splits" : ""));
  const auto exchange = [&](const std::string& collective, int bytes) {
    text +=
        fmt::format("\n  exchange {{ collective: {} bytes: {} type: BFLOAT16", collective, bytes);
    text +=
        draft.one_of({" per_forward: 1", " per_forward: 2 per_backward: 1", " per_backward: 3"});
    text += draft.maybe(40, "overlaps", {"overlaps: true"}) + " }";
    draft.note("exchange", collective);
  };
  const std::string collective = draft.one_of({"ALL_REDUCE", "ALL_GATHER", "REDUCE_SCATTER"});
  exchange(collective, 960 * size * draft.between(1, 40));
  if (draft.chance(40)) exchange("ALL_REDUCE", 2 * draft.between(1, 5000));
  return text + " }\n";
}

}  // namespace

std::string draw_communicator(Draft& draft) {
  const Needs& needs = draft.needs;
  if (needs.no_communicators || draft.replicas() < 2 || !draft.chance(35)) return "";
  // Gradients are then reduced among the replicas that hold the same part of the model.
  const bool pairs = needs.power_of_two_replicas;
  const bool may_split = draft.is_flat() && !pairs && !needs.no_split_model && !draft.has_sparse &&
                         !draft.saves_checkpoints;
  std::string text = communicator(draft, "t", may_split);
  if (draft.chance(30)) text += communicator(draft, "u", false);
  return text;
}

}  // namespace tutti::test
