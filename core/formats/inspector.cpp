#include "core/formats/inspector.h"

#include <optional>

#include "core/formats/decimal.h"
#include "core/formats/json_stream.h"
#include "core/formats/line_stream.h"

namespace tutti::core {
namespace {

/// The limit on times. The sum of two such times fits into 64 bits, even in nanoseconds.
constexpr std::int64_t kLargestUs = 3'000'000'000'000'000;

class InspectorLine {
 public:
  InspectorLine(std::string_view line, const std::string& name, InspectorRecord& record)
      : input_(byte_input_of(line, name)), in_(*input_, name, 4096), record_(record) {}

  enum class Found { kRecord, kStatistics, kProxy, kOther, kDamaged };
  Found read() {
    if (!in_.enter_object()) return Found::kOther;
    while (const auto key = in_.next_key()) {
      if (*key == "header")
        has_header_ = true, read_header();
      else if (*key == "metadata")
        read_metadata();
      else if (*key == "coll_perf")
        read_perf("coll");
      else if (*key == "p2p_perf")
        record_.is_point_to_point = true, read_perf("p2p");
      else {
        statistics_ = statistics_ || *key == "dump_stats";
        proxy_ = proxy_ || *key == "proxy_trace";
        if (other_.empty()) other_ = key->substr(0, 64);
        in_.skip();
      }
    }
    if (in_.failed()) return Found::kDamaged;
    if (perf_) return Found::kRecord;
    return statistics_ ? Found::kStatistics : proxy_ ? Found::kProxy : Found::kOther;
  }
  [[nodiscard]] bool has_header() const { return has_header_; }
  /// The name of the first field that the reader does not know; "" if there is none.
  [[nodiscard]] const std::string& other() const { return other_; }
  [[nodiscard]] const Error& error() const { return in_.error(); }

 private:
  void number_into(std::int64_t& to, std::int64_t largest = std::int64_t{1} << 50) {
    const auto number = scaled_decimal(in_.scalar(), 0);
    if (number && *number >= 0 && *number <= largest) to = *number;
  }
  void text_into(std::string& to) { to = in_.scalar().substr(0, 256); }

  void read_header() {
    if (!in_.enter_object()) return;
    while (const auto key = in_.next_key()) {
      if (*key == "id")
        text_into(record_.communicator);
      else if (*key == "comm_name")
        text_into(record_.communicator_name);
      else if (*key == "rank")
        number_into(record_.rank);
      else if (*key == "n_ranks")
        number_into(record_.ranks, std::int64_t{1} << 24);
      else if (*key == "nnodes")
        number_into(record_.nodes, std::int64_t{1} << 24);
      else
        in_.skip();
    }
  }
  void read_metadata() {
    if (!in_.enter_object()) return;
    while (const auto key = in_.next_key()) {
      if (*key == "inspector_output_format_version")
        text_into(record_.version);
      else if (*key == "hostname")
        text_into(record_.host);
      else if (*key == "pid")
        number_into(record_.pid);
      else if (*key == "dump_timestamp_us")
        number_into(record_.dumped_us, kLargestUs);
      else
        in_.skip();
    }
  }

