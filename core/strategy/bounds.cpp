#include "core/strategy/bounds.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/strategy/cut_capacity.h"

namespace tutti::core {
namespace {

/// A cut of the cluster. All bytes must cross it `times` times, and can do so once the gradients
/// are ready.
struct Cut {
  /// States which gradients must be ready before data crosses the cut. kOwn: the gradients of the
  /// cut's own group of workers. kOthers: the gradients of all replicas outside, because the result
  /// inside needs them. kLatest: the gradients of all replicas. kEarliest: the gradients of the
  /// replicas that are ready first, because these replicas can already exchange data.
  enum class Start { kOwn, kOthers, kLatest, kEarliest };
  Start start = Start::kEarliest;
  std::size_t group = 0;
  std::int64_t times = 1;
  Capacity capacity;
  enum class What {
    kLeaveDevice,
    kReachDevice,
    kAllDevices,
    kCards,
    kAllCards,
    kUplinks,
    kAllUplinks
  };
  What what = What::kAllDevices;
  int part = -1;

  [[nodiscard]] Time time(Bytes bytes) const {
    return time_for(bytes, times, capacity) +
           (capacity.latency == kNever ? Time() : capacity.latency);
  }
};

/// All cuts of a cluster. Capacities do not depend on the number of bytes, so they are computed
/// once.
class Cuts {
 public:
  enum class Switches { kMayReduce, kOnlyForward };
  Cuts(const Cluster& cluster, NetworkModel model, bool network_adds,
       Switches role = Switches::kMayReduce)
      : cluster_(cluster), network_adds_(network_adds), switches_(role) {
    if (cluster_.replicas() == 1) return;
    each_device();
    if (!network_adds_) all_devices();
    if (cluster_.workers() > 1) workers();
    if (cluster_.fabric() && model != NetworkModel::kIdeal) switches(cluster_.fabric()->domains());
  }

  /// The cut that is crossed last, with the time at which all bytes have crossed it. The workers of
  /// group g have `bytes` ready at time `ready[g]`. If nothing has to be sent, `cut` is null.
  struct Found {
    const Cut* cut = nullptr;
    Time time;
  };
  [[nodiscard]] Found latest(Bytes bytes, const std::vector<Time>& ready) const {
    Found found;
    if (bytes == Bytes()) return found;
    for (const Cut& cut : cuts_) {
      const Time time = start(cut, ready) + cut.time(bytes);
      if (!found.cut || time > found.time) found = {&cut, time};
    }
    return found;
  }

  [[nodiscard]] std::string reason(const Cut& cut) const {
    const Machine& machine = *cluster_.groups()[cut.group].machine;
    switch (cut.what) {
      case Cut::What::kLeaveDevice: return "every byte must leave " + part_name(machine, cut.part);
      case Cut::What::kReachDevice: return "every byte must reach " + part_name(machine, cut.part);
      case Cut::What::kAllDevices: return "limited by the total bandwidth of all devices' links";
      case Cut::What::kCards: return "every byte must cross the network cards of " + machine.name();
      case Cut::What::kAllCards:
        return "limited by the total bandwidth of all workers' network cards";
      case Cut::What::kUplinks:
        return "every byte must leave a part of the " + cluster_.fabric()->describe();
      case Cut::What::kAllUplinks:
        return "limited by the total bandwidth of the links across the " +
               cluster_.fabric()->describe();
    }
    return "";
  }

 private:
  static const std::string& part_name(const Machine& machine, int part) {
    return machine.parts()[part].name;
  }

  [[nodiscard]] Time start(const Cut& cut, const std::vector<Time>& ready) const {
    switch (cut.start) {
      case Cut::Start::kOwn: return ready[cut.group];
      case Cut::Start::kLatest: return *std::max_element(ready.begin(), ready.end());
      case Cut::Start::kEarliest: return *std::min_element(ready.begin(), ready.end());
      case Cut::Start::kOthers: break;
    }
    const bool alone = cluster_.groups()[cut.group].count * cluster_.replicas_per_worker() == 1;
    Time latest;
    for (std::size_t g = 0; g < ready.size(); ++g) {
      if (g != cut.group || !alone) latest = std::max(latest, ready[g]);
    }
    return latest;
  }

