#include "core/calibrate/cluster_structure.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/cluster/machine_file.h"
#include "core/proto/scenario.pb.h"

namespace tutti::core {

proto::Machine spelled_out(const proto::Machine& machine) {
  proto::Machine spelled = machine;
  spelled.clear_device();
  spelled.clear_switch_();
  spelled.clear_nic();
  spelled.clear_link();
  const auto names = [](const std::string& pattern) {
    return expand_name(pattern).value_or(std::vector{pattern});
  };
  const auto add_all = [&](const auto& entries, auto* to) {
    for (const auto& entry : entries) {
      for (const std::string& name : names(entry.name())) {
        auto* const one = to->Add();
        *one = entry;
        one->set_name(name);
      }
    }
  };
  add_all(machine.device(), spelled.mutable_device());
  add_all(machine.switch_(), spelled.mutable_switch_());
  add_all(machine.nic(), spelled.mutable_nic());
  for (const proto::Link& link : machine.link()) {
    const auto from = names(link.from());
    const auto to = names(link.to());
    for (std::size_t i = 0; i < std::max(from.size(), to.size()); ++i) {
      proto::Link& one = *spelled.add_link();
      one = link;
      one.set_from(from[std::min(i, from.size() - 1)]);
      one.set_to(to[std::min(i, to.size() - 1)]);
    }
  }
  return spelled;
}

std::string shared_name(const std::string& machine) {
  return machine.substr(0, machine.find(" of w"));
}

namespace {

/// Returns a text that lists the parts and links of a machine. Parameters, sources and transports
/// are omitted, because the files of older calibrations do not state them.
std::string bare_machine(const proto::Machine& whole) {
  proto::Machine machine = spelled_out(whole);
  machine.set_name(shared_name(whole.name()));
  machine.clear_description();
  machine.clear_source();
  for (proto::Device& device : *machine.mutable_device()) {
    const proto::Device figures = device;
    device.Clear();
    device.set_name(figures.name());
    device.set_kind(figures.kind());
    if (figures.has_threads()) device.set_threads(figures.threads());
  }
  for (proto::Switch& part : *machine.mutable_switch_()) part.clear_source();
  for (proto::Nic& nic : *machine.mutable_nic()) {
    nic.clear_bandwidth_gb_per_s();
    nic.clear_source();
    nic.clear_transport();
  }
  for (proto::Link& link : *machine.mutable_link()) {
    link.clear_bandwidth_gb_per_s();
    link.clear_latency_us();
    link.clear_source();
  }
  for (proto::Ring& ring : *machine.mutable_ring()) ring.clear_source();
  return machine.ShortDebugString();
}

}  // namespace

std::string structure_of(const proto::Cluster& cluster) {
  proto::Cluster bare = cluster;
  bare.mutable_network()->clear_bandwidth_gb_per_s();
  bare.mutable_network()->clear_latency_us();
  bare.mutable_network()->clear_source();
  bare.mutable_network()->clear_transport();
  bare.mutable_network()->clear_host_transport();
  std::map<std::string, std::string> machines;
  for (const proto::Machine& machine : cluster.machine())
    machines[machine.name()] = bare_machine(machine);
  bare.clear_machine();
  bare.clear_workers();
  bare.clear_calibrated();
  // Identical groups of workers count as one group.
  std::string text = bare.ShortDebugString();
  std::string last;
  std::int64_t count = 0;
  const auto end_group = [&] {
    if (count > 0) text += fmt::format("\n{} x {}", std::exchange(count, 0), last);
  };
  for (proto::Workers workers : cluster.workers()) {
    const std::int64_t identical = workers.has_count() ? workers.count() : 1;
    const std::string machine = machines[workers.machine()];
    workers.clear_count();
    workers.clear_machine();
    const std::string one = workers.ShortDebugString() + machine;
    if (one != last) end_group();
    last = one;
    count += identical;
  }
  end_group();
  return text;
}

}  // namespace tutti::core