  /// Reads an object whose field names begin with `prefix` ("coll_" or "p2p_"), except for the
  /// fields of the kind and of the traces.
  void read_perf(std::string_view prefix) {
    if (!in_.enter_object()) return;
    perf_ = true;
    while (const auto key = in_.next_key()) {
      std::string_view field = *key;
      if (field == prefix) {
        text_into(record_.kind);
        continue;
      }
      if (field == "event_trace_ts") {
        read_trace();
        continue;
      }
      if (field.starts_with(prefix)) field.remove_prefix(std::min(field.size(), prefix.size() + 1));
      if (field == "sn")
        number_into(record_.sequence);
      else if (field == "peer")
        number_into(record_.peer);
      else if (field == "msg_size_bytes")
        number_into(record_.message_bytes);
      else if (field == "timing_source")
        text_into(record_.timing_source);
      else if (field == "algo")
        text_into(record_.algorithm);
      else if (field == "proto")
        text_into(record_.protocol);
      else if (field == "n_channels")
        number_into(record_.channels, 1 << 20);
      else if (field == "exec_time_us") {
        // The time is "nan" if NCCL could not measure it.
        const auto ns = scaled_decimal(in_.scalar(), 3);
        if (ns && *ns > 0 && *ns < 100'000'000'000'000'000) record_.duration_ns = *ns;
      } else {
        in_.skip();
      }
    }
  }

  void read_trace() {
    if (!in_.enter_object()) return;
    while (const auto key = in_.next_key()) {
      if (key->ends_with("_start_ts")) {
        number_into(record_.issued_us, kLargestUs);
      } else if (*key == "kernel_events") {
        if (!in_.enter_array()) continue;
        std::int64_t channels = 0;
        while (in_.next_item()) {
          ++channels;
          read_kernel();
        }
        if (record_.channels < 0) record_.channels = channels;
      } else {
        in_.skip();
      }
    }
  }
  void read_kernel() {
    if (!in_.enter_object()) return;
    while (const auto key = in_.next_key()) {
      std::int64_t time = -1;
      if (*key == "kernel_start_ts") {
        number_into(time, kLargestUs);
        if (time > 0 && (record_.kernel_start_us < 0 || time < record_.kernel_start_us))
          record_.kernel_start_us = time;
      } else if (*key == "kernel_stop_ts") {
        number_into(time, kLargestUs);
        if (time > 0) record_.kernel_stop_us = std::max(record_.kernel_stop_us, time);
      } else {
        in_.skip();
      }
    }
  }

  std::unique_ptr<ByteInput> input_;
  JsonStream in_;
  InspectorRecord& record_;
  bool perf_ = false, statistics_ = false, proxy_ = false, has_header_ = false;
  std::string other_;
};

/// Sets the fields of the header and of the metadata to those of another record.
void inherit(const InspectorRecord& from, InspectorRecord& to) {
  to.communicator = from.communicator;
  to.communicator_name = from.communicator_name;
  to.rank = from.rank;
  to.ranks = from.ranks;
  to.nodes = from.nodes;
  to.version = from.version;
  to.host = from.host;
  to.pid = from.pid;
  to.dumped_us = from.dumped_us;
}

}  // namespace

Expected<void> read_inspector(ByteInput& input, const std::string& name,
                              const std::function<void(const InspectorRecord&)>& take,
                              RecordCounts& counts, const std::function<void(double)>& progress) {
  LineStream lines(input, name);
  std::int64_t records = 0;
  std::optional<Error> damaged;
  // In formats after v4.2, only the statistics at the beginning of each dump have a header. The
  // records that follow inherit it.
  std::optional<InspectorRecord> dump;
  while (const auto line = lines.next()) {
    // A damaged line is accepted only at the end of the file.
    if (damaged) return tl::make_unexpected(*damaged);
    constexpr int kBetween = 1 << 12;
    if (progress && lines.number() % kBetween == 0) progress(lines.share());
    const std::size_t brace = line->find_first_not_of(" \t,");
    if (brace == std::string_view::npos) continue;
    if ((*line)[brace] != '{') {
      counts.unknown("line that is not JSON");
      continue;
    }
    InspectorRecord record;
    record.line = lines.number();
    InspectorLine reader(line->substr(brace), name, record);
    switch (reader.read()) {
      case InspectorLine::Found::kRecord:
        if (!reader.has_header() && !dump) {
          counts.incomplete("record without a header");
          break;
        }
        if (!reader.has_header()) inherit(*dump, record);
        ++records;
        take(record);
        break;
      case InspectorLine::Found::kStatistics:
        if (reader.has_header()) dump = record;
        counts.ignore("statistics of the dump");
        break;
      case InspectorLine::Found::kProxy: counts.ignore("event of the proxy"); break;
      case InspectorLine::Found::kOther:
        counts.unknown(reader.other().empty() ? "record without coll_perf or p2p_perf"
                                              : "record with " + reader.other());
        break;
      case InspectorLine::Found::kDamaged:
        damaged =
            Error::request({ProblemCode::kSyntax}, reader.error().problems().front().text,
                           {name, lines.number(), reader.error().problems().front().where.column});
        break;
    }
  }
  if (lines.error()) return tl::make_unexpected(*lines.error());
  if (damaged) counts.incomplete("truncated last line");
  if (records == 0)
    return damaged
               ? tl::make_unexpected(*damaged)
               : tl::make_unexpected(Error::request({ProblemCode::kMissing, "coll_perf"},
                                                    "this is not a dump of the NCCL Inspector: no "
                                                    "line has a header and coll_perf or p2p_perf",
                                                    {name, 0, 0}));
  return {};
}

}  // namespace tutti::core
