// In a scenario, conditions name parts of the cluster, such as "w0/nic0" and "leaf0". Most of this
// file finds the parts that a scenario names. If a name is wrong, the error lists the valid names.
// A link that is given by two names stands for both directions. Factors, fractions and times are
// converted to integers (millionths and picoseconds), so that no simulation depends on
// floating-point arithmetic. Random choices, such as the slow workers and the times of bursts, are
// made when a run begins, from its seed (conditions.cpp).

#include "core/scenario/conditions_reader.h"

#include <algorithm>
#include <optional>

#include "core/base/number.h"
#include "core/base/units.h"
#include "core/proto/scenario.pb.h"
#include "core/text/limits.h"

namespace tutti::core {
namespace {

constexpr double kMaxSlowdown = 1e6;
constexpr double kShortestBurstMs = 0.001;
constexpr LinkId kMaxLoaded = 1'000'000;  ///< maximum number of links with background traffic

class ConditionsReader {
 public:
  ConditionsReader(Fields& fields, const Cluster& cluster) : fields_(fields), cluster_(cluster) {}

  Conditions read(const proto::Conditions& message) {
    for (const proto::SlowDevices& slow : message.slow()) read_slow(slow);
    for (const proto::GoneWorker& gone : message.gone()) read_gone(gone);
    for (const proto::LateHost& late : message.late_host()) read_late(late);
    for (const proto::LinkChange& change : message.link()) read_change(change);
    for (const proto::BackgroundLoad& load : message.background()) read_background(load);
    if (message.has_compute_noise()) read_noise(message.compute_noise());
    std::stable_sort(conditions_.links.begin(), conditions_.links.end(),
                     [](const LinkChange& a, const LinkChange& b) { return a.at < b.at; });
    return std::move(conditions_);
  }

 private:
  Time moment(const google::protobuf::Message& message, const char* field, const char* what,
              Time usual) {
    const auto ms = fields_.number(message, field, what, {0, kMaxMilliseconds});
    return ms ? time_from_us(*ms * 1e3) : usual;
  }

  // --- slow devices ---

  void read_slow(const proto::SlowDevices& message) {
    SlowDevices slow;
    slow.slowdown_ppm = ppm_from_share(
        fields_
            .required(message, "slowdown", "slow", {1, kMaxSlowdown},
                      "set slowdown to the factor by which times increase, such as 1.5")
            .value_or(1));
    slow.from = moment(message, "from_ms", "slow", Time());
    slow.to = moment(message, "to_ms", "slow", kNever);
    if (slow.to <= slow.from)
      fields_.complain_at(message, "to_ms", ProblemCode::kTooSmall,
                          "slow: to_ms must be above from_ms (got {:g} and {:g})", message.to_ms(),
                          message.from_ms());
    if (message.has_worker() == message.has_random_workers()) {
      return fields_.complain(message, ProblemCode::kConflict,
                              "slow: set either worker (the index of a worker) or random_workers "
                              "(a number of random workers)");
    }
    if (message.has_random_workers()) {
      slow.random_workers =
          fields_.integer(message, "random_workers", "slow", 1, cluster_.workers()).value_or(0);
      if (!message.device().empty()) {
        fields_.complain_at(message, "device", ProblemCode::kUnused,
                            "slow: random_workers slows all devices of a worker; remove device");
      }
    } else {
      slow.worker =
          fields_.integer(message, "worker", "slow", 0, cluster_.workers() - 1).value_or(-1);
      if (slow.worker >= 0 && !message.device().empty())
        slow.part = device_of(message, slow.worker, "slow");
    }
    conditions_.slow.push_back(slow);
  }

  void read_gone(const proto::GoneWorker& message) {
    if (!message.has_worker())
      return fields_.complain_at(message, "worker", ProblemCode::kMissing,
                                 "gone: worker is missing; set its index, from 0");
    const auto worker = fields_.integer(message, "worker", "gone", 0, cluster_.workers() - 1);
    conditions_.gone.push_back({worker.value_or(0), moment(message, "from_ms", "gone", Time())});
  }

  void read_late(const proto::LateHost& message) {
    LateHost late;
    const auto worker = fields_.integer(message, "worker", "late_host", 0, cluster_.workers() - 1);
    if (!message.has_worker())
      fields_.complain_at(message, "worker", ProblemCode::kMissing,
                          "late_host: worker is missing; set its index, from 0");
    late.worker = worker.value_or(-1);
    if (late.worker >= 0 && !message.device().empty())
      late.part = device_of(message, late.worker, "late_host");
    late.before = message.before();
    const auto ms = fields_.required(message, "ms", "late_host", {0, kMaxMilliseconds},
                                     "set ms to the time that the devices wait for their host");
    late.gap = time_from_us(ms.value_or(0) * 1e3);
    conditions_.late.push_back(std::move(late));
  }

