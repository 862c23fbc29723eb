#include "core/scenario/old_form.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

namespace tutti::core {
namespace {

constexpr std::string_view kMirrored = "tensorflow.multi_worker_mirrored";
constexpr std::string_view kAllReduce = "tensorflow.multi_worker_all_reduce";
constexpr std::string_view kBenchmarks = "tensorflow.tf_cnn_benchmarks";

// The rows are applied from top to bottom, each to the result of the previous ones. For example,
// one row moves a TensorFlow strategy, and later rows move its fields.
constexpr std::array kMovedFields{
    MovedField{"communication_options", "tensorflow.multi_worker_mirrored.communication_options",
               ""},
    MovedField{"hints", "tensorflow.multi_worker_mirrored.hints", ""},
    MovedField{"collective_all_reduce", "tensorflow.multi_worker_mirrored.collective_all_reduce",
               ""},
    MovedField{"one_device", "tensorflow.one_device", ""},
    MovedField{"mirrored", "tensorflow.mirrored", ""},
    MovedField{"central_storage", "tensorflow.central_storage", ""},
    MovedField{"parameter_server", "tensorflow.parameter_server", ""},
    MovedField{"tf_cnn_benchmarks", "tensorflow.tf_cnn_benchmarks", ""},
    MovedField{"all_reduce_spec", "tensorflow.tf_cnn_benchmarks.all_reduce_spec", kBenchmarks},
    MovedField{"all_reduce_spec", "tensorflow.multi_worker_all_reduce.all_reduce_spec", ""},
    // The following packing fields belonged both to TensorFlow's strategies and to Tutti's own
    // packing:
    MovedField{"num_packs", "tensorflow.multi_worker_mirrored.collective_all_reduce.num_packs",
               kMirrored},
    MovedField{"all_reduce_merge_scope",
               "tensorflow.multi_worker_mirrored.collective_all_reduce.all_reduce_merge_scope",
               kMirrored},
    MovedField{"num_packs", "tensorflow.multi_worker_all_reduce.num_packs", kAllReduce},
    MovedField{"agg_small_grads_max_bytes",
               "tensorflow.multi_worker_all_reduce.agg_small_grads_max_bytes", kAllReduce},
    MovedField{"agg_small_grads_max_group",
               "tensorflow.multi_worker_all_reduce.agg_small_grads_max_group", kAllReduce},
    MovedField{"agg_small_grads_exact_group",
               "tensorflow.multi_worker_all_reduce.agg_small_grads_exact_group", kAllReduce},
    MovedField{"num_packs", "tensorflow.tf_cnn_benchmarks.gradient_repacking", kBenchmarks},
    MovedField{"agg_small_grads_max_bytes",
               "tensorflow.tf_cnn_benchmarks.agg_small_grads_max_bytes", kBenchmarks},
    MovedField{"agg_small_grads_max_group",
               "tensorflow.tf_cnn_benchmarks.agg_small_grads_max_group", kBenchmarks},
    MovedField{"agg_small_grads_exact_group",
               "tensorflow.tf_cnn_benchmarks.agg_small_grads_exact_group", kBenchmarks},
    MovedField{"all_reduce_merge_scope", "tensorflow.tf_cnn_benchmarks.allreduce_merge_scope",
               kBenchmarks},
    MovedField{"shards", "tensorflow.tf_cnn_benchmarks.shards", kBenchmarks},
    // All packings are in one oneof, so at most one packing may be set. In the older form,
    // `num_packs: 0` had no effect if another packing was also set.
    MovedField{"num_packs", "", "bytes_per_pack"},
    MovedField{"num_packs", "", "agg_small_grads_max_bytes"},
    MovedField{"num_packs", "", "pytorch_ddp"},
    MovedField{"num_packs", "", "deepspeed"},
    MovedField{"num_packs", "", "megatron"},
    MovedField{"num_packs", "", "byteps"},
    MovedField{"num_packs", "", "horovod"},
};

bool is_null(const Value& value) {
  return value.kind == Value::Kind::kIdentifier && value.text == "null";
}

bool is_written(const Value& message, std::string_view path) {
  const std::vector<std::string> parts = parts_of(path);
  const std::size_t inside = path.size() - parts.back().size();
  const Value* const around =
      parts.size() == 1 ? &message : message_at(message, path.substr(0, inside - 1));
  return around &&
         std::any_of(around->fields.begin(), around->fields.end(), [&](const Value::Field& field) {
           return is_field_name(field.name, parts.back()) && !is_null(field.value);
         });
}

/// Moves a field to the end of the message at `parts`. Creates the message at `parts` if it does
/// not exist.
void move_into(Value& strategy, std::size_t at, const std::vector<std::string>& parts) {
  Value::Field moved = std::move(strategy.fields[at]);
  strategy.fields.erase(strategy.fields.begin() + at);
  if (!is_field_name(moved.name, parts.back())) moved.name = parts.back();
  Value* message = &strategy;
  for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
    const auto found = std::find_if(
        message->fields.begin(), message->fields.end(), [&](const Value::Field& field) {
          return is_field_name(field.name, parts[i]) && field.value.kind == Value::Kind::kMessage;
        });
    if (found != message->fields.end()) {
      message = &found->value;
      continue;
    }
    Value::Field made;
    made.name = parts[i];
    made.at = made.value.at = moved.at;
    made.value.end = moved.value.end;
    // A created message gets the position of the moved field in the strategy. If two fields
    // conflict, the problem is therefore reported at the later one.
    const auto place = message == &strategy ? message->fields.begin() + at : message->fields.end();
    message = &message->fields.insert(place, std::move(made))->value;
  }
  message->fields.push_back(std::move(moved));
}

}  // namespace

