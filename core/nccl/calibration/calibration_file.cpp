// A calibration file stores measurements, not corrections. Each row has a measured time and the
// four parts of the uncorrected prediction (launch, hops, fill, transfer), from which all
// corrections are computed again whenever the file is read. Because corrections are not stored,
// more measurements can be added to a file later. The rows are valid only for the parameters with
// which the parts were predicted, so the file contains a digest of these parameters (`figures`). A
// file is read in two stages: bind() checks the syntax and types, and CalibrationReader checks
// names and ranges. After a problem, the reader continues with a valid placeholder value, so that
// it can find further problems. After any problem, the result is discarded. The corrections are
// computed in core/nccl/calibration.

#include "core/nccl/calibration/calibration_file.h"

#include <algorithm>
#include <cmath>

#include <google/protobuf/text_format.h>

#include "core/base/file.h"
#include "core/nccl/calibration/calibration_names.h"
#include "core/proto/calibration.pb.h"
#include "core/text/bind.h"
#include "core/text/document.h"
#include "core/text/fields.h"

namespace tutti::core::nccl {
namespace {

constexpr int kMaxNodes = 1'000'000;
constexpr int kMaxGpus = 1'000;

template <class Names>
std::string listed(const Names& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i)
    text += (i == 0 ? "" : i + 1 == names.size() ? " or " : ", ") + std::string(names[i].second);
  return text;
}

/// Sets `value` to the value that `names` has for the given name. Reports a problem if `names` does
/// not contain the name.
template <class Value, class Names>
void read_name(Fields& fields, const google::protobuf::Message& message, const char* field,
               const std::string& written, const Names& names, Value& value) {
  for (const auto& [one, name] : names) {
    if (name == written) {
      value = one;
      return;
    }
  }
  fields.complain_at(message, field,
                     written.empty() ? ProblemCode::kMissing : ProblemCode::kUnknownName,
                     "{} \"{}\": expected {}", field, written, listed(names));
}

class CalibrationReader {
 public:
  explicit CalibrationReader(Fields& fields) : fields_(fields) {}

  CalibratedSystem system(const proto::Calibration& message) {
    CalibratedSystem made;
    if (!message.has_system()) {
      fields_.complain_at(message, "system", ProblemCode::kMissing,
                          "system is missing; describe the system that was measured");
      return made;
    }
    const proto::CalibratedSystem& written = message.system();
    made.cluster = written.cluster();
    read_name(fields_, written, "gpu", written.gpu(), kGenerationNames, made.generation);
    read_name(fields_, written, "inside", written.inside(), kInsideNames, made.inside);
    made.nvlinks =
        static_cast<int>(fields_.integer(written, "nvlinks", "system", 0, 1000).value_or(0));
    made.cards_gb_per_s = fields_.number(written, "cards_gb_per_s", "system", {0, 1e6}).value_or(0);
    return made;
  }

  std::vector<CalibratedTable> tables(const proto::Calibration& message) {
    std::vector<CalibratedTable> made;
    if (message.table().empty())
      fields_.complain_at(message, "table", ProblemCode::kMissing,
                          "the calibration has no table of measurements");
    for (const proto::MeasuredTable& one : message.table()) {
      if (fields_.problems().full()) break;
      made.push_back(table(one));
    }
    return made;
  }

 private:
  CalibratedTable table(const proto::MeasuredTable& written) {
    CalibratedTable made;
    made.source = written.source();
    made.set.assign(written.set().begin(), written.set().end());
    const auto unknown = [&](const char* field, const std::string& text,
                             const std::string& expected) {
      fields_.complain_at(written, field,
                          text.empty() ? ProblemCode::kMissing : ProblemCode::kUnknownName,
                          "{} \"{}\": expected {}", field, text, expected);
    };
    if (const auto kind = parse_collective(written.collective()))
      made.kind = *kind;
    else
      unknown("collective", written.collective(), "all_reduce or another collective of nccl-tests");
    made.nodes =
        static_cast<int>(fields_.integer(written, "nodes", "table", 1, kMaxNodes).value_or(1));
    made.gpus =
        static_cast<int>(fields_.integer(written, "gpus", "table", 1, kMaxGpus).value_or(1));
    if (std::int64_t{made.nodes} * made.gpus < 2)
      fields_.complain_at(
          written, "gpus", ProblemCode::kTooSmall,
          "nodes or gpus must be above 1, because a single GPU does not communicate");
    if (const auto version = parse_version(written.version()))
      made.version = *version;
    else
      unknown("version", written.version(), "a release of NCCL such as 2.28.9");
    if (const auto driving = parse_driving(written.driving()))
      made.driving = *driving;
    else
      unknown("driving", written.driving(), "process_per_gpu, thread_per_gpu or one_thread");
    if (!written.transport().empty()) {
      if (const auto transport = parse_transport(written.transport()))
        made.transport = *transport;
      else
        unknown("transport", written.transport(), std::string(transport_names()));
    }
    if (written.row().empty())
      fields_.complain_at(written, "row", ProblemCode::kMissing, "this table has no rows");
    for (const proto::MeasuredTime& one : written.row()) {
      if (fields_.problems().full()) break;
      made.rows.push_back(row(one, made));
    }
    return made;
  }