  /// Adds a cut, unless an identical one has been added.
  void add(const Cut& cut) {
    const bool known = std::any_of(cuts_.begin(), cuts_.end(), [&](const Cut& c) {
      return c.what == cut.what && c.group == cut.group &&
             c.capacity.bytes_per_second == cut.capacity.bytes_per_second &&
             c.capacity.latency == cut.capacity.latency;
    });
    if (!known && cut.capacity.bytes_per_second > 0) cuts_.push_back(cut);
  }

  [[nodiscard]] const std::vector<int>& devices(const Machine& machine) const {
    return machine.gpus().empty() ? machine.cpus() : machine.gpus();
  }

  void each_device() {
    for (std::size_t g = 0; g < cluster_.groups().size(); ++g) {
      const Machine& machine = *cluster_.groups()[g].machine;
      for (int i = 0; i < cluster_.replicas_per_worker(); ++i) {
        const int part = devices(machine)[i];
        for (const bool leaving : {true, false}) {
          Capacity capacity = links_of(machine, part, leaving);
          if (capacity.bytes_per_second == 0) {
            // A device without links of its own sends and receives over the network cards of its
            // worker.
            if (machine.nics().empty() || cluster_.workers() == 1) continue;
            capacity = ports_of(cluster_, machine);
          }
          add({leaving ? Cut::Start::kOwn : Cut::Start::kOthers, g, 1, capacity,
               leaving ? Cut::What::kLeaveDevice : Cut::What::kReachDevice, part});
        }
      }
    }
  }

  void all_devices() {
    Capacity capacity;
    for (const WorkerGroup& group : cluster_.groups()) {
      const Machine& machine = *group.machine;
      for (const Part& part : machine.parts()) {
        if (part.in_switch_reduction && switches_ == Switches::kMayReduce) return;
      }
      std::vector<int> senders = devices(machine);
      senders.resize(cluster_.replicas_per_worker());
      if (!machine.gpus().empty())
        senders.insert(senders.end(), machine.cpus().begin(), machine.cpus().end());
      // GPUs without a replica can also send.
      if (!machine.gpus().empty())
        senders.insert(senders.end(), machine.gpus().begin() + cluster_.replicas_per_worker(),
                       machine.gpus().end());
      for (const int part : senders) capacity.add(links_of(machine, part, true), group.count);
    }
    add({Cut::Start::kEarliest, 0, 2 * (cluster_.replicas() - 1), capacity, Cut::What::kAllDevices,
         -1});
  }

  /// Adds the cuts at the network cards of workers. A worker sends after its own gradients are
  /// ready. A worker receives after the gradients of another worker are ready. Data has crossed the
  /// cut in both directions only after the later of these times.
  void workers() {
    Capacity all;
    for (std::size_t g = 0; g < cluster_.groups().size(); ++g) {
      const WorkerGroup& group = cluster_.groups()[g];
      const Capacity ports = ports_of(cluster_, *group.machine);
      add({Cut::Start::kLatest, g, 1, ports, Cut::What::kCards, -1});
      all.add(ports, group.count);
    }
    if (!network_adds_)
      add({Cut::Start::kEarliest, 0, 2 * (cluster_.workers() - 1), all, Cut::What::kAllCards, -1});
  }

  /// Adds a cut around each set of workers that share their links to all other workers, such as the
  /// workers of a leaf or of a dragonfly group.
  void switches(const Fabric::Domains& domains) {
    if (domains.count < 2) return;
    Capacity one, all;
    one.add(domains.outward, domains.latency + cluster_.network()->latency);
    all.add(one, domains.count);
    add({Cut::Start::kLatest, 0, 1, one, Cut::What::kUplinks, -1});
    if (!network_adds_)
      add({Cut::Start::kEarliest, 0, 2 * (domains.count - 1), all, Cut::What::kAllUplinks, -1});
  }

