// A network is read in two steps. The first step reads the parameters that every kind of network
// has. If the network names a link type, such as `link: "edr"`, the defaults are those of this
// type. The second step derives the shape of a fat tree or a dragonfly from the workers. For
// example, the default bandwidth of uplinks follows from the ports of a leaf. The second step is
// skipped if the workers are invalid or the first step has found a problem. In this case, the
// second step would only report consequences of the same mistake. A field that belongs to another
// kind of network has no effect, so it is a problem. The number of links between switches is
// checked before any link is created. The number of links is computed as a double, which cannot
// overflow. Routes are computed in core/cluster.

#include "core/scenario/network_reader.h"

#include <algorithm>

#include "core/cluster/nccl_sockets.h"
#include "core/proto/scenario.pb.h"
#include "core/scenario/cluster_reader.h"
#include "core/text/limits.h"

namespace tutti::core {
namespace {

constexpr std::int64_t kMaxPerSwitch = 4096;  ///< maximum number of spines, maximum number of
                                              ///< routers, and maximum number of links per switch
constexpr double kMaxOversubscription = 1000;
constexpr std::int64_t kMaxThreads = 1024;  ///< maximum number of threads that move the bytes of a
                                            ///< process

class NetworkReader {
 public:
  NetworkReader(const proto::Network& message, const std::vector<WorkerGroup>& groups,
                Fields& fields)
      : message_(message), groups_(groups), fields_(fields) {
    for (const WorkerGroup& group : groups) workers_ += group.count;
  }

  std::optional<Network> read(const std::string& path, const Library& library,
                              std::vector<Library::File>& files) {
    const std::size_t before = fields_.problems().size();
    if (!message_.link().empty() && !read_link(path, library, files)) return std::nullopt;
    read_kind();
    read_figures();
    refuse_fields_of_other_kinds();
    if (!fields_.sources().whole(message_)) return std::nullopt;
    if (workers_ > 0 && fields_.problems().size() == before) {
      if (network_.kind == Network::Kind::kFatTree) read_fat_tree();
      if (network_.kind == Network::Kind::kDragonfly) read_dragonfly();
    }
    if (fields_.problems().size() != before) return std::nullopt;
    return network_;
  }

 private:
  [[nodiscard]] bool has_switches() const {
    return network_.kind == Network::Kind::kFatTree || network_.kind == Network::Kind::kDragonfly;
  }

  bool read_link(const std::string& path, const Library& library,
                 std::vector<Library::File>& files) {
    const auto file = library.read(Library::Kind::kLink, message_.link(), path);
    if (!file) return fields_.problems().add(file.error()), false;
    if (!*file) {
      complain_unknown(fields_, message_, "link", "kind of link", message_.link(),
                       library.names(Library::Kind::kLink));
      return false;
    }
    remember(**file, files);
    Expected<NetworkLink> link = read_network_link((*file)->text, (*file)->path);
    if (!link) return fields_.problems().add(link.error()), false;
    link_ = std::move(*link);
    return true;
  }

  void read_kind() {
    switch (message_.kind()) {
      case proto::Network::ONE_SWITCH: network_.kind = Network::Kind::kOneSwitch; break;
      case proto::Network::RAILS: network_.kind = Network::Kind::kRails; break;
      case proto::Network::FAT_TREE: network_.kind = Network::Kind::kFatTree; break;
      case proto::Network::DRAGONFLY: network_.kind = Network::Kind::kDragonfly; break;
      default:
        fields_.complain_at(
            message_, "kind", ProblemCode::kMissing,
            "network: kind is missing; set it to ONE_SWITCH, RAILS, FAT_TREE or DRAGONFLY");
    }
  }

  std::optional<Bandwidth> rate(const google::protobuf::Message& message, const char* field,
                                const char* what) {
    const auto gb_per_s = fields_.number(message, field, what, {0, kMaxGbPerS, false});
    if (!gb_per_s) return std::nullopt;
    return bandwidth_from_gb_per_s(std::max(*gb_per_s, kMinGbPerS));
  }

  /// Returns the latency that the message sets; by default, the latency of the link type. Reports
  /// an error if neither exists.
  Time latency(const char* field, std::optional<Time> otherwise, const char* remedy) {
    if (!fields_.has(message_, field) && otherwise) return *otherwise;
    return time_from_us(
        fields_.required(message_, field, "network", {0, kMaxLatencyUs}, remedy).value_or(0));
  }

