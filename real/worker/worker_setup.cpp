// An assignment is data from the network, so every number that is used as an index, a size or a
// duration is checked here before the worker uses it. Each process lowers the scenario to a plan
// itself. The digest of the plan detects programs that would execute different plans. The address
// of a worker that joined over loopback is valid only on the coordinator's machine, so workers on
// other machines replace it by the coordinator's address. The class Worker in worker.cpp calls
// these functions in this order.

#include "real/worker/worker_setup.h"

#include <algorithm>
#include <chrono>
#include <limits>

#include <fmt/format.h>

#include "core/scenario/plan_digest.h"
#include "core/text/limits.h"
#include "real/join/meeting.h"
#include "real/nccl/api.h"
#include "real/proto/run.pb.h"
#include "real/transport/shm.h"
#include "real/transport/tcp.h"
#include "real/wire/peer_text.h"
#include "real/wire/protocol.h"
#include "real/worker/all_ranks.h"
#include "real/worker/patience.h"
#include "real/worker/run_limits.h"

namespace tutti::real {

using core::Error;
using core::Expected;
using Clock = CoordinatorLine::Clock;

namespace {

Clock::time_point patience_of(const proto::Assignment& order) {
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(
                            std::chrono::duration<double>(order.timeout_seconds()));
}

/// Returns the identifier of the communicator of all ranks; empty if there is none.
Expected<std::string> nccl_id(const BackendOptions& backend, const core::Scenario& scenario,
                              CoordinatorLine& line) {
  if (!needs_nccl_id(backend.backend, scenario)) return std::string();
  std::string own;
  if (backend.worker == 0) {
    auto made = make_nccl_id();
    if (!made) return made;
    own = std::move(*made);
  }
  proto::Control message;
  message.set_nccl_id(own);
  if (auto sent = line.send(message); !sent) return tl::make_unexpected(sent.error());
  auto received = line.next(longest_silence(backend.timeout), {});
  if (!received) return tl::make_unexpected(received.error());
  if (!(*received)->has_nccl_id() || (*received)->nccl_id().size() != kTuttiNcclIdBytes)
    return tl::make_unexpected(not_due("the run's NCCL identifier"));
  return (*received)->nccl_id();
}

tl::unexpected<Error> cannot_be(const std::string& what) {
  return tl::make_unexpected(Error::run({core::ProblemCode::kProtocol},
                                        "the coordinator sent an invalid assignment: " + what));
}

}  // namespace

Expected<std::chrono::duration<double>> timeout_of(const proto::Assignment& order) {
  if (!(order.timeout_seconds() > 0 && order.timeout_seconds() <= kMaxTimeoutSeconds))
    return cannot_be(fmt::format("a time-out of {:g} s", order.timeout_seconds()));
  return std::chrono::duration<double>(order.timeout_seconds());
}

Expected<core::Scenario> read_plan(const proto::Assignment& order, std::string_view coordinator) {
  std::vector<core::Library::File> files;
  for (const proto::LibraryFile& f : order.file()) {
    if (f.kind() < 0 || f.kind() > static_cast<int>(core::Library::Kind::kAlgorithm))
      return cannot_be(fmt::format("a file of kind {}", f.kind()));
    files.push_back({static_cast<core::Library::Kind>(f.kind()), f.name(), f.path(), f.text()});
  }
  auto scenario =
      core::read_scenario(order.scenario_text(), order.scenario_file(), core::Library(files));
  if (!scenario) return scenario;
  const std::uint64_t digest = core::plan_digest(*scenario);
  if (digest != order.plan_digest()) {
    return tl::make_unexpected(
        Error::run({core::ProblemCode::kIncompatible},
                   fmt::format("computes a different plan of the scenario ({:016x}, Tutti {}) than "
                               "the coordinator ({:016x}, Tutti {}); use the same program for both",
                               digest, protocol(), order.plan_digest(), coordinator)));
  }
  scenario->run.steps = order.steps();
  scenario->run.seed = order.seed();
  return scenario;
}

Expected<void> check_assignment(const proto::Assignment& order, const core::Scenario& scenario) {
  const core::Cluster& cluster = *scenario.cluster;
  if (order.peer_size() != cluster.workers())
    return cannot_be(fmt::format("the number of peers is {}, but the scenario has {} workers",
                                 order.peer_size(), cluster.workers()));
  struct Range {
    const char* what;
    std::int64_t value, least, most;
  };
  const bool loops = order.has_loop();
  for (const Range& range :
       {Range{"worker", order.worker(), 0, order.peer_size() - 1},
        Range{"steps", order.steps(), 1, core::kMaxSteps},
        Range{"batch", order.batch(), 1, core::kMaxSteps},
        Range{"most_spans", order.most_spans(), 0, std::numeric_limits<std::int64_t>::max()},
        Range{"spin_ns", order.spin_ns(), 0, 1'000'000'000},
        Range{"workers_here", order.workers_here(), 1, order.peer_size()},
        Range{"workers_before", order.workers_before(), 0, order.workers_here() - 1},
        Range{"streams", order.streams(), 1, kMaxStreams},
        Range{"iterations", loops ? order.loop().iterations() : 1, 1, kMaxIterations},
        Range{"warm_up", order.loop().warm_up(), 0, kMaxWarmUp}}) {
    if (range.value < range.least || range.value > range.most) {
      return cannot_be(fmt::format("{} is {}; expected a value from {} to {}", range.what,
                                   range.value, range.least, range.most));
    }
  }
  for (const proto::Address& peer : order.peer()) {
    if (!is_host_name(peer.host())) return cannot_be("a peer with an invalid address");
    if (peer.port() < 1 || peer.port() > 65'535)
      return cannot_be(fmt::format("a peer at port {}", peer.port()));
  }
  const double scale = order.time_scale();
  if (scale != 0 && !(scale >= kMinTimeScale && scale <= kMaxTimeScale))
    return cannot_be(fmt::format("a time scale of {:g}", scale));
  if (order.transport() != "tcp" && order.transport() != "shm")
    return cannot_be(
        fmt::format("transport \"{}\"", peer_text(order.transport(), kLongestActivity)));
  if (order.integrity() && order.transport() != "tcp")
    return cannot_be("authentication codes for messages in shared memory");
  // A benchmark repeats the first pack, with replicas of every worker.
  if (loops && (scenario.plan.packs.empty() || cluster.servers() > 0 || scenario.plan.partition))
    return cannot_be("a benchmark, but this scenario has no collective of all replicas to repeat");
  return {};
}

bool is_due(const proto::Go& go, std::int32_t next) {
  return go.step() == next && go.start_ns() > -kLatestNs && go.start_ns() < kLatestNs;
}

Expected<std::vector<Connection>> connect_workers(const proto::Assignment& order,
                                                  const CoordinatorFound& found,
                                                  const Listener& listener,
                                                  std::shared_ptr<const TlsContext> tls,
                                                  CoordinatorLine& line) {
  PeerConnectionOptions meeting;
  meeting.secret = found.secret;
  meeting.tls = std::move(tls);
  meeting.run = found.run;
  meeting.worker = order.worker();
  meeting.until = patience_of(order);
  meeting.streams = order.streams();
  meeting.coordinator = line.file();
  // A worker that joined over loopback is on the coordinator's machine, so other workers reach it
  // at that machine's address.
  const bool near = is_loopback(their_host(line.file())).value_or(false);
  for (const proto::Address& peer : order.peer()) {
    Address address{peer.host(), peer.port()};
    if (!near && is_loopback(address.host).value_or(false))
      address.host = found.appointment.coordinator.host;
    meeting.peers.push_back(std::move(address));
  }
  return connect_peers(meeting, listener, [&line] { return line.look(); });
}

Expected<std::unique_ptr<Transport>> open_transport(const proto::Assignment& order,
                                                    const core::Scenario& scenario,
                                                    std::vector<Connection> connections,
                                                    CoordinatorLine& line) {
  std::vector<std::int32_t> worker_of;
  const core::Group ranks = all_ranks(scenario.plan);
  for (core::Rank r = 0; r < count_of_ranks(scenario.plan); ++r)
    worker_of.push_back(ranks.device(r).worker);
  const WaitOptions options{std::chrono::duration_cast<std::chrono::microseconds>(
      std::chrono::nanoseconds(order.spin_ns()))};
  if (order.transport() != "shm")
    return std::make_unique<TcpTransport>(std::move(connections), std::move(worker_of), options,
                                          order.streams(),
                                          order.integrity() ? MessageMacs::kOn : MessageMacs::kOff);
  std::vector<int> sockets;
  for (Connection& connection : connections) {
    if (connection.encrypted()) return cannot_be("shared memory in a run with TLS");
    sockets.push_back(connection.release());
  }
  auto opened = ShmTransport::open(std::move(sockets), order.worker(), std::move(worker_of),
                                   options, {patience_of(order), [&line] { return line.look(); }});
  if (!opened) return tl::make_unexpected(opened.error());
  return std::unique_ptr<Transport>(std::move(*opened));
}

MemoryNeed need_of(const proto::Assignment& order, const core::Scenario& scenario) {
  MemoryOptions options;
  options.backend = parse_backend(order.backend()).value_or(Backend::kTcp);
  options.shared_memory = order.transport() == "shm";
  options.streams = order.streams();
  options.verify = order.verify();
  options.loop = order.has_loop();
  options.steps_at_once = std::max(order.batch(), 1);
  const MemoryNeed own = memory_need(scenario, order.worker(), options);
  MemoryNeed need;
  for (int w = 0; w < order.workers_here(); ++w) need += own;
  return need;
}

WorkerOptions options_of(const proto::Assignment& order) {
  WorkerOptions options;
  options.verify = order.verify();
  options.log = {order.record_packs(), order.record_steps(), order.most_spans()};
  options.timeout = std::chrono::duration<double>(order.timeout_seconds());
  return options;
}

Expected<BackendOptions> backend_of(const proto::Assignment& order) {
  BackendOptions options;
  const auto backend = parse_backend(order.backend());
  if (!backend)
    return tl::make_unexpected(Error::run(
        {core::ProblemCode::kProtocol}, fmt::format("the coordinator requests backend {}",
                                                    peer_text(order.backend(), kLongestActivity))));
  options.backend = *backend;
  options.worker = order.worker();
  options.workers_before = order.workers_before();
  options.workers_here = order.workers_here();
  options.spin = std::chrono::nanoseconds(order.spin_ns());
  options.timeout = std::chrono::duration<double>(order.timeout_seconds());
  options.follow_channels = order.record_steps();
  return options;
}

Expected<CollectivesMaker> collectives_for(const BackendOptions& backend,
                                           const core::Scenario& scenario, Transport& transport,
                                           Devices& devices, CoordinatorLine& line) {
  const auto id = nccl_id(backend, scenario, line);
  if (!id) return tl::make_unexpected(id.error());
  auto made = make_collectives(backend, scenario, transport, devices, *id,
                               [&line] { return line.still_wanted(); });
  if (!made) return tl::make_unexpected(line.stopped_or(made.error()));
  return made;
}

}  // namespace tutti::real
