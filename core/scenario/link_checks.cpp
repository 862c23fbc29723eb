#include "core/scenario/link_checks.h"

#include <set>
#include <tuple>

#include "core/strategy/algorithm_table.h"

namespace tutti::core {
namespace {

class LinkChecks {
 public:
  explicit LinkChecks(WrittenScenario& written)
      : problems_(written.problems),
        place_(written.cluster_place),
        scenario_(written.scenario),
        cluster_(*written.scenario.cluster) {}

  /// Checks that there is a route from every sending device to every other sending device. All
  /// workers of one entry of the cluster (WorkerGroup) have the same machine, so it is enough to
  /// check the first two workers of each entry.
  void check_reach() {
    const Strategy& strategy = scenario_.strategy;
    if (!strategy.spec) return (void)check_reach_of(strategy);
    for (std::size_t e = 0; e < strategy.spec->entries.size(); ++e) {
      if (strategy.spec->entries[e].algorithm && !check_reach_of(for_entry(strategy, e))) return;
    }
  }

  void check_duration() {
    const Bytes bytes = scenario_.workload.bytes();
    const auto check = [&](const std::string& name, Bandwidth bandwidth) {
      if (transfer_time(bytes, bandwidth) < Time(86'400 * kPicosecondsPerSecond)) return;
      problems_.add({ProblemCode::kTooSmall, "Cluster"}, place_,
                    "{} has only {:g} GB/s, so it would need more than a day for the {} bytes of "
                    "gradients; check its bandwidth",
                    name, to_gb_per_s(bandwidth), bytes.count());
    };
    for (const WorkerGroup& group : cluster_.groups()) {
      const std::vector<Part>& parts = group.machine->parts();
      for (std::size_t l = 0; l < group.machine->links().size(); l += 2) {
        const MachineLink& link = group.machine->links()[l];
        check(fmt::format("link \"{}\"–\"{}\"", parts[link.from].name, parts[link.to].name),
              link.bandwidth);
      }
      for (const int nic : group.machine->nics()) {
        check(fmt::format("nic \"{}\"", parts[nic].name), parts[nic].nic);
      }
    }
    if (cluster_.network() && cluster_.network()->port_bandwidth)
      check("the network", *cluster_.network()->port_bandwidth);
  }

 private:
  bool check_reach_of(const Strategy& strategy) {
    const bool hosts = sums_on_hosts(strategy) ||
                       (strategy.servers && strategy.servers->on == Servers::On::kHosts);
    std::vector<std::int64_t> workers;
    std::int64_t first = 0;
    for (const WorkerGroup& group : cluster_.groups()) {
      workers.push_back(first);
      if (group.count > 1) workers.push_back(first + 1);
      first += group.count;
    }
    std::set<std::tuple<const Machine*, const Machine*, bool>> seen;
    for (const std::int64_t a : workers) {
      for (const std::int64_t b : workers) {
        if (!seen.insert({&cluster_.machine(a), &cluster_.machine(b), a == b}).second) continue;
        for (const PartId from : senders(a, hosts)) {
          for (const PartId to : senders(b, hosts)) {
            if (!check_route(from, to, strategy.staging)) return false;
          }
        }
      }
    }
    return true;
  }

  [[nodiscard]] std::vector<PartId> senders(std::int64_t worker, bool host) const {
    std::vector<PartId> parts;
    if (worker >= cluster_.workers() - cluster_.servers()) return {cluster_.host(worker)};
    for (int r = 0; r < cluster_.replicas_per_worker(); ++r)
      parts.push_back(cluster_.replica(worker * cluster_.replicas_per_worker() + r));
    if (host) parts.push_back(cluster_.host(worker));
    return parts;
  }

  bool check_route(PartId from, PartId to, Staging staging) {
    std::vector<Hop> route;
    if (cluster_.append_route(from, to, staging, route)) return true;
    const bool staged = from.worker != to.worker && staging != Staging::kDirect;
    const bool rails =
        from.worker != to.worker && cluster_.network()->kind == Network::Kind::kRails;
    problems_.add({ProblemCode::kConflict, "Cluster"}, place_,
                  "no path of links leads from {} (machine \"{}\") to {} (machine \"{}\"){}{}; add "
                  "the missing link (only switches and CPUs forward traffic)",
                  cluster_.part_name(from), cluster_.machine(from.worker).name(),
                  cluster_.part_name(to), cluster_.machine(to.worker).name(),
                  staged ? " through both hosts' memory (staging: VIA_HOST)" : "",
                  rails ? " on the sender's rail" : "");
    return false;
  }

  Problems& problems_;
  const Location& place_;
  const Scenario& scenario_;
  const Cluster& cluster_;
};

}  // namespace

void check_links(WrittenScenario& written) {
  LinkChecks checks(written);
  checks.check_reach();
  checks.check_duration();
}

}  // namespace tutti::core
