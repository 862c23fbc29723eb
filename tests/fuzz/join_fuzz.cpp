// libFuzzer target: uses any bytes as the data of a process that connects. The first byte selects
// the use: a handshake (from either end), environment variables of launchers, control messages and
// times of a worker that knows the secret, or a coordinator's assignment for a worker. All must be
// accepted or rejected without a crash.

#include <cstdint>
#include <string>
#include <string_view>

#include "core/scenario/plan_digest.h"
#include "core/scenario/scenario.h"
#include "real/coordinator/merge.h"
#include "real/join/handshake.h"
#include "real/join/launcher.h"
#include "real/join/tf_config.h"
#include "real/proto/run.pb.h"
#include "real/wire/frame.h"
#include "real/wire/protocol.h"
#include "real/worker/worker_setup.h"

namespace {

using namespace tutti;

class Nobody : public core::NullSink {};

void shake(real::Handshake handshake, std::string_view bytes) {
  while (handshake.wants() > 0 && bytes.size() >= handshake.wants()) {
    const std::size_t wanted = handshake.wants();
    handshake.take(bytes.substr(0, wanted));
    static_cast<void>(handshake.output());
    bytes.remove_prefix(wanted);
  }
  // Without the secret, no handshake may succeed.
  if (handshake.state() == real::Handshake::State::kDone) __builtin_trap();
}

constexpr const char* kTwoHosts =
    "cluster { workers { machine: \"h\" count: 2 } network { kind: ONE_SWITCH latency_us: 1 } "
    "machine { name: \"h\" "
    "device { name: \"cpu0\" kind: CPU memory_gb_per_s: 50 } nic { name: \"n\" bandwidth_gb_per_s: "
    "10 } "
    "link { from: \"cpu0\" to: \"n\" kind: PCIE bandwidth_gb_per_s: 10 latency_us: 0 } } } "
    "workload { variable { name: \"a\" shape: 10 } } strategy { algorithm: \"ring\" }";

const core::Scenario& two_hosts() {
  static const auto scenario =
      *core::read_scenario(kTwoHosts, "s", core::Library(std::vector<core::Library::File>()));
  return scenario;
}

/// Does what a worker does with its orders before it relies on them.
void assignment(std::string_view bytes) {
  proto::Assignment order;
  if (!order.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return;
  order.set_scenario_text(kTwoHosts);
  order.set_scenario_file("s");
  order.set_plan_digest(core::plan_digest(two_hosts()));
  if (!real::timeout_of(order)) return;
  const auto scenario = real::read_plan(order, real::protocol());
  if (!scenario || !real::check_assignment(order, *scenario)) return;
  if (order.worker() < 0 || order.worker() >= order.peer_size() || order.peer_size() != 2 ||
      order.batch() < 1 || order.workers_before() < 0 || order.streams() < 1)
    __builtin_trap();
}

void control(std::string_view bytes) {
  const core::Scenario& scenario = two_hosts();
  const real::Sha256 key{};
  real::FrameReader reader(1 << 20, key);
  real::FrameWriter writer(key);
  Nobody sink;
  const core::RecordOptions record;
  real::StepMerger merger(scenario, 0, record, sink);
  const std::size_t cut = bytes.size() / 2;
  for (const std::string_view part : {bytes.substr(0, cut), bytes.substr(cut)}) {
    // A member frames its messages correctly, whatever they contain.
    reader.take(writer.framed(part));
    while (true) {
      const auto message = reader.next();
      if (!message) return;
      if (!*message) break;
      proto::Control parsed;
      if (!parsed.ParseFromArray((*message)->data(), static_cast<int>((*message)->size())) ||
          !parsed.has_step())
        continue;
      if (!merger.problem_of(parsed.step(), 0, 0).empty()) continue;
      merger.merge(0, {{&parsed.step(), [](std::int64_t ns) { return ns; }}});
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const real::Nonce nonce{};
  const real::RunId run{};
  switch (data[0] % 6) {
    case 0:
      shake(real::Handshake::listen("secret", {real::Purpose::kControl, 0, real::kCoordinator, "1"},
                                    nonce, run),
            bytes);
      break;
    case 1:
      shake(real::Handshake::join("secret", {real::Purpose::kPeer, 1, 0, "1"}, nonce, run), bytes);
      break;
    case 2: control(bytes); break;
    case 3: static_cast<void>(real::launch_of_tf_config(std::string(bytes))); break;
    case 4:
      static_cast<void>(real::first_host(std::string(bytes)));
      static_cast<void>(real::parse_address(std::string(bytes)));
      break;
    case 5: assignment(bytes); break;
    default: break;
  }
  return 0;
}
