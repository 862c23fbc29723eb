// libFuzzer target: sends any messages over a real control connection, as a peer that knows the
// secret. The first byte gives the direction: 0 from a coordinator to a worker, 1 from a worker to
// the coordinator, 2 and 3 the same as raw bytes. The messages follow, each preceded by its length
// in two bytes. Every message must be either rejected or checked before it is used, without a
// crash, an endless wait or unbounded memory.

#include <sys/socket.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/check.h"
#include "core/scenario/plan_digest.h"
#include "core/scenario/scenario.h"
#include "real/coordinator/async_account.h"
#include "real/coordinator/merge.h"
#include "real/coordinator/worker_set.h"
#include "real/proto/run.pb.h"
#include "real/wire/protocol.h"
#include "real/worker/coordinator_line.h"
#include "real/worker/worker_setup.h"

namespace {

using namespace tutti;
using real::ControlChannel;

constexpr const char* kTwoHosts =
    "cluster { workers { machine: \"h\" count: 2 } network { kind: ONE_SWITCH latency_us: 1 } "
    "machine { name: \"h\" device { name: \"cpu0\" kind: CPU memory_gb_per_s: 50 } nic { name: "
    "\"n\" bandwidth_gb_per_s: 10 } link { from: \"cpu0\" to: \"n\" kind: PCIE bandwidth_gb_per_s: "
    "10 latency_us: 0 } } } workload { variable { name: \"a\" shape: 10 } } strategy { algorithm: "
    "\"ring\" }";

const core::Scenario& two_hosts() {
  static const auto scenario =
      *core::read_scenario(kTwoHosts, "s", core::Library(std::vector<core::Library::File>()));
  return scenario;
}

/// Returns the bytes as they are sent over the connection.
std::string on_the_wire(std::string_view bytes, bool raw) {
  if (raw) return std::string(bytes);
  std::string wire;
  real::FrameWriter writer(real::SessionKeys{}.send);
  while (bytes.size() >= 2) {
    const std::size_t length = static_cast<unsigned char>(bytes[0]) |
                               static_cast<std::size_t>(static_cast<unsigned char>(bytes[1])) << 8;
    bytes.remove_prefix(2);
    wire += writer.framed(bytes.substr(0, length));
    bytes.remove_prefix(std::min(length, bytes.size()));
  }
  return wire;
}

/// Returns one end of a connection whose other end has sent these bytes.
real::Connection who_said(const std::string& wire, real::Socket& other) {
  int ends[2];
  TUTTI_CHECK(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0, "no sockets");
  other = real::Socket(ends[1]);
  const ssize_t sent = ::send(ends[1], wire.data(), wire.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  static_cast<void>(sent);  // the rest of a long input is ignored
  return real::Connection(real::Socket(ends[0]), {});
}

/// Does what a worker does with orders, before and while it relies on them.
core::Expected<void> obey(real::CoordinatorLine& line) {
  constexpr std::chrono::seconds kSilence{5};
  auto message = line.next(kSilence, {});
  if (!message) return tl::make_unexpected(message.error());
  if (!(*message)->has_assignment()) return tl::make_unexpected(real::not_due("an assignment"));
  proto::Assignment& order = *(*message)->mutable_assignment();
  order.set_scenario_text(kTwoHosts);
  order.set_scenario_file("s");
  order.set_plan_digest(core::plan_digest(two_hosts()));
  const auto timeout = real::timeout_of(order);
  if (!timeout) return tl::make_unexpected(timeout.error());
  const auto scenario = real::read_plan(order, real::protocol());
  if (!scenario) return tl::make_unexpected(scenario.error());
  if (auto checked = real::check_assignment(order, *scenario); !checked) return checked;
  if (order.worker() < 0 || order.worker() >= order.peer_size() || order.peer_size() != 2 ||
      order.batch() < 1 || order.workers_before() < 0 || order.streams() < 1)
    __builtin_trap();
  static_cast<void>(real::need_of(order, *scenario));
  static_cast<void>(real::options_of(order));
  if (auto backend = real::backend_of(order); !backend) return tl::make_unexpected(backend.error());
  for (std::int32_t first = 0; first < order.steps(); first += order.batch()) {
    auto go = line.next(kSilence, {});
    if (!go) return tl::make_unexpected(go.error());
    if ((*go)->has_finish()) return {};
    if (!(*go)->has_go() || !real::is_due((*go)->go(), first))
      return tl::make_unexpected(real::not_due("the next step"));
    if (auto wanted = line.look(); !wanted) return wanted;
  }
  return {};
}

void to_a_worker(const std::string& wire) {
  real::Socket other;
  const real::WorkerJoin join;
  real::CoordinatorLine line(who_said(wire, other), join);
  ::shutdown(other.get(), SHUT_WR);  // so that nothing waits for more data
  const real::WorkerEnd end = line.end(obey(line));
  if (!end.done && end.done.error().message().size() > 10'000) __builtin_trap();
}

proto::StepResult honest_step() {
  proto::StepResult part;
  proto::ReplicaStep& replica = *part.add_replica();
  replica.set_device("w1/cpu0");
  replica.set_end_ns(5000);
  proto::PackStep& pack = *part.add_pack();
  pack.set_end_ns(5000);
  return part;
}

void to_the_coordinator(const std::string& wire) {
  const core::Scenario& scenario = two_hosts();
  real::Children none;
  const core::RunControl control;
  real::WorkerSet workers(2, none, control, std::chrono::seconds(3), std::chrono::milliseconds(0));
  real::Socket liar, honest;
  workers[0].channel.emplace(who_said(wire, liar), ControlChannel::kLongestMessage);
  proto::Control ready, step;
  ready.mutable_ready();
  *step.mutable_step() = honest_step();
  std::string said;
  real::FrameWriter writer(real::SessionKeys{}.send);
  for (const proto::Control* message : {&ready, &step, &ready})
    said += writer.framed(message->SerializeAsString());
  workers[1].channel.emplace(who_said(said, honest), ControlChannel::kLongestMessage);
  workers.limit_inboxes({8, 1 << 20});
  core::NullSink sink;
  const core::RecordOptions record;
  real::StepMerger merger(scenario, 0, record, sink);
  real::AsyncAccount account(scenario.plan.partition ? 2 : 0, scenario.run.steps);
  const auto name = [&](std::size_t worker) { return workers.name(worker); };
  // Does the same as receive_from_all(), but does not wait for missing messages.
  for (int turn = 0; turn < 4; ++turn) workers.serve_joined_workers();
  const auto take_step = [&] {
    const auto steps = workers.try_receive_from_all(proto::Control::kStep);
    if (!steps || !merger.problem_of((*steps)[0]->step(), 0, 0).empty()) return;
    const auto same = [](std::int64_t ns) { return ns; };
    const std::vector<real::WorkerPart> parts{{&(*steps)[0]->step(), same},
                                              {&(*steps)[1]->step(), same}};
    if (!merger.problem_of((*steps)[1]->step(), 1, 0).empty()) __builtin_trap();
    merger.begin_batch(parts);
    merger.merge(0, parts);
  };
  if (const auto all = workers.try_receive_from_all(proto::Control::kReady);
      all && account.take(*all, name))
    take_step();
  if (workers[0].inbox.size() > 8) __builtin_trap();
  // Then both leave, and the coordinator must report that one of them is at fault.
  for (const real::Socket* const end : {&liar, &honest}) ::shutdown(end->get(), SHUT_RDWR);
  const auto none_left = workers.receive_from_all(proto::Control::kFinish, "has not left");
  if (none_left || none_left.error().message().size() > 10'000) __builtin_trap();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string wire =
      on_the_wire({reinterpret_cast<const char*>(data) + 1, size - 1}, (data[0] & 2) != 0);
  (data[0] & 1) == 0 ? to_a_worker(wire) : to_the_coordinator(wire);
  return 0;
}
