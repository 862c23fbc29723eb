#include "core/formats/mlperf_log.h"

#include <charconv>

#include "core/formats/decimal.h"
#include "core/formats/json_stream.h"
#include "core/formats/line_stream.h"

namespace tutti::core {
namespace {

constexpr std::string_view kMlperfMark = ":::MLLOG";

class MlperfLine {
 public:
  MlperfLine(std::string_view line, const std::string& name, MlperfRecord& record)
      : input_(byte_input_of(line, name)), in_(*input_, name, 1024), record_(record) {}

  bool read() {
    if (!in_.enter_object()) {
      if (!in_.failed()) in_.fail({ProblemCode::kWrongType}, "expected a JSON object");
      return false;
    }
    while (const auto key = in_.next_key()) {
      if (*key == "key")
        record_.key = in_.scalar().substr(0, 80);
      else if (*key == "time_ms")
        record_.time_ms = whole();
      else if (*key == "value")
        read_value();
      else if (*key == "metadata")
        read_metadata();
      else
        in_.skip();
    }
    return !in_.failed();
  }
  [[nodiscard]] const Error& error() const { return in_.error(); }

 private:
  std::int64_t whole() {
    const auto number = scaled_decimal(in_.scalar(), 0);
    return number && *number >= 0 && *number < 3'000'000'000'000'000 ? *number : -1;
  }
  /// Returns the number, or -1 if it is negative, too large or not a number.
  double real() {
    const std::string_view text = in_.scalar();
    double number = -1;
    const bool is_number =
        std::from_chars(text.data(), text.data() + text.size(), number).ec == std::errc();
    return is_number && number >= 0 && number < 1e15 ? number : -1;
  }
  void read_value() {
    if (in_.peek() != JsonStream::Kind::kObject) {
      record_.value = in_.scalar().substr(0, 200);
      return;
    }
    in_.enter_object();
    while (const auto key = in_.next_key()) {
      if (*key == "throughput" || *key == "imgs_sec")
        record_.throughput = real();
      else if (*key == "train_step_time" || *key == "train_step_timing in s")
        record_.step_s = real();
      else
        in_.skip();
    }
  }
  void read_metadata() {
    if (!in_.enter_object()) return;
    while (const auto key = in_.next_key()) {
      if (*key == "epoch_num") {
        record_.progress = real();
        if (record_.progress >= 0) record_.epoch = static_cast<std::int64_t>(record_.progress);
      } else if (*key == "epoch_count")
        record_.epoch_count = real();
      else if (*key == "samples_count")
        record_.samples = real();
      else if (*key == "step" || *key == "step_num")
        record_.step = whole();
      else
        in_.skip();
    }
  }

  std::unique_ptr<ByteInput> input_;
  JsonStream in_;
  MlperfRecord& record_;
};

}  // namespace

Expected<void> read_mlperf_log(ByteInput& input, const std::string& name,
                               const std::function<void(const MlperfRecord&)>& take,
                               RecordCounts& counts) {
  LineStream lines(input, name);
  std::int64_t records = 0;
  while (const auto line = lines.next()) {
    const std::size_t mark = line->find(kMlperfMark);
    if (mark == std::string_view::npos) {
      if (!line->empty()) counts.ignore("line of other output");
      continue;
    }
    MlperfRecord record;
    record.line = lines.number();
    const std::size_t begin = mark + kMlperfMark.size();
    MlperfLine reader(line->substr(begin), name, record);
    if (!reader.read()) {
      const Problem& problem = reader.error().problems().front();
      return tl::make_unexpected(
          Error::request(problem.kind, problem.text,
                         {name, lines.number(), problem.where.column + static_cast<int>(begin)}));
    }
    ++records;
    take(record);
  }
  if (lines.error()) return tl::make_unexpected(*lines.error());
  if (records == 0)
    return tl::make_unexpected(Error::request({ProblemCode::kMissing},
                                              "this is not a log of MLPerf: no line has :::MLLOG",
                                              {name, 0, 0}));
  return {};
}

}  // namespace tutti::core
