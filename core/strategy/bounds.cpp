#include "core/strategy/bounds.h"

#include <algorithm>

#include <fmt/format.h>

namespace tutti::core {
namespace {

/// What may cross a cut, and the least latency of doing so.
struct Capacity {
  Wide bytes_per_second = 0;
  Time latency = kNever;

  void add(Bandwidth bandwidth, Time link_latency) {
    bytes_per_second += static_cast<Wide>(bandwidth.count());
    latency = std::min(latency, link_latency);
  }
  void add(const Capacity& more, std::int64_t times) {
    bytes_per_second += static_cast<Wide>(times) * more.bytes_per_second;
    latency = std::min(latency, more.latency);
  }
};

/// The first whole picosecond by which `times` × `bytes` can have crossed.
Time time_for(Bytes bytes, std::int64_t times, const Capacity& capacity) {
  const Wide work = static_cast<Wide>(bytes.count()) * static_cast<Wide>(times);
  // In seconds and what is left of them, so that no product exceeds 128 bits.
  const Wide seconds = work / capacity.bytes_per_second;
  if (seconds > static_cast<Wide>(kLongestDuration.count() / kPicosecondsPerSecond)) return kLongestDuration;
  const Wide rest = (work % capacity.bytes_per_second) * kPicosecondsPerSecond;
  const Wide ps = seconds * kPicosecondsPerSecond + (rest + capacity.bytes_per_second - 1) / capacity.bytes_per_second;
  return std::min(kLongestDuration, Time(static_cast<std::int64_t>(ps)));
}

/// What the links that leave (or enter) a part carry together.
Capacity links_of(const Machine& machine, int part, bool leaving) {
  Capacity capacity;
  for (const MachineLink& link : machine.links()) {
    if ((leaving ? link.from : link.to) == part) capacity.add(link.bandwidth, link.latency);
  }
  return capacity;
}

Capacity ports_of(const Cluster& cluster, const Machine& machine) {
  Capacity capacity;
  for (const int nic : machine.nics()) {
    Bandwidth bandwidth = machine.parts()[static_cast<std::size_t>(nic)].nic;
    if (cluster.network()->port_bandwidth) bandwidth = std::min(bandwidth, *cluster.network()->port_bandwidth);
    capacity.add(bandwidth, cluster.network()->latency);
  }
  return capacity;
}

class BoundFinder {
 public:
  BoundFinder(const Cluster& cluster, Bytes bytes) : cluster_(cluster), bytes_(bytes) {}

  Bound find() {
    if (cluster_.replicas() > 1 && bytes_ > Bytes()) {
      each_device();
      all_devices();
      if (cluster_.workers() > 1) workers();
    }
    return best_;
  }

 private:
  void offer(Time time, const Capacity& capacity, std::string reason) {
    const Time bound = time + (capacity.latency == kNever ? Time() : capacity.latency);
    if (bound > best_.time) best_ = {bound, std::move(reason)};
  }

  [[nodiscard]] const std::vector<int>& devices(const Machine& machine) const {
    return machine.gpus().empty() ? machine.cpus() : machine.gpus();
  }

  void each_device() {
    for (const WorkerGroup& group : cluster_.groups()) {
      const Machine& machine = *group.machine;
      for (int i = 0; i < cluster_.replicas_per_worker(); ++i) {
        const int part = devices(machine)[static_cast<std::size_t>(i)];
        for (const bool leaving : {true, false}) {
          Capacity capacity = links_of(machine, part, leaving);
          if (capacity.bytes_per_second == 0) {
            // A device without links of its own sits on the worker's network cards.
            if (machine.nics().empty() || cluster_.workers() == 1) continue;
            capacity = ports_of(cluster_, machine);
          }
          offer(time_for(bytes_, 1, capacity), capacity,
                fmt::format("every byte must {} {}", leaving ? "leave" : "reach",
                            machine.parts()[static_cast<std::size_t>(part)].name));
        }
      }
    }
  }

  void all_devices() {
    Capacity capacity;
    for (const WorkerGroup& group : cluster_.groups()) {
      const Machine& machine = *group.machine;
      for (const Part& part : machine.parts()) {
        if (part.in_switch_reduction) return;
      }
      std::vector<int> senders = devices(machine);
      senders.resize(static_cast<std::size_t>(cluster_.replicas_per_worker()));
      if (!machine.gpus().empty()) senders.insert(senders.end(), machine.cpus().begin(), machine.cpus().end());
      // GPUs that hold no replica may still help.
      if (!machine.gpus().empty())
        senders.insert(senders.end(), machine.gpus().begin() + cluster_.replicas_per_worker(), machine.gpus().end());
      for (const int part : senders) {
        capacity.add(links_of(machine, part, true), group.count);
      }
    }
    if (capacity.bytes_per_second == 0) return;
    offer(time_for(bytes_, 2 * (cluster_.replicas() - 1), capacity), capacity,
          "the links of all devices together carry no more");
  }

  void workers() {
    Capacity all;
    for (const WorkerGroup& group : cluster_.groups()) {
      const Capacity ports = ports_of(cluster_, *group.machine);
      offer(time_for(bytes_, 1, ports), ports,
            fmt::format("every byte must cross the network cards of {}", group.machine->name()));
      all.add(ports, group.count);
    }
    offer(time_for(bytes_, 2 * (cluster_.workers() - 1), all), all,
          "the network cards of all workers together carry no more");
  }

  const Cluster& cluster_;
  Bytes bytes_;
  Bound best_;
};

}  // namespace

Bound all_reduce_bound(const Cluster& cluster, Bytes bytes) {
  Bound bound = BoundFinder(cluster, bytes).find();
  if (bound.reason.empty()) bound.reason = "there is nothing to send";
  return bound;
}

Bound step_bound(const Cluster& cluster, const Workload& workload, std::int64_t compute_faster_ppm) {
  // Every task is scaled and rounded down by itself, so the sum may lose a picosecond for each.
  const Time rounding(compute_faster_ppm == 0
                          ? 0
                          : static_cast<std::int64_t>(workload.segments.size() + workload.gradients.size() + 2));
  const auto faster = [&](Time t) {
    const Time scaled(static_cast<std::int64_t>(static_cast<Wide>(t.count()) *
                                                static_cast<Wide>(1'000'000 - compute_faster_ppm) / 1'000'000));
    return std::max(Time(), scaled - rounding);
  };
  Bound best{Time(), "nothing to do"};
  for (const StepTimes& times : workload.times) {
    const Time compute = faster(times.forward + times.backward_total() + times.update);
    if (compute > best.time) best = {compute, "computation alone"};
    Bytes later;
    for (const Variable& gradient : workload.gradients) later += gradient.bytes();
    Time ready = times.forward;
    for (std::size_t s = 0; s < workload.segments.size(); ++s) {
      ready += times.backward[s];
      const std::vector<int>& variables = workload.segments[s].variables;
      if (variables.empty()) continue;
      const Bound communication = all_reduce_bound(cluster, later);
      const Time bound = faster(ready) + communication.time;
      if (bound > best.time && communication.time > Time()) {
        best = {bound, fmt::format(
                           "after {} of {} backward layers, {:.1f} MB of gradients have still to be reduced: {}", s + 1,
                           workload.segments.size(), static_cast<double>(later.count()) / 1e6, communication.reason)};
      }
      for (const int v : variables) later -= workload.gradients[static_cast<std::size_t>(v)].bytes();
    }
  }
  return best;
}

}  // namespace tutti::core