  void read_figures() {
    network_.port_bandwidth = rate(message_, "bandwidth_gb_per_s", "network");
    if (!network_.port_bandwidth && link_) network_.port_bandwidth = link_->port;
    network_.latency = latency("latency_us", link_ ? std::optional(link_->latency) : std::nullopt,
                               "set the latency from network card to network card, or the kind of "
                               "link, such as link: \"edr\"");
    network_.connection = rate(message_, "connection_gb_per_s", "network");
    if (!network_.connection && link_) network_.connection = link_->connection;
    network_.source = message_.source().empty() && link_ ? link_->source : message_.source();
    network_.transport = static_cast<Transport>(message_.transport());
    if (network_.transport == Transport::kNone && link_) network_.transport = link_->transport;
    network_.nccl_socket_threads = sockets("nccl_socket_threads", kMaxNcclSocketThreads);
    network_.nccl_sockets_per_thread = sockets("nccl_sockets_per_thread", kMaxNcclSockets);
    if (link_) {
      auto& threads = network_.nccl_socket_threads;
      if (!threads) threads = link_->nccl_socket_threads;
      auto& per_thread = network_.nccl_sockets_per_thread;
      if (!per_thread) per_thread = link_->nccl_sockets_per_thread;
    }
    read_host_transport();
    if (message_.path_choice() == proto::Network::DESTINATION)
      network_.choice.rule = PathChoice::Rule::kDestination;
    network_.choice.seed = message_.path_seed();
    for (const WorkerGroup& group : groups_) {
      const auto cards = static_cast<std::int32_t>(group.machine->nics().size());
      network_.choice.cards_per_worker = std::max(network_.choice.cards_per_worker, cards);
    }
    if (has_switches()) {
      switch_latency_ =
          latency("switch_us", link_ ? std::optional(link_->switch_latency) : std::nullopt,
                  "set switch_us to the latency of each switch after the first, or set link to a "
                  "kind of link");
    }
  }

  std::optional<int> sockets(const char* field, int max) {
    if (!fields_.has(message_, field)) return std::nullopt;
    return static_cast<int>(fields_.integer(message_, field, "network", 1, max).value_or(1));
  }

  void read_host_transport() {
    if (!message_.has_host_transport()) return;
    const proto::HostTransport& hosts = message_.host_transport();
    if (network_.transport != Transport::kTcp) {
      return fields_.complain_at(message_, "host_transport", ProblemCode::kUnused,
                                 "network: host_transport applies to TCP networks, but the "
                                 "transport is {}; remove host_transport, or set transport: TCP",
                                 network_.transport == Transport::kNone
                                     ? "not stated"
                                     : name_in_files(network_.transport));
    }
    const char* const what = "host_transport";
    HostTransportSettings& settings = network_.host_settings;
    settings.library = static_cast<HostLibrary>(hosts.library());
    settings.send_us_per_message =
        fields_.number(hosts, "send_us_per_message", what, {0, kMaxLatencyUs});
    settings.receive_us_per_message =
        fields_.number(hosts, "receive_us_per_message", what, {0, kMaxLatencyUs});
    settings.thread_gb_per_s =
        fields_.number(hosts, "thread_gb_per_s", what, {kMinGbPerS, kMaxGbPerS});
    settings.host_gb_per_s = fields_.number(hosts, "host_gb_per_s", what, {kMinGbPerS, kMaxGbPerS});
    settings.receive_us_per_mb2 = fields_.number(hosts, "receive_us_per_mb2", what, {0, 1e6});
    settings.overlay_factor = fields_.number(hosts, "overlay_factor", what, {1, 1000});
    if (const auto threads = fields_.integer(hosts, "threads", what, 1, kMaxThreads))
      settings.threads = static_cast<int>(*threads);
    settings.overlay = static_cast<Overlay>(hosts.overlay());
    settings.pod_per_gpu = hosts.pod_per_gpu();
    if (settings.overlay == Overlay::kNone && settings.overlay_factor)
      fields_.complain_at(
          hosts, "overlay_factor", ProblemCode::kUnused,
          "host_transport: overlay_factor needs an overlay; set one, such as overlay: IPIP");
  }

  void refuse_fields_of_other_kinds() {
    const auto only = [this](bool given, const char* field, bool fits, const char* kinds) {
      if (given && !fits)
        fields_.complain_at(message_, field, ProblemCode::kUnused,
                            "network: {} applies only to kind {}; remove it", field, kinds);
    };
    const char* const both = "FAT_TREE or DRAGONFLY";
    only(message_.has_fat_tree(), "fat_tree", network_.kind == Network::Kind::kFatTree, "FAT_TREE");
    only(message_.has_dragonfly(), "dragonfly", network_.kind == Network::Kind::kDragonfly,
         "DRAGONFLY");
    only(message_.has_switch_us(), "switch_us", has_switches(), both);
    only(message_.path_choice() != proto::Network::HASH, "path_choice", has_switches(), both);
    only(message_.has_path_seed(), "path_seed",
         has_switches() && network_.choice.rule == PathChoice::Rule::kHash,
         "FAT_TREE or DRAGONFLY with path_choice HASH");
  }

