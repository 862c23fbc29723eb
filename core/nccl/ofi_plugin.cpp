// NCCL uses EFA through a plugin, aws-ofi-nccl. The plugin's releases differ in what they tell NCCL
// about the network, and in the variables that they set, so NCCL's choices differ as well:
// - The latency that a release reports is part of NCCL's estimates (from NCCL 2.12 on). Up to 1.6,
//   the latency is 150 us on every instance; later releases report 75 us on P4d and P5, and from
//   1.15 on 35 us on P5en and P6.
// - LL and LL128 need a network that delivers 128 bytes in order. Release 1.6 sets
//   NCCL_PROTO=Simple everywhere. Later releases do so with the protocol SENDRECV (P4d and older),
//   but not with RDMA writes, which P5 uses from 1.7 on (in order from 1.7.3 on), P5en from 1.13
//   on, and P6 from 1.14 on.
// - With RDMA writes, the plugin stripes messages over the EFA devices of a GPU, and NCCL sees one
//   card. With SENDRECV, NCCL sees each device.
// - From 1.16 on, NCCL_BUFFSIZE is 8 MiB on P4d and later instances.
// - GPUs before Hopper flush every received message with a read. NCCL before 2.19 also flushes on
//   Hopper, unless the plugin (1.8 and later) prevents it.
// SOURCE: aws/aws-ofi-nccl, src/platform-aws.c (later .cpp) at the tags v1.6.0 to v1.21.0, and
// src/nccl_ofi_net.c at v1.2.0-aws to v1.5.0-aws.

#include "core/nccl/ofi_plugin.h"

#include <algorithm>
#include <charconv>
#include <cstddef>

#include <fmt/format.h>

#include "core/base/check.h"

namespace tutti::core::nccl {
namespace {

struct Current {
  Version nccl;
  Version plugin;
};
/// For releases of the plugin: the first release of NCCL that was published later, or at most a
/// week earlier. SOURCE: dates of the tags of NVIDIA/nccl and aws/aws-ofi-nccl.
constexpr Current kCurrent[] = {
    {{2, 13, 4}, {1, 4, 0}},  {{2, 16, 5}, {1, 5, 0}},  {{2, 18, 3}, {1, 6, 0}},
    {{2, 18, 5}, {1, 7, 1}},  {{2, 18, 6}, {1, 7, 3}},  {{2, 20, 3}, {1, 8, 0}},
    {{2, 22, 3}, {1, 9, 0}},  {{2, 23, 4}, {1, 11, 0}}, {{2, 24, 3}, {1, 13, 0}},
    {{2, 26, 3}, {1, 14, 0}}, {{2, 27, 5}, {1, 15, 0}}, {{2, 27, 6}, {1, 16, 0}},
    {{2, 28, 7}, {1, 17, 0}}, {{2, 29, 3}, {1, 18, 0}}, {{2, 30, 3}, {1, 19, 0}}};
constexpr Version kOldestPlugin{1, 2, 0};

/// Returns the first release of the plugin that uses RDMA writes on this generation of EFA.
Version first_with_writes(Transport transport) {
  if (transport == Transport::kEfaV2) return {1, 7, 0};
  return transport == Transport::kEfaV3 ? Version{1, 13, 0} : Version{1, 14, 0};
}

bool writes(Version plugin, Transport transport) {
  return transport >= Transport::kEfaV2 && transport <= Transport::kEfaV4 &&
         plugin >= first_with_writes(transport);
}

double reported_us(Version plugin, Transport transport, GpuGeneration gpus) {
  if (plugin < Version{1, 7, 0}) return 150;
  // Instances that a release does not know have 150 us before 1.13, and 75 us later.
  const double unknown = plugin < Version{1, 13, 0} ? 150 : 75;
  switch (transport) {
    case Transport::kEfaV3:
    case Transport::kEfaV4: return plugin < Version{1, 15, 0} ? unknown : 35;
    case Transport::kEfaCopies: return gpus == GpuGeneration::kVolta ? 150 : unknown;
    default: return 75;
  }
}

/// True if NCCL merges the ports of one adapter. SOURCE: NVIDIA/nccl, NCCL_IB_MERGE_NICS in
/// src/transport/net_ib.cc (2.20), NCCL_NET_MERGE_LEVEL in src/graph/topo.cc (2.24).
bool merges_ports(Transport transport, Version nccl) {
  return (transport == Transport::kInfiniband || transport == Transport::kRoce) &&
         nccl >= Version{2, 20, 3};
}

/// True if the user has set NCCL_PROTO.
bool sets_protocols(const Settings& settings) {
  return std::any_of(settings.protocols.begin(), settings.protocols.end(), [](const auto& all) {
    return std::any_of(all.begin(), all.end(),
                       [](Preference one) { return one != Preference::kNone; });
  });
}

/// Sets variables of NCCL, except those that the user has set, and remembers their names.
class Variables {
 public:
  explicit Variables(Settings& settings) : settings_(settings) {}