  template <class Message>
  std::int32_t device_of(const Message& message, std::int64_t worker, const char* what) {
    const Machine& machine = cluster_.machine(worker);
    std::string known;
    for (std::size_t p = 0; p < machine.parts().size(); ++p) {
      const Part& part = machine.parts()[p];
      if (part.is_device() && part.name == message.device()) return static_cast<std::int32_t>(p);
      if (part.is_device()) known += (known.empty() ? "" : ", ") + part.name;
    }
    fields_.complain_at(message, "device", ProblemCode::kUnknownName,
                        "{}: worker {} (machine \"{}\") has no device \"{}\"; expected one of {}",
                        what, worker, machine.name(), message.device(), known);
    return -1;
  }

  // --- links ---

  void read_change(const proto::LinkChange& message) {
    LinkChange change;
    change.share_ppm = ppm_from_share(
        fields_
            .required(
                message, "bandwidth_share", "link", {0, 1},
                "set bandwidth_share to the remaining share of the bandwidth, from 0 (dead) to 1")
            .value_or(1));
    change.at = moment(message, "at_ms", "link", Time());
    const auto links = links_between(message);
    for (const LinkId link : links) {
      change.link = link;
      conditions_.links.push_back(change);
    }
  }

  /// Returns all links between two parts, in both directions.
  template <class Message>
  std::vector<LinkId> links_between(const Message& message) {
    std::vector<LinkId> found;
    const bool usable =
        check_end(message, "from", message.from()) && check_end(message, "to", message.to());
    if (!usable) return found;
    const auto a = switch_named(message.from());
    const auto b = switch_named(message.to());
    if (a && b) found = cluster_.fabric()->links_between(*a, *b);
    const std::int64_t worker =
        worker_of(message.from()).value_or(worker_of(message.to()).value_or(-1));
    if (worker < 0 && !cluster_.fabric()) {
      fields_.complain_at(message, "from", ProblemCode::kConflict,
                          "link: one end must be a part of a worker, such as \"w0/nic0\"");
      return found;
    }
    if (worker >= 0) {
      for (LinkId id = cluster_.first_link(worker); id < cluster_.first_link(worker + 1); ++id) {
        const Hop hop = cluster_.link(id);
        const std::string from = cluster_.part_name(hop.from);
        const std::string to = cluster_.part_name(hop.to);
        if ((from == message.from() && to == message.to()) ||
            (from == message.to() && to == message.from()))
          found.push_back(id);
      }
    }
    if (found.empty()) {
      fields_.complain_at(message, "from", ProblemCode::kUnknownName,
                          "link: no link joins \"{}\" and \"{}\" directly{}", message.from(),
                          message.to(), worker < 0 ? "" : neighbours(message, worker));
    }
    return found;
  }

  [[nodiscard]] std::optional<std::int32_t> switch_named(const std::string& name) const {
    return cluster_.fabric() ? cluster_.fabric()->find(name) : std::nullopt;
  }

  /// Returns the names of all switches of the network, for an error about a wrong name.
  [[nodiscard]] std::string names_of_switches() const {
    if (!cluster_.network()) return "";
    const Fabric* const fabric = cluster_.fabric();
    if (!fabric) return ", and the network is named \"network\"";
    return fmt::format(", and the switches of the network are named {} … {}", fabric->name(0),
                       fabric->name(fabric->switches() - 1));
  }

  bool check_end(const google::protobuf::Message& message, const char* field,
                 const std::string& name) {
    if (name == "network" && cluster_.network() && !cluster_.fabric()) return true;
    if (switch_named(name)) return true;
    const auto worker = worker_of(name);
    if (worker && *worker < cluster_.workers()) {
      const std::vector<Part>& parts = cluster_.machine(*worker).parts();
      const std::string part = name.substr(name.find('/') + 1);
      if (std::any_of(parts.begin(), parts.end(), [&](const Part& p) { return p.name == part; }))
        return true;
    }
    fields_.complain_at(message, field, ProblemCode::kUnknownName,
                        "link: there is no part \"{}\"; parts are named w0/gpu0, w1/nic0, …{}",
                        name, names_of_switches());
    return false;
  }

  template <class Message>
  [[nodiscard]] std::string neighbours(const Message& message, std::int64_t worker) const {
    std::string text;
    for (LinkId id = cluster_.first_link(worker); id < cluster_.first_link(worker + 1); ++id) {
      const Hop hop = cluster_.link(id);
      if (cluster_.part_name(hop.from) == message.from())
        text += (text.empty() ? "" : ", ") + cluster_.part_name(hop.to);
    }
    return text.empty() ? "" : "; links lead from \"" + message.from() + "\" to " + text;
  }

  /// Returns the worker's index from a name such as "w12/nic0".
  static std::optional<std::int64_t> worker_of(const std::string& name) {
    const std::size_t slash = name.find('/');
    if (name.empty() || name[0] != 'w' || slash == std::string::npos) return std::nullopt;
    const auto worker = whole_number<std::int64_t>(std::string_view(name).substr(1, slash - 1));
    return worker && *worker >= 0 ? worker : std::nullopt;
  }

  // --- background ---

