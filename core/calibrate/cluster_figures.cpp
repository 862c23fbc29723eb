// Calibration varies a few parameters, but a cluster has many fields. This file maps parameters to
// fields: `figures_[f]` is a parameter, and `targets_[f]` lists the fields that the parameter sets.
// Fields of the same kind with the same value share a parameter, so the number of parameters does
// not grow with the cluster. If a worker has an outlier, it gets its own copy of the machine, so
// that the copy's fields can have other values. A message over the network is limited by the lower
// of two bandwidths: the card's bandwidth and the network's bandwidth per port. Measurements show
// only the lower one. Therefore the parameter is the bandwidth that is lower in the scenario. The
// other bandwidth is increased if it would limit the measured rate (Target::at_least). fit.cpp
// finds the values of the parameters, and outliers.cpp finds the outliers.

#include "core/calibrate/cluster_figures.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <google/protobuf/text_format.h>

#include "core/base/version.h"
#include "core/calibrate/cluster_structure.h"
#include "core/cluster/machine.h"
#include "core/cluster/machine_file.h"
#include "core/framework/registry.h"
#include "core/proto/scenario.pb.h"
#include "core/scenario/cluster_reader.h"
#include "core/scenario/network_reader.h"
#include "core/scenario/old_form.h"
#include "core/text/bind.h"
#include "core/text/limits.h"

