#include "core/framework/tensorflow/all_reduce_spec_reader.h"

#include <algorithm>
#include <limits>

#include "core/framework/tensorflow/spec_text.h"
#include "core/proto/scenario.pb.h"
#include "core/strategy/strategy.h"

namespace tutti::core {
namespace {

SpecApi api_of(const proto::AllReduceSpec& message, SpecApi written) {
  switch (message.api()) {
    case proto::AllReduceSpec::MULTI_WORKER_ALL_REDUCE: return SpecApi::kMultiWorkerAllReduce;
    case proto::AllReduceSpec::TF_CNN_BENCHMARKS: return SpecApi::kTfCnnBenchmarks;
    default: return written;
  }
}

LimitUnit limit_unit_of(const proto::AllReduceSpec& message, SpecApi api) {
  switch (message.limit_unit()) {
    case proto::AllReduceSpec::BYTES: return LimitUnit::kBytes;
    case proto::AllReduceSpec::ELEMENTS: return LimitUnit::kElements;
    default: return api == SpecApi::kTfCnnBenchmarks ? LimitUnit::kElements : LimitUnit::kBytes;
  }
}

bool read_text(const proto::AllReduceSpec& message, Fields& fields, AllReduceSpec& spec) {
  if (message.entry_size() > 0) {
    fields.complain_at(message, "text", ProblemCode::kConflict,
                       "all_reduce_spec: text and entry both list algorithms; keep one");
    return false;
  }
  auto text = parse_spec(message.text());
  if (!text) {
    fields.complain_at(message, "text", ProblemCode::kSyntax,
                       "all_reduce_spec: \"{}\", character {}: {}", message.text(),
                       text.error().at + 1, text.error().text);
    return false;
  }
  spec.entries = std::move(text->entries);
  spec.api = text->api;
  return true;
}

bool read_entries(const proto::AllReduceSpec& message, Fields& fields, AllReduceSpec& spec) {
  if (message.entry_size() == 0) {
    spec = AllReduceSpec::usual();
    return true;
  }
  const std::size_t before = fields.problems().size();
  for (const proto::SpecEntry& e : message.entry()) {
    SpecEntry entry;
    entry.name = e.algorithm();
    entry.algorithm = parse_spec_algorithm(entry.name);
    entry.shards =
        static_cast<int>(fields.integer(e, "shards", "all_reduce_spec", 1, 1 << 20).value_or(1));
    entry.limit =
        fields.integer(e, "limit", "all_reduce_spec", -1, std::numeric_limits<std::int64_t>::max())
            .value_or(-1);
    spec.entries.push_back(std::move(entry));
  }
  return fields.problems().size() == before;
}

}  // namespace

std::optional<AllReduceSpec> all_reduce_spec_from(const proto::AllReduceSpec& message,
                                                  const std::string& path, Fields& fields,
                                                  Complaints& complaints) {
  const std::size_t before = fields.problems().size();
  AllReduceSpec spec;
  const bool has_text = fields.has(message, "text");
  if (!(has_text ? read_text(message, fields, spec) : read_entries(message, fields, spec)))
    return std::nullopt;
  spec.api = api_of(message, spec.api);
  spec.limit_unit = limit_unit_of(message, spec.api);
  if (message.validation() == proto::AllReduceSpec::LITERAL)
    spec.validation = SpecValidation::kLiteral;
  if (message.result_order() == proto::AllReduceSpec::BY_ENTRY)
    spec.result_order = ResultOrder::kByEntry;
  if (spec.result_order == ResultOrder::kByEntry && spec.api == SpecApi::kTfCnnBenchmarks) {
    fields.complain_at(
        message, "result_order", ProblemCode::kUnused,
        "all_reduce_spec: result_order has no effect, because tf_cnn_benchmarks always applies a "
        "gradient to its own variable; remove result_order, or set api: MULTI_WORKER_ALL_REDUCE");
  }
  for (const SpecProblem& problem : problems_of(spec))
    complain_about(problem, spec, message.text(), path, complaints);
  if (fields.problems().size() != before) return std::nullopt;
  return spec;
}

void complain_about(const SpecProblem& problem, const AllReduceSpec& spec, const std::string& text,
                    const std::string& path, Complaints& complaints) {
  if (const std::string entry = fmt::format("{}.entry[{}]", path, problem.entry);
      complaints.has(entry)) {
    return complaints.complain_at(problem.field.empty() ? entry : entry + "." + problem.field,
                                  problem.code, "all_reduce_spec: entry {}: {}{}{}",
                                  problem.entry + 1, problem.field,
                                  problem.field.empty() ? "" : ": ", problem.text);
  }
  if (const std::string written = path + ".text"; complaints.has(written)) {
    return complaints.complain_at(
        written, problem.code, "all_reduce_spec: \"{}\"{}: {}", text,
        spec.entries.size() > 1 ? fmt::format(", entry {}", problem.entry + 1) : "", problem.text);
  }
  complaints.complain_at(path, problem.code, "all_reduce_spec: TensorFlow's default, {}: {}",
                         to_text(spec), problem.text);
}

}  // namespace tutti::core