  MeasuredPoint row(const proto::MeasuredTime& written, const CalibratedTable& table) {
    MeasuredPoint made;
    const auto us = [&](const char* field, bool or_zero) {
      return fields_.required(written, field, "row", {or_zero ? 0 : kMinMeasuredUs, kMaxMeasuredUs})
          .value_or(1);
    };
    if (!fields_.has(written, "bytes"))
      fields_.complain_at(written, "bytes", ProblemCode::kMissing, "row: bytes is missing");
    made.at.bytes = fields_.integer(written, "bytes", "row", 1, kMaxMeasuredBytes).value_or(1);
    made.measured_us = us("measured_us", false);
    made.at.kind = table.kind;
    made.at.ranks = table.nodes * table.gpus;
    made.at.nodes = table.nodes;
    made.at.parts_us = {us("launch_us", false), us("hops_us", true), us("fill_us", true),
                        us("transfer_us", true)};
    if (written.algorithm().empty() && written.protocol().empty()) return made;
    made.at.algorithm =
        parse(written, "algorithm", written.algorithm(), kAlgorithmNames, Algorithm::kRing);
    made.at.protocol =
        parse(written, "protocol", written.protocol(), kProtocolNames, Protocol::kSimple);
    return made;
  }

  template <class Value, class Names>
  Value parse(const google::protobuf::Message& message, const char* field,
              const std::string& written, const Names& names, Value otherwise) {
    const auto found = std::find(names.begin(), names.end(), written);
    if (found != names.end()) return static_cast<Value>(found - names.begin());
    fields_.complain_at(message, field, ProblemCode::kUnknownName,
                        "{} \"{}\": NCCL has no {} of that name", field, written, field);
    return otherwise;
  }

  Fields& fields_;
};

/// Rounds to six significant digits, because measurements are not more precise.
double rounded(double value) {
  if (value == 0) return 0;
  const double scale = std::pow(10, 5 - std::floor(std::log10(std::abs(value))));
  return std::round(value * scale) / scale;
}

}  // namespace

Expected<Calibration> read_calibration(std::string_view text, const std::string& path,
                                       const Spread& spread) {
  Problems problems;
  SourceMap sources(path);
  proto::Calibration message;
  const Document document = parse_document(text, path, problems);
  bind(document.root, message, sources, problems);
  Fields fields(sources, problems);
  if (document.cut_off && problems.empty())
    problems.add({ProblemCode::kSyntax}, {path, 0, 0},
                 "the file is truncated: it ends in the middle of a value");
  if (!problems.empty()) return problems.take();
  if (message.figures().empty())
    fields.complain_at(
        message, "figures", ProblemCode::kMissing,
        "the field figures is missing; it states for which parameters of the time model the "
        "calibration was made; write the file again with tutti calibrate --cluster");
  CalibrationReader reader(fields);
  CalibratedSystem system = reader.system(message);
  std::vector<CalibratedTable> tables = reader.tables(message);
  if (!problems.empty()) return problems.take();
  return Calibration(std::move(system), message.figures(), std::move(tables), spread);
}

Expected<Calibration> load_calibration(const std::string& path, const Spread& spread) {
  const auto text = read_text_file(path);
  if (!text) return tl::make_unexpected(text.error());
  return read_calibration(*text, path, spread);
}

std::string text_of(const Calibration& calibration, const std::string& remarks) {
  proto::Calibration message;
  proto::CalibratedSystem& system = *message.mutable_system();
  system.set_cluster(calibration.system().cluster);
  system.set_gpu(std::string(name_of(calibration.system().generation)));
  system.set_inside(std::string(name_of(calibration.system().inside)));
  system.set_nvlinks(calibration.system().nvlinks);
  system.set_cards_gb_per_s(calibration.system().cards_gb_per_s);
  message.set_figures(calibration.figures());
  for (const CalibratedTable& table : calibration.tables()) {
    proto::MeasuredTable& written = *message.add_table();
    written.set_source(table.source);
    written.set_collective(std::string(to_string(table.kind)));
    written.set_nodes(table.nodes);
    written.set_gpus(table.gpus);
    written.set_version(to_string(table.version));
    written.set_driving(std::string(to_string(table.driving)));
    if (table.transport != Transport::kNone)
      written.set_transport(std::string(to_string(table.transport)));
    for (const std::string& one : table.set) written.add_set(one);
    for (const MeasuredPoint& row : table.rows) {
      proto::MeasuredTime& time = *written.add_row();
      time.set_bytes(row.at.bytes);
      time.set_measured_us(rounded(row.measured_us));
      if (row.at.algorithm) time.set_algorithm(std::string(to_string(*row.at.algorithm)));
      if (row.at.protocol) time.set_protocol(std::string(to_string(*row.at.protocol)));
      time.set_launch_us(rounded(row.at.parts_us[0]));
      time.set_hops_us(rounded(row.at.parts_us[1]));
      time.set_fill_us(rounded(row.at.parts_us[2]));
      time.set_transfer_us(rounded(row.at.parts_us[3]));
    }
  }
  std::string text;
  google::protobuf::TextFormat::PrintToString(message, &text);
  return std::string(kCalibrationMagic) + ", written by tutti calibrate.\n" + remarks + "\n" + text;
}

}  // namespace tutti::core::nccl