  const Cluster& cluster_;
  bool network_adds_;
  Switches switches_;
  std::vector<Cut> cuts_;
};

Bound bound_of(const Cuts& cuts, const Cluster& cluster, Bytes bytes) {
  const Cuts::Found found = cuts.latest(bytes, std::vector<Time>(cluster.groups().size()));
  if (!found.cut) return {Time(), "no bytes have to be sent", Time()};
  return {found.time, cuts.reason(*found.cut),
          found.time - time_for(bytes, found.cut->times, found.cut->capacity)};
}

}  // namespace

Bound all_reduce_bound(const Cluster& cluster, Bytes bytes, NetworkModel model, bool network_adds) {
  return bound_of(Cuts(cluster, model, network_adds), cluster, bytes);
}

Bound all_reduce_bound_of_messages(const Cluster& cluster, Bytes bytes, NetworkModel model) {
  return bound_of(Cuts(cluster, model, false, Cuts::Switches::kOnlyForward), cluster, bytes);
}

namespace {

Time gap_before(const Workload& workload, std::size_t segment) {
  return workload.gaps.before(segment).value_or(Time());
}

}  // namespace

Bound step_bound(const Cluster& cluster, const Workload& workload, std::int64_t compute_faster_ppm,
                 NetworkModel model, bool network_adds) {
  // The time of each task is scaled and rounded down separately, so the sum may be too low by one
  // picosecond per task.
  const std::size_t passes = workload.micro_batches;
  const Time rounding(compute_faster_ppm == 0
                          ? 0
                          : static_cast<std::int64_t>(passes * (workload.segments.size() + 1) *
                                                          (workload.gaps.total() > Time() ? 2 : 1) +
                                                      workload.gradients.size() + 1));
  const auto faster = [&](Time t) {
    const Time scaled(static_cast<std::int64_t>(static_cast<Wide>(t.count()) *
                                                static_cast<Wide>(1'000'000 - compute_faster_ppm) /
                                                1'000'000));
    return std::max(Time(), scaled - rounding);
  };
  Time longest;
  std::vector<Time> backward;  // by group: time up to the current segment of the last pass
  for (const StepTimes& times : workload.times) {
    backward.push_back(times.early_passes(workload.micro_batches) +
                       (workload.micro_batches - 1) * workload.gaps.total() + times.forward +
                       workload.gaps.forward.value_or(Time()));
    Time last;
    for (std::size_t s = 0; s < workload.segments.size(); ++s)
      last += times.backward_in_pass(s, workload.micro_batches - 1) + gap_before(workload, s);
    longest = std::max(longest, faster(backward.back() + last + times.update));
  }
  Bound best{longest, "computation alone", Time()};

  const Cuts cuts(cluster, model, network_adds);
  Cuts::Found winner{nullptr, best.time};
  std::size_t winning_segment = 0;
  Bytes winning_bytes;
  Bytes later = workload.bytes();
  std::vector<Time> ready(backward.size());
  for (std::size_t s = 0; s < workload.segments.size(); ++s) {
    for (std::size_t g = 0; g < backward.size(); ++g) {
      backward[g] += workload.times[g].backward_in_pass(s, workload.micro_batches - 1) +
                     gap_before(workload, s);
      ready[g] = faster(backward[g]);
    }
    const std::vector<int>& variables = workload.segments[s].variables;
    if (variables.empty()) continue;
    const Cuts::Found found = cuts.latest(later, ready);
    if (found.cut && found.time > winner.time) {
      winner = found;
      winning_segment = s;
      winning_bytes = later;
    }
    for (const int v : variables) later -= workload.gradients[v].bytes();
  }
  if (!winner.cut) return best;
  return {
      winner.time,
      fmt::format("after {} of {} backward layers, {:.1f} MB of gradients remain to be reduced: {}",
                  winning_segment + 1, workload.segments.size(),
                  static_cast<double>(winning_bytes.count()) / 1e6, cuts.reason(*winner.cut)),
      Time()};
}

}  // namespace tutti::core