std::span<const MovedField> moved_fields() { return kMovedFields; }

std::vector<std::string> parts_of(std::string_view path) {
  std::vector<std::string> parts;
  for (std::size_t dot = path.find('.'); dot != std::string_view::npos; dot = path.find('.')) {
    parts.emplace_back(path.substr(0, dot));
    path.remove_prefix(dot + 1);
  }
  parts.emplace_back(path);
  return parts;
}

bool is_field_name(std::string_view written, std::string_view name) {
  if (written == name) return true;
  std::size_t at = 0;
  bool capital = false;
  for (const char c : name) {
    if (c == '_') {
      capital = true;
      continue;
    }
    const char wanted =
        capital ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
    if (at == written.size() || written[at++] != wanted) return false;
    capital = false;
  }
  return at == written.size();
}

const Value* message_at(const Value& message, std::string_view path) {
  const Value* found = &message;
  for (const std::string& part : parts_of(path)) {
    const auto field =
        std::find_if(found->fields.begin(), found->fields.end(), [&](const Value::Field& f) {
          return is_field_name(f.name, part) && f.value.kind == Value::Kind::kMessage;
        });
    if (field == found->fields.end()) return nullptr;
    found = &field->value;
  }
  return found;
}

std::optional<NextMove> next_move(const Value& document) {
  for (std::size_t s = 0; s < document.fields.size(); ++s) {
    const Value::Field& strategy = document.fields[s];
    if (strategy.name != "strategy" || strategy.value.kind != Value::Kind::kMessage) continue;
    for (const MovedField& row : kMovedFields) {
      for (std::size_t f = 0; f < strategy.value.fields.size(); ++f) {
        const Value::Field& field = strategy.value.fields[f];
        if (!is_field_name(field.name, row.was)) continue;
        const bool null = is_null(field.value);
        if (row.beside.empty() && null) return NextMove{s, f, &row, true};
        if (null || (!row.beside.empty() && !is_written(strategy.value, row.beside))) continue;
        if (!row.now.empty()) return NextMove{s, f, &row, false};
        if (field.value.text == "0") return NextMove{s, f, &row, true};
      }
    }
  }
  return std::nullopt;
}

std::vector<MovedValue> bring_up_to_date(Value& document) {
  std::vector<MovedValue> moved;
  while (const auto next = next_move(document)) {
    Value& strategy = document.fields[next->strategy].value;
    const std::string was(next->row->was), now(next->dropped ? "" : next->row->now);
    moved.push_back(
        {"strategy." + was, now.empty() ? "" : "strategy." + now, strategy.fields[next->field].at});
    if (now.empty())
      strategy.fields.erase(strategy.fields.begin() + next->field);
    else
      move_into(strategy, next->field, parts_of(now));
  }
  return moved;
}

Document parse_scenario(std::string_view text, const std::string& file, Problems& problems) {
  Document document = parse_document(text, file, problems);
  bring_up_to_date(document.root);
  return document;
}

}  // namespace tutti::core