  // --- ports ---

  [[nodiscard]] Bandwidth port_of(const Machine& machine, int nic) const {
    const Bandwidth own = machine.parts()[nic].nic;
    return network_.port_bandwidth ? std::min(own, *network_.port_bandwidth) : own;
  }

  [[nodiscard]] Bandwidth widest_port() const {
    Bandwidth widest(1);
    for (const WorkerGroup& group : groups_) {
      for (const int nic : group.machine->nics())
        widest = std::max(widest, port_of(*group.machine, nic));
    }
    return widest;
  }

  /// For each worker and leaf, adds up the bandwidths of the worker's ports on this leaf. Returns
  /// the largest sum.
  [[nodiscard]] Bandwidth ports_on_leaf(bool rails) const {
    if (rails) return widest_port();
    Bandwidth most(1);
    for (const WorkerGroup& group : groups_) {
      Bandwidth sum;
      for (const int nic : group.machine->nics()) sum += port_of(*group.machine, nic);
      most = std::max(most, sum);
    }
    return most;
  }

  // --- shapes ---

  std::int64_t whole(const google::protobuf::Message& message, const char* field, const char* what,
                     std::int64_t most) {
    if (!fields_.has(message, field))
      fields_.complain_at(message, field, ProblemCode::kMissing, "{}: {} is missing", what, field);
    return fields_.integer(message, field, what, 1, most).value_or(1);
  }

  void check_size(const google::protobuf::Message& message, const char* what, double links) {
    if (links <= static_cast<double>(kMaxSwitchLinks)) return;
    fields_.complain(
        message, ProblemCode::kTooLarge,
        "{}: these settings make {:.3g} links between switches; at most {} can be simulated", what,
        links, kMaxSwitchLinks);
  }

  void read_fat_tree() {
    if (!message_.has_fat_tree()) {
      return fields_.complain_at(
          message_, "fat_tree", ProblemCode::kMissing,
          "network: fat_tree is missing; set fat_tree {{ workers_per_leaf: … spines: … }}");
    }
    const proto::FatTree& tree = message_.fat_tree();
    FatTreeShape& shape = network_.fat_tree;
    const std::size_t problems = fields_.problems().size();
    shape.workers_per_leaf = whole(tree, "workers_per_leaf", "fat_tree", kMaxWorkers);
    shape.spines = static_cast<std::int32_t>(whole(tree, "spines", "fat_tree", kMaxPerSwitch));
    shape.rails = tree.rails();
    shape.cards_per_worker = network_.choice.cards_per_worker;
    shape.switch_latency = switch_latency_;
    const auto oversubscription = fields_.number(tree, "oversubscription", "fat_tree",
                                                 {1 / kMaxOversubscription, kMaxOversubscription});
    const auto uplink = rate(tree, "uplink_gb_per_s", "fat_tree");
    if (tree.has_oversubscription() && tree.has_uplink_gb_per_s()) {
      fields_.complain_at(tree, "uplink_gb_per_s", ProblemCode::kConflict,
                          "fat_tree: oversubscription and uplink_gb_per_s both set the bandwidth "
                          "of the links to the spines; keep one");
    }
    if (fields_.problems().size() > problems) return;
    const double ports = static_cast<double>(shape.workers_per_leaf) *
                         static_cast<double>(ports_on_leaf(shape.rails).count());
    const double share = ports / oversubscription.value_or(1) / shape.spines;
    shape.uplink =
        uplink.value_or(bandwidth_from_gb_per_s(std::clamp(share / 1e9, kMinGbPerS, kMaxGbPerS)));
    const auto blocks = (workers_ + shape.workers_per_leaf - 1) / shape.workers_per_leaf;
    check_size(tree, "fat_tree",
               2.0 * static_cast<double>(blocks) * (shape.rails ? shape.cards_per_worker : 1) *
                   shape.spines);
    if (shape.rails) check_rails(tree);
  }

  void check_rails(const proto::FatTree& tree) {
    for (const WorkerGroup& group : groups_) {
      if (group.machine->nics().size() == groups_.front().machine->nics().size()) continue;
      fields_.complain_at(tree, "rails", ProblemCode::kUnused,
                          "fat_tree: rails need the same number of network cards on every machine "
                          "(\"{}\" has {}, \"{}\" has {}); remove rails",
                          groups_.front().machine->name(), groups_.front().machine->nics().size(),
                          group.machine->name(), group.machine->nics().size());
    }
  }