  void only_simple() {
    if (sets_protocols(settings_)) return;
    for (auto& protocols : settings_.protocols) {
      protocols.fill(Preference::kNo);
      protocols[static_cast<std::size_t>(Protocol::kSimple)] = Preference::kYes;
    }
    note("NCCL_PROTO=Simple");
  }
  void large_buffers() {
    if (settings_.buffer_bytes) return;
    settings_.buffer_bytes = std::int64_t{8} << 20;
    note("NCCL_BUFFSIZE=8388608");
  }
  void no_nvls() {
    if (settings_.nvls) return;
    settings_.nvls = false;
    note("NCCL_NVLS_ENABLE=0");
  }

  [[nodiscard]] const std::string& names() const { return names_; }

 private:
  void note(const char* variable) {
    names_ += fmt::format("{}{}", names_.empty() ? "" : ", ", variable);
  }

  Settings& settings_;
  std::string names_;
};

}  // namespace

Expected<Version> parse_ofi_plugin(std::string_view written) {
  std::string_view text = written;
  if (text.starts_with('v')) text.remove_prefix(1);
  text = text.substr(0, text.find('-'));
  Version release{0, 0, 0};
  const char* at = text.data();
  const char* const end = text.data() + text.size();
  int read = 0;
  for (int* const part : {&release.major, &release.minor, &release.patch}) {
    const auto [next, status] = std::from_chars(at, end, *part);
    if (status != std::errc()) break;
    ++read;
    at = next;
    if (at == end || *at != '.') break;
    ++at;
  }
  if (read < 2 || at != end || release.major != 1 || text.ends_with('.'))
    return tl::make_unexpected(
        Error::request({ProblemCode::kSyntax, "ofi_plugin"},
                       fmt::format("\"{}\" is not a release of aws-ofi-nccl; expected a text such "
                                   "as 1.16.3",
                                   written)));
  if (release < kOldestPlugin)
    return tl::make_unexpected(
        Error::request({ProblemCode::kTooSmall, "ofi_plugin"},
                       fmt::format("aws-ofi-nccl {} is too old; the oldest modelled release is {}",
                                   to_string(release), to_string(kOldestPlugin))));
  return release;
}

Version usual_ofi_plugin(Version nccl, Transport transport) {
  TUTTI_CHECK(is_efa(transport), "only EFA uses this plugin");
  Version plugin{1, 3, 0};
  for (const Current& one : kCurrent) {
    if (nccl >= one.nccl) plugin = one.plugin;
  }
  if (transport == Transport::kEfaV2) return std::max(plugin, Version{1, 7, 3});
  if (transport == Transport::kEfaV3 || transport == Transport::kEfaV4)
    return std::max(plugin, first_with_writes(transport));
  return plugin;
}

OfiPluginBehaviour behaviour_of(Version plugin, Transport transport, GpuGeneration gpus,
                                Version nccl) {
  TUTTI_CHECK(is_efa(transport), "only EFA uses this plugin");
  OfiPluginBehaviour made;
  made.latency_us = nccl < Version{2, 12, 0} ? 0 : reported_us(plugin, transport, gpus);
  made.merges = writes(plugin, transport);
  const bool in_order = made.merges && plugin >= Version{1, 7, 3};
  made.only_simple = plugin >= Version{1, 6, 0} && !in_order;
  made.large_buffers = plugin >= Version{1, 16, 0} && is_efa_with_rdma(transport);
  made.no_nvls = plugin >= Version{1, 7, 0} && nccl < Version{2, 18, 5};
  made.no_flush = plugin >= Version{1, 8, 0};
  return made;
}

void see_network(System& system, Version nccl, Settings& settings) {
  if (system.nodes == 1) return;
  bool merged = merges_ports(system.transport, nccl);
  const bool hopper = system.generation >= GpuGeneration::kHopper;
  system.flushes = !hopper || nccl < Version{2, 19, 1};
  if (is_efa(system.transport)) {
    const Version plugin = system.ofi_plugin.value_or(usual_ofi_plugin(nccl, system.transport));
    const OfiPluginBehaviour does = behaviour_of(plugin, system.transport, system.generation, nccl);
    merged = does.merges;
    system.card_latency_us = does.latency_us;
    if (hopper && does.no_flush) system.flushes = false;
    Variables set(settings);
    if (does.only_simple) set.only_simple();
    if (does.large_buffers) set.large_buffers();
    if (does.no_nvls && hopper) set.no_nvls();
    if (!set.names().empty())
      settings.notes.push_back(
          fmt::format("aws-ofi-nccl {}{} sets {}", to_string(plugin),
                      system.ofi_plugin ? "" : " (assumed from NCCL's release)", set.names()));
  }
  // Records of machines often list each EFA device.
  if (is_efa(system.transport) && merged && system.nics > system.gpus &&
      system.nics % system.gpus == 0) {
    system.nic_gb_per_s *= system.nics / system.gpus;
    system.devices_per_card *= system.nics / system.gpus;
    system.nics = system.gpus;
  }
  if (merged || system.devices_per_card <= 1) return;
  system.nics *= system.devices_per_card;
  system.nic_gb_per_s /= system.devices_per_card;
  system.devices_per_card = 1;
}

}  // namespace tutti::core::nccl