  void read_background(const proto::BackgroundLoad& message) {
    BackgroundLoad load;
    load.entry = static_cast<std::int32_t>(conditions_.background.size());
    load.share_ppm =
        ppm_from_share(fields_
                           .required(message, "share", "background", {0, 0.99},
                                     "set share to the share of the bandwidth in use, such as 0.3")
                           .value_or(0));
    if (message.has_pause_ms() && !message.has_burst_ms())
      fields_.complain_at(message, "pause_ms", ProblemCode::kUnused,
                          "background: pause_ms has no effect without burst_ms; set both");
    if (message.has_burst_ms()) {
      const auto ms = [&](const char* field, const char* remedy) {
        const Bounds bounds{kShortestBurstMs, kMaxMilliseconds};
        return time_from_us(
            fields_.required(message, field, "background", bounds, remedy).value_or(1) * 1e3);
      };
      load.burst = ms("burst_ms", "");
      load.pause = ms("pause_ms", "set pause_ms to the mean pause between bursts");
    }
    load.links = links_loaded(message, load.where);
    conditions_.background.push_back(std::move(load));
  }

  std::vector<LinkId> links_loaded(const proto::BackgroundLoad& message, std::string& words) {
    if (message.where() == proto::BackgroundLoad::ONE_LINK) {
      words = "the link " + message.from() + " – " + message.to();
      return links_between(message);
    }
    if (!message.from().empty() || !message.to().empty())
      fields_.complain_at(message, "where", ProblemCode::kUnused,
                          "background: the field where selects several links, and the fields from "
                          "and to select a single link; keep either where, or from and to");
    std::vector<LinkId> found;
    if (message.where() == proto::BackgroundLoad::SWITCHES) {
      words = "all links between switches";
      if (cluster_.switch_links() == 0)
        fields_.complain_at(message, "where", ProblemCode::kConflict,
                            "background: this network has no links between switches; set where: "
                            "PORTS, or use a network "
                            "with such links, such as a FAT_TREE");
      // One link more than the limit is enough to report the error below.
      for (LinkId id = 0; id < std::min(cluster_.switch_links(), kMaxLoaded + 1); ++id)
        found.push_back(id);
    } else {
      words = "all ports of network cards";
      if (!cluster_.network())
        fields_.complain_at(message, "where", ProblemCode::kUnknownName,
                            "background: the cluster has no network and therefore no ports");
      for (LinkId id = cluster_.switch_links(); id < cluster_.links() && found.size() <= kMaxLoaded;
           ++id) {
        if (cluster_.link(id).kind == LinkKind::kNetwork) found.push_back(id);
      }
    }
    if (found.size() > kMaxLoaded)
      fields_.complain_at(
          message, "where", ProblemCode::kTooLarge,
          "background: this entry selects more than {} links; select single links with from and to",
          kMaxLoaded);
    return found;
  }

  // --- noise ---

  void read_noise(const proto::Noise& message) {
    Noise& noise = conditions_.compute_noise;
    noise.mean_ppm = ppm_from_share(
        fields_
            .required(
                message, "mean_percent", "compute_noise", {0, 1'000},
                "set mean_percent to the mean increase of a step's computation time, in percent")
            .value_or(0) /
        100);
    const auto needless = [&](const char* field, const char* kind) {
      if (fields_.has(message, field))
        fields_.complain_at(message, field, ProblemCode::kUnused,
                            "compute_noise: {} applies only to {} noise; remove {}", field, kind,
                            field);
    };
    switch (message.distribution()) {
      case proto::Noise::PARETO: {
        noise.kind = Noise::Kind::kPareto;
        const auto index = fields_.required(
            message, "tail_index", "compute_noise", {1.01, 100},
            "set tail_index to a value above 1, such as 2; a smaller value gives a heavier tail");
        noise.tail_index_milli = static_cast<std::int64_t>(index.value_or(2) * 1e3 + 0.5);
        return needless("probability_percent", "BERNOULLI");
      }
      case proto::Noise::BERNOULLI: {
        noise.kind = Noise::Kind::kBernoulli;
        const auto share =
            fields_.required(message, "probability_percent", "compute_noise", {0.001, 100},
                             "set probability_percent to the percentage of slow steps");
        noise.probability_ppm = ppm_from_share(share.value_or(100) / 100);
        return needless("tail_index", "PARETO");
      }
      case proto::Noise::EXPONENTIAL: noise.kind = Noise::Kind::kExponential; break;
      default:
        fields_.complain_at(
            message, "distribution", ProblemCode::kMissing,
            "compute_noise: distribution is missing; set it to EXPONENTIAL, PARETO or BERNOULLI");
    }
    needless("probability_percent", "BERNOULLI");
    needless("tail_index", "PARETO");
  }

  Fields& fields_;
  const Cluster& cluster_;
  Conditions conditions_;
};

}  // namespace

Conditions conditions_from(const proto::Conditions& message, Fields& fields,
                           const Cluster& cluster) {
  return ConditionsReader(fields, cluster).read(message);
}

}  // namespace tutti::core