  void read_dragonfly() {
    if (!message_.has_dragonfly()) {
      return fields_.complain_at(
          message_, "dragonfly", ProblemCode::kMissing,
          "network: dragonfly is missing; set dragonfly {{ workers_per_router: … "
          "routers_per_group: … global_links_per_router: … }}");
    }
    const proto::Dragonfly& fly = message_.dragonfly();
    DragonflyShape& shape = network_.dragonfly;
    const std::size_t problems = fields_.problems().size();
    shape.workers_per_router =
        fields_.integer(fly, "workers_per_router", "dragonfly", 1, kMaxWorkers).value_or(1);
    shape.routers_per_group =
        static_cast<std::int32_t>(whole(fly, "routers_per_group", "dragonfly", kMaxPerSwitch));
    shape.global_links_per_router = static_cast<std::int32_t>(
        whole(fly, "global_links_per_router", "dragonfly", kMaxPerSwitch));
    shape.local = rate(fly, "local_gb_per_s", "dragonfly").value_or(widest_port());
    shape.global = rate(fly, "global_gb_per_s", "dragonfly").value_or(widest_port());
    shape.local_latency = switch_latency_;
    const auto us = fields_.number(fly, "global_us", "dragonfly", {0, kMaxLatencyUs});
    shape.global_latency = us ? time_from_us(*us) : switch_latency_;
    if (fields_.problems().size() > problems) return;
    const std::int64_t groups = Dragonfly::groups_for(workers_, shape);
    const std::int64_t links =
        static_cast<std::int64_t>(shape.routers_per_group) * shape.global_links_per_router;
    if (links < groups - 1) {
      fields_.complain_at(fly, "global_links_per_router", ProblemCode::kTooSmall,
                          "dragonfly: {} workers make {} groups, so each group needs at least {} "
                          "links, one to every other group; {} routers with {} links each have {}; "
                          "use more links, or larger groups",
                          workers_, groups, groups - 1, shape.routers_per_group,
                          shape.global_links_per_router, links);
    }
    check_size(fly, "dragonfly",
               static_cast<double>(groups) * shape.routers_per_group *
                   (shape.routers_per_group - 1.0 + shape.global_links_per_router));
  }

  const proto::Network& message_;
  const std::vector<WorkerGroup>& groups_;
  Fields& fields_;
  std::int64_t workers_ = 0;
  std::optional<NetworkLink> link_;
  Time switch_latency_;
  Network network_;
};

}  // namespace

std::optional<Network> network_from(const proto::Network& message,
                                    const std::vector<WorkerGroup>& groups, Fields& fields,
                                    const std::string& path, const Library& library,
                                    std::vector<Library::File>& files) {
  return NetworkReader(message, groups, fields).read(path, library, files);
}

Expected<void> expand_link(proto::Network& message, const std::string& path,
                           const Library& library) {
  if (message.link().empty()) return {};
  const auto file = library.read(Library::Kind::kLink, message.link(), path);
  if (!file) return tl::make_unexpected(file.error());
  if (!*file) {
    return tl::make_unexpected(
        Error::request({ProblemCode::kUnknownName, "Network.link"},
                       fmt::format("there is no link kind \"{}\"", message.link()), {path, 0, 0}));
  }
  const Expected<NetworkLink> link = read_network_link((*file)->text, (*file)->path);
  if (!link) return tl::make_unexpected(link.error());
  const auto us = [](Time time) { return static_cast<double>(time.count()) / 1e6; };
  const bool switches =
      message.kind() == proto::Network::FAT_TREE || message.kind() == proto::Network::DRAGONFLY;
  if (!message.has_bandwidth_gb_per_s()) message.set_bandwidth_gb_per_s(to_gb_per_s(link->port));
  if (!message.has_latency_us()) message.set_latency_us(us(link->latency));
  if (!message.has_switch_us() && switches) message.set_switch_us(us(link->switch_latency));
  if (!message.has_connection_gb_per_s() && link->connection)
    message.set_connection_gb_per_s(to_gb_per_s(*link->connection));
  if (!message.has_nccl_socket_threads() && link->nccl_socket_threads)
    message.set_nccl_socket_threads(*link->nccl_socket_threads);
  if (!message.has_nccl_sockets_per_thread() && link->nccl_sockets_per_thread)
    message.set_nccl_sockets_per_thread(*link->nccl_sockets_per_thread);
  if (message.source().empty()) message.set_source(link->source);
  if (message.transport() == proto::TRANSPORT_UNSPECIFIED)
    message.set_transport(static_cast<proto::Transport>(link->transport));
  message.clear_link();
  return {};
}

}  // namespace tutti::core
