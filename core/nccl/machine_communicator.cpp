#include "core/nccl/machine_communicator.h"

#include <numeric>
#include <utility>
#include <vector>

#include "core/cluster/host_transport.h"
#include "core/cluster/nccl_sockets.h"
#include "core/nccl/known_gpus.h"
#include "core/nccl/search/search.h"
#include "core/nccl/search/searched_communicator.h"
#include "core/nccl/search/uniform_graphs.h"
#include "core/nccl/system_of_machine.h"
#include "core/nccl/system_of_topology.h"
#include "core/nccl/topology/topology_of_machine.h"

namespace tutti::core::nccl {
namespace {

/// Returns the system with TCP sockets as its transport if the transport was InfiniBand or RoCE
/// verbs; otherwise the same system.
System over_sockets(System system) {
  if (system.transport != Transport::kInfiniband && system.transport != Transport::kRoce)
    return system;
  system.transport = Transport::kTcp;
  system.sockets = sockets_of(*host_transport(HostLibrary::kNccl, {}));
  system.gpudirect = false;
  system.collnet = false;
  return system;
}

/// Sets the threads and sockets of connections over TCP if NCCL's variables set them. Adds notes
/// for the user to `notes`.
void set_sockets(System& system, const Settings& settings, std::vector<std::string>& notes) {
  if (system.transport != Transport::kTcp) return;
  if (!settings.socket_threads && !settings.sockets_per_thread) return;
  const NcclSockets sockets =
      nccl_sockets({settings.socket_threads, settings.sockets_per_thread}, {}, notes);
  system.sockets.threads = sockets.threads;
  system.sockets.per_thread = sockets.per_thread;
}

}  // namespace

Expected<OnMachines> on_machines(const Machine& machine, const System& system,
                                 const std::optional<std::string>& network,
                                 const std::string& option, const Settings& settings,
                                 Version version) {
  const auto refuse = [](const Error& why) { return tl::make_unexpected(why); };
  const bool sockets = settings.ib_disabled.value_or(false);
  System whole = sockets ? over_sockets(system) : system;
  std::vector<std::string> notes;
  set_sockets(whole, settings, notes);
  // If NVLinks connect GPUs unevenly, rings depend on the links in the machine file, so use NCCL's
  // search instead of formulas.
  if (settings.of_the_search().empty() && whole.inside != Inside::kCubeMesh) {
    auto comm = uniform_communicator(whole, version, settings);
    if (!comm) return refuse(comm.error());
    return OnMachines{whole, std::move(*comm), std::move(notes)};
  }
  auto topology = topology_of(machine, whole);
  if (!topology) return refuse(topology.error());
  std::vector<int> ranks(whole.gpus);
  std::iota(ranks.begin(), ranks.end(), 0);
  topology = with_ranks(*topology, ranks);
  auto search = search_settings(settings, version);
  if (!search) return refuse(search.error());
  search->nvls = search->nvls && whole.switch_multicasts;
  const auto found = search_graphs(*topology, whole.nodes, *search);
  if (!found) return refuse(found.error());
  if (found->nodes_per_topology > 1 && whole.nodes == 1) {
    // If one machine has several nodes, these communicate over the same transport as nodes of
    // different machines.
    notes.clear();
    auto two = system_of(machine, 2, whole.gpus, network, option);
    if (!two && !network)
      notes.push_back(two.error().problems().front().text + "; assumed here: infiniband");
    if (!two && !network)
      two =
          system_of(machine, 2, whole.gpus, std::string(to_string(Transport::kInfiniband)), option);
    if (!two) return refuse(two.error());
    whole = sockets ? over_sockets(*two) : *two;
    whole.nodes = 1;
    set_sockets(whole, settings, notes);
  }
  auto comm = communicator_of(*topology, *found, whole.nodes, settings, version);
  if (!comm) return refuse(comm.error());
  OnMachines known{as_searched(whole, *topology, *found, *search), std::move(*comm),
                   std::move(notes)};
  // According to data sheets, network cards can access the memory of GPUs, so GPUDirect is assumed
  // unless the user sets a level.
  if (search->gdr_level && found->over_nodes) known.system.gpudirect = gpudirect(*found, *search);
  return known;
}

}  // namespace tutti::core::nccl
