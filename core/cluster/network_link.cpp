#include "core/cluster/network_link.h"

#include "core/cluster/nccl_sockets.h"
#include "core/proto/machine.pb.h"
#include "core/text/bind.h"
#include "core/text/document.h"
#include "core/text/fields.h"
#include "core/text/limits.h"

namespace tutti::core {

Expected<NetworkLink> read_network_link(const std::string& text, const std::string& path) {
  Problems problems;
  SourceMap sources(path);
  proto::NetworkLink message;
  const Document document = bind_named_file(text, path, message, sources, problems);
  if (document.cut_off) return problems.take();
  Fields fields(sources, problems);
  const std::string what = "link kind";
  const auto number = [&](const char* field, Bounds bounds) {
    return fields.required(message, field, what, bounds).value_or(1);
  };
  const auto bytes = [&](const char* field, std::int64_t least) {
    if (!fields.has(message, field))
      fields.complain_at(message, field, ProblemCode::kMissing, "{}: {} is missing", what, field);
    return static_cast<double>(fields.integer(message, field, what, least, 1 << 20).value_or(1));
  };
  if (message.name().empty())
    fields.complain_at(message, "name", ProblemCode::kMissing, "a link kind needs a name");
  if (message.source().empty())
    fields.complain_at(message, "source", ProblemCode::kMissing,
                       "link kind \"{}\": source is missing; state where its parameters are from",
                       message.name());
  NetworkLink link;
  link.name = message.name();
  link.source = message.source();
  link.transport = static_cast<Transport>(message.transport());
  const double line = number("port_gbit_per_s", {0, 8 * kMaxGbPerS, false}) / 8;
  const double payload = bytes("packet_payload_bytes", 1);
  const double overhead = bytes("packet_overhead_bytes", 0);
  link.port = bandwidth_from_gb_per_s(std::max(line * payload / (payload + overhead), kMinGbPerS));
  link.latency = time_from_us(number("latency_us", {0, kMaxLatencyUs}));
  link.switch_latency = time_from_us(number("switch_us", {0, kMaxLatencyUs}));
  if (const auto rate = fields.number(message, "connection_gb_per_s", what, {0, kMaxGbPerS, false}))
    link.connection = bandwidth_from_gb_per_s(std::max(*rate, kMinGbPerS));
  const auto count = [&](const char* field, int max) -> std::optional<int> {
    if (!fields.has(message, field)) return std::nullopt;
    return static_cast<int>(fields.integer(message, field, what, 1, max).value_or(1));
  };
  link.nccl_socket_threads = count("nccl_socket_threads", kMaxNcclSocketThreads);
  link.nccl_sockets_per_thread = count("nccl_sockets_per_thread", kMaxNcclSockets);
  if (!problems.empty()) return problems.take();
  return link;
}

}  // namespace tutti::core
