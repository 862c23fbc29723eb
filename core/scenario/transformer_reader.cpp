#include "core/scenario/transformer_reader.h"

#include <fmt/format.h>

#include "core/proto/scenario.pb.h"
#include "core/text/limits.h"

namespace tutti::core {
namespace {

constexpr const char* kTransformer = "transformer";

class TransformerReader {
 public:
  TransformerReader(const proto::Transformer& message, Fields& fields)
      : message_(message), fields_(fields) {}

  std::optional<Model> read(const std::string& name) {
    TransformerShape shape;
    shape.layers = required("layers", 1 << 12);
    shape.hidden = required("hidden", 1 << 20);
    shape.heads = required("heads", 1 << 14);
    shape.vocabulary = required("vocabulary", 1 << 24);
    shape.sequence = required("sequence", 1 << 24);
    shape.kv_heads = optional("kv_heads", 1 << 14).value_or(shape.heads);
    shape.ffn = optional("ffn", 1 << 22).value_or(4 * shape.hidden);
    shape.gated = message_.gated();
    shape.tied_embedding = message_.tied_embedding();
    shape.tensor_parallel = optional("tensor_parallel", 1 << 10).value_or(1);
    if (message_.has_data_type()) {
      if (message_.data_type() == proto::DATA_TYPE_UNSPECIFIED)
        wrong("data_type", "data_type must be a data type, such as BFLOAT16");
      else
        shape.type = static_cast<DataType>(message_.data_type());
    }
    if (!valid_) return std::nullopt;
    check_divisions(shape);
    if (!valid_) return std::nullopt;
    // Each of the at most 2^16 variables has at most 2^44 elements, so sums fit into 64 bits.
    Model model = transformer_model(shape, name);
    std::int64_t elements = 0;
    for (const Variable& variable : model.variables) elements += variable.elements;
    if (elements <= kMaxElements) return model;
    fields_.complain_at(message_, "layers", ProblemCode::kTooLarge,
                        "transformer: {} elements in total exceed the limit of 2^46", elements);
    return std::nullopt;
  }

 private:
  void wrong(const char* field, const std::string& text) {
    valid_ = false;
    fields_.complain_at(message_, field, "transformer: {}", text);
  }

  std::optional<std::int64_t> optional(const char* field, std::int64_t most) {
    const bool given = fields_.has(message_, field);
    const auto value = fields_.integer(message_, field, kTransformer, 1, most);
    valid_ = valid_ && given == value.has_value();
    return value;
  }

  std::int64_t required(const char* field, std::int64_t most) {
    if (!fields_.has(message_, field)) {
      valid_ = false;
      fields_.complain_at(message_, field, ProblemCode::kMissing,
                          "transformer: {} is missing; the required fields are layers, hidden, "
                          "heads, vocabulary and sequence",
                          field);
      return 1;
    }
    return optional(field, most).value_or(1);
  }

  void check_divisions(const TransformerShape& shape) {
    const auto check = [this](std::int64_t whole, std::int64_t by, const char* field,
                              const char* divisor) {
      if (whole % by == 0) return;
      wrong(field,
            fmt::format("{} must be a multiple of {} (got {} and {})", field, divisor, whole, by));
    };
    check(shape.hidden, shape.heads, "hidden", "heads");
    check(shape.heads, shape.kv_heads, "heads", "kv_heads");
    check(shape.heads, shape.tensor_parallel, "heads", "tensor_parallel");
    check(shape.kv_heads, shape.tensor_parallel, "kv_heads", "tensor_parallel");
    check(shape.ffn, shape.tensor_parallel, "ffn", "tensor_parallel");
    check(shape.vocabulary, shape.tensor_parallel, "vocabulary", "tensor_parallel");
  }

  const proto::Transformer& message_;
  Fields& fields_;
  bool valid_ = true;
};

}  // namespace

std::optional<Model> transformer_from(const proto::Transformer& message, const std::string& name,
                                      Fields& fields) {
  return TransformerReader(message, fields).read(name);
}

}  // namespace tutti::core