namespace tutti::core {
namespace {

/// The maximum factor by which a fitted value may differ from the start value. With a larger
/// factor, the result would describe a different machine.
constexpr double kMaxCorrection = 1e4;

ClusterFigure rate(const std::string& name, const std::string& about, double gb_per_s) {
  return {ClusterFigure::Kind::kRate,
          name,
          about,
          gb_per_s,
          std::max(gb_per_s / kMaxCorrection, kMinGbPerS),
          std::min(gb_per_s * kMaxCorrection, kMaxGbPerS)};
}

ClusterFigure latency(const std::string& name, const std::string& about, double us) {
  return {ClusterFigure::Kind::kLatency,
          name,
          about,
          us,
          us / kMaxCorrection,
          std::min(us * kMaxCorrection, kMaxLatencyUs)};
}

std::string unlike_others(const std::string& what, const Outlier& outlier) {
  const char* const how = outlier.figure == Outlier::Figure::kRate
                              ? (outlier.slower > 1 ? "slower" : "faster")
                              : (outlier.slower > 1 ? "later" : "earlier");
  return fmt::format("of this {}, {} than others", what, how);
}

/// Sets the start value of a parameter. For an outlier, the start value is estimated from its
/// relative slowdown.
ClusterFigure guessed(ClusterFigure figure, const Outlier* outlier) {
  if (!outlier) return figure;
  const double guess = outlier->figure == Outlier::Figure::kRate ? figure.before / outlier->slower
                                                                 : figure.before + outlier->late_us;
  figure.guess = std::clamp(guess, figure.least, figure.most);
  return figure;
}

/// Returns the machine to which `name` refers in the cluster. `path` is the file that contains the
/// cluster.
Expected<proto::Machine> machine_named(const std::string& name, const std::string& path,
                                       const Library& library) {
  const auto file = library.read(Library::Kind::kMachine, name, path);
  if (!file) return tl::make_unexpected(file.error());
  if (!*file)
    return tl::make_unexpected(
        Error::request({ProblemCode::kUnknownName, "Workers.machine"},
                       fmt::format("the cluster has no machine \"{}\"", name), {path, 0, 0}));
  Problems problems;
  SourceMap sources((*file)->path);
  proto::Machine machine;
  bind_named_file((*file)->text, (*file)->path, machine, sources, problems);
  if (!problems.empty()) return problems.take();
  return machine;
}

/// Makes the cluster independent of machine files: copies every machine that workers use into the
/// cluster, and removes all other machines.
Expected<void> write_out_machines(proto::Cluster& cluster, const std::string& path,
                                  const Library& library) {
  // Maps the name in `workers` to the name in the cluster.
  std::map<std::string, std::string> called;
  std::map<std::string, proto::Machine> own;
  for (const proto::Machine& machine : cluster.machine()) own[machine.name()] = machine;
  cluster.clear_machine();
  std::set<std::string> taken;
  for (proto::Workers& workers : *cluster.mutable_workers()) {
    auto known = called.find(workers.machine());
    if (known == called.end()) {
      proto::Machine machine;
      if (const auto found = own.find(workers.machine()); found != own.end()) {
        machine = found->second;
      } else if (Expected<proto::Machine> read = machine_named(workers.machine(), path, library)) {
        machine = std::move(*read);
      } else {
        return tl::make_unexpected(read.error());
      }
      spell_out_rates(machine);
      // Make the names distinct, because machines from two files may have the same name.
      const std::string plain = machine.name();
      for (int number = 2; !taken.insert(machine.name()).second; ++number)
        machine.set_name(fmt::format("{}-{}", plain, number));
      known = called.emplace(workers.machine(), machine.name()).first;
      *cluster.add_machine() = std::move(machine);
    }
    workers.set_machine(known->second);
  }
  return {};
}

std::string link_kind(const proto::Link& link) {
  switch (link.kind()) {
    case proto::Link::NVLINK: return "nvlink";
    case proto::Link::PCIE: return "pcie";
    default: return "socket";
  }
}

double reduce_rate(const proto::Device& device) {
  return device.has_reduce_gb_per_s() ? device.reduce_gb_per_s() : device.memory_gb_per_s() / 3;
}

double copy_rate(const proto::Device& device) {
  return device.has_copy_gb_per_s() ? device.copy_gb_per_s() : device.memory_gb_per_s() / 2;
}

void append_source(std::string& source, const std::string& fitted) {
  if (!fitted.empty()) source = source.empty() ? fitted : fitted + "; " + source;
}

}  // namespace

Expected<std::unique_ptr<proto::Scenario>> scenario_message(const std::string& text,
                                                            const std::string& path) {
  Problems problems;
  SourceMap sources(path);
  auto scenario = std::make_unique<proto::Scenario>();
  // Frameworks' fields are parsed only so that they are not reported as unknown.
  GuestMessages guests = framework_messages();
  bind(parse_scenario(text, path, problems).root, *scenario, sources, problems, &guests);
  if (!problems.empty()) return problems.take();
  return scenario;
}

ClusterFigures::ClusterFigures() : cluster_(std::make_unique<proto::Cluster>()) {}
ClusterFigures::ClusterFigures(ClusterFigures&&) noexcept = default;
ClusterFigures& ClusterFigures::operator=(ClusterFigures&&) noexcept = default;
ClusterFigures::~ClusterFigures() = default;

Expected<ClusterFigures> ClusterFigures::of(const std::string& text, const std::string& path,
                                            const Library& library) {
  Problems problems;
  SourceMap sources(path);
  proto::Scenario scenario;
  GuestMessages guests = framework_messages();
  bind(parse_scenario(text, path, problems).root, scenario, sources, problems, &guests);
  if (!problems.empty()) return problems.take();
  ClusterFigures figures;
  std::string written_at = path;
  if (scenario.cluster().has_file()) {
    Fields fields(sources, problems);
    std::vector<Library::File> files;
    const auto file = load_cluster_file(scenario.cluster(), fields, path, library, files);
    if (!file) return problems.take();
    *figures.cluster_ = *file->message;
    written_at = file->path;
  } else {
    *figures.cluster_ = scenario.cluster();
  }
  if (const auto done = write_out_machines(*figures.cluster_, written_at, library); !done)
    return tl::make_unexpected(done.error());
  if (figures.cluster_->has_network()) {
    const auto done = expand_link(*figures.cluster_->mutable_network(), written_at, library);
    if (!done) return tl::make_unexpected(done.error());
  }
  figures.launch_us_ = scenario.strategy().launch_us();
  figures.collect();
  return figures;
}

void ClusterFigures::leave_out_hosts() {
  if (!cluster_->has_network()) return;
  proto::Network& network = *cluster_->mutable_network();
  if (network.transport() == proto::TCP)
    network.mutable_host_transport()->set_library(proto::HostTransport::OFF);
}

ClusterFigures ClusterFigures::with_outliers(const std::vector<Outlier>& outlier) const {
  ClusterFigures figures;
  *figures.cluster_ = *cluster_;
  figures.launch_us_ = launch_us_;
  figures.outliers_ = outlier;
  proto::Cluster& cluster = *figures.cluster_;
  std::set<std::int64_t> alone;
  for (const Outlier& one : outlier) alone.insert(one.worker);
  cluster.clear_workers();
  std::int64_t first = 0;
  for (const proto::Workers& group : cluster_->workers()) {
    const std::int64_t count = group.has_count() ? group.count() : 1;
    std::int64_t identical = 0;
    const auto end_identically = [&] {
      if (identical == 0) return;
      proto::Workers& workers = *cluster.add_workers();
      workers = group;
      workers.set_count(static_cast<std::int32_t>(std::exchange(identical, 0)));
    };
    // Consecutive workers without outliers stay in one group, so that the file does not grow with
    // the cluster.
    for (std::int64_t worker = first; worker < first + count; ++worker) {
      if (!alone.contains(worker)) {
        ++identical;
        continue;
      }
      end_identically();
      const auto* const shared =
          std::find_if(cluster_->machine().begin(), cluster_->machine().end(),
                       [&](const auto& m) { return m.name() == group.machine(); })
              .
              operator->();
      // The worker may already have its own machine, made by an earlier calibration.
      const std::string name = fmt::format("{} of w{}", shared_name(shared->name()), worker);
      const auto known = std::find_if(cluster.machine().begin(), cluster.machine().end(),
                                      [&](const auto& m) { return m.name() == name; });
      const auto index = static_cast<int>(known - cluster.machine().begin());
      const proto::Machine spelled = spelled_out(*shared);
      if (known == cluster.machine().end()) cluster.add_machine();
      proto::Machine& own = *cluster.mutable_machine(index);
      own = spelled;
      own.set_name(name);
      figures.worker_of_[index] = worker;
      proto::Workers& workers = *cluster.add_workers();
      workers = group;
      workers.set_machine(own.name());
      workers.set_count(1);
    }
    end_identically();
    first += count;
  }
  figures.collect();
  return figures;
}

const Outlier* ClusterFigures::outlier_at(int machine, Outlier::What what, Outlier::Figure figure,
                                          const std::string& part, const std::string& other) const {
  const auto worker = worker_of_.find(machine);
  if (worker == worker_of_.end()) return nullptr;
  for (const Outlier& one : outliers_) {
    const bool ends =
        (one.part == part && one.other == other) || (one.part == other && one.other == part);
    if (one.worker == worker->second && one.what == what && one.figure == figure && ends)
      return &one;
  }
  return nullptr;
}

void ClusterFigures::collect() {
  std::int64_t workers = 0;
  for (const proto::Workers& group : cluster_->workers())
    workers += group.has_count() ? group.count() : 1;
  if (workers > 1) add_network();
  add_links();
  add_devices();
  if (launch_us_ > 0) {
    ClusterFigure launch =
        latency("launch", "time to launch a collective (launch_us of the strategy)", launch_us_);
    launch.kind = ClusterFigure::Kind::kLaunch;
    add(std::move(launch), {Target::Field::kLaunch, Target::Part::kStrategy});
  }
  make_names_distinct();
}

/// Adds a field (`target`) that a parameter sets. If there already is a parameter with the same
/// name and value, this parameter also sets the field.
void ClusterFigures::add(ClusterFigure figure, const Target& target) {
  if (!(figure.before > 0)) {
    const std::string note = fmt::format(
        "{0} is 0 in the scenario, so this parameter is not fitted; to fit it, set {0} to a small "
        "value above 0",
        figure.name);
    if (std::find(notes_.begin(), notes_.end(), note) == notes_.end()) notes_.push_back(note);
    return;
  }
  for (std::size_t f = 0; f < figures_.size(); ++f) {
    if (figures_[f].name != figure.name || figures_[f].before != figure.before) continue;
    targets_[f].push_back(target);
    return;
  }
  figures_.push_back(std::move(figure));
  targets_.push_back({target});
}

void ClusterFigures::add_network() {
  const proto::Network& network = cluster_->network();
  add(latency("network.latency", "one-way latency between network cards", network.latency_us()),
      {Target::Field::kLatency, Target::Part::kNetwork});
  double slowest_card = kMaxGbPerS;
  for (const proto::Machine& machine : cluster_->machine()) {
    for (const proto::Nic& nic : machine.nic())
      slowest_card = std::min(slowest_card, nic.bandwidth_gb_per_s());
  }
  // If the network's ports are slower than the cards, the ports' bandwidth is the parameter, and
  // the cards' bandwidth is increased so that it does not limit the ports. If the cards are slower,
  // the cards' bandwidth is the parameter, and the ports' bandwidth is increased. The ports have
  // one bandwidth for all cards. With a card that is faster than the others, the parameters are
  // therefore the cards' bandwidths, which start at the ports' bandwidth if that is lower.
  const bool fast_card = std::any_of(outliers_.begin(), outliers_.end(), [](const Outlier& one) {
    return one.what == Outlier::What::kCard && one.figure == Outlier::Figure::kRate &&
           one.slower < 1;
  });
  const double port = network.has_bandwidth_gb_per_s() ? network.bandwidth_gb_per_s() : kMaxGbPerS;
  const bool ports_limit = network.has_bandwidth_gb_per_s() && port <= slowest_card && !fast_card;
  const std::string about = "bandwidth of a network card's port, per direction";
  const Target ports{Target::Field::kBandwidth, Target::Part::kNetwork, -1, 0, !ports_limit};
  if (ports_limit) add(rate("network.bandwidth", about, port), ports);
  for (int m = 0; m < cluster_->machine_size(); ++m) {
    const proto::Machine& machine = cluster_->machine(m);
    for (int n = 0; n < machine.nic_size(); ++n) {
      const double own = machine.nic(n).bandwidth_gb_per_s();
      const double start = ports_limit || fast_card ? std::min(port, own) : own;
      if (const Outlier* const one =
              outlier_at(m, Outlier::What::kCard, Outlier::Figure::kRate, machine.nic(n).name())) {
        add(guessed(rate("network.bandwidth of " + one->name(), unlike_others("card", *one), start),
                    one),
            {Target::Field::kBandwidth, Target::Part::kNic, m, n});
        continue;
      }
      const Target card{Target::Field::kBandwidth, Target::Part::kNic, m, n, ports_limit};
      add(rate("network.bandwidth", about, start), card);
    }
  }
  if (ports_limit || !network.has_bandwidth_gb_per_s()) return;
  for (std::size_t f = 0; f < figures_.size(); ++f) {
    if (figures_[f].name.starts_with("network.bandwidth")) targets_[f].push_back(ports);
  }
}

void ClusterFigures::add_links() {
  for (int m = 0; m < cluster_->machine_size(); ++m) {
    const proto::Machine& machine = cluster_->machine(m);
    for (int l = 0; l < machine.link_size(); ++l) {
      const proto::Link& link = machine.link(l);
      const std::string kind = link_kind(link);
      const auto outlier = [&](Outlier::Figure figure) {
        return outlier_at(m, Outlier::What::kLink, figure, link.from(), link.to());
      };
      const Outlier* const late = outlier(Outlier::Figure::kLatency);
      const Outlier* const slow = outlier(Outlier::Figure::kRate);
      add(guessed(
              latency(
                  late ? fmt::format("{}.latency of {}", kind, late->name()) : kind + ".latency",
                  late ? unlike_others("link", *late) : "latency until the first bit arrives",
                  link.latency_us()),
              late),
          {Target::Field::kLatency, Target::Part::kLink, m, l});
      add(guessed(rate(slow ? fmt::format("{}.bandwidth of {}", kind, slow->name())
                            : kind + ".bandwidth",
                       slow ? unlike_others("link", *slow) : "per direction",
                       link.bandwidth_gb_per_s()),
                  slow),
          {Target::Field::kBandwidth, Target::Part::kLink, m, l});
    }
  }
}

void ClusterFigures::add_devices() {
  for (int m = 0; m < cluster_->machine_size(); ++m) {
    const proto::Machine& machine = cluster_->machine(m);
    for (int d = 0; d < machine.device_size(); ++d) {
      const proto::Device& device = machine.device(d);
      const std::string kind = device.kind() == proto::Device::CPU ? "cpu" : "gpu";
      const Outlier* const one =
          outlier_at(m, Outlier::What::kDevice, Outlier::Figure::kRate, device.name());
      add(guessed(rate(one ? fmt::format("{}.reduce of {}", kind, one->name()) : kind + ".reduce",
                       one ? unlike_others("device", *one)
                           : "rate of reductions, in bytes of one operand per second",
                       reduce_rate(device)),
                  one),
          {Target::Field::kReduce, Target::Part::kDevice, m, d});
      add(rate(kind + ".copy", "copies inside the device", copy_rate(device)),
          {Target::Field::kCopy, Target::Part::kDevice, m, d});
    }
  }
}

void ClusterFigures::make_names_distinct() {
  std::map<std::string, int> times;
  for (const ClusterFigure& figure : figures_) ++times[figure.name];
  for (ClusterFigure& figure : figures_) {
    if (times[figure.name] > 1) figure.name += fmt::format(":{:g}", figure.before);
  }
}

void ClusterFigures::set(proto::Cluster& cluster, const Target& target, double value,
                         const std::string& source) {
  proto::Machine* machine = target.machine < 0 ? nullptr : cluster.mutable_machine(target.machine);
  switch (target.part) {
    case Target::Part::kNetwork: {
      proto::Network& network = *cluster.mutable_network();
      if (target.field == Target::Field::kLatency) {
        network.set_latency_us(value);
      } else {
        if (target.at_least && network.bandwidth_gb_per_s() >= value) return;
        network.set_bandwidth_gb_per_s(value);
      }
      return append_source(*network.mutable_source(), source);
    }
    case Target::Part::kNic: {
      proto::Nic& nic = *machine->mutable_nic(target.index);
      if (target.at_least && nic.bandwidth_gb_per_s() >= value) return;
      nic.set_bandwidth_gb_per_s(value);
      return append_source(*nic.mutable_source(), source);
    }
    case Target::Part::kLink: {
      proto::Link& link = *machine->mutable_link(target.index);
      target.field == Target::Field::kLatency ? link.set_latency_us(value)
                                              : link.set_bandwidth_gb_per_s(value);
      return append_source(*link.mutable_source(), source);
    }
    case Target::Part::kDevice: {
      proto::Device& device = *machine->mutable_device(target.index);
      target.field == Target::Field::kReduce ? device.set_reduce_gb_per_s(value)
                                             : device.set_copy_gb_per_s(value);
      return append_source(*device.mutable_source(), source);
    }
    case Target::Part::kStrategy: return;
  }
}

void ClusterFigures::put(const std::vector<double>& values, proto::Scenario& scenario) const {
  proto::Cluster& cluster = *scenario.mutable_cluster();
  cluster = *cluster_;
  for (std::size_t f = 0; f < figures_.size(); ++f) {
    for (const Target& target : targets_[f]) set(cluster, target, values[f], "");
    if (figures_[f].kind == ClusterFigure::Kind::kLaunch &&
        scenario.strategy().launch_us() == launch_us_)
      scenario.mutable_strategy()->set_launch_us(values[f]);
  }
}

std::string ClusterFigures::structure() const { return structure_of(*cluster_); }

std::string ClusterFigures::text(const std::vector<FigureSource>& values,
                                 const FittedTo& fitted_to) const {
  proto::Cluster cluster = *cluster_;
  if (fitted_to.most > Bytes(0)) {
    proto::Calibrated& calibrated = *cluster.mutable_calibrated();
    calibrated.set_least_bytes(fitted_to.least.count());
    calibrated.set_most_bytes(fitted_to.most.count());
    std::int32_t workers = 0;
    for (const proto::Workers& group : cluster.workers())
      workers += group.has_count() ? group.count() : 1;
    calibrated.set_workers(workers);
  }
  for (std::size_t f = 0; f < figures_.size(); ++f) {
    if (values[f].text.empty()) continue;
    for (const Target& target : targets_[f]) set(cluster, target, values[f].value, values[f].text);
  }
  google::protobuf::TextFormat::Printer printer;
  printer.SetUseShortRepeatedPrimitives(true);
  printer.SetUseUtf8StringEscaping(true);
  std::string written;
  printer.PrintToString(cluster, &written);
  return written;
}

}  // namespace tutti::core
